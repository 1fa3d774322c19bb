//! A request that does not fit becomes a window that its provider takes, step by step of one session.

use serde_json::{Value, json};

use crate::support::{
    CHAT, CODE_ASSIST, CONVERSE, GEMINI, MESSAGES, OLLAMA, Pair, RESPONSES, history, list,
    streaming,
};

#[tokio::test]
async fn every_api_is_made_to_fit_streaming_and_not() {
    let pair = Pair::start("max = 600").await;
    for path in [CHAT, RESPONSES, MESSAGES, GEMINI, CODE_ASSIST, CONVERSE, OLLAMA] {
        let body = history(path, 30);
        for (path, text) in [(path.to_owned(), body.to_string()), streaming(path, body.clone())] {
            let answer = pair.post(&path, &[], &text).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            assert!(answer.text().contains("Hello "), "{path}");
            let seen = pair.last();
            assert_eq!(seen.flaw, None, "{path}");
            let sent: Value = serde_json::from_slice(&seen.body).unwrap();
            let (before, after) = (list(&body), list(&sent));
            assert!(after.len() < before.len() && after.last() == before.last(), "{path}");
            assert_eq!(answer.number("x-cupel-kept"), count(after.len()));
            assert_eq!(answer.number("x-cupel-dropped"), count(before.len() - after.len()));
            assert!(answer.number("x-cupel-tokens-after") <= 600);
            assert!(answer.number("x-cupel-tokens-before") > 600);
            assert!(sent.get("tools").is_none(), "nothing is injected");
            let around = |request: &Value| {
                let names = ["model", "project", "user_prompt_id", "stream"];
                names.map(|name| request.get(name).cloned())
            };
            assert_eq!(around(&sent), around(&serde_json::from_str(&text).unwrap()), "{path}");
        }
    }
}

/// Returns true if a history of so many rounds goes out whole, after one whose tokens the provider reported.
async fn goes_whole(path: &str, model: &str, percent: i64, rounds: usize, key: &str) -> bool {
    let pair = Pair::start("max = '4k'").await;
    let body = |rounds| {
        let mut body = history(path, rounds);
        body["model"] = model.into();
        body.to_string()
    };
    let mine = ("authorization", "Bearer mine");
    let first = pair.post(path, &[mine], &body(20)).await;
    assert_eq!(first.number("x-cupel-dropped"), 0, "{path}");
    let usage = format!("usage:{}", first.number("x-cupel-tokens-after") * percent / 100);
    assert_eq!(pair.post(path, &[mine, ("x-fake", &usage)], &body(20)).await.status, 200);
    let key = format!("Bearer {key}");
    let answer = pair.post(path, &[("authorization", &key)], &body(rounds)).await;
    assert_eq!((answer.status, pair.last().flaw), (200, None), "{path}");
    answer.number("x-cupel-dropped") == 0
}

/// Servers of other models behind Anthropic's interface never think, whatever a client enables.
#[tokio::test]
async fn a_conversation_without_the_thinking_that_it_enables_is_made_to_fit_unless_limits_are_enforced()
 {
    let mut body = history(MESSAGES, 60);
    body["thinking"] = serde_json::json!({ "type": "enabled", "budget_tokens": 2_000 });
    let call = serde_json::json!([{ "type": "tool_use", "id": "t", "name": "look", "input": {} }]);
    let result =
        serde_json::json!([{ "type": "tool_result", "tool_use_id": "t", "content": "seen" }]);
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(serde_json::json!({ "role": "assistant", "content": call }));
    messages.push(serde_json::json!({ "role": "user", "content": result }));
    let pair = Pair::start("max = '4k'").await;
    let answer = pair.post(MESSAGES, &[], &body.to_string()).await;
    assert_eq!((answer.status, pair.last().flaw), (200, None));
    assert!(answer.number("x-cupel-dropped") > 0);
    let strict = Pair::start("max = '4k'\nfail = 'closed'").await;
    let answer = strict.post(MESSAGES, &[], &body.to_string()).await;
    assert_eq!(answer.status, 400, "{answer:?}");
    assert!(answer.json()["error"]["message"].as_str().unwrap().contains("refuse this request"));
}

