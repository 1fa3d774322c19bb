//! Several gateways that share what they know, in a real Redis server.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cupel_gateway::Source;
use http_body_util::BodyExt as _;

use crate::server::Fake;
use crate::support::{CHAT, Running, base, client, folder, history, post, request, until};

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

    /// Windows of more than 1,024 tokens: below that OpenAI caches nothing.
    fn config(&self) -> String {
        format!(
            "max = 2500\n[sessions]\nstore = 'redis://127.0.0.1:{}'\nlifetime = '60s'\npatience = '2s'\n",
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
async fn two_gateways_share_a_conversation_and_their_server_may_die() {
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
    assert_eq!(ask(&one, 28).await, 0);
    assert!(ask(&two, 29).await > 0, "the other one knows");
    assert!(ask(&one, 30).await > 0);
    assert!(ask(&two, 31).await > 0);
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
    assert_eq!(ask(&one, 32).await, 0);
    assert!(one.metric("cupel_gateway_store_failures_total").await >= 1.0);
}

/// A gateway that is a process of its own, and ends with this.
struct Process {
    process: Child,
    url: String,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Which file the process below is configured by.
const CONFIG: &str = "CUPEL_TEST_GATEWAY_CONFIG";

#[test]
#[ignore = "is no test but the gateway that a test kills"]
fn a_gateway_of_its_own() {
    let Some(file) = std::env::var_os(CONFIG) else { return };
    let ready = |gateway: &cupel_gateway::Gateway| println!("\nlistening at {}", gateway.address());
    cupel_gateway::run(Source::of_file(file), ready, |_| {}).unwrap();
}

impl Process {
    fn start(upstream: &str, config: &str) -> Self {
        let folder = folder();
        let file = folder.join("gateway.toml");
        std::fs::write(&file, base(upstream, &folder) + config).unwrap();
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "redis::a_gateway_of_its_own", "--nocapture"])
            .env(CONFIG, file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let told = |line: std::io::Result<String>| {
            Some(line.ok()?.split_once("listening at ")?.1.to_owned())
        };
        let url = lines.into_iter().find_map(told).map(|address| format!("http://{address}"));
        Self { process, url: url.expect("it listens") }
    }
}

/// An answer, if it came to its end, and what of the request was in the cache.
async fn try_to_ask(url: &str, headers: &[(&str, &str)], body: String) -> Option<i64> {
    let asked = request(axum::http::Method::POST, &format!("{url}{CHAT}"), headers, body.into());
    let answer = client().request(asked).await.ok()?;
    let cached = answer.headers().get("x-cupel-cached-prefix")?.to_str().ok()?.parse().ok()?;
    let is_answered = answer.status() == 200;
    let body = answer.into_body().collect().await.ok()?.to_bytes();
    (is_answered && body.ends_with(b"}")).then_some(cached)
}

#[tokio::test]
async fn one_gateway_is_killed_among_requests_and_none_is_lost() {
    let Some(redis) = Server::start().await else { return };
    let fake = Fake::start_at("127.0.0.1:0").await;
    let upstream = format!("http://{}", fake.address);
    let both = [(); 2].map(|()| Process::start(&upstream, &redis.config()));
    let urls = [0, 1].map(|at| both[at].url.clone());
    let [_stays, mut dies] = both;
    // Each step of a conversation goes to the other gateway, and once more to the first if it fails.
    let clients: Vec<_> = (0..6_usize)
        .map(|client| {
            let urls = urls.clone();
            tokio::spawn(async move {
                let name = client.to_string();
                let headers = [("x-cupel-conversation", name.as_str()), ("x-fake", "slow-head")];
                let (mut failed, mut cached) = (0, Vec::new());
                for rounds in 28..33 {
                    let body = history(CHAT, rounds).to_string();
                    let at = (client + rounds) % 2;
                    let mut answer = try_to_ask(&urls[at], &headers, body.clone()).await;
                    if answer.is_none() {
                        failed += 1;
                        answer = try_to_ask(&urls[1 - at], &headers, body).await;
                    }
                    cached.push(answer.expect("the other one answers"));
                }
                (failed, cached)
            })
        })
        .collect();
    // In the second steps, while the upstream thinks.
    until("all have begun", async || fake.sight.seen.lock().unwrap().len() >= 10).await;
    dies.process.kill().unwrap();
    let mut failures = 0;
    for client in clients {
        let (failed, cached) = client.await.unwrap();
        failures += failed;
        assert_eq!(cached.len(), 5, "every step is answered");
        assert!(cached[2..].iter().all(|tokens| *tokens > 0), "known to the other: {cached:?}");
    }
    assert!(failures >= 3, "it was killed among requests: {failures}");
    let seen = fake.sight.seen.lock().unwrap();
    assert!(seen.iter().all(|one| one.flaw.is_none()), "every window is valid");
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
