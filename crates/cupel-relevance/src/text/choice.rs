use std::str::FromStr;

use super::{Language, UnknownLanguage};

/// Which language texts are taken to be in.
///
/// # Example
///
/// ```
/// use cupel_relevance::{Language, LanguageChoice};
///
/// assert_eq!("auto".parse(), Ok(LanguageChoice::Detected));
/// assert_eq!("none".parse(), Ok(LanguageChoice::None));
/// assert_eq!("de".parse(), Ok(LanguageChoice::from(Language::German)));
/// let error = "latin".parse::<LanguageChoice>().unwrap_err().to_string();
/// assert!(error.starts_with("unknown language `latin`; known are arabic"));
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum LanguageChoice {
    /// The one that they are [found](Language::detect) to be in.
    #[default]
    Detected,
    /// None: no stems, and no stop words.
    None,
    /// This one.
    Fixed(Language),
}

impl From<Language> for LanguageChoice {
    fn from(language: Language) -> Self {
        Self::Fixed(language)
    }
}

impl FromStr for LanguageChoice {
    type Err = UnknownLanguage;

    /// `auto`, `none`, or a language by name or code, in any case.
    fn from_str(name: &str) -> Result<Self, UnknownLanguage> {
        match name {
            _ if name.eq_ignore_ascii_case("auto") => Ok(Self::Detected),
            _ if name.eq_ignore_ascii_case("none") => Ok(Self::None),
            _ => name.parse().map(Self::Fixed),
        }
    }
}
