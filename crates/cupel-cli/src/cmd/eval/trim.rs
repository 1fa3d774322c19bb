//! A policy that trims the requests of agents.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use cupel::{ContextBudget, ContextItem, CupelError};
use cupel_chat::{CandidateOptions, Format, Request};
use cupel_eval::{AgentStep, AgentTask, RunTrimmer, SelectorError, Trimmer, Window};
use cupel_relevance::Strategies;
use cupel_tokens::TokenCounter;

use super::methods::MeasuredPolicy;
use crate::policy;

/// Selects from each request anew, as `cupel select` does.
pub(super) struct PolicyTrimmer<'p> {
    pub(super) policy: &'p MeasuredPolicy,
    pub(super) counter: &'p dyn TokenCounter,
}

impl Trimmer for PolicyTrimmer<'_> {
    fn begin<'t>(&'t self, task: AgentTask<'t>) -> Result<Box<dyn RunTrimmer + 't>, SelectorError> {
        Ok(Box::new(PolicyRun {
            task,
            policy: self.policy,
            counter: Remembering { counter: self.counter, known: Mutex::default() },
            strategies: policy::without_query(),
            items: Vec::new(),
        }))
    }
}

/// What is known of one run. It makes steps faster, and changes nothing: each is selected from by
/// itself.
struct PolicyRun<'t> {
    task: AgentTask<'t>,
    policy: &'t MeasuredPolicy,
    counter: Remembering<'t>,
    strategies: Strategies,
    /// Those of the step before.
    items: Vec<ContextItem>,
}

impl RunTrimmer for PolicyRun<'_> {
    fn windows(&mut self, step: &AgentStep) -> Result<Vec<Option<Window>>, SelectorError> {
        let text = self.task.run.request(step);
        let request = Request::parse(text.as_str(), Some(Format::OpenAiChat))?;
        let candidates = request.candidates(&self.counter, &CandidateOptions::default())?;
        self.recognise(candidates.items());
        let query = request.query().unwrap_or_default();
        let pipeline = self.policy.pipeline(&self.strategies.ask(query), &self.items)?;
        let ranking = pipeline.rank(&self.items)?;
        let window = |max_tokens: &i64| {
            let placed = match ranking.window(&ContextBudget::builder(*max_tokens).build()?) {
                Err(CupelError::PinnedExceedsBudget { .. } | CupelError::Overflow { .. }) => {
                    return Ok(None);
                }
                placed => placed?,
            };
            let bundles = placed.iter().map(|placed| candidates.bundle(placed.position));
            let mut kept: Vec<usize> =
                bundles.flat_map(|bundle| bundle.message_indices().iter().copied()).collect();
            kept.sort_unstable();
            Ok(Some(Window::of_kept(kept)))
        };
        self.task.max_tokens.iter().map(window).collect()
    }
}

impl PolicyRun<'_> {
    /// Takes these items, those of the step before where they are the same: what was found out
    /// about their words is kept by item.
    fn recognise(&mut self, items: &[ContextItem]) {
        for (known, item) in self.items.iter_mut().zip(items) {
            if known != item {
                *known = item.clone();
            }
        }
        self.items.truncate(items.len());
        self.items.extend(items[self.items.len()..].iter().cloned());
    }
}

/// Counts a text once, however many requests it is in.
struct Remembering<'c> {
    counter: &'c dyn TokenCounter,
    known: Mutex<HashMap<String, i64>>,
}

impl TokenCounter for Remembering<'_> {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn count(&self, text: &str) -> i64 {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tokens) = known.get(text) {
            return *tokens;
        }
        let tokens = self.counter.count(text);
        known.insert(text.to_owned(), tokens);
        tokens
    }

    fn is_estimate(&self) -> bool {
        self.counter.is_estimate()
    }

    /// Runs are what the threads share out; a request is counted by one.
    fn count_all(&self, texts: &[&str]) -> Vec<i64> {
        texts.iter().map(|text| self.count(text)).collect()
    }
}
