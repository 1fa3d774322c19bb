mod table;

use super::{Selection, SliceRequest, Slicer, slice_by_selecting};
use crate::{ContextBudget, ContextItem, CupelError, ScoredItem};
use table::Packable;

/// The largest table that a selection may need, in cells.
const MAX_CELLS: i64 = 50_000_000;

/// Scores become integers with four digits.
const SCORE_SCALE: f64 = 10_000.0;

/// Finds the items with the best total score that fit, counting tokens in buckets.
///
/// **When to choose it:** the budget is tight and items are large against it, so that what
/// [`GreedySlice`](crate::GreedySlice) leaves unused would matter.
///
/// **Steps:** tokens are rounded up and the target is rounded down to whole buckets; scores become
/// integers, `⌊score × 10000⌋`; dynamic programming finds the best total.
///
/// **Ties and edge cases:** among equally good selections the one with earlier items is taken. An
/// item whose integer score is 0 is never taken, unless it has zero tokens: those always are. A
/// target below one bucket takes nothing else. Rounding never exceeds the target, but may leave
/// part of it unused: with buckets of 100, an item of 101 tokens counts as 200. Use
/// [`with_finest_bucket_size`](Self::with_finest_bucket_size) for small items.
///
/// **Cost:** candidates × buckets, at most 50,000,000; more is an error. Candidates that cannot
/// matter, because enough others of the same size are at least as good, cost nothing.
///
/// # Example
///
/// ```
/// use cupel::{ContextBudget, ContextItemBuilder, KnapsackSlice, ScoredItem, Slicer};
///
/// let scored = |text: &str, tokens, score| {
///     ContextItemBuilder::new(text, tokens).build().map(|item| ScoredItem { item, score })
/// };
/// // By density the small item would come first, and then neither of the large ones fits.
/// let sorted = [scored("left", 50, 0.7)?, scored("right", 50, 0.7)?, scored("small", 10, 0.2)?];
/// let kept = KnapsackSlice::new(10)?.slice(&sorted, &ContextBudget::builder(100).build()?)?;
/// assert_eq!(kept.len(), 2);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Slicers, `KnapsackSlice`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KnapsackSlice {
    bucket: Bucket,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Bucket {
    Tokens(i64),
    Finest,
}

impl KnapsackSlice {
    /// The bucket size when none is given.
    pub const DEFAULT_BUCKET_SIZE: i64 = 100;

    /// Counts tokens in buckets of the given size.
    ///
    /// # Errors
    ///
    /// [`CupelError::SlicerConfig`] if `bucket_size` is not positive.
    pub fn new(bucket_size: i64) -> Result<Self, CupelError> {
        if bucket_size <= 0 {
            return Err(CupelError::SlicerConfig(format!(
                "bucket_size: must be positive, got {bucket_size}"
            )));
        }
        Ok(Self { bucket: Bucket::Tokens(bucket_size) })
    }

    /// Counts tokens in buckets of 100.
    #[must_use]
    pub fn with_default_bucket_size() -> Self {
        Self { bucket: Bucket::Tokens(Self::DEFAULT_BUCKET_SIZE) }
    }

    /// Chooses the smallest bucket size that the limit on the table allows, anew for each
    /// selection. It never fails with [`CupelError::TableTooLarge`].
    #[must_use]
    pub fn with_finest_bucket_size() -> Self {
        Self { bucket: Bucket::Finest }
    }

    fn bucket_size(self, candidates: usize, target: i64) -> i64 {
        match self.bucket {
            Bucket::Tokens(size) => size,
            // The smallest size for which ⌊target / size⌋ × candidates stays within the limit.
            Bucket::Finest => {
                let candidates = i64::try_from(candidates).unwrap_or(i64::MAX);
                target / (MAX_CELLS / candidates.max(1) + 1) + 1
            }
        }
    }
}

fn check_table(candidates: usize, capacity: u64) -> Result<(), CupelError> {
    let cells = u128::from(capacity) * candidates as u128;
    if cells <= MAX_CELLS as u128 {
        return Ok(());
    }
    Err(CupelError::TableTooLarge {
        candidates,
        capacity: usize::try_from(capacity).unwrap_or(usize::MAX),
        cells: u64::try_from(cells).unwrap_or(u64::MAX),
    })
}

/// `⌊score × 10000⌋`, at least 0; infinity saturates and NaN is 0.
fn integer_value(score: f64) -> u64 {
    (score * SCORE_SCALE).floor().clamp(0.0, i64::MAX as f64) as u64
}

