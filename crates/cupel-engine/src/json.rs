//! The engine as text: JSON in, JSON out, for bindings.
//!
//! A binding needs two functions: [`engine`] once, [`ask`] for every question; or [`call`] for both in one.
//! A question is an object: `ask` names it, `options` has what [one call may change](crate::SETTINGS), and the
//! rest is what the question needs.
//!
//! | `ask` | needs | answer |
//! |---|---|---|
//! | `select` | – | [`Selection`](crate::Selection), with the window as `text`, and as `rewritten` the messages that are not what they were, each as JSON text after its index |
//! | `step` | `state`, of the step before; `now`; `session`, with `cache_lifetime` in seconds, `cache_marks` and `resend_share` | [`Step`](crate::Step), with `text` and `rewritten` as there, and the [`SessionState`] after it as `state` |
//! | `resume` | `state`, `session`, no request | `null`, or the error that a `step` from there would have |
//! | `report` | – | [`SelectionReport`](cupel::SelectionReport): every item with its score and reason |
//! | `explain` | `most_left_out`, if not all | [`Explanation`](crate::Explanation) |
//! | `count` | – | [`Count`](crate::Count) |
//! | `tools` | – | [`ToolList`](crate::ToolList) |
//! | `validate`, `repair` | `drop`, to lose what cannot be kept | [`Validation`](crate::Validation), [`Repaired`](crate::Repaired) |
//! | `original` | `handle` | the text, or `null` |
//! | `windows` | `budgets` | [`Windows`](crate::Windows) |
//! | `curve` | `steps`; `from`, `to` | [`Curve`](crate::Curve) |
//! | `marginal` | `slack_tokens` | [`Marginal`](crate::Marginal) |
//! | `min_budget` | `message` | [`MinBudget`](crate::MinBudget) |
//! | `compare` | `policies` | [`Comparison`](crate::Comparison) |
//! | `policies`, `models`, `settings` | no request | lists |
//! | `engine` | no request | its `version`, and its `policy` by name |
//! | `handle` | `text`, no request | the handle that the text has in a window, if it is shortened |
//!
//! A binding has sessions without an object for them: it hands in the state that the last `step` gave it, and keeps the new one
//! once the provider has answered. What it forgets costs the cache alone.
//!
//! The request is a text of its own, so that what is kept of it is its own bytes. An error is an object too,
//! with `code` and `rule`, and `path` and `remedy` where there are any.
//!
//! ```
//! let question = r#"{"ask": "select", "settings": {"max_tokens": 40, "tokenizer": "estimate"}}"#;
//! let request = r#"[{"role": "user", "content": "Hello!"}]"#;
//! let answer: serde_json::Value = serde_json::from_str(&cupel_engine::json::call(question, request)?)?;
//! assert_eq!(answer["text"], request);
//!
//! let error = cupel_engine::json::call(r#"{"ask": "select", "options": {"modle": "x"}}"#, request);
//! let error: serde_json::Value = serde_json::from_str(&error.unwrap_err())?;
//! assert_eq!((&error["code"], &error["path"]), (&"invalid-argument".into(), &"modle".into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::time::Duration;

use cupel_names::UnknownName;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    CurveRange, Engine, EngineError, ErrorCode, MarkRule, Options, RepairMode, RequestInput,
    SETTINGS, SessionSettings, SessionState, setting,
};

/// A question; what it does not need is ignored by it and refused by nobody.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Question {
    ask: String,
    settings: Value,
    options: Value,
    most_left_out: Option<usize>,
    handle: String,
    text: String,
    budgets: Vec<i64>,
    steps: Option<u16>,
    from: Option<i64>,
    to: Option<i64>,
    slack_tokens: i64,
    drop: bool,
    message: usize,
    policies: Vec<Value>,
    state: Option<Value>,
    session: SessionQuestion,
    now: Option<u64>,
}

/// The settings of a session; what is absent is usual.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SessionQuestion {
    cache_lifetime: Option<f64>,
    cache_marks: Option<MarkRule>,
    resend_share: Option<f64>,
}

impl SessionQuestion {
    fn settings(&self) -> Result<SessionSettings, EngineError> {
        let wrong = |path: &str, rule: &str| {
            EngineError::new(ErrorCode::InvalidArgument, rule).at_path(format!("session.{path}"))
        };
        let mut settings = SessionSettings::default();
        if let Some(seconds) = self.cache_lifetime {
            settings.cache_lifetime = Duration::try_from_secs_f64(seconds)
                .map_err(|_| wrong("cache_lifetime", "must be a number of seconds, 0 or more"))?;
        }
        if let Some(share) = self.resend_share {
            if !(share >= 0.0 && share.is_finite()) {
                return Err(wrong("resend_share", "must be a number, 0 or more"));
            }
            settings.resend_share = share;
        }
        settings.cache_marks = self.cache_marks.unwrap_or(settings.cache_marks);
        Ok(settings)
    }
}

/// An engine, from an object of settings; the error is JSON.
///
/// # Errors
///
/// If a setting is not known or its value is wrong.
pub fn engine(settings: &str) -> Result<Engine, String> {
    Engine::builder()
        .set_json(settings)
        .and_then(crate::EngineBuilder::build)
        .map_err(|error| told(&error))
}

