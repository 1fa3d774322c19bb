//! A line in place of a result.

use std::hash::Hasher;

use cupel::{Draft, Original, Renderer};
use siphasher::sip::SipHasher13;

use crate::thousands::with_commas;

/// A line that says what stood here.
///
/// # What it does
///
/// Makes `[result of NAME cleared, 1,214 tokens, HANDLE]` of a text from a tool,
/// `[cleared, 1,214 tokens, HANDLE]` if nobody says from where. It is taken to keep 2 % of the value.
/// By its [`handle`] the text can be found again.
///
/// # When to choose it
///
/// For old results: the call stays, and that it was answered.
///
/// # Edge cases
///
/// A text of fewer than 60 tokens stays whole, and so does a stub. Of a name, the first 64 characters
/// are shown.
///
/// # Cost
///
/// One pass over the text.
///
/// # Example
///
/// ```
/// use cupel::{Original, Renderer};
/// use cupel_renderings::{Stub, handle};
///
/// let text = "A very long story. ".repeat(300);
/// let drafts = Stub.render(&Original::new(&text, 1_214).from_tool("tell"));
/// assert_eq!(drafts[0].content, "[result of tell cleared, 1,214 tokens, cupel:0366a61f7fbd4ca4]");
/// assert_eq!(Stub::handle_in(&drafts[0].content), Some("cupel:0366a61f7fbd4ca4"));
/// assert_eq!(handle(&text), "cupel:0366a61f7fbd4ca4");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stub;

/// Texts of fewer tokens stay whole.
const LEAST_TOKENS: i64 = 60;

/// Share of the value that a stub keeps.
const SHARE: f64 = 0.02;

/// Characters of a name that are shown.
const LONGEST_NAME: usize = 64;

/// Prefix of a handle.
const PREFIX: &str = "cupel:";

/// Hexadecimal digits of a handle.
const DIGITS: usize = 16;

/// A name for a text by which it can be found again: the same for the same text, on any machine and
/// in any version.
///
/// ```
/// assert_eq!(cupel_renderings::handle("to be kept"), "cupel:4ad545bd2dc643ff");
/// ```
#[must_use]
pub fn handle(text: &str) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    format!("{PREFIX}{:016x}", hasher.finish())
}

impl Stub {
    /// The handle in a stub; nothing if the text is no stub.
    #[must_use]
    pub fn handle_in(text: &str) -> Option<&str> {
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let (said, handle) = inner.rsplit_once(", ")?;
        let (cleared, tokens) = said.rsplit_once("cleared, ")?;
        let is_stub =
            cleared.is_empty() || (cleared.starts_with("result of ") && cleared.ends_with(' '));
        (is_stub && tokens.ends_with(" tokens") && is_handle(handle)).then_some(handle)
    }
}

impl Renderer for Stub {
    fn render(&self, original: &Original<'_>) -> Vec<Draft> {
        let Original { text, tokens, name, .. } = *original;
        if tokens < LEAST_TOKENS || Self::handle_in(text).is_some() {
            return Vec::new();
        }
        let tokens = with_commas(tokens.unsigned_abs());
        let handle = handle(text);
        let content = if name.is_empty() {
            format!("[cleared, {tokens} tokens, {handle}]")
        } else {
            format!("[result of {} cleared, {tokens} tokens, {handle}]", excerpt(name))
        };
        if content.len() < text.len() {
            vec![Draft::new("stub", content, SHARE)]
        } else {
            Vec::new()
        }
    }
}

fn is_handle(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(|digits| {
        digits.len() == DIGITS
            && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// A name that fits into a line.
fn excerpt(name: &str) -> String {
    let shown = name.chars().take(LONGEST_NAME);
    shown.map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stub(original: &Original<'_>) -> Option<String> {
        let drafts = Stub.render(original);
        assert!(drafts.iter().all(|draft| draft.name == "stub" && draft.share == 0.02));
        drafts.into_iter().next().map(|draft| draft.content)
    }

    #[test]
    fn a_handle_never_changes() {
        // SipHash-1-3 with a key of zeros, as other programs have it.
        assert_eq!(handle(""), "cupel:d1fba762150c532c");
        assert_ne!(handle("a"), handle("b"));
    }

    #[test]
    fn the_name_is_said_if_there_is_one() {
        let text = "x".repeat(400);
        let original = Original::new(&text, 60);
        let handle = handle(&text);
        assert_eq!(stub(&original), Some(format!("[cleared, 60 tokens, {handle}]")));
        let named = original.from_tool("get_user");
        assert_eq!(
            stub(&named),
            Some(format!("[result of get_user cleared, 60 tokens, {handle}]"))
        );
    }

    #[test]
    fn what_is_short_or_a_stub_stays() {
        let text = "x".repeat(400);
        assert_eq!(stub(&Original::new(&text, 59)), None);
        assert_eq!(stub(&Original::new("short, whatever it costs", 1_000)), None);
        let name = "a\nb, cleared, ".repeat(20);
        let first = stub(&Original::new(&text, 1_000_000).from_tool(&name)).unwrap();
        assert!(!first.contains('\n'));
        assert!(first.len() < 150, "{first}");
        assert_eq!(Stub::handle_in(&first), Some(handle(&text).as_str()));
        assert_eq!(stub(&Original::new(&first, 1_000)), None);
    }

    #[test]
    fn what_looks_like_a_stub_is_none() {
        for text in [
            "[cleared, 60 tokens]",
            "[cleared, 60 tokens, cupel:12]",
            "[cleared, 60 tokens, cupel:0123456789abcdeF]",
            "[cleared, 60 tokens, 0123456789abcdef]",
            "[cleared, 60 words, cupel:0123456789abcdef]",
            "[was cleared, 60 tokens, cupel:0123456789abcdef]",
            "see [cleared, 60 tokens, cupel:0123456789abcdef]",
        ] {
            assert_eq!(Stub::handle_in(text), None, "{text}");
        }
    }
}
