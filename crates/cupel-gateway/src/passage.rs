//! A request to a model between client and upstream.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use bytes::Bytes;
use cupel_chat::Pin;
use cupel_engine::{Cancel, MarkRule};
use cupel_page::RunPoint;
use hyper::body::Incoming;
use hyper::header;
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

use crate::api::Api;
use crate::app::{App, Current};
use crate::ask::Asked;
use crate::attempt::{self, Terms};
use crate::body::{self, Framing};
use crate::config::{Access, Fail, LocalLimits, Texts};
use crate::fit::{self, Fitted};
use crate::learnt::{LearntWindow, Whose};
use crate::measure::{Measure, MeasuredConversation, Unmeasured};
use crate::proxy::{no_answer, pass_back, refused};
use crate::record::{Exchange, Figures, Shown};
use crate::served::Asking;
use crate::store::{Known, RequestSize};
use crate::too_long::{Heard as Said, Told};
use crate::unfit::Unfit;
use crate::upstream::{self, NoAnswer, Upstream};
use crate::{sure, work};

/// Largest number of new cuts of a request for an upstream that does not say how much is too much.
const GUESSES: usize = 3;

/// A request between client and upstream.
pub(crate) struct Passage {
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
    /// Request that goes out, if it could be fitted.
    fitted: Option<Fitted>,
    /// The run, with the step that goes out.
    run: Arc<[RunPoint]>,
    /// The limit for the answer, where it was lowered.
    capped: Option<i64>,
}

/// An answer whose beginning was looked at: what was read of it, and whether it says that the request
/// was too long.
struct Heard {
    answer: Response<Incoming>,
    first: Option<Bytes>,
    too_long: Option<Told>,
}

impl Passage {
    pub(crate) fn new(
        app: Arc<App>,
        current: Arc<Current>,
        parts: Parts,
        bytes: Bytes,
        upstream: Arc<Upstream>,
    ) -> Self {
        Self { app, current, parts, bytes, upstream, turn: None }
    }

    /// Sends the request, and hands back what came of it.
    pub(crate) async fn send(
        mut self,
        asked: Result<Asked, Unfit>,
        mut exchange: Exchange,
    ) -> Response<Body> {
        let asked = match asked {
            Ok(asked) => Ok(self.with_window(asked).await),
            Err(unfit) => Err(unfit),
        };
        let heard = match asked {
            Ok(asked) if self.goes_at_once(&asked) => {
                let (heard, ()) =
                    tokio::join!(self.ask(), self.fit_meanwhile(asked, &mut exchange));
                heard
            }
            asked => {
                let unfit = match asked {
                    Ok(asked) => self.fit(asked, &mut exchange).await.err(),
                    Err(unfit) => Some(unfit),
                };
                if let Some(unfit) = unfit {
                    exchange.record.unfit = Some(unfit.clone());
                    if self.current.setup.config.fail == Fail::Closed {
                        let status = StatusCode::BAD_REQUEST;
                        return refused(exchange, status, &unfit.code, &unfit.detail);
                    }
                }
                exchange.show();
                self.ask().await
            }
        };
        let heard = self.heard(heard, &mut exchange).await;
        if let Some(held) = &exchange.held {
            held.sent(self.bytes.len());
        }
        match heard {
            Ok(heard) => {
                let pause = self.current.setup.config.server.pause_timeout.0;
                pass_back(exchange, heard.answer, heard.first, pause)
            }
            Err(why) => no_answer(exchange, &why),
        }
    }

    /// The request with the window that a local server tells, where nobody configured how much fits.
    async fn with_window(&self, mut asked: Asked) -> Asked {
        let setup = &self.current.setup;
        let is_asked = setup.config.local_limits == LocalLimits::Ask && asked.served.is_none();
        let Some(model) = asked.model.clone().filter(|_| is_asked) else { return asked };
        if self.upstream.is_local() && !setup.limits.is_configured(Some(&model)) {
            let asking = Asking {
                sender: setup.sender.clone(),
                upstream: self.upstream.clone(),
                model,
                authorization: self.parts.headers.get(header::AUTHORIZATION).cloned(),
                via: self.app.via.clone(),
            };
            let whose = whose(&self.upstream, &asked);
            // Five questions at once are a large future, and most requests ask none.
            asked.served = Box::pin(self.app.served.window(&whose, asking)).await;
        }
        asked
    }

