//! A request on its way through.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use bytes::Bytes;
use cupel_page::RunPoint;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

use crate::api::Api;
use crate::app::{App, Current};
use crate::ask::{self, Asked, Unfit};
use crate::body::{self, Answer, Timed, Unread};
use crate::config::{Access, Fail};
use crate::fit::{self, Fitted};
use crate::path::Path;
use crate::record::{Exchange, Figures, Outcome, Shown};
use crate::refuse::refuse;
use crate::store::Known;
use crate::too_long::TooLong;
use crate::upstream::{self, NoAnswer, Upstream};

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

fn no_answer(mut exchange: Exchange, why: &NoAnswer) -> Response<Body> {
    let upstream = exchange.record.upstream.clone().unwrap_or_default();
    let (status, code, message) = match why {
        NoAnswer::Unreachable(cause) => {
            let text = format!("{upstream} cannot be reached: {cause}");
            (StatusCode::BAD_GATEWAY, "upstream-unreachable", text)
        }
        NoAnswer::Broken(cause) => {
            let text = format!("{upstream} broke off: {cause}");
            (StatusCode::BAD_GATEWAY, "upstream-broke-off", text)
        }
        NoAnswer::Late => {
            let text = format!("{upstream} did not answer in time");
            (StatusCode::GATEWAY_TIMEOUT, "upstream-late", text)
        }
    };
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
    let Some(upstream) = current.setup.upstream(path, None) else { return nowhere(exchange) };
    exchange.record.upstream = Some(upstream.name.clone());
    let server = &current.setup.config.server;
    let body = Body::new(Timed::new(body, server.body_timeout.0));
    let headers = upstream::passing_on(&parts.headers);
    let Some(request) = upstream.request(&parts.method, &parts.uri, headers, body) else {
        return refused(exchange, StatusCode::BAD_REQUEST, "odd-path", "the path is no path");
    };
    match upstream::send(&current.setup.sender, request, server.answer_timeout.0).await {
        Ok(answer) => pass_back(exchange, answer, None),
        Err(why) => no_answer(exchange, &why),
    }
}

fn nowhere(exchange: Exchange) -> Response<Body> {
    let text = "no upstream is configured for this path and model";
    refused(exchange, StatusCode::NOT_FOUND, "no-upstream", text)
}

/// The answer of an upstream, on its way back.
fn pass_back(
    mut exchange: Exchange,
    answer: Response<Incoming>,
    first: Option<Bytes>,
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
    let mut answer = Response::new(Answer::body(first, body, exchange));
    *answer.status_mut() = parts.status;
    *answer.headers_mut() = headers;
    answer
}

/// Does what takes time beside the requests, on another thread.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Unfit> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Unfit::new("internal", "fitting the request failed"))
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
    exchange.record.model.clone_from(&of_path);
    let config = &current.setup.config;
    let timed = Timed::new(body, config.server.body_timeout.0);
    let bytes = match body::read(timed, config.server.body_limit.0).await {
        Ok(bytes) => bytes,
        Err(why) => return unread(exchange, &why, config.server.body_limit.0),
    };
    let begun = Instant::now();
    let asked = {
        let (bytes, headers) = (bytes.clone(), parts.headers.clone());
        let keys = ask::keys(&parts.headers, &parts.uri);
        let header = config.sessions.header.to_ascii_lowercase();
        let of_path = of_path.clone();
        let read = move || Asked::read(api, of_path.as_deref(), &headers, keys, &header, &bytes);
        aside(read).await.and_then(|read| read)
    };
    let model = asked.as_ref().ok().and_then(|asked| asked.model.clone()).or(of_path);
    exchange.record.model.clone_from(&model);
    let Some(upstream) = current.setup.upstream(path, model.as_deref()).cloned() else {
        return nowhere(exchange);
    };
    exchange.record.upstream = Some(upstream.name.clone());
    let mut passage =
        Passage { app: app.clone(), current: current.clone(), parts, bytes, upstream, turn: None };
    let unfit = match asked {
        Ok(asked) => passage.fit(Arc::new(asked), &mut exchange).await.err(),
        Err(unfit) => Some(unfit),
    };
    exchange.record.fitting = begun.elapsed();
    if let Some(unfit) = unfit {
        exchange.record.unfit = Some(unfit.clone());
        if config.fail == Fail::Closed {
            let status = StatusCode::BAD_REQUEST;
            return refused(exchange, status, &unfit.code, &unfit.detail);
        }
    }
    exchange.show();
    passage.send(exchange).await
}

