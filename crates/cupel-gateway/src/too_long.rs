//! How providers say that a request is too long, and what they tell about their limit.

use serde_json::Value;

/// What an answer says about the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TooLong {
    /// Most tokens of a request and, if `answer` is known, its answer.
    pub(crate) window: Option<i64>,
    /// What the provider counted in the request.
    pub(crate) prompt: Option<i64>,
    /// What it would keep free for the answer.
    pub(crate) answer: Option<i64>,
}

/// Words that nobody uses for anything else.
const WORDS: [&str; 13] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "prompt is too long",
    "exceed context limit",
    "exceeds the context window",
    "maximum context length",
    "exceeds the maximum number of tokens allowed",
    "longer than the model's context length",
    "exceeds the available context size",
    "too long to fit into the model",
    "exceeds model's maximum context length",
    "context window exceeds limit",
];

impl TooLong {
    /// Reads the body of a refusal.
    pub(crate) fn of_refusal(status: u16, body: &[u8]) -> Option<Self> {
        matches!(status, 400 | 413 | 422 | 500).then(|| Self::of_text(body)).flatten()
    }

    /// Reads the events at the beginning of a stream, as far as they came.
    pub(crate) fn of_events(events: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(events).ok()?;
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        for data in data {
            let Ok(value) = serde_json::from_str::<Value>(data.trim()) else { return None };
            if let Some(error) = error_in(&value) {
                return Self::of_text(error.to_string().as_bytes());
            }
            let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
            if !matches!(kind, "response.created" | "response.in_progress" | "ping") {
                return None;
            }
        }
        None
    }

    fn of_text(body: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(body).to_lowercase();
        if !WORDS.iter().any(|words| text.contains(words)) {
            return None;
        }
        let fields = serde_json::from_slice::<Value>(body).ok();
        let field = |name: &str| {
            let error = fields.as_ref().map(|value| value.get("error").unwrap_or(value));
            error.and_then(|error| error.get(name)).and_then(Value::as_i64)
        };
        let mut found =
            Self { window: field("n_ctx"), prompt: field("n_prompt_tokens"), answer: None };
        found.read_sums(&text);
        let window = [
            "maximum context length is ",
            "maximum number of tokens allowed (",
            "context length (",
            "context size (",
            "maximum context length (",
        ];
        found.window = found.window.or_else(|| window.iter().find_map(|words| after(&text, words)));
        let prompt = [
            "messages resulted in ",
            "input token count (",
            "prompt contains ",
            "total length ",
            "the input (",
            "input length (",
            "you requested ",
        ];
        found.prompt = found.prompt.or_else(|| prompt.iter().find_map(|words| after(&text, words)));
        found.answer = found.answer.or_else(|| before(&text, " in the completion"));
        if let Some(messages) = before(&text, " in the messages") {
            found.prompt = Some(messages);
        }
        Some(found)
    }

    /// `A tokens > B maximum`, and `A + B > C`.
    fn read_sums(&mut self, text: &str) {
        if let Some(told) = text.split("too long: ").nth(1) {
            self.prompt = self.prompt.or_else(|| first(told));
            self.window = self.window.or_else(|| told.split_once('>').and_then(|two| first(two.1)));
        }
        if let Some(told) = text.split("context limit: ").nth(1) {
            self.prompt = self.prompt.or_else(|| first(told));
            self.answer = told.split_once('+').and_then(|two| first(two.1));
            self.window = self.window.or_else(|| told.split_once('>').and_then(|two| first(two.1)));
        }
    }

    /// The most that may be sent, in tokens as they are counted here, if so many of them were too
    /// many; and whether the provider itself said so.
    pub(crate) fn limit(self, sent: i64) -> (i64, bool) {
        let guess = sent.saturating_mul(7) / 10;
        let Some(window) = self.window.filter(|window| *window > 0) else { return (guess, false) };
        let room = window.saturating_sub(self.answer.unwrap_or(0));
        let counted = self.prompt.filter(|prompt| *prompt > 0).unwrap_or(sent.max(1));
        // The provider counts otherwise than we do: its limit is scaled to our counts, less one
        // percent, since the next request may be of other stuff.
        let ours = i128::from(room) * i128::from(sent) * 99 / (i128::from(counted) * 100);
        let ours = i64::try_from(ours).unwrap_or(i64::MAX).min(room);
        if ours <= 0 || ours >= sent {
            return (guess, false);
        }
        (ours, true)
    }
}

