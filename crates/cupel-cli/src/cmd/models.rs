//! `cupel models`: the table of models.

use clap::Args;
use cupel_engine::{ModelList, ModelPrices, models};

use super::Context;
use crate::error::{Answer, Failure};
use crate::output;
use crate::render::number::grouped;
use crate::render::table::{Cell, Side, Table};
use crate::render::{json, text};
use crate::style::{self, Palette};

/// Lists the models that are known by name
///
/// A name with a date, as in gpt-4o-2024-08-06, is found too. Prices are in US dollars for a million
/// input tokens: of those that no cache is asked for, that it has, and that are written into it. They
/// are those of the provider in the month that --json tells, below the length from which some models
/// cost more; where they are not known for sure there are none.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let list = models();
    let text =
        if arguments.json { json::pretty(&list)? } else { table(&list, context.palette) };
    output::print(&text)?;
    Ok(Answer::Yes)
}

fn table(list: &ModelList, palette: Palette) -> String {
    let mut table = Table::new(vec![
        ("name", Side::Left),
        ("provider", Side::Left),
        ("window", Side::Right),
        ("output", Side::Right),
        ("$ input", Side::Right),
        ("$ read", Side::Right),
        ("$ write", Side::Right),
        ("tokenizer", Side::Left),
    ]);
    for row in &list.models {
        let price = |of: fn(&ModelPrices) -> f64| {
            Cell::from(row.prices.as_ref().map_or_else(String::new, |prices| dollars(of(prices))))
        };
        table.push(vec![
            Cell::styled(row.name.as_str(), style::strong()),
            row.provider.as_str().into(),
            grouped(row.context_window).into(),
            grouped(row.max_output).into(),
            price(|prices| prices.input),
            price(|prices| prices.cache_read),
            price(|prices| prices.cache_write),
            row.tokenizer.as_str().into(),
        ]);
    }
    table.render(text::screen_width(), palette)
}

/// Two decimals, and more only where there are.
fn dollars(price: f64) -> String {
    let exact = format!("{price:.4}");
    let (all, cents) = (exact.trim_end_matches('0'), format!("{price:.2}"));
    if all.len() > cents.len() { all.to_owned() } else { cents }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_have_two_decimals_and_more_where_there_are() {
        assert_eq!([5.0, 1.25, 0.5, 0.075].map(dollars), ["5.00", "1.25", "0.50", "0.075"]);
    }
}
