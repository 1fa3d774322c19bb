//! The tools: one a file, and the table of them.

mod count;
mod explain_context;
mod fit;
mod retrieve;

use std::sync::Arc;

use cupel_engine::{Engine, EngineBuilder, Format, NamedPolicy, Options, Shorten};
use cupel_names::UnknownName;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ToolError;
use crate::server::Shared;
use crate::source::Read;

/// What a tool answers: text as it is, or data of the form that its output schema has.
pub(crate) enum Answer {
    /// Texts for the model, one after the other.
    Texts(Vec<String>),
    /// Data.
    Data(Value),
}

/// One tool: what it says of itself, and what runs it.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    input: fn() -> JsonObject,
    output: Option<fn() -> JsonObject>,
    pub(crate) run: fn(&Shared, JsonObject) -> Result<Answer, ToolError>,
}

/// All tools, in the order in which they are listed.
pub(crate) static TOOLS: [&Row; 4] =
    [&retrieve::ROW, &explain_context::ROW, &count::ROW, &fit::ROW];

impl Row {
    /// The tool as the protocol lists it.
    pub(crate) fn listed(&self) -> Tool {
        let tool = Tool::new(self.name, self.description, Arc::new((self.input)()));
        let tool = match self.output {
            Some(output) => tool.with_raw_output_schema(Arc::new(output())),
            None => tool,
        };
        let reads_only = ToolAnnotations::new().read_only(true).idempotent(true).open_world(false);
        tool.with_title(self.title).with_annotations(reads_only)
    }
}

/// The answer as the protocol has it; an error is an answer that says so.
pub(crate) fn result(answer: Result<Answer, ToolError>) -> CallToolResult {
    match answer {
        Ok(Answer::Texts(texts)) => {
            CallToolResult::success(texts.into_iter().map(ContentBlock::text).collect())
        }
        Ok(Answer::Data(data)) => CallToolResult::structured(data),
        Err(error) => CallToolResult::structured_error(
            serde_json::to_value(&error).unwrap_or_else(|_| Value::from(error.message())),
        ),
    }
}

/// The schema of what a tool is asked.
pub(crate) fn input<T: JsonSchema>() -> JsonObject {
    object(
        SchemaSettings::draft2020_12()
            .for_deserialize()
            .into_generator()
            .into_root_schema_for::<T>()
            .to_value(),
    )
}

/// The schema of what it answers.
pub(crate) fn output<T: JsonSchema>() -> JsonObject {
    object(
        SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator()
            .into_root_schema_for::<T>()
            .to_value(),
    )
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Reads the arguments of a call. One that the schema does not name is refused, with the nearest that it does.
fn arguments<T: DeserializeOwned + JsonSchema>(given: JsonObject) -> Result<T, ToolError> {
    let schema = input::<T>();
    let known = schema.get("properties").and_then(Value::as_object);
    let known: Vec<&str> =
        known.into_iter().flat_map(|known| known.keys().map(String::as_str)).collect();
    if let Some(unknown) = given.keys().find(|name| !known.contains(&name.as_str())) {
        let unknown = UnknownName::new("argument", unknown, known.iter().copied());
        return Err(ToolError::new("invalid-argument", unknown.to_string()));
    }
    serde_json::from_value(Value::Object(given)).map_err(|error| {
        ToolError::new("invalid-argument", error.to_string())
            .remedy("give what the schema of the tool asks for")
    })
}

/// Data of an answer.
fn data(answer: &impl Serialize) -> Result<Answer, ToolError> {
    let data = serde_json::to_value(answer);
    data.map(Answer::Data).map_err(|error| ToolError::new("selection-failed", error.to_string()))
}

/// How many rows a list of an answer has: what was asked for, within bounds.
fn bounded(limit: Option<usize>) -> Result<usize, ToolError> {
    const USUAL: usize = 20;
    const MOST: usize = 200;
    match limit {
        None => Ok(USUAL),
        Some(limit) if limit <= MOST => Ok(limit),
        Some(limit) => {
            let rule = format!("must be at most {MOST}, got {limit}");
            Err(ToolError::argument("limit", rule).remedy("ask for fewer rows"))
        }
    }
}

/// What a call may say of choosing; the server's settings hold where it says nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Choosing {
    /// The model that the tokens are for, as in `gpt-4o`; the one that the request names if absent.
    model: Option<String>,
    /// What the window must answer; what the user said last if absent.
    query: Option<String>,
    /// The policy that chooses, as in `auto`.
    policy: Option<String>,
    /// What may go in shorter than it is: `off`, `json` for results that are JSON, or `all`.
    shorten: Option<String>,
}

impl Choosing {
    fn engine(
        &self,
        shared: &Shared,
        read: &Read,
        max_tokens: Option<i64>,
    ) -> Result<Engine, ToolError> {
        let mut builder = engine_for(shared, self.model.as_deref(), read.format);
        if let Some(tokens) = max_tokens {
            builder = builder.max_tokens(tokens);
        }
        if let Some(policy) = &self.policy {
            builder = builder.named_policy(NamedPolicy::find(policy)?);
        }
        if let Some(shorten) = &self.shorten {
            let shorten = shorten.parse::<Shorten>();
            builder = builder.shorten(
                shorten.map_err(|error| ToolError::argument("shorten", error.to_string()))?,
            );
        }
        Ok(builder.build()?)
    }

    fn options(&self) -> Options {
        match &self.query {
            Some(query) => Options::new().query(query.as_str()),
            None => Options::new(),
        }
    }
}

/// An engine as the server is set, for a model and a format if they are named.
fn engine_for(shared: &Shared, model: Option<&str>, format: Option<Format>) -> EngineBuilder {
    let mut builder = shared.engine.clone();
    if let Some(model) = model {
        builder = builder.model(model);
    }
    if let Some(format) = format {
        builder = builder.format(format);
    }
    builder
}
