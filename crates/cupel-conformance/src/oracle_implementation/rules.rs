//! Validation rules of items, budgets and policies.

use super::{Checked, scorer, slicer};
use crate::protocol::{Budget, ErrorAnswer, Item, Policy};

pub(super) fn items(items: &[Item]) -> Checked {
    items.iter().try_for_each(item)
}

fn item(item: &Item) -> Checked {
    if item.content.is_empty() {
        return Err(ErrorAnswer::new("empty_content", "an item has no text"));
    }
    if item.source.as_ref().is_some_and(|source| source.trim().is_empty()) {
        return Err(ErrorAnswer::new("empty_source", "a source is blank"));
    }
    kind(item.kind())
}

pub(super) fn kind(kind: &str) -> Checked {
    if kind.trim().is_empty() {
        return Err(ErrorAnswer::new("empty_kind", "a kind is blank"));
    }
    Ok(())
}

pub(super) fn budget(budget: &Budget) -> Checked {
    let Budget { max_tokens, target_tokens, .. } = *budget;
    let output_reserve = budget.output_reserve();
    let rules = [
        (max_tokens >= 0, "max_tokens is negative"),
        (target_tokens >= 0, "target_tokens is negative"),
        (target_tokens <= max_tokens, "target_tokens exceed max_tokens"),
        (output_reserve >= 0, "output_reserve is negative"),
        (output_reserve <= max_tokens, "output_reserve exceeds max_tokens"),
        (
            (0.0..=100.0).contains(&budget.safety_margin_percent()),
            "the safety margin is not a percentage",
        ),
        (budget.reserved_slots.values().all(|&tokens| tokens >= 0), "a reserved slot is negative"),
    ];
    if let Some((_, text)) = rules.iter().find(|(holds, _)| !holds) {
        return Err(ErrorAnswer::new("invalid_budget", *text));
    }
    budget.reserved_slots.keys().try_for_each(|name| kind(name))
}

pub(super) fn policy(policy: &Policy) -> Checked {
    scorer::check(&policy.scorer)?;
    slicer::check(&policy.slicer)
}
