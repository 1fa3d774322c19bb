//! Items, budgets and reports in one line each.
//!
//! Builders are for tests: what the library would refuse with an error, they refuse with a panic
//! at the line of the caller.

use std::fmt::Display;

use cupel::{
    ContextBudget, ContextItem, ContextItemBuilder, ContextKind, ExcludedItem, ExclusionReason,
    IncludedItem, InclusionReason, ScoredItem, SelectionReport,
};

/// Starts an item with its text and token count.
///
/// # Panics
///
/// If the text is empty.
///
/// # Example
///
/// ```
/// use cupel_testing::item;
///
/// let page = item("a page", 120).kind("Document").score(0.8).build();
/// assert_eq!(page.kind().as_str(), "Document");
/// ```
#[track_caller]
pub fn item(content: impl Into<String>, tokens: i64) -> ItemBuilder {
    let content = content.into();
    assert!(!content.is_empty(), "the text of an item must not be empty");
    ItemBuilder { fields: ContextItemBuilder::new(content, tokens), score: None }
}

/// A budget of which everything may be spent: maximum and target are the same.
///
/// [`ContextBudget::builder`] makes the others.
///
/// # Panics
///
/// If the maximum is negative.
///
/// # Example
///
/// ```
/// use cupel_testing::budget;
///
/// assert_eq!(budget(100).target_tokens(), 100);
/// ```
#[track_caller]
#[must_use]
pub fn budget(max_tokens: i64) -> ContextBudget {
    match ContextBudget::builder(max_tokens).build() {
        Ok(budget) => budget,
        Err(error) => panic!("{error}"),
    }
}

/// Starts a report that is made by hand, for tests of code that reads reports.
///
/// # Example
///
/// ```
/// use cupel_testing::{SelectionReportAssertions, item, report};
///
/// let report =
///     report().included(item("short", 10).score(0.9)).over_budget(item("long", 90), 40).build();
/// assert_eq!(report.total_tokens_considered, 100);
/// report.should().exclude_item_with_budget_details(|e| e.item.content() == "long", 90, 40);
/// ```
pub fn report() -> ReportBuilder {
    ReportBuilder { included: Vec::new(), excluded: Vec::new() }
}

/// An item in the making; begun by [`item`].
///
/// [`build`](Self::build) makes a [`ContextItem`] for a pipeline. A [`ReportBuilder`] takes the
/// builder as it is, score and all.
#[derive(Debug)]
#[must_use]
pub struct ItemBuilder {
    fields: ContextItemBuilder,
    score: Option<f64>,
}

impl ItemBuilder {
    /// Sets the kind: a [`ContextKind`] or the name of one. `Message` by default.
    ///
    /// # Panics
    ///
    /// If the name is blank.
    #[track_caller]
    pub fn kind(self, kind: impl TryInto<ContextKind, Error: Display>) -> Self {
        match kind.try_into() {
            Ok(kind) => self.with(|fields| fields.kind(kind)),
            Err(error) => panic!("{error}"),
        }
    }

    /// Its score.
    ///
    /// In a report made by hand it stands as given. In a run,
    /// [`ReflexiveScorer`](cupel::ReflexiveScorer) returns it if it is within 0.0 and 1.0; other
    /// scorers do as they please. Without it, a report has 1.0 for a pinned item and 0.0 for any
    /// other.
    pub fn score(mut self, score: f64) -> Self {
        self.score = Some(score);
        self.with(|fields| fields.future_relevance_hint(score))
    }

    /// Always included, whatever its score.
    pub fn pinned(self) -> Self {
        self.with(|fields| fields.pinned(true))
    }

    /// When it was made, such as `2025-01-31T12:00:00Z`.
    ///
    /// # Panics
    ///
    /// If the text is not a time in the form of RFC 3339.
    #[track_caller]
    pub fn timestamp(self, rfc3339: &str) -> Self {
        match rfc3339.parse() {
            Ok(timestamp) => self.with(|fields| fields.timestamp(timestamp)),
            Err(error) => panic!("`{rfc3339}` is not a timestamp: {error}"),
        }
    }

    /// Whatever else the library's own builder can set.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::item;
    ///
    /// let urgent = item("look here", 5).with(|fields| fields.priority(10)).build();
    /// assert_eq!(urgent.priority(), Some(10));
    /// ```
    pub fn with(self, set: impl FnOnce(ContextItemBuilder) -> ContextItemBuilder) -> Self {
        Self { fields: set(self.fields), ..self }
    }

    /// Finishes the item.
    ///
    /// # Panics
    ///
    /// If [`with`](Self::with) put a builder without a text in its place.
    #[must_use]
    #[track_caller]
    pub fn build(self) -> ContextItem {
        self.scored().item
    }

    #[track_caller]
    fn scored(self) -> ScoredItem {
        match self.fields.build() {
            Ok(item) => {
                let score = self.score.unwrap_or(if item.pinned() { 1.0 } else { 0.0 });
                ScoredItem { item, score }
            }
            Err(error) => panic!("{error}"),
        }
    }
}

impl From<ItemBuilder> for ContextItem {
    fn from(builder: ItemBuilder) -> Self {
        builder.build()
    }
}

impl From<ItemBuilder> for ScoredItem {
    fn from(builder: ItemBuilder) -> Self {
        builder.scored()
    }
}