#[tokio::test]
async fn what_the_provider_reports_says_how_much_fits_in_its_own_conversation() {
    let claude = "claude-sonnet-4-5";
    let mut most = 20;
    while goes_whole(MESSAGES, claude, 100_000, most + 2, "mine").await {
        most += 2;
    }
    assert!((22..60).contains(&most), "a report that is not believed changes nothing: {most}");
    let more = most + 2;
    assert!(goes_whole(MESSAGES, claude, 60, more, "mine").await, "counts were too high");
    assert!(!goes_whole(MESSAGES, claude, 60, more, "other").await, "no other key's");
    assert!(!goes_whole(MESSAGES, claude, 190, most, "mine").await, "counts were too low");
    // A local server that reports less may have dropped something.
    let mut most = 20;
    while goes_whole(CHAT, "local", 100_000, most + 2, "mine").await {
        most += 2;
    }
    assert!(!goes_whole(CHAT, "local", 60, most + 2, "mine").await);
    assert!(!goes_whole(CHAT, "local", 190, most, "mine").await);
}

#[tokio::test]
async fn the_log_has_what_the_provider_reported_streaming_and_not() {
    let pair = Pair::start("").await;
    for path in [CHAT, RESPONSES, MESSAGES, GEMINI, CODE_ASSIST, CONVERSE, OLLAMA] {
        let body = history(path, 3);
        for (url, text) in [(path.to_owned(), body.to_string()), streaming(path, body.clone())] {
            assert_eq!(pair.post(&url, &[], &text).await.status, 200);
        }
    }
    let log = pair.gateway.log().await;
    let reported: Vec<Option<i64>> =
        log.iter().map(|line| line["tokens_reported"].as_i64()).collect();
    // A stream of chat completions reports only to those who ask.
    let mut expected = vec![Some(9); 14];
    expected[1] = None;
    assert_eq!(reported, expected);
}

fn count(messages: usize) -> i64 {
    i64::try_from(messages).unwrap()
}

/// One conversation that grows; what was sent each time.
async fn grow(pair: &Pair, headers: &[(&str, &str)], steps: std::ops::Range<usize>) -> Vec<Value> {
    let mut sent = Vec::new();
    for rounds in steps {
        let answer = pair.post(CHAT, headers, &history(CHAT, rounds).to_string()).await;
        assert_eq!(answer.status, 200);
        sent.push(serde_json::from_slice(&pair.last().body).unwrap());
    }
    sent
}

#[tokio::test]
async fn a_conversation_is_known_again_by_its_history_and_keeps_its_prefix() {
    // OpenAI keeps nothing below 1,024 tokens.
    let pair = Pair::start("max = '2k'").await;
    let sent = grow(&pair, &[], 20..40).await;
    let (mut kept, mut all) = (0, 0);
    for two in sent.windows(2) {
        let (old, new) = (list(&two[0]), list(&two[1]));
        kept += old.iter().zip(new).take_while(|(old, new)| old == new).count();
        all += old.len();
    }
    assert!(kept * 3 > all * 2, "{kept} of {all} messages stand where the provider has them");
    let answer = pair.post(CHAT, &[], &history(CHAT, 40).to_string()).await;
    assert!(answer.number("x-cupel-cached-prefix") >= 1_024);
    let log = pair.gateway.log().await;
    let conversations: std::collections::BTreeSet<&str> =
        log.iter().filter_map(|line| line["conversation"].as_str()).collect();
    assert_eq!(conversations.len(), 1);
    assert_eq!(log.last().unwrap()["step"], 21);
}

#[tokio::test]
async fn a_conversation_can_be_named_and_others_are_kept_apart() {
    let pair = Pair::start("max = '2k'").await;
    let named = [("x-cupel-conversation", "a")];
    grow(&pair, &named, 28..30).await;
    let mut by_field = history(CHAT, 30);
    by_field["conversation"] = "a".into();
    let same = pair.post(CHAT, &[], &by_field.to_string()).await;
    assert!(same.number("x-cupel-cached-prefix") > 0);
    let other =
        pair.post(CHAT, &[("x-cupel-conversation", "b")], &history(CHAT, 31).to_string()).await;
    assert_eq!(other.number("x-cupel-cached-prefix"), 0);
    let key = [("x-cupel-conversation", "a"), ("authorization", "Bearer other")];
    let other = pair.post(CHAT, &key, &history(CHAT, 31).to_string()).await;
    assert_eq!(other.number("x-cupel-cached-prefix"), 0, "another customer's");
}

