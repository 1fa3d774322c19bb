//! `cupel import`: a request of a file that is none.

use std::path::PathBuf;

use clap::Args;
use cupel_engine::{Format, ListedConversation, Pick, TranscriptKind};
use serde::Serialize;

use super::Context;
use crate::cli::FileArgument;
use crate::error::{Answer, Failure};
use crate::input::{Input, unread};
use crate::offered::KINDS;
use crate::output::{self, Destination};
use crate::render::number::{counted, grouped_count};
use crate::render::table::{Side, Table};
use crate::render::{json, text};
use crate::style::Palette;

const EXAMPLES: &str = "\
Examples:
  cupel import ~/.claude/projects/-home-ann-shop/4f1c….jsonl > request.json
  cupel import conversations.json --list
  cupel import conversations.json --pick 'Trip to Rome' | cupel explain --max 8000
  cupel import batch.jsonl --line 3 -o request.json

The other commands take such files too: `cupel explain transcript.jsonl --max 8000` shows the window of the
last request.";

/// Writes the last request of a transcript, an export or a batch
///
/// Reads what agents and services write down: transcripts of Claude Code, rollouts of Codex, the
/// `conversations.json` of an export, batch files, lists of MCP resources. Writes what the model was sent before its last answer, and
/// says on stderr what of it the file does not have.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: FileArgument,

    /// Kind of the file; detected if absent
    ///
    /// One of `claude-code`, `codex`, `chatgpt`, `batch`, `mcp-resources`.
    #[arg(long, value_name = "NAME", value_parser = KINDS, hide_possible_values = true)]
    kind: Option<TranscriptKind>,

    /// List the conversations of the file instead
    #[arg(long)]
    list: bool,

    /// With --list, print JSON
    #[arg(long, requires = "list")]
    json: bool,

    /// The conversation: its number in the list, its id or the beginning of it, or its title
    #[arg(long, value_name = "NUMBER|ID|TITLE", conflicts_with = "list")]
    pick: Option<String>,

    /// The line that the request stands on, from 1
    #[arg(long, value_name = "N", conflicts_with_all = ["list", "pick"])]
    line: Option<usize>,

    /// Write to this file, in one step, instead of stdout
    #[arg(long, short, value_name = "FILE", conflicts_with = "list")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let input = Input::read(arguments.input.file.as_deref())?;
    let Some(kind) = arguments.kind.or_else(|| TranscriptKind::detect(&input.text)) else {
        return Err(no_transcript(&input));
    };
    if arguments.list {
        let listed = kind.list(&input.text).map_err(|error| unread(&input.name(), &error))?;
        let list = List { schema: "cupel/1", kind: kind.name(), conversations: rows(&listed) };
        output::print(&if arguments.json { json::pretty(&list)? } else { list.render(context.palette) })?;
        return Ok(Answer::Yes);
    }
    let pick = match (&arguments.pick, arguments.line) {
        (Some(name), _) => Pick::Named(name.clone()),
        (None, Some(line)) => Pick::Line(line),
        (None, None) => Pick::Last,
    };
    let destination = Destination::new(arguments.output.as_deref(), input.path.as_deref())?;
    let imported = input.imported(kind, &pick, None)?;
    destination.write(&(imported.text + "\n"))?;
    Ok(Answer::Yes)
}

fn no_transcript(input: &Input) -> Failure {
    let name = input.name();
    Failure::cannot(match Format::detect(&input.text) {
        Some(format) => format!(
            "{name}: is no transcript but a request ({format}); the other commands take it as it is"
        ),
        None => format!(
            "{name}: is no transcript, export or batch that is known; name what it is with --kind: {}",
            TranscriptKind::names()
        ),
    })
}

/// The conversations of a file, as JSON.
#[derive(Serialize)]
struct List<'a> {
    schema: &'static str,
    kind: &'static str,
    conversations: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    number: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    id: &'a str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<usize>,
}

fn rows(listed: &[ListedConversation]) -> Vec<Row<'_>> {
    let numbered = listed.iter().zip(1..);
    let rows = numbered.map(|(listed, number)| Row {
        number,
        line: listed.line,
        id: &listed.id,
        title: &listed.title,
        messages: listed.messages,
    });
    rows.collect()
}

impl List<'_> {
    fn render(&self, palette: Palette) -> String {
        let columns =
            [("number", Side::Right), ("messages", Side::Right), ("id", Side::Left), ("title", Side::Left)];
        let mut table = Table::new(columns.to_vec());
        for row in &self.conversations {
            let messages = row.messages.map(grouped_count).unwrap_or_default();
            let number = row.number.to_string();
            table.push(vec![number.into(), messages.into(), row.id.into(), row.title.into()]);
        }
        let count = counted(self.conversations.len(), "conversation");
        format!("{}\n{count}, {}\n", table.render(text::screen_width(), palette), self.kind)
    }
}
