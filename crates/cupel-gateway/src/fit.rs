//! What goes out for a request: itself, or a window of it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use cupel_engine::{EngineError, Options, Session, Step};
use cupel_tokens::Model;

use crate::ask::Asked;
use crate::setup::Setup;

/// What goes out for a request, as a step of its conversation.
pub(crate) struct Fitted {
    /// The window; `None` if the request goes out as it came.
    pub(crate) text: Option<Bytes>,
    /// What became of it.
    pub(crate) step: Arc<Step>,
    /// The conversation, with the step as a proposal.
    pub(crate) session: Session,
    /// What the step was asked with.
    pub(crate) options: Options,
}

/// The options of a request. `learnt` is the most that its upstream took.
pub(crate) fn options(setup: &Setup, asked: &Asked, learnt: Option<i64>) -> Options {
    let mut options = Options::new().limits(setup.limits.of(asked.sender(), learnt));
    // A name that is not in the table is no mistake here: limits may be configured.
    if let Some(model) = asked.model.as_deref().filter(|name| Model::find(name).is_ok()) {
        options = options.model(model);
    }
    options
}

/// Makes a request fit. With `marks`, marks for the cache are written into it as well.
pub(crate) fn fit(
    asked: &Asked,
    options: Options,
    mut session: Session,
    marks: bool,
) -> Result<Fitted, EngineError> {
    let now = now();
    let mut step = session.next_with(asked.text.clone(), &options, now)?;
    if !is_whole(&step) && step.summary.tokens_before <= step.summary.budget.target_tokens {
        // It fits as it is, though the conversation had to leave something out before.
        let mut fresh = session.engine().session();
        if let Ok(anew) = fresh.next_with(asked.text.clone(), &options, now) {
            if is_whole(&anew) {
                (session, step) = (fresh, anew);
            }
        }
    }
    let text = std::mem::take(&mut step.text);
    let is_changed = !is_whole(&step) || !step.repairs.is_empty() || (marks && text != *asked.text);
    let text = is_changed.then(|| Bytes::from(text));
    Ok(Fitted { text, step: Arc::new(step), session, options })
}

fn is_whole(step: &Step) -> bool {
    step.summary.messages_after == step.summary.messages_before && step.shortened.is_empty()
}

/// Seconds since 1970.
fn now() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}
