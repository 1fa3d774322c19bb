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

/// The clock of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemTimeProvider;

impl TimeProvider for SystemTimeProvider {
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
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