#[tokio::test]
async fn a_refused_step_does_not_count() {
    let pair = Pair::start("max = 900").await;
    pair.post(CHAT, &[], &history(CHAT, 8).to_string()).await;
    for _ in 0..3 {
        let refused = pair.post(CHAT, &[("x-fake", "503")], &history(CHAT, 9).to_string()).await;
        assert_eq!(refused.status, 503);
    }
    pair.post(CHAT, &[], &history(CHAT, 9).to_string()).await;
    let log = pair.gateway.log().await;
    let steps: Vec<i64> = log.iter().filter_map(|line| line["step"].as_i64()).collect();
    assert_eq!(steps, [1, 2, 2, 2, 2]);
}

#[tokio::test]
async fn what_fits_again_goes_out_whole_even_in_a_conversation_that_was_cut() {
    let pair = Pair::start("max = 900").await;
    let named = [("x-cupel-conversation", "a")];
    grow(&pair, &named, 20..21).await;
    let short = history(CHAT, 3).to_string();
    pair.post(CHAT, &named, &short).await;
    assert_eq!(pair.last().body, short.as_bytes());
}

#[tokio::test]
async fn a_rule_of_the_configuration_or_of_a_header_is_never_left_out() {
    let pair = Pair::start("max = 600\nrules = ['the lamp is green']").await;
    let mut body = history(CHAT, 20);
    for (at, words) in [(4, "Mind: the lamp is green."), (8, "The fence, Zoë, stays blue.")] {
        body["messages"][at] = json!({ "role": "user", "content": words });
    }
    let sent = |pair: &Pair| String::from_utf8(pair.last().body.to_vec()).unwrap();
    pair.post(CHAT, &[], &body.to_string()).await;
    assert!(sent(&pair).contains("lamp is green"), "{}", sent(&pair));
    let header = [("x-cupel-rules", "stays blue"), ("x-cupel-conversation", "other")];
    let answer = pair.post(CHAT, &header, &body.to_string()).await;
    assert!(answer.number("x-cupel-dropped") > 0);
    assert!(sent(&pair).contains("stays blue") && sent(&pair).contains("lamp is green"));
}

#[tokio::test]
async fn odd_fields_do_not_leave_a_request_unfitted() {
    let pair = Pair::start("max = 600").await;
    let odd = [
        ("conversation", json!(5)),
        ("session", json!([])),
        ("input", json!("x")),
        ("contents", json!([])),
        ("items", json!([])),
        ("metadata", json!({ "a": null })),
        ("x_unheard_of", json!({ "deep": [[[]]] })),
        ("max_tokens", json!(-1)),
        ("stream_options", json!(null)),
    ];
    for (name, value) in odd {
        let mut body = history(CHAT, 20);
        body[name] = value;
        let answer = pair.post(CHAT, &[], &body.to_string()).await;
        assert_eq!(answer.status, 200, "{name}");
        assert!(answer.headers.contains_key("x-cupel-dropped"), "{name}");
        assert!(answer.number("x-cupel-dropped") > 0, "{name}");
    }
}

#[tokio::test]
async fn a_keys_limit_holds_wherever_the_key_stands_and_whatever_stands_beside_it() {
    let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"; // secret
    let pair =
        Pair::start(&format!("max = '4k'\n[[limits]]\nkey = 'sha256:{hash}'\nmax = 300\n")).await;
    let body = history(CHAT, 12).to_string();
    let free = pair.post(CHAT, &[("authorization", "Bearer free")], &body).await;
    assert_eq!(free.number("x-cupel-dropped"), 0);
    let ways: [&[(&str, &str)]; 5] = [
        &[("authorization", "Bearer secret")],
        &[("authorization", "bearer   secret")],
        &[("x-api-key", "secret")],
        &[("authorization", "Bearer free"), ("x-api-key", "secret")],
        &[("x-api-key", "free"), ("x-api-key", "secret")],
    ];
    for headers in ways {
        let answer = pair.post(CHAT, headers, &body).await;
        assert!(answer.number("x-cupel-tokens-after") <= 300, "{headers:?}");
    }
    let answer = pair.post(&format!("{CHAT}?key=secret"), &[], &body).await;
    assert!(answer.number("x-cupel-tokens-after") <= 300);
}

