//! Promises about scores.

use cupel::Scorer;
use cupel_conformance::library;
use cupel_conformance::protocol::{self, WeightedScorer};

use crate::differential::case::{Case, Library};
use crate::differential::compare::{Verdict, ensure, same};
use crate::differential::sweep::sweep;

/// Scaled scorer and Score stage: results may be shared among the items of a pass provided that
/// the output stays the same, so scoring a whole list gives what scoring one item at a time gives.
#[test]
fn whole_list_scores_equal_one_item_scores_to_the_last_bit() {
    sweep(5, Case::plain, |case| check(&case.library(), &case.problem.policy.scorer));
}

/// The same for long lists, whose scores may be computed in another way.
#[test]
fn whole_list_scores_of_long_lists_equal_one_item_scores() {
    sweep(200, Case::long, |case| check(&case.library(), &case.problem.policy.scorer));
}

/// The same where one item stands in the list several times.
#[test]
fn whole_list_scores_of_shared_handles_equal_one_item_scores() {
    sweep(20, Case::with_shared_handles, |case| {
        check(&case.library(), &case.problem.policy.scorer)
    });
}

/// The same for scores that are infinite or no numbers, also inside composites and scaled scorers.
#[test]
fn whole_list_scores_equal_one_item_scores_whatever_a_users_scorer_returns() {
    sweep(5, Case::with_raw_scores, |case| {
        let library = case.library();
        nests().iter().try_for_each(|scorer| check(&library, scorer))
    });
}

/// Scorer contract: a scorer is a pure function of the item and the list.
#[test]
fn scoring_twice_gives_the_same_bits() {
    sweep(10, Case::plain, |case| {
        let library = case.library();
        let scorer = built(&case.problem.policy.scorer);
        let first = bits(&scores(&*scorer, &library));
        same("the second pass", &first, &bits(&scores(&*scorer, &library)))?;
        let rebuilt = built(&case.problem.policy.scorer);
        same("the pass of an equal scorer", &first, &bits(&scores(&*rebuilt, &library)))
    });
}

/// Built-in scorers around one that returns anything.
fn nests() -> [protocol::Scorer; 4] {
    use protocol::Scorer::{Composite, RawHint, Recency, Scaled};
    let scaled = |inner| Scaled { inner: Box::new(inner) };
    let composite = |child| Composite {
        scorers: [(0.3, child), (0.6, Recency), (0.1, RawHint)]
            .map(|(weight, scorer)| WeightedScorer { weight, scorer })
            .into(),
    };
    [
        scaled(RawHint),
        composite(RawHint),
        scaled(composite(scaled(RawHint))),
        composite(scaled(RawHint)),
    ]
}

fn built(scorer: &protocol::Scorer) -> Box<dyn Scorer> {
    library::scorer(scorer).expect("problems are valid")
}

fn check(library: &Library, scorer: &protocol::Scorer) -> Verdict {
    let scorer = built(scorer);
    let all = scores(&*scorer, library);
    library.items.iter().zip(all).enumerate().try_for_each(|(index, (item, whole))| {
        let one = scorer.score(item, &library.items);
        let is_same = one.to_bits() == whole.to_bits() || (one.is_nan() && whole.is_nan());
        ensure(is_same, || format!("item {index} scores {one:?} alone and {whole:?} in the list"))
    })
}

fn scores(scorer: &dyn Scorer, library: &Library) -> Vec<f64> {
    // Every score must be written, so what stands there before must not matter.
    let mut written = vec![f64::NAN; library.items.len()];
    scorer.score_all(&cupel::ItemList::new(&library.items), &mut written);
    written
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}
