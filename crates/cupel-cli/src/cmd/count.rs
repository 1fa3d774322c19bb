//! `cupel count`: how many tokens is this?

use std::path::PathBuf;

use clap::Args;
use cupel_tokens::TokenCounter;
use serde::Serialize;

use crate::cli::RequestArguments;
use crate::error::{Answer, Failure};
use crate::input::Input;
use crate::output;
use crate::render::number::grouped;
use crate::render::table::{Cell, Side, Table};
use crate::render::{json, text};
use crate::style::{self, Palette};
use crate::tokenizer::{self, Hints, Watched};
use crate::work::{self, Work};

const EXAMPLES: &str = "\
Examples:
  cupel count request.json
  cupel count --text README.md --model gpt-4o";

/// Counts the tokens of a request, part by part
///
/// Each part is what can be kept or left out as a whole. Counts include what providers add for each
/// message and tool definition.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    request: RequestArguments,

    /// Count plain text instead, of one file or of many
    #[arg(long, conflicts_with_all = ["format", "pin", "repair"])]
    text: bool,

    /// More files, with --text
    #[arg(value_name = "MORE", requires = "text")]
    more: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, palette: Palette) -> Result<Answer, Failure> {
    let count = if arguments.text { of_texts(arguments)? } else { of_request(arguments)? };
    output::print(&if arguments.json { json::pretty(&count)? } else { count.render(palette) })?;
    Ok(Answer::Yes)
}

#[derive(Serialize)]
struct Count {
    tokenizer: String,
    is_estimate: bool,
    total_tokens: i64,
    parts: Vec<Part>,
}

#[derive(Serialize)]
struct Part {
    label: String,
    tokens: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_pinned: Option<bool>,
}

fn of_request(arguments: &Arguments) -> Result<Count, Failure> {
    let input = work::open(&arguments.request)?;
    let request = work::parse(&input, arguments.request.format)?;
    let work = Work::new(&request, &input, &arguments.request)?;
    let part = |(at, item): (usize, &cupel::ContextItem)| Part {
        label: work.candidates.bundle(at).label(),
        tokens: item.tokens(),
        kind: Some(item.kind().as_str().to_owned()),
        is_pinned: Some(item.pinned()),
    };
    Ok(Count {
        tokenizer: work.tokenizer.clone(),
        is_estimate: work.candidates.is_estimate(),
        total_tokens: work.candidates.total_tokens(),
        parts: work.candidates.items().iter().enumerate().map(part).collect(),
    })
}

fn of_texts(arguments: &Arguments) -> Result<Count, Failure> {
    let request = &arguments.request;
    let model = request.model.as_deref().map(tokenizer::model).transpose()?;
    let tokenizer = request.tokenizer.as_deref();
    let counter = tokenizer::choose(Hints { tokenizer, model, format: None })?;
    let mut inputs = vec![Input::read(request.file.as_deref())?];
    for path in &arguments.more {
        inputs.push(Input::read(Some(path))?);
    }
    let texts: Vec<&str> = inputs.iter().map(|input| input.text.as_str()).collect();
    let counter = Watched::new(counter, texts.iter().map(|text| text.len()).sum());
    let counts = counter.count_all(&texts);
    let part = |(input, tokens): (&Input, &i64)| Part {
        label: input.name(),
        tokens: *tokens,
        kind: None,
        is_pinned: None,
    };
    Ok(Count {
        tokenizer: counter.name().to_owned(),
        is_estimate: counter.is_estimate(),
        total_tokens: counts.iter().fold(0, |sum, tokens| tokens.saturating_add(sum)),
        parts: inputs.iter().zip(&counts).map(part).collect(),
    })
}

impl Count {
    fn render(&self, palette: Palette) -> String {
        let has_kinds = self.parts.iter().any(|part| part.kind.is_some());
        let mut columns = vec![("tokens", Side::Right)];
        if has_kinds {
            columns.extend([("kind", Side::Left), ("pinned", Side::Left)]);
        }
        columns.push(("what", Side::Left));
        let mut table = Table::new(columns);
        for part in &self.parts {
            let mut row: Vec<Cell> = vec![grouped(part.tokens).into()];
            if has_kinds {
                row.push(part.kind.clone().unwrap_or_default().into());
                row.push(if part.is_pinned == Some(true) { "pinned" } else { "" }.into());
            }
            row.push(part.label.clone().into());
            table.push(row);
        }
        let mut total: Vec<Cell> = vec![Cell::styled(grouped(self.total_tokens), style::strong())];
        if has_kinds {
            total.extend(["".into(), "".into()]);
        }
        let is_more_exact = self.tokenizer != tokenizer::ESTIMATE;
        let mark = if self.is_estimate && is_more_exact { ", in part estimated" } else { "" };
        total.push(format!("in all, by {}{mark}", self.tokenizer).into());
        table.push(total);
        table.render(text::screen_width(), palette)
    }
}
