//! The runs of agents: at every step the request so far is trimmed anew, and judged by what the next
//! call needed of it.
//!
//! The format is one JSON object a line, one line a run; `examples/eval/README.md` has all fields.

mod baselines;
mod compare;
mod cost;
mod evaluate;
mod judge;
mod message;
#[cfg(feature = "engine")]
mod policy;
mod run;
mod summary;
mod trimmer;
mod windows;

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

pub use compare::compare_agents;
pub use cost::{Cost, PriceRule};
pub use evaluate::{AgentEvaluation, AgentEvaluator, JudgedWindow};
pub use judge::{StepMeasures, stands_apart};
pub use message::AgentMessage;
#[cfg(feature = "engine")]
pub use policy::PolicyTrimmer;
pub use run::{AgentRun, AgentStep};
pub use summary::{AgentRow, AgentSummary, summarize_agents};
pub use trimmer::{AgentMethod, AgentTask, RunTrimmer, Trimmer, Window};
pub use windows::{RecordedWindows, write_windows};

use crate::error::{DataError, Problem};
use crate::lines::JsonLines;

/// Runs of agents, from one file or several.
///
/// # Example
///
/// ```
/// use cupel_eval::AgentRuns;
///
/// let line = r#"{"run": "desk-1", "set": "desk", "messages": [
///     {"role": "system", "content": "You help."},
///     {"role": "user", "content": "Where is parcel PX-7?"}],
///     "steps": [{"at": 2, "values": ["PX-7"]}]}"#;
/// let runs = AgentRuns::read("desk.jsonl", line.replace('\n', "").as_bytes())?;
/// assert_eq!(runs.runs()[0].steps()[0].values(), ["PX-7"]);
/// # Ok::<(), cupel_eval::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AgentRuns {
    runs: Vec<AgentRun>,
}

impl AgentRuns {
    /// Reads files, plain or gzip.
    ///
    /// # Errors
    ///
    /// Whatever is wrong first, by file, line and path: a file that cannot be read, a line that is
    /// not JSON or breaks a rule of the format, a run's name that is there twice, no step at all.
    pub fn read_files<P: AsRef<Path>>(paths: &[P]) -> Result<Self, DataError> {
        let mut runs = Self { runs: Vec::new() };
        let mut names = HashSet::new();
        for path in paths {
            runs.take(JsonLines::open(path.as_ref())?, &mut names)?;
        }
        Ok(runs)
    }

    /// Reads whatever can be read, plain or gzip. Errors call it by the name.
    ///
    /// # Errors
    ///
    /// As [`read_files`](Self::read_files).
    pub fn read(name: &str, source: impl Read) -> Result<Self, DataError> {
        let mut runs = Self { runs: Vec::new() };
        runs.take(JsonLines::new(name, source)?, &mut HashSet::new())?;
        Ok(runs)
    }

    /// The runs, in the order of the files.
    pub fn runs(&self) -> &[AgentRun] {
        &self.runs
    }

    /// Number of steps there are in all runs.
    pub fn step_count(&self) -> usize {
        self.runs.iter().map(|run| run.steps().len()).sum()
    }

    /// The names of the sets, each once, in the order of the files.
    pub fn sets(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.runs.iter().map(AgentRun::set).filter(|set| seen.insert(*set)).collect()
    }

    fn take(
        &mut self,
        mut lines: JsonLines<'_>,
        names: &mut HashSet<String>,
    ) -> Result<(), DataError> {
        let before = self.step_count();
        while let Some(value) = lines.next() {
            let run = AgentRun::read(value?).map_err(|problem| lines.blame(problem))?;
            if !names.insert(run.name().to_owned()) {
                let rule = format!("`{}` is there twice; give each run its own name", run.name());
                return Err(lines.blame(Problem::at("run", rule)));
            }
            self.runs.push(run);
        }
        if self.step_count() == before {
            let rule = "has no run with a step, so there is nothing to measure";
            return Err(DataError::in_file(lines.name(), rule));
        }
        Ok(())
    }
}
