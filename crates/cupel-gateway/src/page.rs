//! The gateway's own pages: the list of requests, one of them, and the metrics.

// Handlers are asynchronous whether they wait or not.
#![allow(clippy::unused_async)]

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::response::IntoResponse as _;
use axum::routing::get;
use bytes::Bytes;
use cupel_engine::NamedPolicy;
use cupel_page::{CONTENT_SECURITY_POLICY, Row, Rows, View, ViewOptions};
use http_body::Frame;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::app::App;
use crate::record::Shown;

/// Time after which a page hears that nothing has come.
const ALIVE: Duration = Duration::from_secs(15);

/// State that the pages need.
#[derive(Clone)]
pub(crate) struct Pages {
    pub(crate) app: Arc<App>,
    /// Becomes `true` when the gateway stops.
    pub(crate) stop: watch::Receiver<bool>,
}

/// The pages, under the paths that they have without a slash at their end.
pub(crate) fn router(pages: Pages) -> Router {
    Router::new()
        .route("/cupel", get(index))
        .route("/cupel/metrics", get(metrics))
        .route("/cupel/healthz", get(healthz))
        .route("/cupel/api/requests", get(requests))
        .route("/cupel/api/requests/{number}", get(request))
        .route("/cupel/api/requests/{number}/pins", get(pins).put(keep).delete(keep_no_longer))
        .route("/cupel/api/events", get(events))
        .route("/cupel/api/limits", get(limits).delete(forget_limits))
        .route("/cupel/{asset}", get(asset))
        .fallback(missing)
        .with_state(pages)
}

fn answer(kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut answer = Response::new(body.into());
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn json(value: &impl serde::Serialize) -> Response<Body> {
    answer("application/json", serde_json::to_string(value).unwrap_or_default())
}

fn error(status: StatusCode, message: &str) -> Response<Body> {
    let mut answer = json(&json!({ "error": message }));
    *answer.status_mut() = status;
    answer
}

async fn missing() -> Response<Body> {
    error(StatusCode::NOT_FOUND, "there is no such page")
}

async fn index() -> Response<Body> {
    answer("text/html; charset=utf-8", cupel_page::index())
}

async fn asset(Path(name): Path<String>) -> Response<Body> {
    let assets = cupel_page::assets();
    match assets.iter().find(|asset| asset.name == name) {
        Some(asset) => answer(asset.mime, asset.body),
        None => missing().await,
    }
}

async fn metrics(State(pages): State<Pages>) -> Response<Body> {
    answer("text/plain; version=0.0.4; charset=utf-8", pages.app.metrics_text())
}

/// The gateway runs. It says nothing about upstreams: a gateway is not unwell because one of them is.
async fn healthz() -> Response<Body> {
    answer("text/plain; charset=utf-8", "ok\n")
}

#[derive(Deserialize)]
struct After {
    after: Option<String>,
}

async fn requests(State(pages): State<Pages>, Query(asked): Query<After>) -> Response<Body> {
    let after = asked.after.as_deref().unwrap_or("0");
    let Ok(after) = after.parse() else {
        let text = format!("after: `{after}`: must be the number of a request");
        return error(StatusCode::BAD_REQUEST, &text);
    };
    json(&rows(&pages.app, pages.app.history.rows(after)))
}

fn rows(app: &App, rows: Vec<Row>) -> Rows {
    Rows { instance: app.instance.clone(), rows }
}

/// Parameters of a view beside the number.
#[derive(Default)]
struct How {
    /// Other policies to compare with.
    policies: Vec<String>,
    /// Another window than the request had.
    max: Option<i64>,
}

impl How {
    fn read(pairs: Vec<(String, String)>) -> Result<Self, String> {
        let mut how = Self::default();
        for (name, value) in pairs {
            match name.as_str() {
                // Each takes as long as the view itself: a policy is compared with once.
                "policy" if how.policies.contains(&value) => {}
                "policy" => how.policies.push(value),
                "max" => {
                    let tokens = cupel_engine::parse_tokens(&value);
                    how.max = Some(tokens.map_err(|error| format!("max: `{value}`: {error}"))?);
                }
                _ => {}
            }
        }
        Ok(how)
    }
}

/// Places for views that are made: each takes a processor for up to a second, which requests need more.
static VIEWS: Semaphore = Semaphore::const_new(2);

async fn request(
    State(pages): State<Pages>,
    Path(number): Path<String>,
    Query(asked): Query<Vec<(String, String)>>,
) -> Response<Body> {
    let how = match How::read(asked) {
        Ok(how) => how,
        Err(told) => return error(StatusCode::BAD_REQUEST, &told),
    };
    let kept = number.parse().ok().and_then(|number| pages.app.history.shown(number));
    let Some((row, shown)) = kept else {
        let text = "the request is not kept any more, or could not be read";
        return error(StatusCode::NOT_FOUND, text);
    };
    let title = row.model.clone().unwrap_or_else(|| "request".to_owned());
    let title = format!("{title} · #{number}");
    let Ok(place) = VIEWS.acquire().await else {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "the request cannot be shown");
    };
    let view = move || {
        let view = view(&pages.app, &shown, &how, title);
        drop(place);
        view
    };
    match tokio::task::spawn_blocking(view).await {
        Ok(Ok(view)) => answer("application/json", view.to_json()),
        Ok(Err(told)) => error(StatusCode::BAD_REQUEST, &told.message()),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the request cannot be shown"),
    }
}

