//! Items, budgets and policies, by the rules of their construction.

use std::collections::BTreeMap;

use super::{scorer, slicer};
use crate::oracle;
use crate::protocol::{Budget, ErrorAnswer, Item, OverflowStrategy, Placer, Policy};

type Result<T> = std::result::Result<T, ErrorAnswer>;

pub(super) fn items(items: &[Item]) -> Result<Vec<oracle::Item>> {
    items.iter().map(item).collect()
}

fn item(item: &Item) -> Result<oracle::Item> {
    if item.content.is_empty() {
        return Err(ErrorAnswer::new("empty_content", "an item has no text"));
    }
    if item.source.as_ref().is_some_and(|source| source.trim().is_empty()) {
        return Err(ErrorAnswer::new("empty_source", "a source is blank"));
    }
    let plain = oracle::Item::new(&item.content, item.tokens);
    Ok(oracle::Item {
        kind: item.kind.as_deref().map(kind).transpose()?.unwrap_or(plain.kind),
        source: item.source.clone().unwrap_or(plain.source),
        priority: item.priority,
        tags: item.tags.clone(),
        metadata: item.metadata.clone(),
        timestamp: item.timestamp,
        future_relevance_hint: item.future_relevance_hint,
        pinned: item.pinned.unwrap_or(false),
        original_tokens: item.original_tokens,
        ..plain
    })
}

pub(super) fn kind(kind: &str) -> Result<String> {
    if kind.trim().is_empty() {
        return Err(ErrorAnswer::new("empty_kind", "a kind is blank"));
    }
    Ok(kind.to_owned())
}

pub(super) fn budget(budget: &Budget) -> Result<oracle::Budget> {
    let Budget { max_tokens, target_tokens, .. } = *budget;
    let output_reserve = budget.output_reserve.unwrap_or(0);
    let margin = budget.estimation_safety_margin_percent.unwrap_or(0.0);
    let rules = [
        (max_tokens >= 0, "max_tokens is negative"),
        (target_tokens >= 0, "target_tokens is negative"),
        (target_tokens <= max_tokens, "target_tokens exceed max_tokens"),
        (output_reserve >= 0, "output_reserve is negative"),
        (output_reserve <= max_tokens, "output_reserve exceeds max_tokens"),
        ((0.0..=100.0).contains(&margin), "the safety margin is not a percentage"),
        (budget.reserved_slots.values().all(|&tokens| tokens >= 0), "a reserved slot is negative"),
    ];
    if let Some((_, text)) = rules.iter().find(|(holds, _)| !holds) {
        return Err(ErrorAnswer::new("invalid_budget", *text));
    }
    Ok(oracle::Budget {
        max_tokens,
        target_tokens,
        output_reserve,
        reserved_slots: reserved_slots(&budget.reserved_slots)?,
        estimation_safety_margin_percent: margin,
    })
}

/// Keys that differ only in case are one; the last of them counts.
fn reserved_slots(slots: &BTreeMap<String, i64>) -> Result<BTreeMap<String, i64>> {
    let mut merged = BTreeMap::new();
    for (name, &tokens) in slots {
        merged.insert(kind(name)?.to_ascii_lowercase(), tokens);
    }
    Ok(merged)
}

pub(super) fn placer(placer: Placer) -> oracle::Placer {
    match placer {
        Placer::Chronological => oracle::Placer::Chronological,
        Placer::UShaped => oracle::Placer::UShaped,
    }
}

pub(super) fn policy(policy: &Policy) -> Result<oracle::Policy> {
    Ok(oracle::Policy {
        scorer: scorer::scorer(&policy.scorer)?,
        slicer: slicer::slicer(&policy.slicer)?,
        placer: placer(policy.placer),
        deduplication: policy.deduplication.unwrap_or(true),
        overflow: match policy.overflow_strategy.unwrap_or(OverflowStrategy::Throw) {
            OverflowStrategy::Throw => oracle::Overflow::Throw,
            OverflowStrategy::Truncate => oracle::Overflow::Truncate,
            OverflowStrategy::Proceed => oracle::Overflow::Proceed,
        },
    })
}
