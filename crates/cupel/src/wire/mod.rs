//! The wire form: how values are written and read.
//!
//! Everything here implements `Serialize` and `Deserialize`. [`read()`] is the same as deserializing, but
//! keeps apart what is wrong with the format and what is wrong with a value, and says of the latter
//! where it is.
//!
//! Writing is derived where the form is that of the fields. Reading always takes two steps: the
//! input becomes a `Value`, whatever the format, and the value becomes the type through the same
//! checks as its constructor. That way every error names the path to the field, unknown fields are
//! found, and both spellings of a name are understood.

mod diagnostics;
mod entry;
pub(crate) mod float;
mod item_fields;
mod model;
mod read;
mod value;
mod write;

use std::collections::{BTreeMap, HashMap};

use serde::{Serialize, Serializer};

pub use entry::{ReadError, WireType, read};

pub(crate) use crate::problem::Problem;
pub(crate) use read::{Fields, Read};
pub(crate) use value::Value;
pub(crate) use write::WriteEntry;

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
                $crate::wire::read(deserializer).map_err($crate::wire::ReadError::into_format)
            }
        }
    )*};
}
pub(crate) use deserialize;
