//! Groups of pieces of text that tokenizers take apart in different ways.

/// Kinds of pieces, and the scripts that words are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// A word of ASCII letters, in English text: see [`Words`](super::words::Words).
    English,
    /// One in some other language, or in none.
    Word,
    /// One in code or markup.
    Code,
    Number,
    /// Not a piece, but each digit of a number: some tokenizers take them one by one.
    Digit,
    /// Punctuation.
    Symbol,
    /// Characters that prose does without: brackets, operators, and the like.
    CodeSymbol,
    Blank,
    /// A word with a letter that Western European languages have besides ASCII.
    Accented,
    /// One with a Latin letter that they do not have.
    Wide,
    /// One with a letter of phonetic alphabets, or a mark that goes onto a letter.
    LatinOther,
    /// One with a letter that only Vietnamese has.
    Vietnamese,
    Greek,
    Cyrillic,
    /// A word with a letter that Russian does not have.
    CyrillicOther,
    Armenian,
    Hebrew,
    Arabic,
    /// A word with a letter that Arabic does not have, as in Persian.
    ArabicOther,
    Devanagari,
    Bengali,
    Gurmukhi,
    Gujarati,
    Oriya,
    Tamil,
    Telugu,
    Kannada,
    Malayalam,
    Sinhala,
    Thai,
    Lao,
    Tibetan,
    Myanmar,
    Georgian,
    Ethiopic,
    Khmer,
    Hangul,
    Kana,
    /// Han, and the punctuation that goes with it.
    Han,
    /// Any other script.
    Rare,
    Emoji,
    Other,
}

impl Group {
    /// Number of groups.
    pub(super) const COUNT: usize = Self::Other as usize + 1;

    /// The group of a piece: the script of its first letter outside ASCII, but a letter that only
    /// some languages of a script have decides wherever it is. What words there are of ASCII letters
    /// alone is not told apart here.
    pub(super) fn of(piece: &str) -> Self {
        if piece.is_ascii() {
            return Self::of_ascii(piece.as_bytes());
        }
        let mut group: Option<Self> = None;
        for script in piece.chars().filter_map(Self::of_letter) {
            if group.is_none_or(|group| script.telling() > group.telling()) {
                group = Some(script);
            }
        }
        group
            .or_else(|| Self::of_plain(piece.trim_start_matches(['‘', '’', '“', '”'])))
            .unwrap_or(Self::Other)
    }

    /// Weight of a letter of this group for the word that it is in: higher if it says more.
    const fn telling(self) -> u8 {
        match self {
            Self::Vietnamese => 3,
            Self::LatinOther => 2,
            Self::Wide | Self::CyrillicOther | Self::ArabicOther => 1,
            _ => 0,
        }
    }

    /// A word, a number or blanks. A word may have another character before it.
    fn of_plain(piece: &str) -> Option<Self> {
        let mut chars = piece.chars();
        let first = chars.next()?;
        if first.is_ascii_alphabetic() || chars.next().is_some_and(|c| c.is_ascii_alphabetic()) {
            Some(Self::Word)
        } else if first.is_numeric() {
            Some(Self::Number)
        } else {
            piece.trim_start().is_empty().then_some(Self::Blank)
        }
    }

    /// The same for ASCII, which most pieces are; and symbols.
    fn of_ascii(piece: &[u8]) -> Self {
        match piece {
            [first, ..] if first.is_ascii_alphabetic() => Self::Word,
            [_, second, ..] if second.is_ascii_alphabetic() => Self::Word,
            [first, ..] if first.is_ascii_digit() => Self::Number,
            _ if piece.trim_ascii_start().is_empty() => Self::Blank,
            _ if piece.iter().any(|&byte| is_code(byte)) => Self::CodeSymbol,
            _ => Self::Symbol,
        }
    }

