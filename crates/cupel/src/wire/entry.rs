//! Reading with errors that programs can use.

use std::fmt;

use serde::{Deserialize, Deserializer};

use super::{Problem, Read, Value};

/// Why something could not be read.
///
/// # Example
///
/// ```
/// use cupel::ContextItem;
/// use cupel::wire::{ReadError, read};
///
/// let text = r#"{ "content": "a", "tokens": "many" }"#;
/// let error = read::<ContextItem, _>(&mut serde_json::Deserializer::from_str(text)).unwrap_err();
/// assert_eq!(error.code(), "invalid_value");
/// let ReadError::Value(problem) = error else { panic!("the JSON is well-formed") };
/// assert_eq!(problem.path(), "tokens");
/// assert_eq!(problem.rule(), "must be a whole number, got \"many\"");
///
/// let mut json = serde_json::Deserializer::from_str("{");
/// assert_eq!(read::<ContextItem, _>(&mut json).unwrap_err().code(), "malformed_input");
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError<E> {
    /// The input is not what its format asks for; what the format's reader says.
    Format(E),
    /// A value breaks a rule.
    Value(Problem),
}

impl<E> ReadError<E> {
    /// A stable, language-neutral name of the variant: `malformed_input` or `invalid_value`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Format(_) => "malformed_input",
            Self::Value(problem) => problem.code(),
        }
    }
}

impl<E: serde::de::Error> ReadError<E> {
    /// The same as an error of the format.
    pub(crate) fn into_format(self) -> E {
        match self {
            Self::Format(error) => error,
            Self::Value(problem) => E::custom(problem),
        }
    }
}

impl<E: fmt::Display> fmt::Display for ReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(error) => error.fmt(f),
            Self::Value(problem) => problem.fmt(f),
        }
    }
}

impl<E: std::error::Error> std::error::Error for ReadError<E> {}

/// Types that [`read`] reads: everything of this crate that implements `Deserialize`.
pub trait WireType: Read {}

impl<T: Read> WireType for T {}

/// Reads a value, as deserializing does, with an error that has the path and the rule.
///
/// # Errors
///
/// [`ReadError::Format`] as the format's reader has it; [`ReadError::Value`] if a value breaks a rule
/// of its type.
pub fn read<'de, T: WireType, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, ReadError<D::Error>> {
    let value = Value::deserialize(deserializer).map_err(ReadError::Format)?;
    T::read(value).map_err(ReadError::Value)
}
