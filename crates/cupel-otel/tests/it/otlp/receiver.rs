//! A receiver of OTLP over HTTP on loopback. It keeps what arrives, and reads it on demand.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric::Data, number_data_point};
use opentelemetry_proto::tonic::trace::v1::{Span as WireSpan, span, status::StatusCode};
use prost::Message as _;

use crate::metrics::{Points, point};
use crate::seen::{Attribute, Attributes, Event, Span};

pub(crate) struct Receiver {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    thread: Option<JoinHandle<()>>,
}

struct Request {
    path: String,
    body: Vec<u8>,
}

/// Path that the receiver requests from itself in order to stop.
const STOP: &str = "/stop";

impl Receiver {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let thread = std::thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                let request = read(&connection);
                if request.path == STOP {
                    return;
                }
                // Kept before it is acknowledged: whoever has the answer may look.
                kept.lock().unwrap().push(request);
                connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
            }
        });
        Self { address, requests, thread: Some(thread) }
    }

    pub(crate) fn endpoint(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The bodies of all requests, as they came.
    pub(crate) fn bodies(&self) -> Vec<Vec<u8>> {
        self.requests.lock().unwrap().iter().map(|request| request.body.clone()).collect()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let mut spans = Vec::new();
        for request in self.requests.lock().unwrap().iter() {
            assert_eq!(request.path, "/v1/traces");
            let request = ExportTraceServiceRequest::decode(&*request.body).unwrap();
            for scope in request.resource_spans.into_iter().flat_map(|one| one.scope_spans) {
                let name = scope.scope.unwrap().name;
                spans.extend(scope.spans.into_iter().map(|span| seen(name.clone(), span)));
            }
        }
        spans
    }

    /// The last state of every metric.
    pub(crate) fn points(&self) -> Points {
        let mut points = Points::new();
        for request in self.requests.lock().unwrap().iter() {
            assert_eq!(request.path, "/v1/metrics");
            let request = ExportMetricsServiceRequest::decode(&*request.body).unwrap();
            for scope in request.resource_metrics.into_iter().flat_map(|one| one.scope_metrics) {
                assert_eq!(scope.scope.unwrap().name, "cupel");
                points.extend(scope.metrics.into_iter().flat_map(points_of));
            }
        }
        points
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let mut connection = TcpStream::connect(self.address).unwrap();
        write!(connection, "POST {STOP} HTTP/1.1\r\n\r\n").unwrap();
        let thread = self.thread.take().expect("it is stopped once");
        let outcome = thread.join();
        if !std::thread::panicking() {
            outcome.unwrap();
        }
    }
}

fn read(connection: &TcpStream) -> Request {
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let path = line.split(' ').nth(1).expect("a request line").to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "content-type" => assert_eq!(value, "application/x-protobuf"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Request { path, body }
}

fn seen(scope: String, span: WireSpan) -> Span {
    assert_eq!(span.kind(), span::SpanKind::Internal);
    assert_eq!((span.trace_id.len(), span.span_id.len()), (16, 8));
    let events = span.events.into_iter().map(|event| Event {
        name: event.name,
        time: event.time_unix_nano,
        attributes: attributes(event.attributes),
    });
    Span {
        scope,
        name: span.name,
        trace: span.trace_id,
        id: span.span_id,
        parent: span.parent_span_id,
        start: span.start_time_unix_nano,
        end: span.end_time_unix_nano,
        attributes: attributes(span.attributes),
        events: events.collect(),
        dropped_events: span.dropped_events_count,
        error: span
            .status
            .filter(|status| status.code() == StatusCode::Error)
            .map(|status| status.message),
    }
}

fn attributes(attributes: Vec<KeyValue>) -> Attributes {
    let count = attributes.len();
    let unique: Attributes = attributes
        .into_iter()
        .map(|attribute| {
            let value = match attribute.value.and_then(|value| value.value) {
                Some(Value::IntValue(value)) => Attribute::Int(value),
                Some(Value::DoubleValue(value)) => Attribute::Float(value),
                Some(Value::StringValue(value)) => Attribute::Text(value),
                other => panic!("no attribute of ours is like {other:?}"),
            };
            (attribute.key, value)
        })
        .collect();
    assert_eq!(unique.len(), count, "each attribute arrives once");
    unique
}

fn points_of(metric: Metric) -> Vec<((String, String), (u64, f64))> {
    let key = |of: Vec<KeyValue>| point(&metric.name, &attributes(of));
    match metric.data {
        Some(Data::Sum(sum)) => sum
            .data_points
            .into_iter()
            .map(|one| {
                let Some(number_data_point::Value::AsInt(value)) = one.value else {
                    panic!("our counters count whole things: {one:?}");
                };
                (key(one.attributes), (0, value as f64))
            })
            .collect(),
        Some(Data::Histogram(histogram)) => histogram
            .data_points
            .into_iter()
            .map(|one| (key(one.attributes), (one.count, one.sum.unwrap_or(0.0))))
            .collect(),
        other => panic!("no metric of ours is like {other:?}"),
    }
}
