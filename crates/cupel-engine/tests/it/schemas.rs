//! Every answer is of the form that its schema gives, and the schemas in the repository are current.

use std::path::PathBuf;

use cupel_engine::{CurveRange, NamedPolicy, Options, json_schemas, models, policies};
use serde_json::Value;

use crate::examples::{REQUESTS, engine, example};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("schemas")
}

fn file(name: &str) -> PathBuf {
    folder().join(format!("{name}.json"))
}

/// `SNAPSHOTS=overwrite` writes them anew.
#[test]
fn the_schemas_in_the_repository_are_those_of_the_code() {
    let overwrite = std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite");
    for (name, schema) in json_schemas() {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if overwrite {
            std::fs::create_dir_all(folder()).unwrap();
            std::fs::write(file(name), &text).unwrap();
        }
        let kept = std::fs::read_to_string(file(name)).unwrap_or_default();
        assert_eq!(kept, text, "{name}: SNAPSHOTS=overwrite writes it anew");
    }
    let files = std::fs::read_dir(folder()).unwrap().count();
    assert_eq!(files, json_schemas().len(), "a schema of nothing");
}

#[track_caller]
fn assert_valid(name: &str, answer: &impl serde::Serialize) {
    let text = std::fs::read_to_string(file(name)).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let mut compiler = boon::Compiler::new();
    let mut schemas = boon::Schemas::new();
    compiler.add_resource("answer.json", schema).unwrap();
    let compiled = compiler.compile("answer.json", &mut schemas).unwrap();
    let answer = serde_json::to_value(answer).unwrap();
    if let Err(error) = schemas.validate(&answer, compiled) {
        panic!("{name}: {error:#}");
    }
    // The schema is not so wide that anything will do.
    let mut other = answer;
    if name == "SelectionReport" {
        other["included"][0]["item"]["tokens"] = "many".into();
    } else {
        let version = if name == "SessionState" { "cupel-session/1" } else { "cupel/1" };
        assert_eq!(other["schema"], version);
        other["schema"] = "cupel/0".into();
    }
    assert!(schemas.validate(&other, compiled).is_err(), "{name} takes anything");
}

#[test]
fn every_answer_is_of_its_schema() {
    let options = Options::new();
    for name in REQUESTS {
        let text = example(name);
        let engine = engine(4_000);
        let prepared = engine.prepare(text.as_str(), &options).unwrap();
        assert_valid("Selection", &prepared.select().unwrap());
        let mut session = engine.session();
        assert_valid("Step", &session.next(text.as_str()).unwrap());
        session.accept();
        assert_valid("SessionState", session.state().unwrap());
        assert_valid("Explanation", &prepared.explain(usize::MAX).unwrap());
        assert_valid("SelectionReport", &prepared.report().unwrap());
        assert_valid("Windows", &prepared.windows(&[10, 4_000]).unwrap());
        assert_valid("Curve", &prepared.curve(CurveRange::of_steps(5)).unwrap());
        assert_valid("Marginal", &prepared.marginal(100).unwrap());
        assert_valid("MinBudget", &prepared.min_budget(3).unwrap());
        assert_valid("Survey", &prepared.survey(300).unwrap());
        assert_valid("Count", &prepared.count());
        assert_valid("Validation", &engine.validate(text.as_str()).unwrap());
        assert_valid("Repaired", &engine.repair(text.as_str()).unwrap());
    }
    let text = example("support-chat.json");
    let policies_compared = ["chat", "auto"].map(|name| NamedPolicy::find(name).unwrap());
    assert_valid(
        "Comparison",
        &engine(1_500).compare(text.as_str(), &policies_compared, &options).unwrap(),
    );
    assert_valid("Count", &engine(1).count_texts(&[("a", "text")]));
    assert_valid("EngineError", &engine(1).select(text.as_str()).unwrap_err());
    assert_valid("EngineError", &engine(1).select("{").unwrap_err());
    assert_valid("PolicyList", &policies());
    assert_valid("ModelList", &models());
}
