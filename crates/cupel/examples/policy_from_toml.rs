//! Compares a policy from a file with a preset, and shows what swings.
//!
//! `cargo run --example policy_from_toml --features serde`

use std::error::Error;

use cupel::{
    ContextBudget, ContextItemBuilder, ContextKind, ItemStatus, PolicyDescription, Preset,
    policy_sensitivity,
};

const POLICY: &str = r#"
name = "triage"
placer = "u-shaped"

[[scorers]]
type = "priority"
weight = 2

[[scorers]]
type = "decay"
curve = { type = "exponential", half_life = "6h" }
reference_time = 2025-01-01T12:00:00Z

[slicer]
type = "count-quota"
entries = [{ kind = "ToolOutput", require_count = 1, cap_count = 2 }]
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let triage: PolicyDescription = toml::from_str(POLICY)?;
    let item = |text: &str, kind: ContextKind, priority: i64, time: &str| {
        let item = ContextItemBuilder::new(text, 40).kind(kind).priority(priority);
        item.timestamp(time.parse().expect("the times below are valid")).build()
    };
    let items = [
        item("alert", ContextKind::message(), 9, "2025-01-01T08:00:00Z")?,
        item("log", ContextKind::tool_output(), 1, "2025-01-01T06:00:00Z")?,
        item("small talk", ContextKind::message(), 0, "2025-01-01T11:59:00Z")?,
    ];
    let (ours, chat) = (triage.build()?, Preset::Chat.description().build()?);
    let budget = ContextBudget::builder(80).build()?;
    let report = policy_sensitivity(&items, &budget, &[("triage", &ours), ("chat", &chat)])?;
    for diff in &report.diffs {
        let kept_by: Vec<&str> = diff
            .statuses
            .iter()
            .filter(|(_, status)| *status == ItemStatus::Included)
            .map(|(policy, _)| policy.as_str())
            .collect();
        println!("{}: kept by {}", diff.content, kept_by.join(", "));
    }
    Ok(())
}
