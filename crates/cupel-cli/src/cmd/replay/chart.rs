//! Coverage over what it costs: a line for each policy, a point for each budget.

use cupel_eval::Mean;
use cupel_replay::Summary;

use super::report::{budget, title};
use crate::cmd::eval::chart::{Point, over_costs, thousands};

const COST: &str = "cost in thousands of tokens at full price, by each model and its cache";

/// A complete SVG document.
pub(super) fn of(summary: &Summary) -> String {
    let mut methods: Vec<String> = summary.ways.iter().map(title).collect();
    methods.dedup();
    let logged = thousands(summary.logged.full_price_tokens);
    let titles: Vec<String> = summary.ways.iter().map(title).collect();
    let points = summary.ways.iter().zip(&titles).filter_map(|(way, title)| {
        let coverage = way.coverage?;
        Some(Point {
            set: "what was used next",
            method: title,
            value: thousands(way.sent.full_price_tokens),
            mean: Mean::new(coverage.mean, coverage.error),
            note: Some(budget(way)),
            everything: Some(logged),
        })
    });
    over_costs(&methods, points.collect(), COST)
}
