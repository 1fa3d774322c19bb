//! `cupel explain`: what is in the window, what is not, and why.

mod step;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use cupel_engine::{EarnedBy, Engine, Explanation, Kept, KeptReason, LeftOut, Options, Part, ShortenedPart, ShortenedText, ToGetIn, ToolFate, Why};

use super::tools::fitted;
use super::{Context, select};
use crate::batch::{Tally, requests_of_lines};
use crate::cli::{FileArgument, SelectionArguments};
use crate::error::{Answer, Failure};
use crate::input::Input;
use crate::output::{self, Destination};
use crate::page::Page;
use crate::render::bar::{self, Fill};
use crate::render::number::{grouped, grouped_count};
use crate::render::table::{Cell, Side, Table};
use crate::render::{json, text};
use crate::session::{SessionArguments, SessionFile};
use crate::style::{self, Palette};

const EXAMPLES: &str = "\
Examples:
  cupel explain request.json --max 8000
  cupel explain request.json --max 8000 --json | jq '.left_out[].why'
  cupel explain request.json --max 8000 --json=report
  cupel explain request.json --max 8000 --html window.html
  cupel explain history.json --max 8000 --session run.session";

/// Shows what is kept and what is left out, and why
///
/// Runs the same selection as `cupel select`. Draws the window to scale, then lists what is in it in
/// order, then what was left out, best first, with what it would have taken. With --session, shows
/// the next step instead: what stays in the cache, what is cut off, what is sent again and why, and
/// what it costs; the session stays as it is. With --html, writes a page for the browser instead, with
/// a slider for the budget.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: FileArgument,

    #[command(flatten)]
    selection: SelectionArguments,

    #[command(flatten)]
    session: SessionArguments,

    /// Print JSON: everything below, or with `=report` the report of the specification
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "explanation", hide_possible_values = true)]
    json: Option<Document>,

    /// Write a page for the browser, one file that works offline, instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "limit", "all"])]
    html: Option<PathBuf>,

    /// How many of those left out to show; with --session, of those cut off and of those sent again
    ///
    /// 20 if absent; with --json, all.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Show all that were left out
    #[arg(long, conflicts_with = "limit")]
    all: bool,

    /// Each line is a request of its own (JSON lines); with --json, a line each
    #[arg(long, conflicts_with_all = ["html", "session"])]
    lines: bool,
}

/// How many of those left out are shown to people who do not say it.
const SHOWN: usize = 20;

impl Arguments {
    /// How many of those left out to show.
    fn most(&self, is_for_people: bool) -> usize {
        let usual = if is_for_people && !self.all { SHOWN } else { usize::MAX };
        self.limit.unwrap_or(usual)
    }
}

/// What is printed as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Document {
    Explanation,
    Report,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let engine = arguments.selection.engine(context)?;
    let input = if arguments.lines {
        Input::read(arguments.input.file.as_deref())?
    } else {
        arguments.input.read(&arguments.selection.request)?
    };
    if let Some(html) = &arguments.html {
        return write_page(arguments, context, &engine, &input, html);
    }
    if let Some(file) = arguments.session.file(&[input.path.as_deref()])? {
        return explain_step(arguments, context, &engine, &input, &file);
    }
    let options = arguments.selection.options()?;
    if arguments.lines {
        return explain_lines(arguments, context, &engine, &input, &options);
    }
    output::print(&explained(arguments, context, &engine, &input.name(), &input.text, &options)?)?;
    Ok(Answer::Yes)
}

/// Each line as a request of its own. One that fails is told and does not stop the rest.
fn explain_lines(
    arguments: &Arguments,
    context: &Context,
    engine: &Engine,
    input: &Input,
    options: &Options,
) -> Result<Answer, Failure> {
    let mut tally = Tally::default();
    for (name, line) in requests_of_lines(input) {
        let told = explained(arguments, context, engine, &name, &line, options);
        if let Some(text) = tally.note(told)? {
            if arguments.json.is_none() {
                output::print(&format!("{}\n", context.palette.strong(&name)))?;
            }
            output::print(&text)?;
        } else if arguments.json.is_some() {
            output::print("null\n")?;
        }
    }
    tally.finish()
}

