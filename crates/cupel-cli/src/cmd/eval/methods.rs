//! What is measured: policies, baselines, and what other programs selected.

use std::path::PathBuf;

use cupel::policy::BuiltIn;
use cupel::{ContextItem, FixedClock, Pipeline};
use cupel_eval::{Baseline, DataSet, Method, PolicySelector, RecordedSelections, SelectError};

use crate::error::Failure;
use crate::output;
use crate::policy::{self, NamedPolicy};
use crate::render::number::counted;

/// The policies, each known to be valid.
pub(super) fn policies(names: &[String]) -> Result<Vec<NamedPolicy>, Failure> {
    names.iter().map(|name| policy::load(name)).collect()
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
    policies: &'m [NamedPolicy],
    baselines: &[Baseline],
    selections: Vec<(String, RecordedSelections<'m>)>,
) -> Result<Vec<Method<'m>>, Failure> {
    let mut methods: Vec<Method<'m>> = policies.iter().map(by_policy).collect();
    methods.extend(baselines.iter().map(|baseline| Method::new(baseline.name(), *baseline)));
    methods.extend(selections.into_iter().map(|(name, read)| Method::new(name, read)));
    refuse_equal_names(&methods)?;
    Ok(methods)
}

fn by_policy(named: &NamedPolicy) -> Method<'_> {
    let selector = PolicySelector::new(|query, items| pipeline(named, query, items));
    Method::new(&named.name, selector)
}

/// The pipeline for one question.
fn pipeline(
    named: &NamedPolicy,
    _query: &str,
    candidates: &[ContextItem],
) -> Result<Pipeline, SelectError> {
    Ok(Pipeline::from(named.description.build_with(&BuiltIn, clock(candidates))?))
}

/// A question is asked when the newest candidate is there. Without time stamps no age matters.
fn clock(candidates: &[ContextItem]) -> FixedClock {
    let newest = candidates.iter().filter_map(ContextItem::timestamp).max();
    FixedClock(newest.unwrap_or_default())
}

/// Rows of a table need names that tell them apart.
fn refuse_equal_names(methods: &[Method<'_>]) -> Result<(), Failure> {
    let is_second = |at: &usize| {
        methods[..*at].iter().any(|earlier| earlier.name() == methods[*at].name())
    };
    match (0..methods.len()).find(is_second) {
        None => Ok(()),
        Some(at) => {
            let name = methods[at].name();
            Err(Failure::cannot(format!("method `{name}` is named twice; name each once")))
        }
    }
}
