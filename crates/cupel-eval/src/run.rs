//! Asks every method every query at every budget.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::budgets::Budgets;
use crate::data::{Case, DataSet};
use crate::error::RunError;
use crate::measure::{Measures, measure};
use crate::parallel::{available_threads, try_map};
use crate::selector::Method;

/// Selection for a query at a budget, and its quality.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// Indices of the pool's items; `None` if the method had no selection.
    pub selected: Option<Vec<usize>>,
    /// Quality of the selection.
    pub measures: Measures,
}

/// Asks every method every query at every budget.
///
/// # Example
///
/// ```
/// use cupel_eval::{Baseline, Budgets, DataSet, Evaluator, Method, ReadOptions, summarize};
///
/// let line = r#"{"pool": "talk/1",
///     "items": [{"content": "Ann: the key is under the mat", "tokens": 9},
///               {"content": "Bob: nice weather", "tokens": 5}],
///     "queries": [{"id": "q1", "query": "Where is the key?", "evidence": [0]}]}"#.replace('\n', "");
/// let data = DataSet::read("talk.jsonl", line.as_bytes(), &ReadOptions::default())?;
///
/// let methods = [Baseline::Newest, Baseline::Oracle].map(|b| Method::new(b.name(), b));
/// let evaluation = Evaluator::new(Budgets::new([9])?).run(&data, &methods)?;
/// let summary = summarize(&evaluation);
/// let recall: Vec<f64> = summary.rows.iter().map(|row| row.recall.mean).collect();
/// assert_eq!(recall, [0.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Evaluator {
    budgets: Budgets,
    threads: NonZeroUsize,
}

impl Evaluator {
    /// Measures at these budgets, on all cores.
    pub fn new(budgets: Budgets) -> Self {
        Self { budgets, threads: available_threads() }
    }

    /// On so many threads. It changes how long it takes, and nothing else.
    #[must_use]
    pub fn threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, ..self }
    }

    /// Asks every method every query.
    ///
    /// # Errors
    ///
    /// The first that a method says it cannot answer, by method and then by query.
    pub fn run<'d>(
        &self,
        data: &'d DataSet,
        methods: &[Method<'_>],
    ) -> Result<Evaluation<'d>, RunError> {
        self.run_with_progress(data, methods, |_| ())
    }

    /// As [`run`](Self::run), and calls back with the number of answered queries after each one, from
    /// any of the threads. There are as many as queries times methods.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_with_progress<'d>(
        &self,
        data: &'d DataSet,
        methods: &[Method<'_>],
        on_answer: impl Fn(usize) + Sync,
    ) -> Result<Evaluation<'d>, RunError> {
        let cases: Vec<Case<'d>> = data.cases().collect();
        let answered = AtomicUsize::new(0);
        let jobs = cases.len() * methods.len();
        let results = try_map(self.threads, jobs, |job| {
            let answers = self.ask(&methods[job / cases.len()], cases[job % cases.len()])?;
            on_answer(answered.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(answers)
        })?;
        Ok(Evaluation {
            data,
            answers: results.into_iter().flatten().collect(),
            budgets: self.budgets.clone(),
            methods: methods.iter().map(|method| method.name().to_owned()).collect(),
            cases,
        })
    }

    /// One answer for each budget.
    fn ask(&self, method: &Method<'_>, case: Case<'_>) -> Result<Vec<Answer>, RunError> {
        let budgets = self.budgets.tokens();
        let selections = method.selector().select(case, budgets).map_err(|source| RunError {
            method: method.name().to_owned(),
            pool: case.pool.name().to_owned(),
            query: case.query.id().to_owned(),
            source,
        })?;
        let selections = selections.into_iter().chain(std::iter::repeat(None));
        let answers = budgets.iter().zip(selections).map(|(tokens, selected)| Answer {
            measures: measure(case, *tokens, selected.as_deref()),
            selected,
        });
        Ok(answers.collect())
    }
}

/// The answers of every method to every query at every budget.
#[derive(Debug, Clone)]
pub struct Evaluation<'d> {
    data: &'d DataSet,
    cases: Vec<Case<'d>>,
    budgets: Budgets,
    methods: Vec<String>,
    /// By method, then by case, then by budget.
    answers: Vec<Answer>,
}

impl<'d> Evaluation<'d> {
    /// Data that was asked about.
    pub fn data(&self) -> &'d DataSet {
        self.data
    }

    /// Every query with its pool, in the order of the data.
    pub fn cases(&self) -> &[Case<'d>] {
        &self.cases
    }

    /// The budgets, rising.
    pub fn budgets(&self) -> &Budgets {
        &self.budgets
    }

    /// The names of the methods, in the order in which they were given.
    pub fn methods(&self) -> &[String] {
        &self.methods
    }

    /// Answers of a method to a case, both by position: one answer for each budget, or none if
    /// there is no such method or case.
    pub fn answers(&self, method: usize, case: usize) -> &[Answer] {
        if method >= self.methods.len() || case >= self.cases.len() {
            return &[];
        }
        let budgets = self.budgets.tokens().len();
        let start = (method * self.cases.len() + case) * budgets;
        &self.answers[start..start + budgets]
    }
}
