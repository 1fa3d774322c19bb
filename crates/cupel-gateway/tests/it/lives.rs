//! Stopping without cutting anybody off, and reading the configuration again meanwhile.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Method;
use cupel_gateway::{Gateway, Source};
use http_body_util::BodyExt as _;
use tokio::net::TcpListener;

use crate::support::{CHAT, Pair, client, folder, history, request, streaming};

#[tokio::test]
async fn a_graceful_stop_lets_streams_end() {
    let mut pair = Pair::start("max = '1k'").await;
    let (path, body) = streaming(CHAT, history(CHAT, 1));
    let url = format!("{}{path}", pair.gateway.url);
    let asked = request(Method::POST, &url, &[("x-fake", "drip")], Body::from(body));
    let mut answer = client().request(asked).await.unwrap();
    answer.body_mut().frame().await.unwrap().unwrap();
    // A page that listens must not hold it up.
    let events =
        request(Method::GET, &format!("{}/cupel/api/events", pair.gateway.url), &[], Body::empty());
    let _events = client().request(events).await.unwrap();
    let stopped = pair.gateway.stopping();
    let rest = answer.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&rest).ends_with("data: [DONE]\n\n"));
    tokio::time::timeout(Duration::from_secs(5), stopped).await.unwrap().unwrap();
    assert!(client().request(request(Method::GET, &url, &[], Body::empty())).await.is_err());
}

#[tokio::test]
async fn a_drain_ends_and_what_is_cut_off_is_noted() {
    let pair = Pair::start("max = '1k'\n[server]\ndrain = '100ms'").await;
    let (path, body) = streaming(CHAT, history(CHAT, 1));
    let url = format!("{}{path}", pair.gateway.url);
    let asked = request(Method::POST, &url, &[("x-fake", "hang")], Body::from(body));
    let mut answer = client().request(asked).await.unwrap();
    answer.body_mut().frame().await.unwrap().unwrap();
    let log = pair.gateway.log().await;
    assert_eq!(log.len(), 1);
    assert_eq!(log[0]["status"], 200);
}

#[tokio::test]
async fn a_reload_changes_limits_and_cuts_nobody_off() {
    let pair = Pair::start("max = '4k'").await;
    let (path, body) = streaming(CHAT, history(CHAT, 20));
    let url = format!("{}{path}", pair.gateway.url);
    let asked = request(Method::POST, &url, &[("x-fake", "drip")], Body::from(body.clone()));
    let mut answer = client().request(asked).await.unwrap();
    answer.body_mut().frame().await.unwrap().unwrap();
    let config = std::fs::read_to_string(&pair.gateway.file).unwrap();
    std::fs::write(&pair.gateway.file, config.replace("'4k'", "300")).unwrap();
    pair.gateway.handle.reload().unwrap();
    let rest = answer.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&rest).ends_with("data: [DONE]\n\n"));
    let fitted = pair.post(&path, &[], &body).await;
    assert!(fitted.number("x-cupel-tokens-after") <= 300);
    // What makes no sense changes nothing.
    std::fs::write(&pair.gateway.file, config.replace("max =", "mxa =")).unwrap();
    let error = pair.gateway.handle.reload().unwrap_err().to_string();
    assert!(error.contains("unknown setting `mxa`; did you mean `max`?"), "{error}");
    let fitted = pair.post(&path, &[], &body).await;
    assert!(fitted.number("x-cupel-tokens-after") <= 300);
}

#[tokio::test]
async fn neither_requests_nor_reloads_wait_for_a_collector_that_never_answers() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config =
        format!("max = '1k'\n[otel]\nendpoint = 'http://{}'", silent.local_addr().unwrap());
    let mut pair = Pair::start(&config).await;
    let body = history(CHAT, 1).to_string();
    pair.post(CHAT, &[], &body).await;
    let begun = Instant::now();
    for _ in 0..5 {
        pair.gateway.handle.reload().unwrap();
        assert_eq!(pair.post(CHAT, &[], &body).await.status, 200);
    }
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let stopped = pair.gateway.stopping();
    tokio::time::timeout(Duration::from_secs(4), stopped).await.unwrap().unwrap();
}

#[tokio::test]
async fn an_address_that_cannot_be_had_is_told_with_a_remedy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    for (address, rule) in [
        (
            taken.as_str(),
            "another program listens there; end it, or choose another port by --listen",
        ),
        ("8790", "is no address; write it as 127.0.0.1:8790"),
        ("127.0.0.1:99999", "is no address; write it as 127.0.0.1:8790"),
        ("192.0.2.1:8790", "is no address of this machine"),
    ] {
        let file = folder().join("gateway.toml");
        std::fs::write(&file, format!("listen = '{address}'\nupstream = 'http://x'\nlog = 'off'"))
            .unwrap();
        let error = Gateway::bind(Source::of_file(&file)).await.err().unwrap().to_string();
        assert_eq!(error, format!("listen: `{address}`: {rule}"));
    }
}

#[test]
fn the_sample_configuration_is_one() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/gateway.toml");
    let config = Source::of_file(file).read().unwrap();
    assert_eq!(config.listen.as_deref(), Some("0.0.0.0:8790"));
    assert_eq!(config.upstreams.len(), 1);
}
