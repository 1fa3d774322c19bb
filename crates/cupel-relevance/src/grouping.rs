//! Which items belong together, and in which order they came.

use std::collections::HashMap;

use chrono::TimeDelta;
use cupel::ContextItem;
use foldhash::fast::RandomState;

/// Which items belong together.
///
/// # Example
///
/// ```
/// use cupel_relevance::Grouping;
///
/// let by_session = Grouping::tag("session");    // by the value of a tag `session:…`
/// let by_pause = Grouping::Gap(chrono::TimeDelta::hours(2));
/// # let _ = (by_session, by_pause);
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grouping {
    /// All of them.
    Whole,
    /// Those with the same value of a tag `name:value`; the first such tag of an item counts.
    Tag(String),
    /// Those between which no more time passes than this. Items without a time belong to the one
    /// before them.
    Gap(TimeDelta),
    /// By a tag, or by time where no item has that tag.
    TagOrGap(String, TimeDelta),
}

/// The groups of a list. Each group's items are in the order in which they came.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Positions in the list, group by group.
    members: Vec<u32>,
    /// Where each group ends in `members`.
    ends: Vec<usize>,
}

impl Groups {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.members[start..*end])
    }
}

impl Grouping {
    /// By a tag of this name.
    pub fn tag(name: impl Into<String>) -> Self {
        Self::Tag(name.into())
    }

    /// The groups of a list. Items without the tag are a group too.
    pub(crate) fn groups(&self, items: &[ContextItem]) -> Groups {
        let order = in_time(items);
        match self {
            Self::Whole => Groups { ends: vec![order.len()], members: order },
            Self::Tag(name) => by_number(&order, &tag_numbers(items, name)),
            Self::Gap(longest) => by_gap(items, order, *longest),
            Self::TagOrGap(name, longest) => {
                let numbers = tag_numbers(items, name);
                if numbers.iter().any(Option::is_some) {
                    by_number(&order, &numbers)
                } else {
                    by_gap(items, order, *longest)
                }
            }
        }
    }

    /// For each item the number of its group, counted in no particular order; `None` for items
    /// without the tag.
    pub(crate) fn numbers(&self, items: &[ContextItem]) -> Vec<Option<u32>> {
        if let Self::Tag(name) | Self::TagOrGap(name, _) = self {
            let numbers = tag_numbers(items, name);
            if matches!(self, Self::Tag(_)) || numbers.iter().any(Option::is_some) {
                return numbers;
            }
        }
        let mut numbers = vec![None; items.len()];
        for (group, number) in self.groups(items).iter().zip(0_u32..) {
            for member in group {
                numbers[*member as usize] = Some(number);
            }
        }
        numbers
    }
}

/// Positions in the order in which the items came: by time if all of them have one, else as listed.
pub(crate) fn in_time(items: &[ContextItem]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..items.len() as u32).collect();
    let times: Option<Vec<_>> = items.iter().map(ContextItem::timestamp).collect();
    if let Some(times) = times {
        if !times.is_sorted() {
            order.sort_by_key(|at| times[*at as usize]);
        }
    }
    order
}

/// The value of the item's first tag `name:value`.
pub(crate) fn tag_value<'i>(item: &'i ContextItem, name: &str) -> Option<&'i str> {
    item.tags().iter().find_map(|tag| tag.strip_prefix(name)?.strip_prefix(':'))
}

fn tag_numbers(items: &[ContextItem], name: &str) -> Vec<Option<u32>> {
    let mut known: HashMap<&str, u32, RandomState> = HashMap::default();
    let mut previous: Option<(&str, u32)> = None;
    let mut number_of = |value| match previous {
        // Members of a group mostly stand side by side.
        Some((same, number)) if same == value => number,
        _ => {
            let next = known.len() as u32;
            let number = *known.entry(value).or_insert(next);
            previous = Some((value, number));
            number
        }
    };
    items.iter().map(|item| tag_value(item, name).map(&mut number_of)).collect()
}

