//! Bodies on their way: in with patience that ends, out as they come.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep};

use crate::amazon::{self, AmazonEvent};
use crate::memory::Held;
use crate::record::{Exchange, Outcome};
use crate::too_long::Heard;
use crate::usage::UsageReader;

/// A client's body that may not pause for too long.
pub(crate) struct Timed {
    inner: Incoming,
    patience: Duration,
    sleep: Pin<Box<Sleep>>,
}

/// A client paused for too long.
#[derive(Debug)]
pub(crate) struct TooSlow;

impl std::fmt::Display for TooSlow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the client is too slow")
    }
}

impl std::error::Error for TooSlow {}

impl Timed {
    pub(crate) fn new(inner: Incoming, patience: Duration) -> Self {
        Self { inner, patience, sleep: Box::pin(sleep(patience.min(LONGEST_PAUSE))) }
    }
}

impl HttpBody for Timed {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(context) {
            let again = Instant::now() + this.patience.min(LONGEST_PAUSE);
            this.sleep.as_mut().reset(again);
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        ready!(this.sleep.as_mut().poll(context));
        Poll::Ready(Some(Err(Box::new(TooSlow))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Why a body could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Others take the memory that it would need.
    NoMemory,
    /// It has more bytes than are allowed.
    TooLarge,
    /// The client took too long.
    TooSlow,
    /// The client broke off, or sent nonsense.
    Broken,
}

/// Reads a whole body.
pub(crate) async fn read(mut body: Timed, most: usize, held: &Held) -> Result<Bytes, Unread> {
    let told = body.size_hint().lower();
    if told > most as u64 {
        return Err(Unread::TooLarge);
    }
    if !held.take(usize::try_from(told).unwrap_or(most), 0) {
        return Err(Unread::NoMemory);
    }
    let patience = body.patience.saturating_mul(10);
    let reading = async {
        let mut whole = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                if error.is::<TooSlow>() { Unread::TooSlow } else { Unread::Broken }
            })?;
            let Ok(data) = frame.into_data() else { continue };
            if whole.len() + data.len() > most {
                return Err(Unread::TooLarge);
            }
            whole.extend_from_slice(&data);
            if !held.take(whole.len(), 0) {
                return Err(Unread::NoMemory);
            }
        }
        Ok(whole.freeze())
    };
    tokio::time::timeout(patience, reading).await.unwrap_or(Err(Unread::TooSlow))
}

/// The answer of an upstream on its way to the client, chunk for chunk. What happens to it is noted.
pub(crate) struct Answer {
    /// Bytes that were looked at before.
    first: Option<Bytes>,
    inner: Incoming,
    exchange: Exchange,
    end: StreamEnd,
    usage: UsageReader,
    /// Longest pause, and the time at which it ends.
    pause: Duration,
    patience: Pin<Box<Sleep>>,
}

/// An upstream broke off, or paused for too long.
#[derive(Debug)]
pub(crate) enum Interrupted {
    /// It broke off.
    Broken(hyper::Error),
    /// It paused for too long.
    Paused,
}

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Broken(error) => error.fmt(f),
            Self::Paused => f.write_str("the upstream paused for too long"),
        }
    }
}

impl std::error::Error for Interrupted {}

/// Longest that anything is waited for: clocks end.
const LONGEST_PAUSE: Duration = Duration::from_secs(86_400);

/// Events with which streams of events end, each on a line of its own. Clients may leave when they have
/// read it. In data a line cannot be quoted: JSON has no line breaks in texts.
const LAST_EVENTS: [&[u8]; 5] = [
    b"data: [DONE]",
    b"event: message_stop",
    b"event: response.completed",
    b"event: response.failed",
    b"event: response.incomplete",
];

/// Watches a stream for its last event, however it is cut into frames.
#[derive(Default)]
struct StreamEnd {
    /// The line that has not ended yet, as far as it matters.
    line: Vec<u8>,
    is_here: bool,
}

