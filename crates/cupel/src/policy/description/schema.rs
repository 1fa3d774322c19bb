//! The JSON Schema of a description, generated from its types.
//!
//! The types here stand in for those that read and write themselves by hand.

#![expect(dead_code, reason = "only their schema is used")]

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::{
    BucketSize, PolicyDescription, ScorerDescription, SlicerDescription, StrategyProvider,
    defaults, table,
};

pub(super) fn json_schema(strategies: &dyn StrategyProvider) -> Value {
    let mut schema = schemars::schema_for!(PolicyDescription);
    schema.insert("title".into(), "Cupel policy".into());
    let mut schema = schema.to_value();
    let weight = json!({ "type": "number", "exclusiveMinimum": 0, "default": defaults::weight() });
    for name in strategies.scorer_names() {
        let mut options = strategies.option_schemas(name);
        add_strategy(&mut schema, "ScorerDescription", name, options.clone());
        options.insert("weight".into(), weight.clone());
        add_strategy(&mut schema, "WeightedScorer", name, options);
    }
    for name in strategies.slicer_names() {
        add_strategy(&mut schema, "SlicerDescription", name, strategies.option_schemas(name));
    }
    schema
}

/// Adds one more alternative to a definition: the name of a strategy, alone or with options.
fn add_strategy(schema: &mut Value, definition: &str, name: &str, mut options: Map<String, Value>) {
    options.insert("type".into(), json!({ "const": name }));
    let with_options = json!({
        "type": "object",
        "properties": options,
        "required": ["type"],
        "additionalProperties": false,
    });
    let pointer = format!("/$defs/{definition}/anyOf");
    if let Some(Value::Array(alternatives)) = schema.pointer_mut(&pointer) {
        alternatives.extend([json!({ "const": name }), with_options]);
    }
}

/// Scorers that need no options may be given by their name alone.
pub(super) fn scorer_names(schema: &mut Schema) {
    or_name(schema, &table::bare_names(ScorerDescription::TABLE));
}

/// Slicers that need no options may be given by their name alone.
pub(super) fn slicer_names(schema: &mut Schema) {
    or_name(schema, &table::bare_names(SlicerDescription::TABLE));
}

fn or_name(schema: &mut Schema, names: &[&str]) {
    let with_options = std::mem::take(schema);
    *schema = json_schema!({ "anyOf": [{ "enum": names }, with_options] });
}

/// A budget.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Budget {
    #[schemars(range(min = 0))]
    max_tokens: i64,
    #[schemars(range(min = 0))]
    target_tokens: i64,
    #[schemars(range(min = 0), default)]
    output_reserve: i64,
    #[schemars(default)]
    reserved_slots: BTreeMap<String, i64>,
    #[schemars(range(min = 0, max = 100), default)]
    estimation_safety_margin_percent: f64,
}

/// The share of one kind, in percent.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Quota {
    kind: String,
    #[schemars(range(min = 0, max = 100))]
    require: f64,
    #[schemars(range(min = 0, max = 100))]
    cap: f64,
}

/// What to do when the selection exceeds the target.
#[derive(JsonSchema)]
pub(super) enum Overflow {
    Throw,
    Truncate,
    Proceed,
}

/// A duration: a text such as `"24h"`, or a number of seconds.
pub(super) struct SpanSchema;

impl JsonSchema for SpanSchema {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a duration such as \"24h\", \"1d 12h\" or \"500us\", or seconds",
            "anyOf": [
                { "type": "string", "pattern": "^\\s*([0-9]+\\s*(w|d|h|m|s|ms|us|ns)\\s*)+$" },
                { "type": "number", "exclusiveMinimum": 0 }
            ]
        })
    }
}

/// A date and time with offset.
pub(super) struct Instant;

impl JsonSchema for Instant {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Instant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl JsonSchema for BucketSize {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BucketSize".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": "finest" }]
        })
    }
}
