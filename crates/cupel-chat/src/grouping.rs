//! Which messages stay together, so that any subset of the groups is a valid request.

use std::borrow::Cow;

use cupel_names::{excerpt, letters};

use crate::conversation::Conversation;
use crate::message::{Bond, Message, Role};
use crate::pairing::Link;
use crate::rule::Rule;

/// Messages that are in or out together.
pub(crate) struct Group {
    /// Ascending.
    pub(crate) messages: Vec<usize>,
    /// The messages of other groups without which it cannot stand.
    pub(crate) needs: Vec<usize>,
    pub(crate) pin: Option<PinReason>,
}

/// So many letters of a rule tell which one it is.
const LONGEST_RULE: usize = 40;

/// Why something is always in.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    /// The messages that depend on it cannot be seen in the request.
    Reference,
    /// Something that is always in cannot stand without it.
    Needed,
    /// It says so itself: an MCP priority of 1, `"cupel": {"rule": true}`, or `pinned` on an item.
    Required,
    /// It states a standing rule that the caller named.
    Rule(Rule),
    /// The caller asked for it.
    Asked,
}

impl PinReason {
    /// The reason in a few words.
    #[must_use]
    pub fn text(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::SystemPrompt => "system prompt",
            Self::ToolDefinitions => "tool definitions",
            Self::PartOfRequest => "part of the request",
            Self::LastUserTurn => "last user turn",
            Self::EndOfRequest => "end of the request",
            Self::Reference => "refers to what is not in the request",
            Self::Needed => "needed by what is pinned",
            Self::Required => "marked as required",
            Self::Rule(rule) => {
                let begin = excerpt(rule.as_str(), LONGEST_RULE, letters);
                return Cow::Owned(format!("states a rule: `{begin}`"));
            }
            Self::Asked => "pinned by the caller",
        })
    }
}

impl Group {
    pub(crate) fn of(messages: Vec<usize>) -> Self {
        Self { messages, needs: Vec::new(), pin: None }
    }

    pub(crate) fn pin(&mut self, reason: PinReason) {
        self.pin.get_or_insert(reason);
    }

    /// Adds another group: one is pinned if either was.
    pub(crate) fn take_in(&mut self, other: Self) {
        self.messages.extend(other.messages);
        self.needs.extend(other.needs);
        self.needs.retain(|needed| !self.messages.contains(needed));
        self.pin = self.pin.take().or(other.pin);
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
    /// All of them. Then a step needs the message that its turn begins with.
    EveryTurn,
    /// The last alone, in which an agent may have gone a long way.
    LastTurn,
}

/// The user's message that opens a turn, and each step behind it: what the assistant says, with the
/// results that follow. Or the whole turn, where it is not taken apart.
///
/// A step needs the message that opens its turn. Without it, the step could be the first of the request,
/// or follow what the assistant said at the end of an earlier turn. In the last turn the first step that
/// is kept must begin with reasoning, if there is any: a step without needs the step before it that has.
///
/// A system message in a turn is a group of its own: a newer one may make it superfluous. With
/// `system_apart` it may stand anywhere. Else the provider wants the user before it and the
/// assistant or the end behind it: it needs the message before it and, if its turn is not the
/// last, the step that its turn ends with.
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
    let mut reasoning: Option<usize> = None;
    let mut before = Role::System;
    // The groups of system messages in the turn that is read.
    let mut systems: Vec<usize> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let in_last_turn = last_opening.is_some_and(|opening| at > opening);
        let is_apart = in_last_turn || apart == TakenApart::EveryTurn && opening.is_some();
        if message.role == Role::System && (system_apart || turn.is_none() || is_apart) {
            let mut group = Group::of(vec![at]);
            if !system_apart && turn.is_some() {
                group.needs.push(at - 1);
                systems.push(groups.len());
                before = Role::System;
            }
            groups.push(group);
            continue;
        }
        let is_step = message.role == Role::Assistant && before != Role::Assistant;
        let begins = turn.is_none() || message.opens_turn() || is_apart && is_step;
        before = message.role;
        match turn {
            Some(group) if !begins => groups[group].messages.push(at),
            _ => {
                if message.opens_turn() {
                    if let Some(end) = turn.and_then(|turn| groups[turn].messages.first().copied())
                    {
                        for system in systems.drain(..).filter(|_| opening < Some(end)) {
                            groups[system].needs.push(end);
                        }
                    }
                    (opening, reasoning) = (Some(at), None);
                }
                turn = Some(groups.len());
                if message.bond == Bond::Reasoning {
                    reasoning = Some(at);
                }
                let needs = reasoning.filter(|at| in_last_turn && Some(*at) > opening);
                let needs = needs.filter(|needed| *needed != at).or(opening);
                let needs = needs.filter(|needed| *needed != at);
                groups.push(Group { needs: Vec::from_iter(needs), ..Group::of(vec![at]) });
            }
        }
    }
    pin_both_ends(conversation, &mut groups);
    groups
}

/// Pins what pinned groups need.
pub(crate) fn pin_needed(groups: &mut [Group]) {
    // What is needed may need more.
    loop {
        let needed = groups.iter().filter(|group| group.pin.is_some());
        let needed: Vec<usize> = needed.flat_map(|group| group.needs.iter().copied()).collect();
        let is_lacking =
            |group: &&mut Group| group.pin.is_none() && needed.iter().any(|at| group.holds(*at));
        let lacking: Vec<&mut Group> = groups.iter_mut().filter(is_lacking).collect();
        if lacking.is_empty() {
            return;
        }
        for group in lacking {
            group.pin(PinReason::Needed);
        }
    }
}

/// Pins system prompts at the beginning and what else must stay, the last that the user said, and the
/// end of the request. A system message among the others is a part of its turn: agents send a reminder
/// after every step.
pub(crate) fn pin_both_ends(conversation: &Conversation, groups: &mut [Group]) {
    let messages = &conversation.messages;
    let begins_at = messages.iter().position(|message| message.role != Role::System);
    let is_prompt =
        |at: usize| messages[at].role == Role::System && begins_at.is_none_or(|begins| at < begins);
    for group in &mut *groups {
        if let Some(reason) = group.messages.iter().find_map(|at| messages[*at].stays.clone()) {
            group.pin(reason);
        }
        if group.messages.iter().any(|at| is_prompt(*at)) {
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
