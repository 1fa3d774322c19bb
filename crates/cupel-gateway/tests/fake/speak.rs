//! Answers of each provider, at once and in a stream.

use serde_json::{Value, json};

/// Provider whose rules a path follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Chat,
    Responses,
    Messages,
    Gemini,
    /// Gemini's requests and answers in fields of others.
    CodeAssist,
    Converse,
    Ollama,
}

const WORDS: [&str; 4] = ["Hello ", "from ", "the ", "upstream."];

impl Kind {
    pub(crate) fn of(path: &str) -> Option<Self> {
        if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/v1/messages") {
            Some(Self::Messages)
        } else if path.starts_with("/v1internal:") {
            Some(Self::CodeAssist)
        } else if path.contains("/converse") {
            Some(Self::Converse)
        } else if path.ends_with("/api/chat") {
            Some(Self::Ollama)
        } else if path.ends_with("enerateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    pub(crate) fn streams(self, path: &str, request: &Value) -> bool {
        match self {
            Self::Gemini | Self::CodeAssist => path.ends_with(":streamGenerateContent"),
            Self::Converse => path.ends_with("-stream"),
            Self::Ollama => request["stream"] != false,
            _ => request["stream"] == true,
        }
    }

    /// Returns true if the answer is a call: there are tools, and nobody has answered one yet.
    fn calls(request: &Value) -> bool {
        let text = request.to_string();
        let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        let last =
            ["messages", "input", "contents"].iter().find_map(|list| request[list].as_array());
        let last = last.and_then(|list| list.last()).map(ToString::to_string).unwrap_or_default();
        let is_answered =
            ["\"role\":\"tool\"", "tool_result", "function_call_output", "functionResponse"]
                .iter()
                .any(|answer| last.contains(answer));
        has_tools && !is_answered && text.contains("CALL")
    }

    pub(crate) fn error(self, message: &str) -> Value {
        match self {
            Self::Chat | Self::Responses => json!({ "error": {
                "message": message, "type": "invalid_request_error", "param": null, "code": null } }),
            Self::Messages => json!({ "type": "error", "error": {
                "type": "invalid_request_error", "message": message } }),
            Self::Converse => json!({ "message": message }),
            Self::Ollama => json!({ "error": message }),
            Self::Gemini | Self::CodeAssist => json!({ "error": {
                "code": 400, "message": message, "status": "INVALID_ARGUMENT" } }),
        }
    }

    pub(crate) fn too_long(self, counted: usize, limit: usize) -> Value {
        let mut error = self.error(&match self {
            Self::Chat => format!("This model's maximum context length is {limit} tokens. However, your messages resulted in {counted} tokens."),
            Self::Responses => format!("The input ({counted} tokens) is longer than the model's context length ({limit} tokens)."),
            Self::Messages => format!("prompt is too long: {counted} tokens > {limit} maximum"),
            Self::Converse => format!("The model returned the following errors: prompt is too long: {counted} tokens > {limit} maximum"),
            Self::Ollama => format!("request ({counted} tokens) exceeds the available context size ({limit} tokens), try increasing it"),
            Self::Gemini | Self::CodeAssist => format!("The input token count ({counted}) exceeds the maximum number of tokens allowed ({limit})."),
        });
        if matches!(self, Self::Chat) {
            error["error"]["code"] = "context_length_exceeded".into();
        }
        error
    }

