//! Gemini CLI: a variable for each way to log in.

use serde_json::Value;

use super::{Plan, Surroundings};
use crate::error::Failure;

const GEMINI: &str = "https://generativelanguage.googleapis.com";
const CODE_ASSIST: &str = "https://cloudcode-pa.googleapis.com";

pub(super) fn plan(around: &Surroundings) -> Result<Plan, Failure> {
    let chosen = chosen_login(around);
    let is_chosen = chosen.is_some();
    let (variable, usual) = match chosen.unwrap_or_else(|| login_of(around)).as_str() {
        "oauth-personal" | "cloud-shell" | "compute-default-credentials" => {
            ("CODE_ASSIST_ENDPOINT", CODE_ASSIST.to_owned())
        }
        "vertex-ai" => {
            let usual = match around.variable("GOOGLE_CLOUD_LOCATION").unwrap_or("global") {
                "global" => "https://aiplatform.googleapis.com".to_owned(),
                region => format!("https://{region}-aiplatform.googleapis.com"),
            };
            ("GOOGLE_VERTEX_BASE_URL", usual)
        }
        _ => ("GOOGLE_GEMINI_BASE_URL", GEMINI.to_owned()),
    };
    let mut plan = Plan::default();
    let base = plan.only(around.variable(variable).unwrap_or(&usual))?;
    plan.set(variable, base);
    if variable == "GOOGLE_GEMINI_BASE_URL" && !is_chosen {
        // With an address and no login it takes itself to be behind a gateway of Google's, and refuses to start.
        plan.notes.push(
            "Gemini CLI takes an address only with a login that its settings name; choose the API key once, by /auth"
                .to_owned(),
        );
    }
    Ok(plan)
}

/// The way to log in that the settings choose.
fn chosen_login(around: &Surroundings) -> Option<String> {
    let files =
        [around.folder.join(".gemini/settings.json"), around.home.join(".gemini/settings.json")];
    files.iter().find_map(|file| {
        let settings: Value = super::jsonc::read(&Surroundings::read(file)?)?;
        let now = settings["security"]["auth"]["selectedType"].as_str();
        Some(now.or(settings["selectedAuthType"].as_str())?.to_owned())
    })
}

/// The way to log in that the environment has what is needed for.
fn login_of(around: &Surroundings) -> String {
    let login = if around.is_on("GOOGLE_GENAI_USE_GCA") {
        "oauth-personal"
    } else if around.is_on("GOOGLE_GENAI_USE_VERTEXAI") {
        "vertex-ai"
    } else {
        "gemini-api-key"
    };
    login.to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{around, shown};
    use super::*;

    #[test]
    fn the_way_to_log_in_says_which_variable_has_the_address() {
        let planned = |name: &str, variables: &[(&str, &str)], chosen: Option<&str>| {
            let settings = format!(
                "{{\"security\":{{\"auth\":{{\"selectedType\":\"{}\"}}}}}}",
                chosen.unwrap_or_default()
            );
            let files = [(".gemini/settings.json", settings.as_str())];
            let files = if chosen.is_some() { &files[..] } else { &[] };
            shown(&plan(&around(name, variables, files)).unwrap())
        };
        let key =
            ["GOOGLE_GEMINI_BASE_URL={gateway}", "/ https://generativelanguage.googleapis.com"];
        assert_eq!(planned("gemini", &[], None), key);
        assert_eq!(planned("gemini-key", &[], Some("gemini-api-key")), key);
        let account = ["CODE_ASSIST_ENDPOINT={gateway}", "/ https://cloudcode-pa.googleapis.com"];
        assert_eq!(planned("gemini-account", &[], Some("oauth-personal")), account);
        let vertex = [("GOOGLE_GENAI_USE_VERTEXAI", "true"), ("GOOGLE_CLOUD_LOCATION", "eu-x")];
        let expected =
            ["GOOGLE_VERTEX_BASE_URL={gateway}", "/ https://eu-x-aiplatform.googleapis.com"];
        assert_eq!(planned("gemini-vertex", &vertex, None), expected);
        let settings = r#"{"selectedAuthType":"gemini-api-key"}"#;
        let notes = |name: &str, files| plan(&around(name, &[], files)).unwrap().notes.len();
        assert_eq!(notes("gemini-none", &[]), 1, "it would refuse to start");
        assert_eq!(notes("gemini-old", &[(".gemini/settings.json", settings)]), 0);
        let own = [("GOOGLE_GEMINI_BASE_URL", "http://proxy/g")];
        assert_eq!(
            planned("gemini-own", &own, None),
            ["GOOGLE_GEMINI_BASE_URL={gateway}/g", "/ http://proxy"]
        );
    }
}
