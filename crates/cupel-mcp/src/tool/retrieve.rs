//! The whole of what was shortened or left out.

use std::sync::Arc;

use cupel_engine::{Options, handle};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Row, arguments, engine_for, input};
use crate::ToolError;
use crate::originals::digits;
use crate::server::Shared;
use crate::source::{Read, RequestSource, imported};

pub(super) static ROW: Row = Row {
    name: "retrieve",
    title: "Retrieve the whole of a shortened text",
    description: "Gives back the whole text that a handle stands for. A handle looks like cupel:88ce4f35a3c88b8c and stands where \
        a tool result was shortened or cleared, or in the answers of explain_context and fit for what was left out. Long texts come in \
        pieces: ask again with the offset that the answer names.",
    input: input::<Arguments>,
    output: None,
    run,
};

const USUAL_CHARACTERS: usize = 20_000;
const MOST_CHARACTERS: usize = 200_000;

/// What `retrieve` is asked.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The handle, as in `cupel:88ce4f35a3c88b8c`.
    handle: String,
    /// The request or transcript that the text is of: a file below a folder that the server may read. Not needed for
    /// what this server or its hooks shortened.
    #[serde(default)]
    path: Option<String>,
    /// The character to begin at.
    #[serde(default)]
    offset: usize,
    /// The most characters of the answer; 20,000 if absent, 200,000 at most.
    #[serde(default)]
    max_characters: Option<usize>,
}

fn run(shared: &Shared, given: rmcp::model::JsonObject) -> Result<Answer, ToolError> {
    let asked: Arguments = arguments(given)?;
    let most = asked.max_characters.unwrap_or(USUAL_CHARACTERS);
    if most == 0 || most > MOST_CHARACTERS {
        let rule = format!("must be 1 to {MOST_CHARACTERS}, got {most}");
        return Err(
            ToolError::argument("max_characters", rule).remedy("ask for the text in pieces")
        );
    }
    if digits(&asked.handle).is_none() {
        let rule = format!(
            "`{}` is no handle",
            cupel_names::excerpt(&asked.handle, 80, cupel_names::letters)
        );
        let error = ToolError::argument("handle", rule);
        return Err(error.remedy(
            "give it as it stands in the text: `cupel:` and 16 digits of 0 to 9 and a to f",
        ));
    }
    let text = find(shared, &asked)?.ok_or_else(|| {
        let rule = format!("no text has the handle `{}`", asked.handle);
        let error = ToolError::new("unknown-handle", rule).at("handle");
        error.remedy(if asked.path.is_some() {
            "look for it in another file, or run the tool again that gave the text"
        } else {
            "give the path of the request or transcript, or run the tool again that gave the text"
        })
    })?;
    piece(&text, asked.offset, most)
}

fn find(shared: &Shared, asked: &Arguments) -> Result<Option<String>, ToolError> {
    if asked.path.is_some() {
        let source = RequestSource { path: asked.path.clone(), ..RequestSource::default() };
        return in_request(shared, &source.read(&shared.roots)?, &asked.handle);
    }
    if let Some(originals) = &shared.originals {
        let unreadable =
            |error: std::io::Error| ToolError::new("unreadable-file", error.to_string());
        if let Some(text) = originals.find(&asked.handle).map_err(unreadable)? {
            return Ok(Some(text));
        }
    }
    for text in shared.remembered.all() {
        if handle(&text) == asked.handle {
            return Ok(Some(text.to_string()));
        }
        // A plain text that `fit` was given is no request, and has no other texts in it.
        let Ok(read) = imported(text.to_string(), None) else { continue };
        if let Ok(Some(text)) = in_request(shared, &read, &asked.handle) {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// The text of a request that has the handle: one that may be shortened, or that of messages that are in or out as a whole.
fn in_request(shared: &Shared, read: &Read, name: &str) -> Result<Option<String>, ToolError> {
    let engine = engine_for(shared, None, read.format).build()?;
    if let Some(text) = engine.original(Arc::clone(&read.text), name)? {
        return Ok(Some(text));
    }
    let prepared = engine.prepare(Arc::clone(&read.text), &Options::new())?;
    let found = prepared.candidates().items().iter().find(|item| handle(item.content()) == name);
    Ok(found.map(|item| item.content().to_owned()))
}

/// So many characters of a text, and a line that says where it goes on.
fn piece(text: &str, offset: usize, most: usize) -> Result<Answer, ToolError> {
    let total = text.chars().count();
    if offset > total {
        let rule = format!("must be at most {total}, got {offset}");
        return Err(ToolError::argument("offset", rule).remedy("begin at a smaller offset"));
    }
    let end = offset.saturating_add(most).min(total);
    let piece: String = text.chars().skip(offset).take(end - offset).collect();
    let mut texts = vec![piece];
    if offset > 0 || end < total {
        let next =
            if end < total { format!("; it goes on at offset {end}") } else { String::new() };
        texts.push(format!("[characters {offset} to {end} of {total}{next}]"));
    }
    Ok(Answer::Texts(texts))
}
