//! Compares an answer with what a vector expects.
//!
//! Nothing is computed here: expected values come from the file, actual ones from the answer.

mod items;
mod report;
mod score;

use std::fmt;

use crate::protocol::{Answer, Diff, ErrorAnswer, Item, SensitivityAnswer, SlicingAnswer};
use crate::vector::{
    Expected, ExpectedError, ExpectedScore, ExpectedSensitivity, ExpectedSlicing, Vector,
};
use items::{Order, check_items};
use score::scores_match;

/// Codes of errors that only a run can end in.
const RUN_CODES: [&str; 3] = ["pinned_exceeds_budget", "overflow", "table_too_large"];

/// One thing that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Name of the field that was compared.
    pub what: String,
    /// Expected and actual value, if it was a comparison.
    pub values: Option<(String, String)>,
}

impl Mismatch {
    /// A difference.
    pub fn new(
        what: impl fmt::Display,
        expected: impl fmt::Display,
        actual: impl fmt::Display,
    ) -> Self {
        let values = Some((expected.to_string(), actual.to_string()));
        Self { what: what.to_string(), values }
    }

    /// Something that is wrong in itself.
    pub fn note(text: impl fmt::Display) -> Self {
        Self { what: text.to_string(), values: None }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.what.lines() {
            writeln!(f, "     {line}")?;
        }
        if let Some((expected, actual)) = &self.values {
            writeln!(f, "       expected: {expected}")?;
            writeln!(f, "       actual:   {actual}")?;
        }
        Ok(())
    }
}

/// Everything in which the answer differs from what the vector expects.
pub fn check(vector: &Vector, answer: &Answer) -> Vec<Mismatch> {
    let items = vector.task.items();
    let mut found = Vec::new();
    match (&vector.expected, answer) {
        (Expected::Error(expected), _) => {
            let expected = expected.code.as_deref().unwrap_or("at construction");
            found.push(Mismatch::new("outcome", format_args!("error {expected}"), "no error"));
        }
        (Expected::Scoring(expected), Answer::Scoring(actual)) => {
            check_scores(expected, &actual.scores, items, vector.score_epsilon, &mut found);
        }
        (Expected::Slicing(expected), Answer::Slicing(actual)) => {
            check_slicing(expected, actual, items, &mut found);
        }
        (Expected::Placing(expected), Answer::Placing(actual)) => {
            check_items("order", expected, &actual.order, items, Order::Counts, &mut found);
        }
        (Expected::Pipeline { output, diagnostics }, Answer::Pipeline(actual)) => {
            check_items("output", output, &actual.output, items, Order::Counts, &mut found);
            if let Some(expected) = diagnostics {
                let report = actual.report.as_ref();
                report::check_report(expected, report, items, vector.score_epsilon, &mut found);
            }
        }
        (Expected::Marginal(expected), Answer::Marginal(actual)) => {
            check_items("marginal", expected, &actual.marginal, items, Order::Counts, &mut found);
        }
        (Expected::MinBudget(expected), Answer::MinBudget(actual)) => {
            check_equal("min_budget", expected, &actual.min_budget, &mut found);
        }
        (Expected::Sensitivity(expected), Answer::Sensitivity(actual)) => {
            check_sensitivity(expected, actual, items, &mut found);
        }
        _ => found.push(Mismatch::note("the answer belongs to another stage")),
    }
    found
}

/// Everything in which an error differs from the expected one.
pub fn check_error(expected: &ExpectedError, actual: &ErrorAnswer) -> Vec<Mismatch> {
    let mut found = Vec::new();
    match &expected.code {
        None if RUN_CODES.contains(&actual.code.as_str()) => {
            found.push(Mismatch::new("error code", "one of a construction", &actual.code));
        }
        None => {}
        Some(code) => check_equal("error code", code, &actual.code, &mut found),
    }
    check_present("error message", expected.message.as_ref(), Some(&actual.message), &mut found);
    for (detail, value) in &expected.details {
        let what = format!("error detail `{detail}`");
        check_present(&what, Some(value), actual.details.get(detail), &mut found);
    }
    found
}

