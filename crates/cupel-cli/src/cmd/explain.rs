//! `cupel explain`: what is in the window, what is not, and why.

use clap::Args;
use cupel::{
    ContextBudget, CupelError, ExcludedItem, ExclusionReason, InclusionReason, Pipeline,
    SelectionReport,
};
use cupel_chat::PinReason;
use cupel_relevance::Highlights;

use crate::cli::SelectionArguments;
use crate::error::{Answer, Failure};
use crate::progress::Progress;
use crate::render::bar::{self, Fill, Part};
use crate::render::number::{grouped, grouped_count};
use crate::render::table::{Cell, Side, Table};
use crate::render::{json, text};
use crate::shortfall::{self, Shortfall, Simulation};
use crate::style::{self, Palette};
use crate::work::{self, Work};
use crate::{output, policy};

const EXAMPLES: &str = "\
Examples:
  cupel explain request.json --max 8000
  cupel explain request.json --max 8000 --json | jq '.excluded[].reason'";

/// Shows what is kept and what is left out, and why
///
/// Runs the same selection as `cupel select`. Draws the window to scale, then lists what is in it in
/// order, then what was left out, best first, with what it would have taken.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: SelectionArguments,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,

    /// How many of those left out to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// Show all that were left out
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

pub(crate) fn run(arguments: &Arguments, palette: Palette) -> Result<Answer, Failure> {
    let selection = &arguments.selection;
    let policy = policy::load(&selection.policy.policy)?;
    let input = work::open(&selection.request)?;
    let request = work::parse(&input, selection.request.format)?;
    let work = Work::new(&request, &input, &selection.request)?.asked(&selection.policy.query);
    let budget = work.budget(&selection.budget, &policy)?;
    let pipeline = work.pipeline(&policy)?;
    let report = pipeline.dry_run(work.candidates.items(), &budget);
    let report = report.map_err(|error| work.failed(error))?;
    if arguments.json {
        output::print(&json::pretty(&report)?)?;
        return Ok(Answer::Yes);
    }
    let limit = if arguments.all { usize::MAX } else { arguments.limit };
    let shown = report.excluded.iter().take(limit).map(|excluded| &excluded.item);
    let shown = shown.chain(report.included.iter().map(|included| &included.item));
    let highlights = highlights(&pipeline, &work, &work.candidates.positions(shown));
    let highlights = highlights.map_err(|error| work.failed(error))?;
    let view = View { work: &work, report: &report, budget: &budget, highlights, palette, limit };
    let simulation = Simulation::new(&pipeline, work.candidates.items());
    let text = simulation.and_then(|simulation| view.render(&simulation));
    output::print(&text.map_err(|error| work.failed(error))?)?;
    Ok(Answer::Yes)
}

/// The words and neighbours that earned candidates their scores, as far as the policy says; for
/// those that are not asked for, nothing.
fn highlights(
    pipeline: &Pipeline,
    work: &Work<'_>,
    positions: &[usize],
) -> Result<Vec<Highlights>, CupelError> {
    let items = work.candidates.items();
    let explained = pipeline.explain_scores(items, positions)?;
    let mut highlights = vec![Highlights::default(); items.len()];
    for (position, explanation) in positions.iter().zip(explained) {
        highlights[*position] = explanation.as_ref().map(Highlights::of).unwrap_or_default();
    }
    Ok(highlights)
}

/// A report, and how it is shown.
struct View<'a> {
    work: &'a Work<'a>,
    report: &'a SelectionReport,
    budget: &'a ContextBudget,
    highlights: Vec<Highlights>,
    palette: Palette,
    limit: usize,
}

