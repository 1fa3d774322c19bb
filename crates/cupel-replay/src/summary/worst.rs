//! The requests that lost most.

use std::cmp::Ordering;
use std::sync::Arc;

use cupel_engine::SessionState;
use serde::Serialize;

use crate::outcome::{Coverage, RequestOutcome};

/// So many of the values that were lost are named.
const NAMED: usize = 8;

/// A request that lost much.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Worst {
    /// Where it is; where it has no answer of its own, the request after it that tells what was used.
    pub place: String,
    /// True if the request before that place is meant.
    pub is_before: bool,
    /// The conversation.
    pub conversation: Option<String>,
    /// The share of what was used next that is still there.
    pub coverage: f64,
    /// Number of values that were used.
    pub used: usize,
    /// Number of those that are there.
    pub found: usize,
    /// The first of those that are not.
    pub lost: Vec<String>,
}

/// Texts for a page of one of the worst.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WorstText {
    /// The request.
    pub request: Arc<str>,
    /// Answer, if the log tells it.
    pub answer: Option<Arc<str>>,
    /// The session before it; `None` where there is none, or where it begins with it.
    pub session: Option<Arc<SessionState>>,
}

/// The worst so far, the worst first; of equals those that come first.
#[derive(Debug)]
pub(super) struct WorstList {
    /// The way that they are of.
    way: usize,
    most: usize,
    list: Vec<(Worst, Option<WorstText>)>,
}

impl WorstList {
    pub(super) fn new(way: usize, most: usize) -> Self {
        Self { way, most, list: Vec::new() }
    }

    pub(super) fn offer(&mut self, coverage: &Coverage, request: &RequestOutcome, is_late: bool) {
        if coverage.share >= 1.0 || self.most == 0 {
            return;
        }
        let order = |(worst, _): &(Worst, Option<WorstText>)| {
            let by_share = worst.coverage.total_cmp(&coverage.share);
            let by_loss = (coverage.used - coverage.found).cmp(&(worst.used - worst.found));
            by_share.then(by_loss) != Ordering::Greater
        };
        let at = self.list.partition_point(order);
        if at >= self.most {
            return;
        }
        let worst = Worst {
            place: request.place.to_string(),
            is_before: is_late,
            conversation: request.conversation.clone(),
            coverage: coverage.share,
            used: coverage.used,
            found: coverage.found,
            lost: coverage.lost.iter().take(NAMED).cloned().collect(),
        };
        let window = &request.windows[self.way];
        let request_answer = if is_late { None } else { request.answer.clone() };
        let (text, session) = if is_late {
            (&request.text_before, &window.session_before)
        } else {
            (&request.text, &window.session)
        };
        let text = text.clone().map(|request| WorstText {
            request,
            answer: request_answer,
            session: session.clone(),
        });
        self.list.insert(at, (worst, text));
        self.list.truncate(self.most);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Worst, Option<&WorstText>)> {
        self.list.iter().map(|(worst, text)| (worst, text.as_ref()))
    }
}
