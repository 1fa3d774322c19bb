//! Bytes that are written as letters.

/// The bytes of a text in base64, in either alphabet, with or without padding and white space;
/// `None` if it is none.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    decode_letters(text.bytes())
}

/// The beginning of such a text.
pub(super) fn decode_beginning(text: &str, letters: usize) -> Option<Vec<u8>> {
    decode_letters(text.bytes().take(letters))
}

fn decode_letters(letters: impl Iterator<Item = u8>) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(letters.size_hint().0 / 4 * 3 + 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    let mut is_over = false;
    for letter in letters {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                is_over = true;
                continue;
            }
            _ if letter.is_ascii_whitespace() => continue,
            _ => return None,
        };
        if is_over {
            return None;
        }
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

/// For tests: bytes as base64.
#[cfg(test)]
pub(super) fn encode(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32| char::from(LETTERS[(bits & 63) as usize]);
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let letters = [18, 12, 6, 0].map(|shift| letter(bits >> shift));
        text.extend(&letters[..=three.len()]);
        text.extend(std::iter::repeat_n('=', 3 - three.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_read_back() {
        for length in 0..20_u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }

    #[test]
    fn both_alphabets_and_line_breaks_are_taken_and_other_texts_refused() {
        assert_eq!(decode("-_8\n ="), decode("+/8="));
        assert_eq!(decode("hello, you"), None);
        assert_eq!(decode("ab=c"), None);
    }
}
