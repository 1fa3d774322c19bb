//! One pass over a text that adds up what its pieces cost.
//!
//! Tokenizers cut a text into words, numbers, runs of symbols and runs of blanks before they look
//! anything up. So does this, roughly; what a piece costs is the average of what such pieces cost
//! with `o200k_base`. All amounts are thousandths of a token.

use std::iter::Peekable;
use std::str::Chars;

use super::script::{Kind, Script};

/// One token.
const TOKEN: u64 = 1_000;

/// What stands right before a piece and becomes part of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lead {
    Nothing,
    Space,
    /// Another blank: a tab.
    Tab,
    Symbol,
}

/// The pass.
pub(super) struct Scan<'t> {
    chars: Peekable<Chars<'t>>,
    lead: Lead,
    cost: u128,
    /// Latin letters, accented ones, and those that make plain words long.
    letters: u128,
    accented: u128,
    long: u128,
}

/// A word, number or jumble without a gap, as in `getUser2` or `f3Ab09`.
#[derive(Default)]
struct Chunk {
    pieces: u64,
    chars: u64,
    /// Its cost if its pieces are words and numbers,
    words: u64,
    /// and if they are letters at random.
    jumble: u64,
}

impl<'t> Scan<'t> {
    /// What a text costs.
    pub(super) fn cost(text: &'t str) -> u128 {
        let mut scan = Scan {
            chars: text.chars().peekable(),
            lead: Lead::Nothing,
            cost: 0,
            letters: 0,
            accented: 0,
            long: 0,
        };
        while let Some(kind) = scan.kind() {
            match kind {
                Kind::Blank | Kind::Newline => scan.blanks(),
                Kind::Symbol => scan.symbols(),
                Kind::Letter(script) => scan.script(script),
                Kind::Lower | Kind::Upper | Kind::Accented | Kind::Digit => scan.chunk(),
            }
        }
        scan.end_lead();
        scan.cost + scan.foreign()
    }

    fn kind(&mut self) -> Option<Kind> {
        self.chars.peek().copied().map(Kind::of)
    }

    fn add(&mut self, cost: u64) {
        self.cost += u128::from(cost);
    }

    /// What stood before becomes a piece of its own.
    fn end_lead(&mut self) {
        match std::mem::replace(&mut self.lead, Lead::Nothing) {
            Lead::Space | Lead::Tab => self.add(TOKEN),
            Lead::Nothing | Lead::Symbol => {}
        }
    }

    /// What stood before becomes part of a word.
    fn join_lead(&mut self) -> Lead {
        let lead = std::mem::replace(&mut self.lead, Lead::Nothing);
        if lead == Lead::Tab {
            self.add(TOKEN * 3 / 4);
        }
        lead
    }

    /// Up to the last newline is one piece; of the blanks after it, all but the last.
    fn blanks(&mut self) {
        let after_symbol = self.lead == Lead::Symbol;
        self.lead = Lead::Nothing;
        let (mut newlines, mut turns, mut blanks, mut last) = (0u64, 0u64, 0u64, ' ');
        while let Some(c) =
            self.chars.next_if(|&c| matches!(Kind::of(c), Kind::Blank | Kind::Newline))
        {
            if Kind::of(c) == Kind::Newline {
                turns += u64::from(blanks > 0 && newlines > 0);
                newlines += 1;
                blanks = 0;
            } else {
                blanks += 1;
            }
            last = c;
        }
        if newlines > 0 {
            let first = if after_symbol { TOKEN / 8 } else { TOKEN };
            self.add(first + turns.saturating_mul(TOKEN / 2) + newlines.saturating_mul(TOKEN / 24));
        }
        if blanks > 1 {
            self.add(TOKEN + (blanks - 1).saturating_mul(TOKEN / 80));
        }
        if blanks > 0 {
            self.lead = if last == ' ' { Lead::Space } else { Lead::Tab };
        }
    }

