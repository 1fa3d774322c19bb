//! Requests on their way through, and answers on their way back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

use crate::api::Api;
use crate::app::{App, Current};
use crate::ask::{self, Asked};
use crate::body::{self, Answer, Timed, Unread};
use crate::config::{Config, Fail};
use crate::encoding::{self, Decoded};
use crate::envelope::Envelope;
use crate::memory::Held;
use crate::otel::Parent;
use crate::passage::Passage;
use crate::path::Path;
use crate::record::{Exchange, Outcome, bounded};
use crate::refuse::refuse;
use crate::shape;
use crate::strict;
use crate::unfit::Unfit;
use crate::upstream::{self, NoAnswer};
use crate::usage::UsageReader;
use crate::work;

/// Ends a request here.
pub(crate) fn refused(
    mut exchange: Exchange,
    status: StatusCode,
    code: &str,
    message: &str,
) -> Response<Body> {
    exchange.record.outcome = Outcome::Refused;
    exchange.answered(status.as_u16());
    if exchange.record.unfit.is_none() {
        exchange.record.unfit = Some(Unfit::new(code, message));
    }
    let mut answer = refuse(exchange.record.api, status, code, message);
    name(&exchange, answer.headers_mut());
    answer
}

pub(crate) fn no_answer(mut exchange: Exchange, why: &NoAnswer) -> Response<Body> {
    let upstream = exchange.record.upstream.clone().unwrap_or_default();
    let (status, code) = match why {
        NoAnswer::Unreachable(_) => (StatusCode::BAD_GATEWAY, "upstream-unreachable"),
        NoAnswer::Broken(_) => (StatusCode::BAD_GATEWAY, "upstream-broke-off"),
        NoAnswer::Late => (StatusCode::GATEWAY_TIMEOUT, "upstream-late"),
    };
    let message = format!("{upstream} {}", why.text());
    exchange.record.outcome = Outcome::NoAnswer;
    exchange.answered(status.as_u16());
    exchange.record.unfit = Some(Unfit::new(code, &*message));
    let mut answer = refuse(exchange.record.api, status, code, &message);
    name(&exchange, answer.headers_mut());
    answer
}

/// Writes the name of a request into the answer.
fn name(exchange: &Exchange, headers: &mut HeaderMap) {
    if let Ok(id) = HeaderValue::from_str(&exchange.record.id) {
        headers.insert(HeaderName::from_static("x-cupel-request-id"), id);
    }
}

/// Passes a request on unread.
pub(crate) async fn pass(
    app: &Arc<App>,
    current: &Current,
    path: &Path,
    parts: Parts,
    body: Incoming,
) -> Response<Body> {
    let mut exchange = Exchange::begin(app, parts.method.as_str(), &path.decoded, None);
    let is_empty = body.is_end_stream();
    if current.setup.config.fail == Fail::Closed && path.is_lookalike && !is_empty {
        let text = "this is asked by POST, at its plain path, since limits are enforced (fail)";
        return refused(exchange, StatusCode::BAD_REQUEST, "odd-path", text);
    }
    let Some(upstream) = current.setup.upstream(path, None) else { return nowhere(exchange) };
    exchange.record.upstream = Some(upstream.name.clone());
    let server = &current.setup.config.server;
    let body = Body::new(Timed::new(body, server.body_timeout.0));
    let headers = upstream::passing_on(&parts.headers, &app.via);
    let odd = "the path is no path";
    let again = (is_empty && upstream::is_repeatable(&parts.method, &headers))
        .then(|| upstream.request(&parts.method, &parts.uri, headers.clone(), Body::empty()));
    let Some(request) = upstream.request(&parts.method, &parts.uri, headers, body) else {
        return refused(exchange, StatusCode::BAD_REQUEST, "odd-path", odd);
    };
    let (sender, patience) = (&current.setup.sender, server.answer_timeout.0);
    let mut sent = upstream::send(sender, request, patience).await;
    if let (Err(NoAnswer::Broken(_)), Some(again)) = (&sent, again.flatten()) {
        sent = upstream::send(sender, again, patience).await;
    }
    match sent {
        Ok(answer) => pass_back(exchange, answer, None, server.pause_timeout.0),
        Err(why) => no_answer(exchange, &why),
    }
}

fn nowhere(exchange: Exchange) -> Response<Body> {
    let text = "no upstream is configured for this path and model";
    refused(exchange, StatusCode::NOT_FOUND, "no-upstream", text)
}

