//! Input tokens that a provider reports for a request, read from its answer as that passes.

use serde::Deserialize;

/// Most bytes of an event, or of an answer that is no stream, that are read. The last event of a
/// Responses stream repeats instructions and tools of the request.
const LONGEST: usize = 1 << 18;

/// Reads the input tokens that an answer reports, however it is cut into frames.
#[derive(Default)]
pub(crate) struct UsageReader {
    form: Form,
    /// The line, or the answer, as far as it came.
    read: Vec<u8>,
    is_too_long: bool,
    is_done: bool,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Nothing that is understood.
    #[default]
    Other,
    Events,
    Json,
}

impl UsageReader {
    /// Reads an answer of this content type.
    pub(crate) fn new(content_type: &str) -> Self {
        let content_type = content_type.trim_start().to_ascii_lowercase();
        let form = if content_type.starts_with("text/event-stream") {
            Form::Events
        } else if content_type.starts_with("application/json") {
            Form::Json
        } else {
            Form::Other
        };
        Self { form, is_done: form == Form::Other, ..Self::default() }
    }

    /// Reads the next frame. Returns the tokens once, when they are there.
    pub(crate) fn watch(&mut self, data: &[u8]) -> Option<i64> {
        if self.is_done {
            return None;
        }
        if self.form == Form::Json {
            self.keep(data);
            return None;
        }
        for piece in data.split_inclusive(|byte| *byte == b'\n') {
            self.keep(piece);
            if piece.ends_with(b"\n") {
                if let Some(tokens) = self.line() {
                    return Some(tokens);
                }
            }
        }
        None
    }

    /// The answer is over. Returns the tokens if they were not returned before.
    pub(crate) fn end(&mut self) -> Option<i64> {
        if self.is_done {
            return None;
        }
        let tokens = self.line();
        self.is_done = true;
        tokens
    }

    fn keep(&mut self, data: &[u8]) {
        self.is_too_long |= self.read.len().saturating_add(data.len()) > LONGEST;
        if self.is_too_long {
            self.read = Vec::new();
        } else {
            self.read.extend_from_slice(data);
        }
    }

    /// The tokens that the line says, which is over.
    fn line(&mut self) -> Option<i64> {
        let read = std::mem::take(&mut self.read);
        if std::mem::take(&mut self.is_too_long) {
            return None;
        }
        let data = if self.form == Form::Json { &read } else { read.strip_prefix(b"data:")? };
        let says_usage = data.windows(6).any(|at| at == b"\"usage");
        let tokens = says_usage.then(|| input_tokens(data)).flatten();
        self.is_done = tokens.is_some();
        tokens
    }
}

/// An answer or an event of it, as far as it says what the request came to.
#[derive(Deserialize)]
struct Reporting {
    usage: Option<InputUsage>,
    #[serde(rename = "usageMetadata")]
    usage_metadata: Option<InputUsage>,
    /// The event with which Anthropic begins.
    message: Option<Box<Reporting>>,
    /// The event with which a Responses stream ends.
    response: Option<Box<Reporting>>,
}

#[derive(Deserialize)]
struct InputUsage {
    /// With what was read from the cache, as OpenAI counts.
    prompt_tokens: Option<i64>,
    /// With what was read from the cache, as Gemini counts.
    #[serde(rename = "promptTokenCount")]
    prompt_token_count: Option<i64>,
    /// Without the two below, where they are given.
    input_tokens: Option<i64>,
    cache_read_input_tokens: Option<i64>,
    cache_creation_input_tokens: Option<i64>,
}

impl InputUsage {
    fn tokens(&self) -> Option<i64> {
        let apart = [self.cache_read_input_tokens, self.cache_creation_input_tokens];
        let with_cache =
            |tokens: i64| apart.iter().flatten().copied().fold(tokens, i64::saturating_add);
        let whole = self.prompt_tokens.or(self.prompt_token_count);
        whole.or(self.input_tokens.map(with_cache)).filter(|tokens| *tokens > 0)
    }
}

