//! Choice of texts that may be shortened, as a word.

use std::fmt;
use std::str::FromStr;

use cupel_names::UnknownName;
use thiserror::Error;

/// Choice of texts that may be shortened.
///
/// # Example
///
/// ```
/// use cupel_renderings::Shorten;
///
/// assert_eq!("json".parse(), Ok(Shorten::Json));
/// assert_eq!(Shorten::All.to_string(), "all");
/// assert_eq!(
///     "jsno".parse::<Shorten>().unwrap_err().to_string(),
///     "unknown way to shorten `jsno`; did you mean `json`?"
/// );
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Shorten {
    /// Nothing.
    #[default]
    Off,
    /// JSON: minified, by its weightiest values, or cleared.
    Json,
    /// Any text: JSON as above, other text by head and tail, or cleared.
    All,
}

impl Shorten {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Off, Self::Json, Self::All];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Json => "json",
            Self::All => "all",
        }
    }

    /// All names, as people list them.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Shorten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that says nothing of what may be shortened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct UnknownShorten {
    message: String,
}

impl UnknownShorten {
    /// A stable name of what went wrong: `unknown-shorten`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "unknown-shorten"
    }
}

impl FromStr for Shorten {
    type Err = UnknownShorten;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|shorten| shorten.name() == name).ok_or_else(|| {
            let unknown = UnknownName::new("way to shorten", name, Self::ALL.map(Self::name));
            UnknownShorten { message: unknown.to_string() }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for shorten in Shorten::ALL {
            assert_eq!(shorten.to_string().parse(), Ok(shorten));
        }
        assert_eq!(Shorten::names(), "off, json, all");
        assert_eq!(Shorten::default(), Shorten::Off);
    }

    #[test]
    fn a_name_that_is_near_none_gets_the_list() {
        let error = "everything".parse::<Shorten>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown way to shorten `everything`; known are off, json, all"
        );
        assert_eq!(error.code(), "unknown-shorten");
    }
}
