//! The words for a name that nobody knows.

use std::fmt;

use crate::nearest_name;

/// A name that nobody knows, and what was probably meant.
///
/// [`Display`](fmt::Display) is a whole message, [`hint`](Self::hint) the part after the semicolon,
/// for a message that begins otherwise.
///
/// # Example
///
/// ```
/// use cupel_names::UnknownName;
///
/// let error = UnknownName::new("policy", "caht", ["auto", "chat"]).or("or give a file");
/// assert_eq!(error.to_string(), "unknown policy `caht`; did you mean `chat`?");
/// let error = UnknownName::new("policy", "x.y", ["auto", "chat"]).or("or give a file");
/// assert_eq!(error.hint(), "known are auto, chat, or give a file");
/// let error = UnknownName::new("model", "eliza", ["gpt-4", "gpt-5"]).otherwise("give its window");
/// assert_eq!(error.to_string(), "unknown model `eliza`; give its window");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName<'n> {
    what: &'n str,
    name: &'n str,
    known: Vec<&'n str>,
    /// Text for the case that no name is near.
    otherwise: Otherwise<'n>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Otherwise<'n> {
    List,
    ListAnd(&'n str),
    Text(&'n str),
}

impl<'n> UnknownName<'n> {
    /// `what` there is none of: a scorer, a format. `known` are the names that there are.
    pub fn new(what: &'n str, name: &'n str, known: impl IntoIterator<Item = &'n str>) -> Self {
        Self { what, name, known: known.into_iter().collect(), otherwise: Otherwise::List }
    }

    /// Adds something that may be given instead of a known name; it is said after the list.
    #[must_use]
    pub fn or(self, alternative: &'n str) -> Self {
        Self { otherwise: Otherwise::ListAnd(alternative), ..self }
    }

    /// Sets the remedy for the case that no name is near and the known ones are too many to be listed.
    #[must_use]
    pub fn otherwise(self, remedy: &'n str) -> Self {
        Self { otherwise: Otherwise::Text(remedy), ..self }
    }

    /// The known name that was probably meant, if any is near enough.
    #[must_use]
    pub fn nearest(&self) -> Option<&'n str> {
        nearest_name(self.name, self.known.iter().copied())
    }

    /// The name that was probably meant, or else all that are known.
    #[must_use]
    pub fn hint(&self) -> String {
        if let Some(near) = self.nearest() {
            return format!("did you mean `{near}`?");
        }
        let known = || self.known.join(", ");
        match self.otherwise {
            Otherwise::List => format!("known are {}", known()),
            Otherwise::ListAnd(alternative) => format!("known are {}, {alternative}", known()),
            Otherwise::Text(remedy) => remedy.to_owned(),
        }
    }
}

impl fmt::Display for UnknownName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} `{}`; {}", self.what, excerpt(self.name), self.hint())
    }
}

/// A name that fits into a message of one line.
fn excerpt(name: &str) -> String {
    const LONGEST: usize = 64;
    let mut letters = name.chars();
    let mut text = String::new();
    for letter in letters.by_ref().take(LONGEST) {
        if crate::is_hidden(letter) {
            text.extend(letter.escape_default());
        } else {
            text.push(letter);
        }
    }
    if letters.next().is_some() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(name: &str) -> String {
        UnknownName::new("format", name, ["items", "gemini"]).to_string()
    }

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_anything_else_gets_the_list() {
        assert_eq!(unknown("Gemni"), "unknown format `Gemni`; did you mean `gemini`?");
        assert_eq!(unknown("yaml"), "unknown format `yaml`; known are items, gemini");
        assert_eq!(unknown(""), "unknown format ``; known are items, gemini");
    }

    #[test]
    fn whatever_the_name_the_message_is_one_short_line() {
        assert_eq!(unknown("a\nb"), "unknown format `a\\nb`; known are items, gemini");
        let long = unknown(&"é".repeat(65));
        assert_eq!(long, format!("unknown format `{}…`; known are items, gemini", "é".repeat(64)));
    }
}
