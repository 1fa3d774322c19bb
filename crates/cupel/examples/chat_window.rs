//! Fits a conversation into a small window: the system prompt always stays, the newest turns come
//! first, and the window reads in the order in which it was said.
//!
//! `cargo run --example chat_window`

use chrono::{Duration, TimeZone, Utc};
use cupel::{
    ChronologicalPlacer, CompositeScorer, ContextBudget, ContextItem, ContextItemBuilder,
    ContextKind, CupelError, GreedySlice, KindScorer, Pipeline, RecencyScorer,
};

fn conversation() -> Result<Vec<ContextItem>, CupelError> {
    let start = Utc.with_ymd_and_hms(2025, 1, 1, 9, 0, 0).unwrap();
    let turn = |minute: i64, kind: ContextKind, text: &str, tokens: i64| {
        ContextItemBuilder::new(text, tokens)
            .kind(kind)
            .timestamp(start + Duration::minutes(minute))
            .build()
    };
    Ok(vec![
        ContextItemBuilder::new("You answer in one sentence.", 8)
            .kind(ContextKind::system_prompt())
            .timestamp(start)
            .pinned(true)
            .build()?,
        turn(1, ContextKind::message(), "Hi! How is the weather in Bergen?", 40)?,
        turn(2, ContextKind::message(), "Rainy, as usual.", 30)?,
        turn(3, ContextKind::message(), "Now look at the deploy, please.", 8)?,
        turn(4, ContextKind::tool_output(), "deploy.log: step 3 failed, exit code 1", 24)?,
        turn(5, ContextKind::message(), "Why did step 3 fail?", 7)?,
    ])
}

fn main() -> Result<(), CupelError> {
    let pipeline = Pipeline::builder()
        .scorer(CompositeScorer::new(vec![
            (Box::new(RecencyScorer), 3.0),
            (Box::new(KindScorer::with_default_weights()), 1.0),
        ])?)
        .slicer(GreedySlice)
        .placer(ChronologicalPlacer)
        .build()?;

    let budget = ContextBudget::builder(64).output_reserve(16).build()?;
    for item in pipeline.run(&conversation()?, &budget)? {
        println!("{:>3} tokens  {:<12}  {}", item.tokens(), item.kind(), item.content());
    }
    Ok(())
}