    /// The answer that counts: the last, if the request was too long.
    async fn heard(
        &mut self,
        heard: Result<Heard, NoAnswer>,
        exchange: &mut Exchange,
    ) -> Result<Heard, NoAnswer> {
        let mut heard = heard?;
        let mut guesses = 0;
        while let Some(told) = heard.too_long {
            // A number is right the first time or never; a guess may have been too bold.
            let tries = if told.names_limit() { 1 } else { GUESSES };
            if guesses >= tries || !self.fit_again(told, exchange).await {
                break;
            }
            guesses += 1;
            exchange.record.sent_again = true;
            heard = self.ask().await?;
        }
        if heard.answer.status().is_success() && heard.too_long.is_none() {
            exchange.unmeasured = Box::pin(self.accept()).await;
        }
        Ok(heard)
    }

    /// Returns true if the request goes out before it is counted: it fits for sure, or nobody knows what fits;
    /// and nothing would be changed or refused.
    fn goes_at_once(&self, asked: &Asked) -> bool {
        let setup = &self.current.setup;
        let config = &setup.config;
        let is_marked = match config.sessions.cache_marks {
            MarkRule::Keep => false,
            MarkRule::Move => asked.is_step_long,
            _ => asked.api == Api::Anthropic,
        };
        if config.fail == Fail::Closed || config.repair || is_marked {
            return false;
        }
        let learnt = self.learnt(asked);
        let known = setup.limits.of(asked.sender(), learnt);
        let limits = known.limits;
        if config.cap_output && known.window.is_some() && asked.output > limits.reserve {
            return false;
        }
        match limits.max {
            Some(_) => sure::surely_fits(asked.request.text(), &limits),
            None => setup.engine(asked.api).policy().description().budget.is_none(),
        }
    }

    /// The window that the upstream told, if it did and that holds.
    fn learnt(&self, asked: &Asked) -> Option<LearntWindow> {
        let lifetime = self.current.setup.config.server.learnt_lifetime.0;
        self.app.learnt.get(&whose(&self.upstream, asked), lifetime)
    }

    /// The request is on its way as it came: what it is as a step of its conversation is found out
    /// while the upstream works.
    async fn fit_meanwhile(&mut self, asked: Asked, exchange: &mut Exchange) {
        // What was just handed over is written first.
        tokio::task::yield_now().await;
        let mut unfit = self.fit(asked, exchange).await.err();
        if let Some(turn) = &mut self.turn {
            if turn.fitted.take_if(|fitted| fitted.text.is_some()).is_some() {
                let text = "it went out as it came, and is larger than it seemed";
                unfit = Some(Unfit::new("went-whole", text));
                self.note(exchange);
            }
        }
        exchange.record.unfit = unfit;
        exchange.show();
    }

    /// Makes the request fit as the next step of its conversation.
    async fn fit(&mut self, asked: Asked, exchange: &mut Exchange) -> Result<(), Unfit> {
        let begun = Instant::now();
        let learnt = self.learnt(&asked);
        let Self { app, current, .. } = self;
        let id = exchange.record.id.clone();
        let (known, is_sound) = current.store.find(&current.setup, &asked, &id).await;
        if !is_sound {
            app.metrics.store_failed();
        }
        exchange.record.conversation = Some(known.conversation.clone());
        exchange.record.caller = app.callers.tell(&asked.caller, &known.conversation);
        let chosen = app.pins.of(&known.conversation, asked.conversation.beginnings());
        let pins = chosen.into_iter().map(Pin::Index);
        let asked = Asked { pins: asked.pins.iter().cloned().chain(pins).collect(), ..asked };
        let run = known.run.clone();
        let turn = Turn { asked: Arc::new(asked), known, fitted: None, run, capped: None };
        let measure = app.measures.get(&turn.measured(&self.upstream));
        let done = self.turn.insert(turn).fit(current, exchange, learnt, measure).await;
        self.note(exchange);
        exchange.record.fitting += begun.elapsed();
        done
    }

