//! Shapes that people have and that are no request: what they are, and what to give instead.
//!
//! Each is told by names that nothing else has. What is only strange is left to [`detect`](crate::detect).

use crate::ChatError;
use crate::json::{Json, Object};

/// So many messages tell what a list is: the first call may come late.
const SAMPLE: usize = 64;

fn is(what: &str, remedy: &str) -> ChatError {
    ChatError::UnknownFormat { problem: format!("this is {what}"), remedy: remedy.to_owned() }
}

fn these_are(whose: &str) -> ChatError {
    let problem = format!("these are messages of {whose}");
    ChatError::UnknownFormat { problem, remedy: GIVE_REQUEST.to_owned() }
}

const GIVE_REQUEST: &str = "give the request that is sent to the provider";

/// The name of an object that is known and no request.
pub(crate) fn of_object(top: &Object<'_>) -> Option<ChatError> {
    answer(top)
        .map(|of| {
            is(&format!("an answer of {of}, not a request"), "give the request that was sent")
        })
        .or_else(|| named(top))
}

/// The provider that an answer comes from.
fn answer(top: &Object<'_>) -> Option<&'static str> {
    let has = |path: &str| top.at_path(path).is_some();
    let object = top.str("object").unwrap_or_default();
    let is_typed = |kind: &str| top.str("type").is_some_and(|found| found == kind);
    if object.starts_with("chat.completion") || has("choices") && !has("messages") {
        Some("Chat Completions")
    } else if object == "response" && has("output") {
        Some("OpenAI Responses")
    } else if is_typed("message") && has("role") && has("content") && has("stop_reason") {
        Some("Anthropic")
    } else if has("candidates") && !has("contents") {
        Some("Gemini")
    } else if has("output.message.content") {
        Some("Bedrock Converse")
    } else if has("message.role") && (has("done") || has("finish_reason")) {
        Some(if has("done") { "Ollama" } else { "Cohere" })
    } else {
        None
    }
}

fn named(top: &Object<'_>) -> Option<ChatError> {
    let has = |path: &str| top.at_path(path).is_some();
    let is_text = |name: &str| top.get(name).is_some_and(Json::is_text);
    let has_list = ["messages", "input", "contents", "items"].iter().any(|name| has(name));
    let kind = top.str("type").unwrap_or_default();
    let first = |list: &str| top.get(list)?.list()?.first()?.object();
    if kind.starts_with("conversation.item.") || kind.starts_with("session.") {
        return Some(is("an event of OpenAI's Realtime API", "give the items of the conversation"));
    }
    if first("data")
        .is_some_and(|message| message.str("object").as_deref() == Some("thread.message"))
        || has("assistant_id")
    {
        let what = "of OpenAI's Assistants API, whose threads the service keeps";
        return Some(is(what, "give its messages as {\"messages\": [{\"role\", \"content\"}]}"));
    }
    if first("conversations").is_some_and(|said| said.has("from") && said.has("value")) {
        let remedy = "write `from` and `value` as `role` and `content`, in `messages`";
        return Some(is("a conversation in the manner of ShareGPT", remedy));
    }
    if first("events").is_some_and(|event| event.has("author")) {
        return Some(is("a session of Google's ADK", GIVE_REQUEST));
    }
    if has("log.entries") {
        let remedy = "give the body of one request, `postData.text`";
        return Some(is("a HAR file, in which a browser recorded requests", remedy));
    }
    if has("jsonrpc") && has("params.message") {
        return Some(is("a message of A2A, which an agent gets", GIVE_REQUEST));
    }
    if let Some(name) = top.get("id").filter(|_| top.has("lc")).and_then(last_text) {
        if !has("kwargs.messages") || name.ends_with("Template") {
            let what = format!("a `{name}` of LangChain, which holds no messages");
            return Some(is(&what, "format it, and dump the messages"));
        }
    }
    if first("chat_messages").is_some_and(|said| said.has("sender")) {
        let remedy = "write `sender` and `text` as `role` and `content`, in `messages`";
        return Some(is("a conversation exported from claude.ai", remedy));
    }
    if has("input.messages") {
        let remedy = "give `input` alone, as with `jq .input`";
        return Some(is("a request in the manner of DashScope", remedy));
    }
    if has_list {
        return texts_to_embed(top);
    }
    if is_text("message") && ["chat_history", "preamble", "connectors"].iter().any(|name| has(name))
    {
        let remedy = "write it for version 2, with `messages`";
        return Some(is("a request of Cohere's chat, version 1", remedy));
    }
    if has("inputs") && ["agent_id", "completion_args", "instructions"].iter().any(|name| has(name))
    {
        let what = "a request of Mistral's Conversations API";
        return Some(is(what, "write its inputs as `messages`"));
    }
    if has("prompt.id") {
        let what = "a request whose prompt OpenAI keeps: it has nothing to choose from";
        return Some(is(what, "give `input` beside it"));
    }
    if is_text("prompt") || is_text("inputs") || is_text("inputText") {
        let what = "a prompt that is one text: it has nothing to choose from";
        return Some(is(what, "give it as messages, or count it with `cupel count --text`"));
    }
    if has("instances") {
        return Some(is("a prediction request of Vertex AI", "give it as `contents`"));
    }
    None
}

/// Texts to make vectors of have a list of the same name.
fn texts_to_embed(top: &Object<'_>) -> Option<ChatError> {
    let texts = top.get("input")?.list()?;
    let are_texts = !texts.is_empty() && texts.iter().all(|text| text.is_text());
    are_texts.then(|| is("a list of texts, as embedding models take them", "give messages"))
}

fn last_text(list: Json<'_>) -> Option<String> {
    Some(list.list()?.last()?.str()?.into_owned())
}

/// Says where a request stands, if it is wrapped in something.
pub(crate) fn within(top: &Object<'_>) -> Option<ChatError> {
    let holds = |object: &Object<'_>| {
        ["messages", "contents", "input"].iter().any(|name| object.get(name).is_some())
    };
    let (name, _) =
        top.fields().find(|(_, value)| value.object().is_some_and(|object| holds(&object)))?;
    let problem = format!("what looks like a request stands in `{name}`");
    let remedy = format!("give that alone, as with `jq .{name}`");
    Some(ChatError::UnknownFormat { problem, remedy })
}

