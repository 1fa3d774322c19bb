//! What is wrong with the input, and where.

use std::fmt;

use crate::CupelError;
use crate::model::OneLine;

/// A rule that the input breaks, with the path to the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// `included[3].item.tokens`; empty for the whole.
    path: String,
    rule: String,
}

impl Problem {
    /// A problem with the whole: what the rule is, and what was found.
    #[must_use]
    pub fn new(rule: impl Into<String>) -> Self {
        Self { path: String::new(), rule: rule.into() }
    }

    /// The same problem, seen from whoever holds it in a field.
    #[must_use]
    pub fn in_field(self, name: &str) -> Self {
        self.within(name.to_owned())
    }

    /// The same problem, seen from whoever holds it in a list.
    #[must_use]
    pub fn in_list(self, index: usize) -> Self {
        self.within(format!("[{index}]"))
    }

    fn within(self, mut parent: String) -> Self {
        if !self.path.is_empty() && !self.path.starts_with('[') {
            parent.push('.');
        }
        parent.push_str(&self.path);
        Self { path: parent, rule: self.rule }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", OneLine(&self.path))?;
        }
        OneLine(&self.rule).fmt(f)
    }
}

impl std::error::Error for Problem {}

impl From<CupelError> for Problem {
    /// Constructors name the field before a colon; that becomes the path.
    fn from(error: CupelError) -> Self {
        let text = error.to_string();
        match text.split_once(": ") {
            Some((path, rule)) if !path.contains(char::is_whitespace) => {
                Self { path: path.to_owned(), rule: rule.to_owned() }
            }
            _ => Self::new(text),
        }
    }
}
