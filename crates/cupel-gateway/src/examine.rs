//! A look at a configuration from outside: whether a gateway runs there, what it understood, and whether upstreams answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Method, Uri};
use serde_json::Value;

use crate::config::{ConfigError, LISTEN, Source, UpstreamConfig};
use crate::served::Asking;
use crate::setup::Setup;
use crate::upstream::{self, NoAnswer, Upstream};

/// Time that an upstream may take to say anything.
const PATIENCE: Duration = Duration::from_secs(5);

/// Most bytes that are read of an answer.
const MOST_BYTES: usize = 4_000_000;

/// Most models of a local server that are asked for.
const MOST_MODELS: usize = 8;

/// Findings about a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Examination {
    /// Where the gateway listens, or would.
    pub listen: String,
    /// The gateway that runs there, if one does.
    pub running: Option<RunningGateway>,
    /// Where requests go.
    pub upstreams: Vec<ExaminedUpstream>,
}

/// A gateway that runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RunningGateway {
    /// Requests to models that it has read, if it shows its metrics.
    pub requests: Option<u64>,
    /// Those of them that were made to fit.
    pub fitted: u64,
    /// Requests that it could not read or fit, by reason.
    pub unfit: Vec<(String, u64)>,
}

/// An upstream that was asked whether it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExaminedUpstream {
    /// Its address.
    pub url: String,
    /// The status of its answer to a request without a key and the time it took, or why there was none.
    pub answer: Result<(u16, Duration), String>,
    /// Windows that it tells of its models.
    pub windows: Vec<(String, i64)>,
}

/// Looks at a configuration: asks its upstreams whether they are there, without a key, and the gateway that should run by it
/// what it has done.
///
/// # Errors
///
/// If the configuration makes no sense.
pub fn examine(source: &Source) -> Result<Examination, ConfigError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| ConfigError::new(format!("no threads to be had: {error}")))?;
    runtime.block_on(async {
        let setup = Setup::new(source.read()?, 0)?;
        let listen = setup.config.listen.clone().unwrap_or_else(|| LISTEN.to_owned());
        let running = Look { setup: &setup, upstream: &at(&listen)? }.running().await;
        let mut upstreams = Vec::new();
        for upstream in setup.upstreams() {
            upstreams.push(Look { setup: &setup, upstream }.upstream().await);
        }
        Ok(Examination { listen, running, upstreams })
    })
}

/// The gateway at an address; of all addresses, the one of this machine.
fn at(listen: &str) -> Result<Arc<Upstream>, ConfigError> {
    let address = match listen.rsplit_once(':') {
        Some(("0.0.0.0" | "[::]", port)) => format!("127.0.0.1:{port}"),
        _ => listen.to_owned(),
    };
    Ok(Arc::new(Upstream::read("listen", &UpstreamConfig::new(format!("http://{address}")))?))
}

struct Look<'s> {
    setup: &'s Setup,
    upstream: &'s Arc<Upstream>,
}

impl Look<'_> {
    async fn get(&self, path: &'static str) -> Result<(u16, Bytes), NoAnswer> {
        let odd = || NoAnswer::Unreachable("odd path".to_owned());
        let (path, headers) = (Uri::from_static(path), HeaderMap::new());
        let request = self.upstream.own_request(&Method::GET, &path, headers, Body::empty());
        let answer = upstream::send(&self.setup.sender, request.ok_or_else(odd)?, PATIENCE).await?;
        let status = answer.status().as_u16();
        let body = Limited::new(answer.into_body(), MOST_BYTES).collect();
        let body = tokio::time::timeout(PATIENCE, body).await.map_err(|_| NoAnswer::Late)?;
        let body = body.map_err(|error| NoAnswer::Broken(error.to_string()))?;
        Ok((status, body.to_bytes()))
    }

    async fn running(&self) -> Option<RunningGateway> {
        let (status, body) = self.get("/healthz").await.ok()?;
        if (status, &body[..]) != (200, b"ok\n") {
            return None;
        }
        let metrics = self.get("/cupel/metrics").await.ok();
        let metrics = metrics.filter(|(status, _)| *status == 200).map(|(_, body)| body);
        let metrics = metrics.and_then(|body| String::from_utf8(body.to_vec()).ok());
        Some(metrics.as_deref().map(RunningGateway::of_metrics).unwrap_or_default())
    }

    async fn upstream(&self) -> ExaminedUpstream {
        let begun = Instant::now();
        let answer = self.get("/v1/models").await;
        let took = begun.elapsed();
        let mut windows = Vec::new();
        if let (Ok((_, body)), true) = (&answer, self.upstream.is_local()) {
            let listed: Value = serde_json::from_slice(body).unwrap_or_default();
            let names = listed["data"].as_array().into_iter().flatten();
            for name in names.filter_map(|one| one["id"].as_str()).take(MOST_MODELS) {
                windows.extend(self.window(name).await.map(|window| (name.to_owned(), window)));
            }
        }
        let answer = answer.map(|(status, _)| (status, took)).map_err(|why| why.text());
        ExaminedUpstream { url: self.upstream.name.clone(), answer, windows }
    }

    async fn window(&self, model: &str) -> Option<i64> {
        let asking = Asking {
            sender: self.setup.sender.clone(),
            upstream: self.upstream.clone(),
            model: model.to_owned(),
            authorization: None,
            via: HeaderValue::from_static("1.1 cupel"),
        };
        asking.ask().await
    }
}

impl RunningGateway {
    /// Figures from metrics in Prometheus' text form.
    fn of_metrics(text: &str) -> Self {
        let values = text.lines().filter_map(|line| {
            let (name, value) = line.strip_prefix("cupel_gateway_")?.rsplit_once(' ')?;
            Some((name, value.parse::<u64>().ok()?))
        });
        let mut found = Self::default();
        for (name, value) in values {
            match name {
                "fitting_seconds_count" => found.requests = Some(value),
                "fitted_total" => found.fitted = value,
                _ => {
                    let code = name.strip_prefix("unfit_total{code=\"");
                    let code = code.and_then(|code| code.strip_suffix("\"}"));
                    found.unfit.extend(code.map(|code| (code.to_owned(), value)));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_say_what_a_gateway_has_understood() {
        let text = "# HELP x y\ncupel_gateway_unfit_total{code=\"malformed-request\"} 3\n\
                    cupel_gateway_fitted_total 31\ncupel_gateway_fitting_seconds_count 40\n\
                    cupel_gateway_fitting_seconds_sum 0.5\nother 7\n";
        let found = RunningGateway::of_metrics(text);
        let unfit = vec![("malformed-request".to_owned(), 3)];
        assert_eq!(found, RunningGateway { requests: Some(40), fitted: 31, unfit });
        assert_eq!(RunningGateway::of_metrics("").requests, None);
    }

    #[test]
    fn a_gateway_that_listens_everywhere_is_asked_on_this_machine() {
        for (listen, name) in [
            ("0.0.0.0:1", "http://127.0.0.1:1"),
            ("[::]:2", "http://127.0.0.1:2"),
            ("10.0.0.1:3", "http://10.0.0.1:3"),
        ] {
            assert_eq!(at(listen).unwrap().name, name);
        }
    }
}
