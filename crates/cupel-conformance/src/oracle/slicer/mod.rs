//! The slicers. Each file is one chapter's pseudocode; the two count slicers share one.

mod count;
mod greedy;
mod knapsack;
mod quota;

use super::model::{Limits, Scored};
use crate::protocol::{ErrorAnswer, Item, Shortfall, Slicer};

/// Decision of a slicer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sliced {
    /// Indices of the chosen items, in the order in which the slicer returns them.
    pub selected: Vec<usize>,
    /// Items that an inner slicer chose and a count cap dropped.
    pub capped: Vec<Capped>,
    /// Count requirements that too few candidates could meet.
    pub shortfalls: Vec<Shortfall>,
}

/// An item that a count cap dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capped {
    /// Index in the caller's list.
    pub index: usize,
    /// The most items of its kind.
    pub cap: usize,
    /// Items of its kind selected by then.
    pub count: usize,
}

/// Items that a slicer chooses from.
#[derive(Debug, Clone, Copy)]
struct Pool<'a> {
    /// The caller's items.
    items: &'a [Item],
    /// The candidates, best score first.
    sorted: &'a [Scored],
    /// The effective budget.
    limits: Limits,
    /// The kind of the quota partition that the candidates form, if they form one.
    partition: Option<&'a str>,
}

impl<'a> Pool<'a> {
    fn item(&self, scored: &Scored) -> &'a Item {
        &self.items[scored.index]
    }
}

/// Chooses among `sorted`, which names items of `items` best score first.
///
/// # Errors
///
/// A knapsack table that is too large, or an unmet requirement whose scarcity is to throw.
pub fn slice(
    slicer: &Slicer,
    items: &[Item],
    sorted: &[Scored],
    limits: Limits,
) -> Result<Sliced, ErrorAnswer> {
    choose(slicer, Pool { items, sorted, limits, partition: None })
}

fn choose(slicer: &Slicer, pool: Pool<'_>) -> Result<Sliced, ErrorAnswer> {
    if pool.sorted.is_empty() || pool.limits.target_tokens <= 0 {
        return Ok(Sliced::default());
    }
    match slicer {
        Slicer::Greedy => Ok(only(greedy::greedy(pool))),
        Slicer::Knapsack { bucket_size } => knapsack::knapsack(pool, *bucket_size).map(only),
        Slicer::Quota { quotas, inner } => quota::quota(pool, quotas, inner),
        Slicer::CountQuota { entries, inner, scarcity_behavior } => {
            count::count_quota(pool, entries, inner, *scarcity_behavior)
        }
        Slicer::CountConstrainedKnapsack { entries, bucket_size, scarcity_behavior } => {
            count::count_constrained_knapsack(pool, entries, *bucket_size, *scarcity_behavior)
        }
    }
}

fn only(selected: Vec<usize>) -> Sliced {
    Sliced { selected, ..Sliced::default() }
}

#[cfg(test)]
mod testing {
    use super::*;

    /// Candidates as (name, kind, score, tokens), outcome with a budget of `target` tokens.
    pub(super) fn slice_named(
        slicer: &Slicer,
        candidates: &[(&str, &str, f64, i64)],
        target: i64,
    ) -> Result<(Vec<String>, Sliced), ErrorAnswer> {
        let items: Vec<Item> = candidates
            .iter()
            .map(|&(name, kind, _, tokens)| Item {
                kind: Some(kind.to_owned()),
                ..Item::new(name, tokens)
            })
            .collect();
        let sorted: Vec<Scored> = candidates
            .iter()
            .enumerate()
            .map(|(index, &(_, _, score, _))| Scored { index, score })
            .collect();
        let limits = Limits { max_tokens: target, target_tokens: target };
        let outcome = slice(slicer, &items, &sorted, limits)?;
        let names = outcome.selected.iter().map(|&index| items[index].content.clone()).collect();
        Ok((names, outcome))
    }

    /// Names of the chosen candidates.
    pub(super) fn names(
        slicer: &Slicer,
        candidates: &[(&str, &str, f64, i64)],
        target: i64,
    ) -> Vec<String> {
        slice_named(slicer, candidates, target).unwrap().0
    }
}
