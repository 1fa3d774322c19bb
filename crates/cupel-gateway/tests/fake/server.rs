//! The server: what it is sent, what it is told to do by a header `x-fake`.

#[path = "check.rs"]
mod check;
#[path = "speak.rs"]
mod speak;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::mpsc;

pub(crate) use speak::Kind;

/// A request as it arrived.
#[derive(Clone, Debug)]
#[allow(dead_code)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Flaw of it, if its provider would refuse it.
    pub(crate) flaw: Option<String>,
}

#[derive(Default)]
pub(crate) struct Sight {
    /// The last requests; scripts send many.
    pub(crate) seen: Mutex<Vec<Seen>>,
    pub(crate) count: AtomicUsize,
    pub(crate) flaws: AtomicUsize,
    /// Streams whose reader left.
    pub(crate) left: AtomicUsize,
}

pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    #[allow(dead_code)]
    pub(crate) sight: Arc<Sight>,
}

impl Fake {
    pub(crate) async fn start_at(address: &str) -> Self {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let sight = Arc::new(Sight::default());
        let app = Self::app(&sight);
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, sight }
    }

    pub(crate) fn app(sight: &Arc<Sight>) -> Router {
        Router::new().fallback(answer).with_state(sight.clone())
    }
}

fn plain(status: u16, body: &Value) -> Response {
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .header("content-type", "application/json")
        .header("x-upstream", "fake")
        .body(Body::from(body.to_string()))
        .unwrap()
}

async fn answer(State(sight): State<Arc<Sight>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let path = parts.uri.to_string();
    if path == "/_fake/seen" {
        return told(&sight);
    }
    let kind = Kind::of(parts.uri.path());
    let value: Value = serde_json::from_slice(&body).unwrap_or_default();
    let flaw = kind.and_then(|kind| check::flaw(kind, &value));
    sight.count.fetch_add(1, Ordering::SeqCst);
    sight.flaws.fetch_add(usize::from(flaw.is_some()), Ordering::SeqCst);
    {
        let mut seen = sight.seen.lock().unwrap();
        if seen.len() >= 200 {
            seen.remove(0);
        }
        seen.push(Seen {
            method: parts.method.to_string(),
            path: path.clone(),
            headers: parts.headers.clone(),
            body: body.clone(),
            flaw: flaw.clone(),
        });
    }
    let mode = parts.headers.get("x-fake").and_then(|mode| mode.to_str().ok()).unwrap_or_default();
    let Some(kind) = kind else { return other(mode, &path) };
    let counted = check::letters(&value) / 4;
    if let Some(answer) = refusal(mode, kind, counted, &value) {
        return answer;
    }
    if let Some(flaw) = flaw {
        return plain(400, &kind.error(&format!("invalid request: {flaw}")));
    }
    match mode {
        // As quick as a model may be.
        "think" => tokio::time::sleep(Duration::from_millis(20)).await,
        "slow-head" => tokio::time::sleep(Duration::from_millis(300)).await,
        _ => {}
    }
    if !kind.streams(parts.uri.path(), &value) {
        return plain(200, &with_usage(mode, &kind.whole(&value)));
    }
    let is_too_long = mode == "too-long-stream" && counted > 400;
    let events = match kind {
        Kind::Converse => kind.frames(&value, is_too_long),
        _ if is_too_long => kind.late_refusal().into_iter().map(String::into_bytes).collect(),
        _ => kind.events(&value).into_iter().map(String::into_bytes).collect(),
    };
    let content_type = match kind {
        Kind::Converse => "application/vnd.amazon.eventstream",
        Kind::Ollama => "application/x-ndjson",
        _ => "text/event-stream",
    };
    stream(sight, events, content_type, mode)
}

/// An answer that reports the tokens which `usage:TOKENS` names.
fn with_usage(mode: &str, answer: &Value) -> Value {
    let mut answer = answer.clone();
    if let Some(tokens) = mode.strip_prefix("usage:") {
        let tokens: u64 = tokens.parse().unwrap();
        let usage = answer["usage"].as_object_mut().unwrap();
        for name in ["prompt_tokens", "input_tokens"] {
            usage.entry(name).and_modify(|said| *said = tokens.into());
        }
    }
    answer
}

