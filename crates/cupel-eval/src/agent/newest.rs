//! The newest messages until one does not fit.

use super::run::AgentStep;
use super::trimmer::{AgentTask, RunTrimmer, Trimmer, Window};
use crate::baseline::Baseline;
use crate::selector::SelectorError;

impl Trimmer for Baseline {
    /// `newest` keeps the head and the newest messages until one does not fit, whatever the provider
    /// says to that. The others need candidates whose evidence is known.
    fn begin<'t>(&'t self, task: AgentTask<'t>) -> Result<Box<dyn RunTrimmer + 't>, SelectorError> {
        match self {
            Self::Newest => Ok(Box::new(Newest(task))),
            other => Err(format!(
                "the baseline `{}` needs pools with queries; for runs of agents there is `newest`",
                other.name()
            )
            .into()),
        }
    }
}

struct Newest<'t>(AgentTask<'t>);

impl RunTrimmer for Newest<'_> {
    fn windows(&mut self, step: &AgentStep) -> Result<Vec<Option<Window>>, SelectorError> {
        let window = |room: &i64| {
            let (head, at) = (self.0.run.head(), step.at());
            let mut left = *room;
            let sizes = self.0.message_tokens[head..at].iter().rev();
            let fitting = sizes.take_while(|tokens| {
                left -= **tokens;
                left >= 0
            });
            let first = at - fitting.count();
            (first < at || at == head).then(|| Window::of_kept((0..head).chain(first..at)))
        };
        Ok(self.0.budgets.iter().map(window).collect())
    }
}
