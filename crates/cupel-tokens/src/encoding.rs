//! Which of OpenAI's encodings.

use std::fmt;
use std::str::FromStr;

use cupel_names::UnknownName;

/// An encoding that OpenAI publishes.
///
/// ```
/// use cupel_tokens::Encoding;
///
/// let encoding: Encoding = "o200k_base".parse()?;
/// assert_eq!(encoding, Encoding::O200kBase);
/// assert_eq!(
///     "o20k_base".parse::<Encoding>().unwrap_err().to_string(),
///     "unknown encoding `o20k_base`; did you mean `o200k_base`?",
/// );
/// # Ok::<(), cupel_tokens::UnknownEncoding>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Encoding {
    /// `o200k_base`: GPT-4o and everything since.
    O200kBase,
    /// `cl100k_base`: GPT-4, GPT-4 Turbo and GPT-3.5 Turbo.
    Cl100kBase,
}

impl Encoding {
    /// Every encoding, newest first.
    pub const ALL: [Self; 2] = [Self::O200kBase, Self::Cl100kBase];

    /// The published name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Encoding {
    type Err = UnknownEncoding;

    /// Reads a published name.
    ///
    /// # Errors
    ///
    /// If no encoding has this name.
    fn from_str(name: &str) -> Result<Self, UnknownEncoding> {
        Self::ALL
            .into_iter()
            .find(|encoding| encoding.name() == name)
            .ok_or_else(|| UnknownEncoding { name: name.to_owned() })
    }
}

/// No encoding has this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownEncoding {
    /// The name that was asked for.
    pub name: String,
}

impl UnknownEncoding {
    /// A name for this error that does not change: `unknown-encoding`.
    pub const fn code(&self) -> &'static str {
        "unknown-encoding"
    }
}

impl fmt::Display for UnknownEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        UnknownName::new("encoding", &self.name, Encoding::ALL.map(Encoding::name)).fmt(f)
    }
}

impl std::error::Error for UnknownEncoding {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for encoding in Encoding::ALL {
            assert_eq!(encoding.to_string().parse(), Ok(encoding));
        }
    }

    #[test]
    fn a_strange_name_lists_what_is_known() {
        assert_eq!(
            "klingon".parse::<Encoding>().unwrap_err().to_string(),
            "unknown encoding `klingon`; known are o200k_base, cl100k_base",
        );
    }
}