/// The answer of an upstream, on its way back.
pub(crate) fn pass_back(
    mut exchange: Exchange,
    answer: Response<Incoming>,
    first: Option<Bytes>,
    pause: Duration,
) -> Response<Body> {
    let (parts, body) = answer.into_parts();
    exchange.answered(parts.status.as_u16());
    let mut headers = upstream::passing(&parts.headers);
    name(&exchange, &mut headers);
    if let Some(figures) = &exchange.record.figures {
        for (name, value) in [
            ("x-cupel-kept", figures.kept.to_string()),
            ("x-cupel-dropped", figures.dropped.to_string()),
            ("x-cupel-tokens-before", figures.tokens_before.to_string()),
            ("x-cupel-tokens-after", figures.tokens_after.to_string()),
            ("x-cupel-cached-prefix", figures.cached.to_string()),
        ] {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }
    exchange.show();
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let usage = UsageReader::new(kind.filter(|_| parts.status.is_success()).unwrap_or_default());
    let mut answer = Response::new(Answer::body(first, body, exchange, usage, pause));
    *answer.status_mut() = parts.status;
    *answer.headers_mut() = headers;
    answer
}

/// A request to a model: read, made to fit, sent, and sent once more if it was too long.
pub(crate) async fn fitted(
    app: &Arc<App>,
    current: &Arc<Current>,
    path: &Path,
    (api, of_path): (Api, Option<String>),
    parts: Parts,
    body: Incoming,
) -> Response<Body> {
    let mut exchange = Exchange::begin(app, parts.method.as_str(), &path.decoded, Some(api));
    exchange.record.model = of_path.as_deref().map(bounded);
    exchange.record.parent = Parent::of(&parts.headers);
    let config = &current.setup.config;
    let timed = Timed::new(body, config.server.body_timeout.0);
    let held = app.memory.begin();
    let bytes = match body::read(timed, config.server.body_limit.0, &held).await {
        Ok(bytes) => bytes,
        Err(why) => return unread(exchange, &why, config.server.body_limit.0),
    };
    let begun = Instant::now();
    let read = {
        let (bytes, headers) = (bytes.clone(), parts.headers.clone());
        let keys = ask::keys(&parts.headers, &parts.uri, &config.key_headers);
        let header = config.sessions.header.to_ascii_lowercase();
        let (of_path, current) = (of_path.clone(), current.clone());
        work::aside(bytes.len(), move |_| {
            let body = readable(api, &headers, bytes, &current.setup.config, &held);
            let asked = body.and_then(|(body, envelope)| {
                let outside = envelope.as_ref().and_then(|envelope| envelope.model.as_deref());
                let model = of_path.as_deref().or(outside);
                let asked = Asked::read(api, model, &headers, keys, &header, &body)?;
                Ok(Asked { envelope, ..asked })
            });
            (held, asked)
        })
        .await
    };
    let asked = match read {
        Ok((held, asked)) => {
            exchange.held = Some(held);
            asked
        }
        Err(unfit) => Err(unfit),
    };
    if asked.as_ref().is_err_and(|unfit| unfit.code == NO_MEMORY) {
        return unread(exchange, &Unread::NoMemory, config.server.body_limit.0);
    }
    let model = asked.as_ref().ok().and_then(|asked| asked.model.clone()).or(of_path);
    exchange.record.model = model.as_deref().map(bounded);
    let Some(upstream) = current.setup.upstream(path, model.as_deref()).cloned() else {
        return nowhere(exchange);
    };
    exchange.record.upstream = Some(upstream.name.clone());
    exchange.record.fitting = begun.elapsed();
    Passage::new(app.clone(), current.clone(), parts, bytes, upstream).send(asked, exchange).await
}

/// The code of a request that would take more memory than is left.
const NO_MEMORY: &str = "no-memory";

/// A request as it can be read, for which memory is set aside, and what it stands in.
fn readable(
    api: Api,
    headers: &HeaderMap,
    bytes: Bytes,
    config: &Config,
    held: &Held,
) -> Result<(Bytes, Option<Envelope>), Unfit> {
    let server = &config.server;
    if is_signed(headers) {
        let text = "the signature in Authorization is of the body; use a bearer token";
        return Err(Unfit::new("signed-body", text));
    }
    let body = match encoding::decode(headers, &bytes, server.body_limit.0)? {
        Decoded::Plain => bytes,
        Decoded::Unpacked(unpacked) => unpacked,
    };
    if config.fail == Fail::Closed {
        strict::check(headers, &body)?;
    }
    let envelope = (api == Api::CodeAssist).then(|| Envelope::open(&body)).transpose()?;
    let body = match &envelope {
        None => body,
        Some(envelope) => {
            let request = envelope.request();
            if config.fail == Fail::Closed {
                strict::check(headers, &request)?;
            }
            request
        }
    };
    let values = shape::values(&body, server.messages)?;
    if values > held.most_values() {
        let text = format!(
            "the request has {values} objects and elements of lists, and the memory for requests is for {}; see \
             server.memory",
            held.most_values()
        );
        return Err(Unfit::new(shape::TOO_MANY, text));
    }
    if !held.take(body.len(), values) {
        return Err(Unfit::new(NO_MEMORY, "too many large requests at once"));
    }
    Ok((body, envelope))
}

/// Returns true if a request is signed together with its body, as AWS does it: another body would be refused.
fn is_signed(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::AUTHORIZATION).iter();
    values.into_iter().any(|value| value.as_bytes().starts_with(b"AWS4-"))
}

fn unread(exchange: Exchange, why: &Unread, most: usize) -> Response<Body> {
    match why {
        Unread::NoMemory => {
            let text = "too many large requests at once; see server.memory";
            let status = StatusCode::SERVICE_UNAVAILABLE;
            let mut answer = refused(exchange, status, NO_MEMORY, text);
            answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            answer
        }
        Unread::TooLarge => {
            let text = format!("the body has more than {most} bytes; see server.body_limit");
            refused(exchange, StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", &text)
        }
        Unread::TooSlow => {
            let text = "the body did not come in time; see server.body_timeout";
            refused(exchange, StatusCode::REQUEST_TIMEOUT, "body-too-slow", text)
        }
        Unread::Broken => {
            let text = "the body broke off, or is no HTTP";
            refused(exchange, StatusCode::BAD_REQUEST, "body-broken", text)
        }
    }
}
