//! Cuts a text into the pieces that no token reaches across.
//!
//! Each encoding publishes a pattern for it. Here it is written out, one function an alternative,
//! in the order in which the pattern tries them; so a piece takes time in proportion to its length,
//! whatever comes after it.

use std::ops::Range;

use super::classes::{ASCII, LETTER, LOWER, MARK, NEWLINE, NUMBER, OTHER, SPACE, UPPER, kinds};
use crate::Encoding;

/// Classes that a word of `o200k_base` may begin with, capitals and all that has no case,
const HEAD: u8 = UPPER | OTHER | MARK;
/// and what it goes on with.
const TAIL: u8 = LOWER | OTHER | MARK;

/// Where the pieces of a text are, in order.
pub(super) struct Pieces<'t> {
    text: &'t str,
    at: usize,
    encoding: Encoding,
}

impl<'t> Pieces<'t> {
    pub(super) fn new(text: &'t str, encoding: Encoding) -> Self {
        Self { text, at: 0, encoding }
    }

    /// The kind of the character at `at`, and where the next one begins.
    #[inline]
    fn class(&self, at: usize) -> Option<(u8, usize)> {
        let byte = *self.text.as_bytes().get(at)?;
        if byte.is_ascii() { Some((ASCII[usize::from(byte)], at + 1)) } else { self.wide_class(at) }
    }

    /// The same beyond ASCII.
    #[inline(never)]
    fn wide_class(&self, at: usize) -> Option<(u8, usize)> {
        let c = self.text[at..].chars().next()?;
        Some((kinds(c), at + c.len_utf8()))
    }

    /// The end of the run of characters of these kinds that begins at `at`.
    #[inline]
    fn run(&self, mut at: usize, kinds: u8) -> usize {
        let bytes = self.text.as_bytes();
        loop {
            while bytes.get(at).is_some_and(|byte| ASCII[usize::from(*byte)] & kinds != 0) {
                at += 1;
            }
            if bytes.get(at).is_none_or(u8::is_ascii) {
                return at;
            }
            match self.wide_class(at) {
                Some((class, next)) if class & kinds != 0 => at = next,
                _ => return at,
            }
        }
    }

    /// The end of a word as most are, which both encodings take alike: small ASCII letters, with a space
    /// before or without, up to something of ASCII that no word goes on with.
    #[inline]
    fn common_word(&self, start: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let begin = start + usize::from(*bytes.get(start)? == b' ');
        let mut end = begin;
        while bytes.get(end).is_some_and(u8::is_ascii_lowercase) {
            end += 1;
        }
        let goes_on = |next: &u8| !next.is_ascii() || next.is_ascii_uppercase() || *next == b'\'';
        (end > begin && !bytes.get(end).is_some_and(goes_on)).then_some(end)
    }

    fn end(&self, start: usize) -> Option<usize> {
        let (first, second) = self.class(start)?;
        let word = match self.encoding {
            Encoding::O200kBase => self.cased_word(start, first, second),
            Encoding::Cl100kBase => self.plain_word(start, first, second),
        };
        Some(
            word.or_else(|| self.number(start))
                .or_else(|| self.symbols(start, first, second))
                .unwrap_or_else(|| self.blanks(start, second)),
        )
    }

    /// `o200k_base`: letters up to where a capital follows a small one, with one character before
    /// that is no letter, number or newline, and with the end of a contraction.
    fn cased_word(&self, start: usize, first: u8, second: usize) -> Option<usize> {
        let mut end = None;
        if first & (LETTER | NUMBER | NEWLINE) == 0 {
            end = self.letters(second).or_else(|| {
                // A mark may be what comes before, but also the whole word.
                if first & MARK != 0 {
                    return Some(second);
                }
                let capitals = self.run(second, UPPER);
                (capitals > second).then_some(capitals)
            });
        } else if first & LETTER != 0 {
            end = self.letters(start).or_else(|| Some(self.run(start, UPPER)));
        }
        let end = end?;
        Some(self.contraction(end).unwrap_or(end))
    }

    /// The end of capitals and then at least one letter that is none.
    fn letters(&self, start: usize) -> Option<usize> {
        let mut at = start;
        let mut end = None;
        while let Some((class, next)) = self.class(at) {
            if class & HEAD == 0 {
                break;
            }
            at = next;
            if class & TAIL != 0 {
                end = Some(at);
            }
        }
        let tail = self.run(at, TAIL);
        if tail > at { Some(tail) } else { end }
    }

    /// `cl100k_base`: the end of a contraction, or letters with one character before that is no
    /// letter, number or newline.
    fn plain_word(&self, start: usize, first: u8, second: usize) -> Option<usize> {
        if let Some(end) = self.contraction(start) {
            return Some(end);
        }
        if first & (NUMBER | NEWLINE) != 0 {
            return None;
        }
        let end = self.run(second, LETTER);
        (end > second || first & LETTER != 0).then_some(end)
    }

    /// `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d`, in capitals or not.
    fn contraction(&self, start: usize) -> Option<usize> {
        let [b'\'', rest @ ..] = &self.text.as_bytes()[start..] else { return None };
        let first = rest.first()?;
        let second = rest.get(1).map(u8::to_ascii_lowercase);
        match (first.to_ascii_lowercase(), second) {
            (b's' | b't' | b'm' | b'd', _) => Some(start + 2),
            // The last is the long s, which in capitals is an s.
            (b'r' | b'v', Some(b'e')) | (b'l', Some(b'l')) | (0xc5, Some(0xbf)) => Some(start + 3),
            _ => None,
        }
    }

    /// Up to three digits.
    fn number(&self, start: usize) -> Option<usize> {
        let mut end = start;
        for _ in 0..3 {
            match self.class(end) {
                Some((class, next)) if class & NUMBER != 0 => end = next,
                _ => break,
            }
        }
        (end > start).then_some(end)
    }

    /// A run of signs that are neither letter, number nor blank, with a space before and newlines after.
    fn symbols(&self, start: usize, first: u8, second: usize) -> Option<usize> {
        let is_space = self.text.as_bytes()[start] == b' ';
        let begin = if is_space { second } else { start };
        if !is_space && first & SPACE != 0 {
            return None;
        }
        let mut end = begin;
        while let Some((class, next)) = self.class(end) {
            if class & (LETTER | NUMBER | SPACE) != 0 {
                break;
            }
            end = next;
        }
        if end == begin {
            return None;
        }
        let slash = self.encoding == Encoding::O200kBase;
        let after = self.text.as_bytes()[end..]
            .iter()
            .take_while(|&&byte| byte == b'\n' || byte == b'\r' || (slash && byte == b'/'));
        Some(end + after.count())
    }

    /// Blanks: up to the last newline; or else all, but for the last one where a word follows.
    fn blanks(&self, start: usize, second: usize) -> usize {
        let (mut end, mut last, mut newline) = (start, start, None);
        while let Some((class, next)) = self.class(end) {
            if class & SPACE == 0 {
                break;
            }
            if class & NEWLINE != 0 {
                newline = Some(next);
            }
            (last, end) = (end, next);
        }
        match newline {
            Some(newline) => newline,
            None if end == self.text.len() || last == start => end.max(second),
            None => last,
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.at = self.common_word(start).or_else(|| self.end(start))?;
        Some(start..self.at)
    }
}
