//! Placers as data.

use serde::{Serialize, Serializer};

use super::table::{self, strategies};
use crate::wire::{Problem, Read, Value};
use crate::{ChronologicalPlacer, Placer, UShapedPlacer};

/// A placer as data: `"chronological"` or `"u-shaped"`.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "kebab-case"))]
pub enum PlacerDescription {
    /// [`ChronologicalPlacer`].
    Chronological,
    /// [`UShapedPlacer`].
    UShaped,
}

strategies! {
    PlacerDescription;
    Chronological = "chronological": |_| Ok(Self::Chronological),
    UShaped = "u-shaped": |_| Ok(Self::UShaped),
}

impl PlacerDescription {
    pub(super) fn build(self) -> Box<dyn Placer> {
        match self {
            Self::Chronological => Box::new(ChronologicalPlacer),
            Self::UShaped => Box::new(UShapedPlacer),
        }
    }
}

impl Serialize for PlacerDescription {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Read for PlacerDescription {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        table::read("placer", Self::TABLE, value)
    }
}
