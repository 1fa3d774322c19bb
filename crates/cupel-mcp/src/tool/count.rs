//! How many tokens is this?

use std::sync::Arc;

use cupel_engine::Options;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Row, arguments, bounded, data, engine_for, input, output};
use crate::ToolError;
use crate::server::Shared;
use crate::source::RequestSource;

pub(super) static ROW: Row = Row {
    name: "count",
    title: "Count tokens",
    description: "Counts the tokens of a text, or of a request or an agent's transcript part by part, the largest first. Says whether \
        the counts are exact or estimates.",
    input: input::<Arguments>,
    output: Some(output::<Counted>),
    run,
};

/// What `count` is asked.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// A plain text, instead of a request.
    #[serde(default)]
    text: Option<String>,
    #[serde(flatten)]
    source: RequestSource,
    /// The model that the tokens are for, as in `gpt-4o`; the one that the request names if absent.
    #[serde(default)]
    model: Option<String>,
    /// The most parts of the answer; 20 if absent, 200 at most.
    #[serde(default)]
    limit: Option<usize>,
}

/// The tokens of a request or a text.
#[derive(Debug, Serialize, JsonSchema)]
struct Counted {
    /// What counted.
    tokenizer: String,
    /// Whether counts are estimates.
    is_estimate: bool,
    /// All tokens together.
    total_tokens: i64,
    /// What they are at most, in 95 of 100 cases; the same number where counts are exact.
    at_most: i64,
    /// The largest parts of a request, the largest first; none for a text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartRow>,
    /// How many more parts there are than are listed.
    parts_hidden: usize,
    /// What the file does not tell of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A part of a request.
#[derive(Debug, Serialize, JsonSchema)]
struct PartRow {
    /// Where it is in the request, as in `messages[3..6]` or `tools`.
    path: String,
    /// What it is, as in `assistant, 2 tool results`.
    what: String,
    /// What it costs.
    tokens: i64,
    /// How it begins.
    excerpt: String,
}

fn run(shared: &Shared, given: rmcp::model::JsonObject) -> Result<Answer, ToolError> {
    let asked: Arguments = arguments(given)?;
    let limit = bounded(asked.limit)?;
    let (count, notes) = if let Some(text) = &asked.text {
        asked.source.must_be_empty()?;
        let engine = engine_for(shared, asked.model.as_deref(), None).build()?;
        (engine.count_texts(&[("text", text)]), Vec::new())
    } else {
        let read = asked.source.read(&shared.roots)?;
        let engine = engine_for(shared, asked.model.as_deref(), read.format).build()?;
        (engine.count(Arc::clone(&read.text), &Options::new())?, read.notes)
    };
    let mut parts = count.parts;
    parts.sort_by(|a, b| b.tokens.cmp(&a.tokens).then(a.position.cmp(&b.position)));
    let parts_hidden = parts.len().saturating_sub(limit);
    let rows = parts.into_iter().take(limit).map(|part| PartRow {
        path: part.path,
        what: part.what,
        tokens: part.tokens,
        excerpt: part.excerpt,
    });
    data(&Counted {
        tokenizer: count.tokenizer,
        is_estimate: count.is_estimate,
        total_tokens: count.total_tokens,
        at_most: count.at_most,
        parts: rows.collect(),
        parts_hidden,
        notes,
    })
}
