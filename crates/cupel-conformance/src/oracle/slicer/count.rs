//! The two slicers that promise and limit numbers of items per kind.

use super::{Capped, Pool, Sliced, choose, knapsack};
use crate::oracle::model::{Limits, Scored, clamp_tokens, same_kind, sum_tokens};
use crate::oracle::order::descending;
use crate::protocol::{CountEntry, ErrorAnswer, ScarcityBehavior, Shortfall, Slicer};

const COUNT_QUOTA: &str = "CountQuotaSlice";
const COUNT_KNAPSACK: &str = "CountConstrainedKnapsackSlice";

pub(super) fn count_quota(
    pool: Pool<'_>,
    entries: &[CountEntry],
    inner: &Slicer,
    scarcity: Option<ScarcityBehavior>,
) -> Result<Sliced, ErrorAnswer> {
    let (mut result, mut counts) = satisfy(pool, entries, scarcity, COUNT_QUOTA)?;
    let residual = residual_candidates(pool, &result.selected);
    let mut chosen = choose(inner, residual_pool(pool, &residual, &result.selected))?;
    result.capped.append(&mut chosen.capped);
    result.shortfalls.append(&mut chosen.shortfalls);
    apply_caps(pool, &chosen.selected, &mut counts, &mut result);
    Ok(result)
}

pub(super) fn count_constrained_knapsack(
    pool: Pool<'_>,
    entries: &[CountEntry],
    bucket_size: Option<i64>,
    scarcity: Option<ScarcityBehavior>,
) -> Result<Sliced, ErrorAnswer> {
    let (mut result, mut counts) = satisfy(pool, entries, scarcity, COUNT_KNAPSACK)?;
    let residual = residual_candidates(pool, &result.selected);
    let residual_pool = residual_pool(pool, &residual, &result.selected);
    if !residual.is_empty() && residual_pool.limits.target_tokens > 0 {
        let chosen = knapsack::knapsack(residual_pool, bucket_size)?;
        let best_first = sort_by_score(&residual, &chosen);
        apply_caps(pool, &best_first, &mut counts, &mut result);
    }
    Ok(result)
}

/// Number of items of an entry's kind that are selected so far.
struct Count<'a> {
    entry: &'a CountEntry,
    selected: usize,
}

/// Phase 1: commits the best items of every required kind.
fn satisfy<'a>(
    pool: Pool<'_>,
    entries: &'a [CountEntry],
    scarcity: Option<ScarcityBehavior>,
    slicer_name: &str,
) -> Result<(Sliced, Vec<Count<'a>>), ErrorAnswer> {
    let mut result = Sliced::default();
    let mut counts = Vec::new();
    for entry in entries {
        if pool.partition.is_some_and(|kind| !same_kind(kind, &entry.kind)) {
            continue;
        }
        let mut selected = 0;
        for candidate in best_first_of_kind(pool, &entry.kind) {
            if selected < entry.require_count {
                result.selected.push(candidate.index);
                selected += 1;
            }
        }
        counts.push(Count { entry, selected });
        if selected < entry.require_count {
            result.shortfalls.push(scarce(entry, selected, scarcity, slicer_name)?);
        }
    }
    Ok((result, counts))
}

fn best_first_of_kind(pool: Pool<'_>, kind: &str) -> Vec<Scored> {
    let mut candidates = Vec::new();
    for scored in pool.sorted {
        if same_kind(pool.item(scored).kind(), kind) {
            candidates.push(*scored);
        }
    }
    candidates.sort_by(|a, b| descending(a.score, b.score));
    candidates
}

fn scarce(
    entry: &CountEntry,
    satisfied: usize,
    scarcity: Option<ScarcityBehavior>,
    slicer_name: &str,
) -> Result<Shortfall, ErrorAnswer> {
    let CountEntry { kind, require_count, .. } = entry;
    match scarcity {
        Some(ScarcityBehavior::Throw) => Err(ErrorAnswer::new(
            "slicer_config",
            format!(
                "{slicer_name}: candidate pool for kind '{kind}' has {satisfied} items but \
                 RequireCount is {require_count}."
            ),
        )),
        None | Some(ScarcityBehavior::Degrade) => Ok(Shortfall {
            kind: kind.clone(),
            required_count: *require_count,
            satisfied_count: satisfied,
        }),
    }
}

/// Phase 2, what is left to choose from.
fn residual_candidates(pool: Pool<'_>, committed: &[usize]) -> Vec<Scored> {
    let mut residual = Vec::new();
    for scored in pool.sorted {
        if !committed.contains(&scored.index) {
            residual.push(*scored);
        }
    }
    residual
}

