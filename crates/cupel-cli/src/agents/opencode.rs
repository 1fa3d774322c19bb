//! opencode: takes settings from a variable, over those of its files.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Plan, Surroundings, jsonc};
use crate::error::Failure;

/// The variable that has settings as JSON.
const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

/// Providers whose addresses it knows by itself.
const PROVIDERS: [(&str, &str); 5] = [
    ("anthropic", "https://api.anthropic.com/v1"),
    ("google", "https://generativelanguage.googleapis.com/v1beta"),
    ("openai", "https://api.openai.com/v1"),
    ("opencode", "https://opencode.ai/zen/v1"),
    ("openrouter", "https://openrouter.ai/api/v1"),
];

pub(super) fn plan(around: &Surroundings) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    let mut content = match around.variable(CONTENT) {
        None => json!({}),
        Some(text) => jsonc::read(text).filter(Value::is_object).ok_or_else(|| {
            Failure::cannot(format!("{CONTENT}: is no JSON object; it cannot be added to"))
        })?,
    };
    let usual = PROVIDERS.map(|(name, url)| (name.to_owned(), url.to_owned()));
    let mut providers = BTreeMap::from(usual);
    let files =
        files(around).into_iter().filter_map(|file| jsonc::read(&Surroundings::read(&file)?));
    for settings in files.chain([content.clone()]) {
        let Some(own) = settings["provider"].as_object() else { continue };
        let urls =
            own.iter().filter_map(|(name, one)| Some((name, one["options"]["baseURL"].as_str()?)));
        providers.extend(urls.map(|(name, url)| (name.clone(), filled_in(url, around))));
    }
    for (name, url) in providers {
        let is_plain =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if !is_plain || super::parted(&url).is_none() {
            plan.notes
                .push(format!("requests of the provider {name} go to `{url}` without the gateway"));
            continue;
        }
        content["provider"][&name]["options"]["baseURL"] = plan.through(&name, &url)?.into();
    }
    plan.set(CONTENT, content.to_string());
    Ok(plan)
}

/// The files that settings stand in, those that win last.
fn files(around: &Surroundings) -> Vec<std::path::PathBuf> {
    let own = around.variable("XDG_CONFIG_HOME").map(std::path::PathBuf::from);
    let own = own.unwrap_or_else(|| around.home.join(".config")).join("opencode");
    let named = around.variable("OPENCODE_CONFIG").map(std::path::PathBuf::from);
    let in_folder = |folder: &std::path::Path| {
        ["opencode.json", "opencode.jsonc"].map(|name| folder.join(name)).into_iter()
    };
    in_folder(&own).chain(named).chain(in_folder(&around.folder)).collect()
}

/// A text with the variables in it that it names as `{env:NAME}`.
fn filled_in(text: &str, around: &Surroundings) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{env:") {
        let (name, behind) = after.split_once('}').unwrap_or((after, ""));
        filled.push_str(before);
        filled.push_str(around.variable(name).unwrap_or_default());
        rest = behind;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::super::testing::around;
    use super::*;

    fn planned(name: &str, variables: &[(&str, &str)], files: &[(&str, &str)]) -> (Value, Plan) {
        let plan = plan(&around(name, variables, files)).unwrap();
        let [(variable, content)] = &plan.variables[..] else { panic!("{plan:?}") };
        assert_eq!(variable, CONTENT);
        (serde_json::from_str(content).unwrap(), plan)
    }

    #[test]
    fn every_provider_gets_a_folder_of_the_gateway() {
        let (content, plan) = planned("opencode", &[], &[]);
        let base = |name: &str| content["provider"][name]["options"]["baseURL"].clone();
        assert_eq!(base("anthropic"), "{gateway}/anthropic/v1");
        assert_eq!(base("opencode"), "{gateway}/opencode/zen/v1");
        assert_eq!(plan.routes.len(), PROVIDERS.len());
        assert!(plan.notes.is_empty());
    }

    #[test]
    fn providers_of_the_users_files_are_told_too_and_other_settings_stay() {
        let file = r#"{ // mine
            "provider": {"local": {"options": {"baseURL": "http://{env:BOX}:8080/v1",},},
                         "openai": {"options": {"baseURL": "http://proxy/v1"}},
                         "odd": {"options": {"baseURL": "unix:/x"}}},
        }"#;
        let files = [(".config/opencode/opencode.jsonc", file)];
        let own =
            [("BOX", "box"), (CONTENT, r#"{"theme":"x","provider":{"openai":{"name":"O"}}}"#)];
        let (content, plan) = planned("opencode-files", &own, &files);
        assert_eq!(content["theme"], "x");
        assert_eq!(content["provider"]["openai"]["name"], "O");
        assert_eq!(content["provider"]["local"]["options"]["baseURL"], "{gateway}/local/v1");
        let origin =
            |name: &str| plan.routes.iter().find(|it| it.name == name).unwrap().origin.clone();
        assert_eq!(
            (origin("local"), origin("openai")),
            ("http://box:8080".into(), "http://proxy".into())
        );
        assert_eq!(
            plan.notes,
            ["requests of the provider odd go to `unix:/x` without the gateway"]
        );
        let broken = [(CONTENT, "[]")];
        assert!(super::plan(&around("opencode-broken", &broken, &[])).is_err());
    }
}
