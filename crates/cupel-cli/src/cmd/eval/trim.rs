//! A policy that trims the requests of agents.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cupel_engine::{Engine, Format, Options};
use cupel_eval::{AgentStep, AgentTask, RunTrimmer, SelectorError, Trimmer, Window};
use cupel_tokens::{Count, TokenCounter};

use super::methods::MeasuredPolicy;

/// Selects from each request anew, as `cupel select` does.
pub(super) struct PolicyTrimmer<'p> {
    pub(super) policy: &'p MeasuredPolicy,
    pub(super) counter: Arc<dyn TokenCounter>,
}

impl Trimmer for PolicyTrimmer<'_> {
    fn begin<'t>(&'t self, task: AgentTask<'t>) -> Result<Box<dyn RunTrimmer + 't>, SelectorError> {
        let counter = Remembering { counter: self.counter.clone(), known: Mutex::default() };
        let engine = Engine::builder()
            .named_policy(self.policy.policy.clone())
            .counter(Arc::new(counter))
            .format(Format::OpenAiChat)
            .build()?;
        Ok(Box::new(PolicyRun { task, engine }))
    }
}

struct PolicyRun<'t> {
    task: AgentTask<'t>,
    engine: Engine,
}

impl RunTrimmer for PolicyRun<'_> {
    fn windows(&mut self, step: &AgentStep) -> Result<Vec<Option<Window>>, SelectorError> {
        let text = self.task.run.request(step);
        let windows = self.engine.windows(text, self.task.max_tokens, &Options::new())?.windows;
        let window = |window: cupel_engine::Window| {
            window.fits.then(|| Window::of_kept(window.kept_messages))
        };
        Ok(windows.into_iter().map(window).collect())
    }
}

/// Counts a text once, however many requests of a run it is in.
struct Remembering {
    counter: Arc<dyn TokenCounter>,
    known: Mutex<HashMap<String, i64>>,
}

impl TokenCounter for Remembering {
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

    fn bounded(&self, text: &str) -> Count {
        self.counter.bounded(text)
    }

    /// Runs are what the threads share out; a request is counted by one.
    fn count_all(&self, texts: &[&str]) -> Vec<i64> {
        texts.iter().map(|text| self.count(text)).collect()
    }
}
