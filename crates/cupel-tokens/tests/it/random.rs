//! Texts that are hard to count, from a seed.

/// A small generator of numbers: the tests need variety, not quality.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn pick<'p>(&mut self, from: &[&'p str]) -> &'p str {
        from[self.below(from.len())]
    }

    /// A text of this many pieces, each of any kind.
    pub(crate) fn text(&mut self, pieces: usize) -> String {
        (0..pieces).map(|_| self.piece()).collect()
    }

    fn piece(&mut self) -> String {
        match self.below(10) {
            0 => self.pick(SCRIPTS).to_owned(),
            1 => self.pick(CODE).to_owned(),
            2 => self.pick(JSON).to_owned(),
            3 => self.pick(EMOJI).to_owned(),
            4 => self.pick(LOOK_ALIKES).to_owned(),
            5 => self.pick(BLANKS).repeat(1 + self.below(6)),
            6 => self.below(10_000_000).to_string(),
            7 => char::from_u32(self.below(0x20) as u32).map(String::from).unwrap_or_default(),
            8 => char::from_u32(self.below(0x11_0000) as u32).map(String::from).unwrap_or_default(),
            _ => self.pick(WORDS).to_owned(),
        }
    }
}

const WORDS: &[&str] = &[
    "harbour",
    " the",
    " isn't",
    " WE'LL",
    "Überraschung",
    " naïve",
    "HTTPServer",
    "camelCaseName",
];
const SCRIPTS: &[&str] = &[
    "上下文窗口",
    "テキストを数える",
    "토큰을 센다",
    "Считаем токены",
    "نعد الرموز",
    "סופרים",
    "टोकन गिनना",
    "นับโทเค็น",
    "Μετράμε",
    "e\u{301}\u{327}",
    "ﬁ ǅ ª º Ⅻ ½",
];
const CODE: &[&str] =
    &["fn main() {\n    ", "a[i]+=1;//x", "x<-y|>f", "__init__", "\tif (!ok)\r\n", "->", "::<>"];
const JSON: &[&str] = &["{\"id\":17,", "\"k\":[null,true]}", "\\u00e9\\n", "\": \"", "}]}\n"];
const EMOJI: &[&str] = &["🚀", "👨‍👩‍👧‍👦", "🙋🏽‍♂️", "❤️", "🇫🇮", "☃"];
const LOOK_ALIKES: &[&str] =
    &["<|endoftext|>", "<|im_start|>user", "<|fim_prefix|>", "<|endofprompt|>", "<s>", "[INST]"];
const BLANKS: &[&str] =
    &[" ", "  ", "\n", "\r\n", "\t", "\u{a0}", "\u{2003}", "\u{3000}", "\u{85}", " \n "];
