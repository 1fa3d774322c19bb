//! The comparison of two policies that the specification shows, in its call shapes.

use std::collections::HashMap;
use std::sync::Arc;

use cupel::{
    ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, ItemStatus,
    OverflowStrategy, Policy, PolicyBuilder, PriorityScorer, ReflexiveScorer, policy_sensitivity,
};

#[test]
fn two_policies_swing_two_items() {
    let items = vec![
        ContextItemBuilder::new("item-a", 40)
            .priority(10)
            .future_relevance_hint(0.1)
            .build()
            .unwrap(),
        ContextItemBuilder::new("item-b", 40)
            .priority(1)
            .future_relevance_hint(0.9)
            .build()
            .unwrap(),
    ];
    let budget = ContextBudget::new(50, 40, 0, HashMap::new(), 0.0).unwrap();
    let policy_priority = PolicyBuilder::new()
        .scorer(Arc::new(PriorityScorer))
        .slicer(Arc::new(GreedySlice))
        .placer(Arc::new(ChronologicalPlacer))
        .overflow_strategy(OverflowStrategy::Throw)
        .deduplication(true)
        .build()
        .unwrap();
    let policy_reflexive = PolicyBuilder::new()
        .scorer(Arc::new(ReflexiveScorer))
        .slicer(Arc::new(GreedySlice))
        .placer(Arc::new(ChronologicalPlacer))
        .overflow_strategy(OverflowStrategy::Throw)
        .deduplication(true)
        .build()
        .unwrap();
    let variants: Vec<(&str, &Policy)> =
        vec![("priority", &policy_priority), ("reflexive", &policy_reflexive)];
    let report = policy_sensitivity(&items, &budget, &variants).unwrap();

    let swinging: Vec<_> = report
        .diffs
        .iter()
        .map(|diff| (diff.content.as_str(), diff.statuses[0].1, diff.statuses[1].1))
        .collect();
    use ItemStatus::{Excluded, Included};
    assert_eq!(swinging, [("item-a", Included, Excluded), ("item-b", Excluded, Included)]);
}
