//! What is in or out as a whole.

use std::fmt::Write;
use std::ops::Range;

use crate::conversation::{Conversation, Fixed, FixedPart};
use crate::grouping::{Group, PinReason};
use crate::message::{Message, Role};
use crate::shorten::Edit;

/// Messages that are in or out together, or a fixed part of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    pub(crate) path: String,
    pub(crate) summary: String,
    pub(crate) messages: Vec<usize>,
    pub(crate) role: String,
    pub(crate) tokens: i64,
    pub(crate) needs: Option<usize>,
    pub(crate) pin: Option<PinReason>,
    /// How its item's renderings are written, in their order.
    pub(crate) forms: Vec<Vec<Edit>>,
}

impl Bundle {
    /// What people call it, as in `messages[3..6]: assistant, 2 tool results`. Ranges are without
    /// their end.
    pub fn label(&self) -> String {
        format!("{}: {}", self.path, self.summary)
    }

    /// What it is, as in `assistant, 2 tool results`.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Where it is in the request, as in `messages[3..6]` or `tools`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The indices of its messages, ascending; none for a fixed part.
    pub fn message_indices(&self) -> &[usize] {
        &self.messages
    }

    /// Whether it is no message but a part of the request that is always there, as `tools`.
    pub fn is_fixed(&self) -> bool {
        self.messages.is_empty()
    }

    /// Who speaks first in it: system, user, assistant or tool; for items their kind.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// What it costs.
    pub fn tokens(&self) -> i64 {
        self.tokens
    }

    /// The index of the message of the user without which it cannot stand, where turns are [taken
    /// apart](crate::CandidateOptions::steps).
    pub fn needs(&self) -> Option<usize> {
        self.needs
    }

    /// Why it is always in, if it is.
    pub fn pin_reason(&self) -> Option<PinReason> {
        self.pin
    }

    /// Where it differs from the whole in each of its item's [renderings](cupel::ContextItem::renderings).
    pub fn forms(&self) -> &[Vec<Edit>] {
        &self.forms
    }

    pub(crate) fn of_fixed(fixed: &Fixed, tokens: i64) -> Self {
        let (summary, pin) = match fixed.part {
            FixedPart::Instructions => ("system prompt".to_owned(), PinReason::SystemPrompt),
            FixedPart::Tools => {
                let summary =
                    counted(fixed.definitions.len(), "tool definition", "tool definitions");
                (summary, PinReason::ToolDefinitions)
            }
            FixedPart::Other if is_output_format(&fixed.path) => {
                ("output format".to_owned(), PinReason::PartOfRequest)
            }
            FixedPart::Other => ("other text".to_owned(), PinReason::PartOfRequest),
        };
        Self {
            path: fixed.path.clone(),
            summary,
            messages: Vec::new(),
            role: fixed.part.role().to_owned(),
            tokens,
            needs: None,
            pin: Some(pin),
            forms: Vec::new(),
        }
    }

    pub(crate) fn of_group(conversation: &Conversation, group: Group, tokens: i64) -> Self {
        let members = || group.messages.iter().map(|at| &conversation.messages[*at]);
        Self {
            path: format!("{}[{}]", conversation.list, ranges(&group.messages)),
            summary: summary(members()),
            role: members().next().map(role).unwrap_or_default(),
            tokens,
            needs: group.needs,
            pin: group.pin,
            forms: Vec::new(),
            messages: group.messages,
        }
    }
}

/// Whether a field says how the answer has to look.
fn is_output_format(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    ["format", "schema", "output_config"].iter().any(|name| path.contains(name))
}

fn role(message: &Message) -> String {
    match message.item {
        Some(_) => message.native_role.to_string(),
        None => message.role.name().to_owned(),
    }
}

/// `3`, `3..6`, `3..6, 8`.
fn ranges(indices: &[usize]) -> String {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for index in indices {
        match runs.last_mut() {
            Some(run) if run.end == *index => run.end += 1,
            _ => runs.push(*index..index + 1),
        }
    }
    let mut text = String::new();
    for run in runs {
        let comma = if text.is_empty() { "" } else { ", " };
        let written = match run.len() {
            1 => write!(text, "{comma}{}", run.start),
            _ => write!(text, "{comma}{}..{}", run.start, run.end),
        };
        debug_assert!(written.is_ok(), "a text takes whatever is written to it");
    }
    text
}

/// `user, 2 assistant messages, 3 tool results`, in the order of first appearance.
fn summary<'m>(messages: impl Iterator<Item = &'m Message>) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut add =
        |what: String, count: usize| match counts.iter_mut().find(|(known, _)| *known == what) {
            Some((_, total)) => *total += count,
            None => counts.push((what, count)),
        };
    for message in messages {
        if !message.answers.is_empty() {
            add("tool result".to_owned(), message.answers.len());
        }
        if message.answers.is_empty() || message.role == Role::User && message.has_user_words() {
            add(message.native_role.replace('_', " "), 1);
        }
    }
    let text = counts.into_iter().map(|(what, count)| match what.as_str() {
        "tool result" => counted(count, "tool result", "tool results"),
        _ if count == 1 => what,
        _ => format!("{count} × {what}"),
    });
    text.collect::<Vec<_>>().join(", ")
}

fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { one.to_owned() } else { format!("{count} {many}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_shown_as_ranges() {
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[3, 4, 5, 8]), "3..6, 8");
    }
}
