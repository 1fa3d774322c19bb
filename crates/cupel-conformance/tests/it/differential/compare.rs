//! Equality to the last field, and differences side by side.

use std::fmt::{Debug, Write};

use cupel::{ContextItem, CupelError, SelectionReport, StageTraceSnapshot};
use cupel_conformance::library::{self, error_answer, stage_count};
use cupel_conformance::protocol::{Curve, Decision, ErrorAnswer, Report, Scorer};

/// Nothing, or what is wrong.
pub(crate) type Verdict = Result<(), String>;

/// An error that says what is wrong, unless `holds`.
pub(crate) fn ensure(holds: bool, what: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(what()) }
}

/// Requires equal values.
pub(crate) fn same<T: PartialEq + Debug>(what: &str, expected: &T, actual: &T) -> Verdict {
    ensure(expected == actual, || {
        side_by_side(
            what,
            &[("", vec![format!("{expected:?}")])],
            &[("", vec![format!("{actual:?}")])],
        )
    })
}

/// Requires items with the same fields, spellings included.
pub(crate) fn same_fields(expected: &ContextItem, actual: &ContextItem) -> Verdict {
    // Equality of kinds and sources ignores case, and a hint of NaN differs from itself.
    let spelling = |item: &ContextItem| format!("{} {}", item.kind(), item.source());
    let hint = |item: &ContextItem| format!("{:?}", item.future_relevance_hint());
    let is_same = actual.content() == expected.content()
        && actual.tokens() == expected.tokens()
        && spelling(actual) == spelling(expected)
        && actual.priority() == expected.priority()
        && actual.tags() == expected.tags()
        && actual.metadata() == expected.metadata()
        && actual.timestamp() == expected.timestamp()
        && hint(actual) == hint(expected)
        && actual.pinned() == expected.pinned()
        && actual.original_tokens() == expected.original_tokens();
    ensure(is_same, || {
        let section = |item| [("", vec![format!("{item:?}")])];
        side_by_side("an item", &section(expected), &section(actual))
    })
}

/// Largest difference between two scores that count as equal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tolerance(f64);

impl Tolerance {
    /// Powers may be computed in more than one way; all other scores are the same to the last bit.
    pub(crate) fn of(scorer: &Scorer) -> Self {
        Self(if uses_powers(scorer) { 1e-9 } else { 0.0 })
    }

    fn accepts(self, a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits()
            || (a.is_nan() && b.is_nan())
            || (self.0 > 0.0 && (a - b).abs() <= self.0)
    }
}

fn uses_powers(scorer: &Scorer) -> bool {
    match scorer {
        Scorer::Decay { curve, .. } => matches!(curve, Curve::Exponential { .. }),
        Scorer::Composite { scorers } => scorers.iter().any(|child| uses_powers(&child.scorer)),
        Scorer::Scaled { inner } => uses_powers(inner),
        _ => false,
    }
}

/// Result of a run.
pub(crate) type Outcome = Result<Report, ErrorAnswer>;

/// A report as the oracle tells it. Stage counts come from a collector's snapshots.
pub(crate) fn outcome(
    report: Result<SelectionReport, CupelError>,
    snapshots: &[StageTraceSnapshot],
) -> Outcome {
    let report = report.map_err(|error| comparable(error_answer(&error)))?;
    let stages = Some(snapshots.iter().map(stage_count).collect());
    Ok(Report { stages, ..library::report(&report) })
}

/// Requires equal runs: the same report and stage counts, or the same error.
pub(crate) fn same_runs(
    what: &str,
    expected: &Outcome,
    actual: &Outcome,
    tolerance: Tolerance,
) -> Verdict {
    let is_same = match (expected, actual) {
        (Ok(expected), Ok(actual)) => same_report(expected, actual, tolerance),
        (Err(expected), Err(actual)) => expected == actual,
        _ => false,
    };
    ensure(is_same, || side_by_side(what, &sections(expected), &sections(actual)))
}

fn same_report(expected: &Report, actual: &Report, tolerance: Tolerance) -> bool {
    // Scores are compared on their own; all other fields, also those to come, as they are.
    let unscored = |report: &Report| {
        let without = |decisions: &[Decision]| {
            Some(decisions.iter().map(|one| Decision { score: 0.0, ..one.clone() }).collect())
        };
        let (included, excluded) = (without(report.included()), without(report.excluded()));
        Report { included, excluded, ..report.clone() }
    };
    let scores = |report: &Report| -> Vec<f64> {
        report.included().iter().chain(report.excluded()).map(|decision| decision.score).collect()
    };
    let both = scores(expected).into_iter().zip(scores(actual));
    unscored(expected) == unscored(actual)
        && both.into_iter().all(|(expected, actual)| tolerance.accepts(expected, actual))
}

/// An error without what every implementation words for itself.
pub(crate) fn comparable(mut error: ErrorAnswer) -> ErrorAnswer {
    let is_prescribed = error.message.contains("requires monotonic")
        || error.message.starts_with("CountConstrainedKnapsackSlice");
    if !is_prescribed {
        error.message.clear();
    }
    error
}

/// Lines of text under a heading.
type Section = (&'static str, Vec<String>);

fn sections(outcome: &Outcome) -> Vec<Section> {
    let report = match outcome {
        Ok(report) => report,
        Err(error) => return vec![("error", vec![format!("{error:?}")])],
    };
    let totals = (report.total_candidates, report.total_tokens_considered);
    vec![
        ("included", lines(report.included())),
        ("excluded", lines(report.excluded())),
        ("total candidates and tokens", vec![format!("{totals:?}")]),
        ("shortfalls", lines(report.count_requirement_shortfalls.as_deref().unwrap_or_default())),
        ("overflow", lines(report.overflow.as_slice())),
        ("stages", lines(report.stages.as_deref().unwrap_or_default())),
    ]
}

fn lines<T: Debug>(entries: &[T]) -> Vec<String> {
    entries.iter().map(|entry| format!("{entry:?}")).collect()
}

/// Both sides in two columns; lines that differ are marked.
fn side_by_side(what: &str, expected: &[Section], actual: &[Section]) -> String {
    let all = expected.iter().flat_map(|(_, lines)| lines);
    let width = all.map(|line| line.chars().count()).max().unwrap_or(0).max("expected".len());
    let mut text = format!("{what} differs\n  {:<width$} | actual\n", "expected");
    for section in 0..expected.len().max(actual.len()) {
        let (heading, left) = expected.get(section).cloned().unwrap_or_default();
        let (other_heading, right) = actual.get(section).cloned().unwrap_or_default();
        let heading = if heading.is_empty() { other_heading } else { heading };
        let _ = writeln!(text, "{heading}");
        for row in 0..left.len().max(right.len()) {
            let cell = |lines: &[String]| lines.get(row).cloned().unwrap_or_default();
            let (left, right) = (cell(&left), cell(&right));
            let mark = if left == right { ' ' } else { '≠' };
            let _ = writeln!(text, "{mark} {left:<width$} | {right}");
        }
    }
    text
}
