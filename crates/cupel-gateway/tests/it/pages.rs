//! The page, and what it asks for.

use axum::body::Body;
use axum::http::Method;
use http_body_util::BodyExt as _;

use crate::support::{CHAT, Pair, ask, client, get, history, request, until};

#[tokio::test]
async fn what_is_chosen_on_the_page_is_kept_from_the_next_request_of_its_conversation_on() {
    let pair = Pair::start("max = '1.6k'").await;
    let keeps =
        |pair: &Pair, words: &str| String::from_utf8_lossy(&pair.last().body).contains(words);
    // The third message is a result that nobody asks for any more.
    let third = "Result 0: the lighthouse";
    pair.post(CHAT, &[], &history(CHAT, 30).to_string()).await;
    assert!(!keeps(&pair, third));
    let pins = format!("{}/cupel/api/requests/1/pins", pair.gateway.url);
    assert_eq!(get(&pins).await.json()["messages"], serde_json::json!([]));
    let kept = ask(Method::PUT, &format!("{pins}?message=2")).await;
    assert_eq!((kept.status, &kept.json()["messages"]), (200, &serde_json::json!([2])));
    pair.post(CHAT, &[], &history(CHAT, 31).to_string()).await;
    assert!(keeps(&pair, third), "it is back");
    assert_eq!(pair.last().flaw, None);
    let other = [("authorization", "Bearer other")];
    pair.post(CHAT, &other, &history(CHAT, 31).to_string()).await;
    assert!(!keeps(&pair, third), "another's conversation");
    let gone = ask(Method::DELETE, &format!("{pins}?message=2")).await;
    assert_eq!(gone.json()["messages"], serde_json::json!([]));
    for (path, status) in [("?message=9999", 400), ("?message=x", 400), ("", 400)] {
        assert_eq!(ask(Method::PUT, &format!("{pins}{path}")).await.status, status, "{path}");
    }
    let missing = format!("{}/cupel/api/requests/99/pins?message=0", pair.gateway.url);
    assert_eq!(ask(Method::PUT, &missing).await.status, 404);
    let named = Pair::start("max = '1.6k'").await;
    named.post(CHAT, &[("x-cupel-pin", "2")], &history(CHAT, 30).to_string()).await;
    assert!(keeps(&named, third), "the header does the same");
}

#[tokio::test]
async fn sub_agents_and_side_calls_are_told_apart_from_their_agent() {
    let pair = Pair::start("max = '1.6k'").await;
    let session = ("x-claude-code-session-id", "s");
    let with_tools = |rounds, name: &str| {
        let mut body = history(CHAT, rounds);
        let function = serde_json::json!({ "name": name, "parameters": { "type": "object" } });
        body["tools"] = serde_json::json!([{ "type": "function", "function": function }]);
        body.to_string()
    };
    pair.post(CHAT, &[session], r#"{"messages":[{"role":"user","content":"a title"}]}"#).await;
    pair.post(CHAT, &[session], &with_tools(2, "look")).await;
    pair.post(CHAT, &[session], &with_tools(3, "look")).await;
    let sub = [session, ("x-claude-code-agent-id", "a")];
    pair.post(CHAT, &sub, &with_tools(1, "find")).await;
    let rows = get(&format!("{}/cupel/api/requests", pair.gateway.url)).await.json();
    let callers: Vec<&serde_json::Value> =
        rows["rows"].as_array().unwrap().iter().map(|row| &row["caller"]).collect();
    assert_eq!(
        serde_json::json!(callers),
        serde_json::json!(["side-call", null, null, "sub-agent"])
    );
    assert_eq!(pair.gateway.log().await[0]["caller"], "side-call");
}

#[tokio::test]
async fn the_page_and_its_files_run_no_script_but_their_own() {
    let pair = Pair::start("").await;
    let page = get(&format!("{}/cupel/", pair.gateway.url)).await;
    assert_eq!(page.status, 200);
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.headers["x-content-type-options"], "nosniff");
    for asset in cupel_page::assets() {
        let answer = get(&format!("{}/cupel/{}", pair.gateway.url, asset.name)).await;
        assert_eq!(
            (answer.status, answer.headers["content-type"].to_str().unwrap()),
            (200, asset.mime)
        );
        assert_eq!(answer.text(), asset.body);
    }
    assert_eq!(get(&format!("{}/cupel/no.js", pair.gateway.url)).await.status, 404);
}