/// The answer to a question about a request, as JSON.
///
/// # Errors
///
/// As JSON, if the question is not understood or cannot be answered.
pub fn ask(engine: &Engine, question: &str, request: &str) -> Result<String, String> {
    engine.answer_json(question, request).map_err(|error| told(&error))
}

/// Both in one, for whoever asks once: `settings` stand in the question.
///
/// # Errors
///
/// As [`engine`] and [`ask`].
pub fn call(question: &str, request: &str) -> Result<String, String> {
    let answer = || {
        let question = read(question)?;
        let engine = Engine::builder().set_all(&question.settings)?.build()?;
        engine.answer(&question, request.into())
    };
    answer().map_err(|error| told(&error))
}

impl Engine {
    /// The answer to a question of [`json`](crate::json), with an error for programs in Rust.
    ///
    /// # Errors
    ///
    /// If the question is not understood or cannot be answered.
    pub fn answer_json(
        &self,
        question: &str,
        request: impl Into<RequestInput>,
    ) -> Result<String, EngineError> {
        let question = read(question)?;
        if !question.settings.is_null() {
            let rule = "an engine that is there is not set anew";
            return Err(EngineError::new(ErrorCode::InvalidArgument, rule).at_path("settings"));
        }
        self.answer(&question, request.into())
    }

    fn answer(&self, question: &Question, request: RequestInput) -> Result<String, EngineError> {
        let options = Options::from_value(&question.options)?;
        match question.ask.as_str() {
            "select" => {
                let selection = self.select_with(request, &options)?;
                let mut answer = value(&selection)?;
                answer["text"] = Value::from(selection.text);
                answer["rewritten"] = json!(selection.rewritten);
                written(&answer)
            }
            "report" => written(&self.select_with(request, &options)?.report),
            "step" => self.step(question, request, &options),
            "resume" => self.resumed(question).and_then(|_| written(&Value::Null)),
            "explain" => {
                let most = question.most_left_out.unwrap_or(usize::MAX);
                written(&self.prepare(request, &options)?.explain(most)?)
            }
            "count" => written(&self.count(request, &options)?),
            "tools" => written(&self.tools(request, &options)?),
            "validate" => written(&self.validate(request)?),
            "repair" if question.drop => written(&self.repair_by(request, RepairMode::Drop)?),
            "repair" => written(&self.repair(request)?),
            "original" => written(&self.original(request, &question.handle)?),
            "windows" => written(&self.windows(request, &question.budgets, &options)?),
            "curve" => {
                let range = CurveRange::of_steps(question.steps.unwrap_or(20));
                written(&self.curve(
                    request,
                    range.from(question.from).to(question.to),
                    &options,
                )?)
            }
            "marginal" => written(&self.marginal(request, question.slack_tokens, &options)?),
            "min_budget" => written(&self.min_budget(request, question.message, &options)?),
            "compare" => {
                let policy = |(at, given)| setting::policy(&format!("policies[{at}]"), given);
                let policies: Result<Vec<_>, _> =
                    question.policies.iter().enumerate().map(policy).collect();
                written(&self.compare(request, &policies?, &options)?)
            }
            "policies" => written(&crate::policies()),
            "models" => written(&crate::models()),
            "settings" => written(&settings()),
            "engine" => written(&json!({
                "version": env!("CARGO_PKG_VERSION"),
                "policy": self.policy().name(),
            })),
            "handle" => written(&crate::handle(&question.text)),
            other => Err(unknown(other)),
        }
    }

    /// The session that a question goes on with.
    fn resumed(&self, question: &Question) -> Result<crate::Session, EngineError> {
        let session = match &question.state {
            None => self.session(),
            Some(state) => self.resume(SessionState::from_json(&state.to_string())?),
        };
        Ok(session.with_settings(question.session.settings()?))
    }

    fn step(
        &self,
        question: &Question,
        request: RequestInput,
        options: &Options,
    ) -> Result<String, EngineError> {
        let mut session = self.resumed(question)?;
        let step = session.next_with(request, options, question.now)?;
        let mut answer = value(&step)?;
        answer["text"] = Value::from(step.text);
        answer["rewritten"] = json!(step.rewritten);
        answer["state"] = value(&session.proposed_state())?;
        written(&answer)
    }
}

const QUESTIONS: [&str; 20] = [
    "select",
    "step",
    "resume",
    "report",
    "explain",
    "count",
    "tools",
    "validate",
    "repair",
    "original",
    "windows",
    "curve",
    "marginal",
    "min_budget",
    "compare",
    "policies",
    "models",
    "settings",
    "engine",
    "handle",
];

/// The table of settings, as data.
fn settings() -> Value {
    let row = |setting: &crate::Setting| {
        json!({
            "name": setting.name,
            "keyword": setting.keyword,
            "type": format!("{:?}", setting.kind).to_ascii_lowercase(),
            "default": setting.default,
            "summary": setting.summary,
            "engine": setting.is_of_engine(),
            "call": setting.is_of_call(),
            "file": setting.in_file,
            "gateway": setting.in_gateway,
        })
    };
    json!({ "schema": crate::Schema, "settings": SETTINGS.iter().map(row).collect::<Vec<_>>() })
}

