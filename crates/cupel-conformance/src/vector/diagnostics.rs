//! Report that a vector expects.

use toml::Value;

use super::VectorError;
use super::expected::{ExpectedItems, to_json};
use super::fields::Fields;
use crate::protocol::{Reason, Shortfall, StageCount};

type Result<T> = std::result::Result<T, VectorError>;

/// Parts of the report. What is absent is not compared; what is present is complete.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExpectedDiagnostics {
    /// Selected items, in placed order.
    pub included: Option<Vec<ExpectedDecision>>,
    /// All other items, best score first.
    pub excluded: Option<Vec<ExpectedDecision>>,
    /// Number of items given.
    pub total_candidates: Option<usize>,
    /// Tokens of all items given.
    pub total_tokens_considered: Option<i64>,
    /// Count requirements that were not met.
    pub shortfalls: Option<Vec<Shortfall>>,
    /// Overflow event, if one is expected.
    pub overflow: Option<ExpectedOverflow>,
    /// Items in and out of the stages.
    pub stages: Option<Vec<StageCount>>,
}

/// Decision about one item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExpectedDecision {
    /// Its text.
    pub content: Option<String>,
    /// Its position.
    pub index: Option<usize>,
    /// Its score when the decision is made.
    pub score: Option<f64>,
    /// Why; only the fields given are compared.
    pub reason: Reason,
}

/// Kind of overflow: the selection goes over the target and is kept, or is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedOverflow {
    /// It does not.
    Never,
    /// It does.
    Event {
        /// Tokens above the target.
        tokens_over_budget: Option<i64>,
        /// All merged items, in any order.
        items: ExpectedItems,
    },
}

/// Fields of the reasons that the specification and this suite know.
const REASONS: [(&str, &[&str]); 13] = [
    ("Scored", &[]),
    ("Pinned", &[]),
    ("ZeroToken", &[]),
    ("BudgetExceeded", &["item_tokens", "available_tokens"]),
    ("ScoredTooLow", &["score", "threshold"]),
    ("Deduplicated", &["deduplicated_against"]),
    ("QuotaCapExceeded", &["kind", "cap", "actual"]),
    ("QuotaRequireDisplaced", &["displaced_by_kind"]),
    ("NegativeTokens", &["tokens"]),
    ("PinnedOverride", &["displaced_by"]),
    ("Filtered", &["filter_name"]),
    ("CountCapExceeded", &["kind", "cap", "count"]),
    ("CountRequireCandidatesExhausted", &["kind"]),
];

/// `[expected.diagnostics]`.
pub(super) fn diagnostics(mut fields: Fields) -> Result<ExpectedDiagnostics> {
    let included = decisions(&mut fields, "included", "inclusion_reason")?;
    let excluded = decisions(&mut fields, "excluded", "exclusion_reason")?;
    let mut expected = ExpectedDiagnostics {
        included,
        excluded,
        shortfalls: shortfalls(&mut fields)?,
        overflow: overflow(&mut fields)?,
        stages: stages(&mut fields)?,
        ..ExpectedDiagnostics::default()
    };
    if let Some(mut summary) = fields.table(&["summary"])? {
        expected.total_candidates = summary.count("total_candidates")?;
        expected.total_tokens_considered = summary.integer("total_tokens_considered")?;
        summary.finish();
    }
    fields.finish();
    Ok(expected)
}

fn decisions(
    fields: &mut Fields,
    list: &str,
    reason_field: &str,
) -> Result<Option<Vec<ExpectedDecision>>> {
    let Some(entries) = fields.tables(&[list])? else { return Ok(None) };
    let decisions = entries.into_iter().map(|entry| decision(entry, reason_field));
    decisions.collect::<Result<_>>().map(Some)
}

fn decision(mut entry: Fields, reason_field: &str) -> Result<ExpectedDecision> {
    let (content, index) = (entry.text(&["content"])?, entry.count("index")?);
    if content.is_none() && index.is_none() {
        return Err(entry.missing("content"));
    }
    let score = match entry.float(&["score_approx"])? {
        // A reason may have a field `score` of its own.
        Some(score) => Some(score),
        None => entry.float(&["score"])?,
    };
    if score.is_none() {
        entry.notes.broken_rule(format!("`{}` is not stated", entry.path_of("score_approx")));
    }
    let name = entry.text(&[reason_field, "reason"])?.ok_or_else(|| entry.missing(reason_field))?;
    let reason = reason(name, entry)?;
    Ok(ExpectedDecision { content, index, score, reason })
}

fn reason(name: String, mut entry: Fields) -> Result<Reason> {
    let mut reason = Reason::named(name);
    let Some((_, known)) = REASONS.iter().find(|(known, _)| *known == reason.reason) else {
        let fields = entry.rest().into_iter().map(|(field, value)| (field, to_json(&value)));
        reason.fields = fields.collect();
        return Ok(reason);
    };
    for field in *known {
        match entry.take(&[field])? {
            Some(value) => {
                reason.fields.insert((*field).to_owned(), to_json(&value));
            }
            None => {
                entry.notes.broken_rule(format!("`{}` is not stated", entry.path_of(field)));
            }
        }
    }
    entry.finish();
    Ok(reason)
}

/// `count_requirement_shortfalls` or `shortfalls`.
pub(super) fn shortfalls(fields: &mut Fields) -> Result<Option<Vec<Shortfall>>> {
    let Some(entries) = fields.tables(&["shortfalls", "count_requirement_shortfalls"])? else {
        return Ok(None);
    };
    let mut shortfalls = Vec::new();
    for mut entry in entries {
        shortfalls.push(Shortfall {
            kind: entry.text(&["kind"])?.ok_or_else(|| entry.missing("kind"))?,
            required_count: count(&mut entry, "required_count")?,
            satisfied_count: count(&mut entry, "satisfied_count")?,
        });
        entry.finish();
    }
    Ok(Some(shortfalls))
}

fn overflow(fields: &mut Fields) -> Result<Option<ExpectedOverflow>> {
    let mut event = match fields.take(&["overflow"])? {
        None => return Ok(None),
        Some(Value::Boolean(false)) => return Ok(Some(ExpectedOverflow::Never)),
        Some(Value::Table(table)) => fields.child("overflow", table),
        Some(other) => return Err(fields.wrong_type("overflow", "a table or false", &other)),
    };
    let expected = ExpectedOverflow::Event {
        tokens_over_budget: event.integer("tokens_over_budget")?,
        items: ExpectedItems {
            contents: event.texts("contents")?,
            indices: event.positions("indices")?,
        },
    };
    event.finish();
    Ok(Some(expected))
}

fn stages(fields: &mut Fields) -> Result<Option<Vec<StageCount>>> {
    let Some(entries) = fields.tables(&["stages"])? else { return Ok(None) };
    let mut stages = Vec::new();
    for mut entry in entries {
        stages.push(StageCount {
            stage: entry.text(&["stage"])?.ok_or_else(|| entry.missing("stage"))?,
            item_count_in: count(&mut entry, "item_count_in")?,
            item_count_out: count(&mut entry, "item_count_out")?,
        });
        entry.finish();
    }
    Ok(Some(stages))
}

fn count(entry: &mut Fields, name: &str) -> Result<usize> {
    entry.count(name)?.ok_or_else(|| entry.missing(name))
}
