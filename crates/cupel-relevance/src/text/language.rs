use std::fmt;
use std::str::FromStr;

use frostem::Algorithm;
use thiserror::Error;

/// A language that texts can be taken to be in.
///
/// Of 21 the stems and the stop words are known. Chinese and Japanese have no stems, and no words
/// that spaces would tell apart: pairs of characters are their terms. What a question sounds like
/// (asking words, verbs of saying, months) is known of ten, see [`Query`](crate::Query).
///
/// # Example
///
/// ```
/// use cupel_relevance::Language;
///
/// assert_eq!("german".parse(), Ok(Language::German));
/// assert_eq!("DE".parse(), Ok(Language::German));
/// let error = "latin".parse::<Language>().unwrap_err();
/// assert!(error.to_string().starts_with("unknown language `latin`; known are arabic, basque"));
///
/// assert_eq!(Language::detect(["Wo liegt der Schlüssel?", "Er liegt unter dem Topf."]), Some(Language::German));
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the language of that name")]
pub enum Language {
    Arabic,
    Basque,
    Catalan,
    Chinese,
    Danish,
    Dutch,
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Indonesian,
    Italian,
    Japanese,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

/// A language: its name, its ISO 639-1 code and its stemmer, if it has stems.
struct Row {
    language: Language,
    name: &'static str,
    code: &'static str,
    algorithm: Option<Algorithm>,
}

macro_rules! rows {
    ($($language:ident $name:literal $code:literal $algorithm:expr,)*) => {
        [$(Row {
            language: Language::$language,
            name: $name,
            code: $code,
            algorithm: $algorithm,
        }),*]
    };
}

/// In the order of the variants.
const ROWS: [Row; Language::COUNT] = rows! {
    Arabic "arabic" "ar" Some(Algorithm::Arabic),
    Basque "basque" "eu" Some(Algorithm::Basque),
    Catalan "catalan" "ca" Some(Algorithm::Catalan),
    Chinese "chinese" "zh" None,
    Danish "danish" "da" Some(Algorithm::Danish),
    Dutch "dutch" "nl" Some(Algorithm::Dutch),
    English "english" "en" Some(Algorithm::English),
    Finnish "finnish" "fi" Some(Algorithm::Finnish),
    French "french" "fr" Some(Algorithm::French),
    German "german" "de" Some(Algorithm::German),
    Greek "greek" "el" Some(Algorithm::Greek),
    Hungarian "hungarian" "hu" Some(Algorithm::Hungarian),
    Indonesian "indonesian" "id" Some(Algorithm::Indonesian),
    Italian "italian" "it" Some(Algorithm::Italian),
    Japanese "japanese" "ja" None,
    Norwegian "norwegian" "no" Some(Algorithm::Norwegian),
    Portuguese "portuguese" "pt" Some(Algorithm::Portuguese),
    Romanian "romanian" "ro" Some(Algorithm::Romanian),
    Russian "russian" "ru" Some(Algorithm::Russian),
    Spanish "spanish" "es" Some(Algorithm::Spanish),
    Swedish "swedish" "sv" Some(Algorithm::Swedish),
    Tamil "tamil" "ta" Some(Algorithm::Tamil),
    Turkish "turkish" "tr" Some(Algorithm::Turkish),
};

/// Words that the list for English lacks: verbs that only modify others, and more of its own kind.
const MORE_ENGLISH: [&str; 11] =
    ["also", "could", "done", "may", "might", "mine", "must", "shall", "us", "whose", "would"];

/// Words that the list for Turkish lacks, short as it is.
const MORE_TURKISH: [&str; 16] = [
    "ben", "bir", "bütün", "değil", "evet", "hayır", "kadar", "mi", "olan", "olarak", "onu", "sen",
    "sonra", "var", "yok", "şimdi",
];

impl Language {
    /// Number of languages.
    pub(crate) const COUNT: usize = 23;

    /// All of them, by name.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        ROWS.iter().map(|row| row.language)
    }

    /// The English name in lower case, such as `german`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The two letters of ISO 639-1, such as `de`.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// The stemmer, if the language has stems.
    pub(super) fn algorithm(self) -> Option<Algorithm> {
        self.row().algorithm
    }

    /// None where terms are pairs of characters, not words.
    pub(super) fn stop_words(self) -> impl Iterator<Item = &'static str> {
        let known = self.algorithm().and_then(|_| stop_words::lookup(self.code()));
        let more = match self {
            Self::English => &MORE_ENGLISH[..],
            Self::Turkish => &MORE_TURKISH,
            _ => &[],
        };
        known.unwrap_or_default().iter().chain(more).copied()
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no [`Language`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown language `{name}`; known are {known}", known = known())]
pub struct UnknownLanguage {
    name: String,
}

impl UnknownLanguage {
    /// A stable name for programs: `unknown-language`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "unknown-language"
    }
}

fn known() -> String {
    ROWS.map(|row| row.name).join(", ")
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    /// By name or by code, in any case.
    fn from_str(name: &str) -> Result<Self, UnknownLanguage> {
        let is_meant =
            |row: &&Row| row.name.eq_ignore_ascii_case(name) || row.code.eq_ignore_ascii_case(name);
        let row = ROWS.iter().find(is_meant);
        row.map(|row| row.language).ok_or_else(|| UnknownLanguage { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_variants() {
        for (position, row) in ROWS.iter().enumerate() {
            assert_eq!(row.language as usize, position, "{}", row.name);
            assert!(row.algorithm.is_none_or(|algorithm| algorithm.name() == row.name));
        }
    }

    #[test]
    fn every_language_with_stems_has_stop_words_and_the_others_have_none() {
        for language in Language::all() {
            let count = language.stop_words().count();
            assert_eq!(count > 50, language.algorithm().is_some(), "{language}");
            assert_eq!(count == 0, language.algorithm().is_none(), "{language}");
        }
        assert_eq!(Language::all().filter(|language| language.algorithm().is_some()).count(), 21);
    }

    #[test]
    fn names_and_codes_are_read_in_any_case() {
        for language in Language::all() {
            assert_eq!(language.name().to_uppercase().parse(), Ok(language));
            assert_eq!(language.code().parse(), Ok(language));
        }
        let error = "Klingon".parse::<Language>().unwrap_err();
        assert_eq!(error.code(), "unknown-language");
    }
}
