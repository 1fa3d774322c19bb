//! Spans and metrics for OpenTelemetry, as OTLP over HTTP in JSON: a queue and a task, nothing that a
//! request waits for.

mod measure;
mod parent;
mod span;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper::Request;
use hyper::header::{self, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::MissedTickBehavior;

use crate::config::{ConfigError, OtelConfig};
use crate::metrics::Metrics;
use crate::record::Record;
use crate::setup::Setup;
use crate::upstream::{self, Sender};

use measure::{Measured, Measures};
pub(crate) use parent::Parent;

/// Requests that may wait for a slow collector.
const WAITING: usize = 2_048;

/// Requests that are sent at once.
const AT_ONCE: usize = 256;

/// Time that a collector may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time that the end of the gateway waits for a collector.
const LAST_PATIENCE: Duration = Duration::from_secs(2);

/// Time between two sendings of metrics.
const PERIOD: Duration = Duration::from_secs(30);

enum Order {
    Send(Box<Told>),
    Flush(oneshot::Sender<()>),
}

/// Message about a request.
struct Told {
    measured: Measured,
    /// `None` if its client keeps no trace.
    spans: Option<[Value; 2]>,
}

/// Where spans and metrics go.
pub(crate) struct Otel {
    queue: mpsc::Sender<Order>,
    metrics: Arc<Metrics>,
}

impl Otel {
    pub(crate) fn new(
        config: &OtelConfig,
        setup: &Setup,
        metrics: Arc<Metrics>,
    ) -> Result<Self, ConfigError> {
        let endpoint = config.endpoint.trim_end_matches('/');
        let is_url = endpoint.parse::<hyper::Uri>().is_ok_and(|uri| uri.authority().is_some());
        if !is_url {
            let text =
                format!("otel.endpoint: `{endpoint}`: is no URL; write it as http://host:4318");
            return Err(ConfigError::new(text));
        }
        let sender = upstream::sender(&setup.config, endpoint.starts_with("https"))?;
        let (queue, orders) = mpsc::channel(WAITING);
        let exporter = Exporter {
            sender,
            endpoint: endpoint.to_owned(),
            service: config.service.clone(),
            metrics: metrics.clone(),
            measures: Measures::new(),
        };
        tokio::spawn(exporter.run(orders));
        Ok(Self { queue, metrics })
    }

    /// Hands over what is told of a request that is over.
    pub(crate) fn send(&self, record: &Record) {
        let is_traced = record.parent.as_ref().is_none_or(|parent| parent.is_sampled);
        let spans = is_traced.then(|| span::of(record));
        let told = Told { measured: Measured::of(record), spans };
        if self.queue.try_send(Order::Send(Box::new(told))).is_err() && is_traced {
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
    endpoint: String,
    service: String,
    metrics: Arc<Metrics>,
    measures: Measures,
}

impl Exporter {
    async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        let mut waiting = Vec::new();
        let mut period = tokio::time::interval(PERIOD);
        period.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                count = orders.recv_many(&mut waiting, AT_ONCE) => {
                    if count == 0 {
                        break;
                    }
                    self.take(&mut waiting).await;
                }
                _ = period.tick() => self.send_metrics().await,
            }
        }
        self.send_metrics().await;
    }

    async fn take(&mut self, waiting: &mut Vec<Order>) {
        let mut spans: Vec<Value> = Vec::new();
        let mut flushes = Vec::new();
        for order in waiting.drain(..) {
            match order {
                Order::Send(told) => {
                    self.measures.add(told.measured);
                    spans.extend(told.spans.into_iter().flatten());
                }
                Order::Flush(done) => flushes.push(done),
            }
        }
        let count = spans.len() as u64;
        if count > 0 && !self.send_spans(spans).await {
            self.metrics.spans_lost(count);
        }
        if !flushes.is_empty() {
            self.send_metrics().await;
        }
        for done in flushes {
            let _ = done.send(());
        }
    }

    async fn send_spans(&self, spans: Vec<Value>) -> bool {
        let body = json!({ "resourceSpans": [{
            "resource": self.resource(),
            "scopeSpans": [{ "scope": scope(), "spans": spans }],
        }]});
        self.export("/v1/traces", &body).await
    }

    /// Sends what has changed. Sums are of all time: what a collector misses is in the next.
    async fn send_metrics(&mut self) {
        let Some(metrics) = self.measures.told() else { return };
        let body = json!({ "resourceMetrics": [{
            "resource": self.resource(),
            "scopeMetrics": [{ "scope": scope(), "metrics": metrics }],
        }]});
        self.export("/v1/metrics", &body).await;
    }

    fn resource(&self) -> Value {
        json!({ "attributes": [text("service.name", &self.service)] })
    }

    async fn export(&self, path: &str, body: &Value) -> bool {
        let mut request = Request::new(Body::from(body.to_string()));
        *request.method_mut() = hyper::Method::POST;
        let Ok(uri) = format!("{}{path}", self.endpoint).parse() else { return false };
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

fn scope() -> Value {
    json!({ "name": cupel_otel::SOURCE_NAME, "version": env!("CARGO_PKG_VERSION") })
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: i64) -> Value {
    // Integers of 64 bits are texts in this JSON.
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}
