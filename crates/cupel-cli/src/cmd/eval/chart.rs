//! A figure over budgets or costs as a picture: a panel for each set, a line for each method.

use cupel_eval::{AgentSummary, Cost, Mean, Summary};

use crate::render::number::grouped;
use crate::render::plot::{self, Axis, Legend, Panel};

const PANEL_WIDTH: f64 = 330.0;
const PANEL_HEIGHT: f64 = 210.0;
/// The room around a panel: for labels on the left and below, and for the name above.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 26.0;
const ABOVE: f64 = 40.0;
const BELOW: f64 = 54.0;

/// Points of a chart, in the order of set, method and budget.
struct Chart<'a> {
    title: &'static str,
    figure: &'static str,
    methods: &'a [String],
    /// One for each set.
    axes: Vec<Axis>,
    points: Vec<Point<'a>>,
}

/// A point of a chart.
pub(crate) struct Point<'a> {
    pub(crate) set: &'a str,
    pub(crate) method: &'a str,
    /// Where it is on the axis below.
    pub(crate) value: f64,
    pub(crate) mean: Mean,
    /// Note beside it.
    pub(crate) note: Option<String>,
    /// Cost of everything.
    pub(crate) everything: Option<f64>,
}

/// Recall over budgets.
pub(super) fn of_pools(summary: &Summary) -> String {
    let rows = summary.rows.iter().filter(|row| row.category.is_none());
    let points = rows.map(|row| Point {
        set: &row.set,
        method: &row.method,
        value: row.budget_tokens as f64,
        mean: row.recall,
        note: None,
        everything: None,
    });
    let points: Vec<Point<'_>> = points.collect();
    let chart = Chart {
        title: "Recall over budgets",
        figure: "recall ± standard error",
        methods: &summary.methods,
        axes: sets(&points).map(|_| Axis::of_budgets(summary.budgets.tokens())).collect(),
        points,
    };
    chart.render()
}

/// Coverage over what it costs by the first of the rules, a point for each budget.
pub(super) fn of_agents(summary: &AgentSummary) -> String {
    let points = summary.rows.iter().filter_map(|row| {
        let Cost { full_price_tokens, everything_full_price_tokens, .. } = row.costs.first()?;
        Some(Point {
            set: &row.set,
            method: &row.method,
            value: thousands(*full_price_tokens),
            mean: row.coverage?,
            note: Some(grouped(row.budget_tokens)),
            everything: Some(thousands(*everything_full_price_tokens)),
        })
    });
    over_costs(&summary.methods, points.collect(), COST)
}

/// Coverage over what it costs in thousands of full-price tokens.
pub(crate) fn over_costs(methods: &[String], points: Vec<Point<'_>>, cost: &'static str) -> String {
    let axis = |points: &[Point<'_>]| {
        let values = points.iter().flat_map(|point| [Some(point.value), point.everything]);
        Axis::from_zero(cost, values.flatten().fold(0.0, f64::max))
    };
    let chart = Chart {
        title: "Coverage over costs",
        figure: "coverage ± standard error",
        methods,
        axes: sets(&points).map(axis).collect(),
        points,
    };
    chart.render()
}

const COST: &str = "cost in thousands of full-price tokens (read 0.1, write 1.25)";

/// Tokens in thousands.
pub(crate) fn thousands(tokens: i64) -> f64 {
    tokens as f64 / 1_000.0
}

/// The points of each set.
fn sets<'p, 'a>(points: &'p [Point<'a>]) -> impl Iterator<Item = &'p [Point<'a>]> {
    points.chunk_by(|a, b| a.set == b.set)
}

impl Chart<'_> {
    /// A complete SVG document.
    fn render(&self) -> String {
        let sets: Vec<&[Point<'_>]> = sets(&self.points).collect();
        let columns = sets.len().clamp(1, 2);
        let width = (LEFT + PANEL_WIDTH + RIGHT) * columns as f64;
        let names = self.methods.iter().map(String::as_str);
        let legend = Legend::new(names, (LEFT, 10.0), width - LEFT - RIGHT);
        let top = 10.0 + legend.height;
        let row_height = ABOVE + PANEL_HEIGHT + BELOW;
        let height = top + row_height * sets.len().div_ceil(columns) as f64;

        let mut body = legend.svg;
        for (at, (points, axis)) in sets.into_iter().zip(&self.axes).enumerate() {
            let (column, row) = ((at % columns) as f64, (at / columns) as f64);
            let panel = Panel {
                left: LEFT + column * (LEFT + PANEL_WIDTH + RIGHT),
                top: top + ABOVE + row * row_height,
                width: PANEL_WIDTH,
                height: PANEL_HEIGHT,
                axis,
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
        svg.push_str(&panel.axes(self.figure));
        if let Some(cost) = points.first().and_then(|point| point.everything) {
            svg.push_str(&panel.mark(cost, "everything is sent"));
        }
        let methods: Vec<&[Point<'_>]> = points.chunk_by(|a, b| a.method == b.method).collect();
        // The first one is drawn last, so that no other hides it.
        for (turn, points) in methods.into_iter().enumerate().rev() {
            let places: Vec<(f64, f64)> =
                points.iter().map(|point| (point.value, point.mean.mean)).collect();
            svg.push_str(&panel.line(turn, &places));
            let mut noted = None;
            for point in points {
                let Mean { mean, error, .. } = point.mean;
                svg.push_str(&panel.dot(turn, point.value, mean, error));
                // A method that heeds no budget has all its points in one place.
                let place = Some((point.value, mean));
                if let Some(note) = point.note.as_ref().filter(|_| noted != place) {
                    svg.push_str(&panel.note(turn, point.value, mean, note));
                    noted = place;
                }
            }
        }
        svg
    }
}
