//! The span that a client says to be in, by the header `traceparent`.

use hyper::HeaderMap;

/// The span that a client says to be in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parent {
    /// Its trace, 32 hexadecimal digits.
    pub(super) trace: String,
    /// Its own name, 16 of them.
    pub(super) span: String,
    /// True if the client keeps the trace.
    pub(super) is_sampled: bool,
}

impl Parent {
    /// As a request says it. What is no `traceparent` says nothing.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut all = headers.get_all("traceparent").iter();
        let text = all.next()?.to_str().ok()?.trim();
        let fields: Vec<&str> = text.split('-').collect();
        let [version, trace, span, flags, rest @ ..] = fields.as_slice() else { return None };
        let is_hex = |text: &str, digits: usize| {
            let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            text.len() == digits && text.bytes().all(is_digit)
        };
        let is_name = |text, digits| is_hex(text, digits) && text.bytes().any(|byte| byte != b'0');
        // Later versions may have more fields; the last version is none.
        let is_version = is_hex(version, 2) && *version != "ff";
        let is_long_enough = *version != "00" || rest.is_empty();
        let is_whole = is_version && is_long_enough && is_hex(flags, 2) && all.next().is_none();
        if !is_whole || !is_name(trace, 32) || !is_name(span, 16) {
            return None;
        }
        let flags = u8::from_str_radix(flags, 16).ok()?;
        Some(Self {
            trace: (*trace).to_owned(),
            span: (*span).to_owned(),
            is_sampled: flags & 1 == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn read(text: &str) -> Option<Parent> {
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", text.parse().unwrap());
        Parent::of(&headers)
    }

    #[test]
    fn a_parent_is_read_as_the_standard_writes_it() {
        let parent = read(&format!("00-{TRACE}-00f067aa0ba902b7-01")).unwrap();
        assert_eq!(
            (parent.trace.as_str(), parent.span.as_str(), parent.is_sampled),
            (TRACE, "00f067aa0ba902b7", true)
        );
        assert!(!read(&format!("00-{TRACE}-00f067aa0ba902b7-00")).unwrap().is_sampled);
        assert!(read(&format!("01-{TRACE}-00f067aa0ba902b7-03-more")).unwrap().is_sampled);
    }

    #[test]
    fn what_is_no_parent_says_nothing() {
        for text in [
            "",
            "00",
            "00-x-y-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