impl Slicer for KnapsackSlice {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        slice_by_selecting(self, sorted, budget)
    }

    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        if request.is_empty() {
            return Ok(Selection::default());
        }
        let positions = |wanted: fn(i64) -> bool| {
            let all = request.candidates.iter().enumerate();
            all.filter(move |(_, candidate)| wanted(candidate.tokens())).map(|(at, _)| at)
        };
        let mut selected: Vec<usize> = positions(|tokens| tokens == 0).collect();
        let competing = positions(|tokens| tokens > 0).count();
        let target = request.budget.target_tokens();
        let bucket = self.bucket_size(competing, target);
        let capacity = (target / bucket) as u64;
        if competing == 0 || capacity == 0 {
            return Ok(Selection::of(selected));
        }
        check_table(competing, capacity)?;
        let packables = positions(|tokens| tokens > 0).map(|at| {
            let candidate = &request.candidates[at];
            let weight = (candidate.tokens() as u64).div_ceil(bucket as u64);
            Packable { position: at, weight, value: integer_value(candidate.score()) }
        });
        selected.extend(table::best_packing(packables, capacity));
        Ok(Selection::of(selected))
    }

    fn is_knapsack(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_slice, empty_inputs_give_nothing, scored, select};
    use super::*;

    fn bucket(size: i64) -> KnapsackSlice {
        KnapsackSlice::new(size).unwrap()
    }

    #[test]
    fn an_empty_list_and_a_target_of_zero_give_nothing() {
        empty_inputs_give_nothing(&bucket(1));
    }

    #[test]
    fn the_best_total_wins_over_the_best_density() {
        let items = [scored("a", 50, 0.7), scored("b", 50, 0.7), scored("dense", 10, 0.2)];
        assert_slice(&bucket(10), &items, 100, &["b", "a"]);
    }

    #[test]
    fn zero_token_items_come_first_and_always() {
        let items = [scored("a", 10, 0.7), scored("z1", 0, 0.0), scored("z2", 0, f64::NAN)];
        assert_slice(&bucket(10), &items, 10, &["z1", "z2", "a"]);
        assert_slice(&bucket(10), &items[1..], 1, &["z1", "z2"]);
        assert_slice(&bucket(100), &items, 99, &["z1", "z2"]);
    }

    #[test]
    fn items_larger_than_the_capacity_are_left_out() {
        let items = [scored("big", 300, 0.9), scored("small", 100, 0.1)];
        assert_slice(&bucket(100), &items, 200, &["small"]);
    }

    #[test]
    fn tokens_round_up_and_the_target_rounds_down() {
        assert_slice(&bucket(100), &[scored("a", 101, 0.9)], 199, &[]);
        assert_slice(&bucket(100), &[scored("a", 101, 0.9)], 200, &["a"]);
        assert_slice(&bucket(100), &[scored("a", 100, 0.9)], 199, &["a"]);
    }

    #[test]
    fn among_equals_the_earlier_items_are_taken() {
        let items = [scored("a", 10, 0.5), scored("b", 10, 0.5), scored("c", 10, 0.5)];
        assert_slice(&bucket(10), &items, 20, &["b", "a"]);
    }

    #[test]
    fn an_item_of_integer_score_zero_is_never_taken() {
        let items =
            [scored("tiny", 10, 0.000_099), scored("neg", 10, -1.0), scored("nan", 1, f64::NAN)];
        assert_slice(&bucket(10), &items, 100, &[]);
        assert_slice(&bucket(10), &[scored("least", 10, 0.000_1)], 100, &["least"]);
    }

    #[test]
    fn infinite_scores_saturate() {
        let items = [
            scored("i1", 10, f64::INFINITY),
            scored("i2", 10, f64::INFINITY),
            scored("i3", 10, 1e300),
        ];
        assert_slice(&bucket(10), &items, 30, &["i3", "i2", "i1"]);
        assert_slice(&bucket(10), &items, 20, &["i2", "i1"]);
        assert_slice(&bucket(10), &[scored("-inf", 10, f64::NEG_INFINITY)], 30, &[]);
    }

    #[test]
    fn negative_token_counts_do_not_compete() {
        assert_slice(&bucket(1), &[scored("neg", -5, 0.9), scored("a", 5, 0.1)], 10, &["a"]);
    }

    #[test]
    fn unsorted_candidates_are_packed_as_well() {
        let items = [
            scored("w1", 10, 0.1),
            scored("w2", 10, 0.1),
            scored("best", 10, 0.9),
            scored("good", 10, 0.8),
        ];
        assert_slice(&bucket(10), &items, 20, &["good", "best"]);
    }

    #[test]
    fn a_table_beyond_the_limit_is_refused_counting_all_candidates() {
        let items: Vec<_> = (0..101).map(|i| scored(&format!("{i}"), 1, 0.0)).collect();
        let error = select(&bucket(1), &items, 500_000).unwrap_err();
        let cells = 50_500_000;
        assert_eq!(error, CupelError::TableTooLarge { candidates: 101, capacity: 500_000, cells });
        assert!(select(&bucket(1), &items[..100], 500_000).is_ok());
        let huge = [scored("a", i64::MAX, 0.5), scored("b", 1, 0.5)];
        let error = select(&bucket(1), &huge, i64::MAX).unwrap_err();
        assert!(matches!(error, CupelError::TableTooLarge { cells, .. } if cells == u64::MAX - 1));
    }

    #[test]
    fn the_finest_bucket_size_stays_just_within_the_limit() {
        for (candidates, target) in [(1, 10), (100, 500_000), (101, 500_000), (3, i64::MAX)] {
            let size = KnapsackSlice::with_finest_bucket_size().bucket_size(candidates, target);
            assert!(check_table(candidates, (target / size) as u64).is_ok());
            let finer = size - 1;
            assert!(finer == 0 || check_table(candidates, (target / finer) as u64).is_err());
        }
        let items = [scored("a", 101, 0.9), scored("b", 99, 0.8)];
        assert_slice(&KnapsackSlice::with_finest_bucket_size(), &items, 200, &["b", "a"]);
    }

    #[test]
    fn a_bucket_size_that_is_not_positive_is_refused() {
        for bad in [0, -1, i64::MIN] {
            let error = KnapsackSlice::new(bad).unwrap_err();
            assert_eq!(error.to_string(), format!("bucket_size: must be positive, got {bad}"));
        }
        assert_eq!(KnapsackSlice::with_default_bucket_size(), bucket(100));
    }
}
