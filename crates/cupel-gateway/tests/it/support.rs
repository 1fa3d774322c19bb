//! Starting a gateway, and asking it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request};
use cupel_gateway::{Gateway, Handle, Source};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::server::{Fake, Seen};

/// A folder of its own for each test.
pub(crate) fn folder() -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);
    let name = format!("cupel-gateway-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A gateway, and the upstream behind it.
pub(crate) struct Pair {
    pub(crate) fake: Fake,
    pub(crate) gateway: Running,
}

/// A gateway that runs.
pub(crate) struct Running {
    pub(crate) url: String,
    pub(crate) handle: Handle,
    pub(crate) file: PathBuf,
    pub(crate) folder: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<()>>,
}

/// Begins every configuration.
pub(crate) fn base(upstream: &str, folder: &std::path::Path) -> String {
    let log = folder.join("log.jsonl");
    format!(
        "listen = '127.0.0.1:0'\nupstream = '{upstream}'\ntokenizer = 'estimate'\npage_token = 'off'\nlog = '{}'\n",
        log.display()
    )
}

impl Running {
    pub(crate) async fn start(upstream: &str, config: &str) -> Self {
        let folder = folder();
        let file = folder.join("gateway.toml");
        // Most tests count what their upstream is asked.
        let quiet = if config.contains("local_limits") { "" } else { "local_limits = 'off'\n" };
        std::fs::write(&file, base(upstream, &folder) + quiet + config).unwrap();
        let gateway = Gateway::bind(Source::of_file(&file)).await.unwrap();
        let url = format!("http://{}", gateway.address());
        let handle = gateway.handle();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(gateway.run(
            async {
                let _ = stopped.await;
            },
            std::future::pending(),
        ));
        Self { url, handle, file, folder, stop: Some(stop), task: Some(task) }
    }

    /// Tells it to stop, and hands out what waits for that.
    pub(crate) fn stopping(&mut self) -> JoinHandle<()> {
        let _ = self.stop.take().unwrap().send(());
        self.task.take().unwrap()
    }

    /// Stops it, and reads its log.
    pub(crate) async fn log(mut self) -> Vec<Value> {
        self.stopping().await.unwrap();
        let text = std::fs::read_to_string(self.folder.join("log.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) async fn metric(&self, line: &str) -> f64 {
        let text = get(&format!("{}/cupel/metrics", self.url)).await.text();
        let found = text.lines().find_map(|told| told.strip_prefix(line));
        found.map_or(0.0, |value| value.trim().parse().unwrap())
    }
}

impl Pair {
    pub(crate) async fn start(config: &str) -> Self {
        let fake = Fake::start_at("127.0.0.1:0").await;
        let gateway = Running::start(&format!("http://{}", fake.address), config).await;
        Self { fake, gateway }
    }

    pub(crate) async fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        post(&format!("{}{path}", self.gateway.url), headers, body.to_owned()).await
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.fake.sight.seen.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Seen {
        self.seen().pop().expect("the upstream was asked")
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub(crate) fn number(&self, header: &str) -> i64 {
        self.headers[header].to_str().unwrap().parse().unwrap()
    }
}

pub(crate) fn client() -> Client<HttpConnector, Body> {
    Client::builder(TokioExecutor::new()).build_http()
}

pub(crate) fn request(
    method: Method,
    url: &str,
    headers: &[(&str, &str)],
    body: Body,
) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(body).unwrap()
}

async fn finish(request: Request<Body>) -> Answer {
    let answer = client().request(request).await.unwrap();
    let (parts, body) = answer.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    Answer { status: parts.status.as_u16(), headers: parts.headers, body }
}

pub(crate) async fn post(url: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Answer {
    finish(request(Method::POST, url, headers, body.into())).await
}

pub(crate) async fn get(url: &str) -> Answer {
    finish(request(Method::GET, url, &[], Body::empty())).await
}

/// Asks by another method, without a body.
pub(crate) async fn ask(method: Method, url: &str) -> Answer {
    finish(request(method, url, &[], Body::empty())).await
}

/// Waits until something is so, for five seconds at most.
pub(crate) async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    for _ in 0..500 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what}: waited in vain");
}

pub(crate) const CHAT: &str = "/v1/chat/completions";
pub(crate) const RESPONSES: &str = "/v1/responses";
pub(crate) const MESSAGES: &str = "/v1/messages";
pub(crate) const GEMINI: &str = "/v1beta/models/gemini-x:generateContent";
pub(crate) const GEMINI_STREAM: &str = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse";

pub(crate) const CODE_ASSIST: &str = "/v1internal:generateContent";
pub(crate) const CONVERSE: &str = "/model/us.anthropic.claude-sonnet-4-5-v1%3A0/converse";
pub(crate) const OLLAMA: &str = "/api/chat";

/// A long history with calls of tools, of so many rounds, for each API.
pub(crate) fn history(path: &str, rounds: usize) -> Value {
    let words = |at: usize| {
        format!(
            "Result {at}: the lighthouse of harbour {at} has {} steps, and its keeper tells how \
                 the lamp was lit, what the winter of {at} was like, and who came by boat.",
            at * 7
        )
    };
    let ask = |at: usize| format!("How many steps has lighthouse {at}?");
    let mut list: Vec<Value> = Vec::new();
    for at in 0..rounds {
        let id = format!("call_{at}");
        match path {
            CHAT => list.extend([
                json!({ "role": "user", "content": ask(at) }),
                json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function",
                    "function": { "name": "look", "arguments": format!("{{\"at\":{at}}}") } }] }),
                json!({ "role": "tool", "tool_call_id": id, "content": words(at) }),
                json!({ "role": "assistant", "content": format!("It has {} steps.", at * 7) }),
            ]),
            RESPONSES => list.extend([
                json!({ "role": "user", "content": ask(at) }),
                json!({ "type": "function_call", "call_id": id, "name": "look", "arguments": "{}" }),
                json!({ "type": "function_call_output", "call_id": id, "output": words(at) }),
                json!({ "role": "assistant", "content": format!("It has {} steps.", at * 7) }),
            ]),
            MESSAGES => list.extend([
                json!({ "role": "user", "content": ask(at) }),
                json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "look", "input": { "at": at } }] }),
                json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": words(at) }] }),
                json!({ "role": "assistant", "content": format!("It has {} steps.", at * 7) }),
            ]),
            CONVERSE => list.extend([
                json!({ "role": "user", "content": [{ "text": ask(at) }] }),
                json!({ "role": "assistant", "content": [{ "toolUse": { "toolUseId": id, "name": "look", "input": { "at": at } } }] }),
                json!({ "role": "user", "content": [{ "toolResult": { "toolUseId": id, "content": [{ "text": words(at) }] } }] }),
                json!({ "role": "assistant", "content": [{ "text": format!("It has {} steps.", at * 7) }] }),
            ]),
            OLLAMA => list.extend([
                json!({ "role": "user", "content": ask(at) }),
                json!({ "role": "assistant", "content": "", "tool_calls": [{
                    "function": { "name": "look", "arguments": { "at": at } } }] }),
                json!({ "role": "tool", "tool_name": "look", "content": words(at) }),
                json!({ "role": "assistant", "content": format!("It has {} steps.", at * 7) }),
            ]),
            _ => list.extend([
                json!({ "role": "user", "parts": [{ "text": ask(at) }] }),
                json!({ "role": "model", "parts": [{ "functionCall": { "name": "look", "args": { "at": at } } }] }),
                json!({ "role": "user", "parts": [{ "functionResponse": { "name": "look", "response": { "result": words(at) } } }] }),
                json!({ "role": "model", "parts": [{ "text": format!("It has {} steps.", at * 7) }] }),
            ]),
        }
    }
    // Each history goes on from the one of a round less.
    let last = ask(rounds);
    match path {
        CHAT => {
            list.push(json!({ "role": "user", "content": last }));
            json!({ "model": "local", "messages": list })
        }
        RESPONSES => {
            list.push(json!({ "role": "user", "content": last }));
            json!({ "model": "local", "input": list })
        }
        MESSAGES => {
            list.push(json!({ "role": "user", "content": last }));
            json!({ "model": "local", "max_tokens": 100, "messages": list })
        }
        CONVERSE => {
            list.push(json!({ "role": "user", "content": [{ "text": last }] }));
            json!({ "messages": list, "inferenceConfig": { "maxTokens": 100 } })
        }
        OLLAMA => {
            list.push(json!({ "role": "user", "content": last }));
            json!({ "model": "local", "messages": list, "stream": false })
        }
        CODE_ASSIST => {
            list.push(json!({ "role": "user", "parts": [{ "text": last }] }));
            json!({ "model": "gemini-x", "project": "p", "user_prompt_id": "1",
                "request": { "contents": list, "session_id": "s" } })
        }
        _ => {
            list.push(json!({ "role": "user", "parts": [{ "text": last }] }));
            json!({ "contents": list })
        }
    }
}

/// The messages of a request, whatever its API calls them.
pub(crate) fn list(request: &Value) -> &Vec<Value> {
    let request = request.get("request").unwrap_or(request);
    ["messages", "input", "contents"].iter().find_map(|name| request[name].as_array()).unwrap()
}

pub(crate) fn streaming(path: &str, mut body: Value) -> (String, String) {
    match path {
        GEMINI => return (GEMINI_STREAM.to_owned(), body.to_string()),
        CODE_ASSIST => {
            return ("/v1internal:streamGenerateContent?alt=sse".to_owned(), body.to_string());
        }
        CONVERSE => return (format!("{CONVERSE}-stream"), body.to_string()),
        _ => {}
    }
    body["stream"] = true.into();
    (path.to_owned(), body.to_string())
}
