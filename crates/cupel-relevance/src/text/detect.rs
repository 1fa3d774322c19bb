//! Which language texts are in.

use std::collections::HashMap;
use std::sync::OnceLock;

use cupel::ContextItem;
use foldhash::fast::RandomState;

use super::analysis::is_compound;
use super::for_each_word;
use super::language::Language;
use super::reader::Reader;
use super::script::{is_han, is_kana};

/// Number of words that are looked at.
pub(super) const MOST_WORDS: u32 = 20_000;

/// Number of bytes that are looked at, should words be that long.
const MOST_BYTES: usize = 16 * MOST_WORDS as usize;

/// The share of a language's words that its texts have at least.
const LEAST_SHARE: f64 = 0.06;

/// Number of times as many words of its own a language must have as any other: where two are mixed,
/// neither has.
const LEAD: f64 = 3.0;

/// Words of programs, which say nothing about the language of texts.
const KEYWORDS: [&str; 22] = [
    "and", "as", "by", "do", "for", "from", "if", "in", "into", "is", "mod", "not", "or", "out",
    "some", "then", "this", "use", "var", "where", "while", "with",
];

/// One bit for each language, in their order.
type Languages = u32;

impl Language {
    /// The language that texts are in; `None` where that is unsure, as for code, numbers, texts of a
    /// few words or in several languages.
    ///
    /// **Steps:** of the first 20,000 words, count those that are stop words of each language, except
    /// single letters and words that programs are full of, such as `for` or `is`. (A pair of
    /// characters counts as a word of Chinese, and of Japanese where Kana is in it.) The language with
    /// the most must have at least 6 % of all words; and beside each other language, of the words that
    /// only one of the two has, it must have three times as many.
    ///
    /// **Cost:** one pass, over no more than 20,000 words or 320,000 bytes.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_relevance::Language;
    ///
    /// assert_eq!(Language::detect(["Where is the key?"]), Some(Language::English));
    /// assert_eq!(Language::detect(["鍵はどこにありますか"]), Some(Language::Japanese));
    /// assert_eq!(Language::detect(["let x = 3;", "17.5"]), None);
    /// ```
    pub fn detect<'t>(texts: impl IntoIterator<Item = &'t str>) -> Option<Self> {
        let mut count = Count::new();
        for text in texts {
            if !count.add(text) {
                break;
            }
        }
        count.language()
    }
}

/// Words counted by the languages that have them.
pub(crate) struct Count {
    lists: &'static StopLists,
    /// For each set of languages.
    words_by_set: Vec<u32>,
    words: u32,
    bytes_left: usize,
}

/// Evidence of a word for the language of its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Telling {
    /// Nobody has looked yet.
    #[default]
    Unasked,
    /// It is joined of others, which tell themselves.
    Compound,
    /// It is no stop word.
    Nothing,
    /// It is a stop word of a set of languages, by number.
    Of(u16),
}

impl Telling {
    pub(super) fn of(word: &str) -> Self {
        if is_compound(word) {
            return Self::Compound;
        }
        StopLists::get().set_of(word).map_or(Self::Nothing, Self::Of)
    }
}

impl Count {
    pub(crate) fn new() -> Self {
        let lists = StopLists::get();
        let words_by_set = vec![0; lists.sets.len()];
        Self { lists, words_by_set, words: 0, bytes_left: MOST_BYTES }
    }

    /// Counts the words of a text. Returns whether more is wanted.
    pub(crate) fn add(&mut self, text: &str) -> bool {
        let read = super::beginning(text, self.bytes_left);
        self.bytes_left -= read.len();
        for_each_word(read, |word| {
            if self.words < MOST_WORDS {
                self.add_word(Telling::of(word));
            }
        });
        self.words < MOST_WORDS && read.len() == text.len()
    }

    /// The same for the words of an item.
    pub(crate) fn add_item(&mut self, item: &ContextItem, reader: &mut Reader) -> bool {
        if item.content().len() > self.bytes_left {
            return self.add(item.content());
        }
        self.bytes_left -= item.content().len();
        reader.for_each_telling(item, |telling| self.add_word(telling));
        self.words < MOST_WORDS
    }

    fn add_word(&mut self, telling: Telling) {
        if self.words == MOST_WORDS || telling == Telling::Compound {
            return;
        }
        self.words += 1;
        if let Telling::Of(set) = telling {
            self.words_by_set[usize::from(set)] += 1;
        }
    }

