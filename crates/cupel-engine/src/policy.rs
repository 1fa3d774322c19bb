//! Which policy a word means.

use std::sync::Arc;

use cupel::policy::CustomStrategy;
use cupel::wire::ReadError;
use cupel::{
    ContextItem, CupelError, FixedClock, GreedySlice, Pipeline, Policy, PolicyDescription, Preset,
    RunContext,
};
use cupel_names::UnknownName;
use cupel_relevance::{KeepParameters, Strategies, auto, keeping};
use serde::{Deserialize, Serialize};

use crate::{EngineError, ErrorCode, Schema};

/// The policy that is used where none is named.
pub const DEFAULT_POLICY: &str = "auto";

/// A policy, and the name that reports call it by.
///
/// ```
/// use cupel_engine::NamedPolicy;
///
/// let chat = NamedPolicy::find("chat")?;
/// let mine = NamedPolicy::read("mine", "scorers = [\"recency\"]")?;
/// assert_eq!((chat.name(), mine.name()), ("chat", "mine"));
/// let error = NamedPolicy::find("caht").unwrap_err();
/// assert_eq!(error.to_string(), "unknown policy `caht`; did you mean `chat`?");
/// # Ok::<(), cupel_engine::EngineError>(())
/// ```
#[derive(Debug, Clone)]
pub struct NamedPolicy {
    name: Arc<str>,
    description: Arc<PolicyDescription>,
}

impl NamedPolicy {
    /// The policy that is known by this name: `auto` or a preset.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::UnknownPolicy`], with the nearest name if one is near.
    pub fn find(name: &str) -> Result<Self, EngineError> {
        let known = KNOWN.into_iter().find(|known| known.name() == name);
        known.map(|known| Self::new(name, known.description())).ok_or_else(|| unknown(name))
    }

    /// A policy of one's own.
    #[must_use]
    pub fn new(name: &str, description: PolicyDescription) -> Self {
        Self { name: name.into(), description: Arc::new(description) }
    }

    /// Reads a policy from TOML, or from JSON if the text begins with a brace.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidPolicy`] with line and column where the syntax is wrong, or with the path
    /// where a value is.
    pub fn read(name: &str, text: &str) -> Result<Self, EngineError> {
        let is_json = text.trim_start().starts_with('{');
        let description = if is_json { from_json(text) } else { from_toml(text) }?;
        Ok(Self::new(name, description))
    }

    /// Name in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The policy as data.
    #[must_use]
    pub fn description(&self) -> &PolicyDescription {
        &self.description
    }

    /// Builds the policy once, for any number of requests.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidPolicy`], with what cannot be built.
    pub fn compile(&self) -> Result<CompiledPolicy, EngineError> {
        // Every run brings its own query and time.
        let built = self.description().build_with(&without_query(), FixedClock::default());
        let refused = |error: CupelError| invalid(error.to_string()).at_path(self.name());
        built.map(CompiledPolicy).map_err(refused)
    }

    /// The policy as TOML, with all defaults filled in: a file to change.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidPolicy`] if it holds something that TOML cannot express.
    pub fn to_toml(&self) -> Result<String, EngineError> {
        toml::to_string_pretty(self.description())
            .map_err(|error| invalid(format!("cannot be written as TOML: {error}")))
    }
}

/// A policy that was built once, for any number of requests.
#[derive(Debug, Clone)]
pub struct CompiledPolicy(Policy);

impl CompiledPolicy {
    /// The policy at work on a query and candidates. Ages are measured from the newest candidate, so
    /// that the same request gives the same window tomorrow.
    #[must_use]
    pub fn pipeline(&self, strategies: &Strategies, items: &[ContextItem]) -> Pipeline {
        let newest = items.iter().filter_map(ContextItem::timestamp).max();
        let context = RunContext::new().at(newest.unwrap_or_default()).with(strategies.clone());
        Pipeline::from(self.0.clone()).with_context(context)
    }

    /// The policy for requests that fit: nothing is left out because of a cap, or because it was said
    /// twice. It scores and places alike.
    pub(crate) fn without_caps(&self) -> Result<Self, EngineError> {
        let builder = self.0.to_builder().slicer(GreedySlice).deduplication(false);
        Ok(Self(builder.build()?))
    }

    /// Another pipeline, for the same query and candidates, by this policy.
    pub(crate) fn instead_in(&self, pipeline: &Pipeline) -> Pipeline {
        pipeline.with_policy(self.0.clone())
    }
}

/// The policies that are known by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PolicyList {
    /// `cupel/1`.
    pub schema: Schema,
    /// The default first, then the presets.
    pub policies: Vec<PolicyRow>,
}

/// A policy that is known by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PolicyRow {
    /// Its name.
    pub name: String,
    /// Sentence about the messages that it favours.
    pub summary: String,
    /// True if it is used where none is named.
    pub is_default: bool,
}

/// The policies that are known by name: the default, then the presets.
///
/// ```
/// let list = cupel_engine::policies();
/// assert_eq!(list.policies[0].name, "auto");
/// assert!(list.policies[0].is_default);
/// ```
#[must_use]
pub fn policies() -> PolicyList {
    let row = |known: Known| PolicyRow {
        name: known.name().to_owned(),
        summary: known.summary().to_owned(),
        is_default: known.name() == DEFAULT_POLICY,
    };
    PolicyList { schema: Schema, policies: KNOWN.into_iter().map(row).collect() }
}

