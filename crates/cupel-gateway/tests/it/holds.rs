//! Bounds that hold, whoever asks: limits of keys, connections, pauses, names, circles.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Method;
use http_body_util::BodyExt as _;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{CHAT, Pair, Running, client, history, post, request, streaming, until};

fn address(url: &str) -> &str {
    url.trim_start_matches("http://")
}

/// Sends bytes as they are, and reads what comes for a while.
async fn raw(url: &str, text: &[u8]) -> String {
    let mut stream = TcpStream::connect(address(url)).await.unwrap();
    stream.write_all(text).await.unwrap();
    let mut read = Vec::new();
    let _ = tokio::time::timeout(Duration::from_millis(700), stream.read_to_end(&mut read)).await;
    String::from_utf8_lossy(&read).into_owned()
}

/// An upstream that answers every request with these bytes, and then waits.
async fn answering(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = vec![0; 65_536];
                if stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {
                    let _ = stream.write_all(bytes).await;
                    tokio::time::sleep(Duration::from_secs(30)).await;
                }
            });
        }
    });
    url
}

#[tokio::test]
async fn closed_means_that_no_spelling_gets_past_a_limit() {
    let pair = Pair::start("max = 60\nfail = 'closed'").await;
    let long = "word ".repeat(1_000);
    let whole = json!({"messages": [{"role": "user", "content": long}]}).to_string();
    let small = r#"{"role":"user","content":"x"}"#;
    let large = format!(r#"{{"role":"user","content":"{long}"}}"#);
    let utf16: Vec<u8> = whole.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bodies: Vec<(&str, Vec<u8>)> = vec![
        ("as it is", whole.clone().into()),
        ("twice", format!(r#"{{"messages":[{large}],"messages":[{small}]}}"#).into()),
        ("in capitals", format!(r#"{{"messages":[{small}],"Messages":[{large}]}}"#).into()),
        ("escaped", format!(r#"{{"messages":[{large}],"m\u0065ssages":[{small}]}}"#).into()),
        (
            "content twice",
            format!(r#"{{"messages":[{{"role":"user","content":"{long}","content":"x"}}]}}"#)
                .into(),
        ),
        ("with a mark", format!("\u{feff}{whole}").into()),
        ("UTF-16", utf16),
        (
            "elsewhere",
            br#"{"input":[{"role":"user","content":"x"}],"previous_response_id":"r"}"#.to_vec(),
        ),
        ("more behind", format!(r#"{{"messages":[{small}]}}{whole}"#).into()),
    ];
    for (name, body) in &bodies {
        for path in
            [CHAT, "/V1/chat/Completions", "/v1/chat/completions/", "/v1/chat/%63ompletions"]
        {
            let answer =
                post(&format!("{}{path}", pair.gateway.url), &[], Body::from(body.clone())).await;
            assert_eq!(answer.status, 400, "{name} {path}: {}", answer.text());
        }
    }
    for path in [
        "/v1/chat/completions;x",
        "//v1/chat/completions",
        "/v1/./chat/completions",
        "/v1%2fchat/completions",
    ] {
        let answer = pair.post(path, &[], &whole).await;
        assert_eq!(answer.status, 400, "{path}");
    }
    for method in [Method::PUT, Method::PATCH, Method::GET] {
        let url = format!("{}{CHAT}", pair.gateway.url);
        let asked = request(method.clone(), &url, &[], Body::from(whole.clone()));
        assert_eq!(client().request(asked).await.unwrap().status(), 400, "{method}");
    }
    for encoding in ["br", "gzip, gzip", "compress"] {
        let answer = pair.post(CHAT, &[("content-encoding", encoding)], &whole).await;
        assert_eq!(answer.status, 400, "{encoding}");
    }
    let charset = [("content-type", "application/json; charset=utf-7")];
    assert_eq!(
        pair.post(CHAT, &charset, &format!(r#"{{"messages":[{small}]}}"#)).await.status,
        400
    );
    assert!(pair.seen().is_empty(), "{:?}", pair.last());
    let plain = pair.post(CHAT, &[], &format!(r#"{{"messages":[{small}]}}"#)).await;
    assert_eq!(plain.status, 200, "{}", plain.text());
}

#[tokio::test]
async fn an_upstream_that_is_the_gateway_is_refused_at_the_start_and_on_the_way() {
    let probe = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let free = probe.local_addr().unwrap();
    drop(probe);
    let file = crate::support::folder().join("gateway.toml");
    let config =
        format!("listen = '{free}'\nupstream = 'http://localhost:{}/v1'\nlog = 'off'", free.port());
    std::fs::write(&file, config).unwrap();
    let bound = cupel_gateway::Gateway::bind(cupel_gateway::Source::of_file(&file)).await;
    let error = bound.err().unwrap().to_string();
    assert!(error.contains("is the gateway itself; name its provider"), "{error}");

    let first = Running::start("http://127.0.0.1:9", "").await;
    let second = Running::start(&first.url, "").await;
    let old = std::fs::read_to_string(&first.file).unwrap();
    let circle = old.replace("http://127.0.0.1:9", &second.url);
    std::fs::write(&first.file, circle).unwrap();
    first.handle.reload().unwrap();
    let answer = post(&format!("{}{CHAT}", first.url), &[], history(CHAT, 1).to_string()).await;
    assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (508, Some("loop")));
    let own = old.replace("http://127.0.0.1:9", &first.url);
    std::fs::write(&first.file, own).unwrap();
    assert!(first.handle.reload().unwrap_err().to_string().contains("is the gateway itself"));
}

#[tokio::test]
async fn connections_of_one_client_are_bounded_and_idle_ones_end() {
    let config = "[server]\nclient_connections = 3\nhead_timeout = '300ms'";
    let pair = Pair::start(config).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(TcpStream::connect(address(&pair.gateway.url)).await.unwrap());
    }
    let refused = raw(&pair.gateway.url, b"").await;
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after"), "{refused}");
    // One that was asked and is idle since ends as one that never was.
    let begun = Instant::now();
    let asked = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    held[0].write_all(asked).await.unwrap();
    for stream in &mut held {
        let mut read = Vec::new();
        let end = tokio::time::timeout(Duration::from_secs(3), stream.read_to_end(&mut read)).await;
        assert!(end.is_ok(), "it is still open");
    }
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert!(raw(&pair.gateway.url, asked).await.starts_with("HTTP/1.1 200"));
    assert!(pair.gateway.metric("cupel_gateway_connections_refused_total").await >= 1.0);
}

#[tokio::test]
async fn an_upstream_that_falls_silent_is_left() {
    let pair = Pair::start("max = '1k'\n[server]\npause_timeout = '300ms'").await;
    let (path, body) = streaming(CHAT, history(CHAT, 1));
    let url = format!("{}{path}", pair.gateway.url);
    let begun = Instant::now();
    let asked = request(Method::POST, &url, &[("x-fake", "hang")], Body::from(body));
    let answer = client().request(asked).await.unwrap();
    assert!(answer.into_body().collect().await.is_err(), "the client sees that it broke off");
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    until("the upstream hears it", async || {
        pair.fake.sight.left.load(std::sync::atomic::Ordering::SeqCst) == 1
    })
    .await;
    assert_eq!(pair.gateway.log().await[0]["outcome"], "broken-off");
}

#[tokio::test]
async fn a_client_that_never_reads_is_left() {
    let upstream = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", upstream.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = upstream.accept().await.unwrap();
        let mut buffer = vec![0; 65_536];
        let _ = stream.read(&mut buffer).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500000000\r\n\r\n").await;
        while stream.write_all(&buffer).await.is_ok() {}
    });
    let gateway = Running::start(&url, "[server]\nwrite_timeout = '300ms'").await;
    let mut stream = TcpStream::connect(address(&gateway.url)).await.unwrap();
    stream.write_all(b"GET /v1/files/x HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    until("it is left", async || gateway.metric("cupel_gateway_active_requests").await < 1.0).await;
    drop(stream);
    assert_eq!(gateway.log().await[0]["outcome"], "client-left");
}

#[tokio::test]
async fn an_answer_with_a_length_and_chunks_is_refused() {
    let url = answering(
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    )
    .await;
    let gateway = Running::start(&url, "").await;
    for (path, body) in [("/v1/files", String::new()), (CHAT, history(CHAT, 1).to_string())] {
        let answer = post(&format!("{}{path}", gateway.url), &[], body).await;
        let code = answer.json()["error"]["code"].clone();
        assert_eq!((answer.status, code.as_str()), (502, Some("upstream-broke-off")), "{path}");
    }
}

#[tokio::test]
async fn a_connection_that_its_server_closed_costs_no_request_that_may_be_repeated() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        // Each connection answers once, and closes as the second request comes.
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = vec![0; 65_536];
                let _ = stream.read(&mut buffer).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
                let _ = stream.read(&mut buffer).await;
            });
        }
    });
    let gateway = Running::start(&url, "").await;
    let files = format!("{}/v1/files", gateway.url);
    for _ in 0..4 {
        let answer = crate::support::get(&files).await;
        assert_eq!((answer.status, answer.text().as_str()), (200, "ok"));
    }
    let chat = format!("{}{CHAT}", gateway.url);
    let body = history(CHAT, 1).to_string();
    for _ in 0..4 {
        let keyed = post(&chat, &[("idempotency-key", "k")], body.clone()).await;
        assert_eq!(keyed.status, 200, "{}", keyed.text());
    }
    // What may have been done is not done twice.
    let plain = post(&chat, &[], body).await;
    assert_eq!(plain.json()["error"]["code"], "upstream-broke-off");
}

#[tokio::test]
async fn names_of_any_length_are_kept_short() {
    let pair = Pair::start("max = 60\nlog_texts = false").await;
    let name = format!("\u{202e}{}", "m".repeat(3_000_000));
    for field in ["model", "user"] {
        let mut body = json!({"messages": [{"role": "user", "content": "x"}]});
        body[field] = name.clone().into();
        pair.post(CHAT, &[("x-cupel-conversation", &"c".repeat(20_000))], &body.to_string()).await;
    }
    let odd = json!({"messages": [{"role": name, "content": "x"}, {"role": "tool", "tool_call_id": name, "content": "x"}]});
    pair.post(CHAT, &[], &odd.to_string()).await;
    let rows =
        crate::support::get(&format!("{}/cupel/api/requests", pair.gateway.url)).await.text();
    let metrics = crate::support::get(&format!("{}/cupel/metrics", pair.gateway.url)).await.text();
    let lines: Vec<String> = pair.gateway.log().await.iter().map(ToString::to_string).collect();
    for (kept, most) in [(rows, 8_000), (metrics, 20_000), (lines.concat(), 8_000)] {
        assert!(
            kept.len() < most && !kept.contains('\u{202e}'),
            "{} {}",
            kept.len(),
            &kept[..2_000.min(kept.len())]
        );
    }
}

#[tokio::test]
async fn what_is_cut_off_at_the_end_is_noted_as_that() {
    let pair = Pair::start("max = '1k'\n[server]\ndrain = '100ms'").await;
    let (path, body) = streaming(CHAT, history(CHAT, 1));
    let url = format!("{}{path}", pair.gateway.url);
    let asked = request(Method::POST, &url, &[("x-fake", "hang")], Body::from(body));
    let mut answer = client().request(asked).await.unwrap();
    answer.body_mut().frame().await.unwrap().unwrap();
    assert_eq!(pair.gateway.log().await[0]["outcome"], "stopped");
}
