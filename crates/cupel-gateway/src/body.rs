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

use crate::record::{Exchange, Outcome};

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
        Self { inner, patience, sleep: Box::pin(sleep(patience)) }
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
            let again = Instant::now() + this.patience.min(Duration::from_secs(86_400));
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
    /// It has more bytes than are allowed.
    TooLarge,
    /// The client took too long.
    TooSlow,
    /// The client broke off, or sent nonsense.
    Broken,
}

/// Reads a whole body.
pub(crate) async fn read(mut body: Timed, most: usize) -> Result<Bytes, Unread> {
    if body.size_hint().lower() > most as u64 {
        return Err(Unread::TooLarge);
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
        }
        Ok(whole.freeze())
    };
    tokio::time::timeout(patience, reading).await.unwrap_or(Err(Unread::TooSlow))
}

/// The answer of an upstream on its way to the client, chunk for chunk. What happens to it is noted.
pub(crate) struct Answer {
    /// What was looked at before.
    first: Option<Bytes>,
    inner: Incoming,
    exchange: Exchange,
}

impl Answer {
    pub(crate) fn body(first: Option<Bytes>, inner: Incoming, mut exchange: Exchange) -> Body {
        let first = first.filter(|first| !first.is_empty());
        if first.is_none() && inner.is_end_stream() {
            exchange.record.outcome = Outcome::Answered;
        }
        Body::new(Self { first, inner, exchange })
    }

    /// Whoever knows the length of a body does not ask for its end.
    fn note_end(&mut self) {
        if self.first.is_none() && self.inner.is_end_stream() {
            self.exchange.record.outcome = Outcome::Answered;
        }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        if let Some(first) = this.first.take() {
            this.note_end();
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let frame = ready!(Pin::new(&mut this.inner).poll_frame(context));
        match &frame {
            None => this.exchange.record.outcome = Outcome::Answered,
            Some(Err(_)) => this.exchange.record.outcome = Outcome::BrokenOff,
            Some(Ok(_)) => this.note_end(),
        }
        Poll::Ready(frame)
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

/// Reads a refusal, as far as it is worth reading; and whether that is all of it.
pub(crate) async fn refusal(body: &mut Incoming) -> Result<(Bytes, bool), hyper::Error> {
    gather(body, |read| read.len() > LONGEST_REFUSAL).await
}

/// Waits for the first event of a stream.
pub(crate) async fn first_event(body: &mut Incoming) -> Result<(Bytes, bool), hyper::Error> {
    gather(body, has_event).await
}

/// Whether the beginning of a stream has a whole event, or is too long to be looked at any further.
fn has_event(read: &[u8]) -> bool {
    let ends = |end: &[u8]| read.windows(end.len()).any(|window| window == end);
    ends(b"\n\n") || ends(b"\r\n\r\n") || read.len() > LONGEST_EVENT
}

async fn gather(
    body: &mut Incoming,
    is_enough: impl Fn(&[u8]) -> bool,
) -> Result<(Bytes, bool), hyper::Error> {
    let mut read = BytesMut::new();
    while !is_enough(&read) {
        match body.frame().await {
            None => return Ok((read.freeze(), true)),
            Some(frame) => {
                if let Ok(data) = frame?.into_data() {
                    read.extend_from_slice(&data);
                }
            }
        }
    }
    Ok((read.freeze(), false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_ends_with_an_empty_line_and_patience_with_a_length() {
        assert!(has_event(b"data: 1\n\n") && has_event(b"data: 1\r\n\r\ndata"));
        assert!(!has_event(b"") && !has_event(b"data: 1\ndata: 2\r\ndata: 3"));
        let long = vec![b'x'; LONGEST_EVENT + 1];
        assert!(has_event(&long) && !has_event(&long[1..]));
    }

    #[test]
    fn a_slow_client_is_called_so() {
        assert_eq!(TooSlow.to_string(), "the client is too slow");
    }
}