    /// The language of what was counted.
    pub(crate) fn language(&self) -> Option<Language> {
        let found = self.found();
        // The first of the best, should two have as many.
        let best = Language::all().rev().max_by_key(|language| found.of(*language))?;
        let is_enough = f64::from(found.of(best)) >= LEAST_SHARE * f64::from(self.words);
        let leads = |other: Language| {
            let lead = f64::from(found.of_one_only(best, other));
            lead > 0.0 && lead >= LEAD * f64::from(found.of_one_only(other, best))
        };
        let mut others = Language::all().filter(|other| *other != best);
        (is_enough && others.all(leads)).then_some(best)
    }

    fn found(&self) -> Found {
        let sets = self.lists.sets.iter().copied().zip(self.words_by_set.iter().copied());
        Found(sets.filter(|(_, words)| *words > 0).collect())
    }
}

/// The sets of languages that words were found of, each with how many.
struct Found(Vec<(Languages, u32)>);

impl Found {
    fn of(&self, language: Language) -> u32 {
        self.sum(|set| set & bit(language) != 0)
    }

    /// The words of one language that another has not.
    fn of_one_only(&self, one: Language, other: Language) -> u32 {
        self.sum(|set| set & bit(one) != 0 && set & bit(other) == 0)
    }

    fn sum(&self, counts: impl Fn(Languages) -> bool) -> u32 {
        self.0.iter().filter(|(set, _)| counts(*set)).map(|(_, words)| words).sum()
    }
}

const fn bit(language: Language) -> Languages {
    1 << language as u32
}

/// The stop words of all languages, each with the languages that have it.
struct StopLists {
    /// For each word the number of its set.
    words: HashMap<&'static str, u16, RandomState>,
    /// Number of bytes the longest word has.
    longest: usize,
    /// The distinct sets of languages; first those of the scripts without spaces.
    sets: Vec<Languages>,
}

const CHINESE: u16 = 0;
const JAPANESE: u16 = 1;

impl StopLists {
    fn get() -> &'static Self {
        static LISTS: OnceLock<StopLists> = OnceLock::new();
        LISTS.get_or_init(Self::collect)
    }

    fn collect() -> Self {
        let mut languages: HashMap<&'static str, Languages, RandomState> = HashMap::default();
        for language in Language::all() {
            for word in language.stop_words().filter(|word| tells(word)) {
                *languages.entry(word).or_default() |= bit(language);
            }
        }
        let mut sets = vec![bit(Language::Chinese), bit(Language::Japanese)];
        let mut distinct: Vec<Languages> = languages.values().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        sets.extend(distinct);
        let number: HashMap<Languages, u16> = sets.iter().copied().zip(0..).collect();
        let longest = languages.keys().map(|word| word.len()).max().unwrap_or(0);
        let words = languages.into_iter().map(|(word, set)| (word, number[&set])).collect();
        Self { words, longest, sets }
    }

    /// The number of the set of languages that have a word.
    fn set_of(&self, word: &str) -> Option<u16> {
        // What has a digit is no stop word.
        if word.len() > self.longest || word.bytes().any(|byte| byte.is_ascii_digit()) {
            None
        } else if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            self.words.get(word).copied()
        } else if word.is_ascii() {
            self.words.get(word.to_ascii_lowercase().as_str()).copied()
        } else if word.chars().any(is_kana) {
            Some(JAPANESE)
        } else if word.chars().all(is_han) {
            Some(CHINESE)
        } else {
            let lower: String = word.chars().flat_map(char::to_lowercase).collect();
            self.words.get(lower.as_str()).copied()
        }
    }
}

