//! Codex: ignores `OPENAI_BASE_URL`, but takes any setting by `-c`.

use std::path::PathBuf;

use toml::Table;

use super::{Plan, Surroundings};
use crate::error::Failure;

const OPENAI: &str = "https://api.openai.com/v1";

/// Where requests go of whoever is logged in by an account of `ChatGPT`.
const CHATGPT: &str = "https://chatgpt.com/backend-api/codex";

const OLLAMA: &str = "http://localhost:11434/v1";

pub(super) fn plan(around: &Surroundings) -> Result<Plan, Failure> {
    let home = around.variable("CODEX_HOME").map(PathBuf::from);
    let home = home.unwrap_or_else(|| around.home.join(".codex"));
    let config = match Surroundings::read(&home.join("config.toml")) {
        Some(text) => text.parse::<Table>().map_err(|error| {
            let message = error.message();
            Failure::cannot(format!("{}: {message}", home.join("config.toml").display()))
        })?,
        None => Table::new(),
    };
    let mut plan = Plan::default();
    if around.arguments.iter().any(|argument| argument == "--oss") {
        let url = around.variable("CODEX_OSS_BASE_URL").unwrap_or(OLLAMA);
        let base = plan.only(url)?;
        plan.set("CODEX_OSS_BASE_URL", base);
        return Ok(plan);
    }
    let provider = provider(around, &config);
    let own = config.get("model_providers").and_then(|all| all.get(&provider));
    let own = own.and_then(|own| own.get("base_url")?.as_str());
    let (setting, url) = match own {
        Some(url) => (format!("model_providers.{provider}.base_url"), url),
        None if provider == "openai" => {
            let url = config.get("openai_base_url").and_then(toml::Value::as_str);
            let usual = if has_account(around, &home) { CHATGPT } else { OPENAI };
            ("openai_base_url".to_owned(), url.unwrap_or(usual))
        }
        None => {
            let text = format!(
                "codex: the address of its provider `{provider}` is not in {}; give it as \
                 model_providers.{provider}.base_url",
                home.join("config.toml").display()
            );
            return Err(Failure::cannot(text));
        }
    };
    let base = plan.only(url)?;
    // As TOML has it.
    plan.arguments.extend(["-c".to_owned(), format!("{setting}=\"{base}\"")]);
    Ok(plan)
}

/// The provider that arguments, a profile or the configuration choose.
fn provider(around: &Surroundings, config: &Table) -> String {
    let text = |value: Option<&toml::Value>| value.and_then(toml::Value::as_str).map(str::to_owned);
    let arguments = &around.arguments;
    let of_argument = arguments.iter().find_map(|argument| {
        let value = argument.strip_prefix("model_provider=")?;
        Some(value.trim_matches(['"', '\'']).to_owned())
    });
    let profile = arguments.windows(2).find(|two| matches!(two[0].as_str(), "-p" | "--profile"));
    let profile = profile.map(|two| two[1].clone()).or_else(|| text(config.get("profile")));
    let of_profile =
        profile.and_then(|name| text(config.get("profiles")?.get(name)?.get("model_provider")));
    let of_config = || text(config.get("model_provider"));
    of_argument.or(of_profile).or_else(of_config).unwrap_or_else(|| "openai".to_owned())
}

/// Returns true if requests go in the name of an account and not of a key. Only the names of what is kept are looked at.
fn has_account(around: &Surroundings, home: &std::path::Path) -> bool {
    let has_key =
        ["CODEX_API_KEY", "OPENAI_API_KEY"].iter().any(|it| around.variable(it).is_some());
    let kept = Surroundings::read(&home.join("auth.json"));
    let kept = kept.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    let is_kept = |name: &str| kept.as_ref().is_some_and(|kept| !kept[name].is_null());
    is_kept("tokens") && !is_kept("OPENAI_API_KEY") && !has_key
}

#[cfg(test)]
mod tests {
    use super::super::testing::{around, shown};
    use super::*;

    fn planned(name: &str, files: &[(&str, &str)], arguments: &[&str]) -> Vec<String> {
        let mut around = around(name, &[], files);
        around.arguments = arguments.iter().map(|it| (*it).to_owned()).collect();
        shown(&plan(&around).unwrap())
    }

    #[test]
    fn the_built_in_provider_is_told_by_a_setting() {
        assert_eq!(
            planned("codex", &[], &[]),
            ["-c", "openai_base_url=\"{gateway}/v1\"", "/ https://api.openai.com"]
        );
        let own = [(".codex/config.toml", "openai_base_url = 'http://proxy/x/v1'")];
        assert_eq!(planned("codex-own", &own, &[])[1], "openai_base_url=\"{gateway}/x/v1\"");
        let account = [(".codex/auth.json", r#"{"OPENAI_API_KEY":null,"tokens":{"x":"y"}}"#)];
        assert_eq!(
            planned("codex-account", &account, &[])[1..],
            ["openai_base_url=\"{gateway}/backend-api/codex\"", "/ https://chatgpt.com"]
        );
        let key = [(".codex/auth.json", r#"{"OPENAI_API_KEY":"k","tokens":null}"#)];
        assert_eq!(planned("codex-key", &key, &[])[2], "/ https://api.openai.com");
    }

    #[test]
    fn another_provider_is_told_by_its_own_setting_whoever_chose_it() {
        let config = "model_provider = 'a'\n[profiles.p]\nmodel_provider = 'b'\n\
                      [model_providers.a]\nbase_url = 'http://a/v1'\n\
                      [model_providers.b]\nbase_url = 'http://b/v1'\n";
        let files = [(".codex/config.toml", config)];
        let of = |arguments: &[&str]| planned("codex-providers", &files, arguments)[1..].to_vec();
        assert_eq!(of(&[]), ["model_providers.a.base_url=\"{gateway}/v1\"", "/ http://a"]);
        assert_eq!(of(&["-p", "p"])[1], "/ http://b");
        assert_eq!(of(&["-c", "model_provider=\"b\""])[1], "/ http://b");
        assert_eq!(of(&["-c", "model_provider=openai"])[1], "/ https://api.openai.com");
        let oss = planned("codex-oss", &files, &["--oss"]);
        assert_eq!(oss, ["CODEX_OSS_BASE_URL={gateway}/v1", "/ http://localhost:11434"]);
    }

    #[test]
    fn what_cannot_be_known_is_said() {
        let files = [(".codex/config.toml", "model_provider = 'x'")];
        let error = plan(&around("codex-unknown", &[], &files)).unwrap_err();
        assert!(format!("{error:?}").contains("model_providers.x.base_url"), "{error:?}");
        let files = [(".codex/config.toml", "model_provider = ")];
        assert!(plan(&around("codex-broken", &[], &files)).is_err());
    }
}
