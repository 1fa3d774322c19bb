//! The full dynamic programming table with its keep table.

use super::Pool;
use crate::oracle::model::Scored;
use crate::protocol::ErrorAnswer;

/// The largest table that is filled.
const MAX_CELLS: u128 = 50_000_000;

/// Tokens per bucket where nothing is said.
const DEFAULT_BUCKET_SIZE: i64 = 100;

pub(super) fn knapsack(
    pool: Pool<'_>,
    bucket_size: Option<i64>,
) -> Result<Vec<usize>, ErrorAnswer> {
    let bucket_size = bucket_size.unwrap_or(DEFAULT_BUCKET_SIZE);
    let mut zero_token_items: Vec<usize> = Vec::new();
    let mut candidates: Vec<&Scored> = Vec::new();
    for scored in pool.sorted {
        let tokens = pool.item(scored).tokens;
        if tokens == 0 {
            zero_token_items.push(scored.index);
        } else if tokens > 0 {
            candidates.push(scored);
        }
    }
    if candidates.is_empty() {
        return Ok(zero_token_items);
    }

    let capacity = pool.limits.target_tokens / bucket_size;
    if capacity == 0 {
        return Ok(zero_token_items);
    }
    check_table(candidates.len(), capacity)?;

    let weights: Vec<i128> = candidates
        .iter()
        .map(|candidate| ceil_div(pool.item(candidate).tokens, bucket_size))
        .collect();
    let values: Vec<i64> = candidates.iter().map(|candidate| value(candidate.score)).collect();

    let mut result = zero_token_items;
    for position in solve(&weights, &values, capacity as usize) {
        result.push(candidates[position].index);
    }
    Ok(result)
}

/// Positions of the chosen candidates, last one first.
fn solve(weights: &[i128], values: &[i64], capacity: usize) -> Vec<usize> {
    let n = weights.len();
    let mut dp = vec![0_i128; capacity + 1];
    let mut keep = vec![vec![false; capacity + 1]; n];
    for i in 0..n {
        let mut w = capacity;
        while w as i128 >= weights[i] {
            let with_item = dp[w - weights[i] as usize] + i128::from(values[i]);
            if with_item > dp[w] {
                dp[w] = with_item;
                keep[i][w] = true;
            }
            // Weights are at least one, so `w` never passes zero.
            w -= 1;
        }
    }

    let mut selected = Vec::new();
    let mut remaining_capacity = capacity;
    for i in (0..n).rev() {
        if keep[i][remaining_capacity] {
            selected.push(i);
            remaining_capacity -= weights[i] as usize;
        }
    }
    selected
}

/// A score as an integer; NaN is worth nothing, and infinity is the largest integer.
fn value(score: f64) -> i64 {
    let scaled = (score * 10_000.0).floor();
    if scaled > 0.0 { scaled as i64 } else { 0 }
}

fn ceil_div(tokens: i64, bucket_size: i64) -> i128 {
    (i128::from(tokens) + i128::from(bucket_size) - 1) / i128::from(bucket_size)
}

fn check_table(candidates: usize, capacity: i64) -> Result<(), ErrorAnswer> {
    let cells = candidates as u128 * capacity as u128;
    if cells > MAX_CELLS {
        let text = format!("{candidates} candidates times capacity {capacity} make {cells} cells");
        return Err(ErrorAnswer::new("table_too_large", text)
            .with("candidates", candidates)
            .with("capacity", capacity)
            .with("cells", u64::try_from(cells).unwrap_or(u64::MAX)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{names, slice_named};
    use super::*;
    use crate::protocol::Slicer;

    const EXACT: Slicer = Slicer::Knapsack { bucket_size: Some(1) };

    #[test]
    fn the_table_finds_what_trying_every_subset_finds() {
        for seed in 0..200_i64 {
            let weights: Vec<i128> =
                (0..8).map(|i| i128::from((seed * 7 + i * i * 5) % 11 + 1)).collect();
            let values: Vec<i64> = (0..8).map(|i| (seed * 13 + i * 29) % 9).collect();
            let capacity = (seed % 40) as usize;
            let total = |chosen: &[usize]| chosen.iter().map(|&i| values[i]).sum::<i64>();
            let chosen = solve(&weights, &values, capacity);
            assert_eq!(total(&chosen), best_subset(&weights, &values, capacity as i128));
            assert!(chosen.iter().map(|&i| weights[i]).sum::<i128>() <= capacity as i128);
        }
    }

    fn best_subset(weights: &[i128], values: &[i64], capacity: i128) -> i64 {
        let mut best = 0;
        for mask in 0..1_u32 << weights.len() {
            let chosen = || (0..weights.len()).filter(move |i| mask & (1 << i) != 0);
            if chosen().map(|i| weights[i]).sum::<i128>() <= capacity {
                best = best.max(chosen().map(|i| values[i]).sum());
            }
        }
        best
    }

    #[test]
    fn two_light_items_beat_one_heavy_item() {
        let candidates = [("heavy", "m", 0.9, 100), ("a", "m", 0.6, 50), ("b", "m", 0.5, 50)];
        assert_eq!(names(&EXACT, &candidates, 100), ["b", "a"]);
    }

    #[test]
    fn an_item_of_value_zero_is_never_taken() {
        let candidates = [("tiny", "m", 0.000_09, 1), ("nothing", "m", f64::NAN, 1)];
        assert_eq!(names(&EXACT, &candidates, 10), [""; 0]);
    }

    #[test]
    fn weights_round_up_and_capacity_rounds_down() {
        let slicer = Slicer::Knapsack { bucket_size: None };
        let candidates = [("free", "m", 0.0, 0), ("small", "m", 0.9, 1), ("other", "m", 0.8, 1)];
        assert_eq!(names(&slicer, &candidates, 99), ["free"]);
        assert_eq!(names(&slicer, &candidates, 199), ["free", "small"]);
    }

    #[test]
    fn infinite_scores_are_both_taken_when_both_fit() {
        let candidates = [("a", "m", f64::INFINITY, 1), ("b", "m", f64::INFINITY, 1)];
        assert_eq!(names(&EXACT, &candidates, 2), ["b", "a"]);
    }

    #[test]
    fn a_table_over_fifty_million_cells_is_an_error() {
        let candidates = [("a", "m", 0.5, 1), ("b", "m", 0.5, 1), ("free", "m", 0.5, 0)];
        let error = slice_named(&EXACT, &candidates, 25_000_001).unwrap_err();
        assert_eq!(error.code, "table_too_large");
        let details = ["candidates", "capacity", "cells"].map(|name| error.details[name].as_u64());
        assert_eq!(details, [Some(2), Some(25_000_001), Some(50_000_002)]);
        assert!(slice_named(&EXACT, &candidates, i64::MAX).is_err());
    }

    #[test]
    fn huge_tokens_and_buckets_do_not_overflow() {
        let slicer = Slicer::Knapsack { bucket_size: Some(i64::MAX) };
        assert_eq!(names(&slicer, &[("a", "m", 0.5, i64::MAX)], i64::MAX), ["a"]);
    }
}