/// The name of a list of messages that is known and no provider's.
pub(crate) fn of_messages(elements: &[Json<'_>]) -> Option<ChatError> {
    let is_pair = |json: &Json<'_>| {
        json.list().is_some_and(|pair| pair.len() == 2 && pair.iter().all(|one| one.is_text()))
    };
    if !elements.is_empty() && elements.iter().take(SAMPLE).all(is_pair) {
        let remedy = "write each as {\"role\": …, \"content\": …}";
        return Some(is("a list of pairs of role and text", remedy));
    }
    let objects = || elements.iter().take(SAMPLE).filter_map(|json| json.object());
    objects()
        .find_map(|one| one.has("chat_messages").then(|| named(&one)).flatten())
        .or_else(|| objects().find_map(|message| of_message(&message)))
}

fn of_message(message: &Object<'_>) -> Option<ChatError> {
    let first = |list: &str| message.get(list)?.list()?.first()?.object();
    let part = first("parts").unwrap_or_default();
    let block = first("content").unwrap_or_default();
    let kind = message.str("kind").unwrap_or_default();
    let is_untyped = |name: &str| block.has(name) && !block.has("type");
    let of = |whose: &str| Some(these_are(whose));
    let calls = first("tool_calls").unwrap_or_default();
    if message.has("toolInvocations") || part.has("toolInvocation") {
        let remedy = "convert them with `convertToModelMessages`, or write version 5";
        Some(is("a list of messages of the AI SDK's version 4", remedy))
    } else if message.has("toolCalls") || message.has("toolCallId") {
        let remedy = "write `toolCalls` as `tool_calls`, and `toolCallId` as `tool_call_id`";
        Some(is("a list of messages in the manner of AG-UI", remedy))
    } else if message.has("messageType") {
        of("Spring AI, which it writes for each provider anew")
    } else if message.has("toolExecutionRequests")
        || first("contents").is_some_and(|content| content.has("type"))
    {
        of("LangChain4j, which it writes for each provider anew")
    } else if first("contents").is_some_and(|content| content.has("$type")) {
        of("Microsoft.Extensions.AI, which it writes for each provider anew")
    } else if calls.has("tool_name") && calls.has("call_id") {
        of("Llama Stack, whose calls have names of their own")
    } else if part.has("part_kind") {
        of("pydantic-ai, which it writes for each provider anew")
    } else if first("blocks").is_some_and(|block| block.has("block_type")) {
        of("LlamaIndex, which it writes for each provider anew")
    } else if is_untyped("tool_call")
        || is_untyped("tool_call_result")
        || is_haystack(message, &block)
    {
        of("Haystack, which it writes for each provider anew")
    } else if message.has("$type") {
        of("Semantic Kernel, which it writes for each provider anew")
    } else if part.has("kind") && (kind == "message" || message.has("messageId")) {
        of("A2A, which agents send each other")
    } else if is_of_telemetry(message) {
        of("OpenTelemetry, which records what was sent")
    } else if message.str("object").as_deref() == Some("thread.message") {
        of("OpenAI's Assistants API, whose threads the service keeps")
    } else if message.has("from") && message.has("value") {
        let remedy = "write `from` and `value` as `role` and `content`";
        Some(is("a conversation in the manner of ShareGPT", remedy))
    } else {
        None
    }
}

