//! Items and budgets.

use std::collections::BTreeMap;

use toml::Value;

use super::VectorError;
use super::fields::Fields;
use crate::protocol::{Budget, Item};

/// Items without scores; absent means none.
pub(super) fn items(root: &mut Fields) -> Result<Vec<Item>, VectorError> {
    let mut items = Vec::new();
    for mut fields in root.tables(&["items"])?.unwrap_or_default() {
        items.push(item(&mut fields)?);
        fields.finish();
    }
    Ok(items)
}

/// Items and their scores, under either name.
pub(super) fn scored_items(root: &mut Fields) -> Result<(Vec<Item>, Vec<f64>), VectorError> {
    let mut items = Vec::new();
    let mut scores = Vec::new();
    for mut fields in root.tables(&["scored_items", "items"])?.unwrap_or_default() {
        items.push(item(&mut fields)?);
        scores.push(fields.float(&["score"])?.unwrap_or(0.0));
        fields.finish();
    }
    Ok((items, scores))
}

/// One item.
pub(super) fn item(fields: &mut Fields) -> Result<Item, VectorError> {
    Ok(Item {
        content: fields.text(&["content"])?.ok_or_else(|| fields.missing("content"))?,
        tokens: fields.integer("tokens")?.ok_or_else(|| fields.missing("tokens"))?,
        kind: fields.text(&["kind"])?,
        source: fields.text(&["source"])?,
        priority: fields.integer("priority")?,
        tags: fields.texts("tags")?.unwrap_or_default(),
        metadata: metadata(fields)?,
        timestamp: fields.time("timestamp")?,
        future_relevance_hint: fields.float(&["future_relevance_hint"])?,
        pinned: fields.flag("pinned")?,
        original_tokens: fields.integer("original_tokens")?,
    })
}

fn metadata(fields: &mut Fields) -> Result<BTreeMap<String, String>, VectorError> {
    let mut metadata = BTreeMap::new();
    let Some(mut table) = fields.table(&["metadata"])? else { return Ok(metadata) };
    for (key, value) in table.rest() {
        let text = match value {
            Value::String(text) => text,
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => value.to_string(),
            other => return Err(table.wrong_type(&key, "a string, number or boolean", &other)),
        };
        metadata.insert(key, text);
    }
    Ok(metadata)
}

/// The budget of a pipeline or a simulation.
pub(super) fn budget(root: &mut Fields) -> Result<Budget, VectorError> {
    budget_table(root.table(&["budget"])?.ok_or_else(|| root.missing("budget"))?)
}

/// The same from its table.
pub(super) fn budget_table(mut fields: Fields) -> Result<Budget, VectorError> {
    let budget = Budget {
        max_tokens: fields.integer("max_tokens")?.ok_or_else(|| fields.missing("max_tokens"))?,
        target_tokens: target_tokens(&mut fields)?,
        output_reserve: fields.integer("output_reserve")?,
        reserved_slots: reserved_slots(&mut fields)?,
        estimation_safety_margin_percent: fields.float(&["estimation_safety_margin_percent"])?,
    };
    fields.finish();
    Ok(budget)
}

/// The effective budget that a slicer sees.
pub(super) fn slicing_budget(root: &mut Fields) -> Result<Budget, VectorError> {
    let mut fields = root.table(&["budget"])?.ok_or_else(|| root.missing("budget"))?;
    let target_tokens = target_tokens(&mut fields)?;
    let max_tokens = fields.integer("max_tokens")?.unwrap_or(target_tokens);
    fields.finish();
    Ok(Budget { max_tokens, target_tokens, ..Budget::default() })
}

fn target_tokens(fields: &mut Fields) -> Result<i64, VectorError> {
    fields.integer("target_tokens")?.ok_or_else(|| fields.missing("target_tokens"))
}

fn reserved_slots(fields: &mut Fields) -> Result<BTreeMap<String, i64>, VectorError> {
    let mut slots = BTreeMap::new();
    let Some(mut table) = fields.table(&["reserved_slots"])? else { return Ok(slots) };
    for (kind, value) in table.rest() {
        let Some(tokens) = value.as_integer() else {
            return Err(table.wrong_type(&kind, "an integer", &value));
        };
        slots.insert(kind, tokens);
    }
    Ok(slots)
}
