//! The same call made again.

use std::collections::HashMap;

use cupel::{ContextItem, ContextKind};

use super::{Found, Reason};
use crate::grouping::tag_value;

pub(super) fn find(found: &mut Found<'_>) {
    let asked = asked_by_call(found.items);
    // For each call the newest item with its result.
    let mut newest: HashMap<&str, usize> = HashMap::new();
    for position in found.current() {
        let item = &found.items[position];
        if *item.kind() != ContextKind::tool_output() {
            continue;
        }
        let calls = calls_of(item, &asked);
        let repeated: Option<Vec<usize>> =
            calls.iter().map(|call| newest.get(call).copied()).collect();
        // Where several results replace this one, that of its first call stands for them.
        if let Some(newer) = repeated.and_then(|newer| newer.first().copied()) {
            let tool = tag_value(item, "tool").unwrap_or_default().to_owned();
            found.note(position, newer, Reason::CalledAgain { tool });
        }
        for call in calls {
            newest.entry(call).or_insert(position);
        }
    }
}

/// For each call id the text of the item that made the call, where call and result are items apart.
fn asked_by_call(items: &[ContextItem]) -> HashMap<&str, &ContextItem> {
    let mut asked = HashMap::new();
    for item in items {
        if *item.kind() != ContextKind::tool_output() {
            for call in values(item, "call") {
                asked.entry(call).or_insert(item);
            }
        }
    }
    asked
}

/// The calls whose results an item has: `name arguments` each.
fn calls_of<'i>(item: &'i ContextItem, asked: &HashMap<&'i str, &'i ContextItem>) -> Vec<&'i str> {
    let own = calls_in(item);
    if !own.is_empty() {
        return own;
    }
    let askers = values(item, "call").filter_map(|call| asked.get(call));
    askers.flat_map(|asker| calls_in(asker)).collect()
}

/// The calls that stand in an item's text, each on a line of its own, of the tools of its tags.
fn calls_in(item: &ContextItem) -> Vec<&str> {
    let text = item.content();
    let tools: Vec<&str> = values(item, "tool").collect();
    let mut calls = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let is_call =
            |tool: &&&str| line.strip_prefix(**tool).is_some_and(|rest| rest.starts_with(' '));
        if let Some(tool) = tools.iter().find(is_call) {
            calls.push(&text[start..start + call_length(&text[start..], tool.len() + 1)]);
        }
        start += line.len();
    }
    calls
}

/// How long a call is whose arguments begin at `arguments`: to the end of the object that they are,
/// or else of the line.
fn call_length(text: &str, arguments: usize) -> usize {
    let end_of_line = text.find('\n').unwrap_or(text.len());
    if !text[arguments..].starts_with('{') {
        return text[..end_of_line].trim_end().len();
    }
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate().skip(arguments) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => depth += 1,
            b'}' if !in_text => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text[..end_of_line].trim_end().len()
}

/// The values of all tags of a name.
fn values<'i>(item: &'i ContextItem, name: &'static str) -> impl Iterator<Item = &'i str> {
    item.tags().iter().filter_map(move |tag| tag.strip_prefix(name)?.strip_prefix(':'))
}
