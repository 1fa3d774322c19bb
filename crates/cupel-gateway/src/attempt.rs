//! Attempts to make a request fit: with the reserve that it should have, with a smaller one, and at last
//! the smallest window that its provider would take.

use cupel_engine::{Cancel, EngineError, ErrorCode, Limits, Options, Session};

use crate::ask::Asked;
use crate::cap;
use crate::config::Fail;
use crate::fit::{self, Fitted};
use crate::limit::RequestLimits;
use crate::unfit::Unfit;

/// Windows that are tried for the smallest: what is pinned may need more than itself.
const SMALLEST_TRIES: usize = 4;

/// The outcome of the attempts.
pub(crate) struct Attempt {
    /// Request that goes out, if anything could be made of the original.
    pub(crate) fitted: Option<Fitted>,
    /// Why it is not as it should be.
    pub(crate) unfit: Option<Unfit>,
    /// Limit of the answer, where that was lowered.
    pub(crate) capped: Option<i64>,
}

/// Terms that a request is fitted by.
pub(crate) struct Terms {
    /// The options, with the limits in them.
    pub(crate) options: Options,
    /// The limits, and what of them may yield.
    pub(crate) limits: RequestLimits,
    /// The conversation.
    pub(crate) session: Session,
    /// Treatment of a request that cannot be fitted.
    pub(crate) fail: Fail,
    /// True if the request's own limit for the answer may be lowered.
    pub(crate) cap_output: bool,
}

/// Makes a request fit as well as it can be.
pub(crate) fn fit(asked: &Asked, terms: &Terms, cancel: &Cancel) -> Attempt {
    let (mut fitted, unfit) = window(asked, terms, cancel);
    let window = terms.limits.window.filter(|_| terms.cap_output);
    let capped = window.zip(fitted.as_mut()).and_then(|(window, fitted)| {
        let most = cap::most(window, &fitted.step.summary);
        let text = match &fitted.text {
            Some(text) => std::str::from_utf8(text).ok()?,
            None => asked.request.text(),
        };
        fitted.text = Some(cap::lowered(asked.api, text, most)?.into());
        Some(most)
    });
    Attempt { fitted, unfit, capped }
}

fn window(asked: &Asked, terms: &Terms, cancel: &Cancel) -> (Option<Fitted>, Option<Unfit>) {
    let with = |limits: Option<Limits>| {
        let options = terms.options.clone();
        let options = limits.map_or(options.clone(), |limits| options.limits(limits));
        fit::fit(asked, options, terms.session.clone(), cancel)
    };
    let error = match with(None) {
        Ok(fitted) => return (Some(fitted), None),
        Err(error) => error,
    };
    let yielding = smaller_reserve(terms.limits, &error);
    if let Some(fitted) = yielding.and_then(|limits| with(Some(limits)).ok()) {
        return (Some(fitted), None);
    }
    let unfit = Some(Unfit::of(&error));
    if terms.fail == Fail::Closed || error.code() != ErrorCode::DoesNotFit {
        return (None, unfit);
    }
    let mut needed = needed(&error);
    for _ in 0..SMALLEST_TRIES {
        let Some(tokens) = needed else { break };
        match with(Some(Limits::of(tokens).with_margin_percent(0.0))) {
            Ok(fitted) => return (Some(fitted), unfit),
            Err(again) => {
                needed = self::needed(&again).map(|needed| next_try(tokens, needed));
            }
        }
    }
    (None, unfit)
}

/// The tokens that must be kept, if they are what does not fit.
fn needed(error: &EngineError) -> Option<i64> {
    error.shortfall().map(|(needed, _)| needed).filter(|needed| *needed > 0)
}

/// The window to try after one of so many tokens failed, given what the error says is needed: at least an eighth
/// more, so that a need that grows with the window by a token at a time is met within a few tries.
fn next_try(tokens: i64, needed: i64) -> i64 {
    needed.max(tokens.saturating_add(tokens / 8).saturating_add(1))
}