#[tokio::test]
async fn requests_are_listed_and_opened_as_steps_of_their_run() {
    let pair = Pair::start("max = '1.6k'").await;
    for rounds in 24..32 {
        pair.post(CHAT, &[], &history(CHAT, rounds).to_string()).await;
    }
    let api = format!("{}/cupel/api/requests", pair.gateway.url);
    until("all are over", async || {
        let list = get(&api).await.json();
        list["rows"].as_array().is_some_and(|rows| rows.len() == 8)
    })
    .await;
    let list = get(&api).await.json();
    let rows = list["rows"].as_array().unwrap();
    let conversations: Vec<&serde_json::Value> =
        rows.iter().map(|row| &row["conversation"]).collect();
    assert!(conversations.iter().all(|conversation| *conversation == conversations[0]));
    let last = rows.last().unwrap();
    assert_eq!((last["id"].as_u64(), last["step"].as_u64()), (Some(8), Some(8)));
    assert_eq!(last["status"], "fitted");
    assert_eq!(last["title"], "How many steps has lighthouse 31?");
    let after = get(&format!("{api}?after=6")).await.json();
    assert_eq!(after["rows"].as_array().unwrap().len(), 2);

    let view = get(&format!("{api}/8?policy=chat")).await;
    assert_eq!(view.status, 200, "{}", view.text());
    let view = view.json();
    let run = view["step"]["run"].as_array().unwrap();
    let numbers: Vec<u64> = run.iter().filter_map(|point| point["number"].as_u64()).collect();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>(), "a point for each step");
    assert!(
        run[7]["everything"]["cached_tokens"].as_i64()
            > run[0]["everything"]["cached_tokens"].as_i64()
    );
    assert!(view["step"]["cached_tokens"].as_i64().unwrap() > 0);
    assert_eq!(view["beside"][0]["policy"], "chat");
    let parts = view["parts"].as_array().unwrap();
    let words =
        parts.iter().filter(|part| part["words"].as_array().is_some_and(|words| !words.is_empty()));
    assert!(words.count() > 0, "words that earned a place");
    let both = get(&format!("{api}/8?policy=chat&policy=tool-use")).await.json();
    assert_eq!(both["beside"].as_array().unwrap().len(), 2);
    assert_eq!(get(&format!("{api}/8?max=lots")).await.status, 400);
    let smaller = get(&format!("{api}/8?max=500")).await.json();
    assert_eq!(smaller["opening"]["limit"], 500);
    let again = format!("{api}/8?policy=tool-use{}", "&policy=chat".repeat(50));
    let again = get(&again).await.json();
    assert_eq!(again["beside"].as_array().unwrap().len(), 2, "each policy once");
    let wrong = get(&format!("{api}/8?policy=caht")).await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.text().contains("did you mean `chat`?"), "{}", wrong.text());
    assert_eq!(get(&format!("{api}/99")).await.status, 404);
}

#[tokio::test]
async fn rows_come_as_they_happen() {
    let pair = Pair::start("max = 900").await;
    let url = format!("{}/cupel/api/events", pair.gateway.url);
    let mut events =
        client().request(request(Method::GET, &url, &[], Body::empty())).await.unwrap();
    assert_eq!(events.headers()["content-type"], "text/event-stream");
    pair.post(CHAT, &[], &history(CHAT, 1).to_string()).await;
    let event = events.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
    let text = String::from_utf8(event.to_vec()).unwrap();
    let data: serde_json::Value =
        serde_json::from_str(text.trim().strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(data["rows"][0]["id"], 1);
    assert_eq!(
        data["instance"],
        get(&format!("{}/cupel/api/requests", pair.gateway.url)).await.json()["instance"]
    );
}

#[tokio::test]
async fn the_history_is_bounded() {
    let pair = Pair::start("max = 900\n[server]\nrequests = 3\nrequests_memory = '5kB'").await;
    for _ in 0..5 {
        pair.post(CHAT, &[], &history(CHAT, 3).to_string()).await;
    }
    let rows = get(&format!("{}/cupel/api/requests", pair.gateway.url)).await.json();
    let rows = rows["rows"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 3);
    let opened = rows.iter().filter(|row| row["has_view"] == true).count();
    assert!((1..3).contains(&opened), "{opened}");
}

#[tokio::test]
async fn what_the_page_cannot_ask_is_answered_in_its_own_form() {
    let pair = Pair::start("").await;
    for (path, status) in [("requests/x", 404), ("requests?after=x", 400), ("requests/-1", 404)] {
        let answer = get(&format!("{}/cupel/api/{path}", pair.gateway.url)).await;
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.json()["error"].is_string(), "{path}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    }
}

#[tokio::test]
async fn the_page_needs_its_token_and_hands_out_a_cookie_for_it() {
    let pair = Pair::start("max = 4000").await;
    let old = std::fs::read_to_string(&pair.gateway.file).unwrap();
    let with_token = old.replace("page_token = 'off'", "page_token = 'the-token'");
    std::fs::write(&pair.gateway.file, with_token).unwrap();
    pair.gateway.handle.reload().unwrap();
    let url = |path: &str| format!("{}{path}", pair.gateway.url);
    for path in ["/cupel", "/cupel/api/requests", "/cupel/api/limits", "/cupel?token=wrong"] {
        assert_eq!(get(&url(path)).await.status, 403, "{path}");
    }
    for path in ["/healthz", "/cupel/healthz", "/cupel/metrics", "/cupel/app.js"] {
        assert_eq!(get(&url(path)).await.status, 200, "{path}");
    }
    let opened = get(&url("/cupel?token=the-token")).await;
    assert_eq!(opened.status, 200);
    assert_eq!(opened.headers["cross-origin-resource-policy"], "same-origin");
    let cookie = opened.headers["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let asks = async |headers: &[(&str, &str)]| {
        let asked = request(Method::GET, &url("/cupel/api/requests"), headers, Body::empty());
        client().request(asked).await.unwrap().status().as_u16()
    };
    assert_eq!(asks(&[("cookie", cookie)]).await, 200);
    assert_eq!(asks(&[("authorization", "Bearer the-token")]).await, 200);
    let elsewhere = [("cookie", cookie), ("sec-fetch-site", "cross-site")];
    assert_eq!(asks(&elsewhere).await, 403, "another site's page asks");
}

#[tokio::test]
async fn texts_are_not_kept_where_that_is_off() {
    let pair = Pair::start("max = 4000\ntexts = 'off'").await;
    pair.post(CHAT, &[], &history(CHAT, 2).to_string()).await;
    let rows = get(&format!("{}/cupel/api/requests", pair.gateway.url)).await.json();
    assert_eq!(rows["rows"][0]["has_view"], false, "{rows}");
    assert_eq!(rows["rows"][0]["title"], serde_json::Value::Null, "{rows}");
    assert!(rows["rows"][0]["tokens_after"].is_number(), "{rows}");
}
