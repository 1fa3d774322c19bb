//! The same call made again.

use std::borrow::Cow;
use std::collections::HashMap;

use cupel::{ContextItem, ContextKind, Part, PartKind};

use super::{Found, Reason};
use crate::parts::parts_of;

/// A call, whoever made it and whenever.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Call<'i> {
    tool: &'i str,
    arguments: &'i str,
}

impl<'i> Call<'i> {
    /// The call that a part of an item is, with its id.
    fn of<'p>(item: &'i ContextItem, part: &'p Part) -> Option<(&'p str, Self)> {
        let PartKind::Called { tool, id, arguments } = &part.kind else { return None };
        let text = |range: &std::ops::Range<usize>| item.content().get(range.clone());
        let (tool, arguments) = (text(tool)?, text(arguments)?.trim_end());
        Some((id, Self { tool, arguments }))
    }
}

pub(super) fn find(found: &mut Found<'_>) {
    let items = found.items;
    let parts: Vec<Cow<'_, [Part]>> = items.iter().map(parts_of).collect();
    // Where call and result are items apart, they share an id.
    let mut asked: HashMap<&str, Call<'_>> = HashMap::new();
    for (item, parts) in items.iter().zip(&parts) {
        for (id, call) in parts.iter().filter_map(|part| Call::of(item, part)) {
            asked.entry(id).or_insert(call);
        }
    }
    asked.remove("");
    // For each call the newest item with its result.
    let mut newest: HashMap<Call<'_>, usize> = HashMap::new();
    for position in found.current() {
        let item = &items[position];
        if *item.kind() != ContextKind::tool_output() {
            continue;
        }
        let calls = calls_of(item, &parts[position], &asked);
        let repeated: Option<Vec<usize>> =
            calls.iter().map(|call| newest.get(call).copied()).collect();
        // Where several results replace this one, that of its first call stands for them.
        if let Some(newer) = repeated.and_then(|newer| newer.first().copied()) {
            let tool = calls[0].tool.to_owned();
            found.note(position, newer, Reason::CalledAgain { tool });
        }
        for call in calls {
            newest.entry(call).or_insert(position);
        }
    }
}

/// The calls whose results an item has: its own, or else those that its results name.
fn calls_of<'i>(
    item: &'i ContextItem,
    parts: &[Part],
    asked: &HashMap<&str, Call<'i>>,
) -> Vec<Call<'i>> {
    let own: Vec<Call<'i>> =
        parts.iter().filter_map(|part| Call::of(item, part)).map(|(_, call)| call).collect();
    if !own.is_empty() {
        return own;
    }
    let named = parts.iter().filter_map(|part| match &part.kind {
        PartKind::Returned { call, .. } => asked.get(&**call).copied(),
        _ => None,
    });
    named.collect()
}
