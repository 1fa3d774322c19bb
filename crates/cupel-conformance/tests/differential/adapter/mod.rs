//! The oracle's plain data as the library's types.

mod scorer;
mod slicer;

use cupel::{
    ChronologicalPlacer, ContextBudget, ContextItem, ContextItemBuilder, ContextKind,
    ContextSource, OverflowStrategy, PolicyBuilder, UShapedPlacer,
};
use cupel_conformance::oracle::{Budget, Item, Overflow, Placer, Policy};

pub(crate) use scorer::scorer;
pub(crate) use slicer::slicer;

pub(crate) fn item(item: &Item) -> ContextItem {
    let mut builder = ContextItemBuilder::new(item.content.as_str(), item.tokens)
        .kind(kind(&item.kind))
        .source(ContextSource::new(item.source.as_str()).expect("sources are not blank"))
        .tags(item.tags.clone())
        .metadata(item.metadata.clone().into_iter().collect())
        .pinned(item.pinned);
    if let Some(priority) = item.priority {
        builder = builder.priority(priority);
    }
    if let Some(timestamp) = item.timestamp {
        builder = builder.timestamp(timestamp);
    }
    if let Some(hint) = item.future_relevance_hint {
        builder = builder.future_relevance_hint(hint);
    }
    if let Some(tokens) = item.original_tokens {
        builder = builder.original_tokens(tokens);
    }
    builder.build().expect("texts are not empty")
}

pub(crate) fn kind(name: &str) -> ContextKind {
    ContextKind::new(name).expect("kinds are not blank")
}

pub(crate) fn budget(budget: &Budget) -> ContextBudget {
    ContextBudget::new(
        budget.max_tokens,
        budget.target_tokens,
        budget.output_reserve,
        budget.reserved_slots.iter().map(|(name, tokens)| (kind(name), *tokens)).collect(),
        budget.estimation_safety_margin_percent,
    )
    .expect("random budgets are valid")
}

pub(crate) fn policy(policy: &Policy) -> cupel::Policy {
    PolicyBuilder::new()
        .scorer(scorer(&policy.scorer))
        .slicer(slicer(&policy.slicer))
        .placer(placer(policy.placer))
        .deduplication(policy.deduplication)
        .overflow_strategy(overflow_strategy(policy.overflow))
        .build()
        .expect("all three strategies are given")
}

pub(crate) fn placer(placer: Placer) -> Box<dyn cupel::Placer> {
    match placer {
        Placer::Chronological => Box::new(ChronologicalPlacer),
        Placer::UShaped => Box::new(UShapedPlacer),
    }
}

fn overflow_strategy(overflow: Overflow) -> OverflowStrategy {
    match overflow {
        Overflow::Throw => OverflowStrategy::Throw,
        Overflow::Truncate => OverflowStrategy::Truncate,
        Overflow::Proceed => OverflowStrategy::Proceed,
    }
}
