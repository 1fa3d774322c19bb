//! The wire form: how values are written and read.
//!
//! Writing is derived where the form is that of the fields. Reading always takes two steps: the
//! input becomes a [`Value`], whatever the format, and the value becomes the type through the same
//! checks as its constructor. That way every error names the path to the field, unknown fields are
//! found, and both spellings of a name are understood.

mod diagnostics;
pub(crate) mod float;
mod item_fields;
mod model;
pub(crate) mod problem;
mod read;
mod value;

use std::collections::{BTreeMap, HashMap};

use serde::{Serialize, Serializer};

pub(crate) use problem::Problem;
pub(crate) use read::{Fields, Read};
pub(crate) use value::Value;

/// Writes a map in the order of its keys, so that equal maps give equal bytes.
pub(crate) fn sorted_map<K, V, S>(map: &HashMap<K, V>, serializer: S) -> Result<S::Ok, S::Error>
where
    K: ToString,
    V: Serialize,
    S: Serializer,
{
    let sorted: BTreeMap<String, &V> =
        map.iter().map(|(key, value)| (key.to_string(), value)).collect();
    sorted.serialize(serializer)
}

/// Implements `Deserialize` for types that [`Read`] themselves.
macro_rules! deserialize {
    ($($type:ty),* $(,)?) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = <$crate::wire::Value<'de> as serde::Deserialize>::deserialize(deserializer)?;
                $crate::wire::Read::read(value).map_err(serde::de::Error::custom)
            }
        }
    )*};
}
pub(crate) use deserialize;
