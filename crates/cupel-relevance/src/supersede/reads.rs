//! The same file read again.

use std::collections::HashMap;

use cupel::{ContextItem, ContextKind};

use super::{Found, Reason};
use crate::grouping::tag_value;

/// Lines from one number to another, both included; all lines if absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lines(Option<(u64, u64)>);

impl Lines {
    /// From `10-40` or `10`. What cannot be read is no read of lines at all.
    fn of(item: &ContextItem) -> Option<Self> {
        let Some(text) = tag_value(item, "lines") else { return Some(Self(None)) };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some(Self(Some((first.trim().parse().ok()?, last.trim().parse().ok()?))))
    }

    fn contain(self, other: Self) -> bool {
        match (self.0, other.0) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some((first, last)), Some((from, to))) => first <= from && to <= last,
        }
    }
}

/// Number of newer reads of a file a read is compared with.
const MOST: usize = 64;

pub(super) fn find(found: &mut Found<'_>) {
    let mut newer_reads: HashMap<(&str, &str), Vec<(usize, Lines)>> = HashMap::new();
    for position in found.current() {
        let item = &found.items[position];
        if *item.kind() != ContextKind::tool_output() {
            continue;
        }
        let (Some(path), Some(lines)) = (tag_value(item, "path"), Lines::of(item)) else {
            continue;
        };
        let tool = tag_value(item, "tool").unwrap_or_default();
        let newer = newer_reads.entry((tool, path)).or_default();
        match newer.iter().take(MOST).find(|(_, newer)| newer.contain(lines)) {
            Some((newer, _)) => {
                found.note(position, *newer, Reason::ReadAgain { path: path.to_owned() });
            }
            None => newer.push((position, lines)),
        }
    }
}
