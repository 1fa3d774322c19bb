//! A request that was read, checked and counted: ask it what you like.

use std::sync::{Arc, OnceLock};

use cupel::{ContextBudget, ContextItem, CupelError, Needs, Pipeline, PlacedItem, SelectionReport};
use cupel_chat::{CandidateOptions, Candidates, Format, Request};
use cupel_relevance::keep::reply_in;
use cupel_relevance::supersede::Supersession;
use cupel_relevance::{Ear, Strategies};
use cupel_renderings::Reply;
use cupel_tokens::{Count, Model, TokenCounter, TokenizerFamily};

use crate::engine::{Engine, Settings, Turns};
use crate::limits::{self, Doubt, Scale, Sources};
use crate::memo::SessionMemory;
use crate::model::Named;
use crate::progress::{Watch, Watched};
use crate::shorten::Shortener;
use crate::usage::CalibratedCounter;
use crate::{
    EngineError, ErrorCode, ModelPrices, Options, Outdated, Part, RepairDone, RequestInput,
    Superseded, UnusedRendering, Work, tokenizer, validate,
};

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
    pub(crate) request: Request,
    pub(crate) candidates: Candidates,
    /// The needs of the candidates.
    pub(crate) needs: Arc<Needs>,
    pub(crate) model: Option<&'static Model>,
    counter: Arc<dyn TokenCounter>,
    /// The family that counts are estimated like, where nobody names a tokenizer.
    pub(crate) like: Option<TokenizerFamily>,
    pub(crate) query: String,
    strategies: Strategies,
    pipeline: Pipeline,
    /// What the texts are at most; see [`bound`](Self::bound).
    bound: OnceLock<Count>,
    /// Limits that contradict each other are an error only to calls that need a budget.
    budget: Result<ContextBudget, EngineError>,
    /// What budgets of other sizes would be.
    pub(crate) scale: Scale,
    pub(crate) repairs: Vec<RepairDone>,
    /// Forms that the caller made and that are of no use.
    pub(crate) unused: Vec<UnusedRendering>,
    pub(crate) superseded: Vec<Outdated>,
    /// The positions of those of them that are still among the candidates.
    pub(crate) outdated: Vec<usize>,
}

/// The slicer that keeps what nobody would drop.
const KEEP: &str = "keep";

/// What a request is read for.
#[derive(Clone, Copy)]
pub(crate) enum Purpose<'p> {
    /// A window by itself.
    Window,
    /// A step of a session: bundles must stay what they are as the request grows, and what was sent
    /// once is not taken away.
    Session(&'p SessionMemory),
}

