//! Asks servers many times, side by side, and tells how long they took, as JSON.
//!
//! ```text
//! load latency ROUNDS MESSAGES MODE URL...   the same request to each in turn, one after the other
//! load streams COUNT URL...                  so many slow streams at once, server after server
//! load soak SECONDS CLIENTS URL              requests of every kind, as fast as they are answered
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

type Asker = Client<HttpConnector, Body>;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments[at].parse::<usize>().expect("a number");
    let told = match arguments[0].as_str() {
        "latency" => latency(number(1), number(2), &arguments[3], &arguments[4..]).await,
        "streams" => streams(number(1), &arguments[2..]).await,
        "soak" => soak(number(1), number(2), &arguments[3]).await,
        other => panic!("unknown way `{other}`"),
    };
    println!("{told}");
}

fn asker() -> Asker {
    Client::builder(TokioExecutor::new()).pool_max_idle_per_host(1_000).build_http()
}

/// A request of so many messages, with calls of tools.
fn body(messages: usize, salt: usize, stream: bool) -> String {
    let mut list = Vec::new();
    let mut at = 0;
    while list.len() + 4 <= messages {
        let id = format!("call_{at}");
        let words = format!(
            "Part {at} of {salt}: the ledger has one line a rate, and a cent goes missing. "
        );
        list.extend([
            json!({ "role": "user", "content": format!("What does part {at} do?") }),
            json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function",
                "function": { "name": "read", "arguments": format!("{{\"part\":{at}}}") } }] }),
            json!({ "role": "tool", "tool_call_id": id, "content": words.repeat(4) }),
            json!({ "role": "assistant", "content": format!("It adds rate {at} up.") }),
        ]);
        at += 1;
    }
    list.push(
        json!({ "role": "user", "content": format!("Which part loses the cent of {salt}?") }),
    );
    json!({ "model": "local", "stream": stream, "messages": list }).to_string()
}

/// Asks once: the time until the first bytes of the answer, and whether all of it came.
async fn ask(asker: &Asker, url: &str, body: String, fake: &str) -> (Duration, bool) {
    let request = Request::post(format!("{url}/v1/chat/completions"))
        .header("content-type", "application/json")
        .header("x-fake", fake)
        .body(Body::from(body))
        .expect("a request");
    let begun = Instant::now();
    let Ok(mut answer) = asker.request(request).await else { return (begun.elapsed(), false) };
    let mut first = None;
    let mut last = Vec::new();
    while let Some(frame) = answer.body_mut().frame().await {
        let Ok(frame) = frame else { return (begun.elapsed(), false) };
        first.get_or_insert_with(|| begun.elapsed());
        if let Ok(data) = frame.into_data() {
            last = data.to_vec();
        }
    }
    let ends = String::from_utf8_lossy(&last);
    let is_whole = ends.ends_with("[DONE]\n\n") || ends.ends_with('}');
    (first.unwrap_or_else(|| begun.elapsed()), answer.status().is_success() && is_whole)
}

fn percentile(spans: &mut [Duration], percent: usize) -> f64 {
    spans.sort_unstable();
    let at = (spans.len() * percent / 100).min(spans.len().saturating_sub(1));
    spans.get(at).map_or(0.0, |span| span.as_secs_f64() * 1e3)
}

async fn latency(rounds: usize, messages: usize, mode: &str, urls: &[String]) -> Value {
    let asker = asker();
    let mut spans: Vec<Vec<Duration>> = vec![Vec::new(); urls.len()];
    let mut failed = 0;
    for round in 0..rounds + rounds / 10 {
        for (url, spans) in urls.iter().zip(&mut spans) {
            let (span, is_whole) = ask(&asker, url, body(messages, round, false), mode).await;
            failed += usize::from(!is_whole);
            // The first tenth warms up.
            if round >= rounds / 10 {
                spans.push(span);
            }
        }
    }
    let told = urls.iter().zip(&mut spans).map(|(url, spans)| {
        json!({ "url": url, "p50_ms": percentile(spans, 50), "p99_ms": percentile(spans, 99) })
    });
    json!({ "messages": messages, "rounds": rounds, "failed": failed, "servers": told.collect::<Vec<_>>() })
}

async fn streams(count: usize, urls: &[String]) -> Value {
    let mut told = Vec::new();
    for url in urls {
        let asker = asker();
        let begun = Instant::now();
        let asked: Vec<_> = (0..count)
            .map(|at| {
                let (asker, url) = (asker.clone(), url.clone());
                tokio::spawn(async move { ask(&asker, &url, body(20, at, true), "drip").await })
            })
            .collect();
        let (mut spans, mut whole) = (Vec::new(), 0);
        for answer in asked {
            let (span, is_whole) = answer.await.expect("no panic");
            spans.push(span);
            whole += usize::from(is_whole);
        }
        told.push(json!({ "url": url, "whole": whole, "of": count,
            "first_p50_ms": percentile(&mut spans, 50), "first_p99_ms": percentile(&mut spans, 99),
            "seconds": begun.elapsed().as_secs_f64() }));
    }
    json!(told)
}

async fn soak(seconds: usize, clients: usize, url: &str) -> Value {
    let (done, failed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let end = Instant::now() + Duration::from_secs(seconds as u64);
    let asker = asker();
    let tasks: Vec<_> = (0..clients)
        .map(|client| {
            let (asker, url) = (asker.clone(), url.to_owned());
            let (done, failed) = (done.clone(), failed.clone());
            tokio::spawn(async move {
                let mut turn = client;
                while Instant::now() < end {
                    let messages = [5, 21, 61, 121][turn % 4];
                    let fake = if turn % 16 == 3 { "drip" } else { "" };
                    let body = body(messages, turn * 1_000 + client, turn % 2 == 1);
                    let (_, is_whole) = ask(&asker, &url, body, fake).await;
                    done.fetch_add(1, Ordering::Relaxed);
                    failed.fetch_add(u64::from(!is_whole), Ordering::Relaxed);
                    turn += 1;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no panic");
    }
    json!({ "requests": done.load(Ordering::Relaxed), "failed": failed.load(Ordering::Relaxed) })
}
