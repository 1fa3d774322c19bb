//! Random problems that favour trouble, and a shrinker for those that fail.
//!
//! A seed always gives the same problem. Every problem is valid: a real implementation accepts its
//! items, its budget and its policy. Whether the run then succeeds is another matter.
//!
//! ```
//! use cupel_conformance::{oracle, random};
//!
//! let problem = random::problem(42);
//! let first = oracle::run(&problem.items, &problem.budget, &problem.policy);
//! let second = oracle::run(&problem.items, &problem.budget, &problem.policy);
//! assert_eq!(format!("{first:?}"), format!("{second:?}"));
//! ```

mod budget;
mod items;
mod policy;
mod rng;
mod shrink;

use std::fmt;

use crate::protocol::{Budget, Item, Policy, Scorer};

pub use rng::Rng;
pub use shrink::shrink;

/// Everything that a run needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The candidates.
    pub items: Vec<Item>,
    /// The budget.
    pub budget: Budget,
    /// The policy.
    pub policy: Policy,
}

/// The problem that belongs to `seed`, made of built-in strategies only.
pub fn problem(seed: u64) -> Problem {
    let rng = &mut Rng::new(seed);
    let mood = Mood::draw(rng);
    problem_of(rng, mood)
}

fn problem_of(rng: &mut Rng, mood: Mood) -> Problem {
    let items = items::items(rng, mood);
    let budget = budget::budget(rng, mood, &items);
    let policy = policy::policy(rng, mood);
    Problem { items, budget, policy }
}

/// Like [`problem`], but with a list of at least 64 items, and of more than 2048 now and then, for
/// what an implementation does with long lists only. Scorers are not nested, since nesting costs
/// the oracle too much time here.
pub fn long_problem(seed: u64) -> Problem {
    let rng = &mut Rng::new(seed);
    let mood = Mood::draw(rng);
    let item_count = if rng.chance(4) { rng.between(2040, 2100) } else { rng.between(64, 200) };
    problem_of(rng, Mood { item_count, ..mood })
}

/// Like [`problem`], but scored by [`Scorer::RawHint`], so that NaN and infinite scores reach
/// deduplication, sorting, slicing and placing; now and then they are scaled first.
pub fn problem_with_raw_scores(seed: u64) -> Problem {
    let mut problem = problem(seed);
    problem.policy.scorer = match seed % 4 {
        3 => Scorer::Scaled { inner: Box::new(Scorer::RawHint) },
        _ => Scorer::RawHint,
    };
    problem
}

/// Sort of trouble that a problem looks for.
#[derive(Debug, Clone, Copy)]
struct Mood {
    item_count: usize,
    /// Number of the known kinds that the items have.
    kind_count: usize,
    /// Percentage of items with token counts near the end of the integer range.
    huge_percent: usize,
    /// Percentage of pinned items.
    pinned_percent: usize,
    /// Percentage of items with negative tokens.
    negative_percent: usize,
    /// Percentage of items that share their text with others.
    same_text_percent: usize,
}

impl Mood {
    fn draw(rng: &mut Rng) -> Self {
        let item_count = match rng.below(20) {
            0 => rng.between(31, 60),
            1 | 2 => rng.between(13, 30),
            _ => rng.between(0, 12),
        };
        Self {
            item_count,
            kind_count: rng.between(1, items::KINDS.len()),
            huge_percent: if rng.chance(5) { 40 } else { 0 },
            pinned_percent: rng.pick(&[0, 0, 10, 25]),
            negative_percent: rng.pick(&[0, 0, 0, 15]),
            same_text_percent: rng.pick(&[0, 5, 80]),
        }
    }

    /// Returns true if token counts and budgets come near the end of the integer range.
    fn is_huge(self) -> bool {
        self.huge_percent > 0
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Policy { scorer, slicer, placer, deduplication, overflow_strategy } = &self.policy;
        writeln!(f, "budget: {:?}", self.budget)?;
        writeln!(f, "scorer: {scorer:?}")?;
        writeln!(f, "slicer: {slicer:?}")?;
        writeln!(f, "placer: {placer:?}")?;
        writeln!(f, "deduplication: {deduplication:?}, overflow: {overflow_strategy:?}")?;
        writeln!(f, "items:")?;
        for (index, item) in self.items.iter().enumerate() {
            write!(f, "  [{index}] ")?;
            write_item(f, item)?;
        }
        Ok(())
    }
}

/// One line with the fields that differ from the defaults.
fn write_item(f: &mut fmt::Formatter<'_>, item: &Item) -> fmt::Result {
    write!(f, "{:?}, tokens: {}", item.content, item.tokens)?;
    if let Some(kind) = &item.kind {
        write!(f, ", kind: {kind:?}")?;
    }
    if let Some(source) = &item.source {
        write!(f, ", source: {source:?}")?;
    }
    if let Some(priority) = item.priority {
        write!(f, ", priority: {priority}")?;
    }
    if !item.tags.is_empty() {
        write!(f, ", tags: {:?}", item.tags)?;
    }
    if !item.metadata.is_empty() {
        write!(f, ", metadata: {:?}", item.metadata)?;
    }
    if let Some(timestamp) = item.timestamp {
        write!(f, ", timestamp: {timestamp:?}")?;
    }
    if let Some(hint) = item.future_relevance_hint {
        write!(f, ", hint: {hint:?}")?;
    }
    if item.is_pinned() {
        write!(f, ", pinned")?;
    }
    if let Some(original_tokens) = item.original_tokens {
        write!(f, ", original tokens: {original_tokens}")?;
    }
    writeln!(f)
}

#[cfg(test)]
mod tests;
