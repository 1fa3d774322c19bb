//! The chain that carries the assertions, and what it does when one fails.

use std::marker::PhantomData;

use cupel::SelectionReport;

use crate::SelectionReportAssertionError;

/// Begins a chain of assertions about a report.
///
/// # Example
///
/// ```
/// use cupel::ContextKind;
/// use cupel_testing::{SelectionReportAssertions, item, report};
///
/// let report = report().included(item("hello", 5)).build();
///
/// // In a test: the first assertion that does not hold panics.
/// report.should().include_item_with_kind(ContextKind::message()).have_kind_coverage_count(1);
///
/// // Anywhere else: it becomes an error.
/// let checked = report.check().include_item_with_kind(ContextKind::document());
/// assert_eq!(checked.unwrap_err().assertion(), "IncludeItemWithKind");
/// ```
pub trait SelectionReportAssertions {
    /// A chain whose assertions panic when they do not hold, at the line of the caller.
    #[must_use = "a chain without assertions asserts nothing"]
    fn should(&self) -> SelectionReportAssertionChain<'_>;

    /// A chain whose assertions return a [`SelectionReportAssertionError`] when they do not hold.
    #[must_use = "a chain without assertions asserts nothing"]
    fn check(&self) -> SelectionReportAssertionChain<'_, Return>;
}

impl SelectionReportAssertions for SelectionReport {
    fn should(&self) -> SelectionReportAssertionChain<'_> {
        SelectionReportAssertionChain::new(self)
    }

    fn check(&self) -> SelectionReportAssertionChain<'_, Return> {
        SelectionReportAssertionChain::new(self)
    }
}

/// Thirteen assertions about a report, each of which gives back the chain.
///
/// [`should`](SelectionReportAssertions::should) makes a chain that panics on failure: every
/// assertion returns `Self`. [`check`](SelectionReportAssertions::check) makes one that returns:
/// every assertion gives `Result<Self, SelectionReportAssertionError>`. Both are this type, with
/// the same assertions.
///
/// Lists in the messages have a fixed order: kinds and reasons alphabetical, each once; items as
/// they stand in the report, and the items of
/// [`place_top_n_scored_at_edges`](Self::place_top_n_scored_at_edges) best first. Numbers are
/// written with as few digits as identify them. An unknown reason is listed by the name that it
/// came with.
#[derive(Debug, Clone, Copy)]
pub struct SelectionReportAssertionChain<'a, F = Panic> {
    report: &'a SelectionReport,
    on_failure: PhantomData<F>,
}

impl<'a, F: OnFailure> SelectionReportAssertionChain<'a, F> {
    fn new(report: &'a SelectionReport) -> Self {
        Self { report, on_failure: PhantomData }
    }

    /// The report that the assertions are about.
    pub fn report(&self) -> &'a SelectionReport {
        self.report
    }

    /// Ends an assertion. The failure is put into words only if there is one.
    #[track_caller]
    pub(crate) fn require(
        self,
        holds: bool,
        failure: impl FnOnce() -> SelectionReportAssertionError,
    ) -> F::Outcome<'a> {
        if holds { F::pass(self) } else { F::fail(failure()) }
    }
}

/// Reaction of a chain to a failed assertion: [`Panic`] or [`Return`].
///
/// There are no others; the trait is sealed.
pub trait OnFailure: sealed::Sealed + Sized {
    /// Type that an assertion returns.
    type Outcome<'a>;

    #[doc(hidden)]
    fn pass(chain: SelectionReportAssertionChain<'_, Self>) -> Self::Outcome<'_>;

    #[doc(hidden)]
    fn fail<'a>(error: SelectionReportAssertionError) -> Self::Outcome<'a>;
}

/// A failed assertion panics at the line of the caller; one that holds gives back the chain.
#[derive(Debug, Clone, Copy)]
pub struct Panic;

impl OnFailure for Panic {
    type Outcome<'a> = SelectionReportAssertionChain<'a, Self>;

    fn pass(chain: SelectionReportAssertionChain<'_, Self>) -> Self::Outcome<'_> {
        chain
    }

    #[track_caller]
    fn fail<'a>(error: SelectionReportAssertionError) -> Self::Outcome<'a> {
        panic!("{error}")
    }
}

/// A failed assertion returns its error; one that holds gives back the chain, as `Ok`.
#[derive(Debug, Clone, Copy)]
pub struct Return;

impl OnFailure for Return {
    type Outcome<'a> =
        Result<SelectionReportAssertionChain<'a, Self>, SelectionReportAssertionError>;

    fn pass(chain: SelectionReportAssertionChain<'_, Self>) -> Self::Outcome<'_> {
        Ok(chain)
    }

    fn fail<'a>(error: SelectionReportAssertionError) -> Self::Outcome<'a> {
        Err(error)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Panic {}
    impl Sealed for super::Return {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{item, report};

    #[test]
    fn assertions_that_hold_give_back_a_chain_about_the_same_report() {
        let report = report().included(item("a", 1)).build();
        let chain = report.should().have_at_least_n_exclusions(0).have_kind_coverage_count(1);
        assert!(std::ptr::eq(chain.report(), &raw const report));
    }

    #[test]
    fn a_checking_chain_stops_at_the_first_failure() {
        let check = |report: &SelectionReport| {
            report.check().have_kind_coverage_count(1)?.have_at_least_n_exclusions(1)?;
            Ok::<(), SelectionReportAssertionError>(())
        };
        let error = check(&report().build()).unwrap_err();
        assert_eq!(error.assertion(), "HaveKindCoverageCount");
        let error = check(&report().included(item("a", 1)).build()).unwrap_err();
        assert_eq!(error.assertion(), "HaveAtLeastNExclusions");
        let report = report().included(item("a", 1)).over_budget(item("b", 2), 1).build();
        assert_eq!(check(&report), Ok(()));
    }

    #[test]
    fn chains_and_errors_cross_threads() {
        fn crosses<T: Send + Sync>() {}
        crosses::<SelectionReportAssertionChain<'_, Panic>>();
        crosses::<SelectionReportAssertionChain<'_, Return>>();
        crosses::<SelectionReportAssertionError>();
    }
}
