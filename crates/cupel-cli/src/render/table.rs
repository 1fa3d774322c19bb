//! Rows in columns.

use std::borrow::Cow;

use anstyle::Style;

use super::text::{excerpt, width};
use crate::style::{self, Palette};

/// On which side of its column a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// A table whose last column takes what is left of the line, and is cut to it.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(Cow<'static, str>, Side)>,
    rows: Vec<Vec<Cell>>,
}

/// One field of a table.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A text in a style of its own.
    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), style: Style::new() }
    }
}

/// The blanks between columns.
const GAP: usize = 2;
/// The last column is never cut below this.
const LEAST_REST: usize = 16;

impl Table {
    /// A table with these headings.
    pub(crate) fn new<T: Into<Cow<'static, str>>>(columns: Vec<(T, Side)>) -> Self {
        let columns = columns.into_iter().map(|(title, side)| (title.into(), side)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row: one cell for each column.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// The table as lines, each indented by two blanks.
    pub(crate) fn render(&self, screen: usize, palette: Palette) -> String {
        let widths = self.widths(screen);
        let heading = |(title, _): &(Cow<'static, str>, Side)| {
            Cell::styled(title.clone().into_owned(), style::faint())
        };
        let headings = self.columns.iter().map(heading).collect();
        let mut text = String::new();
        for row in std::iter::once(&headings).chain(&self.rows) {
            text.push_str(&self.line(row, &widths, palette));
            text.push('\n');
        }
        text
    }

    fn widths(&self, screen: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|(title, _)| width(title)).collect();
        for row in &self.rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = width(&cell.text).max(*widest);
            }
        }
        if let Some((last, others)) = widths.split_last_mut() {
            let used: usize = others.iter().map(|width| width + GAP).sum::<usize>() + GAP;
            *last = (*last).min(screen.saturating_sub(used).max(LEAST_REST));
        }
        widths
    }

    fn line(&self, row: &[Cell], widths: &[usize], palette: Palette) -> String {
        let mut line = String::new();
        let mut pending = 0;
        for ((cell, columns), (_, side)) in row.iter().zip(widths).zip(&self.columns) {
            let shown = excerpt(&cell.text, *columns);
            let padding = columns - width(&shown);
            let (before, after) = match side {
                Side::Left => (0, padding),
                Side::Right => (padding, 0),
            };
            // Blanks are written only once something follows them.
            if shown.is_empty() {
                pending += GAP + columns;
            } else {
                line.push_str(&" ".repeat(GAP + pending + before));
                line.push_str(&palette.paint(&shown, cell.style));
                pending = after;
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_and_the_last_is_cut_to_the_screen() {
        let mut table = Table::new(vec![("n", Side::Right), ("what", Side::Left)]);
        table.push(vec!["1".into(), "a very long text that does not fit".into()]);
        table.push(vec!["1,000".into(), "漢字".into()]);
        table.push(vec!["7".into(), "".into()]);
        let text = table.render(26, Palette::plain());
        assert_eq!(text, "      n  what\n      1  a very long text…\n  1,000  漢字\n      7\n");
    }
}
