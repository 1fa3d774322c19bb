//! What is measured: policies, baselines, and what other programs selected.

use std::path::PathBuf;

use cupel::{ContextItem, CupelError, FixedClock, Pipeline};
use cupel_engine::NamedPolicy;
use cupel_eval::{Baseline, DataSet, Method, PolicySelector, RecordedSelections};
use cupel_relevance::Strategies;

use crate::error::Failure;
use crate::output;
use crate::policy;
use crate::render::number::counted;

/// A policy that is built anew for each question.
pub(super) struct MeasuredPolicy {
    name: String,
    policy: NamedPolicy,
    /// Holds what was found out about texts, so that the next question need not do it again.
    strategies: Strategies,
}

/// The policies, each known to be valid.
pub(super) fn policies(names: &[String]) -> Result<Vec<MeasuredPolicy>, Failure> {
    let load = |name: &String| {
        let policy = policy::load(name)?;
        let measured =
            MeasuredPolicy { name: name.clone(), policy, strategies: Strategies::new("") };
        let built = measured.pipeline("", &[]);
        built.map_err(|error| Failure::cannot(format!("{name}: {error}")))?;
        Ok(measured)
    };
    names.iter().map(load).collect()
}

impl MeasuredPolicy {
    /// The pipeline for one question.
    fn pipeline(&self, query: &str, items: &[ContextItem]) -> Result<Pipeline, CupelError> {
        let strategies = self.strategies.ask(query);
        Ok(Pipeline::from(self.policy.description().build_with(&strategies, clock(items))?))
    }

    fn method(&self) -> Method<'_> {
        let selector = PolicySelector::new(|query, items| Ok(self.pipeline(query, items)?));
        Method::new(&self.name, selector)
    }
}

/// The selections of each file, with its name.
pub(super) fn selections<'d>(
    files: &[PathBuf],
    data: &'d DataSet,
) -> Result<Vec<(String, RecordedSelections<'d>)>, Failure> {
    let read = |path: &PathBuf| {
        let name = path.display().to_string();
        let selections = RecordedSelections::read_file(path, data).map_err(Failure::cannot)?;
        if selections.skipped() > 0 {
            let lines = counted(selections.skipped(), "line");
            output::say(&format!("{name}: passed over {lines} for pools that are not in the data"));
        }
        Ok((name, selections))
    };
    files.iter().map(read).collect()
}

/// All methods: policies, then baselines, then selections.
pub(super) fn all<'m>(
    policies: &'m [MeasuredPolicy],
    baselines: &[Baseline],
    selections: Vec<(String, RecordedSelections<'m>)>,
) -> Result<Vec<Method<'m>>, Failure> {
    let mut methods: Vec<Method<'m>> = policies.iter().map(MeasuredPolicy::method).collect();
    methods.extend(baselines.iter().map(|baseline| Method::new(baseline.name(), *baseline)));
    methods.extend(selections.into_iter().map(|(name, read)| Method::new(name, read)));
    refuse_equal_names(&methods)?;
    Ok(methods)
}

/// A question is asked when the newest candidate is there. Without time stamps no age matters.
fn clock(items: &[ContextItem]) -> FixedClock {
    let newest = items.iter().filter_map(ContextItem::timestamp).max();
    FixedClock(newest.unwrap_or_default())
}

/// Rows of a table need names that tell them apart.
fn refuse_equal_names(methods: &[Method<'_>]) -> Result<(), Failure> {
    let is_second =
        |at: &usize| methods[..*at].iter().any(|earlier| earlier.name() == methods[*at].name());
    match (0..methods.len()).find(is_second) {
        None => Ok(()),
        Some(at) => {
            let name = methods[at].name();
            Err(Failure::cannot(format!("method `{name}` is named twice; name each once")))
        }
    }
}