impl StreamEnd {
    /// The longest line that matters.
    const LONGEST: usize = 32;

    fn watch(&mut self, data: &[u8]) {
        for piece in data.split_inclusive(|byte| *byte == b'\n') {
            let room = Self::LONGEST.saturating_sub(self.line.len());
            self.line.extend(piece.iter().take(room));
            if piece.ends_with(b"\n") {
                self.is_here |= LAST_EVENTS.contains(&self.line.trim_ascii_end());
                self.line.clear();
            }
        }
    }
}

impl Answer {
    pub(crate) fn body(
        first: Option<Bytes>,
        inner: Incoming,
        exchange: Exchange,
        usage: UsageReader,
        pause: Duration,
    ) -> Body {
        let first = first.filter(|first| !first.is_empty());
        let pause = pause.min(LONGEST_PAUSE);
        let (end, patience) = (StreamEnd::default(), Box::pin(sleep(pause)));
        let mut answer = Self { first: None, inner, exchange, end, usage, pause, patience };
        match &first {
            Some(first) => answer.watch(first),
            None => answer.note_end(),
        }
        answer.first = first;
        Body::new(answer)
    }

    fn watch(&mut self, data: &[u8]) {
        self.end.watch(data);
        if let Some(reported) = self.usage.watch(data) {
            self.exchange.reported(reported);
        }
    }

    fn ended(&mut self) {
        self.exchange.record.outcome = Outcome::Answered;
        if let Some(reported) = self.usage.end() {
            self.exchange.reported(reported);
        }
    }

    /// Whoever knows the length of a body does not ask for its end.
    fn note_end(&mut self) {
        if self.first.is_none() && self.inner.is_end_stream() {
            self.ended();
        } else if self.first.is_none() && self.end.is_here {
            self.exchange.record.outcome = Outcome::Answered;
        }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = Interrupted;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Interrupted>>> {
        let this = self.get_mut();
        if let Some(first) = this.first.take() {
            this.note_end();
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(context) else {
            ready!(this.patience.as_mut().poll(context));
            this.exchange.record.outcome = Outcome::BrokenOff;
            return Poll::Ready(Some(Err(Interrupted::Paused)));
        };
        this.patience.as_mut().reset(Instant::now() + this.pause);
        match &frame {
            None => this.ended(),
            Some(Err(_)) => this.exchange.record.outcome = Outcome::BrokenOff,
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    this.watch(data);
                }
                this.note_end();
            }
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Interrupted::Broken)))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let held = self.first.as_ref().map_or(0, Bytes::len) as u64;
        let inner = self.inner.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower().saturating_add(held));
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper.saturating_add(held));
        }
        hint
    }
}

/// Most bytes of a refusal that are looked at.
const LONGEST_REFUSAL: usize = 1_000_000;

/// Most bytes at the beginning of a stream that are looked at.
const LONGEST_EVENT: usize = 65_536;

/// Time that the beginning of a stream may be silent before its head goes on without it.
const FIRST_WORD: Duration = Duration::from_secs(60);

/// Time that events without content are held back, to see if an error follows. Servers that find a
/// request too long say so before they work on it; later ones are signs of life, which a client waits for.
const HOLD: Duration = Duration::from_secs(2);

/// Time that a refusal may take, however it comes, before it goes on as far as it came.
const REFUSAL: Duration = Duration::from_secs(10);

/// Reads a refusal, as far as it is worth reading and comes; and whether that is all of it.
pub(crate) async fn refusal(body: &mut Incoming) -> Result<(Bytes, bool), hyper::Error> {
    let mut read = BytesMut::new();
    let is_all = gather_refusal(body, &mut read).await?;
    Ok((read.freeze(), is_all))
}

