//! Recall over budgets as a picture: a panel for each set, a line for each method.

use cupel_eval::{Row, Summary};

use crate::render::plot::{self, Legend, Panel};

const PANEL_WIDTH: f64 = 330.0;
const PANEL_HEIGHT: f64 = 210.0;
/// The room around a panel: for labels on the left and below, and for the name above.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 26.0;
const ABOVE: f64 = 40.0;
const BELOW: f64 = 54.0;

/// A complete SVG document.
pub(super) fn render(summary: &Summary) -> String {
    let sets: Vec<&[Row]> = summary
        .rows
        .chunk_by(|a, b| a.set == b.set)
        .map(|rows| rows.split_at(rows.partition_point(|row| row.category.is_none())).0)
        .collect();
    let columns = sets.len().clamp(1, 2);
    let width = (LEFT + PANEL_WIDTH + RIGHT) * columns as f64;
    let names = summary.methods.iter().map(String::as_str);
    let legend = Legend::new(names, (LEFT, 10.0), width - LEFT - RIGHT);
    let top = 10.0 + legend.height;
    let row_height = ABOVE + PANEL_HEIGHT + BELOW;
    let height = top + row_height * sets.len().div_ceil(columns) as f64;

    let mut body = legend.svg;
    for (at, rows) in sets.into_iter().enumerate() {
        let (column, row) = ((at % columns) as f64, (at / columns) as f64);
        let panel = Panel {
            left: LEFT + column * (LEFT + PANEL_WIDTH + RIGHT),
            top: top + ABOVE + row * row_height,
            width: PANEL_WIDTH,
            height: PANEL_HEIGHT,
            budgets: summary.budgets.tokens(),
        };
        body.push_str(&set(&panel, rows));
    }
    plot::document(width, height, "Recall over budgets", &body)
}

/// One set: its name, its axes, and a line for each method.
fn set(panel: &Panel<'_>, rows: &[Row]) -> String {
    let name = rows.first().map_or("", |row| row.set.as_str());
    let mut svg = format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>\n",
        panel.left,
        panel.top - 14.0,
        plot::escaped(name),
    );
    svg.push_str(&panel.axes("recall ± standard error"));
    let methods: Vec<&[Row]> = rows.chunk_by(|a, b| a.method == b.method).collect();
    // The first one is drawn last, so that no other hides it.
    for (turn, rows) in methods.into_iter().enumerate().rev() {
        let shares: Vec<f64> = rows.iter().map(|row| row.recall.mean).collect();
        svg.push_str(&panel.line(turn, &shares));
        for row in rows {
            svg.push_str(&panel.dot(turn, row.budget_tokens, row.recall.mean, row.recall.error));
        }
    }
    svg
}
