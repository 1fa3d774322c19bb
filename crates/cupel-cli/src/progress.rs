//! Progress of long work, for people who watch.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use cupel_engine::Work;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that takes less time needs no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// A bar on stderr once the work takes long, if that is a terminal; nothing otherwise.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Set by the first step: loading a vocabulary before it is not long work.
    began: OnceLock<Instant>,
    appearance: Once,
}

impl Progress {
    /// Counts steps.
    pub(crate) fn of_steps(what: &str, steps: usize) -> Self {
        Self::new(steps, &format!("{{bar:30}} {{human_pos}} of {{human_len}} {what}"))
    }

    /// Counts bytes.
    pub(crate) fn of_bytes(what: &str, bytes: usize) -> Self {
        Self::new(bytes, &format!("{{bar:30}} {{bytes}} of {{total_bytes}} {what}, {{eta}} left"))
    }

    fn new(length: usize, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length as u64), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template);
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let progress = Self { bar, began: OnceLock::new(), appearance: Once::new() };
        if !io::stderr().is_terminal() {
            progress.appearance.call_once(|| ());
        }
        progress
    }

    /// So much more is done.
    pub(crate) fn advance(&self, steps: usize) {
        let began = self.began.get_or_init(Instant::now);
        if !self.appearance.is_completed() && began.elapsed() > PATIENCE {
            let show = || self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.appearance.call_once(show);
        }
        self.bar.inc(steps as u64);
    }

    /// All is done; the bar disappears.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Shows how far the engine is.
#[derive(Debug, Default)]
pub(crate) struct Bars(Mutex<Option<Arc<Progress>>>);

impl Bars {
    /// For an engine to tell.
    pub(crate) fn shared() -> Arc<Self> {
        Arc::default()
    }

    fn current(&self) -> Option<Arc<Progress>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, progress: Option<Arc<Progress>>) -> Option<Arc<Progress>> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), progress)
    }
}

impl cupel_engine::Progress for Bars {
    fn begin(&self, work: Work, units: usize) {
        let progress = match work {
            Work::Counting => Progress::of_bytes("counted", units),
            _ => Progress::of_steps("budgets", units),
        };
        self.replace(Some(Arc::new(progress)));
    }

    fn advance(&self, units: usize) {
        if let Some(progress) = self.current() {
            progress.advance(units);
        }
    }

    fn end(&self) {
        if let Some(progress) = self.replace(None) {
            progress.finish();
        }
    }
}