    /// Notes what goes out.
    fn note(&self, exchange: &mut Exchange) {
        let Some(Turn { asked, fitted, run, capped, .. }) = &self.turn else { return };
        let (record, setup) = (&mut exchange.record, &self.current.setup);
        let figures = fitted.as_ref().map(|it| Figures::of(&it.step, it.text.is_none()));
        record.figures = figures;
        record.capped = *capped;
        let is_shown = setup.config.page != Access::Off && setup.config.texts == Texts::Keep;
        if is_shown || setup.config.log_texts {
            record.shown = Some(Shown {
                api: asked.api,
                text: asked.request.shared_text(),
                title: asked.title.clone(),
                history: asked.conversation.beginnings().into(),
                options: match fitted {
                    Some(fitted) => fitted.options.clone(),
                    None => fit::options(asked, &setup.limits.of(asked.sender(), None)),
                },
                step: fitted.as_ref().map(|fitted| fitted.step.clone()),
                run: run.clone(),
            });
        }
    }

    /// The body that goes out, if it is not what came.
    fn changed(&self) -> Option<Bytes> {
        let turn = self.turn.as_ref()?;
        let text = turn.fitted.as_ref()?.text.clone()?;
        Some(turn.asked.envelope.as_ref().map_or(text.clone(), |it| it.around(&text)))
    }

    /// Asks the upstream, and hears how its answer begins.
    fn ask(&self) -> impl Future<Output = Result<Heard, NoAnswer>> + use<> {
        let changed = self.changed();
        let mut headers = upstream::passing_on(&self.parts.headers, &self.app.via);
        if changed.is_some() {
            // A body that came compressed goes out as it is read.
            headers.remove(header::CONTENT_ENCODING);
        }
        let body = changed.unwrap_or_else(|| self.bytes.clone());
        // Answers must be readable, to hear that a request was too long.
        headers.remove(header::ACCEPT_ENCODING);
        upstream::set_length(&mut headers, body.len());
        let Parts { method, uri, .. } = &self.parts;
        let is_repeatable = upstream::is_repeatable(method, &headers);
        let [request, again] = [headers.clone(), headers]
            .map(|headers| self.upstream.request(method, uri, headers, Body::from(body.clone())));
        let current = self.current.clone();
        async move {
            let odd = || NoAnswer::Unreachable("odd path".to_owned());
            let patience = current.setup.config.server.answer_timeout.0;
            let sender = &current.setup.sender;
            let mut sent = upstream::send(sender, request.ok_or_else(odd)?, patience).await;
            if is_repeatable && matches!(sent, Err(NoAnswer::Broken(_))) {
                sent = upstream::send(sender, again.ok_or_else(odd)?, patience).await;
            }
            let mut answer = sent?;
            let looked = look(&mut answer).await;
            let (first, too_long) = looked.map_err(|error| NoAnswer::Broken(error.to_string()))?;
            Ok(Heard { answer, first, too_long })
        }
    }

