//! Coverage of needs and of the question: see [`CoverageSlice`].

mod greedy;
mod question;
mod signals;
#[cfg(test)]
mod tests;

use cupel::slicer::{Form, slice_by_selecting};
use cupel::{
    Candidate, ContextBudget, ContextItem, CupelError, Gain, ScoredItem, Selection,
    SliceExplanation, SliceRequest, Slicer, Worth,
};

use self::greedy::{Contest, Entrant};
use self::question::Asked;
use super::{BestFirstSlice, is_empty};
use crate::need::{Mentions, Need, NeedParameters, is_exchange};
use crate::{Strategies, parameter};

pub use self::question::Question;

/// The constants of [`CoverageSlice`].
///
/// ```
/// # use cupel_relevance::CoverageParameters;
/// assert_eq!(CoverageParameters::default().size_exponent, 0.55);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoverageParameters {
    /// Need for values.
    pub need: NeedParameters,
    /// Price of an item's size: its need is divided by tokens to this power.
    pub size_exponent: f64,
    /// The question, and its weight.
    pub question: Question,
}

impl Default for CoverageParameters {
    fn default() -> Self {
        let (need, question) = (NeedParameters::default(), Question::default());
        Self { need, size_exponent: 0.55, question }
    }
}

/// From so many tokens of talk on the question counts in full in a window that goes on: below that there is little talk to choose
/// from (docs/sessions.md).
const MUCH_TALK: f64 = 8_000.0;

/// Largest weight of the question there, beside need.
const MOST_OF_QUESTION: f64 = 3.0;

/// Fills the budget with what covers most of what will be needed, and with what the question asks
/// for.
///
/// **When to choose it:** candidates of which some are calls with their results, as a request of an
/// agent has them. Where none are, it chooses like [`BestFirstSlice`].
///
/// **Steps:**
///
/// 1. The [need](crate::need) of every value is weighed over the whole list. What is pinned covers
///    its values from the beginning.
/// 2. Need counts as far as values come back: times the share κ of calls that hold a value which
///    was said or came back before.
/// 3. Scores are what the question says. They count for what stands before the user's last turn:
///    what came after it is the agent's own work, whose values speak for it.
/// 4. The question counts as far as it singles something out: times ρ, which is 0 where the best
///    score is no more than one and a half times the mean, and 1 from five and a half on.
/// 5. Size is paid for: need by tokens to the power of 0.55, a score by tokens to the power of
///    0.15 and once more by the share of the window that the item would take. So a large item that is
///    only near something does not push out the rest.
/// 6. Take the item with the most of both, of equals the newer; what it covers is worth nothing
///    elsewhere; skip what does not fit; go on.
///
/// **Shorter forms:** an item with [renderings](cupel::Rendering) comes in at the rank of the whole, in
/// the form that brings most for a token: the need of the values that its text still mentions, and its
/// share of the question. It grows when its next step comes in turn.
///
/// **Needs:** an item that needs others comes in with them, at what they bring for a token together.
///
/// **More budget:** what an item adds is what it is worth for its size, times its tokens; so the
/// greedy choice is that of the most value per token. What a larger budget lets in is then worth
/// more than all that it displaces: the total of a window does not fall, but for the room that
/// a hit pays for, which depends on the window.
///
/// **Ties and edge cases:** a score that is NaN or negative is 0. Without the list of the request,
/// the candidates are all that there is. A target of 0 takes nothing.
///
/// **Cost:** (N + mentions of values) log N, and a pass over texts that are new to it.
///
/// # Example
///
/// ```
/// use cupel::{ContextBudget, ContextItemBuilder, ScoredItem, Slicer};
/// use cupel_relevance::CoverageSlice;
///
/// let call = |text: &str, tokens| {
///     let tags = ["role:assistant", "tool:get", "role:tool"].map(String::from);
///     let item = ContextItemBuilder::new(text, tokens).tags(tags.into()).build();
///     item.map(|item| ScoredItem { item, score: 0.0 })
/// };
/// let sorted = [
///     call("get {\"order\": \"A-77\"}\nuser_12", 20)?,
///     call("get {\"order\": \"A-77\"}\nuser_12", 20)?,
///     call("get {\"user\": \"user_12\"}\nBerlin_3", 20)?,
/// ];
/// let kept = CoverageSlice::default().slice(&sorted, &ContextBudget::builder(40).build()?)?;
/// // Of two that hold the same values one is enough.
/// assert_eq!(kept.len(), 2);
/// assert!(!kept.iter().any(|item| item.is_same_item(&sorted[0].item)), "the older of the two");
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CoverageSlice {
    mentions: Mentions,
    parameters: CoverageParameters,
}

impl CoverageSlice {
    /// With constants of one's own.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if a constant is negative or not finite; it names which.
    pub fn with_parameters(parameters: CoverageParameters) -> Result<Self, CupelError> {
        Self::sharing(Mentions::default(), parameters)
    }

    /// The same, with values that others have found already.
    ///
    /// # Errors
    ///
    /// As [`with_parameters`](Self::with_parameters).
    pub fn sharing(mentions: Mentions, parameters: CoverageParameters) -> Result<Self, CupelError> {
        parameters.need.check()?;
        parameter::not_negative("size_exponent", parameters.size_exponent)?;
        parameters.question.check()?;
        Ok(Self { mentions, parameters })
    }