impl Reporting {
    fn tokens(&self) -> Option<i64> {
        let own = [&self.usage, &self.usage_metadata].into_iter().flatten();
        let inner = [&self.message, &self.response].into_iter().flatten();
        own.filter_map(InputUsage::tokens).chain(inner.filter_map(|inner| inner.tokens())).next()
    }
}

fn input_tokens(json: &[u8]) -> Option<i64> {
    serde_json::from_slice::<Reporting>(json).ok()?.tokens()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: &str = "text/event-stream; charset=utf-8";

    #[test]
    fn each_provider_says_it_elsewhere() {
        for (json, tokens) in [
            (
                r#"{"usage":{"prompt_tokens":120,"prompt_tokens_details":{"cached_tokens":100}}}"#,
                120,
            ),
            (r#"{"usage":{"prompt_tokens":120,"cache_read_input_tokens":100}}"#, 120),
            (
                r#"{"type":"message","usage":{"input_tokens":7,"cache_read_input_tokens":100,"cache_creation_input_tokens":20}}"#,
                127,
            ),
            (
                r#"{"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":null}}}"#,
                7,
            ),
            (
                r#"{"type":"response.completed","response":{"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":40}}}}"#,
                50,
            ),
            (
                r#"{"candidates":[],"usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":4}}"#,
                9,
            ),
            (r#"{"response":{"usageMetadata":{"promptTokenCount":9}}}"#, 9),
        ] {
            assert_eq!(input_tokens(json.as_bytes()), Some(tokens), "{json}");
        }
        for json in [
            r#"{"usage":null}"#,
            r#"{"usage":{"input_tokens":0}}"#,
            r#"{"usage":{"output_tokens":5}}"#,
            r#"{"usage":{"prompt_tokens":"many"}}"#,
            r#"{"message":"no","usage":1}"#,
            "[]",
            "",
        ] {
            assert_eq!(input_tokens(json.as_bytes()), None, "{json}");
        }
    }

    #[test]
    fn a_stream_says_it_once_however_it_is_cut() {
        let text = "event: a\r\ndata: {\"delta\":\"\\\"usage\\\":{}\"}\r\n\r\n\
                    data: {\"usage\":{\"prompt_tokens\":12}}\n\ndata: {\"usage\":{\"prompt_tokens\":13}}\n\n";
        for at in 0..text.len() {
            let mut reader = UsageReader::new(EVENTS);
            let (first, second) = text.as_bytes().split_at(at);
            let heard = [reader.watch(first), reader.watch(second), reader.end()];
            assert_eq!(heard.into_iter().flatten().collect::<Vec<_>>(), [12], "{at}");
        }
        let mut reader = UsageReader::new(EVENTS);
        assert_eq!(reader.watch(b"data: {\"usage\":{\"prompt_tokens\":12}}"), None);
        assert_eq!(reader.end(), Some(12), "a stream may end without a line's end");
    }

    #[test]
    fn an_answer_says_it_at_its_end() {
        let mut reader = UsageReader::new(" Application/JSON");
        assert_eq!(reader.watch(b"{\n \"usage\": {\"input_tokens\""), None);
        assert_eq!(reader.watch(b": 3}\n}\n"), None);
        assert_eq!((reader.end(), reader.end()), (Some(3), None));
        let mut other = UsageReader::new("text/plain");
        assert_eq!((other.watch(b"{\"usage\":{\"input_tokens\":3}}\n"), other.end()), (None, None));
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        let mut reader = UsageReader::new(EVENTS);
        for _ in 0..=LONGEST / 1024 {
            assert_eq!(reader.watch(&[b'x'; 1024]), None);
        }
        assert!(reader.read.is_empty());
        assert_eq!(
            reader.watch(b"\ndata: {\"usage\":{\"prompt_tokens\":1}}\n"),
            Some(1),
            "the next line"
        );
        let mut reader = UsageReader::new("application/json");
        reader.watch(&vec![b' '; LONGEST]);
        reader.watch(b"{\"usage\":{\"prompt_tokens\":1}}");
        assert_eq!(reader.end(), None);
    }
}
