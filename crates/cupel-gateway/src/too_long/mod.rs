//! Words of servers for a request that is too long, and the limits in them.

mod wording;

use serde_json::Value;

use crate::learnt::LearntWindow;

/// Numbers of a refusal, as the server counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Told {
    /// Most tokens of a request and, if `answer` is known, its answer.
    pub(crate) window: Option<i64>,
    /// Tokens of the request.
    pub(crate) prompt: Option<i64>,
    /// Tokens that the answer would be given.
    pub(crate) answer: Option<i64>,
    /// Tokens of request and answer together.
    pub(crate) total: Option<i64>,
    /// Tokens of the request beyond the limit.
    pub(crate) excess: Option<i64>,
}

/// Codes that servers use for a request that is too long, and for nothing else.
const CODES: [&str; 6] = [
    "context_length_exceeded",
    "context_window_exceeded",
    "exceed_context_size_error",
    "model_max_prompt_tokens_exceeded",
    "request_too_large",
    "max_prompt_tokens_exceeded",
];

/// Fields of an error that hold codes.
const CODE_FIELDS: [&str; 5] = ["code", "type", "status", "error_type", "error_code"];

/// Percent of a request that is sent again where nobody says how much is too much.
const GUESS_PERCENT: i64 = 70;

/// An event of a stream, by what it means for the question whether the request was too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The answer has not begun: whatever comes next may be an error.
    Nothing,
    /// The answer has begun, or another error came.
    Answer,
    /// The request was too long.
    TooLong(Told),
}

impl Told {
    /// The place of a number by its name in a wording.
    fn place(&mut self, name: &str) -> Option<&mut Option<i64>> {
        Some(match name {
            "window" => &mut self.window,
            "prompt" => &mut self.prompt,
            "answer" => &mut self.answer,
            "total" => &mut self.total,
            "excess" => &mut self.excess,
            _ => return None,
        })
    }

    /// Returns true if the body of an answer with this status may say so. Some routers say it with 200.
    pub(crate) fn may_be_in(status: u16) -> bool {
        matches!(status, 200 | 400 | 413 | 422 | 500)
    }

    /// Reads the body of a refusal.
    pub(crate) fn of_refusal(status: u16, body: &[u8]) -> Option<Self> {
        if !Self::may_be_in(status) {
            return None;
        }
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            return wording::read(std::str::from_utf8(body).ok()?);
        };
        // Gemini has a list of one.
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(&value);
        if status == 200 {
            return Self::of_error(error_in(value)?);
        }
        Self::of_error(value.get("error").filter(|error| !error.is_null()).unwrap_or(value))
    }

    /// Reads an error: its fields, and its message.
    fn of_error(error: &Value) -> Option<Self> {
        let text = |name: &str| error.get(name).and_then(Value::as_str);
        let message = error.as_str().or_else(|| text("message")).or_else(|| text("detail"));
        let by_words = message.and_then(wording::read);
        let has_code =
            CODE_FIELDS.iter().any(|name| text(name).is_some_and(|it| CODES.contains(&it)));
        let mut told = by_words.or(has_code.then_some(Self::default()))?;
        let number = |name: &str| error.get(name).and_then(Value::as_i64);
        told.window = number("n_ctx").or(told.window);
        told.prompt = number("n_prompt_tokens").or(told.prompt);
        Some(told)
    }

    /// Returns true if it says how much is too much.
    pub(crate) fn names_limit(self) -> bool {
        self.window.is_some() || self.excess.is_some()
    }

    /// The most to send now, in tokens as they are counted here, if `sent` of them were too many.
    /// `output` is the limit for its answer that the request has.
    pub(crate) fn most(self, sent: i64, output: Option<i64>) -> i64 {
        let guess = sent.saturating_mul(GUESS_PERCENT) / 100;
        let most = match (self.window, self.excess) {
            (Some(window), _) => {
                self.scaled(window.saturating_sub(self.answer_tokens(output)), sent)
            }
            // A tenth more goes, since the server counts otherwise than we do.
            (None, Some(excess)) => sent.saturating_sub(excess.saturating_add(excess / 10)),
            (None, None) => guess,
        };
        if most <= 0 || most >= sent { guess } else { most }
    }

    /// The window that a server told, to be remembered for requests to come, in tokens as they are counted
    /// here. `None` if it told none, or speaks of another request than the one that was sent.
    pub(crate) fn window(self, sent: i64, output: Option<i64>) -> Option<LearntWindow> {
        let of_total = self.total.map(|total| total.saturating_sub(output.unwrap_or(0)));
        if let Some(prompt) = self.prompt.or(of_total) {
            // Counts of tokenizers differ, but not by more than this.
            if prompt < sent / 2 || prompt / 2 > sent {
                return None;
            }
        }
        let window = self.window.filter(|window| *window > 0)?;
        let answer = self.answer_tokens(output);
        let tokens = self.scaled(window, sent);
        let was_too_long = tokens < sent.saturating_add(answer);
        (was_too_long && tokens > 0).then_some(LearntWindow { tokens, counts_answer: answer > 0 })
    }

    /// Tokens of the window that the server counts for the answer: as it says, or what its total has beyond
    /// the request.
    fn answer_tokens(self, output: Option<i64>) -> i64 {
        let of_total = self.total.map(|total| match self.prompt {
            Some(prompt) => total.saturating_sub(prompt),
            None => output.unwrap_or(0).min(total),
        });
        self.answer.or(of_total).unwrap_or(0).max(0)
    }

    /// A number of the server in tokens as they are counted here, less one percent, since the next
    /// request may be of other stuff. Never more than the number itself.
    fn scaled(self, tokens: i64, sent: i64) -> i64 {
        let counted = self.prompt.filter(|prompt| *prompt > 0).unwrap_or(sent.max(1));
        let ours = i128::from(tokens) * i128::from(sent) * 99 / (i128::from(counted) * 100);
        i64::try_from(ours).unwrap_or(i64::MAX).min(tokens)
    }
}