fn told(sight: &Sight) -> Response {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let seen = sight.seen.lock().unwrap();
    for one in seen.iter() {
        *kinds.entry(one.path.clone()).or_default() += 1;
    }
    let last = seen.last().map(|one| String::from_utf8_lossy(&one.body).into_owned());
    let flaws: Vec<&String> = seen.iter().filter_map(|one| one.flaw.as_ref()).collect();
    plain(
        200,
        &json!({
            "count": sight.count.load(Ordering::SeqCst),
            "flaws": sight.flaws.load(Ordering::SeqCst),
            "flaw": flaws.first(), "paths": kinds, "last": last,
        }),
    )
}

/// Answers to questions that are for no model.
fn other(mode: &str, path: &str) -> Response {
    if mode == "redirect" {
        let answer =
            Response::builder().status(307).header("location", "http://elsewhere.example/");
        return answer.body(Body::empty()).unwrap();
    }
    plain(200, &json!({ "data": [], "input_tokens": 7, "path": path }))
}

fn refusal(mode: &str, kind: Kind, counted: usize, request: &Value) -> Option<Response> {
    if let Some(limit) = mode.strip_prefix("window:") {
        let limit: usize = limit.parse().unwrap();
        let answer = request["max_tokens"].as_u64().map_or(0, |it| usize::try_from(it).unwrap());
        return (counted + answer > limit)
            .then(|| plain(400, &kind.too_long_with_answer(counted, answer, limit)));
    }
    if let Some(limit) = mode.strip_prefix("too-long-unsaid:") {
        let limit: usize = limit.parse().unwrap();
        let mut error = kind.error("Please reduce the length of the messages or completion.");
        error["error"]["code"] = "context_length_exceeded".into();
        return (counted > limit).then(|| plain(400, &error));
    }
    if mode == "quotes" {
        let name = request["user"].as_str().unwrap_or_default();
        return Some(plain(400, &kind.error(&format!("Invalid user '{name}': no such user."))));
    }
    if mode == "lies" {
        return Some(plain(400, &kind.too_long(50 * counted, 300)));
    }
    if let Some(limit) = mode.strip_prefix("error-in-200:") {
        let limit: usize = limit.parse().unwrap();
        return (counted > limit).then(|| plain(200, &kind.too_long(counted, limit)));
    }
    if let Some(limit) = mode.strip_prefix("too-long:") {
        let limit: usize = limit.parse().unwrap();
        return (counted > limit).then(|| plain(400, &kind.too_long(counted, limit)));
    }
    match mode {
        "too-long-always" => Some(plain(400, &kind.too_long(counted, counted / 2))),
        "429" => {
            let mut answer = plain(429, &kind.error("slow down"));
            answer.headers_mut().insert("retry-after", "7".parse().unwrap());
            Some(answer)
        }
        "500" => Some(plain(500, &kind.error("it broke"))),
        "503" => Some(plain(503, &kind.error("overloaded"))),
        _ => None,
    }
}

/// A stream whose reader may leave.
struct Streamed {
    receiver: mpsc::Receiver<Result<Bytes, &'static str>>,
    sight: Arc<Sight>,
    is_over: bool,
}

impl http_body::Body for Streamed {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, &'static str>>> {
        let frame = std::task::ready!(self.receiver.poll_recv(context));
        self.is_over |= !matches!(frame, Some(Ok(_)));
        Poll::Ready(frame.map(|frame| frame.map(http_body::Frame::data)))
    }
}

impl Drop for Streamed {
    fn drop(&mut self) {
        self.sight.left.fetch_add(usize::from(!self.is_over), Ordering::SeqCst);
    }
}

fn stream(sight: Arc<Sight>, events: Vec<Vec<u8>>, content_type: &str, mode: &str) -> Response {
    let (sender, receiver) = mpsc::channel(1);
    let mode = mode.to_owned();
    tokio::spawn(async move {
        for (at, event) in events.into_iter().enumerate() {
            if at > 0 && matches!(mode.as_str(), "drip" | "hang") {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            if at == 2 && mode == "reset" {
                let _ = sender.send(Err("reset")).await;
                return;
            }
            if at == 2 && mode == "hang" {
                sender.closed().await;
                return;
            }
            if sender.send(Ok(Bytes::from(event))).await.is_err() {
                return;
            }
        }
        if mode == "open-end" {
            sender.closed().await;
        }
    });
    Response::builder()
        .header("content-type", content_type)
        .body(Body::new(Streamed { receiver, sight, is_over: false }))
        .unwrap_or_else(|_| unreachable!())
}
