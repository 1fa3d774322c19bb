//! Reports about requests: the log, the metrics, spans.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::{Json, Router};
use serde_json::Value;

use crate::support::{CHAT, MESSAGES, Pair, get, history, until};

const SECRET: &str = "Xyzzy-plugh";

#[tokio::test]
async fn the_log_has_figures_and_no_text_and_no_key() {
    let pair = Pair::start("max = 600").await;
    let body = history(CHAT, 20).to_string().replace("keeper", SECRET);
    pair.post(CHAT, &[("authorization", &format!("Bearer {SECRET}"))], &body).await;
    let odd = format!("{{\"messages\":\"{SECRET}\"}}");
    pair.post(&format!("{CHAT}?key={SECRET}"), &[("x-api-key", SECRET)], &odd).await;
    let log = pair.gateway.log().await;
    assert_eq!(log.len(), 2);
    assert!(!format!("{log:?}").contains(SECRET), "{log:?}");
    assert_eq!(log[0]["outcome"], "answered");
    assert_eq!(
        (log[0]["api"].as_str(), log[0]["status"].as_u64()),
        (Some("openai-chat"), Some(200))
    );
    assert!(log[0]["tokens_after"].as_i64().unwrap() <= 600);
    assert!(log[0]["dropped"].as_i64().unwrap() > 0);
    assert_eq!(log[1]["unfit"], "malformed-request");
}

#[tokio::test]
async fn texts_are_logged_if_asked_for() {
    let pair = Pair::start("max = 600\nlog_texts = true").await;
    pair.post(CHAT, &[], &history(CHAT, 2).to_string()).await;
    let log = pair.gateway.log().await;
    assert!(log[0]["request"].as_str().unwrap().contains("lighthouse"));
}

#[tokio::test]
async fn metrics_are_counted() {
    let pair = Pair::start("max = 600").await;
    pair.post(CHAT, &[], &history(CHAT, 20).to_string()).await;
    pair.post(MESSAGES, &[], &history(MESSAGES, 1).to_string()).await;
    let gateway = &pair.gateway;
    let name =
        "cupel_gateway_requests_total{api=\"openai-chat\",outcome=\"answered\",status=\"200\"}";
    until("the first is counted", async || gateway.metric(name).await == 1.0).await;
    assert_eq!(gateway.metric("cupel_gateway_fitted_total").await, 1.0);
    assert_eq!(gateway.metric("cupel_gateway_conversations").await, 2.0);
    assert!(gateway.metric("cupel_gateway_tokens_before_total").await > 600.0);
    assert!(gateway.metric("cupel_gateway_fitting_seconds_count").await == 2.0);
    let text = get(&format!("{}/cupel/metrics", gateway.url)).await;
    assert!(
        text.headers["content-type"].to_str().unwrap().starts_with("text/plain; version=0.0.4")
    );
    for line in text.text().lines().filter(|line| !line.starts_with('#')) {
        let (_, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[tokio::test]
async fn spans_have_the_names_of_the_conventions() {
    let taken: Arc<Mutex<Vec<Value>>> = Arc::default();
    let collect = |State(taken): State<Arc<Mutex<Vec<Value>>>>, Json(body): Json<Value>| async move {
        taken.lock().unwrap().push(body);
        "{}"
    };
    let app =
        Router::new().route("/v1/{what}", axum::routing::post(collect)).with_state(taken.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let pair = Pair::start(&format!("max = 600\n[otel]\nendpoint = 'http://{address}'")).await;
    let ours = ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    pair.post(CHAT, &[ours], &history(CHAT, 20).to_string()).await;
    let untraced = ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");
    pair.post(CHAT, &[untraced, ("x-fake", "429")], &history(CHAT, 1).to_string()).await;
    assert_eq!(pair.last().headers["traceparent"], untraced.1, "it goes on as it came");
    pair.gateway.log().await;
    let taken = taken.lock().unwrap();
    let told = taken.iter().map(|body| &body["resourceSpans"][0]["scopeSpans"][0]["spans"]);
    let told: usize = told.filter_map(|spans| spans.as_array()).map(Vec::len).sum();
    assert_eq!(told, 2, "whose client keeps no trace has no spans");
    let spans = taken[0]["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    assert_eq!(spans[0]["name"], "chat local");
    assert_eq!(spans[1]["name"], "cupel.pipeline");
    assert_eq!(spans[1]["parentSpanId"], spans[0]["spanId"]);
    assert_eq!(spans[0]["parentSpanId"], "00f067aa0ba902b7", "below the client's own span");
    assert_eq!(spans[0]["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(spans[1]["traceId"], spans[0]["traceId"]);
    let attribute = |span: &Value, key: &str| {
        let list = span["attributes"].as_array().unwrap();
        list.iter().find(|one| one["key"] == key).map(|one| one["value"].clone())
    };
    assert_eq!(attribute(&spans[0], "gen_ai.request.model").unwrap()["stringValue"], "local");
    assert_eq!(attribute(&spans[0], "gen_ai.provider.name").unwrap()["stringValue"], "openai");
    assert!(attribute(&spans[0], "gen_ai.usage.input_tokens").is_some());
    assert_eq!(attribute(&spans[1], "cupel.budget.max_tokens").unwrap()["intValue"], "600");
    assert!(!taken[0].to_string().contains("lighthouse"));
    let metrics = &taken.last().unwrap()["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    assert_eq!(metrics[0]["name"], "gen_ai.client.token.usage");
    let used = &metrics[0]["histogram"]["dataPoints"][0];
    assert_eq!(attribute(used, "gen_ai.token.type").unwrap()["stringValue"], "input");
    let tokens = used["sum"].as_f64().unwrap();
    assert!(tokens > 0.0 && tokens <= 600.0, "{tokens}");
    assert_eq!(metrics[1]["name"], "gen_ai.client.operation.duration");
    let took = metrics[1]["histogram"]["dataPoints"].as_array().unwrap();
    assert_eq!(took.len(), 2, "one was answered, one refused");
    assert_eq!(attribute(&took[1], "error.type").unwrap()["stringValue"], "429");
}
