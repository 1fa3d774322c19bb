//! The figures of pools as tables.

use std::fmt::Write;

use cupel_eval::{Difference, Figure, Mean, PoolReport, Row};

use super::comparison::{self, percent, with_error};
use crate::render::number::{counted, grouped, grouped_count};
use crate::render::table::{Cell, Side, Table};
use crate::render::text::width;
use crate::style::{self, Palette};

const INTRODUCTION: &str =
    "Shares in %, mean ± standard error, at budgets in tokens. Differences in points.";

/// Width of a column of `100.0 ± 10.0`, with the blanks before it.
const FIGURE_WIDTH: usize = 14;
/// Width of the columns before the method, with the blanks before and after it.
const MARGIN: usize = 14;

/// A section for each set, and for each category if wanted.
pub(super) fn render(
    report: &PoolReport,
    is_by_category: bool,
    screen: usize,
    palette: Palette,
) -> String {
    let summary = &report.summary;
    let mut text = format!(
        "{}, {}, {}\n{INTRODUCTION}\n",
        counted(summary.pools, "pool"),
        counted(summary.items, "item"),
        plural(summary.queries),
    );
    let sections = summary.rows.chunk_by(|a, b| a.set == b.set && a.category == b.category);
    for rows in sections.filter(|rows| is_by_category || rows[0].category.is_none()) {
        let section = Section { report, rows, screen, palette };
        text.push('\n');
        text.push_str(&section.render());
    }
    text
}

/// `1 query`, `2 queries`.
fn plural(queries: usize) -> String {
    let noun = if queries == 1 { "query" } else { "queries" };
    format!("{} {noun}", grouped_count(queries))
}

/// A set or a category: the figures of all methods at all budgets.
struct Section<'a> {
    report: &'a PoolReport,
    rows: &'a [Row],
    screen: usize,
    palette: Palette,
}

impl Section<'_> {
    fn render(&self) -> String {
        let mut text = self.palette.strong(&self.title()) + "\n";
        for budgets in self.report.summary.budgets.tokens().chunks(self.budgets_a_table()) {
            text.push_str(&self.figures(budgets).render(self.screen, self.palette));
        }
        for note in self.notes() {
            let _ = writeln!(text, "  {note}");
        }
        let differences = self.differences();
        if !differences.is_empty() {
            let heading = format!("  compared with {}, query by query", self.report.reference);
            let _ = writeln!(text, "\n{}", self.palette.strong(&heading));
            let table = comparison::table(&differences);
            text.push_str(&table.render(self.screen, self.palette));
        }
        text
    }

    fn title(&self) -> String {
        let first = &self.rows[0];
        let queries = plural(first.queries);
        match &first.category {
            None => format!("{}: {queries}", first.set),
            Some(category) => format!("{}, category {category}: {queries}", first.set),
        }
    }

    /// As many as the screen is wide for; more go to another table.
    fn budgets_a_table(&self) -> usize {
        let names = self.report.summary.methods.iter().map(|name| width(name));
        let used = MARGIN + names.max().unwrap_or(0);
        (self.screen.saturating_sub(used) / FIGURE_WIDTH).max(1)
    }

    fn figures(&self, budgets: &[i64]) -> Table {
        let mut columns = vec![(String::new(), Side::Left), ("method".to_owned(), Side::Left)];
        columns.extend(budgets.iter().map(|tokens| (grouped(*tokens), Side::Right)));
        let mut table = Table::new(columns);
        for figure in Figure::ALL {
            let mut label = figure.name();
            for method in self.rows.chunk_by(|a, b| a.method == b.method) {
                let of_budget = |tokens| method.iter().find(|row| row.budget_tokens == tokens);
                let means = budgets.iter().map(|tokens| of_budget(*tokens)?.mean(figure));
                let Some(means) = means.collect::<Option<Vec<Mean>>>() else { continue };
                let mut row = vec![
                    Cell::styled(std::mem::take(&mut label), style::strong()),
                    method[0].method.as_str().into(),
                ];
                row.extend(means.into_iter().map(|mean| Cell::from(with_error(mean))));
                table.push(row);
            }
        }
        table
    }

    /// Notes for a reader of the figures: selections that do not count, and budgets at which
    /// there was little to choose.
    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.rows.iter().filter_map(faults).collect();
        let first = self.rows.chunk_by(|a, b| a.method == b.method).next().unwrap_or_default();
        notes.extend(first.iter().filter(|row| row.all_fit > 0.0).map(|row| {
            format!(
                "at {} tokens all candidates fit at {} % of the queries",
                grouped(row.budget_tokens),
                percent(row.all_fit)
            )
        }));
        notes
    }

    fn differences(&self) -> Vec<&Difference> {
        let first = &self.rows[0];
        let all = self.report.differences.iter();
        all.filter(|by| by.set == first.set && by.category == first.category).collect()
    }
}

/// Which selections of a method count as 0 at a budget, if any do.
fn faults(row: &Row) -> Option<String> {
    let faults = row.faults;
    let parts = [
        (faults.missing, "missing"),
        (faults.over_budget, "over budget"),
        (faults.not_a_candidate, "with an item that is no candidate"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> =
        parts.map(|(count, what)| format!("{} {what}", grouped_count(count))).collect();
    (!parts.is_empty()).then(|| {
        let budget = grouped(row.budget_tokens);
        format!("{} at {budget} tokens, counted as 0: {}", row.method, parts.join(", "))
    })
}
