//! The report of a run.

use serde_json::Value;

use super::items::{Order, check_items, shown};
use super::score::scores_match;
use super::{Mismatch, check_present};
use crate::protocol::{Decision, Item, OverflowEvent, Reason, Report};
use crate::vector::{ExpectedDecision, ExpectedDiagnostics, ExpectedOverflow};

pub(super) fn check_report(
    expected: &ExpectedDiagnostics,
    actual: Option<&Report>,
    items: &[Item],
    epsilon: f64,
    found: &mut Vec<Mismatch>,
) {
    let Some(actual) = actual else {
        found.push(Mismatch::note("the answer has no report"));
        return;
    };
    for (what, expected, actual) in [
        ("included", &expected.included, &actual.included),
        ("excluded", &expected.excluded, &actual.excluded),
    ] {
        let Some(expected) = expected else { continue };
        match actual {
            Some(actual) => check_decisions(what, expected, actual, items, epsilon, found),
            None => found.push(Mismatch::new(what, "a list", "absent from the answer")),
        }
    }
    check_counts(expected, actual, found);
    if let Some(expected) = &expected.overflow {
        check_overflow(expected, actual.overflow.as_ref(), items, found);
    }
}

fn check_counts(expected: &ExpectedDiagnostics, actual: &Report, found: &mut Vec<Mismatch>) {
    check_present(
        "total_candidates",
        expected.total_candidates.as_ref(),
        actual.total_candidates.as_ref(),
        found,
    );
    check_present(
        "total_tokens_considered",
        expected.total_tokens_considered.as_ref(),
        actual.total_tokens_considered.as_ref(),
        found,
    );
    check_present(
        "count_requirement_shortfalls",
        expected.shortfalls.as_ref(),
        actual.count_requirement_shortfalls.as_ref(),
        found,
    );
    check_present("stages", expected.stages.as_ref(), actual.stages.as_ref(), found);
}

fn check_decisions(
    list: &str,
    expected: &[ExpectedDecision],
    actual: &[Decision],
    items: &[Item],
    epsilon: f64,
    found: &mut Vec<Mismatch>,
) {
    if expected.len() != actual.len() {
        let expected: Vec<String> = expected.iter().map(expected_item).collect();
        let actual: Vec<String> =
            actual.iter().map(|decision| shown(decision.index, items)).collect();
        found.push(Mismatch::new(list, expected.join(", "), actual.join(", ")));
        return;
    }
    for (position, (expected, actual)) in expected.iter().zip(actual).enumerate() {
        if !decision_matches(expected, actual, items, epsilon) {
            found.push(Mismatch::new(
                format_args!("{list}[{position}]"),
                expected_decision(expected),
                actual_decision(actual, items),
            ));
        }
    }
}

fn decision_matches(
    expected: &ExpectedDecision,
    actual: &Decision,
    items: &[Item],
    epsilon: f64,
) -> bool {
    let content = items.get(actual.index).map(|item| &item.content);
    expected.content.as_ref().is_none_or(|expected| Some(expected) == content)
        && expected.index.is_none_or(|index| index == actual.index)
        && expected.score.is_none_or(|score| scores_match(actual.score, score, epsilon))
        && expected.reason.reason == actual.reason.reason
        && expected.reason.fields.iter().all(|(field, value)| {
            actual
                .reason
                .fields
                .get(field)
                .is_some_and(|actual| values_match(value, actual, epsilon))
        })
}

/// Numbers as numbers, so that 5 is 5.0; everything else exactly.
fn values_match(expected: &Value, actual: &Value, epsilon: f64) -> bool {
    if expected.is_f64() || actual.is_f64() {
        let (Some(expected), Some(actual)) = (expected.as_f64(), actual.as_f64()) else {
            return false;
        };
        return scores_match(actual, expected, epsilon);
    }
    expected == actual
}

fn expected_item(expected: &ExpectedDecision) -> String {
    match (&expected.content, expected.index) {
        (Some(content), Some(index)) => format!("{content:?} at {index}"),
        (Some(content), None) => format!("{content:?}"),
        (None, index) => format!("item {}", index.unwrap_or_default()),
    }
}

fn expected_decision(expected: &ExpectedDecision) -> String {
    let score = expected.score.map_or("any score".to_owned(), |score| score.to_string());
    format!("{}, {score}, {}", expected_item(expected), described(&expected.reason))
}

fn actual_decision(actual: &Decision, items: &[Item]) -> String {
    let item = format!("{} at {}", shown(actual.index, items), actual.index);
    format!("{item}, {}, {}", actual.score, described(&actual.reason))
}

fn described(reason: &Reason) -> String {
    let fields: Vec<String> =
        reason.fields.iter().map(|(field, value)| format!("{field}: {value}")).collect();
    if fields.is_empty() {
        return reason.reason.clone();
    }
    format!("{} {{ {} }}", reason.reason, fields.join(", "))
}

fn check_overflow(
    expected: &ExpectedOverflow,
    actual: Option<&OverflowEvent>,
    items: &[Item],
    found: &mut Vec<Mismatch>,
) {
    match (expected, actual) {
        (ExpectedOverflow::Never, None) => {}
        (ExpectedOverflow::Never, Some(actual)) => {
            found.push(Mismatch::new("overflow", "no event", format_args!("{actual:?}")));
        }
        (ExpectedOverflow::Event { .. }, None) => {
            found.push(Mismatch::new("overflow", "an event", "absent from the answer"));
        }
        (ExpectedOverflow::Event { tokens_over_budget, items: merged }, Some(actual)) => {
            let tokens = Some(&actual.tokens_over_budget);
            check_present("tokens_over_budget", tokens_over_budget.as_ref(), tokens, found);
            let indices = &actual.overflowing_items;
            check_items("overflowing items", merged, indices, items, Order::IsFree, found);
        }
    }
}
