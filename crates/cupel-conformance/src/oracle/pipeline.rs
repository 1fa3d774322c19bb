//! The six stages.

use super::error::Error;
use super::model::{
    Budget, Item, Limits, Overflow, Policy, Scored, Scorer, clamp_tokens, sum_tokens,
};
use super::order::descending;
use super::placer::place;
use super::report::{
    Excluded, Exclusion, Included, Inclusion, OverflowEvent, Report, Run, Stage, StageCount,
};
use super::scorer::score;
use super::slicer::{Sliced, slice};

/// Runs all six stages.
///
/// # Errors
///
/// Pinned items that do not fit, an overflow under [`Overflow::Throw`], or an error of the slicer.
pub fn run(items: &[Item], budget: &Budget, policy: &Policy) -> Result<Run, Error> {
    let mut excluded = Vec::new();
    let classified = classify(items, budget, &mut excluded)?;
    let scored = score_all(items, &classified.scoreable, &policy.scorer);
    let deduplicated = deduplicate(items, &scored, policy.deduplication, &mut excluded);
    let sorted = sort(&deduplicated);
    let limits = effective_budget(budget, classified.pinned_tokens);
    let sliced = slice(&policy.slicer, items, &sorted, limits)?;
    let kept = explain_slice(items, &sorted, &sliced, limits, &classified, &mut excluded);
    let merged = merge(&classified.pinned, &kept);
    let fitted =
        handle_overflow(items, &merged, budget, policy.overflow, &classified, &mut excluded)?;
    let output = place(policy.placer, items, &fitted.kept);

    let counts = [
        (Stage::Classify, items.len(), classified.pinned.len() + classified.scoreable.len()),
        (Stage::Score, classified.scoreable.len(), scored.len()),
        (Stage::Deduplicate, scored.len(), deduplicated.len()),
        (Stage::Slice, sorted.len(), kept.len()),
        (Stage::Place, merged.len(), output.len()),
    ];
    let stages = count_stages(&counts, &excluded);
    excluded.sort_by(|a: &Excluded, b: &Excluded| descending(a.score, b.score));
    let report = Report {
        included: explain_output(items, &output, &fitted.kept),
        excluded,
        total_candidates: items.len(),
        total_tokens_considered: clamp_tokens(sum_tokens(items.iter().map(|item| item.tokens))),
        shortfalls: sliced.shortfalls,
        overflow: fitted.event,
        stages,
    };
    Ok(Run { output, report })
}

/// Each stage with the exclusions that it made; `excluded` is still in the order of exclusion.
fn count_stages(counts: &[(Stage, usize, usize)], excluded: &[Excluded]) -> Vec<StageCount> {
    let mut stages = Vec::new();
    let mut rest = excluded.iter().map(|excluded| excluded.index);
    for &(stage, count_in, count_out) in counts {
        let excluded = rest.by_ref().take(count_in - count_out).collect();
        stages.push(StageCount { stage, count_in, count_out, excluded });
    }
    stages
}

/// What the first stage found.
struct Classified {
    pinned: Vec<usize>,
    scoreable: Vec<usize>,
    pinned_tokens: i128,
    /// Text of the largest pinned item, the first among equals.
    largest_pinned: String,
}

