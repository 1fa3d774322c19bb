//! Windows that keep the prompt cache, step by step.

mod accounting;
mod cache;
mod conversation;
mod decide;
mod fill;
mod history;
mod plan;
mod settings;
mod state;
mod step;
#[cfg(test)]
mod testing;

use std::sync::Arc;

use crate::memo::SessionMemory;
use crate::prepare::{Before, Purpose};
use crate::{Engine, EngineError, ErrorCode, Options, Prepared, RequestInput};

pub use cache::{CacheEntry, CacheRule};
pub use conversation::{Conversation, ConversationKey, ConversationScope};
pub use history::NewAccount;
pub use settings::{MarkRule, SessionSettings};
pub use state::{Account, Fingerprint, SentShorter, SessionSchema, SessionState, Totals, Usage};
pub use step::{SentAgain, SessionStep, Step};

use step::Begin;

/// A conversation whose windows keep what the provider has in its cache.
///
/// Providers charge a tenth for the beginning of a request that they saw a moment ago. A window that
/// is chosen anew at each call moves, and everything behind the first change is paid in full. A
/// session changes the end of its window only: **cutting off the end costs nothing**, since what
/// stands before the cut is in the cache. When the budget overflows, it decides where to cut and what
/// is worth sending again behind the cut, by what the engine's policy finds things worth. What is
/// sent again is paid for from an account: a share of all that arrived. So uncached tokens stay
/// bounded whatever the policy wants.
///
/// [`next`](Self::next) proposes a window; [`accept`](Self::accept) makes it count once the provider
/// has answered. A second `next` without that starts from the last accepted step, so that a call that
/// failed or is repeated spends nothing.
///
/// ```
/// use cupel_engine::Engine;
///
/// let engine = Engine::builder().max_tokens(60).tokenizer("estimate").build()?;
/// let mut session = engine.session();
/// let mut messages = vec![r#"{"role": "user", "content": "Please count to three."}"#.to_owned()];
/// for number in ["one", "two", "three"] {
///     let step = session.next(format!("[{}]", messages.join(",")))?;
///     assert!(step.summary.tokens_after <= 60);
///     // Send `step.text`; when the answer has come:
///     session.accept();
///     messages.push(format!(r#"{{"role": "assistant", "content": "{number}"}}"#));
///     messages.push(r#"{"role": "user", "content": "Go on."}"#.to_owned());
/// }
/// let step = session.next(format!("[{}]", messages.join(",")))?;
/// assert_eq!(step.session.unchanged_messages, 5, "only the end is new");
/// # Ok::<(), cupel_engine::EngineError>(())
/// ```
#[derive(Clone)]
pub struct Session {
    engine: Engine,
    settings: SessionSettings,
    accepted: Option<SessionState>,
    proposed: Option<SessionState>,
    memory: Arc<SessionMemory>,
}

impl Engine {
    /// Begins a session: windows that keep the prompt cache.
    #[must_use]
    pub fn session(&self) -> Session {
        Session {
            engine: self.clone(),
            settings: SessionSettings::default(),
            accepted: None,
            proposed: None,
            memory: Arc::default(),
        }
    }

    /// Goes on with a session that was written down.
    #[must_use]
    pub fn resume(&self, state: SessionState) -> Session {
        Session { accepted: Some(state), ..self.session() }
    }
}

impl Session {
    /// The same with other settings.
    #[must_use]
    pub fn with_settings(self, settings: SessionSettings) -> Self {
        Self { settings, ..self }
    }

    /// Proposes the window of the next request: the whole history so far, as for
    /// [`Engine::select`].
    ///
    /// # Errors
    ///
    /// As [`Engine::select`]. The session stays what it was.
    pub fn next(&mut self, request: impl Into<RequestInput>) -> Result<Step, EngineError> {
        self.next_with(request, &Options::default(), None)
    }

