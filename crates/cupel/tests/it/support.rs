//! Builders that keep the tests short.

use cupel::*;

/// A scorer that returns the hint as it is, whatever it is.
pub(crate) struct RawHint;

impl Scorer for RawHint {
    fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
        item.future_relevance_hint().unwrap_or(0.0)
    }
}

/// An item under construction, with a hint as its score.
pub(crate) fn hinted(content: &str, tokens: i64, hint: f64) -> ContextItemBuilder {
    ContextItemBuilder::new(content, tokens).future_relevance_hint(hint)
}

pub(crate) fn item(content: &str, tokens: i64, hint: f64) -> ContextItem {
    hinted(content, tokens, hint).build().unwrap()
}

pub(crate) fn pinned(content: &str, tokens: i64) -> ContextItem {
    ContextItemBuilder::new(content, tokens).pinned(true).build().unwrap()
}

pub(crate) fn kind(name: &str) -> ContextKind {
    ContextKind::new(name).unwrap()
}

pub(crate) fn budget(tokens: i64) -> ContextBudget {
    ContextBudget::builder(tokens).build().unwrap()
}

/// Keeps the merged order: pinned first, then by score.
pub(crate) struct AsMerged;

impl Placer for AsMerged {
    fn place(&self, items: &[ScoredItem]) -> Vec<ContextItem> {
        items.iter().map(|scored| scored.item.clone()).collect()
    }
}

pub(crate) fn pipeline_with(slicer: impl Slicer + 'static, overflow: OverflowStrategy) -> Pipeline {
    Pipeline::builder()
        .scorer(RawHint)
        .slicer(slicer)
        .placer(AsMerged)
        .overflow_strategy(overflow)
        .build()
        .unwrap()
}

pub(crate) fn greedy() -> Pipeline {
    pipeline_with(GreedySlice, OverflowStrategy::Throw)
}

/// Greedy without deduplication.
pub(crate) fn greedy_with_duplicates() -> Pipeline {
    Pipeline::builder()
        .scorer(RawHint)
        .slicer(GreedySlice)
        .placer(AsMerged)
        .deduplication(false)
        .build()
        .unwrap()
}

/// Guarantees `require` items of kind `k`, at most `cap`.
pub(crate) fn counting(require: usize, cap: usize) -> CountQuotaSlice {
    let entry = CountQuotaEntry::new(kind("k"), require, cap).unwrap();
    CountQuotaSlice::new(vec![entry], Box::new(GreedySlice), ScarcityBehavior::Degrade).unwrap()
}

pub(crate) fn of_kind(name: &str, content: &str, tokens: i64, hint: f64) -> ContextItem {
    hinted(content, tokens, hint).kind(kind(name)).build().unwrap()
}

pub(crate) fn contents(items: &[ContextItem]) -> Vec<&str> {
    items.iter().map(ContextItem::content).collect()
}

pub(crate) fn included(report: &SelectionReport) -> Vec<&str> {
    report.included.iter().map(|included| included.item.content()).collect()
}

pub(crate) fn excluded(report: &SelectionReport) -> Vec<&str> {
    report.excluded.iter().map(|excluded| excluded.item.content()).collect()
}

pub(crate) fn reason<'r>(report: &'r SelectionReport, content: &str) -> &'r ExclusionReason {
    let excluded = report.excluded.iter().find(|excluded| excluded.item.content() == content);
    &excluded.unwrap().reason
}

pub(crate) fn does_not_fit(item_tokens: i64, available_tokens: i64) -> ExclusionReason {
    ExclusionReason::BudgetExceeded { item_tokens, available_tokens }
}
