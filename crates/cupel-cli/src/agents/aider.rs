//! aider, and whatever else takes its providers' addresses from the variables that their libraries read.

use super::{Plan, Surroundings};
use crate::error::Failure;

/// A provider, the variables that have its address, and the address if none does.
const PROVIDERS: [(&str, &[&str], &str); 7] = [
    ("openai", &["OPENAI_BASE_URL", "OPENAI_API_BASE"], "https://api.openai.com/v1"),
    ("anthropic", &["ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"], "https://api.anthropic.com"),
    (
        "gemini",
        &["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_BASE"],
        "https://generativelanguage.googleapis.com",
    ),
    ("openrouter", &["OPENROUTER_API_BASE", "OPENROUTER_BASE_URL"], "https://openrouter.ai/api/v1"),
    ("deepseek", &["DEEPSEEK_API_BASE"], "https://api.deepseek.com/beta"),
    ("xai", &["XAI_API_BASE"], "https://api.x.ai/v1"),
    ("ollama", &["OLLAMA_API_BASE"], "http://127.0.0.1:11434"),
];

pub(super) fn plan(around: &Surroundings) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    for (name, variables, usual) in PROVIDERS {
        let own = variables.iter().find_map(|variable| around.variable(variable));
        let base = plan.through(name, own.unwrap_or(usual))?;
        for variable in variables {
            plan.set(variable, base.clone());
        }
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{around, shown};
    use super::*;

    #[test]
    fn every_provider_has_a_folder_and_addresses_that_are_set_go_on_there() {
        let plain = shown(&plan(&around("aider", &[], &[])).unwrap());
        for expected in [
            "OPENAI_API_BASE={gateway}/openai/v1",
            "ANTHROPIC_BASE_URL={gateway}/anthropic",
            "/openai https://api.openai.com",
            "/ollama http://127.0.0.1:11434",
        ] {
            assert!(plain.iter().any(|it| it == expected), "{expected} {plain:?}");
        }
        let own = [("OPENAI_API_BASE", "http://box:8080/api/v1")];
        let own = shown(&plan(&around("aider-own", &own, &[])).unwrap());
        assert!(own.contains(&"OPENAI_BASE_URL={gateway}/openai/api/v1".to_owned()), "{own:?}");
        assert!(own.contains(&"/openai http://box:8080".to_owned()), "{own:?}");
    }
}