fn view(
    app: &App,
    shown: &Shown,
    how: &How,
    title: String,
) -> Result<View, cupel_engine::EngineError> {
    let current = app.current();
    let engine = current.setup.engine(shown.api);
    let mut looks = ViewOptions::new().title(title);
    for policy in &how.policies {
        looks = looks.beside(NamedPolicy::find(policy)?);
    }
    let text = shown.text.clone();
    match (&shown.step, how.max) {
        (Some(step), None) => View::of_step(engine, text, &shown.options, step, &shown.run, &looks),
        (_, None) => View::of_request(engine, text, &shown.options, &looks),
        (_, Some(max)) => {
            let options = shown.options.clone().max_tokens(max);
            View::of_request(engine, text, &options, &looks)
        }
    }
}

/// The messages of a request that its conversation keeps from its next request on.
async fn pins(State(pages): State<Pages>, Path(number): Path<String>) -> Response<Body> {
    pinned(&pages, &number, &[], None)
}

/// Keeps the messages that are named by `message=INDEX`.
async fn keep(
    State(pages): State<Pages>,
    Path(number): Path<String>,
    Query(asked): Query<Vec<(String, String)>>,
) -> Response<Body> {
    pinned(&pages, &number, &asked, Some(true))
}

async fn keep_no_longer(
    State(pages): State<Pages>,
    Path(number): Path<String>,
    Query(asked): Query<Vec<(String, String)>>,
) -> Response<Body> {
    pinned(&pages, &number, &asked, Some(false))
}

fn pinned(
    pages: &Pages,
    number: &str,
    asked: &[(String, String)],
    is_kept: Option<bool>,
) -> Response<Body> {
    let kept = number.parse().ok().and_then(|number| pages.app.history.shown(number));
    let found = kept.and_then(|(row, shown)| Some((row.conversation?, shown.history)));
    let Some((conversation, history)) = found else {
        let text = "the request is not kept any more, or is no step of a conversation";
        return error(StatusCode::NOT_FOUND, text);
    };
    if let Some(is_kept) = is_kept {
        let indices = asked.iter().filter(|(name, _)| name == "message");
        let marks = indices.map(|(_, at)| history.get(at.parse::<usize>().ok()?).copied());
        let marks: Option<Vec<_>> = marks.collect();
        let Some(marks) = marks.filter(|marks| !marks.is_empty()) else {
            let text = "message: must be the index of a message of the request";
            return error(StatusCode::BAD_REQUEST, text);
        };
        pages.app.pins.set(&conversation, &marks, is_kept);
    }
    let messages = pages.app.pins.of(&conversation, &history);
    json(&json!({ "conversation": conversation, "messages": messages }))
}

/// The limits that upstreams told.
async fn limits(State(pages): State<Pages>) -> Response<Body> {
    let lifetime = pages.app.current().setup.config.server.learnt_lifetime.0;
    let (limits, served) = (pages.app.learnt.list(lifetime), pages.app.served.list());
    json(&json!({ "limits": limits, "served": served }))
}

/// Forgets them all.
async fn forget_limits(State(pages): State<Pages>) -> Response<Body> {
    pages.app.learnt.clear();
    pages.app.served.clear();
    limits(State(pages)).await
}

/// Rows as they come, as server-sent events: each is what the list would have for it.
async fn events(State(pages): State<Pages>) -> Response<Body> {
    let (sender, receiver) = mpsc::channel::<Bytes>(16);
    let mut coming = pages.app.history.subscribe();
    let mut stop = pages.stop.clone();
    tokio::spawn(async move {
        loop {
            let event = tokio::select! {
                row = coming.recv() => match row {
                    Ok(row) => {
                        let data = serde_json::to_string(&rows(&pages.app, vec![row]));
                        format!("data: {}\n\n", data.unwrap_or_default())
                    }
                    // Too much has come: the page asks for the list anew.
                    Err(RecvError::Lagged(_)) => "event: behind\ndata: {}\n\n".to_owned(),
                    Err(RecvError::Closed) => break,
                },
                () = tokio::time::sleep(ALIVE) => ": still here\n\n".to_owned(),
                _ = stop.wait_for(|stop| *stop) => break,
                () = sender.closed() => break,
            };
            if sender.send(Bytes::from(event)).await.is_err() {
                break;
            }
        }
    });
    answer("text/event-stream", Body::new(Events(receiver)))
}

struct Events(mpsc::Receiver<Bytes>);

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}

/// Whoever has no token hears where it is to be had.
pub(crate) fn without_token() -> Response<Body> {
    let text = "this page needs its token: open the address that the gateway printed at its start";
    error(StatusCode::FORBIDDEN, text)
}

/// Whoever may not see a page hears that there is none.
pub(crate) fn closed() -> Response<Body> {
    error(StatusCode::FORBIDDEN, "this page is for the gateway's own machine").into_response()
}
