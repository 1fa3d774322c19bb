//! Items and budgets, by the library's builders.

use cupel::{
    ContextBudget, ContextItem, ContextItemBuilder, ContextKind, ContextSource, CupelError,
};

use crate::protocol::{Budget, Item};

pub(super) fn items(items: &[Item]) -> Result<Vec<ContextItem>, CupelError> {
    items.iter().map(item).collect()
}

/// An item.
///
/// # Errors
///
/// Errors of [`ContextItemBuilder::build`], and blank kinds and sources.
pub fn item(item: &Item) -> Result<ContextItem, CupelError> {
    let mut builder = ContextItemBuilder::new(&item.content, item.tokens)
        .tags(item.tags.clone())
        .metadata(item.metadata.clone().into_iter().collect());
    if let Some(kind) = &item.kind {
        builder = builder.kind(ContextKind::new(kind)?);
    }
    if let Some(source) = &item.source {
        builder = builder.source(ContextSource::new(source)?);
    }
    if let Some(priority) = item.priority {
        builder = builder.priority(priority);
    }
    if let Some(timestamp) = item.timestamp {
        builder = builder.timestamp(timestamp);
    }
    if let Some(hint) = item.future_relevance_hint {
        builder = builder.future_relevance_hint(hint);
    }
    if let Some(pinned) = item.pinned {
        builder = builder.pinned(pinned);
    }
    if let Some(tokens) = item.original_tokens {
        builder = builder.original_tokens(tokens);
    }
    builder.build()
}

/// A budget.
///
/// # Errors
///
/// Errors of [`ContextBudget::new`], and blank kinds.
pub fn budget(budget: &Budget) -> Result<ContextBudget, CupelError> {
    let mut builder = ContextBudget::builder(budget.max_tokens).target_tokens(budget.target_tokens);
    if let Some(tokens) = budget.output_reserve {
        builder = builder.output_reserve(tokens);
    }
    if let Some(percent) = budget.estimation_safety_margin_percent {
        builder = builder.estimation_safety_margin_percent(percent);
    }
    for (kind, tokens) in &budget.reserved_slots {
        builder = builder.reserve(ContextKind::new(kind)?, *tokens);
    }
    builder.build()
}