/// Phase 2, what is left of the budget; the maximum stays as it is.
fn residual_pool<'a>(pool: Pool<'a>, residual: &'a [Scored], committed: &[usize]) -> Pool<'a> {
    let pre_allocated = sum_tokens(committed.iter().map(|&index| pool.items[index].tokens));
    let residual_target =
        clamp_tokens((i128::from(pool.limits.target_tokens) - pre_allocated).max(0));
    let limits = Limits {
        max_tokens: pool.limits.max_tokens,
        target_tokens: residual_target.min(pool.limits.max_tokens),
    };
    Pool { sorted: residual, limits, ..pool }
}

/// The chosen items by score, ties in the order of `residual`.
fn sort_by_score(residual: &[Scored], chosen: &[usize]) -> Vec<usize> {
    let mut best_first = Vec::new();
    for scored in residual {
        if chosen.contains(&scored.index) {
            best_first.push(*scored);
        }
    }
    best_first.sort_by(|a, b| descending(a.score, b.score));
    best_first.iter().map(|scored| scored.index).collect()
}

/// Phase 3: passes chosen items on until their kind is full.
fn apply_caps(pool: Pool<'_>, chosen: &[usize], counts: &mut [Count<'_>], result: &mut Sliced) {
    for &index in chosen {
        let kind = pool.items[index].kind();
        match counts.iter_mut().find(|count| same_kind(&count.entry.kind, kind)) {
            Some(count) if count.selected >= count.entry.cap_count => {
                let cap = count.entry.cap_count;
                result.capped.push(Capped { index, cap, count: count.selected });
            }
            Some(count) => {
                count.selected += 1;
                result.selected.push(index);
            }
            None => result.selected.push(index),
        }
    }
}

