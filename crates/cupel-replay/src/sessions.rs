//! Windows in a session: the requests of a conversation, one after the other.

use std::sync::Arc;

use cupel_engine::{EngineError, Session};

use crate::conversations::Track;
use crate::judge::{Judged, WindowLayout, outcome};
use crate::settings::{Settings, Way};

/// Judges these requests of one conversation in all ways that are sessions. Between batches nothing is
/// kept but the states.
pub(crate) fn judge(
    settings: &Settings,
    ways: &[Way],
    tracks: &mut [Track],
    requests: &mut [&mut Judged],
) {
    let in_session = ways.iter().enumerate().filter(|(_, way)| way.in_session);
    for (at, way) in in_session {
        let engine = &settings.policies[way.policy].engine;
        let mut session = match tracks[at].session.take() {
            Some(state) => engine.resume(state),
            None => engine.session(),
        };
        for judged in requests.iter_mut() {
            if settings.is_stopped() {
                judged.is_left = true;
            } else {
                step(settings, &mut session, at, way, &mut tracks[at], judged);
            }
        }
        tracks[at].session = session.state().cloned();
    }
}

fn step(
    settings: &Settings,
    session: &mut Session,
    at: usize,
    way: &Way,
    track: &mut Track,
    judged: &mut Judged,
) {
    let told = &mut judged.outcome.windows[at];
    if let Some(late) = &judged.late {
        judged.outcome.late[at] = track.late(late);
        told.fetched_again = track.fetched_again(late);
        told.session_before.clone_from(&track.session_before);
    }
    let before = session.state().filter(|_| settings.worst_text_bytes > 0);
    let before = before.cloned().map(Arc::new);
    let text: Arc<str> = judged.text.clone();
    let step: Result<_, EngineError> = session.next_with(text, &way.options(), None);
    // What cannot be had does not fit: the request itself was found valid before.
    let Ok(step) = step else { return };
    session.accept();
    let laid = WindowLayout::of_messages(
        judged.head,
        &judged.prints,
        &step.kept_messages,
        &step.rewritten,
    );
    let mut window = outcome(&laid, &step.kept_messages, judged.prints.len(), judged.used.as_ref());
    window.fetched_again += told.fetched_again;
    window.sent.tokens = step.summary.tokens_after;
    window.sent.uncached_tokens = step.session.uncached_tokens;
    window.sent.bill(&judged.outcome.tariff, judged.is_cold);
    window.shortened = step.rewritten.len();
    window.session.clone_from(&before);
    window.session_before = told.session_before.take();
    track.send(&laid);
    track.session_before = before;
    *told = window;
}
