//! Several gateways that share what they know, in a real Redis server.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::server::Fake;
use crate::support::{CHAT, Running, client, history, post, request, until};

struct Server {
    process: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    /// A server of its own; `None` where none is installed, unless the environment asks for one.
    async fn start() -> Option<Self> {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let started = Command::new("redis-server")
            .args([
                "--port",
                &port.to_string(),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
            ])
            .stdout(Stdio::null())
            .spawn();
        let process = match started {
            Ok(process) => process,
            Err(error) => {
                let is_needed =
                    std::env::var_os("CUPEL_TEST_REDIS").is_some_and(|needed| needed == "1");
                assert!(
                    !is_needed,
                    "CUPEL_TEST_REDIS=1, but redis-server cannot be started: {error}"
                );
                eprintln!("NOT TESTED: redis-server is not installed ({error})");
                return None;
            }
        };
        let server = Self { process, port };
        until("Redis listens", async || {
            tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok()
        })
        .await;
        Some(server)
    }

    fn config(&self) -> String {
        format!(
            "max = 900\n[sessions]\nstore = 'redis://127.0.0.1:{}'\nlifetime = '60s'\npatience = '2s'\n",
            self.port
        )
    }

    async fn ask<T: redis::FromRedisValue>(&self, command: &[&str]) -> T {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", self.port)).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        let mut ask = redis::cmd(command[0]);
        for argument in &command[1..] {
            ask.arg(*argument);
        }
        ask.query_async(&mut connection).await.unwrap()
    }
}

#[tokio::test]
async fn two_gateways_share_a_conversation_and_one_may_die() {
    let Some(redis) = Server::start().await else { return };
    let fake = Fake::start_at("127.0.0.1:0").await;
    let upstream = format!("http://{}", fake.address);
    let one = Running::start(&upstream, &redis.config()).await;
    let two = Running::start(&upstream, &redis.config()).await;
    let ask = async |gateway: &Running, rounds: usize| {
        let body = history(CHAT, rounds).to_string();
        let answer = post(&format!("{}{CHAT}", gateway.url), &[], body).await;
        assert_eq!(answer.status, 200, "no request is lost");
        answer.number("x-cupel-cached-prefix")
    };
    assert_eq!(ask(&one, 8).await, 0);
    assert!(ask(&two, 9).await > 0, "the other one knows");
    assert!(ask(&one, 10).await > 0);
    // One of them is killed with a request on its way; the client asks the other.
    let url = format!("{}{CHAT}", two.url);
    let body = history(CHAT, 11).to_string();
    let cut = tokio::spawn(async move {
        let asked =
            request(axum::http::Method::POST, &url, &[("x-fake", "slow-head")], body.into());
        client().request(asked).await.is_err()
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    two.kill().await;
    assert!(cut.await.unwrap(), "the client notices");
    assert!(ask(&one, 11).await > 0);
    let keys: Vec<String> = redis.ask(&["KEYS", "cupel:1:*"]).await;
    assert_eq!(keys.len(), 4, "a state for each beginning of the history");
    for key in &keys {
        let left: i64 = redis.ask(&["PTTL", key]).await;
        assert!((1..=60_000).contains(&left), "{left}");
        let text: String = redis.ask(&["GET", key]).await;
        assert!(!text.contains("lighthouse"), "no texts leave the gateway");
    }
    // Redis itself is gone: windows begin cold, and nothing is lost.
    drop(redis);
    assert_eq!(ask(&one, 12).await, 0);
    assert!(one.metric("cupel_gateway_store_failures_total").await >= 1.0);
}

#[tokio::test]
async fn of_two_writers_one_wins_and_one_state_stands() {
    let Some(redis) = Server::start().await else { return };
    let fake = Fake::start_at("127.0.0.1:0").await;
    let upstream = format!("http://{}", fake.address);
    let one = Running::start(&upstream, &redis.config()).await;
    let two = Running::start(&upstream, &redis.config()).await;
    let body = history(CHAT, 9).to_string();
    let named = [("x-cupel-conversation", "same"), ("x-fake", "slow-head")];
    let asked = (0..6).map(|at| {
        let url = format!("{}{CHAT}", if at % 2 == 0 { &one.url } else { &two.url });
        let body = body.clone();
        tokio::spawn(async move { post(&url, &named, body).await.status })
    });
    for answer in asked.collect::<Vec<_>>() {
        assert_eq!(answer.await.unwrap(), 200);
    }
    let keys: Vec<String> = redis.ask(&["KEYS", "cupel:1:*"]).await;
    assert_eq!(keys.len(), 1);
    let text: String = redis.ask(&["GET", &keys[0]]).await;
    assert!(
        text.starts_with("1 {"),
        "they all knew version 0, so one of them wrote: {}",
        &text[..20]
    );
    assert!(text.contains("\"steps\":1,"));
}

#[tokio::test]
async fn a_server_that_is_not_there_costs_its_patience_and_no_more() {
    let fake = Fake::start_at("127.0.0.1:0").await;
    let config = "max = 900\n[sessions]\nstore = 'redis://127.0.0.1:9'\npatience = '100ms'";
    let gateway = Running::start(&format!("http://{}", fake.address), config).await;
    let begun = std::time::Instant::now();
    let answer = post(&format!("{}{CHAT}", gateway.url), &[], history(CHAT, 9).to_string()).await;
    assert_eq!(answer.status, 200);
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}
