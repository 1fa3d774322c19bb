//! Windows that local servers tell when they are asked: llama.cpp, Ollama, vLLM, `SGLang`, LM Studio.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Uri};
use serde_json::{Value, json};

use crate::learnt::Whose;
use crate::upstream::{self, Sender, Upstream};

/// Time that the first request of a model waits to hear its window. A local server answers within milliseconds, or is
/// loading a model and would make the request wait as well.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time that an answer holds before the server is asked again, beside the requests.
const HOLDS: Duration = Duration::from_secs(60);

/// The same for an answer without a window: Ollama tells it once a model is loaded.
const HOLDS_NOTHING: Duration = Duration::from_secs(5);

/// Most bytes of an answer.
const MOST_BYTES: usize = 4_000_000;

/// Most models that are remembered; the longest unused go first.
const MOST_ENTRIES: usize = 1_000;

/// Questions that servers answer with a window, those that say most first.
const QUESTIONS: [(Question, &str); 5] = [
    (Question::Props, "/props"),
    (Question::Running, "/api/ps"),
    (Question::Models, "/v1/models"),
    (Question::Loaded, "/api/v0/models"),
    (Question::Show, "/api/show"),
];

/// A question to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Question {
    /// llama.cpp: the window of one of its slots.
    Props,
    /// Ollama: models that are loaded, with the window that they were loaded with.
    Running,
    /// vLLM and `SGLang`: the window that the model was started with.
    Models,
    /// LM Studio: the window that a model was loaded with.
    Loaded,
    /// Ollama: what a model is configured with, and was trained with at most.
    Show,
}

impl Question {
    /// The window in an answer.
    fn window(self, model: &str, answer: &Value) -> Option<i64> {
        let of_model = |list: &str, names: &[&str]| {
            let list = answer[list].as_array()?;
            let is_it = |one: &&Value| names.iter().any(|name| is_same(one[name].as_str(), model));
            // A server with one model serves it by any name.
            list.iter().find(is_it).or(list.first().filter(|_| list.len() == 1))
        };
        let window = match self {
            Self::Props => answer["default_generation_settings"]["n_ctx"].as_i64(),
            Self::Running => of_model("models", &["model", "name"])?["context_length"].as_i64(),
            Self::Models => of_model("data", &["id"])?["max_model_len"].as_i64(),
            Self::Loaded => of_model("data", &["id"])?["loaded_context_length"].as_i64(),
            Self::Show => configured(answer).or_else(|| trained(answer)),
        };
        window.filter(|tokens| *tokens > 0)
    }
}

/// Returns true if a name is a model's, with or without the tag that Ollama adds.
fn is_same(name: Option<&str>, model: &str) -> bool {
    name.is_some_and(|name| name == model || name.strip_suffix(":latest") == Some(model))
}

/// The `num_ctx` of a model of Ollama, among its parameters, one on each line.
fn configured(answer: &Value) -> Option<i64> {
    let lines = answer["parameters"].as_str()?.lines();
    let mut windows = lines.filter_map(|line| line.trim().strip_prefix("num_ctx"));
    windows.find_map(|tokens| tokens.trim().parse().ok())
}

/// The window that a model was trained with; it may be run with less, never with more.
fn trained(answer: &Value) -> Option<i64> {
    let facts = answer["model_info"].as_object()?;
    facts.iter().find(|(name, _)| name.ends_with(".context_length"))?.1.as_i64()
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    window: Option<i64>,
    asked: Instant,
    used: Instant,
}

impl Entry {
    fn holds(&self) -> bool {
        let holds = if self.window.is_some() { HOLDS } else { HOLDS_NOTHING };
        self.asked.elapsed() < holds
    }
}

/// Windows that servers told.
#[derive(Debug, Default)]
pub(crate) struct Served(Mutex<BTreeMap<Whose, Entry>>);

impl Served {
    /// The window of a model. The first request of a model waits for it; later ones get what is known, which is
    /// asked for anew beside them.
    pub(crate) async fn window(self: &Arc<Self>, whose: &Whose, asking: Asking) -> Option<i64> {
        let known = {
            let mut entries = self.lock();
            let now = Instant::now();
            match entries.get_mut(whose) {
                Some(entry) => {
                    let (holds, window) = (entry.holds(), entry.window);
                    entry.used = now;
                    if !holds {
                        // Whoever comes meanwhile does not ask as well.
                        entry.asked = now;
                    }
                    Some((holds, window))
                }
                None => None,
            }
        };
        match known {
            Some((true, window)) => window,
            Some((false, window)) => {
                let (served, whose) = (self.clone(), whose.clone());
                tokio::spawn(async move { served.put(&whose, asking.ask().await) });
                window
            }
            None => {
                let window = asking.ask().await;
                self.put(whose, window);
                window
            }
        }
    }