impl View<'_> {
    fn render(&self, simulation: &Simulation<'_>) -> Result<String, CupelError> {
        let screen = text::screen_width();
        let window = self.report.included.iter().map(|included| &included.item);
        let kept = self.work.candidates.positions(window);
        let summary = self.work.summary(&kept, self.budget);
        let bar = bar::render(&self.parts(), screen, self.palette);
        let table = self.kept(&kept).render(screen, self.palette);
        let heading = self.palette.strong("kept, in order");
        let mut sections = vec![format!("{summary}\n"), bar, format!("{heading}\n{table}")];
        if !self.report.excluded.is_empty() {
            let table = self.left_out(simulation)?.render(screen, self.palette);
            let heading = self.palette.strong("left out, best first");
            sections.push(format!("{heading}\n{table}"));
        }
        let hidden = self.report.excluded.len().saturating_sub(self.limit);
        if hidden > 0 {
            sections.push(format!("and {} more; --all shows them\n", grouped_count(hidden)));
        }
        Ok(sections.join("\n"))
    }

    /// The window by kind, in the order in which kinds first appear in it.
    fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for included in &self.report.included {
            let (kind, tokens) = (included.item.kind().as_str(), included.item.tokens());
            match parts.iter_mut().find(|part| part.name.eq_ignore_ascii_case(kind)) {
                Some(part) => part.tokens = part.tokens.saturating_add(tokens),
                None => parts.push(Part { name: kind.to_owned(), tokens, fill: Fill::Kind }),
            }
        }
        let used = parts.iter().fold(0_i64, |sum, part| sum.saturating_add(part.tokens));
        let reserve = self.budget.output_reserve();
        let free = self.budget.max_tokens().saturating_sub(reserve).saturating_sub(used);
        parts.push(Part { name: "free".into(), tokens: free, fill: Fill::Free });
        parts.push(Part { name: "reserved".into(), tokens: reserve, fill: Fill::Reserve });
        parts
    }

    /// In the order in which it is written: requests keep their own, items are placed.
    fn kept(&self, positions: &[usize]) -> Table {
        let mut table = Table::new(vec![
            ("score", Side::Right),
            ("tokens", Side::Right),
            ("reason", Side::Left),
            ("what", Side::Left),
        ]);
        let mut rows: Vec<_> = self.report.included.iter().zip(positions).collect();
        if !self.work.request.format().has_free_order() {
            rows.sort_by_key(|(_, position)| **position);
        }
        for (included, position) in rows {
            table.push(vec![
                score(included.score),
                grouped(included.item.tokens()).into(),
                self.included_because(included.reason, *position).into(),
                self.work.what(*position).into(),
            ]);
            self.push_highlights(&mut table, *position, 4);
        }
        table
    }

    /// A line under an item with what earned it its score.
    fn push_highlights(&self, table: &mut Table, position: usize, columns: usize) {
        if let Some(line) = earned_by(&self.highlights[position]) {
            let mut row = vec![Cell::from(""); columns - 1];
            row.push(Cell::styled(line, style::faint()));
            table.push(row);
        }
    }

    fn included_because(&self, reason: InclusionReason, position: usize) -> &'static str {
        let pin = self.work.candidates.bundle(position).pin_reason();
        match reason {
            InclusionReason::Pinned => pin.map_or("pinned", PinReason::text),
            InclusionReason::ZeroToken => "costs nothing",
            _ => "scored",
        }
    }

    fn left_out(&self, simulation: &Simulation<'_>) -> Result<Table, CupelError> {
        let mut table = Table::new(vec![
            ("score", Side::Right),
            ("tokens", Side::Right),
            ("why", Side::Left),
            ("to get in", Side::Left),
            ("what", Side::Left),
        ]);
        let shown = &self.report.excluded[..self.limit.min(self.report.excluded.len())];
        let items = shown.iter().map(|excluded| &excluded.item);
        let positions = self.work.candidates.positions(items);
        let progress = Progress::of_steps("simulations", shown.len());
        for (excluded, position) in shown.iter().zip(positions) {
            let shortfall = simulation.shortfall(position, self.budget)?;
            table.push(vec![
                score(excluded.score),
                grouped(excluded.item.tokens()).into(),
                self.excluded_because(excluded).into(),
                Cell::styled(remedy(shortfall), style::strong()),
                self.work.what(position).into(),
            ]);
            self.push_highlights(&mut table, position, 5);
            progress.advance(1);
        }
        progress.finish();
        Ok(table)
    }

    fn excluded_because(&self, excluded: &ExcludedItem) -> String {
        match &excluded.reason {
            // What would fit into the window but not into the part of it that its kind has.
            ExclusionReason::BudgetExceeded { item_tokens, available_tokens }
                if item_tokens <= available_tokens =>
            {
                "its share is used up".into()
            }
            ExclusionReason::BudgetExceeded { available_tokens, .. } => {
                format!("{} left for it", grouped((*available_tokens).max(0)))
            }
            ExclusionReason::PinnedOverride { .. } => {
                format!("{} left, {} pinned", grouped(self.left()), grouped(self.pinned()))
            }
            ExclusionReason::Deduplicated { deduplicated_against } => {
                format!("same text as {}", self.kept_instead(deduplicated_against))
            }
            ExclusionReason::CountCapExceeded { kind, cap, .. } => {
                format!("at most {} of kind {kind}", grouped_count(*cap))
            }
            reason => reason.to_string(),
        }
    }

    /// What the selection left of the budget.
    fn left(&self) -> i64 {
        let used = self.report.included.iter();
        let used = used.fold(0_i64, |sum, included| included.item.tokens().saturating_add(sum));
        shortfall::window(self.budget).saturating_sub(used).max(0)
    }

    fn pinned(&self) -> i64 {
        let pinned = self.work.candidates.items().iter().filter(|item| item.pinned());
        pinned.fold(0, |sum, item| item.tokens().saturating_add(sum))
    }

    /// Where the item of this text is that was kept instead of another.
    fn kept_instead(&self, content: &str) -> String {
        let same = self.report.included.iter().find(|included| included.item.content() == content);
        let same = same.map(|included| self.work.candidates.positions([&included.item]));
        match same.as_deref() {
            Some([at, ..]) => self.work.candidates.bundle(*at).path().to_owned(),
            _ => "another item".to_owned(),
        }
    }
}

/// How many words, and how many neighbours, are worth the reader's time.
const SHOWN_WORDS: usize = 4;
const SHOWN_NEIGHBOURS: usize = 1;

/// `words: deploy, fail · near "No space left on …"`.
fn earned_by(highlights: &Highlights) -> Option<String> {
    let words: Vec<&str> = highlights.words.iter().take(SHOWN_WORDS).map(String::as_str).collect();
    let near = highlights.neighbours.iter().take(SHOWN_NEIGHBOURS);
    let near: Vec<String> = near.map(|text| format!("\"{text}\"")).collect();
    let parts = [("words: ", words.join(", ")), ("near ", near.join(", "))];
    let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
    let parts: Vec<String> = parts.map(|(what, text)| format!("{what}{text}")).collect();
    Some(parts.join(" · ")).filter(|line| !line.is_empty())
}

fn score(score: f64) -> Cell {
    format!("{score:.3}").into()
}

fn remedy(shortfall: Shortfall) -> String {
    match shortfall {
        Shortfall::Tokens(more) => format!("needs {} tokens more", grouped(more)),
        Shortfall::PushedOut(budget) => format!("in at {} tokens", grouped(budget)),
        Shortfall::Never => "not by budget alone".to_owned(),
    }
}
