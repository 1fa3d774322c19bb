//! The strategies of each sort, as one table from which names, reading and schema follow.

use cupel_names::UnknownName;

use crate::wire::{Fields, Problem, Value};

/// A strategy by name.
pub(super) struct Strategy<T> {
    pub(super) name: &'static str,
    /// Reads its options.
    pub(super) read: fn(&mut Fields<'_>) -> Result<T, Problem>,
}

/// The table of a description's variants: `Variant = "name": how its options are read`.
///
/// Makes `TABLE`, `names` and `name` of it. A variant that is not in the table does not compile;
/// `tests/it/schema.rs` finds one whose name is not that under which it is written.
macro_rules! strategies {
    (
        $type:ident $(, else $custom:ident)?;
        $($variant:ident = $name:literal: $read:expr,)*
    ) => {
        impl $type {
            pub(in crate::policy::description) const TABLE:
                &'static [$crate::policy::description::table::Strategy<Self>] =
                &[$($crate::policy::description::table::Strategy { name: $name, read: $read },)*];

            /// The names of the built-in ones.
            #[must_use]
            pub fn names() -> Vec<&'static str> {
                Self::TABLE.iter().map(|strategy| strategy.name).collect()
            }

            /// Its name.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant { .. } => $name,)*
                    $(Self::$custom(custom) => custom.name(),)?
                }
            }
        }
    };
}
pub(super) use strategies;

/// The strategy of this name.
pub(super) fn find<T>(table: &'static [Strategy<T>], name: &str) -> Option<&'static Strategy<T>> {
    table.iter().find(|strategy| strategy.name == name)
}

/// Reads a strategy that must be in the table.
pub(super) fn read<T>(
    what: &str,
    table: &'static [Strategy<T>],
    value: Value<'_>,
) -> Result<T, Problem> {
    let (name, mut fields) = name_and_options(value)?;
    let Some(strategy) = find(table, &name) else {
        return Err(unknown(what, &name, table.iter().map(|strategy| strategy.name)));
    };
    let read = (strategy.read)(&mut fields)?;
    fields.deny_rest()?;
    Ok(read)
}

/// The names of those that need no options, and may be given by their name alone.
#[cfg(feature = "schema")]
pub(super) fn bare_names<T>(table: &'static [Strategy<T>]) -> Vec<&'static str> {
    let is_bare = |strategy: &&Strategy<T>| (strategy.read)(&mut Fields::none()).is_ok();
    table.iter().filter(is_bare).map(|strategy| strategy.name).collect()
}

/// The name of a strategy and its options: either a map with a `type`, or the name alone.
pub(super) fn name_and_options(value: Value<'_>) -> Result<(String, Fields<'_>), Problem> {
    let (name, fields) = match value {
        Value::Text(name) => (name.into_owned(), Fields::none()),
        value => {
            let mut fields = Fields::of(value)?;
            (fields.required("type")?, fields)
        }
    };
    Ok((name.replace('_', "-"), fields))
}

/// The error for a name that nobody knows.
pub(super) fn unknown<'n>(
    what: &'n str,
    name: &'n str,
    known: impl IntoIterator<Item = &'n str>,
) -> Problem {
    Problem::new(UnknownName::new(what, name, known).to_string()).in_field("type")
}
