//! The curve as a picture.

use std::fmt::Write;

use super::curve::{Curve, Series};
use super::number::grouped;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 56.0;
/// Colours that stay apart in grey and for most kinds of colour blindness.
const COLORS: [&str; 3] = ["#0072b2", "#009e73", "#d55e00"];

/// A complete SVG document.
pub(crate) fn render(curve: &Curve) -> String {
    let frame = Frame::of(curve);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>What each budget keeps</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    svg.push_str(&shares());
    svg.push_str(&frame.budgets());
    for (series, color) in curve.series().iter().zip(COLORS) {
        svg.push_str(&frame.line(series, color));
    }
    svg.push_str(&legend(&curve.series()));
    svg.push_str("</svg>\n");
    svg
}

/// Where budgets and shares lie in the picture.
struct Frame {
    budgets: Vec<i64>,
}

impl Frame {
    fn of(curve: &Curve) -> Self {
        Self { budgets: curve.points.iter().map(|point| point.budget).collect() }
    }

    fn x(&self, budget: i64) -> f64 {
        let from = self.budgets.first().copied().unwrap_or(0);
        let to = self.budgets.last().copied().unwrap_or(0);
        let width = to.saturating_sub(from).max(1) as f64;
        LEFT + (WIDTH - LEFT - RIGHT) * (budget.saturating_sub(from) as f64) / width
    }

    /// A label for the first, the last and three budgets between.
    fn budgets(&self) -> String {
        let mut svg = String::new();
        let last = self.budgets.len().saturating_sub(1);
        let mut labelled: Vec<usize> = (0..=4).map(|fourth| last * fourth / 4).collect();
        labelled.dedup();
        for at in labelled {
            let budget = self.budgets.get(at).copied().unwrap_or(0);
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                self.x(budget),
                HEIGHT - BOTTOM + 20.0,
                grouped(budget),
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">budget in tokens</text>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 14.0,
        );
        svg
    }

    fn line(&self, series: &Series, color: &str) -> String {
        let points: Vec<String> = self
            .budgets
            .iter()
            .zip(&series.shares)
            .map(|(budget, share)| format!("{:.1},{:.1}", self.x(*budget), y(*share)))
            .collect();
        format!(
            "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" points=\"{}\"/>\n",
            points.join(" ")
        )
    }
}

fn y(share: f64) -> f64 {
    TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share.clamp(0.0, 1.0))
}

/// A rule and a label for every fourth of the whole.
fn shares() -> String {
    let mut svg = String::new();
    for percent in [0, 25, 50, 75, 100] {
        let y = y(f64::from(percent) / 100.0);
        let _ = write!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{percent} %</text>\n",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
        );
    }
    svg
}

fn legend(series: &[Series]) -> String {
    let mut svg = String::new();
    for (turn, (series, color)) in series.iter().zip(COLORS).enumerate() {
        let x = LEFT + 130.0 * turn as f64;
        let _ = write!(
            svg,
            "<rect x=\"{x:.1}\" y=\"16\" width=\"12\" height=\"12\" fill=\"{color}\"/>\n\
             <text x=\"{:.1}\" y=\"26\">{} kept</text>\n",
            x + 18.0,
            series.name,
        );
    }
    svg
}
