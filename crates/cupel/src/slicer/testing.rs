//! Helpers that the tests of slicers share.

use super::*;
use crate::ContextItemBuilder;

pub(crate) fn scored(content: &str, tokens: i64, score: f64) -> ScoredItem {
    ScoredItem { item: ContextItemBuilder::new(content, tokens).build().unwrap(), score }
}

pub(crate) fn of_kind(kind: &str, content: &str, tokens: i64, score: f64) -> ScoredItem {
    let item = ContextItemBuilder::new(content, tokens).kind(self::kind(kind));
    ScoredItem { item: item.build().unwrap(), score }
}

pub(crate) fn kind(name: &str) -> ContextKind {
    ContextKind::new(name).unwrap()
}

pub(crate) fn target(tokens: i64) -> ContextBudget {
    ContextBudget::plain(tokens, tokens)
}

pub(crate) fn select(
    slicer: &dyn Slicer,
    items: &[ScoredItem],
    tokens: i64,
) -> Result<Selection, CupelError> {
    let candidates: Vec<Candidate<'_>> = items.iter().map(Candidate::from).collect();
    slicer.select(&SliceRequest::new(&candidates, &target(tokens)))
}

/// Asserts the items that a slicer keeps, in its own order, by both of its methods.
#[track_caller]
pub(crate) fn assert_slice(
    slicer: &dyn Slicer,
    items: &[ScoredItem],
    tokens: i64,
    expected: &[&str],
) {
    let kept = slicer.slice(items, &target(tokens)).unwrap();
    let contents: Vec<&str> = kept.iter().map(ContextItem::content).collect();
    assert_eq!(contents, expected);
    let selected = select(slicer, items, tokens).unwrap().selected;
    let contents: Vec<&str> = selected.iter().map(|at| items[*at].item.content()).collect();
    assert_eq!(contents, expected);
}

#[track_caller]
pub(crate) fn empty_inputs_give_nothing(slicer: &dyn Slicer) {
    assert_slice(slicer, &[], 100, &[]);
    assert_slice(slicer, &[scored("a", 1, 0.9), scored("zero", 0, 0.9)], 0, &[]);
}

/// A slicer that returns whatever it was told to.
struct Returns(Vec<ContextItem>);

impl Slicer for Returns {
    fn slice(&self, _: &[ScoredItem], _: &ContextBudget) -> Result<Vec<ContextItem>, CupelError> {
        Ok(self.0.clone())
    }
}

#[test]
fn handles_that_a_slicer_returns_claim_positions_in_order() {
    let a = scored("a", 1, 0.9);
    let items = [a.clone(), scored("a", 1, 0.5), a.clone()];
    let slicer = Returns(vec![a.item.clone(), items[1].item.clone(), a.item.clone()]);
    assert_eq!(select(&slicer, &items, 10).unwrap().selected, [0, 1, 2]);
}

#[test]
fn a_slicer_that_returns_foreign_or_repeated_items_is_an_error() {
    let items = [scored("a", 1, 0.9)];
    let text = |kept| select(&Returns(kept), &items, 10).unwrap_err().to_string();
    let expected = "the slicer returned an item that it was not given, or twice: `a`";
    assert_eq!(text(vec![scored("a", 1, 0.9).item]), expected);
    assert_eq!(text(vec![items[0].item.clone(), items[0].item.clone()]), expected);
}
