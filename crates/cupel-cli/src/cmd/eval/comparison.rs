//! Differences between methods as a table.

use cupel_eval::{Difference, Figure, Mean};

use crate::render::number::{grouped, grouped_count};
use crate::render::table::{Cell, Side, Table};
use crate::style;

/// A row for each difference, figure by figure.
pub(super) fn table(differences: &[&Difference]) -> Table {
    let mut table = Table::new(vec![
        ("", Side::Left),
        ("method", Side::Left),
        ("budget", Side::Right),
        ("points", Side::Right),
        ("95 % interval", Side::Right),
        ("won", Side::Right),
        ("lost", Side::Right),
        ("tied", Side::Right),
        ("verdict", Side::Left),
    ]);
    for figure in Figure::ALL {
        let mut label = figure.name();
        for by in differences.iter().filter(|by| by.figure == figure) {
            table.push(vec![
                Cell::styled(std::mem::take(&mut label), style::strong()),
                by.method.as_str().into(),
                grouped(by.budget_tokens).into(),
                points(by.mean).into(),
                format!("{} to {}", points(by.low), points(by.high)).into(),
                grouped_count(by.wins).into(),
                grouped_count(by.losses).into(),
                grouped_count(by.ties).into(),
                verdict(by),
            ]);
        }
    }
    table
}

/// `83.4 ± 0.6`.
pub(super) fn with_error(mean: Mean) -> String {
    format!("{} ± {}", percent(mean.mean), percent(mean.error))
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// A difference with its sign; what rounds to nothing has none.
fn points(share: f64) -> String {
    let text = format!("{:+.1}", 100.0 * share);
    if matches!(text.as_str(), "+0.0" | "-0.0") { "0.0".to_owned() } else { text }
}

fn verdict(by: &Difference) -> Cell {
    let style = if by.is_clear() { style::strong() } else { style::faint() };
    Cell::styled(by.verdict.name(), style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_that_rounds_to_nothing_has_no_sign() {
        assert_eq!([0.0004, -0.0004, 0.0].map(points), ["0.0"; 3]);
        assert_eq!([0.125, -0.5].map(points), ["+12.5", "-50.0"]);
    }
}