    /// A few symbols are a token; the more often they change, the more tokens.
    fn symbols(&mut self) {
        let lead = self.lead;
        if lead == Lead::Tab {
            self.end_lead();
        }
        self.lead = Lead::Nothing;
        let (mut count, mut changes, mut wide, mut before) = (0u64, 0u64, 0u64, None);
        while let Some(c) = self.chars.next_if(|&c| Kind::of(c) == Kind::Symbol) {
            changes += u64::from(before.is_some_and(|before| before != c));
            wide += u64::from(!c.is_ascii() || c.is_ascii_control());
            count += 1;
            before = Some(c);
        }
        let joins = count == 1 && lead == Lead::Nothing && wide == 0;
        if joins && matches!(self.kind(), Some(Kind::Lower | Kind::Upper | Kind::Accented)) {
            self.add(TOKEN / 5);
            return;
        }
        let more = changes.saturating_sub(2).saturating_mul(TOKEN * 2 / 5);
        self.add(
            TOKEN + more + count / 32 * TOKEN + wide.saturating_sub(1).saturating_mul(TOKEN / 2),
        );
        self.lead = Lead::Symbol;
    }

    /// A run of letters that are not Latin.
    fn script(&mut self, first: Script) {
        let bare = if self.join_lead() == Lead::Space { 0 } else { first.bare };
        let mut cost = first.word;
        while let Some(Kind::Letter(script)) = self.kind() {
            if !script.joins(first) {
                break;
            }
            cost = cost.saturating_add(script.letter + bare);
            self.chars.next();
        }
        self.add(if first.word > 0 { cost.max(TOKEN) } else { cost });
    }

    /// Latin letters and digits without a gap.
    fn chunk(&mut self) {
        let mut chunk = Chunk::default();
        while let Some(kind) = self.kind() {
            match kind {
                Kind::Digit => self.number(&mut chunk),
                Kind::Lower | Kind::Upper | Kind::Accented => self.word(&mut chunk),
                _ => break,
            }
        }
        let is_jumble = chunk.chars >= 12 && chunk.chars < chunk.pieces.saturating_mul(3);
        self.add(if is_jumble { chunk.jumble.max(chunk.words) } else { chunk.words });
    }

    /// Every three digits are a token, and no blank joins them.
    fn number(&mut self, chunk: &mut Chunk) {
        self.end_lead();
        let mut digits = 0u64;
        while self.chars.next_if(char::is_ascii_digit).is_some() {
            digits = digits.saturating_add(1);
        }
        chunk.add(digits, digits.div_ceil(3).saturating_mul(TOKEN), TOKEN);
    }

    /// Letters up to where a capital follows a small one.
    fn word(&mut self, chunk: &mut Chunk) {
        let bare = self.join_lead() != Lead::Space;
        let (mut letters, mut capitals, mut accented) = (0u64, 0u64, 0u64);
        while let Some(kind) = self.kind() {
            match kind {
                Kind::Upper if letters > capitals => break,
                Kind::Upper => capitals = capitals.saturating_add(1),
                Kind::Lower => {}
                Kind::Accented => accented = accented.saturating_add(1),
                _ => break,
            }
            letters = letters.saturating_add(1);
            self.chars.next();
        }
        self.letters += u128::from(letters);
        self.accented += u128::from(accented);
        let is_plain = accented == 0 && capitals < 2;
        if is_plain {
            self.long += u128::from(letters.saturating_sub(4));
        }
        let words = word_cost(letters, bare, is_plain, accented > 0);
        chunk.add(letters, words, letters.saturating_mul(TOKEN * 3 / 5));
    }

    /// Words without accents are cheap because they are English. Where others have accents, they
    /// are not.
    fn foreign(&self) -> u128 {
        let share = (self.accented * 1_000).checked_div(self.letters).unwrap_or(0);
        self.long * (share * 7 / 2).min(340)
    }
}

/// What a word of Latin letters costs.
fn word_cost(letters: u64, bare: bool, is_plain: bool, is_accented: bool) -> u64 {
    let (free, letter) = match (is_plain, is_accented, bare) {
        (_, true, false) => (3, 290),
        (_, true, true) => (2, 420),
        (true, _, false) => (5, 25),
        (true, _, true) => (5, 90),
        (false, _, false) => (3, 150),
        (false, _, true) => (3, 220),
    };
    let long = letters.saturating_sub(13).saturating_mul(150);
    TOKEN.saturating_add(letters.saturating_sub(free).saturating_mul(letter)).saturating_add(long)
}

impl Chunk {
    fn add(&mut self, chars: u64, words: u64, jumble: u64) {
        self.pieces = self.pieces.saturating_add(1);
        self.chars = self.chars.saturating_add(chars);
        self.words = self.words.saturating_add(words);
        self.jumble = self.jumble.saturating_add(jumble.max(TOKEN));
    }
}
