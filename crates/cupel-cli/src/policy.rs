//! From the word after `--policy` to a policy.

use std::path::Path;

use cupel::{Policy, PolicyDescription, Preset, SystemTimeProvider};
use cupel_relevance::{Strategies, auto};
use cupel_tokens::nearest_name;

use crate::error::Failure;
use crate::input::Input;

/// The policy to use where none is named.
pub(crate) const DEFAULT: &str = AUTO;

const AUTO: &str = "auto";

/// A policy and what it is called.
#[derive(Debug)]
pub(crate) struct NamedPolicy {
    /// The word by which the user asked for it.
    pub(crate) name: String,
    /// The policy as data.
    pub(crate) description: PolicyDescription,
}

impl NamedPolicy {
    /// The policy itself, for a query.
    pub(crate) fn build(&self, query: &str) -> Result<Policy, Failure> {
        let built = self.description.build_with(&Strategies::new(query), SystemTimeProvider);
        built.map_err(|error| Failure::cannot(format!("{}: {error}", self.name)))
    }
}

/// Strategies to check a description with, before there is a query.
pub(crate) fn without_query() -> Strategies {
    Strategies::new("")
}

/// The policies that are known by name, each with what it favours.
pub(crate) fn known() -> Vec<(&'static str, &'static str)> {
    let auto = (AUTO, "what the question needs: its words, what surrounds them, ids still in use");
    let presets = Preset::ALL.map(|preset| (preset.name(), preset.summary()));
    std::iter::once(auto).chain(presets).collect()
}

/// The policy of a preset or a file.
pub(crate) fn load(name: &str) -> Result<NamedPolicy, Failure> {
    Ok(NamedPolicy { name: name.to_owned(), description: describe(name)? })
}

/// A preset or a file, as data. Presets win: `./chat` is a file, `chat` is not.
pub(crate) fn describe(name: &str) -> Result<PolicyDescription, Failure> {
    if name == AUTO {
        return Ok(auto());
    }
    if let Some(preset) = Preset::ALL.into_iter().find(|preset| preset.name() == name) {
        return Ok(preset.description());
    }
    let path = Path::new(name);
    let is_file = path.exists() || path.components().count() > 1 || path.extension().is_some();
    if !is_file && name != "-" {
        return Err(Failure::CannotRun(unknown(name)));
    }
    let input = Input::read(Some(path))?;
    parse(&input).map_err(Failure::CannotRun)
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = known().into_iter().map(|(name, _)| name).collect();
    let hint = match nearest_name(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known are {}, or give a file", names.join(", ")),
    };
    format!("unknown policy `{name}`; {hint}")
}

/// Reads a description, or says where and what is wrong.
pub(crate) fn parse(input: &Input) -> Result<PolicyDescription, String> {
    let is_json = match input.path.as_deref().and_then(Path::extension) {
        Some(extension) if extension.eq_ignore_ascii_case("json") => true,
        Some(extension) if extension.eq_ignore_ascii_case("toml") => false,
        _ => input.text.trim_start().starts_with('{'),
    };
    let parsed = if is_json { from_json(&input.text) } else { from_toml(&input.text) };
    parsed.map_err(|problem| format!("{}{problem}", input.name()))
}

fn from_json(text: &str) -> Result<PolicyDescription, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    let description = PolicyDescription::deserialize_with(&mut json, &without_query());
    description.and_then(|description| json.end().map(|()| description)).map_err(|error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = error.to_string().replace(&place, "");
        if error.is_data() {
            // The message has the path, which is better than a place after it.
            format!(": {message}")
        } else {
            format!(":{}:{}: {message}", error.line(), error.column())
        }
    })
}

fn from_toml(text: &str) -> Result<PolicyDescription, String> {
    let toml = toml::Deserializer::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let (line, column) = position(text, start);
        format!(":{line}:{column}: {}", one_line(error.message()))
    })?;
    PolicyDescription::deserialize_with(toml, &without_query())
        .map_err(|error| format!(": {}", one_line(error.message())))
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

    fn error(name: &str, text: &str) -> String {
        parse(&Input { path: Some(name.into()), text: text.into() }).unwrap_err()
    }

    #[test]
    fn a_syntax_error_has_a_place_and_a_wrong_value_a_path() {
        assert!(error("p.toml", "scorers = [\n\"recency\"").starts_with("p.toml:2:"));
        assert!(error("p.json", "{\n\"scorers\": ]").starts_with("p.json:2:12: "));
        let wrong = r#"{"scorers": [{"type": "recency", "weight": -1}]}"#;
        assert_eq!(error("p.json", wrong), "p.json: scorers[0].weight: must be positive, got -1");
        let wrong = "scorers = [{ type = \"recency\", weight = -1 }]";
        assert_eq!(error("p.toml", wrong), "p.toml: scorers[0].weight: must be positive, got -1");
    }

    #[test]
    fn a_typo_finds_the_nearest_preset() {
        let text = |name| match load(name) {
            Err(Failure::CannotRun(text)) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(text("caht"), "unknown policy `caht`; did you mean `chat`?");
        assert!(text("xyzzy").contains("known are auto, chat, code-review"));
    }
}