/// Returns true if a stop word says something about the language.
fn tells(word: &str) -> bool {
    word.len() > 1 && !KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_sentences_are_enough_in_every_language() {
        let texts = [
            "أين المفتاح؟ إنه تحت الجرة التي بجانب الباب. هل تأتي معنا غدا؟",
            "Non dago giltza? Hori ez dakit, baina ate ondoan dagoela uste dut eta hura hartu behar da.",
            "On és la clau? És a sota del test que hi ha al costat de la porta, amb les altres.",
            "钥匙在哪里?它在门旁边的花盆下面。",
            "Hvor er nøglen? Den ligger under krukken, men hvad ved jeg. Nogle af os ledte efter den, har du set dig om?",
            "Waar is de sleutel? Die ligt onder de pot naast de deur, maar ik heb hem niet gezien.",
            "Where is the key? It is under the pot beside the door, but I have not seen it.",
            "Missä avain on? Se on ruukun alla oven vieressä, mutta minä en ole nähnyt sitä.",
            "Où est la clé ? Elle est sous le pot à côté de la porte, mais je ne l'ai pas vue.",
            "Wo ist der Schlüssel? Er liegt unter dem Topf neben der Tür, aber ich habe ihn nicht gesehen.",
            "Πού είναι το κλειδί; Είναι κάτω από τη γλάστρα, αλλά δεν το έχω δει.",
            "Hol van a kulcs? A cserép alatt van az ajtó mellett, de én még nem láttam.",
            "Di mana kuncinya? Kunci itu ada di bawah pot yang di samping pintu, tetapi saya belum melihatnya.",
            "Dov'è la chiave? È sotto il vaso che sta accanto alla porta, ma non l'ho vista.",
            "鍵はどこにありますか。ドアの横の鉢の下にあります。",
            "Hvor er nøkkelen? Den ligger under krukka ved døra, men jeg har ikke sett den selv, hva med deg?",
            "Onde está a chave? Ela está debaixo do vaso que fica ao lado da porta, mas eu não a vi.",
            "Unde este cheia? Este sub ghiveciul de lângă ușă, dar eu nu am văzut-o.",
            "Где ключ? Он лежит под горшком у двери, но я его не видел.",
            "¿Dónde está la llave? Está debajo de la maceta que hay junto a la puerta, pero yo no la he visto.",
            "Var är nyckeln? Den ligger under krukan vid dörren, men jag har inte sett den.",
            "சாவி எங்கே உள்ளது? அது கதவு அருகில் உள்ள பானை கீழ் என்று ஒரு நண்பர் சொன்னார்.",
            "Anahtar nerede? Kapının yanındaki saksının altında, ama ben onu daha görmedim ve çok merak ediyorum.",
        ];
        for (language, text) in Language::all().zip(texts) {
            assert_eq!(Language::detect(text.split_inclusive('.')), Some(language), "{text}");
        }
    }

    #[test]
    fn code_numbers_and_nothing_are_in_no_language() {
        let code = "fn parse(text: &str) -> Result<Vec<u8>, Error> { let mut out = Vec::new(); \
            while let Some(byte) = next(text)? { out.push(byte); } Ok(out) }";
        let json = r#"{"id": "user_9fk2", "seats": 12, "fare": 1200.50, "cabin": "economy"}"#;
        for texts in [&[][..], &[""], &[" \n—…"], &["17 4.5", "2024-05-15"], &[code], &[json]] {
            assert_eq!(Language::detect(texts.iter().copied()), None, "{texts:?}");
        }
    }

    #[test]
    fn two_languages_in_equal_parts_are_none_and_a_few_foreign_words_change_nothing() {
        let german = "Wo ist der Schlüssel? Er liegt unter dem Topf neben der Tür.";
        let english = "Where is the key? It is under the pot beside the door.";
        assert_eq!(Language::detect([german, english]), None);
        let mostly = [german, german, german, english];
        assert_eq!(Language::detect(mostly), Some(Language::German));
    }

    #[test]
    fn no_stop_word_has_a_digit() {
        let has_digit = |word: &&str| word.bytes().any(|byte| byte.is_ascii_digit());
        assert_eq!(Language::all().flat_map(Language::stop_words).find(has_digit), None);
    }

    #[test]
    fn a_word_that_several_languages_have_decides_nothing() {
        assert_eq!(Language::detect(["in"]), None);
        assert_eq!(Language::detect(["die"]), None);
    }

    #[test]
    fn only_the_first_words_count_however_long_the_texts_are() {
        let english = "the key is under the pot ".repeat(4_000);
        let german = "der Schlüssel liegt unter dem Topf ".repeat(40_000);
        assert_eq!(Language::detect([&*english, &*german]), Some(Language::English));
        let both = format!("{english}{german}");
        assert_eq!(Language::detect([&*both]), Some(Language::English));
        let mut count = Count::new();
        assert!(!count.add(&"x".repeat(MOST_BYTES + 1)));
        assert_eq!((count.words, count.bytes_left), (1, 0));
    }
}