/// A request, explained as the flags say.
fn explained(
    arguments: &Arguments,
    context: &Context,
    engine: &Engine,
    name: &str,
    text: &str,
    options: &Options,
) -> Result<String, Failure> {
    let failed = |error| Failure::of(name, &error);
    let prepared = engine.prepare(text, options).map_err(failed)?;
    let limit = arguments.most(arguments.json.is_none());
    Ok(match arguments.json {
        Some(Document::Explanation) if arguments.lines => {
            json::line(&prepared.explain(limit).map_err(failed)?)?
        }
        Some(Document::Report) if arguments.lines => {
            json::line(&prepared.report().map_err(failed)?)?
        }
        Some(Document::Report) => json::pretty(&prepared.report().map_err(failed)?)?,
        Some(Document::Explanation) => json::pretty(&prepared.explain(limit).map_err(failed)?)?,
        None => {
            let explanation = prepared.explain(limit).map_err(failed)?;
            select::tell(name, &explanation.repairs, &explanation.superseded);
            select::tell_unused(name, &explanation.unused_renderings);
            View { explanation: &explanation, palette: context.palette }.render()
        }
    })
}

/// The page of the request, or of the step, as one file.
fn write_page(
    arguments: &Arguments,
    context: &Context,
    engine: &Engine,
    input: &Input,
    html: &Path,
) -> Result<Answer, Failure> {
    let destination = Destination::new(Some(html), input.path.as_deref())?;
    let Arguments { selection, session, .. } = arguments;
    let page = Page { context, selection, session, beside: &[], output: Some(html) };
    let view = page.view(engine, input)?;
    destination.write(&cupel_page::single_file(&view))?;
    Ok(Answer::Yes)
}

/// The request as the next step of a session, which stays as it is.
fn explain_step(
    arguments: &Arguments,
    context: &Context,
    engine: &Engine,
    input: &Input,
    file: &SessionFile,
) -> Result<Answer, Failure> {
    if arguments.json == Some(Document::Report) {
        return Err(Failure::cannot("a step of a session has no report; give --json alone"));
    }
    let mut session = arguments.session.load(file, engine)?;
    let step = arguments.session.propose(&mut session, input, &arguments.selection.options()?)?;
    if arguments.json.is_some() {
        output::print(&json::pretty(&step)?)?;
        return Ok(Answer::Yes);
    }
    select::tell(&input.name(), &step.repairs, &step.superseded);
    let before = session.state().map(|state| state.totals).unwrap_or_default();
    let limit = arguments.most(true);
    output::print(&step::View::new(&step, before, limit, context.palette).render())?;
    Ok(Answer::Yes)
}

/// An explanation, and how it is shown.
struct View<'a> {
    explanation: &'a Explanation,
    palette: Palette,
}

