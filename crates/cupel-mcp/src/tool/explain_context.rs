//! What of a request is in a window, what is out, and why.

use std::sync::Arc;

use cupel_engine::{Kept, KeptReason, LeftOut, Summary, ToGetIn, Why, handle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Choosing, Row, arguments, bounded, data, input, output};
use crate::ToolError;
use crate::server::Shared;
use crate::source::RequestSource;

pub(super) static ROW: Row = Row {
    name: "explain_context",
    title: "Explain what is in the context, and why",
    description: "Says what of a request or an agent's transcript is in a window of so many tokens, what is left out, why, and what \
        it would take to get in. Give a request, or the path of one or of a transcript. What is left out has a handle, with which retrieve \
        gives it back.",
    input: input::<Arguments>,
    output: Some(output::<ContextExplained>),
    run,
};

/// What `explain_context` is asked.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    source: RequestSource,
    /// The window in tokens; that of the model if absent.
    #[serde(default)]
    max_tokens: Option<i64>,
    #[serde(flatten)]
    choosing: Choosing,
    /// The most rows of each list; 20 if absent, 200 at most.
    #[serde(default)]
    limit: Option<usize>,
}

/// What of a request is in the window, what is out, and why.
#[derive(Debug, Serialize, JsonSchema)]
struct ContextExplained {
    /// Sizes before and after, and what they were measured with.
    summary: Summary,
    /// What the window is for.
    query: String,
    /// What is in, in the order of the request.
    kept: Vec<KeptRow>,
    /// How many more are in than are listed.
    kept_hidden: usize,
    /// What was left out, best first.
    left_out: Vec<LeftOutRow>,
    /// How many more were left out than are listed.
    left_out_hidden: usize,
    /// What the file does not tell of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// Something that is in.
#[derive(Debug, Serialize, JsonSchema)]
struct KeptRow {
    /// Where it is in the request, as in `messages[3..6]`.
    path: String,
    /// What it is, as in `assistant, 2 tool results`.
    what: String,
    /// What it costs in the window.
    tokens: i64,
    /// Why it is in.
    reason: KeptReason,
    /// The same in a few words, where a rule or a pin keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_for: Option<String>,
    /// The handles of what of it is shorter than it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shortened: Vec<String>,
    /// How it begins.
    excerpt: String,
}

/// Something that is out.
#[derive(Debug, Serialize, JsonSchema)]
struct LeftOutRow {
    /// Where it is in the request, as in `messages[3..6]`.
    path: String,
    /// What it is, as in `assistant, 2 tool results`.
    what: String,
    /// What it costs.
    tokens: i64,
    /// Why it is out.
    why: Why,
    /// A note of the policy on it, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// What it would take to get in.
    to_get_in: ToGetIn,
    /// By what `retrieve` gives it back.
    handle: String,
    /// How it begins.
    excerpt: String,
}

fn run(shared: &Shared, given: rmcp::model::JsonObject) -> Result<Answer, ToolError> {
    let asked: Arguments = arguments(given)?;
    let limit = bounded(asked.limit)?;
    let read = asked.source.read(&shared.roots)?;
    let engine = asked.choosing.engine(shared, &read, asked.max_tokens)?;
    let prepared = engine.prepare(Arc::clone(&read.text), &asked.choosing.options())?;
    let explained = prepared.explain(limit)?;
    shared.remembered.push(&read.text);
    let kept_hidden = explained.kept.len().saturating_sub(limit);
    let items = prepared.candidates().items();
    let left_out = explained.left_out.into_iter();
    data(&ContextExplained {
        summary: explained.summary,
        query: explained.query,
        kept: explained.kept.into_iter().take(limit).map(kept).collect(),
        kept_hidden,
        left_out: left_out
            .map(|row| self::left_out(items[row.part.position].content(), row))
            .collect(),
        left_out_hidden: explained.hidden,
        notes: read.notes,
    })
}

fn kept(row: Kept) -> KeptRow {
    let (tokens, texts) = match row.shortened {
        Some(shortened) => (shortened.tokens, shortened.texts),
        None => (row.part.tokens, Vec::new()),
    };
    KeptRow {
        tokens,
        reason: row.reason,
        kept_for: row.kept_for.or(row.part.pinned),
        shortened: texts.into_iter().map(|text| text.handle).collect(),
        path: row.part.path,
        what: row.part.what,
        excerpt: row.part.excerpt,
    }
}

fn left_out(text: &str, row: LeftOut) -> LeftOutRow {
    LeftOutRow {
        tokens: row.part.tokens,
        why: row.why,
        note: row.note,
        to_get_in: row.to_get_in,
        handle: handle(text),
        path: row.part.path,
        what: row.part.what,
        excerpt: row.part.excerpt,
    }
}
