//! Says of every single item why it is in or out, what a little less budget would cost, and what
//! it would take to include an item that was left out.
//!
//! `cargo run --example explain_selection`

use chrono::{Duration, TimeZone, Utc};
use cupel::{
    ChronologicalPlacer, CompositeScorer, ContextBudget, ContextItem, ContextItemBuilder,
    ContextKind, CupelError, DecayCurve, DecayScorer, FixedClock, GreedySlice, Pipeline,
    PriorityScorer,
};

fn candidates() -> Result<Vec<ContextItem>, CupelError> {
    let now = Utc.with_ymd_and_hms(2025, 1, 2, 12, 0, 0).unwrap();
    let item = |text: &str, tokens: i64, hours_ago: i64, priority: i64| {
        ContextItemBuilder::new(text, tokens)
            .timestamp(now - Duration::hours(hours_ago))
            .priority(priority)
    };
    Ok(vec![
        item("Follow the house rules.", 20, 30, 9)
            .kind(ContextKind::system_prompt())
            .pinned(true)
            .build()?,
        item("ticket 4711: login fails", 35, 20, 8).build()?,
        item("stack trace of the login service", 120, 3, 7)
            .kind(ContextKind::tool_output())
            .build()?,
        item("ticket 4711: login fails", 35, 2, 8).build()?,
        item("lunch menu", 15, 1, 0).build()?,
        item("README of the login service", 90, 48, 5).kind(ContextKind::document()).build()?,
        item("a message whose count went wrong", -1, 1, 5).build()?,
    ])
}

fn pipeline() -> Result<Pipeline, CupelError> {
    let clock = FixedClock(Utc.with_ymd_and_hms(2025, 1, 2, 12, 0, 0).unwrap());
    let freshness =
        DecayScorer::new(Box::new(clock), DecayCurve::exponential(Duration::hours(12))?, 0.5)?;
    Pipeline::builder()
        .scorer(CompositeScorer::new(vec![
            (Box::new(freshness), 1.0),
            (Box::new(PriorityScorer), 2.0),
        ])?)
        .slicer(GreedySlice)
        .placer(ChronologicalPlacer)
        .build()
}

fn main() -> Result<(), CupelError> {
    let (pipeline, items) = (pipeline()?, candidates()?);
    let budget = ContextBudget::builder(200).build()?;
    let report = pipeline.dry_run(&items, &budget)?;

    println!("in the window:");
    for included in &report.included {
        println!("  {:.2}  {}  ({})", included.score, included.item.content(), included.reason);
    }
    println!("left out:");
    for excluded in &report.excluded {
        println!("  {:.2}  {}  ({})", excluded.score, excluded.item.content(), excluded.reason);
    }
    println!("with 20 tokens less:");
    for item in pipeline.get_marginal_items(&items, &budget, 20)? {
        println!("  without {}", item.content());
    }
    let readme = &items[5];
    if let Some(tokens) = pipeline.find_min_budget_for(&items, &budget, readme, 10_000)? {
        println!("{} needs a budget of {tokens} tokens", readme.content());
    }
    Ok(())
}
