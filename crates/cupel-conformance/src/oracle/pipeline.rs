//! The six stages.

use std::collections::BTreeMap;

use super::model::{Limits, Scored, clamp_tokens, sum_tokens};
use super::order::descending;
use super::placer::place;
use super::scorer::score;
use super::slicer::{Sliced, slice};
use crate::protocol::{
    Budget, Decision, ErrorAnswer, Item, OverflowEvent, OverflowStrategy, Policy, Reason, Report,
    Scorer, StageCount,
};

/// Runs all six stages.
///
/// # Errors
///
/// Pinned items that do not fit, an overflow under [`OverflowStrategy::Throw`], or an error of the slicer.
pub fn run(items: &[Item], budget: &Budget, policy: &Policy) -> Result<Report, ErrorAnswer> {
    let mut excluded = Vec::new();
    let classified = classify(items, budget, &mut excluded)?;
    let scored = score_all(items, &classified.scoreable, &policy.scorer);
    let deduplicated = deduplicate(items, &scored, policy, &mut excluded);
    let sorted = sort(&deduplicated);
    let limits = effective_budget(budget, classified.pinned_tokens);
    let sliced = slice(&policy.slicer, items, &sorted, limits)?;
    let kept = explain_slice(items, &sorted, &sliced, budget, &classified, &mut excluded);
    let merged = merge(&classified.pinned, &kept);
    let fitted = handle_overflow(items, &merged, budget, policy, &classified, &mut excluded)?;
    let output = place(policy.placer, items, &fitted.kept);

    let counts = [
        ("Classify", items.len(), classified.pinned.len() + classified.scoreable.len()),
        ("Score", classified.scoreable.len(), scored.len()),
        ("Deduplicate", scored.len(), deduplicated.len()),
        ("Slice", sorted.len(), kept.len()),
        ("Place", merged.len(), output.len()),
    ];
    let stages = counts.map(|(stage, item_count_in, item_count_out)| StageCount {
        stage: stage.to_owned(),
        item_count_in,
        item_count_out,
    });
    excluded.sort_by(|a: &Decision, b: &Decision| descending(a.score, b.score));
    let total_tokens = clamp_tokens(sum_tokens(items.iter().map(|item| item.tokens)));
    Ok(Report {
        included: Some(explain_output(items, &output, &fitted.kept)),
        excluded: Some(excluded),
        total_candidates: Some(items.len()),
        total_tokens_considered: Some(total_tokens),
        count_requirement_shortfalls: Some(sliced.shortfalls),
        overflow: fitted.event,
        stages: Some(stages.to_vec()),
    })
}

/// Result of the first stage.
struct Classified {
    pinned: Vec<usize>,
    scoreable: Vec<usize>,
    pinned_tokens: i128,
    /// Text of the largest pinned item, the first among equals.
    largest_pinned: String,
}

impl Classified {
    fn pinned_override(&self) -> Reason {
        Reason::named("PinnedOverride").with("displaced_by", self.largest_pinned.as_str())
    }
}

fn classify(
    items: &[Item],
    budget: &Budget,
    excluded: &mut Vec<Decision>,
) -> Result<Classified, ErrorAnswer> {
    let mut pinned: Vec<usize> = Vec::new();
    let mut scoreable = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if item.tokens < 0 {
            let reason = Reason::named("NegativeTokens").with("tokens", item.tokens);
            excluded.push(Decision { index, score: 0.0, reason });
        } else if item.is_pinned() {
            pinned.push(index);
        } else {
            scoreable.push(index);
        }
    }

    let pinned_tokens = sum_tokens(pinned.iter().map(|&index| items[index].tokens));
    let available = i128::from(budget.max_tokens) - i128::from(budget.output_reserve());
    if pinned_tokens > available {
        let text = format!("pinned items need {pinned_tokens} tokens, {available} are available");
        return Err(ErrorAnswer::new("pinned_exceeds_budget", text)
            .with("pinned_tokens", clamp_tokens(pinned_tokens))
            .with("available", clamp_tokens(available)));
    }
    let largest_pinned = largest(items, &pinned).map_or(String::new(), |item| item.content.clone());
    Ok(Classified { pinned, scoreable, pinned_tokens, largest_pinned })
}

