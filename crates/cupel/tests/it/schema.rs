//! The JSON Schema of a policy description agrees with what is read.

use boon::{Compiler, SchemaIndex, Schemas};
use cupel::{
    CurveDescription, PlacerDescription, PolicyDescription, Preset, ScorerDescription,
    SlicerDescription,
};
use serde_json::{Map, Value, json};

struct Schema(Schemas, SchemaIndex);

impl Schema {
    fn new() -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.enable_format_assertions();
        compiler.add_resource("policy.json", PolicyDescription::json_schema()).unwrap();
        let index = compiler.compile("policy.json", &mut schemas).unwrap();
        Self(schemas, index)
    }

    fn accepts(&self, value: &Value) -> bool {
        self.0.validate(value, self.1).is_ok()
    }
}

fn reads(value: &Value) -> bool {
    serde_json::from_value::<PolicyDescription>(value.clone()).is_ok()
}

/// The names under which the variants of a type are written, which the schema has from the type.
fn written_names(schema: &Value) -> Vec<&str> {
    let tag = schema.pointer("/properties/type/const").or_else(|| schema.get("const"));
    let own = tag.and_then(Value::as_str).into_iter();
    let inner = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema[key].as_array());
    own.chain(inner.flatten().flat_map(written_names)).collect()
}

#[test]
fn every_strategy_is_read_under_the_name_under_which_it_is_written() {
    let schema = PolicyDescription::json_schema();
    let written = |definition: &str| written_names(&schema["$defs"][definition]);
    assert_eq!(written("ScorerDescription"), ScorerDescription::names());
    assert_eq!(written("WeightedScorer"), ScorerDescription::names());
    assert_eq!(written("SlicerDescription"), SlicerDescription::names());
    assert_eq!(written("CurveDescription"), CurveDescription::names());
    assert_eq!(written("PlacerDescription"), PlacerDescription::names());
}

#[test]
fn what_needs_no_options_may_be_given_by_name_alone() {
    let schema = Schema::new();
    for name in ScorerDescription::names() {
        let description = json!({ "scorers": [name] });
        assert_eq!(schema.accepts(&description), reads(&description), "{name}");
    }
    for name in SlicerDescription::names() {
        let description = json!({ "scorers": ["recency"], "slicer": name });
        assert_eq!(schema.accepts(&description), reads(&description), "{name}");
    }
}

#[test]
fn everything_that_is_written_is_valid() {
    let schema = Schema::new();
    for preset in Preset::ALL {
        let written = serde_json::to_value(preset.description()).unwrap();
        let result = schema.0.validate(&written, schema.1);
        assert!(result.is_ok(), "{preset}: {:#}", result.unwrap_err());
    }
}

#[test]
fn schema_and_reader_agree_on_shapes() {
    let schema = Schema::new();
    let with = |scorer: Value| json!({ "scorers": [scorer] });
    let slicer = |slicer: Value| json!({ "scorers": [{ "type": "recency" }], "slicer": slicer });
    let cases = [
        (with(json!("recency")), true),
        (with(json!("tag")), false),
        (with(json!({ "type": "recency" })), true),
        (with(json!({ "type": "recency", "weight": 2 })), true),
        (with(json!({ "type": "recency", "half_life": "1h" })), false),
        (with(json!({ "type": "recencyy" })), false),
        (with(json!({ "type": "tag" })), false),
        (with(json!({ "type": "tag", "weights": { "a": 1 } })), true),
        (with(json!({ "type": "decay", "curve": { "type": "window", "max_age": "6h" } })), true),
        (
            with(json!({ "type": "decay", "curve": { "type": "window", "max_age": "6 parsecs" } })),
            false,
        ),
        (with(json!({ "type": "decay", "curve": { "type": "window" } })), false),
        (with(json!({ "type": "scaled", "scorer": { "type": "frequency" } })), true),
        (with(json!({ "type": "scaled" })), false),
        (json!({ "scorers": [] }), false),
        (json!({}), false),
        (json!({ "scorers": [{ "type": "recency" }], "unknown": 1 }), false),
        (json!({ "scorers": [{ "type": "recency" }], "placer": "u-shaped" }), true),
        (json!({ "scorers": [{ "type": "recency" }], "placer": "random" }), false),
        (slicer(json!("greedy")), true),
        (slicer(json!("quota")), false),
        (slicer(json!({ "type": "greedy" })), true),
        (slicer(json!({ "type": "greedy", "bucket_size": 5 })), false),
        (slicer(json!({ "type": "knapsack", "bucket_size": "finest" })), true),
        (slicer(json!({ "type": "knapsack", "bucket_size": 0 })), false),
        (
            slicer(json!({ "type": "quota", "quotas": [{ "kind": "a", "require": 1, "cap": 2 }] })),
            true,
        ),
        (slicer(json!({ "type": "quota", "quotas": [{ "kind": "a", "require": 1 }] })), false),
        (
            slicer(json!({ "type": "count-quota", "entries": [{ "kind": "a", "cap_count": 2 }] })),
            true,
        ),
        (slicer(json!({ "type": "count-quota" })), false),
    ];
    for (value, expected) in cases {
        assert_eq!(reads(&value), expected, "reader: {value}");
        assert_eq!(schema.accepts(&value), expected, "schema: {value}");
    }
}

