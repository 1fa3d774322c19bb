//! Hash by which a content security policy names a text.

use sha2::{Digest, Sha256};

/// The source of an inline script or style, as in `'sha256-…'`.
pub(crate) fn source(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text)))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let number = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_encoded_as_the_standard_says() {
        for (text, encoded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }

    /// The example of the Content Security Policy specification, level 3.
    #[test]
    fn a_script_has_the_source_that_browsers_compute() {
        let source = source("alert('Hello, world.');");
        assert_eq!(source, "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
    }
}