impl Heard {
    /// Reads the data of one event of a stream.
    pub(crate) fn of_event(data: &str) -> Self {
        let data = data.trim();
        if data.is_empty() {
            return Self::Nothing;
        }
        let Ok(event) = serde_json::from_str::<Value>(data) else { return Self::Answer };
        if let Some(error) = error_in(&event) {
            return Told::of_error(error).map_or(Self::Answer, Self::TooLong);
        }
        if is_beginning(&event) { Self::Nothing } else { Self::Answer }
    }
}

/// The error that an event or an answer carries, if it does.
fn error_in(event: &Value) -> Option<&Value> {
    let inner = event.get("response").and_then(|response| response.get("error"));
    let error = event.get("error").or(inner).filter(|error| !error.is_null());
    let is_error = event.get("type").and_then(Value::as_str) == Some("error");
    error.or(is_error.then_some(event))
}

/// Returns true if an event says no more than that an answer will come.
fn is_beginning(event: &Value) -> bool {
    let kind = event.get("type").and_then(Value::as_str);
    if let Some(kind) = kind {
        let kinds = ["response.created", "response.queued", "response.in_progress", "ping"];
        return kinds.contains(&kind) || matches!(kind, "keepalive" | "message_start");
    }
    // A chunk of OpenAI's chat that has nothing but a role, or of Gemini that has no candidate.
    if let Some(choices) = event.get("choices").and_then(Value::as_array) {
        return choices.iter().all(|choice| {
            let is_over = choice.get("finish_reason").is_some_and(|reason| !reason.is_null());
            let delta = choice.get("delta").and_then(Value::as_object);
            !is_over
                && delta.is_none_or(|delta| {
                    delta.iter().all(|(name, it)| name == "role" || is_empty(it))
                })
        });
    }
    // Gemini's for accounts stands in a field.
    let event = event.get("response").unwrap_or(event);
    event.get("usageMetadata").is_some() && event.get("candidates").is_none()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(status: u16, body: &Value) -> Option<Told> {
        Told::of_refusal(status, body.to_string().as_bytes())
    }

    #[test]
    fn messages_stand_where_servers_put_them() {
        let words = "prompt is too long: 9 tokens > 8 maximum";
        for body in [
            json!({ "error": { "message": words } }),
            json!({ "error": words }),
            json!({ "message": words, "error": null }),
            json!({ "detail": words }),
            json!([{ "error": { "message": words } }]),
            json!(words),
        ] {
            assert_eq!(read(400, &body).and_then(|told| told.window), Some(8), "{body}");
        }
        assert_eq!(Told::of_refusal(400, words.as_bytes()).unwrap().prompt, Some(9), "plain text");
        for body in [
            json!({ "input": words, "error": { "message": "invalid input" } }),
            json!({ "error": { "message": "bad field", "value": words } }),
            json!({ "error": { "message": format!("messages[0]: `{words}` is no list") } }),
            json!({ "error": { "message": "invalid model", "param": "context_length_exceeded" } }),
        ] {
            assert_eq!(read(400, &body), None, "{body}");
        }
    }

    #[test]
    fn fields_of_llama_cpp_win_over_words() {
        let error = json!({ "error": { "message": "the request exceeds the available context size",
            "type": "exceed_context_size_error", "n_prompt_tokens": 5000, "n_ctx": 4096 } });
        let told = read(400, &error).unwrap();
        assert_eq!((told.window, told.prompt), (Some(4_096), Some(5_000)));
        let other = json!({ "error": { "message": "no", "n_ctx": 4096 } });
        assert_eq!(read(400, &other), None, "numbers alone say nothing");
    }

    #[test]
    fn a_request_is_too_long_by_its_code_under_the_statuses_that_servers_use_for_it() {
        for code in CODES {
            for field in CODE_FIELDS {
                let mut body = json!({ "error": {} });
                body["error"][field] = code.into();
                assert_eq!(read(400, &body), Some(Told::default()), "{code} {field}");
            }
        }
        let body = json!({ "error": { "code": "context_length_exceeded" } });
        for status in [200, 400, 413, 422, 500] {
            assert_eq!(read(status, &body), Some(Told::default()), "{status}");
        }
        for status in [401, 403, 404, 408, 412, 414, 421, 423, 429, 501, 502, 503, 529] {
            assert_eq!(read(status, &body), None, "{status}");
        }
        assert_eq!(read(200, &json!({ "code": "context_length_exceeded" })), None, "an answer");
    }

    #[test]
    fn other_refusals_are_left_alone() {
        assert_eq!(read(400, &json!({ "error": { "message": "invalid model" } })), None);
        assert_eq!(Told::of_refusal(400, b"\x00\x01"), None);
        assert_eq!(Told::of_refusal(400, b"\xff"), None);
    }

    #[test]
    fn events_tell_beginnings_from_answers_and_errors() {
        for data in [
            r#"{"type":"response.created","response":{"error":null}}"#,
            r#"{"type":"response.in_progress","response":{}}"#,
            r#"{"type":"message_start","message":{"content":[]}}"#,
            r#"{"type":"ping"}"#,
            r#"{"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
            r#"{"choices":[]}"#,
            r#"{"usageMetadata":{"promptTokenCount":5}}"#,
            " ",
        ] {
            assert_eq!(Heard::of_event(data), Heard::Nothing, "{data}");
        }
        for data in [
            r#"{"type":"content_block_start"}"#,
            r#"{"type":"response.output_item.added"}"#,
            r#"{"choices":[{"delta":{"content":"x"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
            r#"{"candidates":[],"usageMetadata":{}}"#,
            r#"{"error":{"message":"overloaded"}}"#,
            "[DONE]",
            "{",
        ] {
            assert_eq!(Heard::of_event(data), Heard::Answer, "{data}");
        }
        for data in [
            r#"{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"x"}}}"#,
            r#"{"type":"error","error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            r#"{"type":"error","code":"context_length_exceeded","message":"x"}"#,
            r#"{"error":{"message":"Context size has been exceeded."}}"#,
        ] {
            assert!(matches!(Heard::of_event(data), Heard::TooLong(_)), "{data}");
        }
    }

    #[test]
    fn a_request_is_cut_to_what_the_server_told_in_our_counts() {
        let told = Told { window: Some(8_000), prompt: Some(10_000), ..Told::default() };
        assert_eq!(told.most(5_000, None), 3_960);
        assert_eq!(told.most(20_000, None), 8_000);
        assert_eq!(Told { answer: Some(2_000), ..told }.most(10_000, None), 5_940);
        assert_eq!(Told::default().most(1_000, None), 700);
        let uncounted = Told { window: Some(100), prompt: Some(0), ..Told::default() };
        assert_eq!(uncounted.most(200, None), 99, "taken to count as we do");
        let nonsense = Told { window: Some(i64::MAX), prompt: Some(1), answer: Some(-1), ..told };
        assert_eq!(nonsense.most(1_000, None), 700);
        let excess = Told { excess: Some(1_000), ..Told::default() };
        assert_eq!(excess.most(5_000, None), 3_900);
        assert_eq!(excess.most(1_000, None), 700, "more than there was");
        let total = Told { window: Some(8_000), total: Some(12_500), ..Told::default() };
        assert_eq!(total.most(6_500, Some(6_000)), 1_980, "the answer is a part of the total");
        let counted = Told { prompt: Some(12_500), ..total };
        assert_eq!(counted.most(12_500, Some(6_000)), 7_920, "it is not");
    }

    #[test]
    fn the_window_is_learnt_and_not_the_room_that_an_answer_left() {
        let told = Told {
            window: Some(32_768),
            prompt: Some(8_500),
            answer: Some(31_500),
            ..Told::default()
        };
        let learnt = told.window(8_500, Some(31_500)).unwrap();
        assert_eq!(learnt, LearntWindow { tokens: 32_440, counts_answer: true });
        let alone = Told { answer: None, prompt: Some(40_000), ..told };
        let learnt = alone.window(40_000, None).unwrap();
        assert_eq!(learnt, LearntWindow { tokens: 32_440, counts_answer: false });
    }

    #[test]
    fn a_window_is_learnt_only_from_an_answer_to_what_was_sent() {
        let told = |prompt| Told { window: Some(300), prompt, ..Told::default() };
        assert_eq!(told(Some(20_000)).window(5_000, None), None, "four times what was sent");
        assert_eq!(told(Some(1_000)).window(5_000, None), None, "a fifth of it");
        assert!(told(Some(4_000)).window(5_000, None).is_some());
        assert!(told(None).window(5_000, None).is_some());
        assert_eq!(told(Some(250)).window(250, None), None, "it was not too long");
        let total = Told { window: Some(8_000), total: Some(12_500), ..Told::default() };
        assert!(total.window(6_500, Some(6_000)).is_some());
        assert_eq!(total.window(1_000, Some(6_000)), None);
        assert_eq!(Told { window: Some(0), ..Told::default() }.window(10, None), None);
    }
}