/// Every part of a schema that describes an object.
fn objects<'s>(schema: &'s Value, found: &mut Vec<&'s Map<String, Value>>) {
    match schema {
        Value::Object(map) => {
            found.extend(map.get("properties").and_then(Value::as_object));
            map.values().for_each(|part| objects(part, found));
        }
        Value::Array(parts) => parts.iter().for_each(|part| objects(part, found)),
        _ => {}
    }
}

#[test]
fn what_is_read_of_an_absent_option_is_the_default_in_the_schema() {
    let schema = PolicyDescription::json_schema();
    let mut known = Vec::new();
    objects(&schema, &mut known);
    let read = |value: Value| {
        let text = value.to_string();
        serde_json::from_value::<PolicyDescription>(value).unwrap_or_else(|e| panic!("{text}: {e}"))
    };
    let scorer = |scorer: Value| json!({ "scorers": [scorer] });
    let slicer = |slicer: Value| json!({ "scorers": ["recency"], "slicer": slicer });
    let entries = json!([{ "kind": "a", "cap_count": 2 }]);
    let quotas = json!([{ "kind": "a", "require": 1, "cap": 2 }]);
    let window = json!({ "type": "window", "max_age": "6h" });
    let whole = |value: Value| value;
    let cases: [(Value, &dyn Fn(Value) -> Value); 8] = [
        (json!({ "scorers": ["recency"] }), &whole),
        (json!({ "type": "tag", "weights": { "a": 1 } }), &scorer),
        (json!({ "type": "metadata-trust" }), &scorer),
        (json!({ "type": "decay", "curve": window }), &scorer),
        (json!({ "type": "knapsack" }), &slicer),
        (json!({ "type": "quota", "quotas": quotas }), &slicer),
        (json!({ "type": "count-quota", "entries": entries }), &slicer),
        (json!({ "type": "count-constrained-knapsack", "entries": entries }), &slicer),
    ];
    for (minimal, wrap) in cases {
        let mut filled = minimal.clone();
        let options = filled.as_object_mut().unwrap();
        let is_meant = |properties: &&&Map<String, Value>| {
            let name = properties.get("type").and_then(|name| name.get("const"));
            name == minimal.get("type")
                && minimal.as_object().unwrap().keys().all(|key| properties.contains_key(key))
        };
        let properties = known.iter().find(is_meant).unwrap_or_else(|| panic!("{minimal}"));
        for (name, property) in *properties {
            if let Some(default) = property.get("default") {
                options.entry(name.as_str()).or_insert_with(|| default.clone());
            }
        }
        assert_ne!(minimal, filled, "no default at all");
        assert_eq!(read(wrap(minimal)), read(wrap(filled)));
    }
}