/// The error that an event carries, if it does.
fn error_in(event: &Value) -> Option<&Value> {
    let inner = event.get("response").and_then(|response| response.get("error"));
    let error = event.get("error").or(inner).filter(|error| !error.is_null());
    let is_error = event.get("type").and_then(Value::as_str) == Some("error");
    error.or(is_error.then_some(event))
}

/// The number at the beginning of a text.
fn first(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, ',' | '_');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let digits: String = text[..end].chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn after(text: &str, words: &str) -> Option<i64> {
    let at = text.find(words)?;
    first(&text[at + words.len()..])
}

fn before(text: &str, words: &str) -> Option<i64> {
    let told = &text[..text.find(words)?];
    let start = told.rfind(|c: char| !c.is_ascii_digit() && c != ',').map_or(0, |at| at + 1);
    first(&told[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: u16, body: &str) -> Option<(Option<i64>, Option<i64>, Option<i64>)> {
        let found = TooLong::of_refusal(status, body.as_bytes())?;
        Some((found.window, found.prompt, found.answer))
    }

    #[test]
    fn every_providers_words_are_understood() {
        for (status, body, expected) in [
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.","code":"context_length_exceeded"}}"#,
                (Some(8_192), Some(9_001), None),
            ),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion)."}}"#,
                (Some(4_097), Some(4_000), Some(1_000)),
            ),
            (
                400,
                r#"{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}"#,
                (None, None, None),
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#,
                (Some(200_000), Some(208_310), None),
            ),
            (
                400,
                r#"{"type":"error","error":{"message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease"}}"#,
                (Some(200_000), Some(190_000), Some(20_000)),
            ),
            (
                413,
                r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
                (None, None, None),
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"The input token count (1,200,000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
                (Some(1_048_576), Some(1_200_000), None),
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}"#,
                (Some(4_096), Some(5_000), None),
            ),
            (
                400,
                r#"{"error":{"message":"The input (5000 tokens) is longer than the model's context length (4096 tokens)."}}"#,
                (Some(4_096), Some(5_000), None),
            ),
        ] {
            assert_eq!(read(status, body), Some(expected), "{body}");
        }
    }

    #[test]
    fn a_request_is_too_long_by_its_words_under_the_statuses_that_servers_use_for_it() {
        let body = r#"{"error":{"code":"context_length_exceeded"}}"#;
        for status in [400, 413, 422, 500] {
            assert_eq!(read(status, body), Some((None, None, None)), "{status}");
        }
        for status in [200, 401, 403, 404, 408, 412, 414, 421, 423, 429, 501, 502, 503, 529] {
            assert_eq!(read(status, body), None, "{status}");
        }
    }

    #[test]
    fn other_refusals_are_left_alone() {
        assert_eq!(read(400, r#"{"error":{"message":"invalid model"}}"#), None);
        assert_eq!(read(429, r#"{"error":{"code":"context_length_exceeded"}}"#), None);
        assert_eq!(read(400, "\u{0}\u{1}"), None);
    }

    #[test]
    fn a_stream_that_begins_with_an_error_is_understood_and_one_with_content_is_not() {
        let anthropic = b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}\n\n";
        assert_eq!(TooLong::of_events(anthropic).and_then(|found| found.window), Some(8));
        let responses = b"data: {\"type\":\"response.created\",\"response\":{\"error\":null}}\n\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"x\"}}}\n\n";
        assert!(TooLong::of_events(responses).is_some());
        let content = b"data: {\"type\":\"message_start\"}\n\ndata: {\"error\":{\"code\":\"context_length_exceeded\"}}\n\n";
        assert_eq!(TooLong::of_events(content), None);
        let other = b"data: {\"error\":{\"message\":\"overloaded\"}}\n\n";
        assert_eq!(TooLong::of_events(other), None);
    }

    #[test]
    fn the_limit_is_scaled_to_our_counts() {
        let told = TooLong { window: Some(8_000), prompt: Some(10_000), answer: None };
        assert_eq!(told.limit(5_000), (3_960, true));
        assert_eq!(told.limit(20_000), (8_000, true));
        let with_answer = TooLong { answer: Some(2_000), ..told };
        assert_eq!(with_answer.limit(10_000), (5_940, true));
        assert_eq!(TooLong::default().limit(1_000), (700, false));
        let uncounted = TooLong { window: Some(100), prompt: Some(0), answer: None };
        assert_eq!(uncounted.limit(200), (99, true), "taken to count as we do");
        let nonsense = TooLong { window: Some(i64::MAX), prompt: Some(1), answer: Some(-1) };
        assert_eq!(nonsense.limit(1_000), (700, false));
    }
}