impl View<'_> {
    fn render(&self) -> String {
        let screen = text::screen_width();
        let explanation = self.explanation;
        let bar = bar::render(&self.parts(), screen, self.palette);
        let table = self.kept().render(screen, self.palette);
        let heading = self.palette.strong("kept, in order");
        let summary = select::summary(&explanation.summary);
        let mut sections = vec![format!("{summary}\n{}", self.signals(screen)), bar, format!("{heading}\n{table}")];
        if !explanation.left_out.is_empty() {
            let table = self.left_out().render(screen, self.palette);
            let heading = self.palette.strong("left out, best first");
            sections.push(format!("{heading}\n{table}"));
        }
        if explanation.tools.iter().any(|tool| tool.fate != ToolFate::Whole) {
            let table = fitted(&explanation.tools).render(screen, self.palette);
            let heading = self.palette.strong("tools");
            sections.push(format!("{heading}\n{table}"));
        }
        if explanation.hidden > 0 {
            let hidden = grouped_count(explanation.hidden);
            sections.push(format!("and {hidden} more; --all shows them\n"));
        }
        sections.join("\n")
    }

    /// What the policy went by: `by 12 of 40 items are calls …; language: english`.
    fn signals(&self, screen: usize) -> String {
        let signals = self.explanation.signals.iter().map(|signal| signal.text.clone());
        let language = self.explanation.language.iter().map(|name| format!("language: {name}"));
        let told: Vec<String> = signals.chain(language).collect();
        let lines = text::wrapped(&told.join("; "), screen);
        lines.iter().map(|line| self.palette.paint(line, style::faint()) + "\n").collect()
    }

    /// The window by kind, in the order in which kinds first appear in it.
    fn parts(&self) -> Vec<bar::Part> {
        let mut parts: Vec<bar::Part> = Vec::new();
        for kept in &self.explanation.kept {
            let kind = &kept.part.kind;
            let tokens = kept.shortened.as_ref().map_or(&kept.part.tokens, |short| &short.tokens);
            match parts.iter_mut().find(|part| part.name.eq_ignore_ascii_case(kind)) {
                Some(part) => part.tokens = part.tokens.saturating_add(*tokens),
                None => parts.push(bar::Part {
                    name: kind.clone(),
                    tokens: *tokens,
                    fill: Fill::Kind,
                }),
            }
        }
        let summary = &self.explanation.summary;
        let reserve = summary.budget.output_reserve;
        let free = summary.budget.max_tokens.saturating_sub(reserve);
        let free = free.saturating_sub(summary.tokens_after);
        parts.push(bar::Part { name: "free".into(), tokens: free, fill: Fill::Free });
        parts.push(bar::Part { name: "reserved".into(), tokens: reserve, fill: Fill::Reserve });
        parts
    }

    /// Whether the policy goes by what things add to the window, and not by their scores alone.
    fn goes_by_gain(&self) -> bool {
        let kept = self.explanation.kept.iter().map(|row| row.gain);
        kept.chain(self.explanation.left_out.iter().map(|row| row.gain)).any(|gain| gain.is_some())
    }

    /// The name of the figure that decides.
    fn figure(&self) -> &'static str {
        if self.goes_by_gain() { "gain" } else { "score" }
    }

    /// The figure that decides; none for what did not compete.
    fn decides(&self, score: f64, gain: Option<f64>) -> Cell {
        match gain {
            Some(gain) => format!("{gain:.3}").into(),
            None if self.goes_by_gain() => "–".into(),
            None => format!("{score:.3}").into(),
        }
    }

    fn left_out(&self) -> Table {
        let mut table = Table::new(vec![
            (self.figure(), Side::Right),
            ("tokens", Side::Right),
            ("why", Side::Left),
            ("to get in", Side::Left),
            ("what", Side::Left),
        ]);
        let mut told = None;
        for row in &self.explanation.left_out {
            table.push(vec![
                self.decides(row.score, row.gain),
                grouped(row.part.tokens).into(),
                short_note(row).map_or_else(|| why(&row.why), str::to_owned).into(),
                Cell::styled(remedy(row.to_get_in), style::strong()),
                what(&row.part).into(),
            ]);
            push_note(&mut table, 5, row.note.clone().filter(|_| short_note(row) != row.note.as_deref()));
            push_note(&mut table, 5, earned_by(&row.earned_by));
            // Most have lost to the same few: it is told once.
            let room = self.room(row);
            if room != told {
                push_note(&mut table, 5, room.clone());
                told = room;
            }
        }
        table
    }

    /// The window, in the order in which it is written.
    fn kept(&self) -> Table {
        let mut table = Table::new(vec![
            (self.figure(), Side::Right),
            ("tokens", Side::Right),
            ("reason", Side::Left),
            ("what", Side::Left),
        ]);
        for row in &self.explanation.kept {
            let is_ruled = matches!(row.reason, KeptReason::Pinned | KeptReason::KeptFirst);
            let figure = if is_ruled { "–".into() } else { self.decides(row.score, row.gain) };
            let tokens = row.shortened.as_ref().map_or(row.part.tokens, |short| short.tokens);
            table.push(vec![
                figure,
                grouped(tokens).into(),
                reason(row).into(),
                what(&row.part).into(),
            ]);
            push_note(&mut table, 4, self.needed_by(row));
            push_note(&mut table, 4, row.shortened.as_ref().and_then(left_of_it));
            if !is_ruled {
                push_note(&mut table, 4, earned_by(&row.earned_by));
            }
        }
        table
    }

    /// `needed by messages[3..5] and 2 more`.
    fn needed_by(&self, row: &Kept) -> Option<String> {
        let of = |at: &usize| self.explanation.kept.iter().find(|row| row.part.position == *at);
        let first = row.needed_by.first().and_then(of)?;
        let more = match row.needed_by.len() - 1 {
            0 => String::new(),
            more => format!(" and {} more", grouped_count(more)),
        };
        Some(format!("needed by {}{more}", first.part.path))
    }

    /// `instead: messages[3..5], messages[8]`.
    fn room(&self, row: &LeftOut) -> Option<String> {
        let kept = |at: &usize| self.explanation.kept.iter().find(|kept| kept.part.position == *at);
        let paths = row.room_taken_by.iter().filter_map(kept).map(|kept| kept.part.path.as_str());
        let paths: Vec<&str> = paths.take(SHOWN_ROOM).collect();
        let more = row.room_taken_by.len() - paths.len();
        let more = if more > 0 { format!(" and {} more", grouped_count(more)) } else { String::new() };
        (!paths.is_empty()).then(|| format!("instead: {}{more}", paths.join(", ")))
    }
}


/// The first words of a note: `replaced` of `replaced by …`.
fn short_note(row: &LeftOut) -> Option<&str> {
    row.note.as_deref().map(|note| note.split(" by ").next().unwrap_or(note))
}

