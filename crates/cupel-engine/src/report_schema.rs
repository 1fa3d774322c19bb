//! The form of the specification's report, whose reader and writer are the library's.

use serde_json::{Value, json};

/// The JSON Schema of a `SelectionReport`, as [`Engine::report`](crate::Engine::report) answers it.
pub(crate) fn selection_report() -> Value {
    let reason = json!({
        "type": "object",
        "properties": { "reason": { "type": "string" } },
        "required": ["reason"]
    });
    // Numbers that JSON has no word for are written as texts.
    let number = json!({
        "anyOf": [{ "type": "number" }, { "enum": ["NaN", "Infinity", "-Infinity"] }]
    });
    let decided = json!({
        "type": "object",
        "properties": {
            "item": { "$ref": "#/$defs/Item" },
            "score": { "$ref": "#/$defs/Number" },
            "reason": { "$ref": "#/$defs/Reason" }
        },
        "required": ["item", "score", "reason"]
    });
    let item = json!({
        "type": "object",
        "properties": {
            "content": { "type": "string", "minLength": 1 },
            "tokens": { "type": "integer" },
            "kind": { "type": "string" },
            "source": { "type": "string" },
            "priority": { "type": "integer" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "metadata": { "type": "object", "additionalProperties": { "type": "string" } },
            "timestamp": { "type": "string" },
            "future_relevance_hint": { "$ref": "#/$defs/Number" },
            "pinned": { "type": "boolean" },
            "original_tokens": { "type": "integer" },
            "renderings": { "type": "array", "items": { "type": "object" } },
            "rendered_as": { "type": "string" }
        },
        "required": ["content", "tokens", "kind", "source", "tags", "metadata", "pinned"],
        "additionalProperties": false
    });
    let event = json!({
        "type": "object",
        "properties": {
            "stage": { "type": "string" },
            "duration_ms": { "$ref": "#/$defs/Number" },
            "item_count": { "type": "integer", "minimum": 0 },
            "message": { "type": "string" }
        },
        "required": ["stage", "duration_ms", "item_count"]
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "SelectionReport",
        "description": "The report of the specification.",
        "type": "object",
        "properties": {
            "events": { "type": "array", "items": { "$ref": "#/$defs/Event" } },
            "included": { "type": "array", "items": { "$ref": "#/$defs/Decided" } },
            "excluded": { "type": "array", "items": { "$ref": "#/$defs/Decided" } },
            "total_candidates": { "type": "integer", "minimum": 0 },
            "total_tokens_considered": { "type": "integer" },
            "count_requirement_shortfalls": { "type": "array", "items": { "type": "object" } },
            "overflow": { "type": "object" }
        },
        "required": [
            "events", "included", "excluded", "total_candidates", "total_tokens_considered",
            "count_requirement_shortfalls"
        ],
        "$defs": {
            "Number": number, "Reason": reason, "Item": item, "Decided": decided, "Event": event
        }
    })
}