    /// The script of a letter; nothing for ASCII and for punctuation that all scripts use.
    fn of_letter(c: char) -> Option<Self> {
        Some(match u32::from(c) {
            0xaa | 0xb5 | 0xba | 0xc0..0x100 => Self::Accented,
            0..0xc0 | 0x2000..0x2070 => return None,
            0x110 | 0x111 | 0x1a0 | 0x1a1 | 0x1af | 0x1b0 | 0x1ea0..0x1efa => Self::Vietnamese,
            0x100..0x250 | 0x1e00..0x1f00 => Self::Wide,
            0x250..0x370 | 0x1d00..0x1dc0 => Self::LatinOther,
            0x370..0x400 | 0x1f00..0x2000 => Self::Greek,
            0x401 | 0x410..0x450 | 0x451 => Self::Cyrillic,
            0x400..0x530 => Self::CyrillicOther,
            0x530..0x590 => Self::Armenian,
            0x590..0x600 => Self::Hebrew,
            0x671..0x6d4 | 0x6ee..0x6f0 | 0x6fa..0x780 => Self::ArabicOther,
            0x600..0x780 | 0xfb50..0xfe00 | 0xfe70..0xff00 => Self::Arabic,
            0x900..0x980 => Self::Devanagari,
            0x980..0xa00 => Self::Bengali,
            0xa00..0xa80 => Self::Gurmukhi,
            0xa80..0xb00 => Self::Gujarati,
            0xb00..0xb80 => Self::Oriya,
            0xb80..0xc00 => Self::Tamil,
            0xc00..0xc80 => Self::Telugu,
            0xc80..0xd00 => Self::Kannada,
            0xd00..0xd80 => Self::Malayalam,
            0xd80..0xe00 => Self::Sinhala,
            0xe00..0xe80 => Self::Thai,
            0xe80..0xf00 => Self::Lao,
            0xf00..0x1000 => Self::Tibetan,
            0x1000..0x10a0 => Self::Myanmar,
            0x10a0..0x1100 => Self::Georgian,
            0x1200..0x13a0 => Self::Ethiopic,
            0x1780..0x1800 => Self::Khmer,
            0x1100..0x1200 | 0xac00..0xd7b0 => Self::Hangul,
            0x3040..0x3100 => Self::Kana,
            0x3000..0x3040 | 0x3400..0xa000 | 0xf900..0xfb00 | 0xff00..0xfff0 => Self::Han,
            0x2600..0x2800 | 0xfe00..0xfe10 | 0x1f000..0x1fb00 => Self::Emoji,
            _ if c.is_alphabetic() => Self::Rare,
            _ => Self::Other,
        })
    }
}

/// Returns true if prose does without this character.
pub(super) const fn is_code(byte: u8) -> bool {
    matches!(byte, b'#'..=b'&' | b'*' | b'+' | b'/' | b'<'..=b'>' | b'@' | b'['..=b'`' | b'{'..=b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_what_its_letters_are() {
        for (piece, group) in [
            (" the", Group::Word),
            ("(foo", Group::Word),
            ("“word", Group::Word),
            ("123", Group::Number),
            ("½", Group::Number),
            (".\n", Group::Symbol),
            (" {\n", Group::CodeSymbol),
            ("  ", Group::Blank),
            ("\n\n", Group::Blank),
            (" où", Group::Accented),
            (" żółw", Group::Wide),
            (" gəlir", Group::LatinOther),
            (" người", Group::Vietnamese),
            (" λόγος", Group::Greek),
            (" слово", Group::Cyrillic),
            (" їжак", Group::CyrillicOther),
            (" كتاب", Group::Arabic),
            (" گفت", Group::ArabicOther),
            ("上下文", Group::Han),
            ("テキスト", Group::Kana),
            ("ދިވެހި", Group::Rare),
            ("🚀", Group::Emoji),
            ("…", Group::Other),
        ] {
            assert_eq!(Group::of(piece), group, "{piece:?}");
        }
    }
}
