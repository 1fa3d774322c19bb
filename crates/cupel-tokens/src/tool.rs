//! Tokens of tool definitions.

use serde_json::{Map, Value};

use crate::TokenCounter;

/// Rule by which a provider counts tool definitions.
///
/// ```
/// use cupel_tokens::{Encoding, OpenAiCounter, ToolRule};
/// use serde_json::json;
///
/// let tool = json!({"type": "function", "function": {
///     "name": "get_weather",
///     "description": "The weather in a city.",
///     "parameters": {"type": "object", "properties": {
///         "city": {"type": "string", "description": "Name of the city"},
///     }},
/// }});
/// let counter = OpenAiCounter::new(Encoding::O200kBase);
/// assert_eq!(ToolRule::OpenAi { function: 7 }.tokens(&[tool], &counter), 39);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolRule {
    /// The constants of OpenAI's cookbook: so much for each function, its name and description,
    /// 3 if it has properties and 3 for each, their name, type and description, 3 for each value
    /// of an `enum` less 3 for the list, and 12 once a request.
    ///
    /// The cookbook ends there. Nested objects are counted by the same rule, and whatever else a
    /// definition or a schema says as its JSON text, but for `required`, `additionalProperties`,
    /// `title` and `$schema`.
    OpenAi {
        /// For each function: 7 since GPT-4o, 10 before.
        function: i64,
    },
    /// The JSON text of each definition, and a prompt that the provider puts before them.
    Json {
        /// Once a request that has tools.
        prompt: i64,
    },
}

/// Once a request, if it has functions.
const FUNCTIONS_END: i64 = 12;
/// Once for each object that has properties.
const PROPERTIES: i64 = 3;
/// For each property.
const PROPERTY: i64 = 3;
/// For a list of allowed values.
const ENUM: i64 = -3;
/// For each allowed value.
const ENUM_VALUE: i64 = 3;

impl ToolRule {
    /// The tokens of all tool definitions of a request; none if there are none.
    pub fn tokens(&self, tools: &[Value], counter: &dyn TokenCounter) -> i64 {
        if tools.is_empty() {
            return 0;
        }
        tools
            .iter()
            .map(|tool| self.definition_tokens(tool, counter))
            .fold(self.base(), i64::saturating_add)
    }

    /// Tokens that count once for all definitions of a request.
    pub const fn base(&self) -> i64 {
        match self {
            Self::OpenAi { .. } => FUNCTIONS_END,
            Self::Json { prompt } => *prompt,
        }
    }

    /// The tokens of one definition, without [what counts once](Self::base).
    pub fn definition_tokens(&self, tool: &Value, counter: &dyn TokenCounter) -> i64 {
        match (self, function_of(tool)) {
            (Self::OpenAi { function }, Some(definition)) => function
                .saturating_add(function_tokens(definition, counter))
                .saturating_add(texts_beside(tool, counter)),
            _ => counter.count(&tool.to_string()),
        }
    }
}

/// The definition inside a tool of Chat Completions, of Responses, or of the old `functions` list;
/// `None` if the tool is not a function.
fn function_of(tool: &Value) -> Option<&Map<String, Value>> {
    let definition = tool.get("function").unwrap_or(tool).as_object()?;
    definition.get("name").filter(|name| name.is_string())?;
    Some(definition)
}

/// Texts of a tool and its function beside name, description and parameters.
fn texts_beside(tool: &Value, counter: &dyn TokenCounter) -> i64 {
    const COUNTED: [&str; 6] =
        ["type", "function", "name", "description", "parameters", "cache_control"];
    let outer = tool.as_object();
    let inner = tool.get("function").and_then(Value::as_object);
    let fields = outer.into_iter().chain(inner).flatten();
    fields
        .filter(|(key, value)| !COUNTED.contains(&key.as_str()) && has_text(value))
        .map(|(key, value)| counter.count(&format!("{key}:{value}")))
        .fold(0, i64::saturating_add)
}

fn has_text(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => list.iter().any(has_text),
        Value::Object(map) => map.values().any(has_text),
        _ => false,
    }
}

fn function_tokens(definition: &Map<String, Value>, counter: &dyn TokenCounter) -> i64 {
    let line = format!("{}:{}", text(definition, "name"), description(definition));
    let parameters = definition.get("parameters").and_then(Value::as_object);
    let mut tokens = counter.count(&line);
    // A list of what is left to do instead of recursion: schemas nest as deep as they like.
    let mut schemas: Vec<&Map<String, Value>> = parameters.into_iter().collect();
    tokens = tokens.saturating_add(parameters.map_or(0, |schema| own_tokens(schema, counter)));
    while let Some(schema) = schemas.pop() {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            if !properties.is_empty() {
                tokens = tokens.saturating_add(PROPERTIES);
            }
            for (name, property) in properties {
                tokens = tokens.saturating_add(property_tokens(name, property, counter));
            }
            schemas.extend(properties.values().filter_map(Value::as_object));
        }
        if let Some(items) = schema.get("items").and_then(Value::as_object) {
            tokens = tokens.saturating_add(own_tokens(items, counter));
            schemas.push(items);
        }
        tokens = tokens.saturating_add(other_tokens(schema, counter));
    }
    tokens
}

fn property_tokens(name: &str, property: &Value, counter: &dyn TokenCounter) -> i64 {
    let Some(schema) = property.as_object() else {
        return PROPERTY.saturating_add(counter.count(name));
    };
    let line = format!("{name}:{}:{}", text(schema, "type"), description(schema));
    let mut tokens = PROPERTY.saturating_add(counter.count(&line));
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        tokens = tokens.saturating_add(ENUM);
        for value in values {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            tokens = tokens.saturating_add(ENUM_VALUE).saturating_add(counter.count(&value));
        }
    }
    tokens
}

