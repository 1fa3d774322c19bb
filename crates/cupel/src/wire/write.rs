//! From fields to the entries of a map.

use serde::ser::SerializeMap;

use super::float::Number;

/// A value that is an entry of a map.
pub(crate) trait WriteEntry {
    fn write_entry<M: SerializeMap>(&self, name: &str, map: &mut M) -> Result<(), M::Error>;
}

macro_rules! as_it_is {
    ($($type:ty),*) => {$(
        impl WriteEntry for $type {
            fn write_entry<M: SerializeMap>(&self, name: &str, map: &mut M) -> Result<(), M::Error> {
                map.serialize_entry(name, self)
            }
        }
    )*};
}

as_it_is!(i64, usize, String);

/// Also what is not finite.
impl WriteEntry for f64 {
    fn write_entry<M: SerializeMap>(&self, name: &str, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry(name, &Number(*self))
    }
}
