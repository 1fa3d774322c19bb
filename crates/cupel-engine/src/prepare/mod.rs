//! A request that was read, checked and counted: ask it what you like.

mod judge;
mod read;
mod room;
mod tools;

use cupel::{ContextBudget, ContextItem, CupelError, Needs, Pipeline, PlacedItem, SelectionReport};
use cupel_chat::{Candidates, Request};
use cupel_relevance::keep::reply_in;
use cupel_relevance::{Ear, Language};
use cupel_tokens::{Count, Model};

use crate::engine::{Engine, Settings};
use crate::limits::Scale;
use crate::shorten::Shortener;
use crate::{Cancel, EngineError, ModelPrices, Options, Part, RequestInput};

use judge::Judge;
use room::Room;

pub(crate) use read::{Purpose, ReadRequest};
pub(crate) use tools::Before;

/// A request that was read, checked and counted once, to be asked several questions.
///
/// ```
/// use cupel_engine::{Engine, Options};
///
/// let engine = Engine::builder().max_tokens(1_000).tokenizer("estimate").build()?;
/// let text = r#"[{"role": "user", "content": "Hello!"}]"#;
/// let prepared = engine.prepare(text, &Options::new())?;
/// assert_eq!(prepared.select()?.text, text);
/// assert_eq!(prepared.explain(10)?.kept.len(), 1);
/// # Ok::<(), cupel_engine::EngineError>(())
/// ```
#[derive(Clone)]
pub struct Prepared {
    engine: Engine,
    pub(crate) read: ReadRequest,
    room: Room,
    judge: Judge,
    /// Ends what is asked of it early.
    pub(crate) cancel: Cancel,
}

/// The slicer that keeps what nobody would drop.
const KEEP: &str = "keep";

impl Prepared {
    pub(crate) fn new(
        engine: Engine,
        input: RequestInput,
        options: &Options,
        purpose: Purpose<'_>,
    ) -> Result<Self, EngineError> {
        let settings = engine.settings().clone();
        let shortener = Shortener::new(&settings, options);
        let (mut read, counter) = ReadRequest::new(&settings, input, options, purpose)?;
        options.cancel.check()?;
        read.fit_tools(&settings, options, purpose, &counter)?;
        options.cancel.check()?;
        read.unused = shortener.shorten(&mut read.candidates, &counter);
        if let Purpose::Session { memory, .. } = purpose {
            memory.meet(&mut read.candidates);
        }
        options.cancel.check()?;
        let query = judge::query(options, &read.candidates);
        let strategies = judge::strategies(&query, purpose);
        if settings.policy.description().slicer.name() == KEEP && !shortener.is_off() {
            // Only the rule that keeps the reply takes it shortened.
            let items = read.candidates.items();
            let ear = Ear::for_language(strategies.language_of(items));
            if let Some(reply) = reply_in(items, &ear) {
                shortener.shorten_reply(&mut read.candidates, reply, &counter);
            }
        }
        let strategies = judge::with_vectors(strategies, &read.candidates, options)?;
        let room = Room::new(&settings, options, &read);
        // Forms that only this budget makes necessary come last: who judges must see them too.
        if let Ok(budget) = &room.budget {
            shortener.rescue(&mut read.candidates, budget, &counter);
        }
        options.cancel.check()?;
        let judge = Judge::new(&engine, query, strategies, &read.candidates);
        Ok(Self { engine, read, room, judge, cancel: options.cancel.clone() })
    }

    /// The same candidates and budget, judged by the policy of another engine: nothing is read or
    /// counted again.
    #[must_use]
    pub fn judged_by(&self, engine: Engine) -> Self {
        let judge = self.judge.instead(&engine);
        Self { engine, judge, ..self.clone() }
    }

    /// The policy at work on this request.
    pub(crate) fn pipeline(&self) -> &Pipeline {
        &self.judge.pipeline
    }

    /// Needs between candidates.
    pub(crate) fn needs(&self) -> &Needs {
        &self.judge.needs
    }

    /// Budgets of windows of other sizes.
    pub(crate) fn scale(&self) -> &Scale {
        &self.room.scale
    }

    pub(crate) fn request(&self) -> &Request {
        self.read.candidates.request()
    }