/// Tokens of a schema that is no property: its description, and its allowed values.
fn own_tokens(schema: &Map<String, Value>, counter: &dyn TokenCounter) -> i64 {
    let texts = schema.iter().filter(|(key, _)| ["description", "enum"].contains(&key.as_str()));
    texts.map(|(key, value)| counter.count(&format!("{key}:{value}"))).fold(0, i64::saturating_add)
}

/// Tokens of everything that the cookbook's rule does not cover.
fn other_tokens(schema: &Map<String, Value>, counter: &dyn TokenCounter) -> i64 {
    const COUNTED: [&str; 5] = ["type", "description", "enum", "properties", "items"];
    const FREE: [&str; 4] = ["required", "additionalProperties", "title", "$schema"];
    schema
        .iter()
        .filter(|(key, _)| !COUNTED.contains(&key.as_str()) && !FREE.contains(&key.as_str()))
        .map(|(key, value)| counter.count(&format!("{key}:{value}")))
        .fold(0, i64::saturating_add)
}

/// The description, without the full stop that the cookbook takes off.
fn description(of: &Map<String, Value>) -> String {
    let text = text(of, "description");
    text.strip_suffix('.').map_or(text.clone(), str::to_owned)
}

/// A field as text: a list, as in `["string", "null"]`, is joined.
fn text(of: &Map<String, Value>, field: &str) -> String {
    match of.get(field) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(texts)) => {
            texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::SuppliedCounter;

    const RULE: ToolRule = ToolRule::OpenAi { function: 7 };

    #[test]
    fn what_stands_beside_the_schema_counts_too() {
        let plain = json!({"type": "function", "function": {"name": "f",
            "parameters": {"type": "object", "properties": {"a": {"type": "array", "items": {}}}}}});
        let words = "some words about it";
        for place in [
            "/note",
            "/function/note",
            "/function/parameters/description",
            "/function/parameters/properties/a/items/description",
        ] {
            let (parent, field) = place.rsplit_once('/').unwrap();
            let mut tool = plain.clone();
            tool.pointer_mut(parent).unwrap()[field] = words.into();
            let length = |text: &str| i64::try_from(text.len()).unwrap();
            let counter = SuppliedCounter::new("letters", length);
            let [before, after] = [&plain, &tool].map(|t| RULE.definition_tokens(t, &counter));
            assert!(after >= before + length(words), "{place}");
        }
    }

    /// One token for every text, so that what is left is what the rule adds.
    fn one() -> impl TokenCounter {
        SuppliedCounter::new("one", |_| 1)
    }

    #[test]
    fn no_tools_cost_nothing() {
        assert_eq!(RULE.tokens(&[], &one()), 0);
        assert_eq!(ToolRule::Json { prompt: 346 }.tokens(&[], &one()), 0);
    }

    #[test]
    fn a_function_without_parameters_costs_its_line() {
        let tool = json!({"type": "function", "function": {"name": "now"}});
        assert_eq!(RULE.tokens(&[tool], &one()), 12 + 7 + 1);
    }

    #[test]
    fn properties_and_enums_cost_what_the_cookbook_says() {
        let tool = json!({"name": "f", "parameters": {"type": "object", "properties": {
            "unit": {"type": "string", "enum": ["c", "f"]},
            "city": {"type": "string", "description": "Where."},
        }, "required": ["city"]}});
        let unit = 3 + 1 - 3 + 2 * (3 + 1);
        let city = 3 + 1;
        assert_eq!(RULE.tokens(&[tool], &one()), 12 + 7 + 1 + 3 + unit + city);
    }

    #[test]
    fn all_three_shapes_of_a_function_count_the_same() {
        let bare = json!({"name": "f", "description": "d", "parameters": {"type": "object"}});
        let mut responses = bare.clone();
        responses["type"] = json!("function");
        let chat = json!({"type": "function", "function": bare});
        for tool in [&bare, &responses, &chat] {
            assert_eq!(RULE.definition_tokens(tool, &one()), 7 + 1);
        }
    }

    #[test]
    fn nested_objects_and_unknown_keywords_count_too() {
        let tool = json!({"name": "f", "parameters": {"properties": {
            "list": {"type": "array", "items": {"properties": {"x": {"type": "number"}}}},
            "any": {"anyOf": [{"type": "string"}]},
        }}});
        let list = 3 + 1 + 3 + 3 + 1;
        let any = 3 + 1 + 1;
        assert_eq!(RULE.definition_tokens(&tool, &one()), 7 + 1 + 3 + list + any);
    }

    #[test]
    fn what_is_no_function_counts_as_json() {
        let length = SuppliedCounter::new("length", |text| i64::try_from(text.len()).unwrap());
        let search = json!({"type": "web_search"});
        assert_eq!(RULE.definition_tokens(&search, &length), 21);
        assert_eq!(RULE.definition_tokens(&json!(7), &length), 1);
        assert_eq!(ToolRule::Json { prompt: 346 }.tokens(&[search], &length), 346 + 21);
    }

    #[test]
    fn schemas_of_the_wrong_shape_are_no_trouble() {
        for parameters in [json!([]), json!({"properties": 3}), json!({"properties": {"a": 1}})] {
            let tool = json!({"name": "f", "description": 5, "parameters": parameters});
            assert!(RULE.definition_tokens(&tool, &one()) >= 8);
        }
    }
}