fn largest<'a>(items: &'a [Item], indices: &[usize]) -> Option<&'a Item> {
    let mut largest: Option<&Item> = None;
    for &index in indices {
        if largest.is_none_or(|item| items[index].tokens > item.tokens) {
            largest = Some(&items[index]);
        }
    }
    largest
}

fn score_all(items: &[Item], scoreable: &[usize], scorer: &Scorer) -> Vec<Scored> {
    let all: Vec<&Item> = scoreable.iter().map(|&index| &items[index]).collect();
    let mut result = Vec::new();
    for (position, &index) in scoreable.iter().enumerate() {
        result.push(Scored { index, score: score(scorer, position, &all) });
    }
    result
}

fn deduplicate(
    items: &[Item],
    scored: &[Scored],
    policy: &Policy,
    excluded: &mut Vec<Decision>,
) -> Vec<Scored> {
    if policy.deduplication == Some(false) {
        return scored.to_vec();
    }
    let mut survivors = Vec::new();
    for candidate in scored {
        let content = &items[candidate.index].content;
        if best_with_content(items, scored, content) == Some(candidate.index) {
            survivors.push(*candidate);
        } else {
            let reason =
                Reason::named("Deduplicated").with("deduplicated_against", content.as_str());
            excluded.push(Decision { index: candidate.index, score: candidate.score, reason });
        }
    }
    survivors
}

/// Index of the best item with this text, the first among equals.
fn best_with_content(items: &[Item], scored: &[Scored], content: &str) -> Option<usize> {
    let mut best: Option<&Scored> = None;
    for candidate in scored {
        if items[candidate.index].content != content {
            continue;
        }
        if best.is_none_or(|best| descending(candidate.score, best.score).is_lt()) {
            best = Some(candidate);
        }
    }
    best.map(|best| best.index)
}

fn sort(deduplicated: &[Scored]) -> Vec<Scored> {
    let mut sorted = deduplicated.to_vec();
    sorted.sort_by(|a, b| descending(a.score, b.score));
    sorted
}

/// The budget that the slicer sees.
pub fn effective_budget(budget: &Budget, pinned_tokens: i128) -> Limits {
    let committed = pinned_tokens + reserved_tokens(budget);
    let max = i128::from(budget.max_tokens) - i128::from(budget.output_reserve()) - committed;
    let target = i128::from(budget.target_tokens) - committed;
    let mut max_tokens = clamp_tokens(max.max(0));
    let mut target_tokens = clamp_tokens(target.max(0)).min(max_tokens);

    let margin = budget.safety_margin_percent();
    if margin > 0.0 {
        let multiplier = 1.0 - margin / 100.0;
        max_tokens = (max_tokens as f64 * multiplier).floor() as i64;
        target_tokens = (target_tokens as f64 * multiplier).floor() as i64;
        target_tokens = target_tokens.min(max_tokens);
    }
    Limits { max_tokens, target_tokens }
}

/// Tokens of all slots. Kinds that differ only in case are one; the last of them counts.
fn reserved_tokens(budget: &Budget) -> i128 {
    let mut slots = BTreeMap::new();
    for (kind, tokens) in &budget.reserved_slots {
        slots.insert(kind.to_ascii_lowercase(), *tokens);
    }
    sum_tokens(slots.into_values())
}

