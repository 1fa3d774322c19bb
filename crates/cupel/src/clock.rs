//! Time as an argument, so that nothing in the library reads a clock on its own.

use std::sync::Arc;

use chrono::{DateTime, Utc};

/// Tells the time to whoever needs it, [`DecayScorer`](crate::DecayScorer) above all.
///
/// There is no default: whoever depends on time says so, and tests hand in a [`FixedClock`].
pub trait TimeProvider: Send + Sync {
    /// The present moment.
    fn now(&self) -> DateTime<Utc>;
}

/// The clock of the operating system. `wasm32-unknown-unknown` has none: hand in the time there, as with a [`FixedClock`].
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemTimeProvider;

impl TimeProvider for SystemTimeProvider {
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }
}

/// A moment of this run, to tell how long its stages took.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) use std::time::Instant as Moment;

/// The same where there is no clock, as in a browser: nothing takes any time.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
impl Moment {
    pub(crate) const fn now() -> Self {
        Self
    }

    pub(crate) const fn elapsed(self) -> std::time::Duration {
        std::time::Duration::ZERO
    }

    pub(crate) const fn duration_since(self, _: Self) -> std::time::Duration {
        std::time::Duration::ZERO
    }
}

/// A clock that stands still, for tests, replays and reproducible runs.
///
/// ```
/// use cupel::{FixedClock, TimeProvider};
///
/// let noon = "2025-01-01T12:00:00Z".parse()?;
/// assert_eq!(FixedClock(noon).now(), noon);
/// # Ok::<(), chrono::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FixedClock(pub DateTime<Utc>);

impl TimeProvider for FixedClock {
    fn now(&self) -> DateTime<Utc> {
        self.0
    }
}

impl<T: TimeProvider + ?Sized> TimeProvider for Arc<T> {
    fn now(&self) -> DateTime<Utc> {
        (**self).now()
    }
}

impl<T: TimeProvider + ?Sized> TimeProvider for Box<T> {
    fn now(&self) -> DateTime<Utc> {
        (**self).now()
    }
}