/// The reason why something is in the window.
fn reason(row: &Kept) -> String {
    let reason = match row.reason {
        KeptReason::Pinned => row.part.pinned.as_deref().unwrap_or("pinned"),
        KeptReason::KeptFirst => row.kept_for.as_deref().unwrap_or("kept first"),
        KeptReason::ZeroToken => "costs nothing",
        _ => "scored",
    };
    match &row.shortened {
        // A rule's own words say more; the note below says how much is left.
        Some(_) if row.kept_for.is_some() => reason.to_owned(),
        Some(ShortenedPart { name, .. }) => {
            format!("shortened from {} ({name})", grouped(row.part.tokens))
        }
        None => reason.to_owned(),
    }
}

/// `get_user_details: 14 of 62 values · whole at 2,310 tokens`.
fn left_of_it(shortened: &ShortenedPart) -> Option<String> {
    let values = |text: &ShortenedText| {
        let (after, before) = (text.values_after?, text.values_before?);
        let values = format!("{} of {} values", grouped_count(after), grouped_count(before));
        Some(if text.tool.is_empty() { values } else { format!("{}: {values}", text.tool) })
    };
    let told = shortened.texts.iter().filter_map(values).take(SHOWN_TEXTS);
    let from = shortened.texts.iter().filter(|text| text.tool.is_empty() && text.values_before.is_none());
    let from = from.map(|text| format!("{} of {} tokens", grouped(text.tokens_after), grouped(text.tokens_before)));
    let whole = shortened.whole_at.map(|tokens| format!("whole at {} tokens", grouped(tokens)));
    let parts: Vec<String> = told.chain(from.take(1)).chain(whole).collect();
    Some(parts.join(" · ")).filter(|line| !line.is_empty())
}

/// A line under a row, in its last column.
fn push_note(table: &mut Table, columns: usize, note: Option<String>) {
    if let Some(note) = note {
        let mut row = vec![Cell::from(""); columns - 1];
        row.push(Cell::styled(note, style::faint()));
        table.push(row);
    }
}

/// Where a part is in the request, and how it begins.
pub(crate) fn what(part: &Part) -> String {
    format!("{} · {}", part.label(), part.excerpt)
}

fn why(why: &Why) -> String {
    match why {
        Why::NoRoom { left } => format!("{} left for it", grouped(*left)),
        Why::NoRoomForNeeds { left, tokens, paths, .. } => {
            let more = match paths.len() {
                0 | 1 => String::new(),
                count => format!(" and {} more", grouped_count(count - 1)),
            };
            let first = paths.first().map_or("others", String::as_str);
            let (left, tokens) = (grouped(*left), grouped(*tokens));
            format!("{left} left, {tokens} with {first}{more}, which it needs")
        }
        Why::ShareUsedUp => "its share is used up".to_owned(),
        Why::PinsLeaveNoRoom { left, pinned } => {
            format!("{} left, {} pinned", grouped(*left), grouped(*pinned))
        }
        Why::SameText { path, .. } => {
            format!("same text as {}", path.as_deref().unwrap_or("another item"))
        }
        Why::TooManyOfKind { kind, cap } => {
            format!("at most {} of kind {kind}", grouped_count(*cap))
        }
        Why::Other { text, .. } => text.clone(),
        _ => "another reason".to_owned(),
    }
}

/// How many words, neighbours and others are worth the reader's time.
const SHOWN_WORDS: usize = 4;
const SHOWN_NEIGHBOURS: usize = 1;
const SHOWN_ROOM: usize = 3;
const SHOWN_TEXTS: usize = 2;

/// `words: deploy, fail · near "No space left on …"`.
fn earned_by(earned: &EarnedBy) -> Option<String> {
    let words: Vec<&str> = earned.words.iter().take(SHOWN_WORDS).map(String::as_str).collect();
    let near = earned.neighbours.iter().take(SHOWN_NEIGHBOURS);
    let near: Vec<String> = near.map(|text| format!("\"{text}\"")).collect();
    let parts = [("words: ", words.join(", ")), ("near ", near.join(", "))];
    let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
    let parts: Vec<String> = parts.map(|(what, text)| format!("{what}{text}")).collect();
    Some(parts.join(" · ")).filter(|line| !line.is_empty())
}

fn remedy(to_get_in: ToGetIn) -> String {
    match to_get_in {
        ToGetIn::MoreTokens { tokens, is_least, was_in_at } => {
            let at_most = if is_least { "" } else { "at most " };
            match was_in_at {
                None => format!("needs {at_most}{} tokens more", grouped(tokens)),
                Some(budget) => {
                    format!("{at_most}{} more; was in at {}", grouped(tokens), grouped(budget))
                }
            }
        }
        ToGetIn::LessTokens { budget } => format!("in at {} tokens", grouped(budget)),
        _ => "not by budget alone".to_owned(),
    }
}