impl From<ItemBuilder> for IncludedItem {
    fn from(builder: ItemBuilder) -> Self {
        let ScoredItem { item, score } = builder.scored();
        let reason = match item.tokens() {
            _ if item.pinned() => InclusionReason::Pinned,
            0 => InclusionReason::ZeroToken,
            _ => InclusionReason::Scored,
        };
        Self::new(item, score, reason)
    }
}

/// A report in the making; begun by [`report`].
///
/// Counts and sums follow from the items. Included items stay in the order given, as a placer
/// would leave them; excluded ones are put in order of score, equal scores as given.
#[derive(Debug)]
#[must_use]
pub struct ReportBuilder {
    included: Vec<IncludedItem>,
    excluded: Vec<ExcludedItem>,
}

impl ReportBuilder {
    /// Adds an item to the end of the window.
    ///
    /// For an [`ItemBuilder`] the reason follows from the item: pinned, costs nothing, or scored.
    /// An [`IncludedItem`] is taken as it is.
    pub fn included(mut self, item: impl Into<IncludedItem>) -> Self {
        self.included.push(item.into());
        self
    }

    /// Adds an item that was left out.
    pub fn excluded(mut self, item: impl Into<ScoredItem>, reason: ExclusionReason) -> Self {
        let ScoredItem { item, score } = item.into();
        self.excluded.push(ExcludedItem::new(item, score, reason));
        self
    }

    /// Adds an item that was left out because it needs more than the tokens available.
    pub fn over_budget(self, item: impl Into<ScoredItem>, available_tokens: i64) -> Self {
        let scored = item.into();
        let item_tokens = scored.item.tokens();
        self.excluded(scored, ExclusionReason::BudgetExceeded { item_tokens, available_tokens })
    }

    /// Finishes the report.
    #[must_use]
    pub fn build(self) -> SelectionReport {
        SelectionReport::of(self.included, self.excluded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_a_message_without_a_score_unless_told_otherwise() {
        let plain = item("a", 3).build();
        assert_eq!((plain.content(), plain.tokens()), ("a", 3));
        assert_eq!(plain.kind(), &ContextKind::message());
        assert_eq!(plain.future_relevance_hint(), None);
        assert!(!plain.pinned());
    }

    #[test]
    fn an_item_has_what_it_was_given() {
        let item: ContextItem = item("a", 3)
            .kind(ContextKind::memory())
            .score(0.25)
            .pinned()
            .timestamp("2025-01-31T12:00:00Z")
            .with(|fields| fields.tags(vec!["t".into()]))
            .into();
        assert_eq!(item.kind(), &ContextKind::memory());
        assert_eq!(item.future_relevance_hint(), Some(0.25));
        assert!(item.pinned());
        assert_eq!(item.timestamp().unwrap().timestamp(), 1_738_324_800);
        assert_eq!(item.tags(), ["t"]);
    }

    #[test]
    fn the_reason_to_include_follows_from_the_item() {
        let reason = |builder: ItemBuilder| {
            let included = IncludedItem::from(builder);
            (included.reason, included.score)
        };
        assert_eq!(reason(item("a", 3).score(0.5)), (InclusionReason::Scored, 0.5));
        assert_eq!(reason(item("a", 3)), (InclusionReason::Scored, 0.0));
        assert_eq!(reason(item("a", 0).score(0.5)), (InclusionReason::ZeroToken, 0.5));
        assert_eq!(reason(item("a", 0).pinned()), (InclusionReason::Pinned, 1.0));
    }

    #[test]
    fn a_report_keeps_the_window_and_sorts_the_rest() {
        let low = item("low", 30).score(0.1);
        let report = report()
            .included(item("second best", 1).score(0.5))
            .included(IncludedItem::new(item("best", 2).build(), 0.9, InclusionReason::Scored))
            .over_budget(low, 7)
            .excluded(
                ScoredItem { item: item("high", 40).build(), score: 0.8 },
                ExclusionReason::Filtered { filter_name: "f".into() },
            )
            .build();
        let window: Vec<_> = report.included.iter().map(|i| i.item.content()).collect();
        let rest: Vec<_> = report.excluded.iter().map(|e| e.item.content()).collect();
        assert_eq!((window, rest), (vec!["second best", "best"], vec!["high", "low"]));
        assert_eq!((report.total_candidates, report.total_tokens_considered), (4, 73));
        let over = ExclusionReason::BudgetExceeded { item_tokens: 30, available_tokens: 7 };
        assert_eq!(report.excluded[1].reason, over);
    }

    #[test]
    #[should_panic(expected = "the text of an item must not be empty")]
    fn an_item_needs_a_text() {
        let _ = item("", 1);
    }

    #[test]
    #[should_panic(expected = "invalid context kind: \" \"")]
    fn a_kind_is_not_blank() {
        let _ = item("a", 1).kind(" ");
    }

    #[test]
    #[should_panic(expected = "`yesterday` is not a timestamp")]
    fn a_timestamp_is_a_date_and_a_time() {
        let _ = item("a", 1).timestamp("yesterday");
    }

    #[test]
    #[should_panic(expected = "max_tokens `-1` must not be negative")]
    fn a_budget_is_not_negative() {
        let _ = budget(-1);
    }
}