    /// "Too long", said in a stream that began well.
    pub(crate) fn late_refusal(self) -> Vec<String> {
        match self {
            Self::Messages => {
                let start = json!({ "type": "message_start", "message": { "content": [] } });
                let error = event(Some("error"), &self.too_long(900, 400));
                vec![event(Some("message_start"), &start), error]
            }
            Self::Responses => {
                let response = json!({ "id": "r", "error": null });
                let failed = json!({ "id": "r", "error": {
                    "code": "context_length_exceeded", "message": "Your input exceeds the context window" } });
                [("created", &response), ("in_progress", &response), ("failed", &failed)]
                    .map(|(name, response)| {
                        let name = format!("response.{name}");
                        event(Some(&name), &json!({ "type": name, "response": response }))
                    })
                    .into()
            }
            Self::Chat => {
                let delta = json!({ "role": "assistant", "content": "" });
                let first =
                    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
                vec![
                    ": waiting\n\n".to_owned(),
                    event(None, &first),
                    event(None, &self.too_long(900, 400)),
                ]
            }
            Self::Gemini | Self::CodeAssist | Self::Ollama => {
                vec![event(None, &self.too_long(900, 400))]
            }
            Self::Converse => unreachable!("streams in frames"),
        }
    }

    /// "Too long", of a server that counts the answer.
    pub(crate) fn too_long_with_answer(self, counted: usize, answer: usize, limit: usize) -> Value {
        let total = counted + answer;
        self.error(&format!("This model's maximum context length is {limit} tokens. However, you requested {total} tokens ({counted} in the messages, {answer} in the completion). Please reduce the length of the messages or completion."))
    }

