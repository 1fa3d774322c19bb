//! `cupel show`: the whole of what was shortened.

use clap::Args;
use cupel_engine::{Engine, Format, Shortenable};
use serde::Serialize;

use super::Context;
use crate::error::{Answer, Failure};
use crate::input::Input;
use crate::output;
use crate::render::number::grouped_count;
use crate::render::table::{Side, Table};
use crate::render::{json, text};

const EXAMPLES: &str = "\
Examples:
  cupel show request.json
  cupel show request.json cupel:88ce4f35a3c88b8c
  cupel show --json request.json | jq -r '.texts[].handle'";

/// Gives back the whole of what was shortened, by its handle
///
/// A stub in a window names a handle: the hash of the text that stood there. With the request that the
/// window was made of, it gives that text back, so that an application can offer it to the model as a
/// tool. Without a handle, lists the texts of the request that may be shortened. The handles are also
/// the hashes that --renderings wants.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The request; stdin if it is `-`
    #[arg(value_name = "FILE", required = true)]
    file: std::path::PathBuf,

    /// The handle, as in `cupel:88ce4f35a3c88b8c`; a list of all if absent
    #[arg(value_name = "HANDLE")]
    handle: Option<String>,

    /// The format of the request; detected if absent
    #[arg(long, value_name = "NAME")]
    format: Option<Format>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let mut builder = Engine::builder();
    if let Some(format) = arguments.format {
        builder = builder.format(format);
    }
    let engine = builder.build().map_err(|error| Failure::of_settings(&error))?;
    let input = Input::read_request(Some(&arguments.file), arguments.format)?;
    let texts = engine.shortenable(input.text.as_str());
    let texts = texts.map_err(|error| Failure::of(&input.name(), &error))?;
    let Some(handle) = &arguments.handle else {
        output::print(&if arguments.json {
            json::pretty(&Texts::of(&texts))?
        } else {
            table(&texts).render(text::screen_width(), context.palette)
        })?;
        return Ok(Answer::Yes);
    };
    let Some(found) = texts.iter().find(|text| text.handle == *handle) else {
        return Err(Failure::Refused(format!(
            "{}: no text has the handle `{handle}`; `cupel show FILE` lists those that have one",
            input.name()
        )));
    };
    if arguments.json {
        output::print(&json::pretty(&Row::of(found, true))?)?;
    } else {
        output::print_data(&found.text, cupel_names::readable)?;
    }
    Ok(Answer::Yes)
}

/// The texts that may be shortened, as JSON.
#[derive(Serialize)]
struct Texts<'t> {
    schema: &'static str,
    texts: Vec<Row<'t>>,
}

impl<'t> Texts<'t> {
    fn of(texts: &'t [Shortenable]) -> Self {
        let texts = texts.iter().map(|text| Row::of(text, false)).collect();
        Self { schema: "cupel/1", texts }
    }
}

/// One of them.
#[derive(Serialize)]
struct Row<'t> {
    message: usize,
    #[serde(skip_serializing_if = "str::is_empty")]
    call: &'t str,
    #[serde(skip_serializing_if = "str::is_empty")]
    tool: &'t str,
    handle: &'t str,
    characters: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'t str>,
}

impl<'t> Row<'t> {
    fn of(text: &'t Shortenable, whole: bool) -> Self {
        Self {
            message: text.message,
            call: &text.call,
            tool: &text.tool,
            handle: &text.handle,
            characters: text.text.chars().count(),
            text: whole.then_some(&*text.text),
        }
    }
}

fn table(texts: &[Shortenable]) -> Table {
    let mut table = Table::new(vec![
        ("message", Side::Right),
        ("characters", Side::Right),
        ("handle", Side::Left),
        ("what", Side::Left),
    ]);
    for text in texts {
        let who = if text.tool.is_empty() { "assistant" } else { &text.tool };
        table.push(vec![
            grouped_count(text.message).into(),
            grouped_count(text.text.chars().count()).into(),
            text.handle.as_str().into(),
            format!("{who} · {}", text::excerpt(&text.text, 80)).into(),
        ]);
    }
    table
}
