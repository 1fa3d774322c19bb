//! The first part of a prepared request: it is read, repaired and counted.

use std::sync::{Arc, OnceLock};

use cupel::ContextItem;
use cupel_chat::{CandidateOptions, Candidates, Format, Request};
use cupel_relevance::supersede::Supersession;
use cupel_tokens::{Count, Model, TokenCounter, TokenizerFamily};

use super::tools::Before;
use crate::engine::{Settings, Turns};
use crate::memo::SessionMemory;
use crate::model::Named;
use crate::progress::{Watch, Watched};
use crate::usage::CalibratedCounter;
use crate::{
    EngineError, ErrorCode, FittedTool, Options, Outdated, RepairDone, RequestInput, SentTool,
    Superseded, UnusedRendering, Work, tokenizer, validate,
};

/// Purpose that a request is read for.
#[derive(Clone, Copy)]
pub(crate) enum Purpose<'p> {
    /// A window by itself.
    Window,
    /// A step of a session: bundles must stay what they are as the request grows, and what was sent
    /// once is not taken away.
    Session {
        memory: &'p SessionMemory,
        /// State that the step before left behind.
        before: Option<Before<'p>>,
    },
}

/// A request that was read, as candidates with their tokens, and what was found and done on the way.
#[derive(Clone)]
pub(crate) struct ReadRequest {
    pub(super) candidates: Candidates,
    /// Tokens of the request with all of its tools.
    pub(crate) whole_tokens: i64,
    /// Fingerprint of all that stands beside the messages as the caller wrote it.
    pub(crate) head: u64,
    /// Fates of the tools; none if all are whole.
    pub(crate) tools: Vec<FittedTool>,
    pub(crate) sent_tools: Vec<SentTool>,
    pub(super) model: Option<&'static Model>,
    pub(crate) counter: Arc<dyn TokenCounter>,
    /// The family that counts are estimated like, where nobody names a tokenizer.
    pub(crate) like: Option<TokenizerFamily>,
    /// The bound of the texts; see [`bound`](Self::bound).
    bound: OnceLock<Count>,
    pub(crate) repairs: Vec<RepairDone>,
    /// Forms that the caller made and that are of no use.
    pub(crate) unused: Vec<UnusedRendering>,
    pub(crate) superseded: Vec<Outdated>,
    /// The positions of those of them that are still among the candidates.
    pub(crate) outdated: Vec<usize>,
}

impl ReadRequest {
    /// Reads a request. The counter tells how far it is until it is dropped.
    pub(super) fn new<'s>(
        settings: &'s Settings,
        input: RequestInput,
        options: &Options,
        purpose: Purpose<'_>,
    ) -> Result<(Self, Watched<'s>), EngineError> {
        options.cancel.check()?;
        let (request, repairs) = open(settings, input, purpose)?;
        options.cancel.check()?;
        let named = Named::new(model_given(settings, options), request.model())?;
        let model = named.model;
        let like = match settings.counter {
            Some(_) => None,
            None => tokenizer::family(named, Some(request.format())),
        };
        let mut counter = counter(settings, named, &request, purpose);
        let made = |counter: &Watched<'_>| {
            candidates(settings, &request, model, counter, options, purpose)
        };
        let mut candidates = made(&counter)?;
        if let Some(reported) = options.usage {
            // What the provider reported is held against the counts of the same request.
            let calibrated = CalibratedCounter::new(counter.counter, &candidates, reported)?;
            counter.counter = Arc::new(calibrated);
            candidates = made(&counter)?;
        }
        let mut read = Self {
            whole_tokens: candidates.total_tokens(),
            head: request.head_fingerprint(),
            candidates,
            tools: Vec::new(),
            sent_tools: Vec::new(),
            model,
            counter: counter.counter.clone(),
            like,
            bound: OnceLock::new(),
            repairs,
            unused: Vec::new(),
            superseded: Vec::new(),
            outdated: Vec::new(),
        };
        read.supersede(settings, purpose);
        Ok((read, counter))
    }

    /// Finds what is superseded among the candidates, and lets it compete no more.
    pub(super) fn supersede(&mut self, settings: &Settings, purpose: Purpose<'_>) {
        let supersession = match (settings.superseded, purpose) {
            (Superseded::Keep, Purpose::Window) => return,
            // A session must not send an old reminder again; a window that has room for it may have it.
            (Superseded::Keep, Purpose::Session { .. }) => Supersession::reminders(),
            (Superseded::Drop, _) => Supersession::default(),
        };
        (self.superseded, self.outdated) = find_superseded(&supersession, &self.candidates);
        if let Purpose::Window = purpose {
            self.candidates.remove(&std::mem::take(&mut self.outdated));
        }
    }

    /// The texts and what they are at most, where they are estimated; counted when somebody asks.
    pub(super) fn bound(&self) -> Option<Count> {
        let all = || total(&*self.counter, self.candidates.items());
        self.candidates.is_estimate().then(|| *self.bound.get_or_init(all))
    }
}

/// The name of the model that the caller gave, if any.
pub(super) fn model_given<'o>(settings: &'o Settings, options: &'o Options) -> Option<&'o str> {
    options.model.as_deref().or(settings.model.as_deref())
}

/// Reads the request, and repairs it if the engine does.
fn open(
    settings: &Settings,
    input: RequestInput,
    purpose: Purpose<'_>,
) -> Result<(Request, Vec<RepairDone>), EngineError> {
    let parse = |text: Arc<str>, format: Option<Format>| match purpose {
        Purpose::Window => Request::parse(text, format),
        Purpose::Session { memory, .. } => memory.read(text, format),
    };
    let request = input.read(settings.format, parse)?;
    let Some(mode) = settings.repair else { return Ok((request, Vec::new())) };
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
    if let Purpose::Session { memory, .. } = purpose {
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
        lacks_thinking: settings.lacks_thinking,
        ..CandidateOptions::default()
    };
    candidate_options.pins.extend(settings.pins.iter().chain(&options.pins).cloned());
    candidate_options.rules.extend(settings.rules.iter().chain(&options.rules).cloned());
    candidate_options.overheads = model.and_then(|model| request.format().overheads_of(model));
    let made = match purpose {
        Purpose::Window => request.candidates(counter, &candidate_options),
        Purpose::Session { memory, .. } => memory.candidates(request, counter, &candidate_options),
    };
    made.map_err(|error| {
        let error = EngineError::from(error);
        match error.code() {
            ErrorCode::InvalidRequest => error.with_remedy(validate::remedy(settings, request)),
            _ => error,
        }
    })
}

/// Superseded messages, in words and by position.
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
