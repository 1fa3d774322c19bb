//! Input tokens that a provider reports for a request, read from its answer as that passes.

use serde::Deserialize;

use crate::amazon::{AmazonEvent, frame_length};
use crate::body::Framing;

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
    /// Bytes to come of a frame that is too long.
    skipped: usize,
    is_done: bool,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Nothing that is understood.
    #[default]
    Other,
    Events,
    /// Events in Amazon's frames.
    Frames,
    /// A value on each line, as Ollama streams.
    Lines,
    Json,
}

impl Form {
    fn of_whole(content_type: &str) -> Self {
        if content_type.starts_with("application/x-ndjson") {
            Self::Lines
        } else if content_type.starts_with("application/json") {
            Self::Json
        } else {
            Self::Other
        }
    }
}

impl UsageReader {
    /// Reads an answer of this content type.
    pub(crate) fn new(content_type: &str) -> Self {
        let content_type = content_type.trim_start().to_ascii_lowercase();
        let form = match Framing::of(&content_type) {
            Some(Framing::Lines) => Form::Events,
            Some(Framing::Amazon) => Form::Frames,
            None => Form::of_whole(&content_type),
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
        if self.form == Form::Frames {
            return self.frames(data);
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
        if self.is_done || self.form == Form::Frames {
            return None;
        }
        let reported = self.line();
        self.is_done = true;
        reported
    }

    /// The tokens that one of the frames says which end in this data.
    fn frames(&mut self, mut data: &[u8]) -> Option<Reported> {
        while !data.is_empty() {
            let skipped = self.skipped.min(data.len());
            self.skipped -= skipped;
            data = &data[skipped..];
            // No more than the length of a frame, until that is known.
            let known = self.read.first_chunk::<4>().and_then(|it| frame_length(it));
            let wanted = if self.read.len() < 4 { 4 } else { known? };
            if wanted > LONGEST {
                self.skipped = wanted - self.read.len();
                self.read.clear();
                continue;
            }
            let taken = wanted.saturating_sub(self.read.len()).min(data.len());
            self.read.extend_from_slice(&data[..taken]);
            data = &data[taken..];
            if wanted > 4 && self.read.len() == wanted {
                let frame = std::mem::take(&mut self.read);
                let event = AmazonEvent::read(&frame);
                let reported = event.and_then(|event| self.told(event.data()));
                if reported.is_some() {
                    return reported;
                }
            }
        }
        None
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
        self.told(data)
    }

    /// The tokens that an event or an answer says.
    fn told(&mut self, data: &[u8]) -> Option<Reported> {
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
    /// As Bedrock counts: without the two below.
    #[serde(rename = "inputTokens")]
    bedrock_tokens: Option<i64>,
    #[serde(rename = "cacheReadInputTokens")]
    bedrock_cache_read: Option<i64>,
    #[serde(rename = "cacheWriteInputTokens")]
    bedrock_cache_write: Option<i64>,
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
        let cached = cached.or(self.bedrock_cache_read);
        self.tokens().map(|tokens| Reported { tokens, cached })
    }

    fn tokens(&self) -> Option<i64> {
        let apart = [
            self.cache_read_input_tokens,
            self.cache_creation_input_tokens,
            self.bedrock_cache_read,
            self.bedrock_cache_write,
        ];
        let with_cache =
            |tokens: i64| apart.iter().flatten().copied().fold(tokens, i64::saturating_add);
        let whole = self.prompt_tokens.or(self.prompt_token_count);
        let parts = self.input_tokens.or(self.bedrock_tokens).map(with_cache);
        whole.or(parts).filter(|tokens| *tokens > 0)
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
    use crate::amazon::tests::frame;

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
            (
                r#"{"metrics":{"latencyMs":5},"usage":{"inputTokens":7,"outputTokens":2,"totalTokens":129,"cacheReadInputTokens":100,"cacheWriteInputTokens":20}}"#,
                127,
                Some(100),
            ),
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
    fn frames_say_it_however_they_are_cut() {
        let words = format!("{{\"usage\":\"{}\"}}", "x".repeat(LONGEST));
        let usage = r#"{"usage":{"inputTokens":12,"outputTokens":1}}"#;
        let small = [frame("event", "messageStart", "{}"), frame("event", "metadata", usage)];
        let small = small.concat();
        for at in 0..small.len() {
            let mut reader = UsageReader::new("application/vnd.amazon.eventstream");
            let (first, second) = small.split_at(at);
            let heard = [reader.watch(first), reader.watch(second), reader.end()];
            assert_eq!(heard.into_iter().flatten().collect::<Vec<_>>(), [tokens(12)], "{at}");
        }
        // One that is too long is passed over, and not kept.
        let large = [frame("event", "contentBlockDelta", &words), small].concat();
        let mut reader = UsageReader::new("application/vnd.amazon.eventstream");
        let heard: Vec<Reported> = large.chunks(7).filter_map(|it| reader.watch(it)).collect();
        assert_eq!(heard, [tokens(12)]);
        let mut odd = UsageReader::new("application/vnd.amazon.eventstream");
        assert_eq!(odd.watch(&[0; 64]), None);
        assert_eq!((odd.watch(&[0; 64]), odd.end(), odd.read.len()), (None, None, 4));
        // Anthropic's events in Bedrock's: {"type":"message_start","message":{"usage":{"input_tokens":7}}}
        let chunk = r#"{"bytes":"eyJ0eXBlIjoibWVzc2FnZV9zdGFydCIsIm1lc3NhZ2UiOnsidXNhZ2UiOnsiaW5wdXRfdG9rZW5zIjo3fX19"}"#;
        let mut invoked = UsageReader::new("application/vnd.amazon.eventstream");
        assert_eq!(invoked.watch(&frame("event", "chunk", chunk)), Some(tokens(7)));
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
