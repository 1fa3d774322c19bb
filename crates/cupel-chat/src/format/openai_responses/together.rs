//! Items that the model put out in one go, and their answers.

use crate::conversation::Conversation;
use crate::grouping::{Group, PinReason, ascending, pin_both_ends};
use crate::message::{Bond, Message, Role};
use crate::pairing::{Link, Pairing};
use crate::validate::{Finding, Fix};

/// Runs of output, each with the outputs of all its calls.
pub(super) fn group(conversation: &Conversation) -> Vec<Group> {
    let pairing = conversation.pairing();
    let mut groups = outputs_in_one_go(conversation, pairing);
    for group in &mut groups {
        let answers = group.messages.clone();
        group.messages.extend(answers.iter().flat_map(|at| pairing.answering(*at)));
        group.messages = ascending(std::mem::take(&mut group.messages));
        let hangs_elsewhere = |at: &usize| {
            conversation.messages[*at].bond == Bond::Reference
                || pairing.links(*at).contains(&Link::Nothing)
        };
        if group.messages.iter().any(hangs_elsewhere) {
            group.pin(PinReason::Reference);
        }
    }
    pin_both_ends(conversation, &mut groups);
    groups
}

/// Runs of what the model put out, cut before each piece of reasoning. Without reasoning, messages
/// and calls of the service stand alone, and calls stay with each other and with the message that
/// leads to them.
fn outputs_in_one_go(conversation: &Conversation, pairing: &Pairing) -> Vec<Group> {
    let messages = &conversation.messages;
    let mut groups: Vec<Group> = Vec::new();
    // The group that the model is still adding to.
    let mut open: Option<usize> = None;
    for (at, message) in messages.iter().enumerate() {
        if pairing.links(at).iter().any(|link| matches!(link, Link::Call(_))) {
            open = None;
            continue;
        }
        if message.role != Role::Assistant {
            open = None;
            groups.push(Group::of(vec![at]));
            continue;
        }
        match open {
            Some(group) if joins(messages, &groups[group], message) => {
                groups[group].messages.push(at);
            }
            _ => {
                open = Some(groups.len());
                groups.push(Group::of(vec![at]));
            }
        }
    }
    groups
}

/// Returns true if a piece of output belongs to the group that is open.
fn joins(messages: &[Message], group: &Group, message: &Message) -> bool {
    let reasons = |message: &Message| message.bond == Bond::Reasoning;
    let mut members = group.messages.iter().map(|at| &messages[*at]);
    if reasons(message) {
        return members.all(reasons);
    }
    let mut members = members.peekable();
    if members.peek().is_some_and(|first| reasons(first)) {
        return true;
    }
    !message.calls.is_empty() && members.all(|member| member.bond == Bond::None)
}

/// Every call has its output. A call without goes with all that the model put out with it: what is
/// left of that would not be what its reasoning led to.
pub(super) fn check_pairs(conversation: &Conversation, findings: &mut Vec<Finding>) {
    let pairing = conversation.pairing();
    let first = findings.len();
    pairing.check(conversation, false, findings);
    if findings.len() == first {
        return;
    }
    let groups = outputs_in_one_go(conversation, pairing);
    for finding in &mut findings[first..] {
        let Fix::Drop(at) = finding.fix else { continue };
        let behind = groups.partition_point(|group| group.messages[0] <= at);
        let group = behind.checked_sub(1).map(|group| &groups[group].messages);
        if let Some(group) = group.filter(|group| group.len() > 1 && group.contains(&at)) {
            finding.fix = Fix::DropAll(group.clone());
        }
    }
}

/// Reasoning must be followed by what it led to.
pub(super) fn check_reasoning(conversation: &Conversation, findings: &mut Vec<Finding>) {
    let messages = &conversation.messages;
    for (at, message) in messages.iter().enumerate() {
        let is_followed = messages.get(at + 1).is_some_and(|next| next.role == Role::Assistant);
        if message.bond != Bond::Reasoning || is_followed {
            continue;
        }
        let finding = Finding::new(
            conversation.path(at),
            "reasoning-without-follower",
            "the reasoning is not followed by what it led to",
            "put the message or call that followed it back, or remove it",
        );
        findings.push(finding.fixed_by(Fix::Drop(at)));
    }
}