    /// Weighs everything; `None` where scores are all there is to go by.
    fn contest(&self, request: &SliceRequest<'_>, parameters: &NeedParameters) -> Option<Weighed> {
        let is_call = |candidate: &Candidate<'_>| is_exchange(candidate.item());
        if is_empty(request) || !request.candidates.iter().any(is_call) {
            return None;
        }
        if let Some(positions) = positions_in_list(request) {
            return Some(self.weigh(request, request.list, &positions, parameters));
        }
        let list: Vec<ContextItem> =
            request.candidates.iter().map(|candidate| candidate.item().clone()).collect();
        let positions: Vec<usize> = (0..list.len()).collect();
        Some(self.weigh(request, &list, &positions, parameters))
    }

    fn weigh(
        &self,
        request: &SliceRequest<'_>,
        list: &[ContextItem],
        positions: &[usize],
        parameters: &NeedParameters,
    ) -> Weighed {
        let strategies = request.context.get::<Strategies>();
        let mentions = strategies.map_or(&self.mentions, |strategies| &strategies.mentions);
        let need = Need::of(list, mentions, parameters);
        let asked = self.parameters.question.asked(request, list, positions);
        let entrants: Vec<Entrant> = request
            .candidates
            .iter()
            .zip(positions)
            .zip(asked.shares.iter().zip(&asked.rooms))
            .map(|((candidate, at), (share, room))| Entrant {
                position: *at,
                age: asked.order[*at],
                tokens: candidate.tokens(),
                size: (candidate.tokens().max(1) as f64).powf(self.parameters.size_exponent),
                question: asked.rho * share,
                room: *room,
                forms: forms_of(candidate, request.budget.target_tokens()),
                shares: shares_of(candidate),
            })
            .collect();
        let contest = Contest::new(
            need,
            entrants,
            list.iter().enumerate().map(|(at, item)| item.pinned() || request.is_in(at)),
        );
        Weighed { contest, asked }
    }
}

/// Weight of the question for callers that go on with what was sent before. It is asked something
/// else at every turn: so the question must be clear, and counts less the more of the candidates is an
/// agent's own work, and more where there is more talk to choose from.
fn later_question(calls: usize, candidates: &[Candidate<'_>], rho: f64) -> f64 {
    let is_talk = |candidate: &&Candidate<'_>| !is_exchange(candidate.item());
    let tokens = candidates.iter().filter(is_talk).map(|talk| talk.tokens().max(0) as f64);
    let much = (tokens.sum::<f64>() / MUCH_TALK).min(1.0);
    let share = 1.0 - calls as f64 / candidates.len().max(1) as f64;
    rho * share.max(0.0).powi(2) * MOST_OF_QUESTION * much
}

/// The share of its value that each rendering of a candidate keeps.
fn shares_of(candidate: &Candidate<'_>) -> Vec<f64> {
    let renderings = candidate.item().renderings().iter();
    renderings.map(|form| form.share_of(candidate.tokens())).collect()
}

/// The forms of a candidate, if it has more than one.
fn forms_of(candidate: &Candidate<'_>, target_tokens: i64) -> Vec<Form> {
    if candidate.item().renderings().is_empty() {
        return Vec::new();
    }
    let forms = Form::all(candidate.item(), target_tokens);
    if forms.len() > 1 { forms } else { Vec::new() }
}

/// Need and question of a request, ready to be chosen by.
struct Weighed {
    contest: Contest,
    asked: Asked,
}

/// Where each candidate stands in the list of the request, if it has one that holds them all.
fn positions_in_list(request: &SliceRequest<'_>) -> Option<Vec<usize>> {
    request.candidates.iter().map(|candidate| request.position(candidate)).collect()
}

impl Slicer for CoverageSlice {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        slice_by_selecting(self, sorted, budget)
    }

    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        match self.contest(request, &self.parameters.need) {
            None => BestFirstSlice.select(request),
            Some(Weighed { contest, .. }) => {
                let outcome = contest.run(request.budget.target_tokens(), request.needs);
                let mut selection = Selection::of(outcome.taken);
                selection.shortened = outcome.shortened;
                Ok(selection)
            }
        }
    }

    fn knows_needs(&self) -> bool {
        true
    }

    fn worth(&self, request: &SliceRequest<'_>) -> Result<Worth, CupelError> {
        let need = self.parameters.need;
        let need = if request.goes_on { need.going_on() } else { need };
        Ok(match self.contest(request, &need) {
            None => Worth::of_scores(request.candidates),
            Some(Weighed { contest, asked }) if request.goes_on => {
                let calls = contest.need().calls();
                contest.worth(later_question(calls, request.candidates, asked.rho))
            }
            Some(Weighed { contest, .. }) => contest.worth(1.0),
        })
    }

    fn explain(&self, request: &SliceRequest<'_>) -> Result<Option<SliceExplanation>, CupelError> {
        let weighed = self.contest(request, &self.parameters.need);
        let Some(Weighed { contest, asked }) = weighed else {
            let signals = vec![signals::no_calls()];
            return Ok(Some(SliceExplanation { signals, ..SliceExplanation::default() }));
        };
        let signals = signals::of(contest.need(), &asked);
        let outcome = contest.run(request.budget.target_tokens(), request.needs);
        let gain = |position: usize| Gain { position, gain: outcome.gains[position] };
        let gains = (0..request.candidates.len()).map(gain).collect();
        Ok(Some(SliceExplanation { signals, gains, ..SliceExplanation::default() }))
    }
}