/// Requirements, within `slicer` and the slicers inside it, of kinds that are not `present`.
pub(super) fn absent_kinds(
    slicer: &Slicer,
    present: &[&str],
) -> Result<Vec<Shortfall>, ErrorAnswer> {
    let (entries, inner, scarcity, name) = match slicer {
        Slicer::Greedy | Slicer::Knapsack { .. } => return Ok(Vec::new()),
        Slicer::Quota { inner, .. } => return absent_kinds(inner, present),
        Slicer::CountQuota { entries, inner, scarcity_behavior } => {
            (entries, Some(inner), *scarcity_behavior, COUNT_QUOTA)
        }
        Slicer::CountConstrainedKnapsack { entries, scarcity_behavior, .. } => {
            (entries, None, *scarcity_behavior, COUNT_KNAPSACK)
        }
    };
    let mut shortfalls = Vec::new();
    for entry in entries {
        let is_present = present.iter().any(|kind| same_kind(kind, &entry.kind));
        if !is_present && entry.require_count > 0 {
            shortfalls.push(scarce(entry, 0, scarcity, name)?);
        }
    }
    if let Some(inner) = inner {
        shortfalls.append(&mut absent_kinds(inner, present)?);
    }
    Ok(shortfalls)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{names, slice_named};
    use super::*;

    fn entry(kind: &str, require_count: usize, cap_count: usize) -> CountEntry {
        CountEntry { kind: kind.to_owned(), require_count, cap_count }
    }

    fn count_knapsack(entries: Vec<CountEntry>, bucket_size: i64) -> Slicer {
        let bucket_size = Some(bucket_size);
        Slicer::CountConstrainedKnapsack { entries, bucket_size, scarcity_behavior: None }
    }

    fn count_greedy(entries: Vec<CountEntry>) -> Slicer {
        let inner = Box::new(Slicer::Greedy);
        Slicer::CountQuota { entries, inner, scarcity_behavior: None }
    }

    #[test]
    fn outline_1_baseline_selects_all_three() {
        let slicer = count_knapsack(vec![entry("tool", 2, 4)], 100);
        let candidates = [
            ("tool-a", "tool", 0.9, 100),
            ("tool-b", "tool", 0.7, 100),
            ("msg-x", "msg", 0.5, 100),
        ];
        let (names, outcome) = slice_named(&slicer, &candidates, 1000).unwrap();
        assert_eq!(names, ["tool-a", "tool-b", "msg-x"]);
        assert!(outcome.shortfalls.is_empty() && outcome.capped.is_empty());
    }

    #[test]
    fn outline_2_cap_keeps_the_two_best_and_drops_two() {
        let slicer = count_knapsack(vec![entry("tool", 1, 2)], 100);
        let candidates = [
            ("tool-a", "tool", 0.9, 100),
            ("tool-b", "tool", 0.8, 100),
            ("tool-c", "tool", 0.7, 100),
            ("tool-d", "tool", 0.6, 100),
        ];
        let (names, outcome) = slice_named(&slicer, &candidates, 600).unwrap();
        assert_eq!(names, ["tool-a", "tool-b"]);
        let capped = |index| Capped { index, cap: 2, count: 2 };
        assert_eq!(outcome.capped, [capped(2), capped(3)]);
        assert!(outcome.shortfalls.is_empty());
    }

    #[test]
    fn outline_3_scarcity_is_reported() {
        let slicer = count_knapsack(vec![entry("tool", 3, 5)], 100);
        let (names, outcome) = slice_named(&slicer, &[("tool-a", "tool", 0.9, 100)], 500).unwrap();
        assert_eq!(names, ["tool-a"]);
        let shortfall =
            Shortfall { kind: "tool".to_owned(), required_count: 3, satisfied_count: 1 };
        assert_eq!(outcome.shortfalls, [shortfall]);
    }

    #[test]
    fn outline_4_two_kinds_are_satisfied_independently() {
        let slicer = count_knapsack(vec![entry("tool", 1, 4), entry("memory", 1, 4)], 100);
        let candidates = [
            ("item-tool", "tool", 0.9, 100),
            ("item-memory", "memory", 0.8, 100),
            ("item-extra", "tool", 0.5, 100),
        ];
        let (names, outcome) = slice_named(&slicer, &candidates, 1000).unwrap();
        assert_eq!(names, ["item-tool", "item-memory", "item-extra"]);
        assert!(outcome.shortfalls.is_empty() && outcome.capped.is_empty());
    }

    #[test]
    fn outline_5_the_knapsack_fills_the_rest_with_the_uncapped_kind() {
        let slicer = count_knapsack(vec![entry("tool", 2, 2)], 1);
        let candidates = [
            ("tool-a", "tool", 0.9, 100),
            ("msg-s", "msg", 0.8, 50),
            ("tool-b", "tool", 0.7, 100),
            ("msg-m", "msg", 0.6, 150),
            ("msg-l", "msg", 0.4, 200),
        ];
        let (names, outcome) = slice_named(&slicer, &candidates, 1000).unwrap();
        assert_eq!(names, ["tool-a", "tool-b", "msg-s", "msg-m", "msg-l"]);
        assert!(outcome.shortfalls.is_empty() && outcome.capped.is_empty());
    }

    #[test]
    fn the_knapsack_variant_throws_the_prescribed_text() {
        let slicer = Slicer::CountConstrainedKnapsack {
            entries: vec![entry("Tool", 3, 5)],
            bucket_size: None,
            scarcity_behavior: Some(ScarcityBehavior::Throw),
        };
        let text = "CountConstrainedKnapsackSlice: candidate pool for kind 'Tool' has 1 items but RequireCount is 3.";
        let error = slice_named(&slicer, &[("a", "tool", 0.9, 1)], 9).unwrap_err();
        assert_eq!(error, ErrorAnswer::new("slicer_config", text));
    }

    #[test]
    fn count_quota_caps_in_the_order_of_the_inner_slicer() {
        let slicer = count_greedy(vec![entry("tool", 0, 1)]);
        let candidates = [("best", "tool", 0.9, 90), ("dense", "TOOL", 0.8, 10)];
        let (names, outcome) = slice_named(&slicer, &candidates, 100).unwrap();
        assert_eq!(names, ["dense"]);
        assert_eq!(outcome.capped, [Capped { index: 0, cap: 1, count: 1 }]);
    }

    #[test]
    fn committed_items_ignore_the_budget_and_leave_nothing_for_the_rest() {
        let slicer = count_greedy(vec![entry("tool", 1, 1)]);
        let candidates = [("big", "tool", 0.9, 500), ("free", "msg", 0.5, 0)];
        assert_eq!(names(&slicer, &candidates, 100), ["big"]);
    }

    #[test]
    fn an_empty_list_or_a_target_of_zero_comes_before_scarcity() {
        let slicer = Slicer::CountQuota {
            entries: vec![entry("tool", 1, 1)],
            inner: Box::new(Slicer::Greedy),
            scarcity_behavior: Some(ScarcityBehavior::Throw),
        };
        assert_eq!(slice_named(&slicer, &[], 100).unwrap().1, Sliced::default());
        assert_eq!(names(&slicer, &[("a", "msg", 0.5, 1)], 0), [""; 0]);
        assert!(slice_named(&slicer, &[("a", "msg", 0.5, 1)], 1).is_err());
    }

    #[test]
    fn shortfalls_of_nested_count_slicers_add_up() {
        let inner = count_greedy(vec![entry("b", 1, 1)]);
        let slicer = Slicer::CountQuota {
            entries: vec![entry("a", 1, 1)],
            inner: Box::new(inner),
            scarcity_behavior: None,
        };
        let (_, outcome) = slice_named(&slicer, &[("x", "c", 0.5, 1)], 10).unwrap();
        let kinds: Vec<&str> = outcome.shortfalls.iter().map(|s| s.kind.as_str()).collect();
        assert_eq!(kinds, ["a", "b"]);
    }
}
