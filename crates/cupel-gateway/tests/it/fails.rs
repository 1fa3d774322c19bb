//! Requests that cannot be read, upstreams that cannot be reached: passed on or refused, never a crash.

use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use http_body_util::BodyExt as _;
use tokio::io::AsyncWriteExt as _;

use crate::support::{
    CHAT, GEMINI, MESSAGES, Pair, RESPONSES, client, history, post, request, streaming, until,
};

fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let deep = "[".repeat(200_000);
    let nested = format!("{{\"messages\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    vec![
        ("empty", Vec::new()),
        ("no JSON", b"hello".to_vec()),
        ("half", b"{\"messages\":[{\"role\":\"user\",".to_vec()),
        ("no UTF-8", b"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}".to_vec()),
        ("lone surrogate", br#"{"messages":[{"role":"user","content":"\ud800"}]}"#.to_vec()),
        ("deep", deep.into_bytes()),
        ("nested", nested.into_bytes()),
        ("numbers", br#"{"messages":1e999,"model":-0}"#.to_vec()),
        ("NULs", vec![0; 10_000]),
        ("twice", br#"{"messages":[],"messages":[{"role":"user","content":"x"}]}"#.to_vec()),
        ("orphan", br#"{"messages":[{"role":"tool","tool_call_id":"x","content":"y"}]}"#.to_vec()),
    ]
}

#[tokio::test]
async fn what_cannot_be_read_goes_on_unchanged_and_is_counted() {
    let pair = Pair::start("max = 100").await;
    for (name, body) in hostile() {
        for path in [CHAT, RESPONSES, MESSAGES, GEMINI] {
            let before = pair.seen().len();
            let url = format!("{}{path}", pair.gateway.url);
            post(&url, &[], Body::from(body.clone())).await;
            assert_eq!(pair.seen().len(), before + 1, "{name} {path}");
            assert_eq!(pair.last().body, body, "{name} {path}");
        }
    }
    let counted =
        pair.gateway.metric("cupel_gateway_unfit_total{code=\"malformed-request\"}").await;
    assert!(counted >= 24.0, "{counted}");
}

#[tokio::test]
async fn closed_means_refused_in_the_form_that_the_client_expects() {
    let pair = Pair::start("max = 100\nfail = 'closed'").await;
    for (path, field) in
        [(CHAT, "code"), (RESPONSES, "code"), (MESSAGES, "type"), (GEMINI, "status")]
    {
        let answer = pair.post(path, &[], "{").await;
        assert_eq!(answer.status, 400);
        assert!(answer.json()["error"]["message"].as_str().unwrap().starts_with("cupel gateway: "));
        assert!(answer.json()["error"][field].is_string(), "{path}");
    }
    let long = "word ".repeat(1_000);
    let body = format!(r#"{{"messages":[{{"role":"user","content":"{long}"}}]}}"#);
    let answer = pair.post(CHAT, &[], &body).await;
    assert_eq!(answer.json()["error"]["code"], "does-not-fit");
    let zipped = pair.post(CHAT, &[("content-encoding", "gzip")], "zzz").await;
    assert_eq!(zipped.json()["error"]["code"], "encoded-body");
    assert!(pair.seen().is_empty());
}

#[tokio::test]
async fn bodies_are_bounded() {
    let pair = Pair::start("max = 100\n[server]\nbody_limit = '1MB'").await;
    let url = format!("{}{CHAT}", pair.gateway.url);
    let large = post(&url, &[], Body::from(vec![b' '; 2_000_000])).await;
    assert_eq!(
        (large.status, large.json()["error"]["code"].as_str()),
        (413, Some("body-too-large"))
    );
    let beyond = post(&url, &[], Body::from(vec![b' '; 1_000_001])).await;
    assert_eq!(beyond.status, 413);
    assert!(pair.seen().is_empty());
    let within = post(&url, &[], Body::from(vec![b' '; 1_000_000])).await;
    assert_ne!(within.status, 413, "the limit is the most that is taken");
    assert_eq!(pair.seen().len(), 1);
}

#[tokio::test]
async fn refusals_of_the_upstream_come_back_as_they_are() {
    let pair = Pair::start("max = '1k'").await;
    let body = history(CHAT, 1).to_string();
    let limited = pair.post(CHAT, &[("x-fake", "429")], &body).await;
    assert_eq!((limited.status, limited.headers["retry-after"].to_str().unwrap()), (429, "7"));
    for (mode, status) in [("500", 500), ("503", 503)] {
        assert_eq!(pair.post(CHAT, &[("x-fake", mode)], &body).await.status, status);
    }
}

#[tokio::test]
async fn an_upstream_that_is_slow_breaks_off_or_is_not_there() {
    let mut pair = Pair::start("max = '1k'\n[server]\nanswer_timeout = '100ms'").await;
    let (path, body) = streaming(CHAT, history(CHAT, 1));
    let late = pair.post(&path, &[("x-fake", "slow-head")], &body).await;
    assert_eq!((late.status, late.json()["error"]["code"].as_str()), (504, Some("upstream-late")));
    let url = format!("{}{path}", pair.gateway.url);
    let asked = request(Method::POST, &url, &[("x-fake", "reset")], Body::from(body.clone()));
    let answer = client().request(asked).await.unwrap();
    assert!(answer.into_body().collect().await.is_err(), "the client sees that it broke off");
    let gone = format!("{}\n", "upstream = 'http://127.0.0.1:9'");
    let old = std::fs::read_to_string(&pair.gateway.file).unwrap();
    let without: String =
        old.lines().filter(|line| !line.starts_with("upstream")).collect::<Vec<_>>().join("\n");
    for (config, code) in [
        (gone, "upstream-unreachable"),
        ("upstream = 'http://no.such.host.invalid'\n".to_owned(), "upstream-unreachable"),
    ] {
        std::fs::write(&pair.gateway.file, config + &without.replace("100ms", "9s")).unwrap();
        pair.gateway.handle.reload().unwrap();
        let answer = pair.post(&path, &[], &body).await;
        assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (502, Some(code)));
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    pair.gateway.stopping().await.unwrap();
    let log = std::fs::read_to_string(pair.gateway.folder.join("log.jsonl")).unwrap();
    assert_eq!(log.matches("\"broken-off\"").count(), 1, "{log}");
    assert_eq!(log.matches("\"no-answer\"").count(), 3, "{log}");
}

#[tokio::test]
async fn memory_for_requests_on_their_way_is_bounded() {
    let pair = Pair::start("max = 100\n[server]\nmemory = '700kB'").await;
    let url = format!("{}{CHAT}", pair.gateway.url);
    // A body that does not come holds its share.
    let address = pair.gateway.url.trim_start_matches("http://");
    let mut stalled = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 80000\r\n\r\n ");
    stalled.write_all(head.as_bytes()).await.unwrap();
    until("it is taken", async || {
        pair.gateway.metric("cupel_gateway_memory_bytes").await > 600_000.0
    })
    .await;
    let other = post(&url, &[], Body::from(vec![b' '; 80_000])).await;
    assert_eq!(other.status, 503);
    assert_eq!(other.json()["error"]["code"], "no-memory");
    assert_eq!(other.headers["retry-after"], "1");
    let small = pair.post(CHAT, &[], &history(CHAT, 1).to_string()).await;
    assert_eq!(small.status, 200, "what is small still goes through");
    // More values than all of the memory is for are not made to fit: they would take more.
    let many =
        format!(r#"{{"messages":[{{"role":"user","content":[{}{{}}]}}]}}"#, "{},".repeat(300));
    pair.post(CHAT, &[], &many).await;
    assert_eq!(pair.last().body, many.as_bytes());
    drop(stalled);
    until("it is given back", async || {
        pair.gateway.metric("cupel_gateway_memory_bytes").await < 1.0
    })
    .await;
    assert_ne!(post(&url, &[], Body::from(vec![b' '; 80_000])).await.status, 503);
    let log = pair.gateway.log().await;
    let unfit: Vec<&str> = log.iter().filter_map(|line| line["unfit"].as_str()).collect();
    assert!(unfit.contains(&"too-many-messages"), "{unfit:?}");
}

#[tokio::test]
async fn a_request_of_too_many_messages_is_not_made_to_fit() {
    let pair = Pair::start("max = 100\n[server]\nmessages = 20").await;
    let body = history(CHAT, 30).to_string();
    pair.post(CHAT, &[], &body).await;
    assert_eq!(pair.last().body, body.as_bytes());
    // Numbers in place of blocks: two bytes of each take a thousand, to say what is wrong with it.
    let numbers =
        format!(r#"{{"messages":[{{"role":"user","content":[{}1]}}]}}"#, "1,".repeat(400));
    pair.post(CHAT, &[], &numbers).await;
    assert_eq!(pair.last().body, numbers.as_bytes());
    let log = pair.gateway.log().await;
    assert!(log.iter().all(|line| line["unfit"] == "too-many-messages"), "{log:?}");
}
