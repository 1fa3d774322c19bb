//! Events in Amazon's frames (`application/vnd.amazon.eventstream`), in which Bedrock streams its answers.
//!
//! A frame is the length of all of it and that of its headers (four bytes each), a checksum of both, headers,
//! the event's data, and a checksum of everything. Checksums are the client's to check: frames pass as they came.

use std::borrow::Cow;

use cupel_chat::decode_base64;
use serde::Deserialize;

use crate::too_long::{Heard, Told};

/// The content type of an answer in frames.
pub(crate) const CONTENT_TYPE: &str = "application/vnd.amazon.eventstream";

/// Bytes before the headers, and behind the data.
const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;

/// A header whose value is a text.
const TEXT: u8 = 7;

/// An event of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AmazonEvent<'a> {
    kind: &'a [u8],
    is_exception: bool,
    data: Cow<'a, [u8]>,
}

/// The data of an event that a model of another provider wrote.
#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    bytes: Cow<'a, str>,
}

/// The length of the frame that begins here, if as much of it is there; `None` also if it is none.
pub(crate) fn frame_length(read: &[u8]) -> Option<usize> {
    let length = number(read)?;
    (length >= PRELUDE + CHECKSUM).then_some(length)
}

fn number(read: &[u8]) -> Option<usize> {
    let bytes = read.first_chunk::<4>()?;
    usize::try_from(u32::from_be_bytes(*bytes)).ok()
}

impl<'a> AmazonEvent<'a> {
    /// Reads a whole frame.
    pub(crate) fn read(frame: &'a [u8]) -> Option<Self> {
        let headers_end = PRELUDE.checked_add(number(frame.get(4..)?)?)?;
        let mut headers = frame.get(PRELUDE..headers_end)?;
        let data = frame.get(headers_end..frame.len().checked_sub(CHECKSUM)?)?;
        let mut event = Self { kind: b"", is_exception: false, data: Cow::Borrowed(data) };
        while !headers.is_empty() {
            let (name, value) = header(&mut headers)?;
            match name {
                b":event-type" | b":exception-type" => event.kind = value,
                b":message-type" => event.is_exception = value != b"event",
                _ => {}
            }
        }
        if let Ok(Chunk { bytes }) = serde_json::from_slice(data) {
            event.data = Cow::Owned(decode_base64(&bytes)?);
        }
        Some(event)
    }

    /// The event's JSON.
    pub(crate) fn data(&self) -> &[u8] {
        &self.data
    }

    /// Its meaning for the question whether the request was too long.
    pub(crate) fn heard(&self) -> Heard {
        if self.is_exception {
            return Told::of_refusal(400, &self.data).map_or(Heard::Answer, Heard::TooLong);
        }
        match self.kind {
            b"messageStart" => Heard::Nothing,
            b"chunk" => std::str::from_utf8(&self.data).map_or(Heard::Answer, Heard::of_event),
            _ => Heard::Answer,
        }
    }
}

/// Takes the first header: its name, and its value if that is a text.
fn header<'a>(headers: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let length = usize::from(*take(headers, 1)?.first()?);
    let name = take(headers, length)?;
    let kind = *take(headers, 1)?.first()?;
    let length = match kind {
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4 => 4,
        5 | 8 => 8,
        6 | TEXT => usize::from(u16::from_be_bytes(*take(headers, 2)?.first_chunk()?)),
        9 => 16,
        _ => return None,
    };
    let value = take(headers, length)?;
    Some((name, if kind == TEXT { value } else { b"" }))
}

fn take<'a>(from: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(taken)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A frame as Bedrock writes it, but for its checksums.
    pub(crate) fn frame(message_type: &str, kind: &str, data: &str) -> Vec<u8> {
        let name = if message_type == "event" { ":event-type" } else { ":exception-type" };
        let mut headers = vec![4, b'f', b'l', b'a', b'g', 0, 2, b'i', b'd', 9];
        headers.extend([0; 16]);
        for (name, value) in [(":message-type", message_type), (name, kind)] {
            headers.push(u8::try_from(name.len()).unwrap());
            headers.extend(name.as_bytes());
            headers.push(TEXT);
            headers.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
            headers.extend(value.as_bytes());
        }
        let length = PRELUDE + headers.len() + data.len() + CHECKSUM;
        let mut frame = u32::try_from(length).unwrap().to_be_bytes().to_vec();
        frame.extend(u32::try_from(headers.len()).unwrap().to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(headers);
        frame.extend(data.as_bytes());
        frame.extend([0; CHECKSUM]);
        frame
    }

    fn heard(frame: &[u8]) -> Heard {
        assert_eq!(frame_length(frame), Some(frame.len()));
        AmazonEvent::read(frame).unwrap().heard()
    }

    #[test]
    fn events_say_whether_the_answer_has_begun() {
        assert_eq!(
            heard(&frame("event", "messageStart", r#"{"role":"assistant"}"#)),
            Heard::Nothing
        );
        let delta = r#"{"contentBlockIndex":0,"delta":{"text":"input is too long"}}"#;
        assert_eq!(heard(&frame("event", "contentBlockDelta", delta)), Heard::Answer);
        // {"type":"message_start"}
        let chunk = r#"{"bytes":"eyJ0eXBlIjoibWVzc2FnZV9zdGFydCJ9","p":"abc"}"#;
        assert_eq!(heard(&frame("event", "chunk", chunk)), Heard::Nothing);
        let long = r#"{"message":"Input is too long for requested model."}"#;
        assert!(matches!(
            heard(&frame("exception", "validationException", long)),
            Heard::TooLong(_)
        ));
        let slow = r#"{"message":"Too many requests"}"#;
        assert_eq!(heard(&frame("exception", "throttlingException", slow)), Heard::Answer);
    }

    #[test]
    fn what_is_no_frame_is_refused_wherever_it_ends() {
        let whole = frame("event", "metadata", "{}");
        assert_eq!(AmazonEvent::read(&whole).unwrap().data(), b"{}");
        for end in 0..whole.len() {
            // Cut anywhere, it is another event at most.
            let cut = AmazonEvent::read(&whole[..end]);
            assert!(cut.is_none_or(|event| event.data().len() < 2), "{end}");
        }
        let mut odd = whole.clone();
        odd[PRELUDE + 5] = 10;
        assert_eq!(AmazonEvent::read(&odd), None, "no such kind of value");
        odd[4..8].copy_from_slice(&[255; 4]);
        assert_eq!(AmazonEvent::read(&odd), None, "headers beyond the end");
        assert_eq!(frame_length(&[0, 0, 0, 15]), None, "shorter than an empty one");
        assert_eq!(frame_length(&[0, 0, 1]), None);
    }
}
