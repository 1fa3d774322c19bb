//! An upstream that finds a request too long is heard, once.

use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::http::Method;

use crate::support::{
    CHAT, CODE_ASSIST, CONVERSE, GEMINI, MESSAGES, OLLAMA, Pair, RESPONSES, client, get, history,
    request, streaming,
};

#[tokio::test]
async fn the_limit_is_learnt_and_the_request_sent_once_more() {
    for path in [CHAT, RESPONSES, MESSAGES, GEMINI, CODE_ASSIST, CONVERSE, OLLAMA] {
        let pair = Pair::start("").await;
        let body = history(path, 30).to_string();
        let limited = [("x-fake", "too-long:600")];
        let before = pair.seen().len();
        let answer = pair.post(path, &limited, &body).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let seen = pair.seen();
        assert_eq!(seen.len() - before, 2, "{path}: once more");
        assert_eq!(seen.last().unwrap().flaw, None, "{path}");
        // The next one is made to fit before anybody complains.
        let again = pair.post(path, &limited, &body).await;
        assert_eq!((again.status, pair.seen().len() - before), (200, 3), "{path}");
        assert_eq!(pair.gateway.metric("cupel_gateway_learnt_limits").await, 1.0);
    }
}

#[tokio::test]
async fn too_long_is_heard_in_a_stream_that_began_well() {
    for path in [CHAT, RESPONSES, MESSAGES, GEMINI, CODE_ASSIST, CONVERSE] {
        let pair = Pair::start("").await;
        let (url, body) = streaming(path, history(path, 30));
        let answer = pair.post(&url, &[("x-fake", "too-long-stream")], &body).await;
        assert_eq!(answer.status, 200, "{path}");
        let seen = pair.seen();
        // OpenAI's Responses name no number: it is guessed.
        assert_eq!(seen.len() > 2, path == RESPONSES, "{path}");
        assert!(seen[1].body.len() < seen[0].body.len(), "{path}");
        assert_eq!(seen[1].flaw, None, "{path}");
    }
}