fn unread(exchange: Exchange, why: &Unread, most: usize) -> Response<Body> {
    match why {
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

/// A request between client and upstream.
struct Passage {
    app: Arc<App>,
    current: Arc<Current>,
    parts: Parts,
    bytes: Bytes,
    upstream: Arc<Upstream>,
    /// The request as a step of its conversation, if it could be read.
    turn: Option<Turn>,
}

struct Turn {
    asked: Arc<Asked>,
    known: Known,
    /// What goes out, if it could be fitted.
    fitted: Option<Fitted>,
}

impl Passage {
    /// Makes the request fit as the next step of its conversation.
    async fn fit(&mut self, asked: Arc<Asked>, exchange: &mut Exchange) -> Result<(), Unfit> {
        let Self { app, current, upstream, .. } = self;
        let id = exchange.record.id.clone();
        let (known, is_sound) = current.store.find(&current.setup, &asked, &id).await;
        if !is_sound {
            app.metrics.store_failed();
        }
        exchange.record.conversation = Some(known.conversation.clone());
        let learnt = app.learnt.get(&upstream.name, asked.model.as_deref());
        let turn = self.turn.insert(Turn { asked, known, fitted: None });
        let done = turn.fit(current, learnt).await;
        self.note(exchange);
        done
    }

    /// Notes what goes out.
    fn note(&self, exchange: &mut Exchange) {
        let Some(Turn { asked, known, fitted }) = &self.turn else { return };
        let record = &mut exchange.record;
        if let Some(fitted) = fitted {
            record.figures = Some(Figures::of(&fitted.step, fitted.text.is_none()));
        }
        if self.current.setup.config.page != Access::Off || self.current.setup.config.log_texts {
            let mut run = known.run.clone();
            run.extend(fitted.as_ref().map(|fitted| RunPoint::of(&fitted.step)));
            record.shown = Some(Shown {
                api: asked.api,
                text: asked.text.clone(),
                title: asked.title.clone(),
                options: match fitted {
                    Some(fitted) => fitted.options.clone(),
                    None => fit::options(&self.current.setup, asked, None),
                },
                step: fitted.as_ref().map(|fitted| Arc::new(fitted.step.clone())),
                run: run.into(),
            });
        }
    }

    /// The text that goes out.
    fn outgoing(&self) -> Bytes {
        let fitted = self.turn.as_ref().and_then(|turn| turn.fitted.as_ref());
        match fitted.and_then(|fitted| fitted.text.as_ref()) {
            Some(text) => Bytes::from(text.clone()),
            None => self.bytes.clone(),
        }
    }

    async fn ask(&self) -> Result<Response<Incoming>, NoAnswer> {
        let body = self.outgoing();
        let mut headers = upstream::passing_on(&self.parts.headers);
        // Answers must be readable, to hear that a request was too long.
        headers.remove(header::ACCEPT_ENCODING);
        upstream::set_length(&mut headers, body.len());
        let Parts { method, uri, .. } = &self.parts;
        let request = self.upstream.request(method, uri, headers, Body::from(body));
        let request = request.ok_or_else(|| NoAnswer::Unreachable("odd path".to_owned()))?;
        let patience = self.current.setup.config.server.answer_timeout.0;
        upstream::send(&self.current.setup.sender, request, patience).await
    }

    async fn send(mut self, mut exchange: Exchange) -> Response<Body> {
        let mut answer = match self.ask().await {
            Ok(answer) => answer,
            Err(why) => return no_answer(exchange, &why),
        };
        let (mut first, mut too_long) = match look(&mut answer).await {
            Ok(looked) => looked,
            Err(error) => return no_answer(exchange, &NoAnswer::Broken(error.to_string())),
        };
        if let Some(told) = too_long {
            if self.fit_again(told, &mut exchange).await {
                exchange.record.sent_again = true;
                answer = match self.ask().await {
                    Ok(answer) => answer,
                    Err(why) => return no_answer(exchange, &why),
                };
                (first, too_long) = match look(&mut answer).await {
                    Ok(looked) => looked,
                    Err(error) => return no_answer(exchange, &NoAnswer::Broken(error.to_string())),
                };
            }
        }
        if answer.status().is_success() && too_long.is_none() {
            self.accept().await;
        }
        pass_back(exchange, answer, first)
    }

    /// Learns the limit that an upstream told, and makes the request fit into it. `false` if that is
    /// of no use.
    async fn fit_again(&mut self, told: TooLong, exchange: &mut Exchange) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        let setup = &self.current.setup;
        let sent = if let Some(fitted) = &turn.fitted {
            fitted.step.summary.tokens_after
        } else {
            let (engine, asked) = (setup.engine(turn.asked.api).clone(), turn.asked.clone());
            let options = fit::options(setup, &asked, None);
            let count = aside(move || engine.count(asked.text.clone(), &options)).await;
            let Ok(Ok(count)) = count else { return false };
            count.total_tokens
        };
        let (limit, is_told) = told.limit(sent);
        if is_told {
            self.app.learnt.set(&self.upstream.name, turn.asked.model.as_deref(), limit);
        }
        if turn.fit(&self.current, Some(limit)).await.is_err() {
            return false;
        }
        exchange.record.unfit = None;
        self.note(exchange);
        let fitted = self.turn.as_ref().and_then(|turn| turn.fitted.as_ref());
        fitted.is_some_and(|fitted| fitted.step.summary.tokens_after < sent)
    }

    /// The upstream has answered: the step counts.
    async fn accept(&mut self) {
        let Some(Turn { asked, mut known, fitted: Some(fitted) }) = self.turn.take() else {
            return;
        };
        let Fitted { step, mut session, .. } = fitted;
        session.accept();
        known.run.push(RunPoint::of(&step));
        known.session = session;
        let saved = self.current.store.save(&self.current.setup, known, asked.text.len()).await;
        if !saved {
            self.app.metrics.store_failed();
        }
    }
}

impl Turn {
    async fn fit(&mut self, current: &Arc<Current>, learnt: Option<i64>) -> Result<(), Unfit> {
        let (asked, session) = (self.asked.clone(), self.known.session.clone());
        let options = fit::options(&current.setup, &asked, learnt);
        let marks = current.setup.config.sessions.cache_marks;
        let fitted = aside(move || fit::fit(&asked, options, session, marks)).await?;
        self.fitted = Some(fitted.map_err(|error| Unfit::of(&error))?);
        Ok(())
    }
}

/// Looks whether an answer says that the request was too long: in a refusal, or in the first event of
/// a stream. What was read of it is handed back.
async fn look(
    answer: &mut Response<Incoming>,
) -> Result<(Option<Bytes>, Option<TooLong>), hyper::Error> {
    let status = answer.status().as_u16();
    let is_stream = answer
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| {
            kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
        });
    if matches!(status, 400 | 413 | 422 | 500) {
        let (read, is_all) = body::refusal(answer.body_mut()).await?;
        let told = TooLong::of_refusal(status, &read).filter(|_| is_all);
        return Ok((Some(read), told));
    }
    if status == 200 && is_stream {
        let (read, _) = body::first_event(answer.body_mut()).await?;
        let told = TooLong::of_events(&read);
        return Ok((Some(read), told));
    }
    Ok((None, None))
}
