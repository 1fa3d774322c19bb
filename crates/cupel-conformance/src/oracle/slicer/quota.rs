//! Shares the budget among kinds and slices each kind on its own.

use super::{Pool, Sliced, choose, count};
use crate::oracle::model::{Limits, Scored, clamp_tokens, same_kind, sum_tokens};
use crate::protocol::{ErrorAnswer, Quota, Slicer};

/// The candidates of one kind.
struct Partition {
    kind: String,
    sorted: Vec<Scored>,
    mass: i128,
}

pub(super) fn quota(
    pool: Pool<'_>,
    entries: &[Quota],
    inner: &Slicer,
) -> Result<Sliced, ErrorAnswer> {
    let target_tokens = pool.limits.target_tokens;
    let partitions = partition(pool);
    let budgets = distribute_budget(&partitions, target_tokens, entries);

    let mut all = Sliced::default();
    for (partition, budget) in partitions.iter().zip(budgets) {
        if budget <= 0 {
            continue;
        }
        let (_, cap) = bounds(entries, &partition.kind, target_tokens);
        let part = Pool {
            items: pool.items,
            sorted: &partition.sorted,
            limits: Limits { max_tokens: cap, target_tokens: budget },
            partition: Some(&partition.kind),
        };
        let mut sliced = choose(inner, part)?;
        all.selected.append(&mut sliced.selected);
        all.capped.append(&mut sliced.capped);
        all.shortfalls.append(&mut sliced.shortfalls);
    }

    // Within a partition, count requirements of other kinds are ignored. Those of kinds that have
    // no partition would never be looked at, so the outermost quota states them.
    if pool.partition.is_none() {
        let present: Vec<&str> = partitions.iter().map(|part| part.kind.as_str()).collect();
        all.shortfalls.append(&mut count::absent_kinds(inner, &present)?);
    }
    Ok(all)
}

/// One partition per kind, in the order in which kinds first appear.
fn partition(pool: Pool<'_>) -> Vec<Partition> {
    let mut partitions: Vec<Partition> = Vec::new();
    for scored in pool.sorted {
        let kind = pool.item(scored).kind();
        match partitions.iter_mut().find(|partition| same_kind(&partition.kind, kind)) {
            Some(partition) => partition.sorted.push(*scored),
            None => {
                partitions.push(Partition {
                    kind: kind.to_owned(),
                    sorted: vec![*scored],
                    mass: 0,
                });
            }
        }
    }
    for partition in &mut partitions {
        let tokens = partition.sorted.iter().map(|scored| pool.item(scored).tokens);
        partition.mass = sum_tokens(tokens);
    }
    partitions
}

/// Tokens for each partition.
fn distribute_budget(partitions: &[Partition], target_tokens: i64, entries: &[Quota]) -> Vec<i64> {
    let total_required =
        sum_tokens(entries.iter().map(|entry| share(entry.require, target_tokens)));
    let unassigned = (i128::from(target_tokens) - total_required).max(0);

    let mut total_mass = 0_i128;
    for partition in partitions {
        let (require, cap) = bounds(entries, &partition.kind, target_tokens);
        if cap > require {
            total_mass += partition.mass;
        }
    }

    let mut budgets = Vec::new();
    for partition in partitions {
        let (require, cap) = bounds(entries, &partition.kind, target_tokens);
        let mut proportional = 0_i128;
        if total_mass > 0 && cap > require {
            proportional = proportion(unassigned, partition.mass, total_mass);
        }
        let budget = clamp_tokens(i128::from(require) + proportional);
        budgets.push(if budget > cap { cap } else { budget });
    }
    budgets
}

/// `amount * part / whole`, rounded down; `amount` fits into 63 bits and the others into 80.
///
/// The product may not fit into 128 bits, so the upper half of `amount` is divided first and its
/// remainder is carried into the lower half, as in division on paper.
fn proportion(amount: i128, part: i128, whole: i128) -> i128 {
    let (upper, lower) = (amount >> 32, amount & 0xffff_ffff);
    let product = upper * part;
    let carried = ((product % whole) << 32) + lower * part;
    ((product / whole) << 32) + carried / whole
}

/// Tokens that the kind must and may get. Without an entry it may get all of the target, to the
/// last token: 100 percent in floating point would lose some of a target beyond 2^53.
fn bounds(entries: &[Quota], kind: &str, target_tokens: i64) -> (i64, i64) {
    match entry_of(entries, kind) {
        Some(entry) => (share(entry.require, target_tokens), share(entry.cap, target_tokens)),
        None => (0, target_tokens),
    }
}

fn entry_of<'a>(entries: &'a [Quota], kind: &str) -> Option<&'a Quota> {
    entries.iter().find(|entry| same_kind(&entry.kind, kind))
}

