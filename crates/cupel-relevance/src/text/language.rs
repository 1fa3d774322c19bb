use std::fmt;
use std::str::FromStr;

use frostem::Algorithm;
use thiserror::Error;

/// A language whose words can be stemmed and whose stop words are known.
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
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the language of that name")]
pub enum Language {
    Arabic,
    Basque,
    Catalan,
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
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

/// What is known about a language: its name, its ISO 639-1 code and its stemmer.
struct Row {
    language: Language,
    name: &'static str,
    code: &'static str,
    algorithm: Algorithm,
}

macro_rules! rows {
    ($($language:ident $name:literal $code:literal,)*) => {
        [$(Row {
            language: Language::$language,
            name: $name,
            code: $code,
            algorithm: Algorithm::$language,
        }),*]
    };
}

/// In the order of the variants.
const ROWS: [Row; 21] = rows! {
    Arabic "arabic" "ar",
    Basque "basque" "eu",
    Catalan "catalan" "ca",
    Danish "danish" "da",
    Dutch "dutch" "nl",
    English "english" "en",
    Finnish "finnish" "fi",
    French "french" "fr",
    German "german" "de",
    Greek "greek" "el",
    Hungarian "hungarian" "hu",
    Indonesian "indonesian" "id",
    Italian "italian" "it",
    Norwegian "norwegian" "no",
    Portuguese "portuguese" "pt",
    Romanian "romanian" "ro",
    Russian "russian" "ru",
    Spanish "spanish" "es",
    Swedish "swedish" "sv",
    Tamil "tamil" "ta",
    Turkish "turkish" "tr",
};

/// Words that the list for English lacks: verbs that only modify others, and more of its own kind.
const MORE_ENGLISH: [&str; 11] =
    ["also", "could", "done", "may", "might", "mine", "must", "shall", "us", "whose", "would"];

impl Language {
    /// All of them, by name.
    pub fn all() -> impl Iterator<Item = Self> {
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

    pub(super) fn algorithm(self) -> Algorithm {
        self.row().algorithm
    }

    pub(super) fn stop_words(self) -> impl Iterator<Item = &'static str> {
        let more = if self == Self::English { &MORE_ENGLISH[..] } else { &[] };
        stop_words::lookup(self.code()).unwrap_or_default().iter().chain(more).copied()
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
            assert_eq!(row.algorithm.name(), row.name);
        }
    }

    #[test]
    fn every_language_has_stop_words() {
        for language in Language::all() {
            assert!(language.stop_words().count() > 50, "{language}");
        }
    }

    #[test]
    fn names_and_codes_are_read_in_any_case() {
        for language in Language::all() {
            assert_eq!(language.name().to_uppercase().parse(), Ok(language));
            assert_eq!(language.code().parse(), Ok(language));
        }
    }
}