impl Prepared {
    pub(crate) fn new(
        engine: Engine,
        input: RequestInput,
        options: &Options,
        purpose: Purpose<'_>,
    ) -> Result<Self, EngineError> {
        let settings = engine.settings().clone();
        let (request, repairs) = open(&engine, input, purpose)?;
        let given = options.model.as_deref().or(settings.model.as_deref());
        let named = Named::new(given, request.model())?;
        let model = named.model;
        let like = match settings.counter {
            Some(_) => None,
            None => tokenizer::family(named, Some(request.format())),
        };
        let mut counter = counter(&settings, named, &request, purpose);
        let mut candidates = {
            let made = |counter: &Watched<'_>| {
                candidates(&settings, &request, model, counter, options, purpose)
            };
            let first = made(&counter)?;
            match options.usage {
                None => first,
                Some(reported) => {
                    let calibrated = CalibratedCounter::new(counter.counter, &first, reported)?;
                    counter.counter = Arc::new(calibrated);
                    made(&counter)?
                }
            }
        };
        let (superseded, mut outdated) = match settings.superseded {
            // A session must not send an old reminder again; a window that has room for it may have it.
            Superseded::Keep => match purpose {
                Purpose::Window => (Vec::new(), Vec::new()),
                Purpose::Session(_) => find_superseded(&Supersession::reminders(), &candidates),
            },
            Superseded::Drop => find_superseded(&Supersession::default(), &candidates),
        };
        if let Purpose::Window = purpose {
            candidates.remove(&std::mem::take(&mut outdated));
        }
        let shortener = Shortener::new(&settings, options);
        let unused = shortener.shorten(&mut candidates, &counter);
        if let Purpose::Session(memory) = purpose {
            memory.meet(&mut candidates);
        }
        let query = match &options.query {
            Some(query) => query.to_string(),
            None => request.query().unwrap_or_default(),
        };
        let strategies = match purpose {
            Purpose::Window => Strategies::new(query.as_str()),
            Purpose::Session(memory) => memory.strategies(&query),
        };
        if settings.policy.description().slicer.name() == KEEP && !shortener.is_off() {
            // Only the rule that keeps the reply takes it shortened.
            let ear = Ear::for_language(strategies.language_of(candidates.items()));
            if let Some(reply) = reply_in(candidates.items(), &ear) {
                candidates.shorten_words(reply, &Reply, &counter);
            }
        }
        let strategies = with_vectors(strategies, &candidates, options)?;
        let bound = OnceLock::new();
        // Whoever names a tokenizer knows how far to trust it.
        let is_trusted = settings.counter.is_some() && options.usage.is_none();
        let is_doubted = candidates.is_estimate() && !is_trusted;
        let sources = Sources {
            model,
            output_limit: request.output_limit(),
            policy: settings.policy.description().budget.as_ref(),
            doubt: is_doubted.then(|| Doubt {
                texts: *bound.get_or_init(|| total(&counter, candidates.items())),
                pinned: tokens_of(candidates.items().iter().filter(|item| item.pinned())),
            }),
        };
        let limits = options.limits.or(settings.limits);
        let budget = limits::decide(limits, sources)
            .and_then(|budget| budget.ok_or_else(|| no_budget(named.name, given.is_some())));
        let is_policys = limits.max.is_none() && model.is_none() && budget.is_ok();
        let doubt = sources.doubt.filter(|_| !is_policys);
        let scale = Scale::of(budget.as_ref().ok(), limits, doubt);
        if let Ok(budget) = &budget {
            shortener.rescue(&mut candidates, budget, &counter);
        }
        let needs = Arc::new(candidates.needs());
        Ok(Self {
            pipeline: engine
                .compiled()
                .pipeline(&strategies, candidates.items())
                .with_needs(needs.clone()),
            engine,
            request,
            needs,
            candidates,
            model,
            counter: counter.counter,
            like,
            query,
            strategies,
            bound,
            budget,
            scale,
            repairs,
            unused,
            superseded,
            outdated,
        })
    }

    /// The same candidates and budget, judged by the policy of another engine: nothing is read or
    /// counted again.
    #[must_use]
    pub fn judged_by(&self, engine: Engine) -> Self {
        let pipeline = engine.compiled().instead_in(&self.pipeline);
        Self { engine, pipeline, ..self.clone() }
    }

    /// The policy at work on this request.
    pub(crate) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn settings(&self) -> &Settings {
        self.engine.settings()
    }

    /// What is pinned costs so much.
    pub(crate) fn pinned_tokens(&self) -> i64 {
        crate::explain::pinned(self.items())
    }

    /// How much fits.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::NoBudget`] if nobody says it, [`ErrorCode::InvalidBudget`] if limits contradict
    /// each other.
    pub fn budget(&self) -> Result<&ContextBudget, EngineError> {
        self.budget.as_ref().map_err(Clone::clone)
    }

    /// What competes for the window, and the request behind it.
    #[must_use]
    pub fn candidates(&self) -> &Candidates {
        &self.candidates
    }

    /// What the input of the request's model costs, where that is known.
    #[must_use]
    pub fn prices(&self) -> Option<ModelPrices> {
        self.model.and_then(|model| model.prices).map(ModelPrices::from)
    }

    /// What counted.
    pub(crate) fn tokenizer(&self) -> &str {
        self.counter.name()
    }

    /// The texts and what they are at most, where they are estimated; counted when somebody asks.
    pub(crate) fn bound(&self) -> Option<Count> {
        let is_estimate = self.candidates.is_estimate();
        is_estimate.then(|| *self.bound.get_or_init(|| total(&*self.counter, self.items())))
    }

    /// How many messages the request has.
    #[must_use]
    pub fn message_count(&self) -> usize {
        self.request.message_count()
    }

    /// What the window is for: the query of the call, or the user's last words.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.query
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
    pub(crate) fn language(&self) -> Option<String> {
        self.strategies.language_of(self.items()).map(|language| language.name().to_owned())
    }

    pub(crate) fn items(&self) -> &[ContextItem] {
        self.candidates.items()
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

    /// What a budget keeps, in placed order; `None` if what is pinned does not fit.
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
        let pipeline = self.engine.uncapped().instead_in(&self.pipeline);
        // Reserved slots and margins may still leave something out.
        let window = pipeline.window(self.items(), budget).ok();
        let window = window.filter(|window| window.len() == self.items().len());
        Some(Whole { pipeline, window: window? })
    }

    /// What a failed run means for the caller.
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
            .map(|at| Part::of(&self.candidates, at))
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

/// What is pinned costs at least so much: with everything as short as it can be.
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

