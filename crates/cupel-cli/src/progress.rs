//! Progress of long work, for people who watch.

use std::io::{self, IsTerminal};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What takes less than this needs no bar.
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
        Self::new(bytes, &format!("{{bar:30}} {{bytes}} of {{total_bytes}} {what}"))
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
