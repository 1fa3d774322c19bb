use chrono::{DateTime, TimeDelta, Utc};
use cupel::{
    ContextBudget, ContextItem, ContextItemBuilder, ContextKind, FixedClock, Pipeline,
    PolicyDescription,
};

use super::round_trip::{json, readings, through_json};

/// Bytes that describe a policy, as JSON or as TOML, describe the same one after writing and
/// reading it; it can be built; and its plain run and its dry run agree.
pub fn policy(bytes: &[u8]) {
    for description in readings::<PolicyDescription>(bytes) {
        let copy = through_json(&description);
        assert_eq!(description, copy);
        assert_eq!(json(&description), json(&copy));

        let policy = description.build_with_clock(FixedClock(noon()));
        let pipeline = Pipeline::from(policy.expect("a description that was read can be built"));
        let budgets = [Some(budget(60)), Some(budget(1_000)), description.budget];
        for budget in budgets.into_iter().flatten() {
            run(&pipeline, &items(), &budget);
        }
    }
}

fn run(pipeline: &Pipeline, items: &[ContextItem], budget: &ContextBudget) {
    match (pipeline.run(items, budget), pipeline.dry_run(items, budget)) {
        (Ok(window), Ok(report)) => {
            assert_eq!(report.included.len() + report.excluded.len(), items.len());
            assert_eq!(report.included.len(), window.len());
            for (included, item) in report.included.iter().zip(&window) {
                assert!(included.item.is_same_item(item), "{included:?} is not {item:?}");
            }
        }
        (window, report) => assert_eq!(window.err(), report.err()),
    }
}

fn budget(tokens: i64) -> ContextBudget {
    ContextBudget::builder(tokens).build().expect("a valid budget")
}

/// One of every sort, and two with the same text.
fn items() -> Vec<ContextItem> {
    let tagged = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>();
    let items = [
        new("rules", 10).kind(ContextKind::system_prompt()).pinned(true),
        new("question", 20).priority(3).timestamp(noon()).tags(tagged(&["error", "a"])),
        new("answer", 30).timestamp(noon() - TimeDelta::hours(1)).future_relevance_hint(0.5),
        new("answer", 30).timestamp(noon() - TimeDelta::hours(2)).future_relevance_hint(0.75),
        new("listing", 40).kind(ContextKind::document()).tags(tagged(&["A", "warning"])),
        new("result", 25).kind(ContextKind::tool_output()).future_relevance_hint(f64::NAN),
        new("fact", 0)
            .kind(ContextKind::memory())
            .metadata([("cupel:trust".to_owned(), "0.9".to_owned())].into()),
        new("broken", -1).priority(i64::MIN),
        new("endless", i64::MAX).timestamp(noon() + TimeDelta::days(1)).priority(i64::MAX),
    ];
    items.map(|item| item.build().expect("texts are not empty")).into()
}

fn new(content: &str, tokens: i64) -> ContextItemBuilder {
    ContextItemBuilder::new(content, tokens)
}

fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp(1_735_732_800, 0).unwrap_or_default()
}
