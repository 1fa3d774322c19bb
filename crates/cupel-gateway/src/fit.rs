//! Body that goes out for a request: itself, or a window of it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use cupel_engine::{Cancel, EngineError, Options, Session, Step};
use cupel_tokens::Model;

use crate::ask::Asked;
use crate::limit::RequestLimits;

/// Body that goes out for a request, as a step of its conversation.
pub(crate) struct Fitted {
    /// The window; `None` if the request goes out as it came.
    pub(crate) text: Option<Bytes>,
    /// Step that was made of it.
    pub(crate) step: Arc<Step>,
    /// The conversation, with the step as a proposal.
    pub(crate) session: Session,
    /// Options of the step.
    pub(crate) options: Options,
}

/// The options of a request that fits within limits.
pub(crate) fn options(asked: &Asked, limits: &RequestLimits) -> Options {
    let mut options = Options::new().limits(limits.limits);
    // A name that is not in the table is no mistake here: limits may be configured.
    if let Some(model) = asked.model.as_deref().filter(|name| Model::find(name).is_ok()) {
        options = options.model(model);
    }
    let options = asked.pins.iter().cloned().fold(options, Options::pin);
    options.rules(asked.rules.iter().cloned())
}

/// Makes a request fit.
pub(crate) fn fit(
    asked: &Asked,
    options: Options,
    mut session: Session,
    cancel: &Cancel,
) -> Result<Fitted, EngineError> {
    let cancellable = options.clone().cancelled_by(cancel);
    let mut step = session.next_with(asked.request.clone(), &cancellable, now())?;
    let text = std::mem::take(&mut step.text);
    let text = (text != asked.request.text()).then(|| Bytes::from(text));
    Ok(Fitted { text, step: Arc::new(step), session, options })
}

/// Seconds since 1970.
fn now() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use cupel_engine::{Engine, MarkRule, SessionSettings};
    use hyper::header::HeaderMap;

    use super::*;
    use crate::api::Api;

    fn asked(api: Api, messages: &[&str]) -> Asked {
        let said = |(at, text): (usize, &&str)| {
            let role = if at % 2 == 0 { "user" } else { "assistant" };
            format!(r#"{{"role":"{role}","content":"{text}"}}"#)
        };
        let messages: Vec<String> = messages.iter().enumerate().map(said).collect();
        let body = format!(r#"{{"messages":[{}]}}"#, messages.join(","));
        Asked::read(api, None, &HeaderMap::new(), Vec::new(), "x", &body.into()).ok().unwrap()
    }

    fn engine(api: Api) -> Engine {
        Engine::builder().format(api.format()).tokenizer("estimate").build().unwrap()
    }

    const LONG: &str = "many words that take more room than there is, again and again and again";

    #[test]
    fn what_fits_goes_out_as_it_came_and_the_rest_as_a_window() {
        let asked = asked(Api::OpenAiChat, &["one", LONG, "three"]);
        let fitted = |max| {
            let session = engine(Api::OpenAiChat).session();
            fit(&asked, Options::new().max_tokens(max), session, &Cancel::new()).unwrap()
        };
        let whole = fitted(1_000);
        assert!(whole.text.is_none() && whole.step.text.is_empty());
        let sent_at = whole.session.proposed_state().unwrap().sent_at;
        assert!(sent_at.is_some_and(|seconds| seconds > 1_700_000_000), "{sent_at:?}");
        let text = fitted(25).text.unwrap();
        let text = std::str::from_utf8(&text).unwrap();
        assert!(text.contains("three") && !text.contains(LONG), "{text}");
    }

    #[test]
    fn a_conversation_that_was_cut_goes_out_whole_once_it_fits() {
        let asked = asked(Api::OpenAiChat, &["one", LONG, "three"]);
        let session = engine(Api::OpenAiChat).session();
        let mut cut = fit(&asked, Options::new().max_tokens(25), session, &Cancel::new()).unwrap();
        assert!(cut.session.accept() && cut.text.is_some());
        let whole =
            fit(&asked, Options::new().max_tokens(1_000), cut.session, &Cancel::new()).unwrap();
        assert!(whole.text.is_none());
        assert_eq!(whole.step.summary.messages_after, 3);
    }

    #[test]
    fn marks_for_the_cache_change_a_request_only_where_they_are_wanted() {
        let asked = asked(Api::Anthropic, &["one", "two", "three"]);
        let fitted = |cache_marks| {
            let mut settings = SessionSettings::default();
            settings.cache_marks = cache_marks;
            let session = engine(Api::Anthropic).session().with_settings(settings);
            fit(&asked, Options::new().max_tokens(1_000), session, &Cancel::new()).unwrap().text
        };
        assert_eq!(fitted(MarkRule::Keep), None, "nothing changed");
        let marked = fitted(MarkRule::Write);
        assert!(marked.is_some_and(|text| text.windows(13).any(|at| at == b"cache_control")));
    }

    #[test]
    fn a_repaired_request_goes_out_repaired() {
        let body = r#"{"messages":[{"role":"user","content":"go"},{"role":"user"}]}"#;
        let read =
            Asked::read(Api::OpenAiChat, None, &HeaderMap::new(), Vec::new(), "x", &body.into());
        let engine = Engine::builder().format(Api::OpenAiChat.format()).tokenizer("estimate");
        let session = engine.repair(true).build().unwrap().session();
        let options = Options::new().max_tokens(1_000);
        let fitted = fit(&read.ok().unwrap(), options, session, &Cancel::new()).unwrap();
        assert_eq!(fitted.text.unwrap(), r#"{"messages":[{"role":"user","content":"go"}]}"#);
    }
}
