//! An upstream that finds a request too long is heard, once.

use std::sync::atomic::Ordering;

use crate::support::{CHAT, GEMINI, MESSAGES, Pair, RESPONSES, history, streaming};

#[tokio::test]
async fn the_limit_is_learnt_and_the_request_sent_once_more() {
    for path in [CHAT, RESPONSES, MESSAGES, GEMINI] {
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
    for path in [CHAT, RESPONSES, MESSAGES, GEMINI] {
        let pair = Pair::start("").await;
        let (url, body) = streaming(path, history(path, 30));
        let answer = pair.post(&url, &[("x-fake", "too-long-stream")], &body).await;
        assert_eq!(answer.status, 200, "{path}");
        let seen = pair.seen();
        assert_eq!(seen.len(), 2, "{path}");
        assert!(seen[1].body.len() < seen[0].body.len(), "{path}");
        assert_eq!(seen[1].flaw, None, "{path}");
    }
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
