//! A figure over budgets as a picture: a panel for each set, a line for each method.

use cupel_eval::{AgentSummary, Mean, Summary};

use crate::render::plot::{self, Legend, Panel};

const PANEL_WIDTH: f64 = 330.0;
const PANEL_HEIGHT: f64 = 210.0;
/// The room around a panel: for labels on the left and below, and for the name above.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 26.0;
const ABOVE: f64 = 40.0;
const BELOW: f64 = 54.0;

/// What is drawn: points in the order of set, method and budget.
struct Chart<'a> {
    title: &'static str,
    axis: &'static str,
    methods: &'a [String],
    budgets: &'a [i64],
    points: Vec<Point<'a>>,
}

struct Point<'a> {
    set: &'a str,
    method: &'a str,
    budget_tokens: i64,
    mean: Mean,
}

/// Recall over budgets.
pub(super) fn of_pools(summary: &Summary) -> String {
    let rows = summary.rows.iter().filter(|row| row.category.is_none());
    let points = rows.map(|row| Point {
        set: &row.set,
        method: &row.method,
        budget_tokens: row.budget_tokens,
        mean: row.recall,
    });
    let chart = Chart {
        title: "Recall over budgets",
        axis: "recall ± standard error",
        methods: &summary.methods,
        budgets: summary.budgets.tokens(),
        points: points.collect(),
    };
    chart.render()
}

/// Coverage over budgets.
pub(super) fn of_agents(summary: &AgentSummary) -> String {
    let points = summary.rows.iter().filter_map(|row| {
        Some(Point {
            set: &row.set,
            method: &row.method,
            budget_tokens: row.budget_tokens,
            mean: row.coverage?,
        })
    });
    let chart = Chart {
        title: "Coverage over budgets",
        axis: "coverage ± standard error",
        methods: &summary.methods,
        budgets: summary.budgets.tokens(),
        points: points.collect(),
    };
    chart.render()
}

impl Chart<'_> {
    /// A complete SVG document.
    fn render(&self) -> String {
        let sets: Vec<&[Point<'_>]> = self.points.chunk_by(|a, b| a.set == b.set).collect();
        let columns = sets.len().clamp(1, 2);
        let width = (LEFT + PANEL_WIDTH + RIGHT) * columns as f64;
        let names = self.methods.iter().map(String::as_str);
        let legend = Legend::new(names, (LEFT, 10.0), width - LEFT - RIGHT);
        let top = 10.0 + legend.height;
        let row_height = ABOVE + PANEL_HEIGHT + BELOW;
        let height = top + row_height * sets.len().div_ceil(columns) as f64;

        let mut body = legend.svg;
        for (at, points) in sets.into_iter().enumerate() {
            let (column, row) = ((at % columns) as f64, (at / columns) as f64);
            let panel = Panel {
                left: LEFT + column * (LEFT + PANEL_WIDTH + RIGHT),
                top: top + ABOVE + row * row_height,
                width: PANEL_WIDTH,
                height: PANEL_HEIGHT,
                budgets: self.budgets,
            };
            body.push_str(&self.set(&panel, points));
        }
        plot::document(width, height, self.title, &body)
    }

    /// One set: its name, its axes, and a line for each method.
    fn set(&self, panel: &Panel<'_>, points: &[Point<'_>]) -> String {
        let name = points.first().map_or("", |point| point.set);
        let mut svg = format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>\n",
            panel.left,
            panel.top - 14.0,
            plot::escaped(name),
        );
        svg.push_str(&panel.axes(self.axis));
        let methods: Vec<&[Point<'_>]> = points.chunk_by(|a, b| a.method == b.method).collect();
        // The first one is drawn last, so that no other hides it.
        for (turn, points) in methods.into_iter().enumerate().rev() {
            let shares: Vec<f64> = points.iter().map(|point| point.mean.mean).collect();
            svg.push_str(&panel.line(turn, &shares));
            for point in points {
                let Mean { mean, error, .. } = point.mean;
                svg.push_str(&panel.dot(turn, point.budget_tokens, mean, error));
            }
        }
        svg
    }
}
