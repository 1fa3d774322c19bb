//! Input tokens that a provider reports for a request, read from its answer as that passes.

use serde::Deserialize;

/// Most bytes of an event, or of an answer that is no stream, that are read. The last event of a
/// Responses stream repeats instructions and tools of the request.
const LONGEST: usize = 1 << 18;

/// Tokens of a request that a provider reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reported {
    /// Input tokens, with those of the cache.
    pub(crate) tokens: i64,
    /// Those that were read from the cache, if it tells.
    pub(crate) cached: Option<i64>,
}

impl Reported {
    /// A part of a request, counted here like all of it, in tokens of the provider.
    pub(crate) fn scaled(self, part: i64, counted: i64) -> i64 {
        let scaled = i128::from(part) * i128::from(self.tokens) / i128::from(counted.max(1));
        i64::try_from(scaled).unwrap_or(i64::MAX)
    }
}

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
    /// A value on each line, as Ollama streams.
    Lines,
    Json,
}

impl UsageReader {
    /// Reads an answer of this content type.
    pub(crate) fn new(content_type: &str) -> Self {
        let content_type = content_type.trim_start().to_ascii_lowercase();
        let form = if content_type.starts_with("text/event-stream") {
            Form::Events
        } else if content_type.starts_with("application/x-ndjson") {
            Form::Lines
        } else if content_type.starts_with("application/json") {
            Form::Json
        } else {
            Form::Other
        };
        Self { form, is_done: form == Form::Other, ..Self::default() }
    }

    /// Reads the next frame. Returns the tokens once, when they are there.
    pub(crate) fn watch(&mut self, data: &[u8]) -> Option<Reported> {
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
                if let Some(reported) = self.line() {
                    return Some(reported);
                }
            }
        }
        None
    }

    /// The answer is over. Returns the tokens if they were not returned before.
    pub(crate) fn end(&mut self) -> Option<Reported> {
        if self.is_done {
            return None;
        }
        let reported = self.line();
        self.is_done = true;
        reported
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
    fn line(&mut self) -> Option<Reported> {
        let read = std::mem::take(&mut self.read);
        if std::mem::take(&mut self.is_too_long) {
            return None;
        }
        let data = match self.form {
            Form::Events => read.strip_prefix(b"data:")?,
            _ => &read,
        };
        let says = |name: &[u8]| data.windows(name.len()).any(|at| at == name);
        let says_usage = says(b"\"usage") || says(b"\"prompt_eval_count\"");
        let reported = says_usage.then(|| reported(data)).flatten();
        self.is_done = reported.is_some();
        reported
    }
}

/// An answer or an event of it, as far as it says what the request came to.
#[derive(Deserialize)]
struct Reporting {
    usage: Option<InputUsage>,
    #[serde(rename = "usageMetadata")]
    usage_metadata: Option<InputUsage>,
    /// As Ollama counts.
    prompt_eval_count: Option<i64>,
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
    /// Where OpenAI says what was read from the cache, in the one interface and in the other.
    #[serde(alias = "input_tokens_details")]
    prompt_tokens_details: Option<InputDetails>,
    #[serde(rename = "cachedContentTokenCount")]
    cached_content_token_count: Option<i64>,
}

#[derive(Deserialize)]
struct InputDetails {
    cached_tokens: Option<i64>,
}

impl InputUsage {
    fn reported(&self) -> Option<Reported> {
        let details = self.prompt_tokens_details.as_ref();
        let cached = details.and_then(|details| details.cached_tokens);
        let cached = cached.or(self.cache_read_input_tokens).or(self.cached_content_token_count);
        self.tokens().map(|tokens| Reported { tokens, cached })
    }

    fn tokens(&self) -> Option<i64> {
        let apart = [self.cache_read_input_tokens, self.cache_creation_input_tokens];
        let with_cache =
            |tokens: i64| apart.iter().flatten().copied().fold(tokens, i64::saturating_add);
        let whole = self.prompt_tokens.or(self.prompt_token_count);
        whole.or(self.input_tokens.map(with_cache)).filter(|tokens| *tokens > 0)
    }
}

