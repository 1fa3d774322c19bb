//! What the caller wants to keep, whatever it costs.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::ChatError;
use crate::conversation::{Conversation, Message};
use crate::json::Json;

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
}

/// A text that is no pin.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` pins nothing; give an index as 3, a role as role:user, or a field as field:pinned=true"
)]
pub struct ParsePinError(String);

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
        text.parse().map(Self::Index).map_err(|_| error())
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Role(role) => write!(f, "role:{role}"),
            Self::Field { name, value } => write!(f, "field:{name}={value}"),
        }
    }
}

impl Pin {
    pub(crate) fn matches(&self, index: usize, message: &Message<'_>) -> bool {
        match self {
            Self::Index(pinned) => *pinned == index,
            Self::Role(role) => message.native_role == *role || message.role.name() == role,
            Self::Field { name, value } => {
                message.json.at_path(name).is_some_and(|field| has_value(field, value))
            }
        }
    }

    /// Refuses an index beyond the end. Roles and fields may well have no match.
    pub(crate) fn check(&self, conversation: &Conversation<'_>) -> Result<(), ChatError> {
        let count = conversation.messages.len();
        match self {
            Self::Index(index) if *index >= count => {
                let last = count.saturating_sub(1);
                Err(ChatError::Pin(format!(
                    "pin `{index}`: the request has {count} messages; give an index from 0 to {last}"
                )))
            }
            _ => Ok(()),
        }
    }
}

fn has_value(field: Json<'_>, value: &str) -> bool {
    match field.text() {
        Some(text) => text == value,
        None => field.raw() == value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pin_is_refused_with_the_forms_that_are() {
        for text in ["", "-1", "role:", "field:a", "field:=1", "user"] {
            let error = text.parse::<Pin>().unwrap_err().to_string();
            assert_eq!(
                error,
                format!(
                    "`{text}` pins nothing; give an index as 3, a role as role:user, or a field \
                     as field:pinned=true"
                )
            );
        }
    }

    #[test]
    fn pins_are_written_as_they_are_read() {
        for text in ["3", "role:user", "field:a.b=c=d"] {
            assert_eq!(text.parse::<Pin>().unwrap().to_string(), text);
        }
    }
}
