//! Bytes as a problem: they choose, one after the other, and where they end all choices are the
//! first. So every input is a valid problem, a longer input a larger one, and a changed byte a
//! changed detail.

mod budget;
mod choices;
mod items;
mod scorer;
mod slicer;

use cupel_conformance::protocol::{OverflowStrategy, Placer, Policy};
use cupel_conformance::random::Problem;

use crate::case::{Case, Handles};
use choices::Choices;

const OVERFLOW_STRATEGIES: [OverflowStrategy; 3] =
    [OverflowStrategy::Throw, OverflowStrategy::Truncate, OverflowStrategy::Proceed];

/// The problem that the bytes stand for, and how to put it to the library.
pub(super) fn case(bytes: &[u8]) -> Case {
    let choices = &mut Choices::new(bytes);
    let handles = choices.pick(&[Handles::Distinct, Handles::Shared]);
    let placer = choices.pick(&[Placer::Chronological, Placer::UShaped]);
    let overflow_strategy = Some(choices.pick(&OVERFLOW_STRATEGIES));
    let deduplication = Some(choices.flag());
    let scorer = scorer::scorer(choices, 3);
    let items = items::items(choices, &scorer);
    let budget = budget::budget(choices, &items);
    let slicer = slicer::slicer(choices, budget.target_tokens, 3, true);
    let policy = Policy { scorer, slicer, placer, deduplication, overflow_strategy };
    Case { problem: Problem { items, budget, policy }, handles, others: Vec::new() }
}
