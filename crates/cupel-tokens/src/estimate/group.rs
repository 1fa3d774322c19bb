//! What a piece of text is, as far as tokenizers differ in how they take it apart.

/// Kinds of pieces, and the scripts that words are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// A word of ASCII letters.
    Word,
    Number,
    /// Not a piece, but each digit of a number: some tokenizers take them one by one.
    Digit,
    Symbol,
    Blank,
    /// A word with a Latin letter outside ASCII.
    Accented,
    /// One with a letter that only Vietnamese has.
    Vietnamese,
    Greek,
    Cyrillic,
    /// A word with a letter that Russian does not have.
    CyrillicOther,
    Armenian,
    Hebrew,
    Arabic,
    Devanagari,
    Bengali,
    /// Gurmukhi, Gujarati and Oriya.
    Gujarati,
    Tamil,
    /// Telugu, Kannada and Malayalam.
    Telugu,
    Sinhala,
    Thai,
    Lao,
    Myanmar,
    Georgian,
    Ethiopic,
    Khmer,
    Hangul,
    Kana,
    /// Han, and the punctuation that goes with it.
    Han,
    Emoji,
    Other,
}

impl Group {
    /// How many there are.
    pub(super) const COUNT: usize = Self::Other as usize + 1;

    /// The group of a piece: the script of its first letter outside ASCII, but a letter that only
    /// some languages of a script have decides wherever it is.
    pub(super) fn of(piece: &str) -> Self {
        if piece.is_ascii() {
            return Self::of_plain(piece).unwrap_or(Self::Symbol);
        }
        let mut group = None;
        for script in piece.chars().filter_map(Self::of_letter) {
            if matches!(script, Self::Vietnamese | Self::CyrillicOther) {
                return script;
            }
            group = group.or(Some(script));
        }
        group
            .or_else(|| Self::of_plain(piece.trim_start_matches(['‘', '’', '“', '”'])))
            .unwrap_or(Self::Other)
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

    /// The script of a letter; nothing for ASCII and for punctuation that all scripts use.
    fn of_letter(c: char) -> Option<Self> {
        Some(match u32::from(c) {
            0xaa | 0xb5 | 0xba => Self::Accented,
            0..0xc0 | 0x2000..0x2070 => return None,
            0x110 | 0x111 | 0x1a0 | 0x1a1 | 0x1af | 0x1b0 | 0x1ea0..0x1efa => Self::Vietnamese,
            0xc0..0x250 | 0x1e00..0x1f00 => Self::Accented,
            0x370..0x400 | 0x1f00..0x2000 => Self::Greek,
            0x401 | 0x410..0x450 | 0x451 => Self::Cyrillic,
            0x400..0x530 => Self::CyrillicOther,
            0x530..0x590 => Self::Armenian,
            0x590..0x600 => Self::Hebrew,
            0x600..0x780 | 0xfb50..0xfe00 | 0xfe70..0xff00 => Self::Arabic,
            0x900..0x980 => Self::Devanagari,
            0x980..0xa00 => Self::Bengali,
            0xa00..0xb80 => Self::Gujarati,
            0xb80..0xc00 => Self::Tamil,
            0xc00..0xd80 => Self::Telugu,
            0xd80..0xe00 => Self::Sinhala,
            0xe00..0xe80 => Self::Thai,
            0xe80..0xf00 => Self::Lao,
            0x1000..0x10a0 => Self::Myanmar,
            0x10a0..0x1100 => Self::Georgian,
            0x1200..0x13a0 => Self::Ethiopic,
            0x1780..0x1800 => Self::Khmer,
            0x1100..0x1200 | 0xac00..0xd7b0 => Self::Hangul,
            0x3040..0x3100 => Self::Kana,
            0x3000..0x3040 | 0x3400..0xa000 | 0xf900..0xfb00 | 0xff00..0xfff0 => Self::Han,
            0x2600..0x2800 | 0xfe00..0xfe10 | 0x1f000..0x1fb00 => Self::Emoji,
            _ => Self::Other,
        })
    }
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
            (" {\n", Group::Symbol),
            ("  ", Group::Blank),
            ("\n\n", Group::Blank),
            (" żółw", Group::Accented),
            (" người", Group::Vietnamese),
            (" λόγος", Group::Greek),
            (" слово", Group::Cyrillic),
            (" їжак", Group::CyrillicOther),
            ("上下文", Group::Han),
            ("テキスト", Group::Kana),
            ("🚀", Group::Emoji),
            ("…", Group::Other),
        ] {
            assert_eq!(Group::of(piece), group, "{piece:?}");
        }
    }
}
