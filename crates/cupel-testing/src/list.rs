//! Lists for messages: each entry once, in alphabetical order.

use std::collections::BTreeMap;

use cupel::{ContextKind, ExcludedItem};

/// Number of items a message spells out before it only counts the rest.
const SHOWN_ITEMS: usize = 5;

/// The different kinds, without regard to case, in the spelling of the first item that has each.
pub(crate) fn kinds<'a>(kinds: impl Iterator<Item = &'a ContextKind>) -> Vec<&'a str> {
    let mut spellings: BTreeMap<String, &str> = BTreeMap::new();
    for kind in kinds {
        spellings.entry(kind.as_str().to_ascii_lowercase()).or_insert(kind.as_str());
    }
    spellings.into_values().collect()
}

/// The names of the different reasons.
pub(crate) fn reasons<'a>(excluded: impl Iterator<Item = &'a ExcludedItem>) -> String {
    let mut names: Vec<&str> = excluded.map(|excluded| excluded.reason.name()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

/// The first few of a list of items, and how many more there are.
pub(crate) fn first_few<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    let mut shown: Vec<String> = items.iter().take(SHOWN_ITEMS).map(show).collect();
    if items.len() > SHOWN_ITEMS {
        shown.push(format!("and {} more", items.len() - SHOWN_ITEMS));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_kind_are_one_entry_as_first_spelled() {
        let all = ["tool", "Zebra", "Tool", "apple", "ZEBRA"].map(|k| ContextKind::new(k).unwrap());
        assert_eq!(kinds(all.iter()), ["apple", "tool", "Zebra"]);
    }

    #[test]
    fn after_five_items_the_rest_is_counted() {
        let show = |n: &i32| n.to_string();
        assert_eq!(first_few(&[1, 2, 3, 4, 5], show), "1, 2, 3, 4, 5");
        assert_eq!(first_few(&[1, 2, 3, 4, 5, 6, 7], show), "1, 2, 3, 4, 5, and 2 more");
        assert_eq!(first_few(&[], show), "");
    }
}
