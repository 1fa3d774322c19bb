//! Requests that fit go on byte for byte, and answers come back as they are.

use std::io::Write as _;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Method;
use http_body_util::BodyExt as _;

use crate::support::{
    CHAT, GEMINI, MESSAGES, Pair, RESPONSES, client, get, history, post, request, streaming, until,
};

const SMALL: &str = "{ \"model\":\"local\",\n\t\"messages\" : [ {\"role\":\"user\",\"content\":\"h\\u0069 \u{1F600}\"} ],\"x_odd\": 1e3 }";

#[tokio::test]
async fn below_the_limit_a_request_goes_out_byte_for_byte() {
    let pair = Pair::start("max = '1k'").await;
    let headers = [
        ("authorization", "Bearer sk-1"),
        ("anthropic-beta", "a,b"),
        ("x-custom", "1"),
        ("content-type", "application/json"),
    ];
    let answer = pair.post(CHAT, &headers, SMALL).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "Hello from the upstream.");
    let seen = pair.last();
    assert_eq!(seen.body, SMALL.as_bytes());
    let mut names: Vec<&str> = seen.headers.keys().map(axum::http::HeaderName::as_str).collect();
    names.sort_unstable();
    let expected = [
        "anthropic-beta",
        "authorization",
        "content-length",
        "content-type",
        "host",
        "via",
        "x-custom",
    ];
    assert_eq!(names, expected, "nothing else is added");
    assert_eq!(seen.headers["authorization"], "Bearer sk-1");
    assert_eq!(answer.headers["x-upstream"], "fake");
    assert_eq!(answer.number("x-cupel-kept"), 1);
    assert_eq!(answer.number("x-cupel-dropped"), 0);
    assert!(answer.number("x-cupel-tokens-before") > 0);
    assert!(answer.headers.contains_key("x-cupel-request-id"));
}

#[tokio::test]
async fn what_is_no_request_to_a_model_is_passed_on_unread() {
    let pair = Pair::start("max = 1").await;
    let odd = "\u{0} not JSON at all";
    let answer = pair.post("/v1/messages/count_tokens?x=1", &[("x-api-key", "k")], odd).await;
    assert_eq!((answer.status, answer.json()["input_tokens"].as_i64()), (200, Some(7)));
    let seen = pair.last();
    assert_eq!(
        (seen.path.as_str(), seen.body.as_ref()),
        ("/v1/messages/count_tokens?x=1", odd.as_bytes())
    );
    let models = get(&format!("{}/v1/models", pair.gateway.url)).await;
    assert_eq!((models.status, pair.last().method.as_str()), (200, "GET"));
    let file = vec![7_u8; 3_000_000];
    let upload = post(&format!("{}/v1/files", pair.gateway.url), &[], Body::from(file)).await;
    assert_eq!((upload.status, pair.last().body.len()), (200, 3_000_000));
    let redirect = pair.post("/v1/files", &[("x-fake", "redirect")], "").await;
    assert_eq!(redirect.status, 307, "redirects are the client's business");
}

#[tokio::test]
async fn streams_come_through_chunk_for_chunk() {
    let pair = Pair::start("max = '1k'").await;
    for path in [CHAT, RESPONSES, MESSAGES, GEMINI] {
        let (path, body) = streaming(path, history(path, 1));
        let url = format!("{}{path}", pair.gateway.url);
        let asked = request(Method::POST, &url, &[("x-fake", "drip")], Body::from(body));
        let begun = Instant::now();
        let mut answer = client().request(asked).await.unwrap();
        let first = answer.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
        let until_first = begun.elapsed();
        let mut text = first.to_vec();
        while let Some(frame) = answer.body_mut().frame().await {
            text.extend_from_slice(&frame.unwrap().into_data().unwrap());
        }
        let events = String::from_utf8(text).unwrap().matches("data: ").count() as u32;
        assert!(events >= 4, "{path}");
        let rest = begun.elapsed().saturating_sub(until_first);
        assert!(rest >= Duration::from_millis(100) * (events - 2), "{path}: {rest:?} for {events}");
    }
}

#[tokio::test]
async fn a_client_that_leaves_cancels_upstream_and_is_noted_all_the_same() {
    let pair = Pair::start("max = '1k'").await;
    let (path, body) = streaming(CHAT, history(CHAT, 1));
    let url = format!("{}{path}", pair.gateway.url);
    let asked = request(Method::POST, &url, &[("x-fake", "hang")], Body::from(body.clone()));
    let one = client();
    let mut answer = one.request(asked).await.unwrap();
    answer.body_mut().frame().await.unwrap().unwrap();
    drop((answer, one));
    let left = &pair.fake.sight.left;
    until("the stream ends upstream", async || left.load(std::sync::atomic::Ordering::SeqCst) == 1)
        .await;
    // Another one leaves before there is an answer at all.
    let asked = request(Method::POST, &url, &[("x-fake", "slow-head")], Body::from(body));
    let early = tokio::time::timeout(Duration::from_millis(100), client().request(asked)).await;
    assert!(early.is_err());
    let gateway = &pair.gateway;
    let name = "cupel_gateway_requests_total{api=\"openai-chat\",outcome=\"client-left\",status=";
    until("both are counted", async || {
        gateway.metric(&format!("{name}\"200\"}}")).await == 1.0
            && gateway.metric(&format!("{name}\"none\"}}")).await == 1.0
    })
    .await;
    assert_eq!(gateway.metric("cupel_gateway_active_requests").await, 0.0);
    let log = pair.gateway.log().await;
    let outcomes: Vec<&str> = log.iter().filter_map(|line| line["outcome"].as_str()).collect();
    assert_eq!(outcomes, ["client-left", "client-left"]);
}