fn unknown(name: &str) -> EngineError {
    let rule = UnknownName::new("question", name, QUESTIONS).to_string();
    EngineError::new(ErrorCode::InvalidArgument, rule).at_path("ask")
}

fn read(question: &str) -> Result<Question, EngineError> {
    serde_json::from_str(question)
        .map_err(|error| EngineError::of_json(ErrorCode::InvalidArgument, &error))
}

fn value(answer: &impl Serialize) -> Result<Value, EngineError> {
    serde_json::to_value(answer).map_err(|error| failed(&error))
}

fn written(answer: &impl Serialize) -> Result<String, EngineError> {
    serde_json::to_string(answer).map_err(|error| failed(&error))
}

fn failed(error: &serde_json::Error) -> EngineError {
    EngineError::new(ErrorCode::SelectionFailed, format!("the answer cannot be written: {error}"))
}

fn told(error: &EngineError) -> String {
    serde_json::to_string(error).unwrap_or_else(|_| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = r#"[{"role": "user", "content": "Ports are 80 and 443."},
        {"role": "user", "content": "Which ports?"}]"#;

    #[test]
    fn every_question_is_answered_and_others_are_refused() {
        let engine = engine(r#"{"max_tokens": 100, "tokenizer": "estimate"}"#).unwrap();
        for name in QUESTIONS {
            let question = json!({
                "ask": name, "budgets": [10], "policies": ["auto", {"scorers": ["recency"]}],
            });
            let answer = ask(&engine, &question.to_string(), REQUEST);
            assert!(answer.is_ok(), "{name}: {answer:?}");
        }
        let error = ask(&engine, r#"{"ask": "selct"}"#, REQUEST).unwrap_err();
        assert!(error.contains("did you mean `select`?"), "{error}");
    }

    #[test]
    fn every_setting_is_taken_by_its_keyword_and_a_wrong_type_has_its_path() {
        let nothing = json!({"nothing": "so"});
        for setting in SETTINGS {
            let question = |place: &str, value: &Value| {
                let given = json!({ setting.keyword: value });
                call(&json!({ "ask": "count", place: given }).to_string(), REQUEST)
            };
            let places = [("settings", setting.is_of_engine()), ("options", setting.is_of_call())];
            for (place, is_here) in places {
                assert!(question(place, &Value::Null).is_ok(), "null sets nothing");
                let error = question(place, &nothing).unwrap_err();
                let error: Value = serde_json::from_str(&error).unwrap();
                let is_unknown = error["rule"].as_str().unwrap().contains("unknown setting");
                assert_eq!(is_unknown, !is_here, "{place} {} {error}", setting.keyword);
            }
        }
    }

    /// As many questions as the session has answered, each about a longer history.
    fn histories() -> impl Iterator<Item = String> {
        (1..=12).map(|turns| {
            let said = |turn| {
                let words = format!("turn {turn} speaks of box {turn} at some length. ").repeat(4);
                format!(r#"{{"role":"user","content":"{words}"}}"#)
            };
            format!("[{}]", (0..turns).map(said).collect::<Vec<_>>().join(","))
        })
    }

    #[test]
    fn steps_by_state_are_those_of_a_session() {
        let engine = engine(r#"{"max_tokens": 300, "tokenizer": "estimate"}"#).unwrap();
        let mut session = engine.session();
        let mut state = Value::Null;
        for (at, history) in histories().enumerate() {
            let question = json!({ "ask": "step", "state": state, "now": 1_000 + at });
            let answer = ask(&engine, &question.to_string(), &history).unwrap();
            let answer: Value = serde_json::from_str(&answer).unwrap();
            let step =
                session.next_with(history, &Options::new(), Some(1_000 + at as u64)).unwrap();
            assert_eq!(answer["text"], step.text);
            assert_eq!(answer["session"], value(&step.session).unwrap());
            assert!(session.accept());
            state = answer["state"].clone();
            assert_eq!(state, value(&session.state()).unwrap());
        }
        assert_eq!(state["steps"], 12);
    }

    #[test]
    fn a_state_or_a_setting_of_a_session_that_makes_no_sense_has_its_path() {
        for (wrong, code, path) in [
            (json!({"state": {"schema": "cupel-session/9"}}), "invalid-state", Value::Null),
            (
                json!({"session": {"resend_share": -1}}),
                "invalid-argument",
                "session.resend_share".into(),
            ),
            (
                json!({"session": {"cache_lifetime": -1}}),
                "invalid-argument",
                "session.cache_lifetime".into(),
            ),
        ] {
            let mut question = json!({ "ask": "step", "settings": {"max_tokens": 100} });
            question.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
            let error = call(&question.to_string(), REQUEST).unwrap_err();
            let error: Value = serde_json::from_str(&error).unwrap();
            assert_eq!((&error["code"], &error["path"]), (&code.into(), &path), "{error}");
        }
    }
}
