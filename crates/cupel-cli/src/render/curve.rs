//! Curve of the windows of many budgets, drawn with letters.

use cupel_engine::{Curve, CurvePoint};

use super::number::grouped;
use crate::style::{self, Palette};

/// One line of the drawing.
pub(crate) struct Series {
    /// Name of the line.
    pub(crate) name: &'static str,
    /// Letter that it is drawn with.
    pub(crate) sign: char,
    /// Its share of the whole at each budget.
    pub(crate) shares: Vec<f64>,
}

/// Tokens, messages and scores, as shares of all of them.
pub(crate) fn series(curve: &Curve) -> [Series; 3] {
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let of = |name, sign, value: &dyn Fn(&CurvePoint) -> f64| Series {
        name,
        sign,
        shares: curve.points.iter().map(value).collect(),
    };
    [
        of("tokens", '.', &|point| share(point.tokens as f64, curve.total_tokens as f64)),
        of("messages", 'o', &|point| share(point.messages as f64, curve.total_messages as f64)),
        of("score", '*', &|point| point.score),
    ]
}

const HEIGHT: usize = 12;
/// The columns before the drawing: `100 % |`.
const MARGIN: usize = 9;

/// The drawing: budgets to the right, shares upwards.
pub(crate) fn render(curve: &Curve, screen: usize, palette: Palette) -> String {
    let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) else {
        return String::new();
    };
    let columns = screen.saturating_sub(MARGIN + 1).max(10);
    let series = series(curve);
    let rows = grid(&series, columns);
    let mut lines: Vec<String> = Vec::new();
    for (row, places) in rows.iter().enumerate() {
        let percent = 100 * (HEIGHT - row) / HEIGHT;
        let label = if row % 3 == 0 { format!("{percent} %") } else { String::new() };
        lines.push(format!("  {label:>5} |{}", painted(places, &series, palette)));
    }
    let (from, to) = (grouped(first.budget), grouped(last.budget));
    let gap = columns.saturating_sub(from.len() + to.len()).max(1);
    lines.push(format!("  {:>5} +{}", "0 %", "-".repeat(columns)));
    lines.push(format!("  {:>5}  {from}{}{to}", "", " ".repeat(gap)));
    lines.push(format!(
        "  {:>5}  {} kept, over the budget in tokens",
        "",
        legend(&series, palette)
    ));
    lines.join("\n") + "\n"
}

fn legend(series: &[Series], palette: Palette) -> String {
    let name = |(turn, series): (usize, &Series)| {
        format!("{} {}", palette.paint(&series.sign.to_string(), style::kind(turn)), series.name)
    };
    series.iter().enumerate().map(name).collect::<Vec<_>>().join("   ")
}

/// Which series, if any, is at each place; where two meet, the later one shows.
fn grid(series: &[Series], columns: usize) -> Vec<Vec<Option<usize>>> {
    let level = |series: &Series, column| {
        let share = at(&series.shares, column, columns);
        (share * HEIGHT as f64).ceil().clamp(0.0, HEIGHT as f64) as usize
    };
    let row = |height: usize| {
        let place = |column| series.iter().rposition(|series| level(series, column) == height);
        (0..columns).map(place).collect()
    };
    (1..=HEIGHT).rev().map(row).collect()
}

/// The value of the budget that a column stands for.
fn at(shares: &[f64], column: usize, columns: usize) -> f64 {
    let last = shares.len().saturating_sub(1);
    let nearest = (column * last + (columns - 1) / 2) / (columns - 1).max(1);
    shares.get(nearest.min(last)).copied().unwrap_or(0.0)
}

fn painted(line: &[Option<usize>], series: &[Series], palette: Palette) -> String {
    let mut text = String::new();
    let end = line.iter().rposition(Option::is_some).map_or(0, |at| at + 1);
    for place in &line[..end] {
        match place {
            Some(turn) => {
                let sign = series[*turn].sign.to_string();
                text.push_str(&palette.paint(&sign, style::kind(*turn)));
            }
            None => text.push(' '),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_drawn_at_the_height_of_its_share() {
        let series = Series { name: "tokens", sign: '.', shares: vec![0.0, 0.5, 1.0] };
        let grid = grid(&[series], 3);
        let heights: Vec<_> =
            (0..3).map(|column| grid.iter().position(|row| row[column].is_some())).collect();
        assert_eq!(heights, [None, Some(6), Some(0)]);
    }
}