/// Its texts are untyped blocks, as Bedrock's; but a message has its notes in `meta`.
fn is_haystack(message: &Object<'_>, block: &Object<'_>) -> bool {
    message.get("meta").is_some_and(Json::is_object) && block.has("text") && !block.has("type")
}

/// Its parts have the types of others, but their texts are in `content`.
fn is_of_telemetry(message: &Object<'_>) -> bool {
    let parts = message.get("parts").and_then(Json::list).unwrap_or_default();
    let is_its = |part: &Json<'_>| {
        let part = part.object().unwrap_or_default();
        match part.str("type").as_deref() {
            Some("text" | "reasoning") => part.has("content") && !part.has("text"),
            Some("tool_call") => part.has("arguments"),
            Some("tool_call_response") => true,
            _ => false,
        }
    };
    parts.iter().any(is_its)
}

#[cfg(test)]
mod tests {
    use crate::Request;

    #[track_caller]
    fn assert_named(text: &str, words: &str) {
        let error = Request::parse(text, None).unwrap_err();
        assert_eq!(error.code(), "unknown-format", "{text}");
        assert!(error.problem().contains(words), "{error}\n{text}");
        assert!(!error.remedy().contains("name its format"), "{error}\n{text}");
    }

    #[test]
    fn answers_are_named_by_their_provider() {
        for (text, provider) in [
            (r#"{"object":"chat.completion","choices":[]}"#, "Chat Completions"),
            (r#"{"choices":[{"message":{"role":"assistant","content":"a"}}]}"#, "Chat Completions"),
            (r#"{"object":"response","output":[],"instructions":null}"#, "OpenAI Responses"),
            (
                r#"{"type":"message","role":"assistant","content":[],"stop_reason":"end_turn"}"#,
                "Anthropic",
            ),
            (r#"{"candidates":[{"content":{"parts":[]}}]}"#, "Gemini"),
            (r#"{"output":{"message":{"role":"assistant","content":[]}}}"#, "Bedrock"),
            (r#"{"model":"m","message":{"role":"assistant","content":"a"},"done":true}"#, "Ollama"),
            (
                r#"{"message":{"role":"assistant","content":[]},"finish_reason":"COMPLETE"}"#,
                "Cohere",
            ),
        ] {
            assert_named(text, &format!("an answer of {provider}"));
        }
    }

    #[test]
    fn what_frameworks_keep_is_named() {
        for (text, name) in [
            (
                r#"[{"role":"assistant","content":"","toolInvocations":[{"state":"call"}]}]"#,
                "the AI SDK's version 4",
            ),
            (
                r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"a","parts":[{"type":"tool-invocation","toolInvocation":{}}]}]}"#,
                "the AI SDK's version 4",
            ),
            (r#"{"messages":[{"id":"1","role":"assistant","toolCalls":[]}]}"#, "AG-UI"),
            (r#"{"messages":[{"role":"tool","toolCallId":"c","content":"r"}]}"#, "AG-UI"),
            (r#"[{"messageType":"USER","text":"a"}]"#, "Spring AI"),
            (r#"[{"type":"USER","contents":[{"type":"TEXT","text":"a"}]}]"#, "LangChain4j"),
            (r#"[{"type":"AI","toolExecutionRequests":[]}]"#, "LangChain4j"),
            (
                r#"[{"role":"user","contents":[{"$type":"text","text":"a"}]}]"#,
                "Microsoft.Extensions.AI",
            ),
            (
                r#"[{"role":"assistant","content":"","tool_calls":[{"call_id":"1","tool_name":"f"}]}]"#,
                "Llama Stack",
            ),
            (r#"[{"uuid":"1","chat_messages":[{"sender":"human","text":"a"}]}]"#, "claude.ai"),
            (r#"{"model":"m","input":{"messages":[{"role":"user","content":"a"}]}}"#, "DashScope"),
            (r#""{\"messages\": []}""#, "a text that holds JSON"),
            (
                r#"[{"kind":"request","parts":[{"content":"a","part_kind":"user-prompt"}]}]"#,
                "pydantic-ai",
            ),
            (
                r#"[{"role":"user","additional_kwargs":{},"blocks":[{"block_type":"text","text":"a"}]}]"#,
                "LlamaIndex",
            ),
            (r#"[{"role":"user","meta":{},"name":null,"content":[{"text":"a"}]}]"#, "Haystack"),
            (r#"[{"role":"assistant","content":[{"tool_call":{"tool_name":"f"}}]}]"#, "Haystack"),
            (r#"{"messages":[{"$type":"ChatMessageContent","items":[]}]}"#, "Semantic Kernel"),
            (r#"[{"role":"user","parts":[{"type":"text","content":"a"}]}]"#, "OpenTelemetry"),
            (r#"[{"role":"user","kind":"message","parts":[{"kind":"text","text":"a"}]}]"#, "A2A"),
            (r#"{"conversations":[{"from":"human","value":"a"}]}"#, "ShareGPT"),
            (r#"{"events":[{"author":"user","content":{"parts":[]}}]}"#, "ADK"),
            (r#"[["human","a"],["ai","b"]]"#, "pairs of role and text"),
            (
                r#"{"lc":1,"type":"constructor","id":["langchain","ChatPromptTemplate"],"kwargs":{"messages":[]}}"#,
                "`ChatPromptTemplate` of LangChain",
            ),
        ] {
            assert_named(text, name);
        }
    }

    #[test]
    fn requests_of_other_interfaces_are_named() {
        for (text, name) in [
            (r#"{"message":"a","chat_history":[]}"#, "Cohere's chat, version 1"),
            (r#"{"agent_id":"a","inputs":"b"}"#, "Mistral's Conversations"),
            (r#"{"model":"m","prompt":"a"}"#, "one text"),
            (r#"{"inputs":"a","parameters":{}}"#, "one text"),
            (r#"{"model":"m","prompt":{"id":"p"}}"#, "OpenAI keeps"),
            (r#"{"model":"m","input":["a","b"]}"#, "embedding"),
            (r#"{"assistant_id":"a","thread":{"messages":[]}}"#, "Assistants"),
            (r#"{"type":"conversation.item.create","item":{}}"#, "Realtime"),
            (r#"{"log":{"entries":[]}}"#, "HAR"),
            (r#"{"method":"POST","body":{"messages":[]}}"#, "stands in `body`"),
            (r#"{"generateContentRequest":{"contents":[]}}"#, "stands in `generateContentRequest`"),
        ] {
            assert_named(text, name);
        }
    }
}
