//! Items, budgets, kinds and sources.

use std::collections::HashMap;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::float::Number;
use super::{Fields, Problem, Read, Value, deserialize, sorted_map};
use crate::slicer::QuotaEntry;
use crate::{
    ContextBudget, ContextItem, ContextItemBuilder, ContextKind, ContextSource, OverflowStrategy,
    Rendering, ScoredItem,
};

deserialize!(
    ContextItem,
    ContextBudget,
    ContextKind,
    ContextSource,
    Rendering,
    ScoredItem,
    QuotaEntry
);

macro_rules! bare_text {
    ($($type:ident),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl Read for $type {
            fn read(value: Value<'_>) -> Result<Self, Problem> {
                Ok(Self::new(String::read(value)?)?)
            }
        }
    )*};
}

bare_text!(ContextKind, ContextSource);

impl Read for OverflowStrategy {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let name = String::read(value)?;
        [Self::Throw, Self::Truncate, Self::Proceed]
            .into_iter()
            .find(|strategy| format!("{strategy:?}").eq_ignore_ascii_case(&name))
            .ok_or_else(|| {
                let text = format!("must be one of Throw, Truncate, Proceed, got \"{name}\"");
                Problem::new(text)
            })
    }
}

impl Serialize for ContextItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Metadata<'a>(&'a HashMap<String, String>);

        impl Serialize for Metadata<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                sorted_map(self.0, serializer)
            }
        }

        fn put<S: SerializeStruct, T: Serialize>(
            fields: &mut S,
            name: &'static str,
            value: Option<T>,
        ) -> Result<(), S::Error> {
            match value {
                Some(value) => fields.serialize_field(name, &value),
                None => fields.skip_field(name),
            }
        }

        let absent = usize::from(self.priority().is_none())
            + usize::from(self.timestamp().is_none())
            + usize::from(self.future_relevance_hint().is_none())
            + usize::from(self.original_tokens().is_none())
            + usize::from(self.renderings().is_empty())
            + usize::from(self.rendered_as().is_none());
        let mut fields = serializer.serialize_struct("ContextItem", 13 - absent)?;
        fields.serialize_field("content", self.content())?;
        fields.serialize_field("tokens", &self.tokens())?;
        fields.serialize_field("kind", self.kind())?;
        fields.serialize_field("source", self.source())?;
        put(&mut fields, "priority", self.priority())?;
        fields.serialize_field("tags", self.tags())?;
        fields.serialize_field("metadata", &Metadata(self.metadata()))?;
        put(&mut fields, "timestamp", self.timestamp())?;
        put(&mut fields, "future_relevance_hint", self.future_relevance_hint().map(Number))?;
        fields.serialize_field("pinned", &self.pinned())?;
        put(&mut fields, "original_tokens", self.original_tokens())?;
        let renderings = Some(self.renderings()).filter(|renderings| !renderings.is_empty());
        put(&mut fields, "renderings", renderings)?;
        put(&mut fields, "rendered_as", self.rendered_as())?;
        fields.end()
    }
}

impl Read for ContextItem {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        let content: String = fields.required("content")?;
        let mut item = ContextItemBuilder::new(content, fields.required("tokens")?)
            .kind(fields.or_default("kind")?)
            .source(fields.or_default("source")?)
            .tags(fields.or_default("tags")?)
            .metadata(fields.or_default::<Metadata>("metadata")?.0)
            .pinned(fields.or_default("pinned")?);
        if let Some(priority) = fields.optional("priority")? {
            item = item.priority(priority);
        }
        if let Some(timestamp) = fields.optional("timestamp")? {
            item = item.timestamp(timestamp);
        }
        if let Some(hint) = fields.optional("future_relevance_hint")? {
            item = item.future_relevance_hint(hint);
        }
        if let Some(tokens) = fields.optional("original_tokens")? {
            item = item.original_tokens(tokens);
        }
        item = item.renderings(fields.or_default("renderings")?);
        if let Some(name) = fields.optional::<String>("rendered_as")? {
            item = item.rendered_as(name);
        }
        fields.deny_rest()?;
        Ok(item.build()?)
    }
}

impl Serialize for Rendering {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let given = [("share", self.share()), ("only_above", self.least_share_of_budget())];
        let count = 3 + given.iter().filter(|(_, number)| number.is_some()).count();
        let mut fields = serializer.serialize_struct("Rendering", count)?;
        fields.serialize_field("name", self.name())?;
        fields.serialize_field("content", self.content())?;
        fields.serialize_field("tokens", &self.tokens())?;
        for (name, number) in given {
            match number {
                Some(number) => fields.serialize_field(name, &Number(number))?,
                None => fields.skip_field(name)?,
            }
        }
        fields.end()
    }
}

impl Read for Rendering {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        let name: String = fields.required("name")?;
        let content: String = fields.required("content")?;
        let mut rendering = Self::new(name, content, fields.required("tokens")?)?;
        if let Some(share) = fields.optional("share")? {
            rendering = rendering.with_share(share)?;
        }
        if let Some(share) = fields.optional("only_above")? {
            rendering = rendering.only_above(share)?;
        }
        fields.deny_rest()?;
        Ok(rendering)
    }
}

/// Metadata as the library holds it; numbers and truth values are read as their text.
#[derive(Default)]
struct Metadata(HashMap<String, String>);

impl Read for Metadata {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        /// One value of it.
        struct Text(String);

        impl Read for Text {
            fn read(value: Value<'_>) -> Result<Self, Problem> {
                match value {
                    Value::Text(text) => Ok(Self(text.into_owned())),
                    Value::Bool(_) | Value::Integer(_) | Value::Unsigned(_) | Value::Float(_) => {
                        Ok(Self(value.to_string()))
                    }
                    other => Err(Problem::new(format!(
                        "must be a text, a number, true or false, got {other}"
                    ))),
                }
            }
        }

        let map = HashMap::<String, Text>::read(value)?;
        Ok(Self(map.into_iter().map(|(key, text)| (key, text.0)).collect()))
    }
}

impl Read for ContextBudget {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        let (max, target) = (fields.required("max_tokens")?, fields.required("target_tokens")?);
        let reserve = fields.or_default("output_reserve")?;
        let slots = fields.or_default::<Slots>("reserved_slots")?.0;
        let margin = fields.or_default("estimation_safety_margin_percent")?;
        fields.deny_rest()?;
        Ok(Self::new(max, target, reserve, slots, margin)?)
    }
}

/// Reserved slots; of kinds that differ only in case the last counts.
#[derive(Default)]
struct Slots(HashMap<ContextKind, i64>);

impl Read for Slots {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let Value::Map(map) = value else {
            return Err(Problem::new(format!("must be a map, got {value}")));
        };
        let mut slots = HashMap::new();
        for (name, tokens) in map {
            let tokens = i64::read(tokens).map_err(|problem| problem.in_field(&name))?;
            let kind = ContextKind::new(name.clone())
                .map_err(|error| Problem::from(error).in_field(&name))?;
            slots.insert(kind, tokens);
        }
        Ok(Self(slots))
    }
}

impl Read for ScoredItem {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        let scored = Self { item: fields.required("item")?, score: fields.required("score")? };
        fields.deny_rest()?;
        Ok(scored)
    }
}

impl Read for QuotaEntry {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        let kind = fields.required("kind")?;
        let (require, cap) = (fields.required("require")?, fields.required("cap")?);
        fields.deny_rest()?;
        Ok(Self::new(kind, require, cap)?)
    }
}
