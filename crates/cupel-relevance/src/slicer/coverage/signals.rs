//! Signals that carried a request, in words.

use cupel::SliceSignal;

use super::question::Asked;
use crate::need::Need;

/// That there was nothing but scores to go by.
pub(super) fn no_calls() -> SliceSignal {
    SliceSignal::new("calls", 0.0, "no calls with results among the candidates: by score alone")
}

/// Signals of a request: calls, whether values come back, the score by the question, and how far
/// back it stands.
pub(super) fn of(need: &Need, asked: &Asked) -> Vec<SliceSignal> {
    let (calls, items) = (need.calls(), asked.order.len());
    let share = calls as f64 / items.max(1) as f64;
    let returning = need.returning_calls();
    let mut signals = vec![
        SliceSignal::new(
            "calls",
            share,
            format!("{calls} of {items} items are calls with results"),
        ),
        SliceSignal::new(
            "values_return",
            need.return_rate(),
            format!(
                "{returning} of them use a value seen before: need counts {}",
                percent(need.return_rate())
            ),
        ),
        SliceSignal::new(
            "question_stands_out",
            asked.rho,
            format!("the question counts {}", percent(asked.rho)),
        ),
    ];
    signals.push(match asked.newer_tokens {
        None => SliceSignal::new("user_is_silent", 1.0, "the user never spoke"),
        Some(0) => SliceSignal::new("question_age", 0.0, "the user spoke last"),
        Some(tokens) => SliceSignal::new(
            "question_age",
            tokens as f64,
            format!("the user last spoke {tokens} tokens before the end"),
        ),
    });
    signals
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