/// The limits with as much less of a reserve as what must be kept needs.
fn smaller_reserve(known: RequestLimits, error: &EngineError) -> Option<Limits> {
    let Limits { max, reserve, .. } = known.limits;
    let (max, reserve) = (max?, reserve?);
    let left = max.checked_sub(needed(error)?)?;
    (known.reserve_yields && reserve > 0 && left >= 0)
        .then(|| known.limits.with_reserve(left.min(reserve)))
}

#[cfg(test)]
mod tests {
    use cupel_engine::Engine;
    use hyper::header::HeaderMap;

    use super::*;
    use crate::api::Api;

    fn asked() -> Asked {
        let words = "many words that take more room than there is, again and again ".repeat(20);
        let body = format!(
            r#"{{"messages":[{{"role":"system","content":"{words}"}},{{"role":"user","content":"{words}"}},
                {{"role":"assistant","content":"{words}"}},{{"role":"user","content":"now"}}]}}"#
        );
        let none = HeaderMap::new();
        Asked::read(Api::OpenAiChat, None, &none, Vec::new(), "x", &body.into()).ok().unwrap()
    }

    fn attempt(limits: Limits, reserve_yields: bool, fail: Fail) -> Attempt {
        let engine = Engine::builder().format(Api::OpenAiChat.format()).tokenizer("estimate");
        let terms = Terms {
            options: Options::new().limits(limits),
            limits: RequestLimits { limits, reserve_yields, window: None },
            session: engine.build().unwrap().session(),
            fail,
            cap_output: false,
        };
        fit(&asked(), &terms, &Cancel::new())
    }

    fn sizes(attempt: &Attempt) -> Option<(usize, i64)> {
        let summary = &attempt.fitted.as_ref()?.step.summary;
        Some((summary.messages_after, summary.budget.output_reserve))
    }

    #[test]
    fn a_reserve_yields_to_what_must_be_kept() {
        let limits = Limits::of(600).with_reserve(500);
        let yielded = attempt(limits, true, Fail::Closed);
        let (kept, reserve) = sizes(&yielded).unwrap();
        assert!(kept < 4 && reserve < 500 && reserve > 0, "{kept} {reserve}");
        assert_eq!(yielded.unfit, None);
        let fixed = attempt(limits, false, Fail::Closed);
        assert_eq!(fixed.unfit.unwrap().code, "does-not-fit");
        assert!(fixed.fitted.is_none());
    }

    #[test]
    fn the_smallest_window_goes_out_where_nothing_fits_unless_that_is_refused() {
        let smallest = attempt(Limits::of(100), true, Fail::Open);
        assert_eq!(sizes(&smallest).unwrap().0, 2, "the system prompt and the last turn");
        let unfit = smallest.unfit.unwrap();
        assert_eq!(unfit.code, "does-not-fit");
        let shortfall = unfit.shortfall.unwrap();
        assert_eq!(shortfall.available, 100);
        assert!(shortfall.needed > 200, "{shortfall:?}");
        assert_eq!(shortfall.parts.len(), 2, "{shortfall:?}");
        let refused = attempt(Limits::of(100), true, Fail::Closed);
        assert!(refused.fitted.is_none() && refused.unfit.is_some());
    }

    #[test]
    fn the_next_window_to_try_is_an_eighth_larger_at_least() {
        assert_eq!(next_try(800, 0), 901);
        assert_eq!(next_try(800, 901), 901);
        assert_eq!(next_try(800, 902), 902);
        assert_eq!(next_try(0, 0), 1);
        assert_eq!(next_try(i64::MAX, 0), i64::MAX);
    }

    #[test]
    fn other_errors_are_told_as_they_are() {
        let none = attempt(Limits::default(), true, Fail::Open);
        assert!(none.fitted.is_none());
        assert_eq!(none.unfit.unwrap().code, "no-budget");
    }
}
