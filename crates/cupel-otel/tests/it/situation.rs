//! Things to run.

use std::time::Duration;

use cupel::{
    ChronologicalPlacer, ContextBudget, ContextItem, ContextItemBuilder, ContextKind, CupelError,
    GreedySlice, ItemList, Pipeline, PipelineBuilder, ReflexiveScorer, ScoredItem, Scorer, Slicer,
    TraceCollector,
};

/// A pipeline with its input.
pub(crate) struct Situation {
    pub(crate) pipeline: Pipeline,
    pub(crate) items: Vec<ContextItem>,
    pub(crate) budget: ContextBudget,
}

impl Situation {
    pub(crate) fn run(
        &self,
        collector: &mut dyn TraceCollector,
    ) -> Result<Vec<ContextItem>, CupelError> {
        self.pipeline.run_traced(&self.items, &self.budget, collector)
    }
}

pub(crate) fn item(text: &str, tokens: i64) -> ContextItemBuilder {
    ContextItemBuilder::new(text, tokens)
}

pub(crate) fn kind(name: &str) -> ContextKind {
    ContextKind::new(name).unwrap()
}

pub(crate) fn budget(tokens: i64) -> ContextBudget {
    ContextBudget::builder(tokens).build().unwrap()
}

/// By relevance hint, greedy, in order of time.
pub(crate) fn pipeline() -> PipelineBuilder {
    Pipeline::builder().scorer(ReflexiveScorer).slicer(GreedySlice).placer(ChronologicalPlacer)
}

/// Every stage that can leave something out does, but for Place.
///
/// Six candidates of 565 tokens; in the window are `rules`, a `twin` and `fits`, 60 tokens of 100.
pub(crate) fn usual() -> Situation {
    let items = [
        item("rules", 20).kind(kind("SystemPrompt")).pinned(true),
        item("negative", -5).kind(kind("Memory")),
        item("twin", 10).kind(kind("Document")).future_relevance_hint(0.9),
        item("twin", 10).kind(kind("Document")).future_relevance_hint(0.4),
        item("fits", 30).kind(kind("Message")).future_relevance_hint(0.8),
        item("huge", 500).kind(kind("ToolOutput")).future_relevance_hint(0.5),
    ];
    Situation {
        pipeline: pipeline().build().unwrap(),
        items: items.map(|item| item.build().unwrap()).into(),
        budget: budget(100),
    }
}

/// A thousand items too many, and one that fits.
pub(crate) fn thousand_exclusions() -> Situation {
    let mut items = vec![item("fits", 1).future_relevance_hint(1.0)];
    items.extend((0..1_000).map(|i| item(&format!("too long, {i}"), 50)));
    Situation {
        pipeline: pipeline().build().unwrap(),
        items: items.into_iter().map(|item| item.build().unwrap()).collect(),
        budget: budget(10),
    }
}

/// The usual one, but it fails at Slice.
pub(crate) fn failing_at_slice() -> Situation {
    let pipeline = pipeline().slicer(RefusingSlicer).build().unwrap();
    Situation { pipeline, ..usual() }
}

/// Scoring takes this long.
pub(crate) fn slow_scoring(duration: Duration) -> Situation {
    let pipeline = pipeline().scorer(SlowScorer(duration)).build().unwrap();
    Situation { pipeline, ..usual() }
}

/// Scoring takes this long, and then Slice fails.
pub(crate) fn slow_scoring_in_vain(duration: Duration) -> Situation {
    let pipeline = pipeline().scorer(SlowScorer(duration)).slicer(RefusingSlicer).build().unwrap();
    Situation { pipeline, ..usual() }
}

struct RefusingSlicer;

impl Slicer for RefusingSlicer {
    fn slice(&self, _: &[ScoredItem], _: &ContextBudget) -> Result<Vec<ContextItem>, CupelError> {
        Err(CupelError::SlicerConfig("no".into()))
    }
}

/// Takes everything, whatever the budget.
pub(crate) struct TakesAll;

impl Slicer for TakesAll {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        _budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        Ok(sorted.iter().map(|scored| scored.item.clone()).collect())
    }
}

struct SlowScorer(Duration);

impl Scorer for SlowScorer {
    fn score(&self, item: &ContextItem, _all_items: &[ContextItem]) -> f64 {
        item.future_relevance_hint().unwrap_or(0.0)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        std::thread::sleep(self.0);
        for (item, score) in items.iter().zip(scores) {
            *score = self.score(item, items);
        }
    }
}
