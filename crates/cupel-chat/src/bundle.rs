//! Bundles: messages that are in or out as a whole.

use std::borrow::Cow;
use std::fmt::Write;

use crate::conversation::{Conversation, Fixed, FixedPart};
use crate::grouping::{Group, PinReason};
use crate::message::{Message, Role};
use crate::shorten::Edit;

/// Messages that are in or out together, or a fixed part of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    pub(crate) path: String,
    pub(crate) summary: Cow<'static, str>,
    pub(crate) messages: Vec<usize>,
    pub(crate) role: Cow<'static, str>,
    pub(crate) tokens: i64,
    pub(crate) needs: Vec<usize>,
    pub(crate) pin: Option<PinReason>,
    /// Edits that write each rendering of its item, in their order.
    pub(crate) forms: Vec<Vec<Edit>>,
}

impl Bundle {
    /// Label for people, as in `messages[3..6]: assistant, 2 tool results`. Ranges are without
    /// their end.
    pub fn label(&self) -> String {
        format!("{}: {}", self.path, self.summary)
    }

    /// Summary, as in `assistant, 2 tool results`.
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

    /// Returns true if it is no message but a part of the request that is always there, as `tools`.
    pub fn is_fixed(&self) -> bool {
        self.messages.is_empty()
    }

    /// Role of its first message: system, user, assistant or tool; for items their kind.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Tokens of the bundle.
    pub fn tokens(&self) -> i64 {
        self.tokens
    }

    /// The indices of the messages without which it cannot stand, by the rules of the provider. See
    /// [`Candidates::needs`](crate::Candidates::needs).
    pub fn needs(&self) -> &[usize] {
        &self.needs
    }

    /// Why it is always in, if it is.
    pub fn pin_reason(&self) -> Option<&PinReason> {
        self.pin.as_ref()
    }

    /// Where it differs from the whole in each of its item's [renderings](cupel::ContextItem::renderings).
    pub fn forms(&self) -> &[Vec<Edit>] {
        &self.forms
    }

    pub(crate) fn of_fixed(fixed: &Fixed, tokens: i64) -> Self {
        let (summary, pin) = match fixed.part {
            FixedPart::Instructions => ("system prompt".into(), PinReason::SystemPrompt),
            FixedPart::Tools => {
                let summary =
                    counted(fixed.definitions.len(), "tool definition", "tool definitions");
                (summary, PinReason::ToolDefinitions)
            }
            FixedPart::Other if is_output_format(&fixed.path) => {
                ("output format".into(), PinReason::PartOfRequest)
            }
            FixedPart::Other => ("other text".into(), PinReason::PartOfRequest),
        };
        Self {
            path: fixed.path.clone(),
            summary,
            messages: Vec::new(),
            role: fixed.part.role().into(),
            tokens,
            needs: Vec::new(),
            pin: Some(pin),
            forms: Vec::new(),
        }
    }

    pub(crate) fn of_group(conversation: &Conversation, group: Group, tokens: i64) -> Self {
        let members = || group.messages.iter().map(|at| &conversation.messages[*at]);
        Self {
            path: path(&conversation.list, &group.messages),
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

/// Returns true if a field says how the answer has to look.
fn is_output_format(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    ["format", "schema", "output_config"].iter().any(|name| path.contains(name))
}

fn role(message: &Message) -> Cow<'static, str> {
    match message.item {
        Some(_) => Cow::Owned(message.native_role.to_string()),
        None => Cow::Borrowed(message.role.name()),
    }
}

/// Where messages are in a list, as in `messages[3..6, 8]`.
fn path(list: &str, indices: &[usize]) -> String {
    let mut path = String::with_capacity(list.len() + "[12..34]".len());
    path.push_str(list);
    path.push('[');
    for (at, run) in indices.chunk_by(|index, next| index + 1 == *next).enumerate() {
        path.push_str(if at > 0 { ", " } else { "" });
        let written = match run {
            [index] => write!(path, "{index}"),
            run => write!(path, "{}..{}", run[0], run[0] + run.len()),
        };
        debug_assert!(written.is_ok(), "a text takes whatever is written to it");
    }
    path.push(']');
    path
}

/// `user, 2 assistant messages, 3 tool results`, in the order of first appearance.
fn summary<'m>(messages: impl ExactSizeIterator<Item = &'m Message> + Clone) -> Cow<'static, str> {
    let only = if messages.len() == 1 { messages.clone().next() } else { None };
    if let Some(message) = only.filter(|message| message.answers.is_empty()) {
        return name(message);
    }
    let mut counts: Vec<(Cow<'static, str>, usize)> = Vec::new();
    let mut add = |what: Cow<'static, str>, count: usize| match counts
        .iter_mut()
        .find(|(known, _)| *known == what)
    {
        Some((_, total)) => *total += count,
        None => counts.push((what, count)),
    };
    for message in messages {
        if !message.answers.is_empty() {
            add("tool result".into(), message.answers.len());
        }
        if message.answers.is_empty() || message.role == Role::User && message.has_user_words() {
            add(name(message), 1);
        }
    }
    let text = counts.into_iter().map(|(what, count)| match what.as_ref() {
        "tool result" => counted(count, "tool result", "tool results"),
        _ if count == 1 => what,
        _ => format!("{count} × {what}").into(),
    });
    text.collect::<Vec<_>>().join(", ").into()
}

/// Name of a message, in the words of its format.
fn name(message: &Message) -> Cow<'static, str> {
    let usual = message.role.name();
    if message.native_role == usual {
        return Cow::Borrowed(usual);
    }
    Cow::Owned(message.native_role.replace('_', " "))
}

fn counted(count: usize, one: &'static str, many: &str) -> Cow<'static, str> {
    if count == 1 { one.into() } else { format!("{count} {many}").into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_shown_as_ranges() {
        assert_eq!(path("", &[3]), "[3]");
        assert_eq!(path("messages", &[3, 4, 5, 8]), "messages[3..6, 8]");
    }
}
