//! Results that a vector expects.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use toml::Value;

use super::VectorError;
use super::diagnostics::{self, ExpectedDiagnostics};
use super::fields::Fields;
use crate::protocol::{Diff, Item, Shortfall, Status};

type Result<T> = std::result::Result<T, VectorError>;

/// Result that a vector expects.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// An error, and nothing else.
    Error(ExpectedError),
    /// Scores of some items.
    Scoring(Vec<ExpectedScore>),
    /// The kept items.
    Slicing(ExpectedSlicing),
    /// The final order.
    Placing(ExpectedItems),
    /// The output, and parts of the report.
    Pipeline {
        /// The output, in order.
        output: ExpectedItems,
        /// Parts of the report.
        diagnostics: Option<Box<ExpectedDiagnostics>>,
    },
    /// Items that a smaller budget drops, in order.
    Marginal(ExpectedItems),
    /// The budget found, if one is.
    MinBudget(Option<i64>),
    /// Items that several policies disagree on.
    Sensitivity(ExpectedSensitivity),
}

/// An error.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExpectedError {
    /// Its code; any code that fits a construction if absent.
    pub code: Option<String>,
    /// Its text, where that is prescribed.
    pub message: Option<String>,
    /// Some of its details.
    pub details: BTreeMap<String, Json>,
}

/// Score of one item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedScore {
    /// Position of the item.
    pub index: usize,
    /// Its score.
    pub score: f64,
}

/// Items by text, by position, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpectedItems {
    /// Their texts.
    pub contents: Option<Vec<String>>,
    /// Their positions.
    pub indices: Option<Vec<usize>>,
}

/// Items that a slicer keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpectedSlicing {
    /// The kept items, in any order.
    pub selected: ExpectedItems,
    /// Number of requirements that were not met.
    pub shortfall_count: Option<usize>,
    /// The requirements that were not met.
    pub shortfalls: Option<Vec<Shortfall>>,
    /// Number of items that a count cap dropped.
    pub cap_excluded_count: Option<usize>,
    /// Items that a count cap dropped, in any order.
    pub cap_excluded: ExpectedItems,
}

/// Items that several policies disagree on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpectedSensitivity {
    /// Texts that the variants disagree on, in any order.
    pub diffs: Option<Vec<Diff>>,
    /// Label and included items of every variant.
    pub variants: Option<Vec<(String, ExpectedItems)>>,
}

impl ExpectedItems {
    fn is_absent(&self) -> bool {
        self.contents.is_none() && self.indices.is_none()
    }
}

/// The error that the file expects, if it does.
pub(super) fn error(root: &mut Fields, at_construction: bool) -> Result<Option<ExpectedError>> {
    Ok(match root.take(&["expected_error"])? {
        None => at_construction.then(ExpectedError::default),
        Some(Value::String(code)) => {
            Some(ExpectedError { code: Some(code), ..ExpectedError::default() })
        }
        Some(Value::Table(table)) => Some(error_table(root.child("expected_error", table))?),
        Some(other) => return Err(root.wrong_type("expected_error", "a code or a table", &other)),
    })
}

fn error_table(mut fields: Fields) -> Result<ExpectedError> {
    Ok(ExpectedError {
        code: Some(fields.text(&["code"])?.ok_or_else(|| fields.missing("code"))?),
        message: fields.text(&["message"])?,
        details: fields.rest().into_iter().map(|(key, value)| (key, to_json(&value))).collect(),
    })
}

/// The same value in JSON, where floats that JSON lacks are their names.
pub(super) fn to_json(value: &Value) -> Json {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Boolean(flag) => (*flag).into(),
        Value::Float(number) if number.is_nan() => "NaN".into(),
        Value::Float(f64::INFINITY) => "Infinity".into(),
        Value::Float(f64::NEG_INFINITY) => "-Infinity".into(),
        Value::Float(number) => (*number).into(),
        other => other.to_string().into(),
    }
}

/// `[[expected]]` of a scoring vector.
pub(super) fn scores(root: &mut Fields, items: &[Item]) -> Result<Expected> {
    let mut scores: Vec<ExpectedScore> = Vec::new();
    for mut entry in root.tables(&["expected"])?.unwrap_or_default() {
        let index = item_position(&mut entry, items, &scores)?;
        let score = entry.float(&["score_approx", "score"])?;
        let score = score.ok_or_else(|| entry.missing("score_approx"))?;
        scores.push(ExpectedScore { index, score });
        entry.finish();
    }
    for (index, item) in items.iter().enumerate() {
        if !scores.iter().any(|expected| expected.index == index) {
            let text = format!("the score of item {index}, `{}`, is not stated", item.content);
            root.notes.broken_rule(text);
        }
    }
    Ok(Expected::Scoring(scores))
}

/// The position that an entry means: its index, or the next item with its text.
fn item_position(entry: &mut Fields, items: &[Item], named: &[ExpectedScore]) -> Result<usize> {
    let (content, index) = (entry.text(&["content"])?, entry.count("index")?);
    if content.is_none() && index.is_none() {
        return Err(entry.missing("content"));
    }
    let fits = |position: usize, item: &Item| {
        content.as_ref().is_none_or(|content| *content == item.content)
            && index.is_none_or(|index| index == position)
            && !named.iter().any(|expected| expected.index == position)
    };
    let position = items.iter().enumerate().position(|(position, item)| fits(position, item));
    position.ok_or_else(|| entry.error("content", "names no item, or one that was named already"))
}

/// `[expected]`, which may be absent.
fn expected_table(root: &mut Fields) -> Result<Fields> {
    Ok(root.table(&["expected"])?.unwrap_or_else(|| root.child("expected", toml::Table::new())))
}

