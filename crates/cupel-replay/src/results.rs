//! Results as rows of a table.

use serde::Serialize;

use crate::outcome::{RequestOutcome, RowOutcome, RowProblem, WindowOutcome};
use crate::settings::Way;

/// Outcome of a request in one way, or the reason that there is none: a row of the results.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the columns are described in docs/replay.md")]
pub struct ResultRow {
    pub file: String,
    pub row_group: Option<usize>,
    pub row: usize,
    pub part: Option<usize>,
    pub request: Option<String>,
    pub conversation: Option<String>,
    pub messages: Option<usize>,
    pub tokens_before: Option<i64>,
    pub uncached_before: Option<i64>,
    pub policy: Option<String>,
    pub in_session: Option<bool>,
    pub budget: Option<i64>,
    pub fits: Option<bool>,
    pub changed: Option<bool>,
    pub kept: Option<Vec<u32>>,
    pub tokens: Option<i64>,
    pub uncached: Option<i64>,
    pub coverage: Option<f64>,
    pub used: Option<usize>,
    pub found: Option<usize>,
    pub coverage_of_request_before: Option<f64>,
    pub shortened: Option<usize>,
    pub fetched_again: Option<usize>,
    pub reasons: Vec<String>,
    pub problem: Option<String>,
}

/// The rows of an outcome: one for each way, or one for what is wrong.
pub fn result_rows(outcome: &RowOutcome, ways: &[Way]) -> Vec<ResultRow> {
    match outcome {
        RowOutcome::Problem(problem) => vec![of_problem(problem)],
        RowOutcome::Request(request) => {
            let windows = request.windows.iter().zip(ways).enumerate();
            windows.map(|(at, (window, way))| of_window(request, at, window, way)).collect()
        }
    }
}

fn of_problem(problem: &RowProblem) -> ResultRow {
    let place = &problem.place;
    ResultRow {
        file: place.file.to_string(),
        row_group: place.row_group,
        row: place.row,
        part: place.part,
        request: None,
        conversation: None,
        messages: None,
        tokens_before: None,
        uncached_before: None,
        policy: None,
        in_session: None,
        budget: None,
        fits: None,
        changed: None,
        kept: None,
        tokens: None,
        uncached: None,
        coverage: None,
        used: None,
        found: None,
        coverage_of_request_before: None,
        shortened: None,
        fetched_again: None,
        reasons: Vec::new(),
        problem: Some(problem.rule.clone()),
    }
}

fn of_window(request: &RequestOutcome, at: usize, window: &WindowOutcome, way: &Way) -> ResultRow {
    let place = &request.place;
    let coverage = window.coverage.as_ref();
    let late = request.late.get(at).and_then(Option::as_ref);
    ResultRow {
        file: place.file.to_string(),
        row_group: place.row_group,
        row: place.row,
        part: place.part,
        request: Some(format!("{:016x}", request.fingerprint)),
        conversation: request.conversation.clone(),
        messages: Some(request.messages),
        tokens_before: Some(request.logged.tokens),
        uncached_before: Some(request.logged.uncached_tokens),
        policy: Some(way.name.clone()),
        in_session: Some(way.in_session),
        budget: way.budget_tokens,
        fits: Some(window.fits),
        changed: window.fits.then_some(window.is_changed),
        kept: window.fits.then(|| window.kept.clone()),
        tokens: window.fits.then_some(window.sent.tokens),
        uncached: window.fits.then_some(window.sent.uncached_tokens),
        coverage: coverage.map(|coverage| coverage.share),
        used: coverage.map(|coverage| coverage.used),
        found: coverage.map(|coverage| coverage.found),
        coverage_of_request_before: late.map(|coverage| coverage.share),
        shortened: window.fits.then_some(window.shortened),
        fetched_again: Some(window.fetched_again),
        reasons: window
            .reasons
            .iter()
            .map(|(message, reason)| format!("{message}: {reason}"))
            .collect(),
        problem: None,
    }
}
