//! Class of each character, as far as the patterns of the encodings ask for it.

/// `Lu` and `Lt`.
pub(super) const UPPER: u8 = 1;
/// `Ll`.
pub(super) const LOWER: u8 = 2;
/// `Lm` and `Lo`: letters that have no case.
pub(super) const OTHER: u8 = 4;
/// `M`: what is written on a letter.
pub(super) const MARK: u8 = 8;
/// `N`.
pub(super) const NUMBER: u8 = 16;
/// White space.
pub(super) const SPACE: u8 = 32;
/// `\r` and `\n`, which are white space too.
pub(super) const NEWLINE: u8 = 64;
/// Any letter.
pub(super) const LETTER: u8 = UPPER | LOWER | OTHER;

/// For each 256 code points the number of a page, then the pages. `build/classes.rs` writes it.
static TABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes"));

/// Number of pages there would be if none were alike.
const PAGES: usize = (char::MAX as usize + 1) / 256;

/// The kinds of a character, as bits.
#[inline]
pub(super) fn kinds(c: char) -> u8 {
    let page = usize::from(TABLE[c as usize / 256]);
    TABLE[PAGES + page * 256 + c as usize % 256]
}

/// The kinds of the ASCII characters; bytes beyond are of none.
pub(super) static ASCII: [u8; 256] = ascii();

const fn ascii() -> [u8; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 128 {
        table[at] = match at as u8 {
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            b'0'..=b'9' => NUMBER,
            b'\n' | b'\r' => SPACE | NEWLINE,
            b' ' | 9..=13 => SPACE,
            _ => 0,
        };
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_for_ascii_says_what_the_table_says() {
        for byte in 0..128u8 {
            assert_eq!(ASCII[usize::from(byte)], kinds(char::from(byte)), "{byte:#x}");
        }
    }

    #[test]
    fn kinds_are_those_that_the_standard_library_knows() {
        for c in '\0'..=char::MAX {
            assert_eq!(kinds(c) & SPACE != 0, c.is_whitespace(), "{c:?}");
            if kinds(c) & (LETTER | MARK) != 0 {
                assert!(!c.is_whitespace() && !c.is_numeric(), "{c:?}");
            }
        }
        assert_eq!(kinds('ǅ'), UPPER);
        assert_eq!(kinds('的'), OTHER);
        assert_eq!(kinds('½'), NUMBER);
        assert_eq!(kinds('\u{301}'), MARK);
        assert_eq!(kinds(char::MAX), 0);
    }
}
