//! Which messages stay together, so that any subset of the groups is a valid request.

use crate::conversation::Conversation;
use crate::message::{Bond, Message, Role};
use crate::pairing::Link;

/// Messages that are in or out together.
pub(crate) struct Group {
    /// Ascending.
    pub(crate) messages: Vec<usize>,
    /// The message of the user without which it cannot stand, if that is of another group.
    pub(crate) needs: Option<usize>,
    pub(crate) pin: Option<PinReason>,
}

/// Why something is always in.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PinReason {
    /// It is the system prompt.
    SystemPrompt,
    /// It defines tools.
    ToolDefinitions,
    /// It is another part of the request that is no message, as the schema of the answer.
    PartOfRequest,
    /// It is the last that the user said.
    LastUserTurn,
    /// It is the end of the request, which the model has to go on from.
    EndOfRequest,
    /// What hangs on it cannot be seen in the request.
    Reference,
    /// It says so itself: an MCP priority of 1, or `pinned` on an item.
    Required,
    /// The caller asked for it.
    Asked,
}

impl PinReason {
    /// The reason in a few words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::SystemPrompt => "system prompt",
            Self::ToolDefinitions => "tool definitions",
            Self::PartOfRequest => "part of the request",
            Self::LastUserTurn => "last user turn",
            Self::EndOfRequest => "end of the request",
            Self::Reference => "refers to what is not in the request",
            Self::Required => "marked as required",
            Self::Asked => "pinned by the caller",
        }
    }
}

impl Group {
    pub(crate) fn of(messages: Vec<usize>) -> Self {
        Self { messages, needs: None, pin: None }
    }

    pub(crate) fn pin(&mut self, reason: PinReason) {
        self.pin.get_or_insert(reason);
    }

    /// Adds another group: one is pinned if either was.
    pub(crate) fn take_in(&mut self, other: Self) {
        self.messages.extend(other.messages);
        self.needs = self.needs.filter(|needed| !self.messages.contains(needed));
        self.pin = self.pin.or(other.pin);
    }

    fn holds(&self, message: usize) -> bool {
        self.messages.binary_search(&message).is_ok()
    }
}

/// Each message for itself.
pub(crate) fn singly(conversation: &Conversation) -> Vec<Group> {
    (0..conversation.messages.len()).map(|at| Group::of(vec![at])).collect()
}

/// A call with all its answers, wherever they are; every other message for itself.
pub(crate) fn exchanges(conversation: &Conversation) -> Vec<Group> {
    let pairing = conversation.pairing();
    let mut groups = Vec::new();
    for at in 0..conversation.messages.len() {
        if pairing.links(at).iter().any(|link| matches!(link, Link::Call(_))) {
            continue;
        }
        let mut messages = vec![at];
        messages.extend(pairing.answering(at));
        groups.push(Group::of(ascending(messages)));
    }
    pin_both_ends(conversation, &mut groups);
    groups
}

/// Which turns are taken apart: the user's message, then step by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakenApart {
    /// The last, in which an agent may have gone a long way.
    LastTurn,
    /// All of them. Then a step needs the message that its turn begins with.
    EveryTurn,
}

/// A whole turn, from one message of the user to the next, or what it is taken apart into.
///
/// With `system_apart`, system prompts among the messages are groups of their own; else they belong
/// to the turn that they stand in.
pub(crate) fn turns(
    conversation: &Conversation,
    system_apart: bool,
    apart: TakenApart,
) -> Vec<Group> {
    let messages = &conversation.messages;
    let last_opening = messages.iter().rposition(Message::opens_turn);
    let mut groups: Vec<Group> = Vec::new();
    let mut turn: Option<usize> = None;
    let mut opening: Option<usize> = None;
    let mut before = Role::System;
    for (at, message) in messages.iter().enumerate() {
        if message.role == Role::System && (system_apart || turn.is_none()) {
            groups.push(Group::of(vec![at]));
            continue;
        }
        let in_last_turn = last_opening.is_some_and(|opening| at > opening);
        let is_apart = in_last_turn || apart == TakenApart::EveryTurn && opening.is_some();
        let begins = match turn {
            None => true,
            Some(_) if message.opens_turn() => true,
            Some(group) if is_apart => {
                // A system prompt must be followed by the assistant, unless it is the last.
                let is_led_in = apart == TakenApart::EveryTurn && before == Role::System;
                message.role == Role::Assistant
                    && before != Role::Assistant
                    && !is_led_in
                    && !continues_reasoning(conversation, &groups[group], at)
            }
            Some(_) => false,
        };
        before = message.role;
        match turn {
            Some(group) if !begins => groups[group].messages.push(at),
            _ => {
                turn = Some(groups.len());
                if message.opens_turn() {
                    opening = Some(at);
                }
                let needs = opening.filter(|opening| *opening != at);
                groups.push(Group { needs, ..Group::of(vec![at]) });
            }
        }
    }
    pin_both_ends(conversation, &mut groups);
    groups
}

/// Whether a step without reasoning goes on from one that began with it: then it cannot stand
/// without that one, since the first step that is kept must begin with its reasoning.
fn continues_reasoning(conversation: &Conversation, group: &Group, at: usize) -> bool {
    let reasons = |message: usize| conversation.messages[message].bond == Bond::Reasoning;
    !reasons(at) && group.messages.first().is_some_and(|first| reasons(*first))
}

/// Pins system prompts and what else must stay, the last that the user said, and the end of the
/// request.
pub(crate) fn pin_both_ends(conversation: &Conversation, groups: &mut [Group]) {
    let messages = &conversation.messages;
    for group in &mut *groups {
        if let Some(reason) = group.messages.iter().find_map(|at| messages[*at].stays) {
            group.pin(reason);
        }
        if group.messages.iter().any(|at| messages[*at].role == Role::System) {
            group.pin(PinReason::SystemPrompt);
        }
    }
    let opening = messages.iter().rposition(Message::opens_turn);
    let words = messages.iter().rposition(Message::has_user_words);
    for at in opening.into_iter().chain(words) {
        if let Some(group) = groups.iter_mut().find(|group| group.holds(at)) {
            group.pin(PinReason::LastUserTurn);
        }
    }
    let end = messages.len().checked_sub(1);
    if let Some(group) = end.and_then(|at| groups.iter_mut().find(|group| group.holds(at))) {
        group.pin(PinReason::EndOfRequest);
    }
}

/// Sorts and drops duplicates.
pub(crate) fn ascending(mut messages: Vec<usize>) -> Vec<usize> {
    messages.sort_unstable();
    messages.dedup();
    messages
}