fn classify(
    items: &[Item],
    budget: &Budget,
    excluded: &mut Vec<Excluded>,
) -> Result<Classified, Error> {
    let mut pinned: Vec<usize> = Vec::new();
    let mut scoreable = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if item.tokens < 0 {
            let reason = Exclusion::NegativeTokens { tokens: item.tokens };
            excluded.push(Excluded { index, score: 0.0, reason });
        } else if item.pinned {
            pinned.push(index);
        } else {
            scoreable.push(index);
        }
    }

    let pinned_tokens = sum_tokens(pinned.iter().map(|&index| items[index].tokens));
    let available = i128::from(budget.max_tokens) - i128::from(budget.output_reserve);
    if pinned_tokens > available {
        return Err(Error::PinnedExceedsBudget {
            pinned_tokens: clamp_tokens(pinned_tokens),
            available: clamp_tokens(available),
        });
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
    enabled: bool,
    excluded: &mut Vec<Excluded>,
) -> Vec<Scored> {
    if !enabled {
        return scored.to_vec();
    }
    let mut survivors = Vec::new();
    for candidate in scored {
        let content = &items[candidate.index].content;
        if best_with_content(items, scored, content) == Some(candidate.index) {
            survivors.push(*candidate);
        } else {
            let reason = Exclusion::Deduplicated { deduplicated_against: content.clone() };
            excluded.push(Excluded { index: candidate.index, score: candidate.score, reason });
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
    let reserved = sum_tokens(budget.reserved_slots.values().copied());
    let committed = pinned_tokens + reserved;
    let max = i128::from(budget.max_tokens) - i128::from(budget.output_reserve) - committed;
    let target = i128::from(budget.target_tokens) - committed;
    let mut max_tokens = clamp_tokens(max.max(0));
    let mut target_tokens = clamp_tokens(target.max(0)).min(max_tokens);

    let margin = budget.estimation_safety_margin_percent;
    if margin > 0.0 {
        let multiplier = 1.0 - margin / 100.0;
        max_tokens = (max_tokens as f64 * multiplier).floor() as i64;
        target_tokens = (target_tokens as f64 * multiplier).floor() as i64;
        target_tokens = target_tokens.min(max_tokens);
    }
    Limits { max_tokens, target_tokens }
}

/// The sliced items in sorted order; the others get their reason.
fn explain_slice(
    items: &[Item],
    sorted: &[Scored],
    sliced: &Sliced,
    limits: Limits,
    classified: &Classified,
    excluded: &mut Vec<Excluded>,
) -> Vec<Scored> {
    let used = sum_tokens(sliced.selected.iter().map(|&index| items[index].tokens));
    let available = i128::from(limits.target_tokens) - used;
    let mut kept = Vec::new();
    for candidate in sorted {
        let item = &items[candidate.index];
        if sliced.selected.contains(&candidate.index) {
            kept.push(*candidate);
            continue;
        }
        let capped = sliced.capped.iter().find(|capped| capped.index == candidate.index);
        let reason = match capped {
            Some(capped) => Exclusion::CountCapExceeded {
                kind: item.kind.clone(),
                cap: capped.cap,
                count: capped.count,
            },
            None => out_of_budget(item, available, classified),
        };
        excluded.push(Excluded { index: candidate.index, score: candidate.score, reason });
    }
    kept
}

/// Whether the budget or a pinned item is to blame.
fn out_of_budget(item: &Item, available: i128, classified: &Classified) -> Exclusion {
    let tokens = i128::from(item.tokens);
    if available < tokens && tokens <= available + classified.pinned_tokens {
        return Exclusion::PinnedOverride { displaced_by: classified.largest_pinned.clone() };
    }
    Exclusion::BudgetExceeded {
        item_tokens: item.tokens,
        available_tokens: clamp_tokens(available),
    }
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
    strategy: Overflow,
    classified: &Classified,
    excluded: &mut Vec<Excluded>,
) -> Result<Fitted, Error> {
    let target_tokens = i128::from(budget.target_tokens);
    let merged_tokens = sum_tokens(merged.iter().map(|scored| items[scored.index].tokens));
    if merged_tokens <= target_tokens {
        return Ok(Fitted { kept: merged.to_vec(), event: None });
    }
    match strategy {
        Overflow::Throw => Err(Error::Overflow {
            merged_tokens: clamp_tokens(merged_tokens),
            target_tokens: budget.target_tokens,
        }),
        Overflow::Truncate => {
            let kept = truncate(items, merged, target_tokens, classified, excluded);
            Ok(Fitted { kept, event: None })
        }
        Overflow::Proceed => {
            let event = OverflowEvent {
                tokens_over_budget: clamp_tokens(merged_tokens - target_tokens),
                items: merged.iter().map(|scored| scored.index).collect(),
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
    excluded: &mut Vec<Excluded>,
) -> Vec<Scored> {
    let mut kept = Vec::new();
    let mut current_tokens = 0_i128;
    for candidate in merged {
        let item = &items[candidate.index];
        let tokens = i128::from(item.tokens);
        if item.pinned || current_tokens + tokens <= target_tokens {
            kept.push(*candidate);
            current_tokens += tokens;
        } else {
            let reason = out_of_budget(item, target_tokens - current_tokens, classified);
            excluded.push(Excluded { index: candidate.index, score: candidate.score, reason });
        }
    }
    kept
}

fn explain_output(items: &[Item], output: &[usize], kept: &[Scored]) -> Vec<Included> {
    let mut included = Vec::new();
    for &index in output {
        for scored in kept.iter().filter(|scored| scored.index == index) {
            let reason = match &items[index] {
                item if item.pinned => Inclusion::Pinned,
                item if item.tokens == 0 => Inclusion::ZeroToken,
                _ => Inclusion::Scored,
            };
            included.push(Included { index, score: scored.score, reason });
        }
    }
    included
}
