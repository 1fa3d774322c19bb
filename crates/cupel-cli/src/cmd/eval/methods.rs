//! Methods that are measured: policies, and the names that methods go by.

use cupel_engine::{CompiledPolicy, NamedPolicy};
use cupel_names::UnknownName;

use crate::error::Failure;
use crate::output;
use crate::policy;
use crate::render::number::counted;

/// A policy, built once for all questions.
pub(super) struct MeasuredPolicy {
    pub(super) name: String,
    pub(super) policy: NamedPolicy,
    pub(super) compiled: CompiledPolicy,
}

/// The policies, each known to be valid.
pub(super) fn policies(names: &[String]) -> Result<Vec<MeasuredPolicy>, Failure> {
    let load = |name: &String| {
        let policy = policy::load(name)?;
        let compiled =
            policy.compile().map_err(|error| Failure::cannot(error.to_string()))?;
        Ok(MeasuredPolicy { name: name.clone(), policy, compiled })
    };
    names.iter().map(load).collect()
}

/// Tells of lines of a file that were for something else.
pub(super) fn tell_skipped(file: &str, skipped: usize, what: &str) {
    if skipped > 0 {
        let lines = counted(skipped, "line");
        output::say(&format!("{file}: passed over {lines} for {what} that are not in the data"));
    }
}

/// Rows of a table need names that tell them apart.
pub(super) fn refuse_equal_names(names: &[&str]) -> Result<(), Failure> {
    let is_second = |at: &usize| names[..*at].contains(&names[*at]);
    match (0..names.len()).find(is_second) {
        None => Ok(()),
        Some(at) => {
            let name = names[at];
            Err(Failure::cannot(format!("method `{name}` is named twice; name each once")))
        }
    }
}

/// The position of the method that the others are compared with.
pub(super) fn reference(named: Option<&str>, names: &[&str]) -> Result<usize, Failure> {
    let Some(name) = named else { return Ok(0) };
    names.iter().position(|known| *known == name).ok_or_else(|| {
        let hint = UnknownName::new("method", name, names.iter().copied()).hint();
        Failure::cannot(format!("--reference: no method is called `{name}`; {hint}"))
    })
}