    pub(crate) fn whole(self, request: &Value) -> Value {
        let text = WORDS.concat();
        let calls = Self::calls(request);
        match self {
            Self::Chat => {
                let message = if calls {
                    json!({ "role": "assistant", "content": null, "refusal": null, "tool_calls": [{
                        "id": "call_new", "type": "function",
                        "function": { "name": "look", "arguments": "{\"at\":\"x\"}" } }] })
                } else {
                    json!({ "role": "assistant", "content": text, "refusal": null })
                };
                let finish = if calls { "tool_calls" } else { "stop" };
                json!({ "id": "c1", "object": "chat.completion", "created": 1, "model": "fake",
                    "choices": [{ "index": 0, "message": message, "finish_reason": finish, "logprobs": null }],
                    "usage": { "prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13 } })
            }
            Self::Responses => Self::response(&text, calls, "completed"),
            Self::Messages => {
                let content = if calls {
                    json!([{ "type": "tool_use", "id": "toolu_new", "name": "look", "input": { "at": "x" } }])
                } else {
                    json!([{ "type": "text", "text": text }])
                };
                json!({ "id": "m1", "type": "message", "role": "assistant", "model": "fake",
                    "content": content, "stop_reason": if calls { "tool_use" } else { "end_turn" },
                    "stop_sequence": null, "usage": { "input_tokens": 9, "output_tokens": 4 } })
            }
            Self::CodeAssist => json!({ "response": Self::Gemini.whole(&request["request"]) }),
            Self::Converse => json!({ "output": { "message": { "role": "assistant",
                    "content": [{ "text": text }] } }, "stopReason": "end_turn",
                "usage": { "inputTokens": 9, "outputTokens": 4, "totalTokens": 13 },
                "metrics": { "latencyMs": 1 } }),
            Self::Ollama => json!({ "model": "fake", "created_at": "2026-01-01T00:00:00Z",
                "message": { "role": "assistant", "content": text }, "done": true,
                "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 4 }),
            Self::Gemini => gemini(&if calls {
                json!({ "functionCall": { "name": "look", "args": { "at": "x" } } })
            } else {
                json!({ "text": text })
            }),
        }
    }

    fn response(text: &str, calls: bool, status: &str) -> Value {
        let output = if calls {
            json!([{ "type": "function_call", "id": "fc_1", "call_id": "call_new", "name": "look",
                "arguments": "{\"at\":\"x\"}", "status": "completed" }])
        } else {
            json!([{ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{ "type": "output_text", "text": text, "annotations": [] }] }])
        };
        json!({ "id": "resp_1", "object": "response", "created_at": 1, "status": status,
            "model": "fake", "output": output, "error": null, "incomplete_details": null,
            "instructions": null, "metadata": {}, "parallel_tool_calls": true, "temperature": 1.0,
            "tool_choice": "auto", "tools": [], "top_p": 1.0,
            "usage": { "input_tokens": 9, "output_tokens": 4, "total_tokens": 13,
                "input_tokens_details": { "cached_tokens": 0 },
                "output_tokens_details": { "reasoning_tokens": 0 } } })
    }

    pub(crate) fn events(self, request: &Value) -> Vec<String> {
        let calls = Self::calls(request);
        match self {
            Self::Chat => chat_events(calls),
            Self::Messages => message_events(calls),
            Self::Gemini if calls => vec![event(None, &self.whole(request))],
            Self::Gemini => {
                WORDS.iter().map(|word| event(None, &gemini(&json!({ "text": word })))).collect()
            }
            Self::CodeAssist => {
                let answer = WORDS.iter().map(|word| gemini(&json!({ "text": word })));
                answer.map(|it| event(None, &json!({ "response": it }))).collect()
            }
            Self::Converse => unreachable!("streams in frames"),
            Self::Ollama => {
                let word = |word: &&str| {
                    json!({ "model": "fake", "message": {
                    "role": "assistant", "content": word }, "done": false })
                };
                let mut last = self.whole(request);
                last["message"]["content"] = "".into();
                let lines = WORDS.iter().map(word).chain([last]);
                lines.map(|line| format!("{line}\n")).collect()
            }
            Self::Responses => Self::response_events(calls),
        }
    }

    /// The stream of Bedrock: an answer, or "too long" behind a good beginning.
    pub(crate) fn frames(self, request: &Value, is_too_long: bool) -> Vec<Vec<u8>> {
        let event = |kind: &str, data: Value| frame("event", kind, &data);
        let start = event("messageStart", json!({ "role": "assistant" }));
        if is_too_long {
            return vec![
                start,
                frame("exception", "validationException", &self.too_long(900, 400)),
            ];
        }
        let word = |word: &&str| {
            event("contentBlockDelta", json!({ "contentBlockIndex": 0, "delta": { "text": word } }))
        };
        let whole = self.whole(request);
        let mut frames = vec![start];
        frames.extend(WORDS.iter().map(word));
        frames.push(event("contentBlockStop", json!({ "contentBlockIndex": 0 })));
        frames.push(event("messageStop", json!({ "stopReason": "end_turn" })));
        frames.push(event(
            "metadata",
            json!({ "usage": whole["usage"], "metrics": whole["metrics"] }),
        ));
        frames
    }

    fn response_events(calls: bool) -> Vec<String> {
        let mut events = Vec::new();
        let mut number = 0;
        let mut add = |mut value: Value| {
            value["sequence_number"] = number.into();
            number += 1;
            let kind = value["type"].as_str().unwrap_or_default().to_owned();
            events.push(event(Some(&kind), &value));
        };
        let whole = Self::response(&WORDS.concat(), calls, "completed");
        let mut begun = whole.clone();
        begun["status"] = "in_progress".into();
        begun["output"] = json!([]);
        add(json!({ "type": "response.created", "response": begun }));
        let item = whole["output"][0].clone();
        let id = item["id"].clone();
        let mut empty = item.clone();
        empty["status"] = "in_progress".into();
        if calls {
            empty["arguments"] = "".into();
        } else {
            empty["content"] = json!([]);
        }
        add(json!({ "type": "response.output_item.added", "output_index": 0, "item": empty }));
        if calls {
            let arguments = item["arguments"].clone();
            add(
                json!({ "type": "response.function_call_arguments.delta", "item_id": id, "output_index": 0, "delta": arguments }),
            );
            add(
                json!({ "type": "response.function_call_arguments.done", "item_id": id, "output_index": 0, "arguments": arguments, "name": "look" }),
            );
        } else {
            add(
                json!({ "type": "response.content_part.added", "item_id": id, "output_index": 0, "content_index": 0, "part": { "type": "output_text", "text": "", "annotations": [] } }),
            );
            for word in WORDS {
                add(
                    json!({ "type": "response.output_text.delta", "item_id": id, "output_index": 0, "content_index": 0, "delta": word, "logprobs": [] }),
                );
            }
            add(
                json!({ "type": "response.output_text.done", "item_id": id, "output_index": 0, "content_index": 0, "text": WORDS.concat(), "logprobs": [] }),
            );
            add(
                json!({ "type": "response.content_part.done", "item_id": id, "output_index": 0, "content_index": 0, "part": item["content"][0] }),
            );
        }
        add(json!({ "type": "response.output_item.done", "output_index": 0, "item": item }));
        add(json!({ "type": "response.completed", "response": whole }));
        events
    }
}

fn event(name: Option<&str>, data: &Value) -> String {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}

/// A frame as Bedrock writes it, but for its checksums.
fn frame(message: &str, kind: &str, data: &Value) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in [(format!(":{message}-type"), kind), (":message-type".to_owned(), message)]
    {
        headers.push(u8::try_from(name.len()).unwrap());
        headers.extend(name.into_bytes());
        headers.extend([7, 0, u8::try_from(value.len()).unwrap()]);
        headers.extend(value.as_bytes());
    }
    let data = data.to_string();
    let length = |length: usize| u32::try_from(length).unwrap().to_be_bytes();
    let lengths = [length(headers.len() + data.len() + 16), length(headers.len())].concat();
    [&*lengths, &[0; 4], &headers, data.as_bytes(), &[0; 4]].concat()
}

fn gemini(part: &Value) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": [part] },
            "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13 },
        "modelVersion": "fake" })
}

