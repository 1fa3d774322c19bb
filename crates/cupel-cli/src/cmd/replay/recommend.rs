//! `--recommend`: the smallest window that is safe, and what it saves.

use std::fmt::Write;
use std::path::PathBuf;

use cupel_replay::{Dollars, NoRecommendation, Recommendation, RowOutcome, Settings, SplitCost, Summary};

use super::run::{self, Conduct};
use crate::error::Failure;
use crate::render::number::{counted, grouped};

/// The budgets that are tried, as shares of the largest request: each is about 0.7 of the one above it, the
/// first holds everything with what a margin takes.
const SHARES: [f64; 10] = [1.25, 0.7, 0.5, 0.35, 0.25, 0.18, 0.125, 0.09, 0.06, 0.04];
/// A smaller budget holds no request.
const SMALLEST: i64 = 100;
/// So many parts of a split are shown.
const SHOWN: usize = 5;
const SECONDS_OF_A_DAY: i64 = 86_400;

/// The budgets that are tried on these logs, by a first look at how large their requests are.
pub(super) fn budgets(
    logs: Vec<PathBuf>,
    settings: &Settings,
    conduct: Conduct,
) -> Result<Vec<i64>, Failure> {
    let mut sizes = settings.clone();
    // Everything fits: requests are counted, and nothing is chosen.
    sizes.budgets = vec![1 << 40];
    sizes.session = false;
    sizes.baselines.clear();
    sizes.policies.truncate(1);
    let mut largest = 0;
    run::replay_with(logs, sizes, conduct, |outcomes| {
        for outcome in outcomes {
            if let RowOutcome::Request(request) = outcome {
                largest = largest.max(request.logged.tokens);
            }
        }
        Ok(())
    })?;
    let budget = |share: f64| rounded((largest as f64 * share) as i64);
    let mut budgets: Vec<i64> = SHARES.iter().map(|share| budget(*share).max(SMALLEST)).collect();
    budgets.sort_unstable();
    budgets.dedup();
    Ok(budgets)
}

/// Rounded up to two digits.
fn rounded(tokens: i64) -> i64 {
    let mut step = 1;
    while tokens / step >= 100 {
        step *= 10;
    }
    (tokens + step - 1) / step * step
}

/// The answer in words, the first line the setting.
pub(super) fn lines(summary: &Summary) -> Vec<String> {
    match (&summary.recommendation, &summary.no_recommendation) {
        (Some(found), _) => of_found(summary, found),
        (None, Some(none)) => vec![refusal(none)],
        (None, None) => Vec::new(),
    }
}

pub(super) fn refusal(none: &NoRecommendation) -> String {
    match none {
        NoRecommendation::TooFewConversations { conversations, needed } => format!(
            "nothing is recommended: {} tell what was used in one half of the log, and a promise takes {needed} in each; \
             give more logs",
            counted(*conversations, "conversation")
        ),
        NoRecommendation::NoBudgetIsEnough { largest_tokens } => format!(
            "nothing is recommended: no window up to {} tokens keeps what is used; try larger ones with --max, or \
             another --policy",
            grouped(*largest_tokens)
        ),
        _ => "nothing is recommended".to_owned(),
    }
}

fn of_found(summary: &Summary, found: &Recommendation) -> Vec<String> {
    let session = if found.in_session { " in a session" } else { "" };
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let mut lines = vec![
        format!("recommended: {}{session} at {} tokens", found.policy, grouped(found.budget_tokens)),
        format!(
            "the next conversation like these keeps at least {} of the values that it uses, with {} confidence",
            percent(found.promise.kept),
            percent(found.promise.confidence)
        ),
        format!(
            "chosen on {} (at {} tokens), confirmed on {} others, of which {} keep that share",
            counted(found.chosen_on, "conversation"),
            grouped(found.chosen_budget_tokens),
            found.confirmed_on,
            found.confirmed
        ),
    ];
    lines.push(saving(summary, &summary.logged, &cost_of(summary, found.way)));
    for (name, parts) in [
        ("model", &summary.splits.models),
        ("route", &summary.splits.routes),
        ("user", &summary.splits.users),
    ] {
        lines.extend(by_part(summary, found.way, name, parts));
    }
    lines
}

/// Cost of a way, requests that do not fit as they were logged.
fn cost_of(summary: &Summary, way: usize) -> Dollars {
    // The parts by model hold all requests where each has one; the way's own sums leave out what does not fit.
    let parts = summary.splits.models.iter();
    let all: usize = parts.clone().map(|part| part.requests).sum();
    if all == summary.rows.requests {
        return parts.map(|part| part.ways[way]).fold(Dollars::default(), Dollars::plus);
    }
    summary.ways[way].sent
}

/// Saving beside the cost now: in money where all prices are known, else in tokens at full price.
fn saving(summary: &Summary, logged: &Dollars, way: &Dollars) -> String {
    let all_priced = summary.logged.priced_requests == summary.rows.requests;
    let share = |saved: f64, of: f64| if of > 0.0 { 100.0 * saved / of } else { 0.0 };
    let verb = |saved: f64| if saved < 0.0 { "costs more:" } else { "saves" };
    if !all_priced {
        let (now, then) = (logged.full_price_tokens, way.full_price_tokens);
        let saved = now - then;
        return format!(
            "it {} {} of {} tokens at full price in this log ({:.0} %); prices are known of {} of {} requests, give \
             them with --prices",
            verb(saved as f64),
            grouped(saved.abs()),
            grouped(now),
            share(saved.abs() as f64, now as f64),
            summary.logged.priced_requests,
            summary.rows.requests
        );
    }
    let (factor, span) = per_month(summary);
    let saved = logged.dollars - way.dollars;
    format!(
        "it {} {} of {} US dollars {span} ({:.0} %)",
        verb(saved),
        dollars(saved.abs() * factor),
        dollars(logged.dollars * factor),
        share(saved.abs(), logged.dollars)
    )
}

fn dollars(amount: f64) -> String {
    if amount >= 0.995 { format!("{amount:.2}") } else { format!("{amount:.4}") }
}

/// By how much a month is longer than the log, where that is a day or more.
fn per_month(summary: &Summary) -> (f64, &'static str) {
    match summary.splits.span_seconds {
        Some(seconds) if seconds >= SECONDS_OF_A_DAY => {
            (30.0 * SECONDS_OF_A_DAY as f64 / seconds as f64, "a month")
        }
        _ => (1.0, "in this log, which spans less than a day or has no times"),
    }
}

/// The savings of the parts that cost most.
fn by_part(summary: &Summary, way: usize, name: &str, parts: &[SplitCost]) -> Option<String> {
    if parts.len() < 2 {
        return None;
    }
    let is_priced = summary.logged.priced_requests == summary.rows.requests;
    let (factor, _) = per_month(summary);
    let mut line = format!("by {name}: ");
    for (at, part) in parts.iter().take(SHOWN).enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        let (now, then) = (&part.logged, &part.ways[way]);
        let shown = if is_priced {
            let [now, then] = [now.dollars, then.dollars].map(|amount| dollars(amount * factor));
            format!("{now} → {then}")
        } else {
            format!("{} → {}", grouped(now.full_price_tokens), grouped(then.full_price_tokens))
        };
        let _ = write!(line, "{comma}{} {shown}", part.name);
    }
    if parts.len() > SHOWN {
        let _ = write!(line, ", and {} more", parts.len() - SHOWN);
    }
    Some(line)
}

#[cfg(test)]
#[test]
fn budgets_are_round() {
    assert_eq!([99, 100, 101, 1_234, 98_765].map(rounded), [99, 100, 110, 1_300, 99_000]);
}
