//! Lists of items: expected by text or by position, answered by position.

use super::{Mismatch, check_equal};
use crate::protocol::Item;
use crate::vector::ExpectedItems;

/// Significance of the order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Counts,
    IsFree,
}

pub(super) fn check_items(
    what: &str,
    expected: &ExpectedItems,
    actual: &[usize],
    items: &[Item],
    order: Order,
    found: &mut Vec<Mismatch>,
) {
    if let Some(contents) = &expected.contents {
        let contents: Vec<String> = contents.iter().map(|content| format!("{content:?}")).collect();
        let actual = actual.iter().map(|&index| shown(index, items)).collect();
        let (contents, actual) = (arranged(contents, order), arranged(actual, order));
        if contents != actual {
            found.push(Mismatch::new(what, contents.join(", "), actual.join(", ")));
        }
    }
    if let Some(indices) = &expected.indices {
        let (expected, actual) = (indices.clone(), actual.to_vec());
        let (expected, actual) = (arranged(expected, order), arranged(actual, order));
        check_equal(&format!("{what}, by position"), &expected, &actual, found);
    }
}

/// The text of an item in quotes, or a position that no item has.
pub(super) fn shown(index: usize, items: &[Item]) -> String {
    items.get(index).map_or_else(
        || format!("position {index}, which does not exist"),
        |item| format!("{:?}", item.content),
    )
}

fn arranged<T: Ord>(mut list: Vec<T>, order: Order) -> Vec<T> {
    if order == Order::IsFree {
        list.sort();
    }
    list
}