#[tokio::test]
async fn the_models_own_window_and_output_limit_hold_if_nothing_is_configured() {
    let pair = Pair::start("[[limits]]\nmodel = 'tiny-*'\nwindow = 700\n").await;
    let mut body = history(CHAT, 30);
    body["model"] = "tiny-1".into();
    body["max_tokens"] = 300.into();
    let answer = pair.post(CHAT, &[], &body.to_string()).await;
    assert!(answer.number("x-cupel-tokens-after") <= 525, "a quarter is for the answer");
    body["model"] = "gpt-4o".into();
    let answer = pair.post(CHAT, &[], &body.to_string()).await;
    assert_eq!(answer.number("x-cupel-dropped"), 0);
}

#[tokio::test]
async fn an_answer_that_asks_for_the_whole_window_leaves_room_for_the_request() {
    let pair = Pair::start("window = 4000").await;
    for path in [CHAT, RESPONSES, MESSAGES, GEMINI] {
        let mut body = history(path, 120);
        let (name, field) = match path {
            RESPONSES => ("max_output_tokens", json!(32_000)),
            GEMINI => ("generationConfig", json!({ "maxOutputTokens": 32_000 })),
            _ => ("max_tokens", json!(32_000)),
        };
        body[name] = field.clone();
        let answer = pair.post(path, &[], &body.to_string()).await;
        let after = answer.number("x-cupel-tokens-after");
        assert!(answer.number("x-cupel-dropped") > 0 && after <= 3_000 && after > 2_000, "{path}");
        let sent: Value = serde_json::from_slice(&pair.last().body).unwrap();
        assert_eq!(sent[name], field, "{path}: its own limit is left alone");
    }
}

#[tokio::test]
async fn the_limit_for_the_answer_is_lowered_where_that_is_asked_for() {
    let pair = Pair::start("window = 4000\ncap_output = true").await;
    let mut body = history(MESSAGES, 120);
    body["max_tokens"] = 32_000.into();
    pair.post(MESSAGES, &[], &body.to_string()).await;
    let sent: Value = serde_json::from_slice(&pair.last().body).unwrap();
    let capped = sent["max_tokens"].as_i64().unwrap();
    assert!((1_000..2_000).contains(&capped), "{capped}");
    // A request that fits has more room for its answer, and loses nothing else.
    let mut short = history(MESSAGES, 1);
    short["max_tokens"] = 32_000.into();
    pair.post(MESSAGES, &[], &short.to_string()).await;
    let mut sent: Value = serde_json::from_slice(&pair.last().body).unwrap();
    let capped = sent["max_tokens"].take().as_i64().unwrap();
    assert!((3_000..4_000).contains(&capped), "{capped}");
    short["max_tokens"].take();
    assert_eq!(sent, short);
    let log = pair.gateway.log().await;
    assert_eq!(log[1]["output_capped"], capped);
}

#[tokio::test]
async fn where_nothing_fits_the_smallest_window_goes_out_and_says_what_it_lacks() {
    let pair = Pair::start("max = 100").await;
    for path in [CHAT, RESPONSES, MESSAGES, GEMINI] {
        let mut body = history(path, 30);
        let long = "words that must be kept, however many they are. ".repeat(40);
        let (name, system) = match path {
            MESSAGES => ("system", json!(long)),
            RESPONSES => ("instructions", json!(long)),
            GEMINI => ("systemInstruction", json!({ "parts": [{ "text": long }] })),
            _ => ("messages", Value::Null),
        };
        if system.is_null() {
            let list = body["messages"].as_array_mut().unwrap();
            list.insert(0, json!({ "role": "system", "content": long }));
        } else {
            body[name] = system;
        }
        let answer = pair.post(path, &[], &body.to_string()).await;
        assert_eq!((answer.status, pair.last().flaw), (200, None), "{path}");
        assert!(answer.number("x-cupel-kept") <= 3, "{path}: {:?}", answer.headers);
        assert!(answer.number("x-cupel-dropped") > 40, "{path}");
    }
    let log = pair.gateway.log().await;
    for line in log {
        assert_eq!(line["unfit"], "does-not-fit");
        let shortfall = &line["shortfall"];
        assert_eq!(shortfall["available"], 100, "{line}");
        let needed = shortfall["needed"].as_i64().unwrap();
        let parts = shortfall["parts"].as_array().unwrap();
        let sum: i64 = parts.iter().map(|part| part["tokens"].as_i64().unwrap()).sum();
        assert!(needed > 400 && sum == needed, "{line}");
    }
}