async fn gather_refusal(body: &mut Incoming, read: &mut BytesMut) -> Result<bool, hyper::Error> {
    let until = Instant::now() + REFUSAL;
    while read.len() <= LONGEST_REFUSAL {
        match next(body, until.saturating_duration_since(Instant::now())).await {
            Next::Data(data) => read.extend_from_slice(&data),
            Next::End => return Ok(true),
            Next::Late => return Ok(false),
            Next::Broken(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Reads an answer to its end if it begins as an error does, as some routers send it with status 200; and
/// whether that is all of it. Of any other answer the first frame, which is not held back.
pub(crate) async fn error_or_beginning(body: &mut Incoming) -> Result<(Bytes, bool), hyper::Error> {
    let mut read = BytesMut::new();
    match next(body, FIRST_WORD).await {
        Next::Data(data) => read.extend_from_slice(&data),
        Next::End => return Ok((Bytes::new(), true)),
        Next::Late => return Ok((Bytes::new(), false)),
        Next::Broken(error) => return Err(error),
    }
    let begins = read.iter().filter(|byte| !byte.is_ascii_whitespace()).take(8);
    let is_error = begins.eq(br#"{"error""#);
    let is_all = is_error && gather_refusal(body, &mut read).await?;
    Ok((read.freeze(), is_all))
}

/// Framing of the events of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// By empty lines: server-sent events.
    Lines,
    /// By their lengths: [`amazon`].
    Amazon,
}

impl Framing {
    /// The framing of answers of a content type, in lower case, if they are streams of events.
    pub(crate) fn of(content_type: &str) -> Option<Self> {
        let begins = |name: &str| content_type.starts_with(name);
        let lines = begins("text/event-stream").then_some(Self::Lines);
        lines.or_else(|| begins(amazon::CONTENT_TYPE).then_some(Self::Amazon))
    }
}

/// Reads a stream until its answer begins, an error comes, or it has been held back for long enough.
pub(crate) async fn before_answer(
    body: &mut Incoming,
    framing: Framing,
) -> Result<(Bytes, Heard), hyper::Error> {
    let mut read = BytesMut::new();
    let mut looked = 0;
    let begun = Instant::now();
    let mut until = begun + FIRST_WORD;
    loop {
        let heard = match framing {
            Framing::Lines => first_word(&read, &mut looked),
            Framing::Amazon => first_frame_word(&read, &mut looked),
        };
        if heard != Heard::Nothing || read.len() > LONGEST_EVENT {
            return Ok((read.freeze(), heard));
        }
        match next(body, until.saturating_duration_since(Instant::now())).await {
            Next::Data(data) => {
                if read.is_empty() {
                    until = Instant::now() + HOLD;
                }
                read.extend_from_slice(&data);
            }
            Next::End | Next::Late => return Ok((read.freeze(), heard)),
            Next::Broken(error) => return Err(error),
        }
    }
}

/// The first event from a place on that says more than that an answer will come. The place moves behind
/// the events that do not.
fn first_word(read: &[u8], from: &mut usize) -> Heard {
    while let Some((event, end)) = event(&read[*from..]) {
        *from += end;
        let heard = match std::str::from_utf8(event) {
            Ok(text) => {
                let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
                Heard::of_event(&data.collect::<Vec<_>>().join("\n"))
            }
            Err(_) => Heard::Answer,
        };
        if heard != Heard::Nothing {
            return heard;
        }
    }
    Heard::Nothing
}

/// As [`first_word`], of Amazon's frames.
fn first_frame_word(read: &[u8], from: &mut usize) -> Heard {
    while let Some(start) = read.get(*from..).filter(|rest| rest.len() >= 4) {
        let Some(length) = amazon::frame_length(start) else { return Heard::Answer };
        let Some(frame) = start.get(..length) else { break };
        *from += length;
        let heard = AmazonEvent::read(frame).map_or(Heard::Answer, |event| event.heard());
        if heard != Heard::Nothing {
            return heard;
        }
    }
    Heard::Nothing
}

/// The first event that is whole, and where the next begins: an empty line ends it.
fn event(read: &[u8]) -> Option<(&[u8], usize)> {
    let ends = |end: &[u8]| {
        let at = read.windows(end.len()).position(|window| window == end)?;
        Some((at, at + end.len()))
    };
    let found = ends(b"\n\n").into_iter().chain(ends(b"\r\n\r\n")).min()?;
    Some((&read[..found.0], found.1))
}

/// The next of a body.
enum Next {
    Data(Bytes),
    End,
    /// Nothing came in time.
    Late,
    Broken(hyper::Error),
}

async fn next(body: &mut Incoming, patience: Duration) -> Next {
    let until = Instant::now() + patience;
    loop {
        match tokio::time::timeout_at(until, body.frame()).await {
            Err(_) => return Next::Late,
            Ok(None) => return Next::End,
            Ok(Some(Err(error))) => return Next::Broken(error),
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    return Next::Data(data);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amazon::tests::frame;

    #[test]
    fn an_event_ends_with_an_empty_line() {
        assert_eq!(event(b"data: 1\n\nda"), Some((&b"data: 1"[..], 9)));
        assert_eq!(event(b"data: 1\r\n\r\nda"), Some((&b"data: 1"[..], 11)));
        assert_eq!(event(b"a\r\n\r\nb\n\n"), Some((&b"a"[..], 5)), "the first of both");
        assert_eq!(event(b""), None);
        assert_eq!(event(b"data: 1\ndata: 2\r\ndata: 3"), None);
    }

    #[test]
    fn events_are_looked_at_once_until_one_says_something() {
        let mut from = 0;
        let created = b": comment\n\nevent: x\ndata: {\"type\":\"response.created\"}\n\n".to_vec();
        assert_eq!(first_word(&created, &mut from), Heard::Nothing);
        assert_eq!(from, created.len());
        let mut half = created.clone();
        half.extend_from_slice(b"data: {\"type\":");
        assert_eq!(first_word(&half, &mut from), Heard::Nothing);
        assert_eq!(from, created.len(), "half an event is none");
        half.extend_from_slice(b"\ndata: \"response.output_text.delta\"}\n\n");
        assert_eq!(first_word(&half, &mut from), Heard::Answer);
        let mut from = 0;
        assert_eq!(first_word(b"data: \xff\n\n", &mut from), Heard::Answer);
    }

    #[test]
    fn frames_are_looked_at_once_until_one_says_something() {
        let started = frame("event", "messageStart", r#"{"role":"assistant"}"#);
        let long = r#"{"message":"Input is too long for requested model."}"#;
        let both = [started.clone(), frame("exception", "validationException", long)].concat();
        for end in 0..both.len() {
            let mut from = 0;
            assert_eq!(first_frame_word(&both[..end], &mut from), Heard::Nothing, "{end}");
            assert_eq!(from > 0, end >= started.len(), "{end}");
        }
        let mut from = 0;
        assert!(matches!(first_frame_word(&both, &mut from), Heard::TooLong(_)));
        assert_eq!(first_frame_word(b"\0\0\0\x01 no frame", &mut 0), Heard::Answer);
    }

    #[test]
    fn the_last_event_of_a_stream_is_heard_however_it_is_cut() {
        for last in LAST_EVENTS {
            for line_end in ["\n", "\r\n"] {
                let mut text = b"event: x\ndata: {\"text\":\"event: message_stop\"}\n\n".to_vec();
                let mut end = StreamEnd::default();
                end.watch(&text);
                assert!(!end.is_here);
                text.extend_from_slice(last);
                text.extend_from_slice(line_end.as_bytes());
                for at in 0..text.len() {
                    let mut end = StreamEnd::default();
                    end.watch(&text[..at]);
                    assert!(!end.is_here, "{at}");
                    end.watch(&text[at..]);
                    assert!(end.is_here, "{at}");
                }
            }
        }
    }

    #[test]
    fn a_slow_client_is_called_so() {
        assert_eq!(TooSlow.to_string(), "the client is too slow");
    }
}
