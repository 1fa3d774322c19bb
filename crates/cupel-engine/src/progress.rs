//! Observers of long work.

use std::sync::Arc;

use cupel_tokens::{Count, TokenCounter};

use crate::tokenizer::Counter;

/// Is told how far long work has come.
///
/// It may be told from several threads, and must not be slow.
pub trait Progress: Send + Sync {
    /// Work of so many units begins.
    fn begin(&self, work: Work, units: usize);

    /// So many more units are done.
    fn advance(&self, units: usize);

    /// The work is over.
    fn end(&self);
}

/// Kinds of long work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Work {
    /// Counting tokens; the units are bytes of text.
    Counting,
    /// Trying budgets; the units are budgets.
    Budgets,
}

/// Work under watch, until it is dropped.
pub(crate) struct Watch<'w>(Option<&'w dyn Progress>);

impl<'w> Watch<'w> {
    pub(crate) fn begin(progress: Option<&'w Arc<dyn Progress>>, work: Work, units: usize) -> Self {
        let progress = progress.map(|progress| &**progress);
        if let Some(progress) = progress {
            progress.begin(work, units);
        }
        Self(progress)
    }

    pub(crate) fn advance(&self, units: usize) {
        if let Some(progress) = self.0 {
            progress.advance(units);
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if let Some(progress) = self.0 {
            progress.end();
        }
    }
}

/// A counter that tells how far it is.
pub(crate) struct Watched<'w> {
    pub(crate) counter: Counter,
    pub(crate) watch: Watch<'w>,
}

impl TokenCounter for Watched<'_> {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn count(&self, text: &str) -> i64 {
        let tokens = self.counter.count(text);
        self.watch.advance(text.len());
        tokens
    }

    fn is_estimate(&self) -> bool {
        self.counter.is_estimate()
    }

    fn bounded(&self, text: &str) -> Count {
        self.counter.bounded(text)
    }

    fn cut(&self, text: &str, from: usize) -> Option<usize> {
        self.counter.cut(text, from)
    }
}