/// The strategies, with the vectors of the messages if there are any.
fn with_vectors(
    strategies: Strategies,
    candidates: &Candidates,
    options: &Options,
) -> Result<Strategies, EngineError> {
    let Some(vectors) = &options.vectors else { return Ok(strategies) };
    let invalid = |rule: String| EngineError::new(ErrorCode::InvalidVectors, rule);
    let count = candidates.request().message_count();
    if let Some(last) = vectors.last_position().filter(|last| *last >= count) {
        let rule = format!("there is a vector of message {last}, but the request has {count}");
        return Err(invalid(rule).with_remedy("give the vectors of this request"));
    }
    let Some(of_query) = vectors.query() else {
        return Err(invalid("there is no vector of the query".to_owned()).with_remedy("add it"));
    };
    let messages = |at: usize| candidates.bundle(at).message_indices().to_vec();
    let of_items = vectors.for_parts(candidates.items(), messages);
    let of_items = of_items.map_err(|error| invalid(error.to_string()))?;
    let strategies = strategies.with_vectors(Arc::new(of_items), of_query.to_vec());
    strategies.map_err(|error| invalid(error.to_string()))
}

/// Reads the request, and repairs it if the engine does.
fn open(
    engine: &Engine,
    input: RequestInput,
    purpose: Purpose<'_>,
) -> Result<(Request, Vec<RepairDone>), EngineError> {
    let parse = |text: Arc<str>, format: Option<Format>| match purpose {
        Purpose::Window => Request::parse(text, format),
        Purpose::Session(memory) => memory.read(text, format),
    };
    let request = input.read(engine.settings().format, parse)?;
    let Some(mode) = engine.settings().repair else { return Ok((request, Vec::new())) };
    let repaired = validate::repair(&request, mode)?;
    let again = parse(repaired.text.into(), Some(request.format()))?;
    Ok((again, repaired.repairs))
}

fn counter<'s>(
    settings: &'s Settings,
    named: Named<'_>,
    request: &Request,
    purpose: Purpose<'_>,
) -> Watched<'s> {
    let counter = settings.counter.clone();
    let mut counter = counter.unwrap_or_else(|| tokenizer::implied(named, Some(request.format())));
    if let Purpose::Session(memory) = purpose {
        counter = memory.counter(named.model.map(|model| model.name).or(named.name), counter);
    }
    let bytes = request.text().len();
    Watched { counter, watch: Watch::begin(settings.progress.as_ref(), Work::Counting, bytes) }
}

fn candidates(
    settings: &Settings,
    request: &Request,
    model: Option<&Model>,
    counter: &dyn TokenCounter,
    options: &Options,
    purpose: Purpose<'_>,
) -> Result<Candidates, EngineError> {
    let mut candidate_options = CandidateOptions {
        alternate: settings.alternate,
        whole_turns: settings.turns == Turns::Whole,
        ..CandidateOptions::default()
    };
    candidate_options.pins.extend(settings.pins.iter().chain(&options.pins).cloned());
    candidate_options.rules.extend(settings.rules.iter().chain(&options.rules).cloned());
    candidate_options.overheads = model.and_then(|model| request.format().overheads_of(model));
    let made = match purpose {
        Purpose::Window => request.candidates(counter, &candidate_options),
        Purpose::Session(memory) => memory.candidates(request, counter, &candidate_options),
    };
    made.map_err(|error| {
        let error = EngineError::from(error);
        match error.code() {
            ErrorCode::InvalidRequest => error.with_remedy(validate::remedy(settings, request)),
            _ => error,
        }
    })
}

/// What is superseded, in words and by position.
fn find_superseded(
    supersession: &Supersession,
    candidates: &Candidates,
) -> (Vec<Outdated>, Vec<usize>) {
    let found = supersession.find(candidates.items());
    let told = found.iter().map(|superseded| {
        let older = candidates.bundle(superseded.older);
        Outdated {
            older: older.label(),
            newer: candidates.bundle(superseded.newer).label(),
            messages: older.message_indices().to_vec(),
            why: superseded.why.to_string(),
        }
    });
    (told.collect(), found.iter().map(|superseded| superseded.older).collect())
}

/// The texts of all candidates, and what they are at most.
fn total(counter: &dyn TokenCounter, items: &[ContextItem]) -> Count {
    items.iter().map(|item| counter.bounded(item.content())).sum()
}

fn no_budget(model: Option<&str>, is_given: bool) -> EngineError {
    let reason = match model {
        Some(model) if is_given => format!("the window of the model `{model}` is not known"),
        Some(model) => format!("the request names the model `{model}`, which is not known"),
        None => "the request names no model".to_owned(),
    };
    let rule = format!("how much fits? {reason}");
    let near = model.and_then(|name| Model::find(name).err()?.nearest());
    EngineError::new(ErrorCode::NoBudget, rule).with_remedy(match near.filter(|_| is_given) {
        Some(near) => format!("give the window in tokens, or a known model, as `{near}`"),
        None => "give the window in tokens, or a known model".to_owned(),
    })
}
