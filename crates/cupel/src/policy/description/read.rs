//! What the descriptions of all strategies have in common.

use crate::policy::nearest;
use crate::wire::{Fields, Problem, Value};

/// The name of a strategy and its options: either a map with a `type`, or the name alone.
pub(super) fn strategy(value: Value<'_>) -> Result<(String, Fields<'_>), Problem> {
    let (name, fields) = match value {
        Value::Text(name) => (name.into_owned(), Fields::of(Value::Map(Vec::new()))?),
        value => {
            let mut fields = Fields::of(value)?;
            (fields.required("type")?, fields)
        }
    };
    Ok((name.replace('_', "-"), fields))
}

/// The error for a name that nobody knows.
pub(super) fn unknown(what: &str, name: &str, known: &[&str]) -> Problem {
    Problem::new(nearest::unknown(what, name, known)).in_field("type")
}
