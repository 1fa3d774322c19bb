//! Fills the budget by score per token.

use super::Pool;
use crate::oracle::order::descending;

pub(super) fn greedy(pool: Pool<'_>) -> Vec<usize> {
    let mut densities: Vec<(f64, usize)> = Vec::new();
    for (position, scored) in pool.sorted.iter().enumerate() {
        let tokens = pool.item(scored).tokens;
        let density = if tokens == 0 { f64::MAX } else { scored.score / tokens as f64 };
        densities.push((density, position));
    }
    densities.sort_by(|a, b| descending(a.0, b.0).then(a.1.cmp(&b.1)));

    let mut remaining = pool.limits.target_tokens;
    let mut selected = Vec::new();
    for (_, position) in densities {
        let scored = &pool.sorted[position];
        let tokens = pool.item(scored).tokens;
        if tokens == 0 {
            selected.push(scored.index);
        } else if tokens <= remaining {
            selected.push(scored.index);
            remaining -= tokens;
        }
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::super::testing::names;
    use crate::protocol::Slicer;

    #[test]
    fn higher_density_goes_first_and_misfits_are_skipped() {
        let candidates = [("big", "m", 0.9, 90), ("dense", "m", 0.8, 20), ("small", "m", 0.1, 30)];
        assert_eq!(names(&Slicer::Greedy, &candidates, 100), ["dense", "small"]);
    }

    #[test]
    fn equal_density_keeps_the_order_of_the_list() {
        let candidates = [("a", "m", 0.5, 50), ("b", "m", 0.5, 50)];
        assert_eq!(names(&Slicer::Greedy, &candidates, 50), ["a"]);
    }

    #[test]
    fn zero_token_items_come_first_in_list_order_but_not_at_target_zero() {
        let candidates = [("paid", "m", 1.0, 1), ("b", "m", 0.0, 0), ("c", "m", 0.9, 0)];
        assert_eq!(names(&Slicer::Greedy, &candidates, 1), ["b", "c", "paid"]);
        assert_eq!(names(&Slicer::Greedy, &candidates, 0), [""; 0]);
    }
}
