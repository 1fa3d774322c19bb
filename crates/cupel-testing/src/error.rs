//! Error of a failed assertion.

use std::error::Error;
use std::fmt;

/// An assertion about a report did not hold.
///
/// [`Display`](fmt::Display) gives the whole message, which is also what a panicking chain panics
/// with. The parts are there for a program that reads failures.
///
/// # Example
///
/// ```
/// use cupel_testing::{SelectionReportAssertions, report};
///
/// let error = report().build().check().have_at_least_n_exclusions(1).unwrap_err();
/// assert_eq!(error.code(), "assertion_failed");
/// assert_eq!(error.assertion(), "HaveAtLeastNExclusions");
/// assert_eq!(error.expected(), "at least 1 excluded items");
/// assert_eq!(error.actual(), "0 excluded items");
/// assert_eq!(
///     error.to_string(),
///     "HaveAtLeastNExclusions(1) failed: expected at least 1 excluded items, \
///      but Excluded had 0.",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SelectionReportAssertionError {
    pub(crate) assertion: &'static str,
    pub(crate) expected: String,
    pub(crate) actual: String,
    pub(crate) message: String,
}

impl SelectionReportAssertionError {
    /// The assertion, by the name that the specification gives it (`IncludeItemWithKind`).
    pub fn assertion(&self) -> &'static str {
        self.assertion
    }

    /// A stable, language-neutral name: `assertion_failed`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "assertion_failed"
    }

    /// Expectation that the report did not meet.
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Content of the report instead.
    pub fn actual(&self) -> &str {
        &self.actual
    }

    /// The whole message: assertion, expected and actual in one text.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for SelectionReportAssertionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.message)
    }
}

impl Error for SelectionReportAssertionError {}
