//! A step of a session, and the run that it is part of.

use std::collections::HashSet;

use cupel_engine::{
    ModelPrices, NewAccount, SessionState, SessionStep, ShortenedText, Step, Usage,
};
use serde::{Deserialize, Serialize};

use crate::{Entry, ViewPart};

/// Tokens of a step, and of the run up to it: kept for each step, small and without a text.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunPoint {
    /// Which step it is, from 1.
    pub number: u64,
    /// Tokens that the step sent.
    pub step: Usage,
    /// Tokens that the run sent up to it.
    pub sent: Usage,
    /// Tokens that it would have sent with everything in each request.
    pub everything: Usage,
    /// Tokens that it would have sent with the newest messages that fit.
    pub newest_first: Usage,
}

impl RunPoint {
    /// Tokens of a step.
    #[must_use]
    pub fn of(step: &Step) -> Self {
        let SessionStep { number, cached_tokens, uncached_tokens, totals, .. } = &step.session;
        Self {
            number: *number,
            step: Usage::new(*cached_tokens, *uncached_tokens),
            sent: totals.sent,
            everything: totals.everything,
            newest_first: totals.newest_first,
        }
    }
}

impl RunPoint {
    /// Tokens of a session up to its last accepted step, where its steps were not kept.
    #[must_use]
    pub fn of_state(state: &SessionState) -> Self {
        Self {
            number: state.steps,
            step: Usage::default(),
            sent: state.totals.sent,
            everything: state.totals.everything,
            newest_first: state.totals.newest_first,
        }
    }
}

/// Effect of a step on the prompt cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepView {
    /// Which step it is, from 1.
    pub number: u64,
    /// Why the account begins anew with it, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_account: Option<NewAccount>,
    /// The window as it was sent.
    pub sent: Vec<Entry>,
    /// Tokens of the window.
    pub tokens: i64,
    /// The positions of what the provider has in its cache.
    pub cached: Vec<usize>,
    /// Tokens that are in the provider's cache.
    pub cached_tokens: i64,
    /// Tokens that are not in the provider's cache.
    pub uncached_tokens: i64,
    /// Tokens that arrived since the last step.
    pub arrived_tokens: i64,
    /// The positions of what was in the window before and is not any more.
    pub cut: Vec<usize>,
    /// Messages that were sent before and are sent again.
    pub again: Vec<SentAgainView>,
    /// Number of tokens that may be sent again from now on.
    pub credit: i64,
    /// Prices of tokens, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<ModelPrices>,
    /// A point for each step of the run, this one last.
    pub run: Vec<RunPoint>,
}

/// Something that was sent before and is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SentAgainView {
    /// Its position.
    pub position: usize,
    /// Worth of a token of it as a multiple of its price; absent if it must be in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_its_price: Option<f64>,
}

impl StepView {
    pub(crate) fn of(step: &Step, run: &[RunPoint], parts: &[ViewPart], forms: &Forms<'_>) -> Self {
        let session = &step.session;
        let kept: HashSet<usize> = step.kept_messages.iter().copied().collect();
        let sent = sent_parts(step, parts, &kept, forms);
        let unchanged = &step.kept_messages[..session.unchanged_messages];
        let unchanged: HashSet<usize> = unchanged.iter().copied().collect();
        let is_cached = |at: &usize| {
            let messages = &parts[*at].messages;
            session.cached_tokens > 0 && messages.iter().all(|index| unchanged.contains(index))
        };
        let again = session.again.iter().map(|again| SentAgainView {
            position: again.part.position,
            times_its_price: again.times_its_price,
        });
        let mut run = run.to_vec();
        if run.last().is_none_or(|last| last.number != session.number) {
            run.push(RunPoint::of(step));
        }
        Self {
            number: session.number,
            new_account: session.new_account,
            cached: sent.iter().map(|entry| entry.position()).filter(is_cached).collect(),
            sent,
            tokens: step.summary.tokens_after,
            cached_tokens: session.cached_tokens,
            uncached_tokens: session.uncached_tokens,
            arrived_tokens: session.arrived_tokens,
            cut: session.cut.iter().map(|part| part.position).collect(),
            again: again.collect(),
            credit: session.credit,
            prices: session.prices.clone(),
            run,
        }
    }
}

/// Which form of a part costs so much, if one does.
pub(crate) type Forms<'f> = dyn Fn(usize, i64) -> Option<usize> + 'f;

fn sent_parts(
    step: &Step,
    parts: &[ViewPart],
    kept: &HashSet<usize>,
    forms: &Forms<'_>,
) -> Vec<Entry> {
    let is_sent = |part: &ViewPart| part.messages.iter().all(|index| kept.contains(index));
    let saved = |part: &ViewPart| {
        let of_part = |text: &&ShortenedText| part.messages.contains(&text.message);
        let saved = step.shortened.iter().filter(of_part);
        saved.map(|text| text.tokens_before - text.tokens_after).sum::<i64>()
    };
    let entry = |(position, part): (usize, &ViewPart)| match saved(part) {
        0 => Entry::Whole(position),
        saved => forms(position, part.tokens - saved)
            .map_or(Entry::Whole(position), |form| Entry::Form(position, form)),
    };
    parts.iter().enumerate().filter(|(_, part)| is_sent(part)).map(entry).collect()
}