impl Reporting {
    fn reported(&self) -> Option<Reported> {
        let own = [&self.usage, &self.usage_metadata].into_iter().flatten();
        let inner = [&self.message, &self.response].into_iter().flatten();
        let inner = inner.filter_map(|inner| inner.reported());
        let plain = self.prompt_eval_count.filter(|tokens| *tokens > 0);
        let plain = plain.map(|tokens| Reported { tokens, cached: None });
        own.filter_map(InputUsage::reported).chain(inner).chain(plain).next()
    }
}

fn reported(json: &[u8]) -> Option<Reported> {
    serde_json::from_slice::<Reporting>(json).ok()?.reported()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_as_large_to_the_provider_as_it_was_counted() {
        assert_eq!(tokens(10_000).scaled(16_000, 20_000), 8_000);
        assert_eq!(tokens(10).scaled(5, 0), 50);
        assert_eq!(tokens(i64::MAX).scaled(i64::MAX, 1), i64::MAX);
    }

    fn tokens(tokens: i64) -> Reported {
        Reported { tokens, cached: None }
    }

    const EVENTS: &str = "text/event-stream; charset=utf-8";

    #[test]
    fn each_provider_says_it_elsewhere() {
        for (json, tokens, cached) in [
            (
                r#"{"usage":{"prompt_tokens":120,"prompt_tokens_details":{"cached_tokens":100}}}"#,
                120,
                Some(100),
            ),
            (r#"{"usage":{"prompt_tokens":120,"cache_read_input_tokens":100}}"#, 120, Some(100)),
            (r#"{"model":"m","done":true,"prompt_eval_count":26,"eval_count":2}"#, 26, None),
            (
                r#"{"type":"message","usage":{"input_tokens":7,"cache_read_input_tokens":100,"cache_creation_input_tokens":20}}"#,
                127,
                Some(100),
            ),
            (
                r#"{"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":null}}}"#,
                7,
                None,
            ),
            (
                r#"{"type":"response.completed","response":{"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":40}}}}"#,
                50,
                Some(40),
            ),
            (
                r#"{"candidates":[],"usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":4}}"#,
                9,
                Some(4),
            ),
            (r#"{"response":{"usageMetadata":{"promptTokenCount":9}}}"#, 9, None),
        ] {
            let said = Reported { tokens, cached };
            assert_eq!(reported(json.as_bytes()), Some(said), "{json}");
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
            assert_eq!(reported(json.as_bytes()), None, "{json}");
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
            assert_eq!(heard.into_iter().flatten().collect::<Vec<_>>(), [tokens(12)], "{at}");
        }
        let mut reader = UsageReader::new(EVENTS);
        assert_eq!(reader.watch(b"data: {\"usage\":{\"prompt_tokens\":12}}"), None);
        assert_eq!(reader.end(), Some(tokens(12)), "a stream may end without a line's end");
    }

    #[test]
    fn an_answer_says_it_at_its_end() {
        let mut reader = UsageReader::new(" Application/JSON");
        assert_eq!(reader.watch(b"{\n \"usage\": {\"input_tokens\""), None);
        assert_eq!(reader.watch(b": 3}\n}\n"), None);
        assert_eq!((reader.end(), reader.end()), (Some(tokens(3)), None));
        let mut lines = UsageReader::new("application/x-ndjson");
        assert_eq!(lines.watch(b"{\"done\":false}\n{\"done\":true,"), None);
        assert_eq!(lines.watch(b"\"prompt_eval_count\":5}\n"), Some(tokens(5)));
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
            Some(tokens(1)),
            "the next line"
        );
        let mut reader = UsageReader::new("application/json");
        reader.watch(&vec![b' '; LONGEST]);
        reader.watch(b"{\"usage\":{\"prompt_tokens\":1}}");
        assert_eq!(reader.end(), None);
    }
}
