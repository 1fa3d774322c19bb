//! Requests that stand in a field of another, as Gemini CLI sends them with an account.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::unfit::Unfit;

/// A body with a request in its field `request`. What stands around that goes out as it came.
#[derive(Debug, Clone)]
pub(crate) struct Envelope {
    whole: Bytes,
    place: Range<usize>,
    /// The model, which stands outside.
    pub(crate) model: Option<String>,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    request: &'a RawValue,
    model: Option<String>,
}

impl Envelope {
    /// Finds the request in a body.
    pub(crate) fn open(whole: &Bytes) -> Result<Self, Unfit> {
        let wrong = |problem: String| Unfit::new("malformed-request", problem);
        let text = std::str::from_utf8(whole).map_err(|error| wrong(error.to_string()))?;
        let Fields { request, model } =
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        // The value is borrowed from the text: their distance is its place.
        let start = request.get().as_ptr() as usize - text.as_ptr() as usize;
        Ok(Self { whole: whole.clone(), place: start..start + request.get().len(), model })
    }

    /// The request in it.
    pub(crate) fn request(&self) -> Bytes {
        self.whole.slice(self.place.clone())
    }

    /// The body with another request in it.
    pub(crate) fn around(&self, request: &[u8]) -> Bytes {
        let (before, after) = (&self.whole[..self.place.start], &self.whole[self.place.end..]);
        let mut whole = BytesMut::with_capacity(before.len() + request.len() + after.len());
        for part in [before, request, after] {
            whole.extend_from_slice(part);
        }
        whole.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(body: &'static str) -> Result<Envelope, Unfit> {
        Envelope::open(&Bytes::from_static(body.as_bytes()))
    }

    #[test]
    fn a_request_is_taken_out_and_another_put_in_its_place() {
        let envelope =
            open("{\"model\":\"m\\u0031\", \"request\" : {\"é\":[1]} ,\"project\":\"p\"}").unwrap();
        assert_eq!(envelope.model.as_deref(), Some("m1"));
        assert_eq!(envelope.request(), "{\"é\":[1]}");
        let around = envelope.around(b"{}");
        assert_eq!(around, "{\"model\":\"m\\u0031\", \"request\" : {} ,\"project\":\"p\"}");
        assert_eq!(envelope.around(&envelope.request()), envelope.whole);
    }

    #[test]
    fn a_body_without_one_request_is_none() {
        for body in ["{}", "[]", "{", r#"{"request":{},"request":{}}"#, r#"{"Request":{}}"#] {
            assert_eq!(open(body).unwrap_err().code, "malformed-request", "{body}");
        }
    }
}
