//! A policy that trims the requests of agents.

use std::sync::Arc;

use cupel_engine::{
    Engine, EngineError, Format, NamedPolicy, Options, RememberingCounter, Session, Shorten, Step,
};
use cupel_tokens::TokenCounter;

use super::run::AgentStep;
use super::trimmer::{AgentTask, RunTrimmer, Trimmer, Window};
use crate::selector::SelectorError;

/// Selects from each request anew, as `cupel select` does, or in a session.
pub struct PolicyTrimmer {
    /// The policy, by the name that its results have.
    pub policy: NamedPolicy,
    /// Counter of the requests.
    pub counter: Arc<dyn TokenCounter>,
    /// True if windows keep the prompt cache.
    pub in_session: bool,
    /// Texts that may be shortened; `None` where only those are that would not fit otherwise.
    pub shorten: Option<Shorten>,
}

impl PolicyTrimmer {
    /// Name of the method by the name of its policy.
    pub fn name_of(&self, policy: &str) -> String {
        let session = if self.in_session { " in a session" } else { "" };
        let shorten = self.shorten.map(|shorten| format!(", shorten {shorten}"));
        format!("{policy}{session}{}", shorten.unwrap_or_default())
    }
}

impl std::fmt::Debug for PolicyTrimmer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicyTrimmer")
            .field("policy", &self.policy.name())
            .field("in_session", &self.in_session)
            .field("shorten", &self.shorten)
            .finish_non_exhaustive()
    }
}

impl Trimmer for PolicyTrimmer {
    fn begin<'t>(&'t self, task: AgentTask<'t>) -> Result<Box<dyn RunTrimmer + 't>, SelectorError> {
        // Runs are what the threads share out; a request is counted by one.
        let counter = RememberingCounter::new(self.counter.clone());
        let mut builder = Engine::builder()
            .named_policy(self.policy.clone())
            .counter(Arc::new(counter))
            .format(Format::OpenAiChat);
        if let Some(shorten) = self.shorten {
            builder = builder.shorten(shorten);
        }
        let engine = builder.build()?;
        Ok(if self.in_session {
            let sessions = task.max_tokens.iter().map(|tokens| (*tokens, engine.session()));
            Box::new(SessionRun { task, sessions: sessions.collect() })
        } else {
            Box::new(PolicyRun { task, engine })
        })
    }
}

struct PolicyRun<'t> {
    task: AgentTask<'t>,
    engine: Engine,
}

impl RunTrimmer for PolicyRun<'_> {
    fn windows(&mut self, step: &AgentStep) -> Result<Vec<Option<Window>>, SelectorError> {
        let text: Arc<str> = self.task.run.request(step).into();
        let options = Options::new();
        let windows = self.engine.windows(text.clone(), self.task.max_tokens, &options)?.windows;
        let window = |(window, max_tokens): (cupel_engine::Window, &i64)| {
            if window.fits {
                let written = Window::of_rewritten(window.kept_messages, &window.rewritten);
                return written.map(Some);
            }
            // What must be kept goes in shorter where it does not fit otherwise.
            match self.engine.select_with(text.clone(), &Options::new().max_tokens(*max_tokens)) {
                Ok(selection) => {
                    Window::of_rewritten(selection.kept_messages, &selection.rewritten).map(Some)
                }
                Err(error) if error.is_refusal() => Ok(None),
                Err(error) => Err(error.into()),
            }
        };
        windows.into_iter().zip(self.task.max_tokens).map(window).collect()
    }
}

/// A session for each budget.
struct SessionRun<'t> {
    task: AgentTask<'t>,
    sessions: Vec<(i64, Session)>,
}

impl RunTrimmer for SessionRun<'_> {
    fn windows(&mut self, step: &AgentStep) -> Result<Vec<Option<Window>>, SelectorError> {
        let text: Arc<str> = self.task.run.request(step).into();
        let window = |(max_tokens, session): &mut (i64, Session)| {
            let options = Options::new().max_tokens(*max_tokens);
            match session.next_with(text.clone(), &options, None) {
                Ok(step) => {
                    session.accept();
                    Ok(Some(step))
                }
                Err(error) if error.is_refusal() => Ok(None),
                Err(error) => Err(error),
            }
        };
        let steps: Result<Vec<_>, EngineError> = self.sessions.iter_mut().map(window).collect();
        let written = |step: Option<Step>| {
            let step = step.map(|step| Window::of_rewritten(step.kept_messages, &step.rewritten));
            step.transpose()
        };
        steps?.into_iter().map(written).collect()
    }
}
