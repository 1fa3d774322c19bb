//! Claude Code: a variable for each place that serves Claude. Its settings win over the environment, so that what they say
//! about a variable is looked at first, and said by an argument.

use serde_json::{Value, json};

use super::{Plan, Surroundings, is_yes};
use crate::error::Failure;

const ANTHROPIC: &str = "https://api.anthropic.com";

pub(super) fn plan(around: &Surroundings) -> Result<Plan, Failure> {
    let settings = Settings::read(around);
    let said = |name: &str| settings.variable(name).or_else(|| around.variable(name));
    let is_on = |name: &str| said(name).is_some_and(is_yes);
    let (variable, usual) = if is_on("CLAUDE_CODE_USE_BEDROCK") {
        let region = said("AWS_REGION").or_else(|| said("AWS_DEFAULT_REGION"));
        let region = region.unwrap_or("us-east-1");
        let usual = format!("https://bedrock-runtime.{region}.amazonaws.com");
        ("ANTHROPIC_BEDROCK_BASE_URL", usual)
    } else if is_on("CLAUDE_CODE_USE_VERTEX") {
        let usual = match said("CLOUD_ML_REGION").unwrap_or("us-east5") {
            "global" => "https://aiplatform.googleapis.com/v1".to_owned(),
            region => format!("https://{region}-aiplatform.googleapis.com/v1"),
        };
        ("ANTHROPIC_VERTEX_BASE_URL", usual)
    } else if is_on("CLAUDE_CODE_USE_FOUNDRY") {
        let resource = said("ANTHROPIC_FOUNDRY_RESOURCE").unwrap_or_default();
        let usual = format!("https://{resource}.services.ai.azure.com/anthropic");
        ("ANTHROPIC_FOUNDRY_BASE_URL", usual)
    } else {
        ("ANTHROPIC_BASE_URL", ANTHROPIC.to_owned())
    };
    let mut plan = Plan::default();
    let base = plan.only(said(variable).unwrap_or(&usual))?;
    if settings.variable(variable).is_some() {
        let settings = json!({ "env": { variable: base } });
        plan.arguments.extend(["--settings".to_owned(), settings.to_string()]);
    }
    if variable == "ANTHROPIC_BEDROCK_BASE_URL" && said("AWS_BEARER_TOKEN_BEDROCK").is_none() {
        plan.notes.push(
            "requests to Bedrock are signed with their bodies, and pass unchanged; set AWS_BEARER_TOKEN_BEDROCK \
             to have them made to fit"
                .to_owned(),
        );
    }
    plan.set(variable, base);
    Ok(plan)
}

/// The variables that settings files set, those that win first.
struct Settings(Vec<Value>);

impl Settings {
    fn read(around: &Surroundings) -> Self {
        let files = [
            around.folder.join(".claude/settings.local.json"),
            around.folder.join(".claude/settings.json"),
            match around.variable("CLAUDE_CONFIG_DIR") {
                Some(folder) => std::path::Path::new(folder).join("settings.json"),
                None => around.home.join(".claude/settings.json"),
            },
        ];
        let read = files.iter().filter_map(|file| {
            serde_json::from_str::<Value>(&Surroundings::read(file)?).ok()?.get("env").cloned()
        });
        Self(read.collect())
    }

    fn variable(&self, name: &str) -> Option<&str> {
        let values = self.0.iter().filter_map(|file| file.get(name)?.as_str());
        values.into_iter().find(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{around, shown};
    use super::*;

    fn planned(name: &str, variables: &[(&str, &str)], files: &[(&str, &str)]) -> Vec<String> {
        shown(&plan(&around(name, variables, files)).unwrap())
    }

    #[test]
    fn the_address_is_set_by_the_variable_of_the_place_that_serves_claude() {
        assert_eq!(
            planned("claude", &[], &[]),
            ["ANTHROPIC_BASE_URL={gateway}", "/ https://api.anthropic.com"]
        );
        let own = [("ANTHROPIC_BASE_URL", "http://proxy:4000/anthropic/")];
        assert_eq!(
            planned("claude", &own, &[]),
            ["ANTHROPIC_BASE_URL={gateway}/anthropic", "/ http://proxy:4000"]
        );
        let bedrock = [("CLAUDE_CODE_USE_BEDROCK", "1"), ("AWS_REGION", "eu-west-1")];
        assert_eq!(
            planned("claude", &bedrock, &[]),
            [
                "ANTHROPIC_BEDROCK_BASE_URL={gateway}",
                "/ https://bedrock-runtime.eu-west-1.amazonaws.com"
            ]
        );
        let vertex = [("CLAUDE_CODE_USE_VERTEX", "true"), ("CLOUD_ML_REGION", "global")];
        assert_eq!(
            planned("claude", &vertex, &[]),
            ["ANTHROPIC_VERTEX_BASE_URL={gateway}/v1", "/ https://aiplatform.googleapis.com"]
        );
        let foundry = [("CLAUDE_CODE_USE_FOUNDRY", "1"), ("ANTHROPIC_FOUNDRY_RESOURCE", "r")];
        assert_eq!(
            planned("claude", &foundry, &[]),
            ["ANTHROPIC_FOUNDRY_BASE_URL={gateway}/anthropic", "/ https://r.services.ai.azure.com"]
        );
    }

    #[test]
    fn settings_win_over_the_environment_and_are_answered_by_an_argument() {
        let own = [("ANTHROPIC_BASE_URL", "http://variable")];
        let files = [(".claude/settings.json", r#"{"env":{"ANTHROPIC_BASE_URL":"http://user"}}"#)];
        let expected = [
            "ANTHROPIC_BASE_URL={gateway}",
            "--settings",
            r#"{"env":{"ANTHROPIC_BASE_URL":"{gateway}"}}"#,
            "/ http://user",
        ];
        assert_eq!(planned("claude-settings", &own, &files), expected);
        let project = "project/.claude/settings.local.json";
        let files = [files[0], (project, r#"{"env":{"ANTHROPIC_BASE_URL":"http://local"}}"#)];
        assert_eq!(planned("claude-local", &own, &files)[3], "/ http://local");
        let broken = [(".claude/settings.json", "{")];
        assert_eq!(planned("claude-broken", &own, &broken)[1], "/ http://variable");
    }

    #[test]
    fn whoever_signs_requests_to_bedrock_hears_of_it() {
        let notes =
            |variables: &[(&str, &str)]| plan(&around("sign", variables, &[])).unwrap().notes.len();
        assert_eq!(notes(&[("CLAUDE_CODE_USE_BEDROCK", "1")]), 1);
        let token = [("CLAUDE_CODE_USE_BEDROCK", "1"), ("AWS_BEARER_TOKEN_BEDROCK", "t")];
        assert_eq!(notes(&token), 0);
    }
}