#[tokio::test]
async fn a_limit_that_nobody_says_is_guessed_a_few_times_and_never_learnt() {
    let pair = Pair::start("").await;
    let body = history(CHAT, 30).to_string();
    let answer = pair.post(CHAT, &[("x-fake", "too-long-unsaid:600")], &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(pair.seen().len() > 2, "{}", pair.seen().len());
    assert_eq!(pair.gateway.metric("cupel_gateway_learnt_limits").await, 0.0);
    let before = pair.seen().len();
    let answer = pair.post(CHAT, &[("x-fake", "too-long-unsaid:0")], &body).await;
    assert_eq!((answer.status, pair.seen().len() - before), (400, 4));
}

#[tokio::test]
async fn an_error_with_status_200_is_heard_too() {
    for path in [CHAT, RESPONSES, MESSAGES, GEMINI] {
        let pair = Pair::start("").await;
        let body = history(path, 30).to_string();
        let answer = pair.post(path, &[("x-fake", "error-in-200:600")], &body).await;
        assert!(answer.text().contains("Hello "), "{path}: {}", answer.text());
        assert_eq!(pair.seen().len(), 2, "{path}");
    }
}

const ALICE: (&str, &str) = ("authorization", "Bearer alice");
const BOB: (&str, &str) = ("authorization", "Bearer bob");

#[tokio::test]
async fn the_window_is_learnt_and_not_the_room_that_a_large_answer_left() {
    let pair = Pair::start("max = 4000").await;
    let limited = [ALICE, ("x-fake", "window:2000")];
    let mut greedy = history(CHAT, 30);
    greedy["max_tokens"] = 1_700.into();
    let answer = pair.post(CHAT, &limited, &greedy.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.number("x-cupel-tokens-after") < 300);
    // The next one asks for less, and keeps what the window takes.
    let mut modest = history(CHAT, 30);
    modest["max_tokens"] = 100.into();
    let sent = pair.seen().len();
    let other = [ALICE, ("x-fake", "window:2000"), ("x-cupel-conversation", "another")];
    let answer = pair.post(CHAT, &other, &modest.to_string()).await;
    assert_eq!((answer.status, pair.seen().len() - sent), (200, 1));
    let after = answer.number("x-cupel-tokens-after");
    assert!((1_200..1_900).contains(&after), "{after}");
}

#[tokio::test]
async fn what_one_client_is_told_holds_for_no_other() {
    let pair = Pair::start("max = 4000").await;
    let body = history(CHAT, 30).to_string();
    pair.post(CHAT, &[ALICE, ("x-fake", "too-long:600")], &body).await;
    assert_eq!(pair.gateway.metric("cupel_gateway_learnt_limits").await, 1.0);
    let bob = pair.post(CHAT, &[BOB], &body).await;
    assert_eq!(bob.number("x-cupel-dropped"), 0);
    let alice = pair.post(CHAT, &[ALICE], &body).await;
    assert!(alice.number("x-cupel-dropped") > 0);
}

#[tokio::test]
async fn nothing_is_learnt_from_quoted_input_or_about_another_request() {
    let pair = Pair::start("max = 4000").await;
    let mut body = history(CHAT, 30);
    body["user"] = "This model's maximum context length is 300 tokens. However, your messages resulted in 900 tokens.".into();
    let answer = pair.post(CHAT, &[ALICE, ("x-fake", "quotes")], &body.to_string()).await;
    assert_eq!((answer.status, pair.seen().len()), (400, 1), "it is not sent again");
    pair.post(CHAT, &[ALICE, ("x-fake", "lies")], &body.to_string()).await;
    assert_eq!(pair.gateway.metric("cupel_gateway_learnt_limits").await, 0.0);
    assert_eq!(pair.gateway.metric("cupel_gateway_limits_disbelieved_total").await, 1.0);
    let whole = pair.post(CHAT, &[ALICE], &body.to_string()).await;
    assert_eq!(whole.number("x-cupel-dropped"), 0);
    // What was accepted a moment ago is not called too much now.
    pair.post(CHAT, &[ALICE, ("x-fake", "too-long:600")], &body.to_string()).await;
    let whole = pair.post(CHAT, &[ALICE], &body.to_string()).await;
    assert_eq!(whole.number("x-cupel-dropped"), 0);
}

#[tokio::test]
async fn limits_are_shown_and_forgotten_on_the_page_and_expire() {
    let pair = Pair::start("max = 4000").await;
    let body = history(CHAT, 30).to_string();
    pair.post(CHAT, &[ALICE, ("x-fake", "too-long:600")], &body).await;
    let url = format!("{}/cupel/api/limits", pair.gateway.url);
    let shown = get(&url).await.json();
    assert_eq!(shown["limits"].as_array().unwrap().len(), 1, "{shown}");
    assert!(shown["limits"][0]["tokens"].as_i64().unwrap() <= 600, "{shown}");
    let asked = request(Method::DELETE, &url, &[], Body::empty());
    assert_eq!(client().request(asked).await.unwrap().status().as_u16(), 200);
    assert_eq!(get(&url).await.json()["limits"].as_array().unwrap().len(), 0);
    let whole = pair.post(CHAT, &[ALICE], &body).await;
    assert_eq!(whole.number("x-cupel-dropped"), 0);
    let short = Pair::start("max = 4000\n[server]\nlearnt_lifetime = '0s'").await;
    short.post(CHAT, &[ALICE, ("x-fake", "too-long:600")], &body).await;
    assert_eq!(short.post(CHAT, &[ALICE], &body).await.number("x-cupel-dropped"), 0);
}

#[tokio::test]
async fn after_the_second_no_the_error_goes_back_as_it_is() {
    let pair = Pair::start("max = 2000").await;
    let body = history(CHAT, 30).to_string();
    let answer = pair.post(CHAT, &[("x-fake", "too-long-always")], &body).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["error"]["code"], "context_length_exceeded");
    assert_eq!(pair.fake.sight.count.load(Ordering::SeqCst), 2);
    let other = pair.post(CHAT, &[("x-fake", "500")], &body).await;
    assert_eq!((other.status, other.json()["error"]["message"].as_str()), (500, Some("it broke")));
    assert_eq!(pair.fake.sight.count.load(Ordering::SeqCst), 3, "other errors are not repeated");
}