    /// Learns the limit that an upstream told, and makes the request fit into it. `false` if that is
    /// of no use.
    async fn fit_again(&mut self, told: Told, exchange: &mut Exchange) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        let setup = &self.current.setup;
        let sent = if let Some(fitted) = &turn.fitted {
            fitted.step.summary.tokens_after
        } else {
            let (engine, asked) = (setup.engine(turn.asked.api).clone(), turn.asked.clone());
            let options = fit::options(&asked, &setup.limits.of(asked.sender(), None));
            let bytes = asked.request.text().len();
            let count = work::aside(bytes, move |_| engine.count(asked.request.clone(), &options));
            let Ok(Ok(count)) = count.await else { return false };
            count.total_tokens
        };
        if told.window.is_some() {
            let whose = whose(&self.upstream, &turn.asked);
            let window = told.window(sent, turn.asked.output);
            if !window.is_some_and(|window| self.app.learnt.set(&whose, window)) {
                self.app.metrics.limit_disbelieved();
            }
        }
        // Whatever is remembered, this request is cut to what was told about it.
        let limit =
            LearntWindow { tokens: told.most(sent, turn.asked.output), counts_answer: false };
        let measure = self.app.measures.get(&turn.measured(&self.upstream));
        exchange.record.unfit = turn.fit(&self.current, exchange, Some(limit), measure).await.err();
        self.note(exchange);
        let fitted = self.turn.as_ref().and_then(|turn| turn.fitted.as_ref());
        fitted.is_some_and(|fitted| fitted.step.summary.tokens_after < sent)
    }

    /// The upstream has answered: the step counts. Its tokens are to be measured by what is reported.
    async fn accept(&mut self) -> Option<Unmeasured> {
        let turn = self.turn.take()?;
        let of = turn.measured(&self.upstream);
        let Turn { asked, mut known, fitted: Some(fitted), run, .. } = turn else { return None };
        let tokens = fitted.step.summary.tokens_after;
        self.app.learnt.accepted(&of.whose, tokens);
        known.session = fitted.session;
        known.session.accept();
        known.run = run;
        let size = RequestSize::of(asked.request.text());
        let saved = self.current.store.save(&self.current.setup, known, size).await;
        if !saved {
            self.app.metrics.store_failed();
        }
        // Whoever names a tokenizer knows how far to trust it. A lowered limit for the answer is
        // reckoned in the provider's tokens.
        let config = &self.current.setup.config;
        let is_estimate = config.tokenizer.as_deref().is_none_or(|name| name == "estimate");
        Some(Unmeasured {
            of,
            counted: tokens,
            cached: fitted.step.session.cached_tokens,
            may_be_less: asked.refuses_too_long(),
            converts: is_estimate && !config.cap_output,
        })
    }
}

impl Turn {
    fn measured(&self, upstream: &Upstream) -> MeasuredConversation {
        let conversation = self.known.conversation.clone();
        MeasuredConversation { conversation, whose: whose(upstream, &self.asked) }
    }

    async fn fit(
        &mut self,
        current: &Arc<Current>,
        exchange: &Exchange,
        learnt: Option<LearntWindow>,
        measure: Option<Measure>,
    ) -> Result<(), Unfit> {
        let (asked, session) = (self.asked.clone(), self.known.session.clone());
        let config = &current.setup.config;
        let limits = current.setup.limits.measured(asked.sender(), learnt, measure);
        let terms = Terms {
            options: fit::options(&asked, &limits),
            limits,
            session,
            fail: config.fail,
            cap_output: config.cap_output,
        };
        let bytes = asked.request.text().len();
        let held = exchange.held.clone();
        let fit = move |cancel: &Cancel| {
            let attempt = attempt::fit(&asked, &terms, cancel);
            drop(held);
            attempt
        };
        let attempt = work::aside(bytes, fit).await?;
        if let Some(fitted) = attempt.fitted {
            let steps = self.known.run.iter().copied();
            self.run = steps.chain([RunPoint::of(&fitted.step)]).collect();
            self.fitted = Some(fitted);
            self.capped = attempt.capped;
        }
        attempt.unfit.map_or(Ok(()), Err)
    }
}

fn whose(upstream: &Upstream, asked: &Asked) -> Whose {
    Whose::new(&upstream.name, asked.model.as_deref(), &asked.keys)
}

/// Looks whether an answer says that the request was too long: in a refusal, or in the events of a stream
/// before its answer begins. What was read of it is handed back.
async fn look(
    answer: &mut Response<Incoming>,
) -> Result<(Option<Bytes>, Option<Told>), hyper::Error> {
    let status = answer.status().as_u16();
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default().trim_start().to_ascii_lowercase();
    if !Told::may_be_in(status) {
        return Ok((None, None));
    }
    if status != 200 {
        let (read, is_all) = body::refusal(answer.body_mut()).await?;
        let told = Told::of_refusal(status, &read).filter(|_| is_all);
        return Ok((Some(read), told));
    }
    let framing = Framing::of(&kind);
    if let Some(framing) = framing {
        let (read, said) = body::before_answer(answer.body_mut(), framing).await?;
        let told = if let Said::TooLong(told) = said { Some(told) } else { None };
        return Ok((Some(read), told));
    }
    if kind.starts_with("application/json") {
        let (read, is_all) = body::error_or_beginning(answer.body_mut()).await?;
        let told = Told::of_refusal(status, &read).filter(|_| is_all);
        return Ok((Some(read), told));
    }
    Ok((None, None))
}