fn listed(fields: &mut Fields, name: &str) -> Result<ExpectedItems> {
    Ok(ExpectedItems {
        contents: fields.texts(&format!("{name}_contents"))?,
        indices: fields.positions(&format!("{name}_indices"))?,
    })
}

/// `[expected]` of a slicing vector.
pub(super) fn slicing(root: &mut Fields) -> Result<Expected> {
    let mut fields = expected_table(root)?;
    let expected = ExpectedSlicing {
        selected: listed(&mut fields, "selected")?,
        shortfall_count: fields.count("shortfall_count")?,
        shortfalls: diagnostics::shortfalls(&mut fields)?,
        cap_excluded_count: fields.count("cap_excluded_count")?,
        cap_excluded: listed(&mut fields, "cap_excluded")?,
    };
    require(&fields, !expected.selected.is_absent(), "selected_contents");
    fields.finish();
    Ok(Expected::Slicing(expected))
}

/// `[expected]` of a placing vector.
pub(super) fn placing(root: &mut Fields) -> Result<Expected> {
    let mut fields = expected_table(root)?;
    let order = listed(&mut fields, "ordered")?;
    require(&fields, !order.is_absent(), "ordered_contents");
    fields.finish();
    Ok(Expected::Placing(order))
}

/// `[[expected_output]]` and `[expected.diagnostics]` of a pipeline vector.
pub(super) fn pipeline(root: &mut Fields) -> Result<Expected> {
    let output = output(root)?;
    let mut fields = expected_table(root)?;
    let diagnostics = fields.table(&["diagnostics"])?.map(diagnostics::diagnostics).transpose()?;
    fields.finish();
    Ok(Expected::Pipeline { output, diagnostics: diagnostics.map(Box::new) })
}

fn output(root: &mut Fields) -> Result<ExpectedItems> {
    let Some(entries) = root.tables(&["expected_output"])? else {
        return Ok(ExpectedItems { contents: Some(Vec::new()), indices: None });
    };
    let count = entries.len();
    let (mut contents, mut indices) = (Vec::new(), Vec::new());
    for mut entry in entries {
        contents.extend(entry.text(&["content"])?);
        indices.extend(entry.count("index")?);
        entry.finish();
    }
    let (all_contents, all_indices) = (contents.len() == count, indices.len() == count);
    if !(all_contents || contents.is_empty()) || !(all_indices || indices.is_empty()) {
        return Err(root.error("expected_output", "names some items by text and some by position"));
    }
    Ok(ExpectedItems {
        contents: all_contents.then_some(contents),
        indices: (all_indices && count > 0).then_some(indices),
    })
}

/// `[expected]` of a marginal-items vector.
pub(super) fn marginal(root: &mut Fields) -> Result<Expected> {
    let mut fields = expected_table(root)?;
    let items = listed(&mut fields, "marginal")?;
    require(&fields, !items.is_absent(), "marginal_contents");
    fields.finish();
    Ok(Expected::Marginal(items))
}

/// `[expected]` of a minimum-budget vector.
pub(super) fn min_budget(root: &mut Fields) -> Result<Expected> {
    let mut fields = expected_table(root)?;
    let budget = match fields.take(&["min_budget"])? {
        Some(Value::Integer(budget)) => Some(budget),
        Some(Value::Boolean(false)) => None,
        Some(other) => return Err(fields.wrong_type("min_budget", "an integer or false", &other)),
        None => return Err(fields.missing("min_budget")),
    };
    fields.finish();
    Ok(Expected::MinBudget(budget))
}

/// `[expected]` of a sensitivity vector.
pub(super) fn sensitivity(root: &mut Fields) -> Result<Expected> {
    let mut fields = expected_table(root)?;
    let expected =
        ExpectedSensitivity { diffs: diffs(&mut fields)?, variants: variants(&mut fields)? };
    require(&fields, expected.diffs.is_some(), "diffs");
    fields.finish();
    Ok(Expected::Sensitivity(expected))
}

fn diffs(fields: &mut Fields) -> Result<Option<Vec<Diff>>> {
    let Some(entries) = fields.tables(&["diffs"])? else { return Ok(None) };
    let mut diffs = Vec::new();
    for mut entry in entries {
        let content = entry.text(&["content"])?.ok_or_else(|| entry.missing("content"))?;
        let names = entry.texts("statuses")?.ok_or_else(|| entry.missing("statuses"))?;
        let statuses = names.iter().map(|name| status(&entry, name)).collect::<Result<_>>()?;
        diffs.push(Diff { content, statuses });
        entry.finish();
    }
    Ok(Some(diffs))
}

fn status(entry: &Fields, name: &str) -> Result<Status> {
    match name {
        "Included" => Ok(Status::Included),
        "Excluded" => Ok(Status::Excluded),
        _ => Err(entry.error("statuses", format_args!("has the unknown value `{name}`"))),
    }
}

fn variants(fields: &mut Fields) -> Result<Option<Vec<(String, ExpectedItems)>>> {
    let Some(entries) = fields.tables(&["variants"])? else { return Ok(None) };
    let mut variants = Vec::new();
    for mut entry in entries {
        let label = entry.text(&["label"])?.ok_or_else(|| entry.missing("label"))?;
        variants.push((label, listed(&mut entry, "included")?));
        entry.finish();
    }
    Ok(Some(variants))
}

/// Notes a vector that expects nothing.
fn require(fields: &Fields, is_given: bool, name: &str) {
    if !is_given {
        fields.notes.broken_rule(format!("`{}` is not stated", fields.path_of(name)));
    }
}
