//! The curve as a picture.

use cupel_engine::Curve;

use super::curve;
use super::plot::{self, Axis, Legend, Panel};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 56.0;

/// A complete SVG document.
pub(crate) fn render(curve: &Curve) -> String {
    let series = curve::series(curve);
    let budgets: Vec<i64> = curve.points.iter().map(|point| point.budget).collect();
    let panel = Panel {
        left: LEFT,
        top: TOP,
        width: WIDTH - LEFT - RIGHT,
        height: HEIGHT - TOP - BOTTOM,
        axis: &Axis::of_budgets(&budgets),
    };
    let names = series.iter().map(|series| series.name);
    let mut body = Legend::new(names, (LEFT, 10.0), panel.width).svg;
    body.push_str(&panel.axes("kept"));
    for (turn, series) in series.iter().enumerate() {
        let points = budgets.iter().zip(&series.shares);
        let points: Vec<(f64, f64)> =
            points.map(|(budget, share)| (*budget as f64, *share)).collect();
        body.push_str(&panel.line(turn, &points));
    }
    plot::document(WIDTH, HEIGHT, "What each budget keeps", &body)
}