fn check_equal<T: PartialEq + fmt::Debug>(
    what: &str,
    expected: &T,
    actual: &T,
    found: &mut Vec<Mismatch>,
) {
    if expected != actual {
        found.push(Mismatch::new(what, format_args!("{expected:?}"), format_args!("{actual:?}")));
    }
}

/// Compares if something is expected; then the answer must have it.
fn check_present<T: PartialEq + fmt::Debug>(
    what: &str,
    expected: Option<&T>,
    actual: Option<&T>,
    found: &mut Vec<Mismatch>,
) {
    match (expected, actual) {
        (Some(expected), None) => {
            found.push(Mismatch::new(what, format_args!("{expected:?}"), "absent from the answer"));
        }
        (Some(expected), Some(actual)) => check_equal(what, expected, actual, found),
        (None, _) => {}
    }
}

fn check_scores(
    expected: &[ExpectedScore],
    actual: &[f64],
    items: &[Item],
    epsilon: f64,
    found: &mut Vec<Mismatch>,
) {
    check_equal("number of scores", &items.len(), &actual.len(), found);
    for ExpectedScore { index, score } in expected {
        let Some(actual) = actual.get(*index) else { continue };
        if !scores_match(*actual, *score, epsilon) {
            let what = format!("score of item {index}, `{}`", items[*index].content);
            found.push(Mismatch::new(what, score, actual));
        }
    }
}

fn check_slicing(
    expected: &ExpectedSlicing,
    actual: &SlicingAnswer,
    items: &[Item],
    found: &mut Vec<Mismatch>,
) {
    check_items("selected", &expected.selected, &actual.selected, items, Order::IsFree, found);
    let shortfalls = actual.shortfalls.as_ref();
    let shortfall_count = shortfalls.map(Vec::len);
    check_present(
        "shortfall_count",
        expected.shortfall_count.as_ref(),
        shortfall_count.as_ref(),
        found,
    );
    check_present("shortfalls", expected.shortfalls.as_ref(), shortfalls, found);
    let capped = actual.cap_excluded.as_ref();
    let capped_count = capped.map(Vec::len);
    check_present(
        "cap_excluded_count",
        expected.cap_excluded_count.as_ref(),
        capped_count.as_ref(),
        found,
    );
    let capped = capped.map_or(&[][..], Vec::as_slice);
    check_items("cap_excluded", &expected.cap_excluded, capped, items, Order::IsFree, found);
}

fn check_sensitivity(
    expected: &ExpectedSensitivity,
    actual: &SensitivityAnswer,
    items: &[Item],
    found: &mut Vec<Mismatch>,
) {
    if let Some(diffs) = &expected.diffs {
        check_equal("diffs", &by_content(diffs), &by_content(&actual.diffs), found);
    }
    let Some(variants) = &expected.variants else { return };
    let labels: Vec<&String> = variants.iter().map(|(label, _)| label).collect();
    let actual_labels = actual.variants.iter().map(|variant| &variant.label).collect();
    check_equal("labels of the variants", &labels, &actual_labels, found);
    for ((label, expected), variant) in variants.iter().zip(&actual.variants) {
        let what = format!("included by `{label}`");
        match &variant.report.included {
            Some(included) => {
                let indices: Vec<usize> = included.iter().map(|decision| decision.index).collect();
                check_items(&what, expected, &indices, items, Order::Counts, found);
            }
            None => found.push(Mismatch::new(what, "a list", "absent from the answer")),
        }
    }
}

fn by_content(diffs: &[Diff]) -> Vec<&Diff> {
    let mut sorted: Vec<&Diff> = diffs.iter().collect();
    sorted.sort_by_key(|diff| &diff.content);
    sorted
}

#[cfg(test)]
mod tests;
