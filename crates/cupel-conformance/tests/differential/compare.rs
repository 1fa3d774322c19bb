//! Equality to the last field, and differences side by side.

use std::fmt::{Debug, Write};

use cupel::ContextItem;
use cupel_conformance::oracle::{Curve, Error, Excluded, Included, Report, Run, Scorer};

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

/// How far two scores may lie apart.
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
        Scorer::Composite { children } => children.iter().any(|(child, _)| uses_powers(child)),
        Scorer::Scaled { inner } => uses_powers(inner),
        _ => false,
    }
}

/// Requires equal runs: the same window, report and stage counts, or the same error.
pub(crate) fn same_runs(
    what: &str,
    expected: &Result<Run, Error>,
    actual: &Result<Run, Error>,
    tolerance: Tolerance,
) -> Verdict {
    let is_same = match (expected, actual) {
        (Ok(expected), Ok(actual)) => {
            expected.output == actual.output
                && same_report(&expected.report, &actual.report, tolerance)
        }
        (Err(expected), Err(actual)) => expected == actual,
        _ => false,
    };
    ensure(is_same, || side_by_side(what, &sections(expected), &sections(actual)))
}

fn same_report(expected: &Report, actual: &Report, tolerance: Tolerance) -> bool {
    // Taken apart, so that a new field cannot be forgotten here.
    let Report {
        included,
        excluded,
        total_candidates,
        total_tokens_considered,
        shortfalls,
        overflow,
        stages,
    } = expected;
    included.len() == actual.included.len()
        && excluded.len() == actual.excluded.len()
        && included.iter().zip(&actual.included).all(|(a, b)| same_included(a, b, tolerance))
        && excluded.iter().zip(&actual.excluded).all(|(a, b)| same_excluded(a, b, tolerance))
        && *total_candidates == actual.total_candidates
        && *total_tokens_considered == actual.total_tokens_considered
        && *shortfalls == actual.shortfalls
        && *overflow == actual.overflow
        && *stages == actual.stages
}

fn same_included(expected: &Included, actual: &Included, tolerance: Tolerance) -> bool {
    let Included { index, score, reason } = expected;
    *index == actual.index && tolerance.accepts(*score, actual.score) && *reason == actual.reason
}

fn same_excluded(expected: &Excluded, actual: &Excluded, tolerance: Tolerance) -> bool {
    let Excluded { index, score, reason } = expected;
    *index == actual.index && tolerance.accepts(*score, actual.score) && *reason == actual.reason
}

/// Lines of text under a heading.
type Section = (&'static str, Vec<String>);

fn sections(run: &Result<Run, Error>) -> Vec<Section> {
    let run = match run {
        Ok(run) => run,
        Err(error) => return vec![("error", vec![format!("{error:?}")])],
    };
    let report = &run.report;
    let totals = (report.total_candidates, report.total_tokens_considered);
    vec![
        ("output", vec![format!("{:?}", run.output)]),
        ("included", lines(&report.included)),
        ("excluded", lines(&report.excluded)),
        ("total candidates and tokens", vec![format!("{totals:?}")]),
        ("shortfalls", lines(&report.shortfalls)),
        ("overflow", lines(report.overflow.as_slice())),
        ("stages", lines(&report.stages)),
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
