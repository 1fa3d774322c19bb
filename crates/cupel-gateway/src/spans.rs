//! Spans for OpenTelemetry, as OTLP over HTTP in JSON: a queue and a task, nothing that a request
//! waits for.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use cupel_otel::names;
use http_body_util::BodyExt as _;
use hyper::Request;
use hyper::header::{self, HeaderValue};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::config::{ConfigError, OtelConfig};
use crate::metrics::Metrics;
use crate::record::{Outcome, Record};
use crate::setup::Setup;
use crate::upstream::{self, Sender};

/// Requests that may wait for a slow collector.
const WAITING: usize = 2_048;

/// Requests that are sent at once.
const AT_ONCE: usize = 256;

/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long the end of the gateway waits for a collector.
const LAST_PATIENCE: Duration = Duration::from_secs(2);

enum Order {
    Send(Box<[Value; 2]>),
    Flush(oneshot::Sender<()>),
}

/// Where spans go.
pub(crate) struct Spans {
    queue: mpsc::Sender<Order>,
    metrics: Arc<Metrics>,
}

impl Spans {
    pub(crate) fn new(
        config: &OtelConfig,
        setup: &Setup,
        metrics: Arc<Metrics>,
    ) -> Result<Self, ConfigError> {
        let endpoint = config.endpoint.trim_end_matches('/');
        let url = format!("{endpoint}/v1/traces");
        let is_url = url.parse::<hyper::Uri>().is_ok_and(|uri| uri.authority().is_some());
        if !is_url {
            let text =
                format!("otel.endpoint: `{endpoint}`: is no URL; write it as http://host:4318");
            return Err(ConfigError::new(text));
        }
        let sender = upstream::sender(&setup.config, endpoint.starts_with("https"))?;
        let (queue, orders) = mpsc::channel(WAITING);
        let exporter =
            Exporter { sender, url, service: config.service.clone(), metrics: metrics.clone() };
        tokio::spawn(exporter.run(orders));
        Ok(Self { queue, metrics })
    }

    /// Hands over the spans of a request that is over.
    pub(crate) fn send(&self, record: &Record) {
        if self.queue.try_send(Order::Send(Box::new(spans(record)))).is_err() {
            self.metrics.spans_lost(2);
        }
    }

    /// Waits until all are sent, or the collector has taken too long.
    pub(crate) async fn flush(&self) {
        let (done, is_done) = oneshot::channel();
        let flushing = async {
            if self.queue.send(Order::Flush(done)).await.is_ok() {
                let _ = is_done.await;
            }
        };
        let _ = tokio::time::timeout(LAST_PATIENCE, flushing).await;
    }
}

struct Exporter {
    sender: Sender,
    url: String,
    service: String,
    metrics: Arc<Metrics>,
}

impl Exporter {
    async fn run(self, mut orders: mpsc::Receiver<Order>) {
        let mut waiting = Vec::new();
        while orders.recv_many(&mut waiting, AT_ONCE).await > 0 {
            let mut spans: Vec<Value> = Vec::new();
            let mut flushes = Vec::new();
            for order in waiting.drain(..) {
                match order {
                    Order::Send(two) => spans.extend(*two),
                    Order::Flush(done) => flushes.push(done),
                }
            }
            let count = spans.len() as u64;
            if count > 0 && !self.export(spans).await {
                self.metrics.spans_lost(count);
            }
            for done in flushes {
                let _ = done.send(());
            }
        }
    }

    async fn export(&self, spans: Vec<Value>) -> bool {
        let body = json!({ "resourceSpans": [{
            "resource": { "attributes": [text("service.name", &self.service)] },
            "scopeSpans": [{
                "scope": { "name": cupel_otel::SOURCE_NAME, "version": env!("CARGO_PKG_VERSION") },
                "spans": spans,
            }],
        }]});
        let mut request = Request::new(Body::from(body.to_string()));
        *request.method_mut() = hyper::Method::POST;
        let Ok(uri) = self.url.parse() else { return false };
        *request.uri_mut() = uri;
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(header::CONTENT_TYPE, json);
        let sending = async {
            let answer = upstream::send(&self.sender, request, PATIENCE).await.ok()?;
            let is_taken = answer.status().is_success();
            // Read to its end, the connection serves again.
            let _ = answer.into_body().collect().await;
            Some(is_taken)
        };
        tokio::time::timeout(PATIENCE, sending).await.ok().flatten().unwrap_or(false)
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: i64) -> Value {
    // Integers of 64 bits are texts in this JSON.
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

fn random(bytes: usize) -> String {
    let mut random = vec![0; bytes];
    let _ = SystemRandom::new().fill(&mut random);
    crate::hash::hex(&random)
}

/// The span of a request, and in it that of the run that made it fit.
fn spans(record: &Record) -> [Value; 2] {
    let (trace, outer, inner) = (random(16), random(8), random(8));
    let begun = u128::from(record.time_ms) * 1_000_000;
    let ended = begun + record.duration.as_nanos();
    let model = record.model.as_deref().unwrap_or_default();
    let is_error =
        record.outcome != Outcome::Answered || record.status.is_some_and(|code| code >= 400);
    let mut attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.provider.name", record.api.map_or("", crate::api::Api::provider)),
        text("gen_ai.request.model", model),
        text("cupel.request.id", &record.id),
        text("cupel.outcome", record.outcome.name()),
    ];
    if let Some(conversation) = &record.conversation {
        attributes.push(text("gen_ai.conversation.id", conversation));
    }
    if let Some(status) = record.status {
        attributes.push(number("http.response.status_code", i64::from(status)));
    }
    if let Some(unfit) = &record.unfit {
        attributes.push(text(names::ERROR_TYPE, &unfit.code));
    }
    let mut run = Vec::new();
    if let Some(figures) = &record.figures {
        attributes.push(number("gen_ai.usage.input_tokens", figures.tokens_after));
        attributes.push(number("gen_ai.usage.cache_read.input_tokens", figures.cached));
        run.push(number(names::BUDGET_MAX_TOKENS, figures.max));
        run.push(number(names::METRIC_TOKENS_IN, figures.tokens_before));
        run.push(number(names::METRIC_TOKENS_OUT, figures.tokens_after));
        let dropped = i64::try_from(figures.dropped).unwrap_or(i64::MAX);
        run.push(number(names::EXCLUSION_COUNT, dropped));
    }
    let run_ended = begun + record.fitting.as_nanos();
    let status = if is_error { json!({ "code": 2 }) } else { json!({ "code": 0 }) };
    [
        json!({
            "traceId": trace, "spanId": outer, "name": format!("chat {model}"), "kind": 3,
            "startTimeUnixNano": begun.to_string(), "endTimeUnixNano": ended.to_string(),
            "attributes": attributes, "status": status,
        }),
        json!({
            "traceId": trace, "spanId": inner, "parentSpanId": outer, "name": names::PIPELINE,
            "kind": 1, "startTimeUnixNano": begun.to_string(),
            "endTimeUnixNano": run_ended.to_string(), "attributes": run,
        }),
    ]
}