fn chat_events(calls: bool) -> Vec<String> {
    let chunk = |delta: Value, finish: Value| {
        event(
            None,
            &json!({ "id": "c1", "object": "chat.completion.chunk", "created": 1,
            "model": "fake", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] }),
        )
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    if calls {
        events.push(chunk(
            json!({ "tool_calls": [{ "index": 0, "id": "call_new", "type": "function",
            "function": { "name": "look", "arguments": "{\"at\":\"x\"}" } }] }),
            Value::Null,
        ));
        events.push(chunk(json!({}), "tool_calls".into()));
    } else {
        events.extend(WORDS.iter().map(|word| chunk(json!({ "content": word }), Value::Null)));
        events.push(chunk(json!({}), "stop".into()));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn message_events(calls: bool) -> Vec<String> {
    let named = |value: Value| {
        let kind = value["type"].as_str().unwrap_or_default().to_owned();
        event(Some(&kind), &value)
    };
    let mut events = vec![named(json!({ "type": "message_start", "message": { "id": "m1",
        "type": "message", "role": "assistant", "model": "fake", "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": { "input_tokens": 9, "output_tokens": 1 } } }))];
    let (block, deltas) = if calls {
        let block = json!({ "type": "tool_use", "id": "toolu_new", "name": "look", "input": {} });
        (block, vec![json!({ "type": "input_json_delta", "partial_json": "{\"at\":\"x\"}" })])
    } else {
        let delta = |word: &&str| json!({ "type": "text_delta", "text": word });
        (json!({ "type": "text", "text": "" }), WORDS.iter().map(delta).collect())
    };
    events
        .push(named(json!({ "type": "content_block_start", "index": 0, "content_block": block })));
    for delta in deltas {
        events.push(named(json!({ "type": "content_block_delta", "index": 0, "delta": delta })));
    }
    events.push(named(json!({ "type": "content_block_stop", "index": 0 })));
    let stop = if calls { "tool_use" } else { "end_turn" };
    events.push(named(json!({ "type": "message_delta", "delta": { "stop_reason": stop,
        "stop_sequence": null }, "usage": { "output_tokens": 4 } })));
    events.push(named(json!({ "type": "message_stop" })));
    events
}
