//! Where an item came from.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::{Caseless, OneLine};
use crate::CupelError;

/// Where a context item came from: a chat, a tool, retrieval, or anything that you name.
///
/// Compared like a [`ContextKind`](crate::ContextKind): ASCII case does not count.
///
/// # Example
///
/// ```
/// use cupel::ContextSource;
///
/// assert_eq!(ContextSource::new("rag")?, ContextSource::new(ContextSource::RAG)?);
/// assert_eq!(ContextSource::default().as_str(), "Chat");
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ContextSource(Cow<'static, str>);

impl ContextSource {
    /// From a chat: the default.
    pub const CHAT: &str = "Chat";
    /// From a tool or function call.
    pub const TOOL: &str = "Tool";
    /// From retrieval.
    pub const RAG: &str = "Rag";

    /// Names a source.
    ///
    /// # Errors
    ///
    /// [`CupelError::EmptySource`] if `value` is empty or only white space.
    pub fn new(value: impl Into<String>) -> Result<Self, CupelError> {
        let value = value.into();
        if value.trim().is_empty() {
            return Err(CupelError::EmptySource);
        }
        Ok(Self(Cow::Owned(value)))
    }

    /// The name, in its original spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for ContextSource {
    fn default() -> Self {
        Self(Cow::Borrowed(Self::CHAT))
    }
}

impl PartialEq for ContextSource {
    fn eq(&self, other: &Self) -> bool {
        Caseless(&self.0) == Caseless(&other.0)
    }
}

impl Eq for ContextSource {}

impl Hash for ContextSource {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Caseless(&self.0).hash(state);
    }
}

/// For messages: a line break in the name is escaped. The name itself is [`as_str`](Self::as_str).
impl fmt::Display for ContextSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine(&self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_folds_ascii_case() {
        for spelling in ["Chat", "chat", "CHAT"] {
            assert_eq!(ContextSource::new(spelling).unwrap(), ContextSource::default());
        }
    }

    #[test]
    fn blank_sources_are_refused() {
        for blank in ["", "  ", "\n"] {
            assert_eq!(ContextSource::new(blank), Err(CupelError::EmptySource));
        }
    }
}
