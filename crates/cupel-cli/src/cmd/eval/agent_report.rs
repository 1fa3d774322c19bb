//! The figures of agents' runs as tables.

use std::fmt::Write;

use cupel_eval::{AgentReport, AgentRow, Difference};

use super::comparison::{self, with_error};
use crate::render::number::{counted, grouped, grouped_count};
use crate::render::table::{Cell, Side, Table};
use crate::style::{self, Palette};

const INTRODUCTION: &str = "\
Coverage in %, mean over steps ± standard error, at budgets in tokens beyond the head of a run.
Windows are counted that are invalid, stale (without the newest message) or over the budget, and
steps at which nothing fits. Uncached tokens are behind the common beginning with the window before.";

const COSTS: &str = "  cost in thousands of tokens at full price, if cached tokens cost `read` and others `write`";

/// A section for each set.
pub(super) fn render(report: &AgentReport, screen: usize, palette: Palette) -> String {
    let summary = &report.summary;
    let mut text = format!("{}\n{INTRODUCTION}\n", size(summary.runs, summary.steps));
    for rows in summary.rows.chunk_by(|a, b| a.set == b.set) {
        let first = &rows[0];
        let title = format!("{}: {}", first.set, size(first.runs, first.steps));
        let everything = grouped(first.everything_tokens);
        let _ = writeln!(text, "\n{}", palette.strong(&title));
        text.push_str(&figures(rows).render(screen, palette));
        let _ = writeln!(
            text,
            "  everything, if nothing is ever left out: {everything} tokens uncached"
        );
        let _ = writeln!(text, "\n{}", palette.strong(COSTS));
        text.push_str(&costs(rows).render(screen, palette));
        let differences = report.differences.iter().filter(|by| by.set == first.set);
        let differences: Vec<&Difference> = differences.collect();
        if !differences.is_empty() {
            let heading = format!("  compared with {}, run by run", report.reference);
            let _ = writeln!(text, "\n{}", palette.strong(&heading));
            text.push_str(&comparison::table(&differences).render(screen, palette));
        }
    }
    text
}

/// A column for each rule, and a row for what everything costs.
fn costs(rows: &[AgentRow]) -> Table {
    let of_everything = &rows[0].costs;
    let mut columns = vec![("method".to_owned(), Side::Left), ("budget".to_owned(), Side::Right)];
    columns.extend(of_everything.iter().map(|cost| {
        (format!("read {}, write {}", cost.rule.read, cost.rule.write), Side::Right)
    }));
    let mut table = Table::new(columns);
    for of_method in rows.chunk_by(|a, b| a.method == b.method) {
        let mut label = of_method[0].method.as_str();
        for row in of_method {
            let name = Cell::styled(std::mem::take(&mut label), style::strong());
            let figures = row.costs.iter().map(|cost| thousands(cost.full_price_tokens).into());
            table.push([name, grouped(row.budget_tokens).into()].into_iter().chain(figures).collect());
        }
    }
    let everything = of_everything.iter().map(|cost| cost.everything_full_price_tokens);
    let name = Cell::styled("everything is sent", style::faint());
    let figures = everything.map(|tokens| Cell::styled(thousands(tokens), style::faint()));
    table.push([name, "".into()].into_iter().chain(figures).collect());
    table
}

/// `12.3` for 12,345 tokens.
fn thousands(tokens: i64) -> String {
    format!("{:.1}", tokens as f64 / 1_000.0)
}

fn size(runs: usize, steps: usize) -> String {
    format!("{}, {}", counted(runs, "run"), counted(steps, "step"))
}

fn figures(rows: &[AgentRow]) -> Table {
    let mut columns = vec![("method", Side::Left)];
    let numbers = ["budget", "coverage", "invalid", "stale", "over", "no fit", "uncached"];
    columns.extend(numbers.map(|name| (name, Side::Right)));
    let mut table = Table::new(columns);
    for of_method in rows.chunk_by(|a, b| a.method == b.method) {
        let mut label = of_method[0].method.as_str();
        for row in of_method {
            let coverage = row.coverage.map_or_else(|| "–".to_owned(), with_error);
            let mut cells = vec![
                Cell::styled(std::mem::take(&mut label), style::strong()),
                grouped(row.budget_tokens).into(),
                coverage.into(),
            ];
            let counts = [row.invalid, row.stale, row.over, row.unfit];
            cells.extend(counts.map(|count| Cell::from(grouped_count(count))));
            cells.push(grouped(row.uncached_tokens).into());
            table.push(cells);
        }
    }
    table
}
