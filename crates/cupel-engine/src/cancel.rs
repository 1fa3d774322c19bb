//! Calls that are ended early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{EngineError, ErrorCode};

/// Ends calls early, from another thread: for whoever serves clients that may leave.
///
/// A call looks at it between its stages, so that it ends soon and not at once. What ends so has no answer, and
/// a session stays what it was.
///
/// ```
/// use cupel_engine::{Cancel, Engine, Options};
///
/// let engine = Engine::builder().max_tokens(100).build()?;
/// let cancel = Cancel::new();
/// let options = Options::new().cancelled_by(&cancel);
/// let text = r#"[{"role": "user", "content": "Hi"}]"#;
/// assert!(engine.select_with(text, &options).is_ok());
/// cancel.cancel();
/// assert_eq!(engine.select_with(text, &options).unwrap_err().rule(), "the call was cancelled");
/// # Ok::<(), cupel_engine::EngineError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Cancels nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the calls that have it in their options.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether calls are cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn check(&self) -> Result<(), EngineError> {
        if self.is_cancelled() {
            return Err(EngineError::new(ErrorCode::SelectionFailed, "the call was cancelled"));
        }
        Ok(())
    }
}