    pub(crate) fn model(&self) -> Option<&'static Model> {
        self.read.model
    }

    /// The candidates alone: for whoever needs nothing else any more.
    pub(crate) fn into_candidates(self) -> Candidates {
        self.read.candidates
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn settings(&self) -> &Settings {
        self.engine.settings()
    }

    /// Tokens of the pinned candidates.
    pub(crate) fn pinned_tokens(&self) -> i64 {
        crate::explain::pinned(self.items())
    }

    /// Budget of the window.
    ///
    /// # Errors
    ///
    /// [`crate::ErrorCode::NoBudget`] if nobody says it, [`crate::ErrorCode::InvalidBudget`] if limits contradict
    /// each other.
    pub fn budget(&self) -> Result<&ContextBudget, EngineError> {
        self.room.budget.as_ref().map_err(Clone::clone)
    }

    /// Candidates for the window, and the request behind them.
    #[must_use]
    pub fn candidates(&self) -> &Candidates {
        &self.read.candidates
    }

    /// Input prices of the request's model, where they are known.
    #[must_use]
    pub fn prices(&self) -> Option<ModelPrices> {
        self.read.model.and_then(|model| model.prices).map(ModelPrices::from)
    }

    /// Name of the tokenizer.
    pub(crate) fn tokenizer(&self) -> &str {
        self.read.counter.name()
    }

    /// The texts and what they are at most, where they are estimated; counted when somebody asks.
    pub(crate) fn bound(&self) -> Option<Count> {
        self.read.bound()
    }

    /// Number of messages the request has.
    #[must_use]
    pub fn message_count(&self) -> usize {
        self.request().message_count()
    }

    /// Query that the window is for: that of the call, or the user's last words.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.judge.query
    }

    /// The report of the specification, with the durations of its stages.
    ///
    /// # Errors
    ///
    /// If nothing says how much fits, or what must be kept does not fit.
    pub fn report(&self) -> Result<SelectionReport, EngineError> {
        let budget = self.budget()?;
        let report = self.judged_for(budget, |judge| judge.dry_run(self.items(), budget));
        report.map_err(|error| self.failed(error))
    }

    /// The language of the candidates, as far as the policy's strategies tell.
    pub(crate) fn language(&self) -> Option<Language> {
        self.judge.strategies.language_of(self.items())
    }

    pub(crate) fn items(&self) -> &[ContextItem] {
        self.read.candidates.items()
    }

    /// Lets the policy judge for a budget: without its caps where everything fits.
    pub(crate) fn judged_for<R>(
        &self,
        budget: &ContextBudget,
        judge: impl FnOnce(&Pipeline) -> R,
    ) -> R {
        match self.whole(budget) {
            Some(whole) => judge(&whole.pipeline),
            None => judge(self.pipeline()),
        }
    }

    /// Items that a budget keeps, in placed order; `None` if the pinned ones do not fit.
    pub(crate) fn fitting_items(
        &self,
        budget: &ContextBudget,
    ) -> Result<Option<Vec<PlacedItem>>, EngineError> {
        if let Some(whole) = self.whole(budget) {
            return Ok(Some(whole.window));
        }
        let window = self.pipeline().window(self.items(), budget);
        fitting(window).map_err(|error| self.failed(error))
    }

    /// The policy without its caps, if a budget holds the whole request: what fits comes back whole.
    ///
    /// Items that no run takes, since their tokens are negative, are left to the policy.
    pub(crate) fn whole(&self, budget: &ContextBudget) -> Option<Whole> {
        let room = budget.target_tokens().min(budget.max_tokens() - budget.output_reserve());
        let is_odd = self.items().iter().any(|item| item.tokens() < 0);
        let all = tokens_of(self.items());
        if self.settings().keep_caps || is_odd || all > room {
            return None;
        }
        let pipeline = self.engine.uncapped().instead_in(self.pipeline());
        // Reserved slots and margins may still leave something out.
        let window = pipeline.window(self.items(), budget).ok();
        let window = window.filter(|window| window.len() == self.items().len());
        Some(Whole { pipeline, window: window? })
    }

    /// Error for the caller by that of a failed run.
    pub(crate) fn failed(&self, error: CupelError) -> EngineError {
        let (needed, available) = match error {
            CupelError::PinnedExceedsBudget { pinned_tokens, available } => {
                (pinned_tokens, available)
            }
            CupelError::Overflow { merged_tokens, target_tokens } => (merged_tokens, target_tokens),
            error => return error.into(),
        };
        let mut parts: Vec<Part> = (0..self.items().len())
            .filter(|at| self.items()[*at].pinned())
            .map(|at| Part::of(self.candidates(), at))
            .collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.tokens));
        EngineError::does_not_fit(needed, available, parts)
    }
}

/// A request that fits as it is.
pub(crate) struct Whole {
    /// The policy without its caps.
    pub(crate) pipeline: Pipeline,
    /// All of the request, in placed order.
    pub(crate) window: Vec<PlacedItem>,
}

/// A budget that is too small for what is pinned is an answer, not an error.
pub(crate) fn fitting<T>(result: Result<T, CupelError>) -> Result<Option<T>, CupelError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(CupelError::PinnedExceedsBudget { .. } | CupelError::Overflow { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A candidate of a window by position, and which of its renderings it is in; `None` if it is whole.
pub(crate) type Chosen = (usize, Option<usize>);

/// The candidates of a window, in placed order.
pub(crate) fn chosen(window: &[PlacedItem]) -> Vec<Chosen> {
    window.iter().map(|placed| (placed.position, placed.rendering)).collect()
}

/// The positions of candidates.
pub(crate) fn positions(chosen: &[Chosen]) -> Vec<usize> {
    chosen.iter().map(|(position, _)| *position).collect()
}

/// Least tokens of the pinned items: with everything as short as it can be.
pub(crate) fn least_pinned_tokens(items: &[ContextItem]) -> i64 {
    let least = |item: &ContextItem| {
        let forms = item.renderings().iter().map(cupel::Rendering::tokens);
        forms.chain([item.tokens()]).min().unwrap_or_default()
    };
    let pinned = items.iter().filter(|item| item.pinned());
    pinned.fold(0_i64, |sum, item| sum.saturating_add(least(item))).max(0)
}

/// The tokens of items together.
pub(crate) fn tokens_of<'i>(items: impl IntoIterator<Item = &'i ContextItem>) -> i64 {
    items.into_iter().fold(0, |sum, item| sum.saturating_add(item.tokens()))
}
