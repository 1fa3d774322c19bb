//! Kinds of characters.

/// What kind of character this is, as far as it matters for counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Lower,
    Upper,
    /// A Latin letter outside ASCII.
    Accented,
    /// A letter of another script.
    Letter(Script),
    Digit,
    Symbol,
    /// Blank within a line.
    Blank,
    Newline,
}

/// What letters of a script cost, in thousandths of a token. A word costs a token at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Script {
    /// For each character.
    pub(super) letter: u64,
    /// For each word of it.
    pub(super) word: u64,
    /// For each character more, where no blank comes before the word.
    pub(super) bare: u64,
}

/// A script that is written with blanks between words.
const fn words(letter: u64, word: u64, bare: u64) -> Script {
    Script { letter, word, bare }
}

/// A script where every character costs the same.
const fn characters(letter: u64) -> Script {
    Script { letter, word: 0, bare: 0 }
}

const GREEK: Script = words(330, 300, 170);
const CYRILLIC: Script = words(225, 380, 150);
/// Letters that Russian does not have: words with them are in fewer vocabularies.
const CYRILLIC_OTHER: Script = Script { letter: 700, ..CYRILLIC };
const ARMENIAN: Script = words(280, 300, 220);
const HEBREW: Script = words(350, 350, 170);
const ARABIC: Script = words(265, 400, 170);
const INDIC: Script = words(290, 250, 220);
const THAI: Script = characters(400);
const GEORGIAN: Script = words(280, 300, 200);
const HANGUL: Script = words(505, 550, 250);
const KANA: Script = characters(710);
const HAN: Script = characters(790);
/// Full-width punctuation.
const WIDE: Script = characters(900);
const EMOJI: Script = characters(1_650);
/// What no vocabulary has many pieces of: about a token for each character.
const OTHER: Script = characters(1_000);
/// What vocabularies spell byte by byte.
const RARE: Script = characters(2_500);

impl Script {
    /// Whether letters of both can be in one word.
    pub(super) fn joins(self, other: Self) -> bool {
        self.word == other.word && self.bare == other.bare
    }
}

impl Kind {
    pub(super) fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            '\n' | '\r' => Self::Newline,
            ' ' | '\t' | '\u{b}' | '\u{c}' | '\u{a0}' => Self::Blank,
            '\u{aa}' | '\u{b5}' | '\u{ba}' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => {
                Self::Accented
            }
            '\0'..='\u{bf}' | '\u{2010}'..='\u{203a}' => Self::Symbol,
            _ => Self::Letter(script(c)),
        }
    }
}

fn script(c: char) -> Script {
    match u32::from(c) {
        0x370..0x400 | 0x1f00..0x2000 => GREEK,
        0x410..0x450 | 0x401 | 0x451 => CYRILLIC,
        0x400..0x530 => CYRILLIC_OTHER,
        0x530..0x590 => ARMENIAN,
        0x590..0x600 => HEBREW,
        0x600..0x780 | 0xfb50..0xfe00 | 0xfe70..0xff00 => ARABIC,
        0x900..0xe00 => INDIC,
        0xe00..0xe80 => THAI,
        0x10a0..0x1100 => GEORGIAN,
        0x1100..0x1200 | 0xac00..0xd7b0 => HANGUL,
        0x3040..0x3100 => KANA,
        0x3000..0x3040 | 0xff00..0xfff0 => WIDE,
        0x3400..0xa000 | 0xf900..0xfb00 => HAN,
        0x200d | 0x2600..0x2800 | 0xfe00..0xfe10 | 0x1f000..0x1fb00 => EMOJI,
        0x250..0x2600 => OTHER,
        _ => RARE,
    }
}
