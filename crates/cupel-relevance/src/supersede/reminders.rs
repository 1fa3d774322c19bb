//! System messages among the others: agents send the same reminder after every step.

use std::collections::HashMap;

use cupel::{ContextItem, PartKind, Speaker};

use super::{Found, Reason};
use crate::parts::parts_of;

/// Words that tell the kind of a reminder. Reminders of one kind begin alike and differ in what they list;
/// eight words are more than the tag and the greeting that different kinds share.
const TELLING_WORDS: usize = 8;

pub(super) fn find(found: &mut Found<'_>) {
    let items = found.items;
    let mut newest: HashMap<String, usize> = HashMap::new();
    for position in found.current() {
        if !is_reminder(&items[position]) {
            continue;
        }
        let newer = *newest.entry(kind(items[position].content())).or_insert(position);
        found.note(position, newer, Reason::RemindedAgain);
    }
}

/// Returns true if the system says all of it. The system prompt is pinned, and never outdated.
fn is_reminder(item: &ContextItem) -> bool {
    let by_system =
        |kind: &PartKind| matches!(kind, PartKind::Said { by } if *by == Speaker::System);
    let parts = parts_of(item);
    !parts.is_empty() && parts.iter().all(|part| by_system(&part.kind))
}

fn kind(text: &str) -> String {
    let words = text.split_whitespace().take(TELLING_WORDS);
    let words = words.flat_map(|word| word.chars().chain([' ']));
    words.filter(|letter| !letter.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use cupel::{ContextItem, ContextItemBuilder, Part, PartKind, Speaker};

    use crate::supersede::{Reason, Supersession};

    fn said(by: Speaker, text: &str) -> ContextItem {
        let parts = vec![Part { range: 0..text.len(), kind: PartKind::Said { by } }];
        ContextItemBuilder::new(text, 5).parts(parts).build().unwrap()
    }

    #[test]
    fn a_reminder_is_outdated_by_a_newer_one_of_its_kind() {
        let tasks = |left: &str| {
            format!("<system-reminder> 3 of the task tools haven't been used recently: {left}")
        };
        let items = [
            said(Speaker::System, &tasks("a, b")),
            said(Speaker::System, "The file a.rs was changed by the user or a linter"),
            said(Speaker::User, &tasks("a")),
            said(Speaker::System, "The file b.rs was changed by the user or a linter"),
            said(Speaker::System, &tasks("c").replace('3', "12")),
        ];
        let found = Supersession::reminders().find(&items);
        let pairs: Vec<_> = found.iter().map(|found| (found.older, found.newer)).collect();
        assert_eq!(pairs, [(0, 4)]);
        assert_eq!(found[0].why, Reason::RemindedAgain);
    }
}