/// The JSON Schema of a policy, with every strategy that the engine has.
#[cfg(feature = "schema")]
#[must_use]
pub fn policy_schema() -> serde_json::Value {
    PolicyDescription::json_schema_with(&without_query())
}

/// Policies that are known by name.
#[derive(Clone, Copy)]
enum Known {
    Auto,
    Preset(Preset),
}

const KNOWN: [Known; Preset::ALL.len() + 1] = {
    let mut known = [Known::Auto; Preset::ALL.len() + 1];
    let mut at = 0;
    while at < Preset::ALL.len() {
        known[at + 1] = Known::Preset(Preset::ALL[at]);
        at += 1;
    }
    known
};

impl Known {
    fn name(self) -> &'static str {
        match self {
            Self::Auto => DEFAULT_POLICY,
            Self::Preset(preset) => preset.name(),
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Self::Auto => {
                "what the question needs: its words, what surrounds them, ids still in use"
            }
            Self::Preset(preset) => preset.summary(),
        }
    }

    fn description(self) -> PolicyDescription {
        match self {
            Self::Auto => auto(),
            Self::Preset(Preset::Chat) => chat(),
            Self::Preset(preset) => preset.description(),
        }
    }
}

/// The preset, with the reply that the last turn answers and the task before it. Its own order keeps what is new,
/// so that the user's other words need no reserve.
fn chat() -> PolicyDescription {
    let parameters = KeepParameters {
        reserve: 0.0,
        reserve_with_calls: 0.0,
        words_with_calls: 0.0,
        reserve_for_rules: 0.0,
        ..KeepParameters::default()
    };
    let mut description = Preset::Chat.description();
    let inner = CustomStrategy::new(description.slicer.name());
    description.slicer = keeping(parameters, inner).into();
    description
}

/// Strategies to read a description with, before there is a query.
fn without_query() -> Strategies {
    Strategies::new("")
}

fn unknown(name: &str) -> EngineError {
    let error = EngineError::new(ErrorCode::UnknownPolicy, format!("unknown policy `{name}`"));
    let hint = UnknownName::new("policy", name, KNOWN.map(Known::name)).or("or give a file").hint();
    error.with_remedy(hint)
}

fn invalid(rule: impl Into<String>) -> EngineError {
    EngineError::new(ErrorCode::InvalidPolicy, rule)
}

fn from_json(text: &str) -> Result<PolicyDescription, EngineError> {
    let syntax = |error: &serde_json::Error| EngineError::of_json(ErrorCode::InvalidPolicy, error);
    let mut json = serde_json::Deserializer::from_str(text);
    let description = PolicyDescription::read_with(&mut json, &without_query());
    let description = description.map_err(|error| wrong(error, |error| syntax(&error)))?;
    json.end().map_err(|error| syntax(&error))?;
    Ok(description)
}

fn from_toml(text: &str) -> Result<PolicyDescription, EngineError> {
    let syntax = |error: toml::de::Error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        invalid(one_line(error.message())).at_place(line, column)
    };
    let toml = toml::Deserializer::parse(text).map_err(syntax)?;
    let description = PolicyDescription::read_with(toml, &without_query());
    description.map_err(|error| wrong(error, syntax))
}

/// A wrong value has a path, which is better than a place after it.
fn wrong<E>(error: ReadError<E>, syntax: impl FnOnce(E) -> EngineError) -> EngineError {
    match error {
        ReadError::Value(problem) => invalid(problem.rule()).at_path(problem.path()),
        ReadError::Format(error) => syntax(error),
        _ => invalid("cannot be read"),
    }
}

fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

/// Line and column of a byte, both from 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> EngineError {
        NamedPolicy::read("p", text).unwrap_err()
    }

    #[test]
    fn a_syntax_error_has_a_place_and_a_wrong_value_a_path() {
        assert_eq!(error("scorers = [\n\"recency\"").location().unwrap().0, 2);
        assert_eq!(error("{\n\"scorers\": ]").location(), Some((2, 12)));
        for wrong in [
            r#"{"scorers": [{"type": "recency", "weight": -1}]}"#,
            "scorers = [{ type = \"recency\", weight = -1 }]",
        ] {
            assert_eq!(error(wrong).path(), Some("scorers[0].weight"));
            assert_eq!(error(wrong).rule(), "must be positive, got -1");
        }
    }

    #[test]
    fn every_policy_of_the_list_is_found_and_can_be_written_and_read_again() {
        for row in policies().policies {
            let policy = NamedPolicy::find(&row.name).unwrap();
            let again = NamedPolicy::read("again", &policy.to_toml().unwrap()).unwrap();
            // TOML does not keep the order of options, which says nothing.
            let as_data =
                |policy: &NamedPolicy| serde_json::to_value(policy.description()).unwrap();
            assert_eq!(as_data(&again), as_data(&policy), "{}", row.name);
        }
    }

    #[test]
    fn what_is_near_nothing_gets_the_whole_list() {
        let error = NamedPolicy::find("xyzzy").unwrap_err().to_string();
        assert!(error.contains("known are auto, chat, code-review"), "{error}");
    }
}