#[tokio::test]
async fn upstreams_are_chosen_by_path_and_model() {
    let (one, two) = (Pair::start("").await, Pair::start("").await);
    let config = format!(
        "max = '1k'\n[[upstreams]]\nurl = 'http://{}'\npath = '/v1/messages'\n\
         [[upstreams]]\nurl = 'http://{}'\nmodel = 'special-*'\n",
        one.fake.address, two.fake.address
    );
    let pair = Pair::start(&config).await;
    pair.post(MESSAGES, &[], &history(MESSAGES, 1).to_string()).await;
    let mut special = history(CHAT, 1);
    special["model"] = "special-1".into();
    pair.post(CHAT, &[], &special.to_string()).await;
    pair.post("/v1/%6dessages/count_tokens", &[], "{}").await;
    pair.post(CHAT, &[], &history(CHAT, 1).to_string()).await;
    assert_eq!((one.seen().len(), two.seen().len(), pair.seen().len()), (2, 1, 1));
}

#[tokio::test]
async fn what_goes_out_at_once_is_a_step_of_its_conversation_all_the_same() {
    let pair = Pair::start("max = '100k'").await;
    for (rounds, fake) in [(30, ""), (31, "slow-head"), (60, "")] {
        let (path, body) = streaming(CHAT, history(CHAT, rounds));
        let answer = pair.post(&path, &[("x-fake", fake)], &body).await;
        assert_eq!(answer.status, 200);
        assert_eq!(pair.last().body, body.as_bytes(), "byte for byte");
        assert_eq!(answer.number("x-cupel-dropped"), 0);
        assert_eq!(answer.number("x-cupel-kept"), i64::try_from(4 * rounds + 1).unwrap());
        let is_known = answer.number("x-cupel-cached-prefix") > 0;
        assert_eq!(is_known, rounds > 30, "the next step finds what the last one left");
    }
    let log = pair.gateway.log().await;
    let steps: Vec<Option<u64>> = log.iter().map(|line| line["step"].as_u64()).collect();
    assert_eq!(steps, [Some(1), Some(2), Some(3)]);
}

fn packed(name: &str, text: &str) -> Vec<u8> {
    if name == "zstd" {
        return zstd::stream::encode_all(text.as_bytes(), 1).unwrap();
    }
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn compressed_bodies_go_on_as_they_came_if_they_fit_and_plain_if_they_do_not() {
    let pair = Pair::start("max = 600").await;
    let url = format!("{}{CHAT}", pair.gateway.url);
    for name in ["gzip", "zstd"] {
        let small = packed(name, &history(CHAT, 1).to_string());
        post(&url, &[("content-encoding", name)], Body::from(small.clone())).await;
        let seen = pair.last();
        assert_eq!(
            (&seen.body[..], &seen.headers["content-encoding"]),
            (&small[..], &name.parse().unwrap())
        );
        let large = packed(name, &history(CHAT, 30).to_string());
        let answer = post(&url, &[("content-encoding", name)], Body::from(large)).await;
        assert!(answer.number("x-cupel-dropped") > 0, "{name}");
        let seen = pair.last();
        assert!(!seen.headers.contains_key("content-encoding"), "{name}");
        assert_eq!(seen.flaw, None, "{name}: it is JSON");
    }
}

#[tokio::test]
async fn a_client_that_leaves_after_the_last_event_was_answered() {
    let pair = Pair::start("max = 4000").await;
    let (path, body) = streaming(RESPONSES, history(RESPONSES, 1));
    let url = format!("{}{path}", pair.gateway.url);
    let asked = request(Method::POST, &url, &[("x-fake", "open-end")], Body::from(body));
    let mut answer = client().request(asked).await.unwrap().into_body();
    let mut text = String::new();
    while !text.contains("event: response.completed") {
        let frame = answer.frame().await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
    drop(answer);
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    let log = pair.gateway.log().await;
    assert_eq!(log[0]["outcome"], "answered", "{}", log[0]);
}

#[tokio::test]
async fn a_signed_body_is_left_alone() {
    let pair = Pair::start("max = 600").await;
    let signed = [("authorization", "AWS4-HMAC-SHA256 Credential=AKIA/x, Signature=0")];
    let body = history(MESSAGES, 30).to_string();
    pair.post(MESSAGES, &signed, &body).await;
    assert_eq!(pair.last().body, body.as_bytes());
    assert_eq!(pair.gateway.log().await[0]["unfit"], "signed-body");
}
