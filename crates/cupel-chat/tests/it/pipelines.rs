//! Policies that differ as much as they can, and a counter that needs no vocabulary.

use cupel::{
    ChronologicalPlacer, ContextItem, GreedySlice, KnapsackSlice, Pipeline, Preset, RecencyScorer,
    Scorer,
};
use cupel_tokens::TokenCounter;

/// A token for every four bytes, the last one begun counts.
pub(crate) struct Quarters;

impl TokenCounter for Quarters {
    fn name(&self) -> &'static str {
        "quarters"
    }

    fn count(&self, text: &str) -> i64 {
        i64::try_from(text.len().div_ceil(4)).unwrap()
    }
}

/// Scores that have nothing to do with the text.
struct Arbitrary(u64);

impl Scorer for Arbitrary {
    fn score(&self, item: &ContextItem, _all: &[ContextItem]) -> f64 {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = item.content().bytes().fold(0xcbf2_9ce4_8422_2325 ^ self.0, mix);
        (hash >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A pipeline, and whether it keeps everything that fits: those that drop duplicates do not, nor does
/// a knapsack, to which the oldest item is worth nothing.
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) keeps_all: bool,
    pub(crate) pipeline: Pipeline,
}

/// One of each sort.
pub(crate) fn all() -> Vec<Named> {
    let plain = |pipeline: cupel::PipelineBuilder| {
        pipeline.placer(ChronologicalPlacer).deduplication(false).build().unwrap()
    };
    let preset = |preset: Preset| Pipeline::from(preset.description().build().unwrap());
    let greedy = || Pipeline::builder().slicer(GreedySlice);
    let knapsack = KnapsackSlice::new(1).unwrap();
    let named = |name, keeps_all, pipeline| Named { name, keeps_all, pipeline };
    vec![
        named("recency, greedy", true, plain(greedy().scorer(RecencyScorer))),
        named(
            "recency, knapsack",
            false,
            plain(Pipeline::builder().scorer(RecencyScorer).slicer(knapsack)),
        ),
        named("arbitrary 1, greedy", true, plain(greedy().scorer(Arbitrary(1)))),
        named("arbitrary 2, greedy", true, plain(greedy().scorer(Arbitrary(2)))),
        named("chat", false, preset(Preset::Chat)),
        named("tool-use", false, preset(Preset::ToolUse)),
        named("code-review", false, preset(Preset::CodeReview)),
    ]
}
