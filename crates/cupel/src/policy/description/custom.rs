//! Strategies that are not built in, as data.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{ScorerDescription, SlicerDescription};
use crate::FieldValue;
use crate::wire::{Fields, Value};

/// A strategy that a [`StrategyProvider`](super::StrategyProvider) knows: its name, and its options as they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomStrategy {
    name: String,
    options: Vec<(String, FieldValue)>,
}

impl CustomStrategy {
    /// A strategy by name, without options. `_` is read as `-`.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.replace('_', "-"), options: Vec::new() }
    }

    /// With an option.
    #[must_use]
    pub fn with(mut self, option: impl Into<String>, value: impl Into<FieldValue>) -> Self {
        self.options.push((option.into(), value.into()));
        self
    }

    /// The name, in kebab case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The options, in their order.
    #[must_use]
    pub fn options(&self) -> &[(String, FieldValue)] {
        &self.options
    }

    pub(super) fn read(name: &str, fields: &mut Fields<'_>) -> Self {
        let rest = fields.take_rest().into_iter();
        Self {
            name: name.to_owned(),
            options: rest.map(|(key, value)| (key.into_owned(), value.into())).collect(),
        }
    }

    pub(super) fn fields(&self) -> Fields<'_> {
        let options = self.options.iter().map(|(key, value)| (key.into(), value.into()));
        Fields::from(options.collect::<Vec<_>>())
    }
}

impl Serialize for CustomStrategy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.options.len() + 1))?;
        map.serialize_entry("type", &self.name)?;
        for (option, value) in &self.options {
            map.serialize_entry(option, value)?;
        }
        map.end()
    }
}

impl From<CustomStrategy> for ScorerDescription {
    fn from(custom: CustomStrategy) -> Self {
        Self::Custom(custom)
    }
}

impl From<CustomStrategy> for SlicerDescription {
    fn from(custom: CustomStrategy) -> Self {
        Self::Custom(custom)
    }
}

impl From<CustomStrategy> for FieldValue {
    /// As the value of an option of another strategy.
    fn from(custom: CustomStrategy) -> Self {
        let name = ("type".to_owned(), Self::Text(custom.name));
        Self::Map(std::iter::once(name).chain(custom.options).collect())
    }
}

/// Borrows the texts of a value that was read before.
impl<'a> From<&'a FieldValue> for Value<'a> {
    fn from(value: &'a FieldValue) -> Self {
        match value {
            FieldValue::Null => Self::Null,
            FieldValue::Bool(value) => Self::Bool(*value),
            FieldValue::Integer(value) => Self::Integer(*value),
            FieldValue::Unsigned(value) => Self::Unsigned(*value),
            FieldValue::Float(value) => Self::Float(*value),
            FieldValue::Text(value) => Self::Text(value.into()),
            FieldValue::List(list) => Self::List(list.iter().map(Self::from).collect()),
            FieldValue::Map(map) => {
                Self::Map(map.iter().map(|(key, value)| (key.into(), value.into())).collect())
            }
        }
    }
}
