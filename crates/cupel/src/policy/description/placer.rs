//! Placers as data.

use serde::{Serialize, Serializer};

use super::read;
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

impl PlacerDescription {
    const ALL: [Self; 2] = [Self::Chronological, Self::UShaped];

    fn name(self) -> &'static str {
        match self {
            Self::Chronological => "chronological",
            Self::UShaped => "u-shaped",
        }
    }

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
        let (name, fields) = read::strategy(value)?;
        fields.deny_rest()?;
        let known = Self::ALL.map(Self::name);
        let placer = Self::ALL.into_iter().find(|placer| placer.name() == name);
        placer.ok_or_else(|| read::unknown("placer", &name, &known))
    }
}