    /// The same with other settings for this call, and the time in seconds since 1970, which tells
    /// whether the provider still remembers. Without a time it is taken to.
    ///
    /// # Errors
    ///
    /// As [`Engine::select_with`]. The session stays what it was.
    pub fn next_with(
        &mut self,
        request: impl Into<RequestInput>,
        options: &Options,
        now: Option<u64>,
    ) -> Result<Step, EngineError> {
        self.proposed = None;
        let before = self.accepted.as_ref().map(|state| {
            let is_cached = !step::is_expired(Some(state), &self.settings, now);
            Before { state, is_cached }
        });
        let purpose = Purpose::Session { memory: &self.memory, before };
        let prepared = Prepared::new(self.engine.clone(), request.into(), options, purpose)?;
        let fingerprints = self.memory.fingerprints(prepared.request());
        let (step, state) = self.proposal(&prepared, &fingerprints, now)?;
        self.memory.forget_unused();
        self.memory.keep(prepared.into_candidates(), fingerprints);
        self.proposed = Some(state);
        Ok(step)
    }

    /// The next step, and the state that it leaves behind: going on from the last window, or chosen anew
    /// where that is the only way to fit, or the only way to send all that fits.
    fn proposal(
        &self,
        prepared: &Prepared,
        fingerprints: &[u64],
        now: Option<u64>,
    ) -> Result<(Step, SessionState), EngineError> {
        let begun = |before, is_anew| {
            prepared.cancel.check()?;
            step::next(prepared, fingerprints, &self.settings, Begin { before, now, is_anew })
        };
        let going_on = begun(self.accepted.as_ref(), false);
        let is_wanting = match &going_on {
            Ok((step, _)) => !step.is_whole() && step.summary.fits_whole(),
            Err(error) => error.code() == ErrorCode::DoesNotFit,
        };
        if self.accepted.is_none() || !is_wanting {
            return going_on;
        }
        match (&going_on, begun(self.accepted.as_ref(), true)) {
            (Err(_), Ok(anew)) => Ok(anew),
            (Ok(_), Ok(anew)) if anew.0.is_whole() => Ok(anew),
            _ => going_on,
        }
    }

    /// The provider has answered: the step that was proposed last counts. `false` if there is none.
    pub fn accept(&mut self) -> bool {
        let is_proposed = self.proposed.is_some();
        if is_proposed {
            self.accepted = self.proposed.take();
        }
        is_proposed
    }

    /// Forgets the step that was proposed last, as the next one does anyway.
    pub fn roll_back(&mut self) {
        self.proposed = None;
    }

    /// State after the accepted steps; `None` before the first.
    #[must_use]
    pub fn state(&self) -> Option<&SessionState> {
        self.accepted.as_ref()
    }

    /// The state that [`accept`](Self::accept) would make the session's.
    #[must_use]
    pub fn proposed_state(&self) -> Option<&SessionState> {
        self.proposed.as_ref()
    }

    /// The engine that it is a session of.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let steps = self.accepted.as_ref().map_or(0, |state| state.steps);
        f.debug_struct("Session")
            .field("engine", &self.engine)
            .field("settings", &self.settings)
            .field("steps", &steps)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"[{"role":"user","content":"go"}]"#;

    fn session() -> Session {
        let engine = Engine::builder().max_tokens(100).tokenizer("estimate").build();
        engine.unwrap().session()
    }

    #[test]
    fn a_step_counts_once_it_is_accepted() {
        let mut session = session();
        assert!(session.state().is_none() && session.proposed_state().is_none());
        session.next(TEXT).unwrap();
        assert_eq!(session.proposed_state().map(|state| state.steps), Some(1));
        assert!(session.state().is_none());
        assert!(session.accept() && !session.accept());
        assert_eq!(session.state().map(|state| state.steps), Some(1));
        assert!(session.proposed_state().is_none());
    }

    #[test]
    fn a_step_that_is_rolled_back_does_not_count() {
        let mut session = session();
        session.next(TEXT).unwrap();
        session.roll_back();
        assert!(!session.accept() && session.state().is_none());
    }

    #[test]
    fn a_session_goes_on_from_its_state_and_with_its_settings() {
        let mut first = session();
        first.next(TEXT).unwrap();
        first.accept();
        let settings = SessionSettings { resend_share: 0.0, ..SessionSettings::default() };
        let again = first.engine().resume(first.state().unwrap().clone());
        let mut again = again.with_settings(settings);
        let step = again.next(TEXT).unwrap().session;
        assert_eq!((step.number, step.new_account), (2, None));
        let fresh = session().with_settings(settings).next(TEXT).unwrap().session;
        assert_eq!(
            (fresh.credit, fresh.arrived_tokens > 0),
            (0, true),
            "nothing may be sent again"
        );
        assert!(format!("{again:?}").contains("steps: 1"), "{again:?}");
    }
}
