//! Kinds of items.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use thiserror::Error;

use super::{Caseless, OneLine};
use crate::CupelError;

/// Kind of a context item: a message, a document, or anything that you name.
///
/// Kinds are open: any text that is not blank will do. Two kinds are equal when they
/// differ only in ASCII case; each keeps the spelling that it was given.
///
/// # Example
///
/// ```
/// use cupel::ContextKind;
///
/// let plan = ContextKind::new("Plan")?;
/// assert_eq!(plan, ContextKind::new("plan")?);
/// assert_eq!(plan.to_string(), "Plan");
/// assert_eq!(ContextKind::default(), ContextKind::message());
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ContextKind(Cow<'static, str>);

impl ContextKind {
    /// A conversational message: the default.
    pub const MESSAGE: &str = "Message";
    /// A document or the content of a file.
    pub const DOCUMENT: &str = "Document";
    /// Result of a tool call.
    pub const TOOL_OUTPUT: &str = "ToolOutput";
    /// A stored memory or fact.
    pub const MEMORY: &str = "Memory";
    /// An instruction at system level.
    pub const SYSTEM_PROMPT: &str = "SystemPrompt";

    const WELL_KNOWN: [&'static str; 5] =
        [Self::MESSAGE, Self::DOCUMENT, Self::TOOL_OUTPUT, Self::MEMORY, Self::SYSTEM_PROMPT];

    /// Names a kind.
    ///
    /// # Errors
    ///
    /// [`CupelError::EmptyKind`] if `value` is empty or only white space.
    pub fn new(value: impl Into<String>) -> Result<Self, CupelError> {
        let value = value.into();
        if value.trim().is_empty() {
            return Err(CupelError::EmptyKind);
        }
        let well_known = Self::WELL_KNOWN.into_iter().find(|name| *name == value);
        Ok(Self(well_known.map_or(Cow::Owned(value), Cow::Borrowed)))
    }

    /// The kind [`MESSAGE`](Self::MESSAGE).
    #[must_use]
    pub fn message() -> Self {
        Self(Cow::Borrowed(Self::MESSAGE))
    }

    /// The kind [`SYSTEM_PROMPT`](Self::SYSTEM_PROMPT).
    #[must_use]
    pub fn system_prompt() -> Self {
        Self(Cow::Borrowed(Self::SYSTEM_PROMPT))
    }

    /// The kind [`DOCUMENT`](Self::DOCUMENT).
    #[must_use]
    pub fn document() -> Self {
        Self(Cow::Borrowed(Self::DOCUMENT))
    }

    /// The kind [`TOOL_OUTPUT`](Self::TOOL_OUTPUT).
    #[must_use]
    pub fn tool_output() -> Self {
        Self(Cow::Borrowed(Self::TOOL_OUTPUT))
    }

    /// The kind [`MEMORY`](Self::MEMORY).
    #[must_use]
    pub fn memory() -> Self {
        Self(Cow::Borrowed(Self::MEMORY))
    }

    /// The name, in its original spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for ContextKind {
    fn default() -> Self {
        Self::message()
    }
}

impl PartialEq for ContextKind {
    fn eq(&self, other: &Self) -> bool {
        Caseless(&self.0) == Caseless(&other.0)
    }
}

impl Eq for ContextKind {}

impl Hash for ContextKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Caseless(&self.0).hash(state);
    }
}

/// For messages: a line break in the name is escaped. The name itself is [`as_str`](Self::as_str).
impl fmt::Display for ContextKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine(&self.0).fmt(f)
    }
}

/// A text that is not a kind, because it is blank.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid context kind: {0:?}")]
pub struct ParseContextKindError(String);

impl ParseContextKindError {
    /// A stable, language-neutral name: that of [`CupelError::EmptyKind`].
    #[must_use]
    pub fn code(&self) -> &'static str {
        CupelError::EmptyKind.code()
    }
}

impl TryFrom<&str> for ContextKind {
    type Error = ParseContextKindError;

    fn try_from(value: &str) -> Result<Self, Self::Error> {
        Self::new(value).map_err(|_| ParseContextKindError(value.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn comparison_folds_ascii_case() {
        for spelling in ["Message", "message", "MESSAGE", "mEsSaGe"] {
            assert_eq!(ContextKind::new(spelling).unwrap(), ContextKind::message());
        }
        assert_ne!(ContextKind::new("Messages").unwrap(), ContextKind::message());
    }

    #[test]
    fn equal_kinds_hash_alike() {
        let kinds: HashSet<ContextKind> =
            ["Tool", "tool", "TOOL"].into_iter().map(|k| ContextKind::new(k).unwrap()).collect();
        assert_eq!(kinds.len(), 1);
    }

    #[test]
    fn any_text_that_is_not_blank_is_a_kind_and_keeps_its_spelling() {
        assert_eq!(ContextKind::new(" Odd kind ").unwrap().as_str(), " Odd kind ");
        assert_eq!(ContextKind::new("SYSTEMPROMPT").unwrap().as_str(), "SYSTEMPROMPT");
    }

    #[test]
    fn blank_kinds_are_refused() {
        for blank in ["", " ", "\t\n", "\u{2003}"] {
            assert_eq!(ContextKind::new(blank), Err(CupelError::EmptyKind));
            let error = ContextKind::try_from(blank).unwrap_err();
            assert_eq!(error.to_string(), format!("invalid context kind: {blank:?}"));
            assert_eq!(error.code(), "empty_kind");
        }
    }
}
