//! Pins: messages that the caller keeps, whatever they cost.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::ChatError;
use crate::conversation::Conversation;
use crate::json::Json;
use crate::message::Message;
use crate::rule::has_words;

/// Something that the caller pins. A pinned message pins the bundle that it is in.
///
/// # Example
///
/// ```
/// use cupel_chat::Pin;
///
/// assert_eq!("3".parse(), Ok(Pin::Index(3)));
/// assert_eq!("role:user".parse(), Ok(Pin::Role("user".into())));
/// let field = Pin::Field { name: "metadata.keep".into(), value: "true".into() };
/// assert_eq!("field:metadata.keep=true".parse(), Ok(field));
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pin {
    /// A message by its index in the request, from 0.
    Index(usize),
    /// All messages of a role, by the provider's name for it or by one of system, user, assistant,
    /// tool.
    Role(String),
    /// All messages with a field of this value. The name may be a path with dots.
    Field {
        /// The field, as in `pinned` or `metadata.keep`.
        name: String,
        /// Its value: a text, a number, true or false.
        value: String,
    },
    /// All messages of the system or the user that have these words, white space and case aside.
    Words(String),
}

/// A text that is no pin.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` pins nothing; give an index as 3, a role as role:user, a field as field:pinned=true, or \
     words as words:never use tabs"
)]
pub struct ParsePinError(String);

impl ParsePinError {
    /// A stable name of what went wrong: `invalid-pin`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "invalid-pin"
    }
}

impl FromStr for Pin {
    type Err = ParsePinError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParsePinError(text.to_owned());
        if let Some(role) = text.strip_prefix("role:") {
            return Some(role)
                .filter(|role| !role.is_empty())
                .map(Into::into)
                .map(Self::Role)
                .ok_or_else(error);
        }
        if let Some(field) = text.strip_prefix("field:") {
            let (name, value) = field.split_once('=').ok_or_else(error)?;
            if name.is_empty() {
                return Err(error());
            }
            return Ok(Self::Field { name: name.to_owned(), value: value.to_owned() });
        }
        if let Some(words) = text.strip_prefix("words:") {
            let words = Some(words).filter(|words| !words.trim().is_empty());
            return words.map(Into::into).map(Self::Words).ok_or_else(error);
        }
        text.parse().map(Self::Index).map_err(|_| error())
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Role(role) => write!(f, "role:{role}"),
            Self::Field { name, value } => write!(f, "field:{name}={value}"),
            Self::Words(words) => write!(f, "words:{words}"),
        }
    }
}

impl Pin {
    pub(crate) fn matches(&self, index: usize, message: &Message) -> bool {
        match self {
            Self::Index(pinned) => *pinned == index,
            Self::Role(role) => message.native_role == role.as_str() || message.role.name() == role,
            Self::Field { name, value } => {
                message.json.view().at_path(name).is_some_and(|field| has_value(field, value))
            }
            Self::Words(words) => {
                message.instructing_words().is_some_and(|text| has_words(&text, words))
            }
        }
    }

    /// Returns true if it names a part of the request that is always in, as the system prompt.
    pub(crate) fn is_fixed_part(&self, conversation: &Conversation) -> bool {
        match self {
            Self::Role(role) => conversation.fixed.iter().any(|fixed| fixed.part.role() == role),
            Self::Words(words) => {
                conversation.instructions().any(|(_, text)| has_words(&text, words))
            }
            Self::Index(_) | Self::Field { .. } => false,
        }
    }

    /// Message about a pin that matches nothing.
    pub(crate) fn unmatched(&self, conversation: &Conversation) -> ChatError {
        let count = conversation.messages.len();
        let (problem, remedy) = match self {
            Self::Index(_) => (
                format!("the request has {count} messages"),
                format!("give an index from 0 to {}", count.saturating_sub(1)),
            ),
            Self::Role(_) => (
                "no message has this role".to_owned(),
                format!("give one of {}", roles(conversation).join(", ")),
            ),
            Self::Field { .. } => (
                "no message has this field with this value".to_owned(),
                "give a field that a message has, or leave the pin out".to_owned(),
            ),
            Self::Words(_) => (
                "no message of the system or the user has these words".to_owned(),
                "give words that one has, or name a rule, which nobody has to state".to_owned(),
            ),
        };
        ChatError::Pin { pin: self.clone(), problem, remedy }
    }
}

/// The roles that the messages have, in order of appearance.
fn roles(conversation: &Conversation) -> Vec<&str> {
    let mut roles: Vec<&str> = Vec::new();
    for message in &conversation.messages {
        if !roles.contains(&message.native_role.as_str()) {
            roles.push(&message.native_role);
        }
    }
    roles
}

fn has_value(field: Json<'_>, value: &str) -> bool {
    match field.str() {
        Some(text) => text == value,
        None => field.raw() == value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pin_is_refused_with_the_forms_that_are() {
        for text in ["", "-1", "role:", "field:a", "field:=1", "user", "words:", "words: "] {
            let error = text.parse::<Pin>().unwrap_err().to_string();
            assert_eq!(
                error,
                format!(
                    "`{text}` pins nothing; give an index as 3, a role as role:user, a field \
                     as field:pinned=true, or words as words:never use tabs"
                )
            );
        }
    }

    #[test]
    fn pins_are_written_as_they_are_read() {
        for text in ["3", "role:user", "field:a.b=c=d", "words:Never, ever: tabs"] {
            assert_eq!(text.parse::<Pin>().unwrap().to_string(), text);
        }
    }
}
