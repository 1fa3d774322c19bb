//! A request or a text within a number of tokens.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Choosing, Row, arguments, data, engine_for, input, output};
use crate::ToolError;
use crate::server::Shared;
use crate::source::RequestSource;

pub(super) static ROW: Row = Row {
    name: "fit",
    title: "Fit a request or a text into a budget",
    description: "Makes a request or a text fit into so many tokens. Of a request it keeps what matters most for what the user said \
        last, whole messages byte for byte, so that its provider accepts it; of a text, JSON by its weightiest values, or head and tail. \
        What was shortened has a handle, with which retrieve gives the whole back; explain_context says what was left out.",
    input: input::<Arguments>,
    output: Some(output::<Fitted>),
    run,
};

/// The most bytes of the window that an answer holds.
const LARGEST_ANSWER: usize = 2 * 1024 * 1024;

/// What `fit` is asked.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The most tokens.
    max_tokens: i64,
    /// A plain text, instead of a request.
    #[serde(default)]
    text: Option<String>,
    #[serde(flatten)]
    source: RequestSource,
    #[serde(flatten)]
    choosing: Choosing,
}

/// What fits.
#[derive(Debug, Serialize, JsonSchema)]
struct Fitted {
    /// The request or text that fits.
    text: String,
    /// What the whole cost.
    tokens_before: i64,
    /// What this costs.
    tokens_after: i64,
    /// What counted.
    tokenizer: String,
    /// Whether counts are estimates.
    is_estimate: bool,
    /// How many messages the request had.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_before: Option<usize>,
    /// The indices of those that stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_messages: Option<Vec<usize>>,
    /// What is in it shorter than it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shortened: Vec<ShortenedRow>,
    /// What the file does not tell of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A text that is shorter than it was.
#[derive(Debug, Serialize, JsonSchema)]
struct ShortenedRow {
    /// By what `retrieve` gives the whole back.
    handle: String,
    /// What the form is called, as in `json 18 %`.
    form: String,
    /// What it cost whole.
    tokens_before: i64,
    /// What it costs now.
    tokens_after: i64,
}

fn run(shared: &Shared, given: rmcp::model::JsonObject) -> Result<Answer, ToolError> {
    let asked: Arguments = arguments(given)?;
    let fitted = match &asked.text {
        Some(text) => {
            asked.source.must_be_empty()?;
            of_text(shared, &asked, text)?
        }
        None => of_request(shared, &asked)?,
    };
    if fitted.text.len() > LARGEST_ANSWER {
        let rule = format!(
            "what fits has {} bytes, an answer at most {LARGEST_ANSWER}",
            fitted.text.len()
        );
        let error = ToolError::new("answer-too-large", rule).at("max_tokens");
        return Err(
            error.remedy("lower it, or use the command: `cupel select FILE --max N -o OUTPUT`")
        );
    }
    data(&fitted)
}

fn of_text(shared: &Shared, asked: &Arguments, text: &str) -> Result<Fitted, ToolError> {
    let engine = engine_for(shared, asked.choosing.model.as_deref(), None).build()?;
    let fitted = engine.fit_text(text, None, asked.max_tokens)?;
    let shortened = fitted.form.map(|form| ShortenedRow {
        handle: fitted.handle,
        form,
        tokens_before: fitted.tokens_before,
        tokens_after: fitted.tokens_after,
    });
    if shortened.is_some() {
        shared.remembered.push(&Arc::from(text));
    }
    Ok(Fitted {
        text: fitted.text,
        tokens_before: fitted.tokens_before,
        tokens_after: fitted.tokens_after,
        tokenizer: fitted.tokenizer,
        is_estimate: fitted.is_estimate,
        messages_before: None,
        kept_messages: None,
        shortened: shortened.into_iter().collect(),
        notes: Vec::new(),
    })
}

fn of_request(shared: &Shared, asked: &Arguments) -> Result<Fitted, ToolError> {
    let read = asked.source.read(&shared.roots)?;
    let engine = asked.choosing.engine(shared, &read, Some(asked.max_tokens))?;
    let selection = engine.select_with(Arc::clone(&read.text), &asked.choosing.options())?;
    shared.remembered.push(&read.text);
    let shortened = selection.shortened.into_iter().map(|text| ShortenedRow {
        handle: text.handle,
        form: text.name,
        tokens_before: text.tokens_before,
        tokens_after: text.tokens_after,
    });
    Ok(Fitted {
        text: selection.text,
        tokens_before: selection.summary.tokens_before,
        tokens_after: selection.summary.tokens_after,
        tokenizer: selection.summary.tokenizer,
        is_estimate: selection.summary.is_estimate,
        messages_before: Some(selection.summary.messages_before),
        kept_messages: Some(selection.kept_messages),
        shortened: shortened.collect(),
        notes: read.notes,
    })
}