/// A percentage of the target, rounded down.
fn share(percent: f64, target_tokens: i64) -> i64 {
    (percent / 100.0 * target_tokens as f64).floor() as i64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{names, slice_named};
    use super::*;
    use crate::protocol::{CountEntry, ScarcityBehavior, Shortfall};

    fn entry(kind: &str, require: f64, cap: f64) -> Quota {
        Quota { kind: kind.to_owned(), require, cap }
    }

    fn over_greedy(entries: Vec<Quota>) -> Slicer {
        Slicer::Quota { quotas: entries, inner: Box::new(Slicer::Greedy) }
    }

    fn over_counts(kinds: &[&str], scarcity: ScarcityBehavior) -> Slicer {
        let entries = kinds
            .iter()
            .map(|&kind| CountEntry { kind: kind.to_owned(), require_count: 2, cap_count: 3 })
            .collect();
        let scarcity_behavior = Some(scarcity);
        let inner =
            Slicer::CountQuota { entries, inner: Box::new(Slicer::Greedy), scarcity_behavior };
        Slicer::Quota { quotas: Vec::new(), inner: Box::new(inner) }
    }

    fn mass_of(kind: &str, mass: i128) -> Partition {
        Partition { kind: kind.to_owned(), sorted: Vec::new(), mass }
    }

    #[test]
    fn a_third_of_a_thousand_each_leaves_340_to_share_by_mass() {
        let entries = [entry("A", 33.0, 100.0), entry("B", 33.0, 100.0)];
        let partitions = [mass_of("a", 100), mass_of("b", 200)];
        assert_eq!(distribute_budget(&partitions, 1000, &entries), [330 + 113, 330 + 226]);
    }

    #[test]
    fn a_kind_at_its_cap_takes_no_part_in_the_sharing() {
        let entries = [entry("a", 10.0, 10.0)];
        let partitions = [mass_of("A", 100), mass_of("B", 100)];
        assert_eq!(distribute_budget(&partitions, 100, &entries), [10, 90]);
    }

    #[test]
    fn a_full_requirement_leaves_nothing_for_others() {
        let slicer = over_greedy(vec![entry("A", 100.0, 100.0)]);
        let candidates = [("b", "B", 0.9, 10), ("a", "A", 0.1, 10), ("free", "B", 0.9, 0)];
        assert_eq!(names(&slicer, &candidates, 100), ["a"]);
    }

    #[test]
    fn a_cap_of_zero_excludes_the_kind() {
        let slicer = over_greedy(vec![entry("a", 0.0, 0.0)]);
        assert_eq!(names(&slicer, &[("x", "A", 0.9, 10), ("y", "B", 0.1, 10)], 100), ["y"]);
    }

    #[test]
    fn kinds_that_differ_in_case_share_one_budget() {
        let slicer = over_greedy(vec![entry("tool", 0.0, 10.0)]);
        let candidates = [("a", "Tool", 0.9, 10), ("b", "TOOL", 0.8, 10)];
        assert_eq!(names(&slicer, &candidates, 100), ["a"]);
    }

    #[test]
    fn partitions_come_in_order_of_first_appearance() {
        let candidates = [("z", "Z", 0.9, 10), ("a", "A", 0.8, 10), ("y", "z", 0.7, 10)];
        assert_eq!(names(&over_greedy(Vec::new()), &candidates, 30), ["z", "y", "a"]);
    }

    #[test]
    fn huge_masses_share_the_budget_without_overflow() {
        let huge = i128::from(i64::MAX);
        let partitions = [mass_of("a", huge), mass_of("b", huge)];
        assert_eq!(distribute_budget(&partitions, i64::MAX, &[]), [i64::MAX / 2; 2]);
    }

    #[test]
    fn a_kind_without_an_entry_may_have_a_huge_target_to_the_last_token() {
        let target = (1 << 54) + 1;
        assert_eq!(bounds(&[], "a", target), (0, target));
        let slicer = Slicer::Quota {
            quotas: Vec::new(),
            inner: Box::new(Slicer::CountConstrainedKnapsack {
                entries: Vec::new(),
                bucket_size: Some(target),
                scarcity_behavior: None,
            }),
        };
        assert_eq!(names(&slicer, &[("x", "A", 0.9, 10)], target), ["x"]);
    }

    #[test]
    fn masses_beyond_64_bits_are_not_clamped() {
        let huge = i128::from(i64::MAX);
        let partitions = [mass_of("a", 3 * huge), mass_of("b", huge)];
        let quarter = i64::MAX / 4;
        assert_eq!(distribute_budget(&partitions, i64::MAX, &[]), [3 * quarter + 2, quarter]);
    }

    #[test]
    fn a_proportion_is_exact_where_the_product_fits_128_bits() {
        for (amount, part, whole) in [
            (0, 5, 7),
            (1_000_000, 1, 3),
            (i128::from(i64::MAX), 999, 1000),
            (i128::from(i64::MAX), i128::from(i64::MAX), i128::from(i64::MAX) + 12_345),
        ] {
            assert_eq!(proportion(amount, part, whole), amount * part / whole);
        }
    }

    #[test]
    fn a_required_kind_without_candidates_is_reported_once_after_the_partitions() {
        let slicer = over_counts(&["none", "b", "a"], ScarcityBehavior::Degrade);
        let candidates = [("x", "A", 0.9, 10), ("y", "B", 0.8, 10), ("z", "C", 0.7, 10)];
        let (_, outcome) = slice_named(&slicer, &candidates, 300).unwrap();
        let short = |kind: &str, satisfied_count| Shortfall {
            kind: kind.to_owned(),
            required_count: 2,
            satisfied_count,
        };
        assert_eq!(outcome.shortfalls, [short("a", 1), short("b", 1), short("none", 0)]);
    }

    #[test]
    fn a_quota_inside_a_quota_does_not_report_absent_kinds_again() {
        let inner = over_counts(&["none"], ScarcityBehavior::Degrade);
        let slicer = Slicer::Quota { quotas: Vec::new(), inner: Box::new(inner) };
        let candidates = [("x", "A", 0.9, 10), ("y", "B", 0.8, 10)];
        let (_, outcome) = slice_named(&slicer, &candidates, 300).unwrap();
        assert_eq!(outcome.shortfalls.len(), 1);
    }

    #[test]
    fn a_required_kind_without_candidates_is_an_error_under_throw() {
        let slicer = over_counts(&["none"], ScarcityBehavior::Throw);
        let outcome = slice_named(&slicer, &[("x", "A", 0.9, 10)], 300);
        assert!(outcome.unwrap_err().message.contains("'none' has 0 items"));
    }
}
