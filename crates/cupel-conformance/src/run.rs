//! Asks an implementation for every vector and reports all failures at once.

use std::fmt;

use crate::check::{Mismatch, check};
use crate::implementation::{Implementation, Refusal, ask};
use crate::load::{Level, VectorFile};
use crate::vector::{Expected, Vector};

/// Options of a run: the vectors, and how they are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Unknown fields and broken rules of this suite are failures.
    pub strict: bool,
    /// Only vectors whose name contains one of these; all of them if empty.
    pub filters: Vec<String>,
    /// Vectors that are not run.
    pub skips: Vec<Skip>,
    /// A vector that is not run, for whatever reason, is a failure of the whole.
    pub no_skips: bool,
}

/// A vector that is not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Result of one vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Name of the vector.
    pub name: String,
    /// The fact that it states.
    pub title: String,
    /// Its level.
    pub level: Level,
    /// The verdict.
    pub verdict: Verdict,
    /// Remarks that change nothing, such as fields that were ignored.
    pub notes: Vec<String>,
}

/// Verdict on one vector.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Everything is as expected.
    Passed,
    /// Something is not.
    Failed(Vec<Mismatch>),
    /// It was not run, for this reason.
    Skipped(String),
}

/// Results of all vectors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// One per vector that the filters let through.
    pub outcomes: Vec<Outcome>,
    /// Problems of the run as a whole: skips that name no vector, filters that match none, vectors that
    /// were not run where all must be.
    pub problems: Vec<String>,
}

/// Runs all vectors.
///
/// The summary displays as a report whose last line is `N passed, N failed, N skipped`.
pub fn run<I: Implementation + ?Sized>(
    files: &[VectorFile],
    implementation: &mut I,
    options: &Options,
) -> Summary {
    let mut summary = Summary { problems: unknown_skips(files, options), ..Summary::default() };
    for file in files.iter().filter(|file| options.wants(file)) {
        let skip = options.skips.iter().find(|skip| skip.name == file.name);
        summary.outcomes.push(match skip {
            Some(skip) => outcome(file, Verdict::Skipped(skip.reason.clone())),
            None => run_one(file, implementation, options.strict),
        });
    }
    if summary.outcomes.is_empty() {
        summary.problems.push("no vector was run".to_owned());
    }
    if options.no_skips {
        summary.forbid_skips();
    }
    summary
}

fn unknown_skips(files: &[VectorFile], options: &Options) -> Vec<String> {
    let unknown =
        options.skips.iter().filter(|skip| !files.iter().any(|file| file.name == skip.name));
    unknown
        .map(|skip| format!("the skip list names `{}`, which does not exist", skip.name))
        .collect()
}

impl Options {
    /// Returns true if the filters let a vector through.
    pub fn wants(&self, file: &VectorFile) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| file.name.contains(filter))
    }
}

/// Runs one vector.
pub fn run_one<I: Implementation + ?Sized>(
    file: &VectorFile,
    implementation: &mut I,
    strict: bool,
) -> Outcome {
    let vector = match Vector::parse(&file.text) {
        Ok(vector) => vector,
        Err(error) => return outcome(file, Verdict::Failed(vec![Mismatch::note(error)])),
    };
    let mut outcome = outcome(file, Verdict::Passed);
    outcome.title.clone_from(&vector.title);
    let complaints = if strict { complaints(&vector) } else { Vec::new() };
    if !strict {
        outcome.notes =
            vector.unknown_fields.iter().map(|field| format!("`{field}` is ignored")).collect();
    }
    outcome.verdict = if complaints.is_empty() {
        judge(&vector, ask(implementation, &vector.task))
    } else {
        Verdict::Failed(complaints)
    };
    outcome
}

fn outcome(file: &VectorFile, verdict: Verdict) -> Outcome {
    Outcome {
        name: file.name.clone(),
        title: String::new(),
        level: file.level,
        verdict,
        notes: Vec::new(),
    }
}

fn complaints(vector: &Vector) -> Vec<Mismatch> {
    let unknown = vector.unknown_fields.iter().map(|field| {
        Mismatch::note(format_args!("`{field}` does not exist, or does not belong here"))
    });
    unknown.chain(vector.broken_rules.iter().map(Mismatch::note)).collect()
}

fn judge(vector: &Vector, answer: Result<crate::protocol::Answer, Refusal>) -> Verdict {
    let mismatches = match answer {
        Err(Refusal::Unsupported(reason)) => return Verdict::Skipped(reason),
        Err(Refusal::Broken(text)) => vec![Mismatch::note(text)],
        Err(Refusal::Error(error)) => match &vector.expected {
            Expected::Error(expected) => crate::check::check_error(expected, &error),
            _ => vec![Mismatch::new("outcome", "no error", Refusal::Error(error))],
        },
        Ok(answer) => check(vector, &answer),
    };
    if mismatches.is_empty() { Verdict::Passed } else { Verdict::Failed(mismatches) }
}

impl Summary {
    /// Returns true if something ran and nothing failed.
    pub fn is_success(&self) -> bool {
        self.problems.is_empty() && self.failed() == 0
    }

    /// Makes vectors that were not run a failure of the whole: a suite that was skipped proves nothing.
    pub fn forbid_skips(&mut self) {
        let skipped = self.skipped();
        if skipped > 0 {
            let total = self.outcomes.len();
            self.problems.push(format!("{skipped} of {total} were skipped, and none may be"));
        }
    }

    /// Number of vectors that passed.
    pub fn passed(&self) -> usize {
        self.count(None, |verdict| *verdict == Verdict::Passed)
    }

    /// Number of vectors that failed.
    pub fn failed(&self) -> usize {
        self.count(None, |verdict| matches!(verdict, Verdict::Failed(_)))
    }

    /// Number of vectors that were not run.
    pub fn skipped(&self) -> usize {
        self.count(None, |verdict| matches!(verdict, Verdict::Skipped(_)))
    }

    fn count(&self, level: Option<Level>, is_counted: impl Fn(&Verdict) -> bool) -> usize {
        let counted = self.outcomes.iter().filter(|outcome| {
            level.is_none_or(|level| outcome.level == level) && is_counted(&outcome.verdict)
        });
        counted.count()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            Verdict::Passed => writeln!(f, "ok   {}", self.name)?,
            Verdict::Skipped(reason) => writeln!(f, "skip {}: {reason}", self.name)?,
            Verdict::Failed(mismatches) => {
                writeln!(f, "FAIL {}", self.name)?;
                if !self.title.is_empty() {
                    writeln!(f, "     {}", self.title)?;
                }
                for mismatch in mismatches {
                    write!(f, "{mismatch}")?;
                }
            }
        }
        for note in &self.notes {
            writeln!(f, "     note: {note}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for outcome in &self.outcomes {
            if outcome.verdict != Verdict::Passed || !outcome.notes.is_empty() {
                write!(f, "{outcome}")?;
            }
        }
        for problem in &self.problems {
            writeln!(f, "FAIL {problem}")?;
        }
        for level in [Level::Required, Level::Optional] {
            let total = self.count(Some(level), |_| true);
            let passed = self.count(Some(level), |verdict| *verdict == Verdict::Passed);
            if total > 0 {
                writeln!(f, "{level}: {passed} of {total} passed")?;
            }
        }
        let (passed, failed, skipped) = (self.passed(), self.failed(), self.skipped());
        writeln!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}