    fn put(&self, whose: &Whose, window: Option<i64>) {
        let mut entries = self.lock();
        let now = Instant::now();
        entries.insert(whose.clone(), Entry { window, asked: now, used: now });
        while entries.len() > MOST_ENTRIES {
            let oldest = entries.iter().min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(whose, _)| whose.clone()) else { break };
            entries.remove(&oldest);
        }
    }

    /// Windows that are known, for the page.
    pub(crate) fn list(&self) -> Vec<Value> {
        let entries = self.lock();
        let told = entries.iter().filter_map(|(whose, entry)| {
            Some(json!({ "upstream": whose.upstream(), "model": whose.model(), "tokens": entry.window? }))
        });
        told.collect()
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Whose, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All that is needed to ask a server.
pub(crate) struct Asking {
    pub(crate) sender: Sender,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) model: String,
    /// Header that opens the server, as it came with a request.
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) via: HeaderValue,
}

impl Asking {
    /// The window that a server tells, by the first question that it answers.
    pub(crate) async fn ask(&self) -> Option<i64> {
        let [props, running, models, loaded, show] = QUESTIONS.map(|(it, path)| self.put(it, path));
        let answers = async { tokio::join!(props, running, models, loaded, show) };
        let told = tokio::time::timeout(PATIENCE, answers).await.ok()?;
        told.0.or(told.1).or(told.2).or(told.3).or(told.4)
    }

    async fn put(&self, question: Question, path: &str) -> Option<i64> {
        let body = serde_json::to_string(&json!({ "model": self.model })).ok()?;
        let (method, body) = match question {
            Question::Show => (Method::POST, Bytes::from(body)),
            _ => (Method::GET, Bytes::new()),
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::VIA, self.via.clone());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(self.authorization.clone().map(|value| (header::AUTHORIZATION, value)));
        upstream::set_length(&mut headers, body.len());
        let uri = path.parse::<Uri>().ok()?;
        let request = self.upstream.own_request(&method, &uri, headers, Body::from(body))?;
        let answer = upstream::send(&self.sender, request, PATIENCE).await.ok()?;
        if !answer.status().is_success() {
            return None;
        }
        let read = Limited::new(answer.into_body(), MOST_BYTES).collect().await.ok()?;
        let answer = serde_json::from_slice(&read.to_bytes()).ok()?;
        question.window(&self.model, &answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_tells_its_window_in_its_own_words() {
        let props = json!({ "default_generation_settings": { "n_ctx": 8_192 }, "total_slots": 4 });
        assert_eq!(Question::Props.window("m", &props), Some(8_192));
        let running = json!({ "models": [
            { "name": "other:latest", "model": "other:latest", "context_length": 1 },
            { "name": "m:latest", "model": "m:latest", "context_length": 4_096 },
        ] });
        assert_eq!(Question::Running.window("m", &running), Some(4_096));
        assert_eq!(Question::Running.window("n", &running), None);
        let models = json!({ "data": [{ "id": "served-name", "max_model_len": 32_768 }] });
        assert_eq!(Question::Models.window("m", &models), Some(32_768), "the only one");
        let openai = json!({ "data": [{ "id": "m", "object": "model" }] });
        assert_eq!(Question::Models.window("m", &openai), None);
        let loaded = json!({ "data": [
            { "id": "m", "state": "loaded", "loaded_context_length": 16_384, "max_context_length": 131_072 },
            { "id": "n", "state": "not-loaded", "max_context_length": 131_072 },
        ] });
        assert_eq!(Question::Loaded.window("m", &loaded), Some(16_384));
        assert_eq!(Question::Loaded.window("n", &loaded), None, "nobody knows what it will be");
        let show = json!({
            "parameters": "stop \"<|x|>\"\nnum_ctx                        12288\ntemperature 1",
            "model_info": { "general.architecture": "llama", "llama.context_length": 131_072 },
        });
        assert_eq!(Question::Show.window("m", &show), Some(12_288));
        let bare = json!({ "model_info": { "qwen3.context_length": 40_960 } });
        assert_eq!(Question::Show.window("m", &bare), Some(40_960));
        for (question, _) in QUESTIONS {
            for odd in [json!(null), json!([]), json!({ "data": 5, "models": [] }), json!("x")] {
                assert_eq!(question.window("m", &odd), None, "{question:?} {odd}");
            }
        }
        let none = json!({ "default_generation_settings": { "n_ctx": 0 } });
        assert_eq!(Question::Props.window("m", &none), None);
    }
}