fn by_number(order: &[u32], numbers: &[Option<u32>]) -> Groups {
    let group_of = |at: u32| numbers[at as usize].map_or(0, |number| number as usize + 1);
    let count = numbers.iter().flatten().max().map_or(0, |most| *most as usize + 1) + 1;
    let mut ends = vec![0; count];
    for at in order {
        ends[group_of(*at)] += 1;
    }
    let mut total = 0;
    let mut next: Vec<usize> = Vec::with_capacity(count);
    for end in &mut ends {
        next.push(total);
        total += *end;
        *end = total;
    }
    let mut members = vec![0; order.len()];
    for at in order {
        let slot = &mut next[group_of(*at)];
        members[*slot] = *at;
        *slot += 1;
    }
    Groups { members, ends }
}

fn by_gap(items: &[ContextItem], order: Vec<u32>, longest: TimeDelta) -> Groups {
    let mut ends = Vec::new();
    let mut previous = None;
    for (index, at) in order.iter().enumerate() {
        let Some(time) = items[*at as usize].timestamp() else { continue };
        if previous.is_some_and(|previous| time - previous > longest) {
            ends.push(index);
        }
        previous = Some(time);
    }
    ends.push(order.len());
    Groups { members: order, ends }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_minute, build, item};

    fn groups(grouping: &Grouping, items: &[ContextItem]) -> Vec<Vec<u32>> {
        grouping.groups(items).iter().map(<[u32]>::to_vec).filter(|g| !g.is_empty()).collect()
    }

    #[test]
    fn a_list_whose_items_all_have_a_time_is_in_time() {
        let items = build([3, 1, 2].map(|minute| item("x").timestamp(at_minute(minute))));
        assert_eq!(groups(&Grouping::Whole, &items), [[1, 2, 0]]);
    }

    #[test]
    fn a_list_with_an_item_without_time_is_as_listed() {
        let items = build([item("x").timestamp(at_minute(3)), item("x"), item("x")]);
        assert_eq!(groups(&Grouping::Whole, &items), [[0, 1, 2]]);
    }

    #[test]
    fn equal_times_keep_the_order_of_the_list() {
        let items = build([5, 1, 5, 1].map(|minute| item("x").timestamp(at_minute(minute))));
        assert_eq!(groups(&Grouping::Whole, &items), [[1, 3, 0, 2]]);
    }

    #[test]
    fn tags_group_and_items_without_the_tag_are_a_group_too() {
        let tagged = |tag: &str| item("x").tags(vec!["topic:a".into(), tag.into()]);
        let items = build([tagged("s:1"), tagged("s:2"), item("x"), tagged("s:1"), tagged("sx:1")]);
        let by_tag = Grouping::tag("s");
        assert_eq!(groups(&by_tag, &items), [vec![2, 4], vec![0, 3], vec![1]]);
        assert_eq!(by_tag.numbers(&items), [Some(0), Some(1), None, Some(0), None]);
    }

    #[test]
    fn a_pause_longer_than_the_gap_begins_a_group() {
        let items = build([0, 10, 21, 22].map(|minute| item("x").timestamp(at_minute(minute))));
        let gap = Grouping::Gap(TimeDelta::minutes(10));
        assert_eq!(groups(&gap, &items), [vec![0, 1], vec![2, 3]]);
        assert_eq!(gap.numbers(&items), [Some(0), Some(0), Some(1), Some(1)]);
    }

    #[test]
    fn time_stands_in_where_no_item_has_the_tag() {
        let either = Grouping::TagOrGap("s".into(), TimeDelta::minutes(10));
        let at = |minute| item("x").timestamp(at_minute(minute));
        assert_eq!(groups(&either, &build([at(0), at(20)])), [[0], [1]]);
        assert_eq!(either.numbers(&build([at(0), at(20)])), [Some(0), Some(1)]);
        let items = build([at(0).tags(vec!["s:1".into()]), at(20)]);
        assert_eq!(groups(&either, &items), [[1], [0]]);
        assert_eq!(either.numbers(&items), [Some(0), None]);
    }

    #[test]
    fn an_empty_list_has_no_members() {
        for grouping in [Grouping::Whole, Grouping::tag("s"), Grouping::Gap(TimeDelta::zero())] {
            assert!(groups(&grouping, &[]).is_empty());
            assert!(grouping.numbers(&[]).is_empty());
        }
    }
}
