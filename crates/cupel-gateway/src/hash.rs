//! Names for what must be told again and never be read.

use ring::digest::{Context, SHA256, digest};

/// Hexadecimal digits of SHA-256.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

/// Hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A number for a history that is the same on every machine: 128 bits of SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Mark([u8; 16]);

impl Mark {
    /// The mark of texts, each with its end.
    pub(crate) fn of(texts: &[&[u8]]) -> Self {
        let mut context = Context::new(&SHA256);
        for text in texts {
            context.update(&text.len().to_le_bytes());
            context.update(text);
        }
        let mut mark = [0; 16];
        mark.copy_from_slice(&context.finish().as_ref()[..16]);
        Self(mark)
    }

    /// The mark of this history and one more message.
    pub(crate) fn and(self, message: u64) -> Self {
        Self::of(&[&self.0, &message.to_le_bytes()])
    }
}

impl std::fmt::Display for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_depend_on_every_message_and_on_nothing_else() {
        let begin = Mark::of(&[b"a", b"bc"]);
        assert_ne!(begin, Mark::of(&[b"ab", b"c"]));
        assert_ne!(begin.and(1).and(2), begin.and(2).and(1));
        assert_eq!(Mark::of(&[]).to_string(), "e3b0c44298fc1c149afbf4c8996fb924");
        assert_eq!(sha256(b"abc").len(), 64);
    }
}