/// The sliced items in sorted order; the others get their reason.
fn explain_slice(
    items: &[Item],
    sorted: &[Scored],
    sliced: &Sliced,
    budget: &Budget,
    classified: &Classified,
    excluded: &mut Vec<Decision>,
) -> Vec<Scored> {
    let target = effective_budget(budget, classified.pinned_tokens).target_tokens;
    let target_without_pins = effective_budget(budget, 0).target_tokens;
    let used = sum_tokens(sliced.selected.iter().map(|&index| items[index].tokens));
    let available = i128::from(target) - used;
    let mut kept = Vec::new();
    for candidate in sorted {
        let item = &items[candidate.index];
        if sliced.selected.contains(&candidate.index) {
            kept.push(*candidate);
            continue;
        }
        let capped = sliced.capped.iter().find(|capped| capped.index == candidate.index);
        let reason = match capped {
            Some(capped) => Reason::named("CountCapExceeded")
                .with("kind", item.kind())
                .with("cap", capped.cap)
                .with("count", capped.count),
            None if target < item.tokens && item.tokens <= target_without_pins => {
                classified.pinned_override()
            }
            None => budget_exceeded(item, available),
        };
        excluded.push(Decision { index: candidate.index, score: candidate.score, reason });
    }
    kept
}

fn budget_exceeded(item: &Item, available: i128) -> Reason {
    Reason::named("BudgetExceeded")
        .with("item_tokens", item.tokens)
        .with("available_tokens", clamp_tokens(available))
}

fn merge(pinned: &[usize], sliced: &[Scored]) -> Vec<Scored> {
    let mut merged = Vec::new();
    for &index in pinned {
        merged.push(Scored { index, score: 1.0 });
    }
    merged.extend_from_slice(sliced);
    merged
}

/// The merged items after overflow handling.
struct Fitted {
    kept: Vec<Scored>,
    event: Option<OverflowEvent>,
}

fn handle_overflow(
    items: &[Item],
    merged: &[Scored],
    budget: &Budget,
    policy: &Policy,
    classified: &Classified,
    excluded: &mut Vec<Decision>,
) -> Result<Fitted, ErrorAnswer> {
    let target_tokens = i128::from(budget.target_tokens);
    let merged_tokens = sum_tokens(merged.iter().map(|scored| items[scored.index].tokens));
    if merged_tokens <= target_tokens {
        return Ok(Fitted { kept: merged.to_vec(), event: None });
    }
    match policy.overflow_strategy {
        None | Some(OverflowStrategy::Throw) => {
            let text = format!(
                "selected items need {merged_tokens} tokens, the target is {target_tokens}"
            );
            Err(ErrorAnswer::new("overflow", text)
                .with("merged_tokens", clamp_tokens(merged_tokens))
                .with("target_tokens", budget.target_tokens))
        }
        Some(OverflowStrategy::Truncate) => {
            let kept = truncate(items, merged, target_tokens, classified, excluded);
            Ok(Fitted { kept, event: None })
        }
        Some(OverflowStrategy::Proceed) => {
            let event = OverflowEvent {
                tokens_over_budget: clamp_tokens(merged_tokens - target_tokens),
                overflowing_items: merged.iter().map(|scored| scored.index).collect(),
            };
            Ok(Fitted { kept: merged.to_vec(), event: Some(event) })
        }
    }
}

fn truncate(
    items: &[Item],
    merged: &[Scored],
    target_tokens: i128,
    classified: &Classified,
    excluded: &mut Vec<Decision>,
) -> Vec<Scored> {
    let mut kept = Vec::new();
    let mut current_tokens = 0_i128;
    for candidate in merged {
        let item = &items[candidate.index];
        let tokens = i128::from(item.tokens);
        if item.is_pinned() || current_tokens + tokens <= target_tokens {
            kept.push(*candidate);
            current_tokens += tokens;
        } else {
            let available = target_tokens - current_tokens;
            let reason = if tokens <= available + classified.pinned_tokens {
                classified.pinned_override()
            } else {
                budget_exceeded(item, available)
            };
            excluded.push(Decision { index: candidate.index, score: candidate.score, reason });
        }
    }
    kept
}

fn explain_output(items: &[Item], output: &[usize], kept: &[Scored]) -> Vec<Decision> {
    let mut included = Vec::new();
    for &index in output {
        for scored in kept.iter().filter(|scored| scored.index == index) {
            let reason = match &items[index] {
                item if item.is_pinned() => "Pinned",
                item if item.tokens == 0 => "ZeroToken",
                _ => "Scored",
            };
            let reason = Reason::named(reason);
            included.push(Decision { index, score: scored.score, reason });
        }
    }
    included
}
