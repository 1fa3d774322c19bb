//! Requests that are let in, and those that must not get through.

use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{Pair, base, client, folder, get, request};

/// Sends bytes as they are, and reads what comes until nothing more does.
async fn raw(pair: &Pair, text: &str) -> String {
    let address = pair.gateway.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    let _ = tokio::time::timeout(Duration::from_millis(1_500), stream.read_to_end(&mut read)).await;
    String::from_utf8_lossy(&read).into_owned()
}

#[tokio::test]
async fn foreign_hosts_and_pages_are_refused() {
    let pair = Pair::start("").await;
    let url = format!("{}/v1/models", pair.gateway.url);
    for headers in [
        &[("host", "evil.example")][..],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
    ] {
        let asked = request(Method::GET, &url, headers, Body::empty());
        let answer = client().request(asked).await.unwrap();
        assert_eq!(answer.status().as_u16(), 403, "{headers:?}");
    }
    let two =
        "GET /v1/models HTTP/1.1\r\nhost: localhost\r\nhost: evil\r\nconnection: close\r\n\r\n";
    assert!(raw(&pair, two).await.starts_with("HTTP/1.1 4"));
    let none = "GET /v1/models HTTP/1.1\r\nconnection: close\r\n\r\n";
    assert!(raw(&pair, none).await.starts_with("HTTP/1.1 4"));
    let proxy = "GET http://evil.example/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    assert!(raw(&pair, proxy).await.starts_with("HTTP/1.1 403"));
    let tunnel =
        "CONNECT evil.example:443 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    assert!(raw(&pair, tunnel).await.starts_with("HTTP/1.1 4"));
    assert!(pair.seen().is_empty());
}

#[tokio::test]
async fn the_gateways_own_paths_and_odd_ones_never_reach_the_upstream() {
    let pair = Pair::start("").await;
    for path in [
        "/cupel",
        "/cupel/",
        "/cupel/x",
        "/cupel/api/requests/99",
        "/%63upel",
        "/CUPEL/",
        "/cupel/api/nothing",
        "/v1/../cupel",
        "/v1/%2e%2e/x",
        "/v1%2fmessages",
        "//v1/messages",
        "/v1/./messages",
    ] {
        for method in ["GET", "POST"] {
            let text = format!(
                "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            let answer = raw(&pair, &text).await;
            assert!(answer.starts_with("HTTP/1.1 "), "{method} {path}: {answer}");
        }
    }
    assert!(pair.seen().is_empty(), "{:?}", pair.last());
}

#[tokio::test]
async fn shapes_for_smuggling_reach_the_upstream_as_one_request_or_not_at_all() {
    let pair = Pair::start("max = 1000").await;
    let inner = "GET /smuggled HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let head = "POST /v1/messages/count_tokens HTTP/1.1\r\nhost: localhost\r\n";
    for shape in [
        format!("{head}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{inner}"),
        format!("{head}content-length: 4\r\ncontent-length: 60\r\n\r\nabcd{inner}"),
        format!("{head}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n{inner}"),
        format!(
            "{head}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n{inner}"
        ),
        format!("{head}content-length : 4\r\n\r\nabcd"),
        format!("{head}content-length: +4\r\n\r\nabcd"),
        format!("{head}x: a\r\n b\r\n\r\n"),
    ] {
        raw(&pair, &shape).await;
    }
    for seen in pair.seen() {
        let names = ["content-length", "transfer-encoding"];
        let framed = names.iter().filter(|name| seen.headers.contains_key(**name)).count();
        assert!(framed <= 1, "{seen:?}");
        assert!(!String::from_utf8_lossy(&seen.body).contains("smuggled"), "{seen:?}");
    }
}

#[tokio::test]
async fn websockets_are_refused_plainly() {
    let pair = Pair::start("").await;
    let text = "GET /v1/realtime HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
    let answer = raw(&pair, text).await;
    assert!(answer.starts_with("HTTP/1.1 426") && answer.contains("WebSockets"), "{answer}");
    assert!(answer.contains("upgrade: HTTP/1.1"), "{answer}");
    assert!(pair.seen().is_empty());
}

#[tokio::test]
async fn slow_clients_are_not_waited_for() {
    let config = "max = 1000\n[server]\nhead_timeout = '200ms'\nbody_timeout = '200ms'";
    let pair = Pair::start(config).await;
    let head = raw(&pair, "POST /v1/messages HTTP/1.1\r\nhost: local").await;
    assert!(head.is_empty() || head.starts_with("HTTP/1.1 408"), "{head}");
    let body = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{";
    let answer = raw(&pair, body).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    let passed = "POST /v1/files HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{";
    let answer = raw(&pair, passed).await;
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    let many = "x-many: y\r\n".repeat(50_000);
    let long = format!("GET / HTTP/1.1\r\nhost: localhost\r\n{many}\r\n");
    let answer = raw(&pair, &long).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[tokio::test]
async fn the_page_is_for_this_machine_alone_unless_told_otherwise() {
    let probe = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    let outer = probe.connect("192.0.2.1:9").and_then(|()| probe.local_addr());
    let Some(outer) = outer.ok().map(|address| address.ip()).filter(|ip| !ip.is_loopback()) else {
        eprintln!("not tested: this machine has no address but its own");
        return;
    };
    for (access, status) in [("loopback", 403), ("open", 200), ("off", 403)] {
        let fake = crate::server::Fake::start_at("127.0.0.1:0").await;
        let folder = folder();
        let file = folder.join("gateway.toml");
        let config = base(&format!("http://{}", fake.address), &folder)
            .replace("127.0.0.1:0'\nupstream", "0.0.0.0:0'\nupstream");
        std::fs::write(&file, format!("{config}page = '{access}'\nmetrics = '{access}'\n"))
            .unwrap();
        let gateway =
            cupel_gateway::Gateway::bind(cupel_gateway::Source::of_file(&file)).await.unwrap();
        let port = gateway.address().port();
        tokio::spawn(gateway.run(std::future::pending(), std::future::pending()));
        for page in ["", "/", "/metrics", "/api/requests"] {
            let answer = get(&format!("http://{outer}:{port}/cupel{page}")).await;
            assert_eq!(answer.status, status, "{access} {page}");
        }
        let models = get(&format!("http://{outer}:{port}/v1/models")).await;
        assert_eq!(models.status, 200, "the gateway itself is where it was told to be");
        if access == "loopback" {
            assert_eq!(get(&format!("http://127.0.0.1:{port}/cupel")).await.status, 200);
        }
    }
}
