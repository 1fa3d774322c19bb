//! Windows that local servers tell.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::server::{Fake, Sight};
use crate::support::{CHAT, Running, history, post as send};

/// A server that answers a question, and else does as the fake does.
async fn server(path: &'static str, answer: Value) -> (String, Arc<Sight>) {
    let sight = Arc::new(Sight::default());
    let say = move || async move { axum::Json(answer) };
    let route = if path == "/api/show" { post(say) } else { get(say) };
    let app = Router::new().route(path, route).fallback_service(Fake::app(&sight));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (url, sight)
}

#[tokio::test]
async fn a_local_server_is_asked_for_its_window_where_none_is_configured() {
    let llama = json!({ "default_generation_settings": { "n_ctx": 800 } });
    let ollama =
        json!({ "models": [{ "name": "m:latest", "model": "m:latest", "context_length": 800 }] });
    let vllm = json!({ "data": [{ "id": "m", "max_model_len": 800 }] });
    let studio = json!({ "data": [{ "id": "m", "loaded_context_length": 800 }] });
    let shown = json!({ "parameters": "num_ctx 800" });
    for (path, answer) in [
        ("/props", llama),
        ("/api/ps", ollama),
        ("/v1/models", vllm),
        ("/api/v0/models", studio),
        ("/api/show", shown),
    ] {
        let (url, sight) = server(path, answer).await;
        let mut body = history(CHAT, 20);
        body["model"] = "m".into();
        let asking = Running::start(&url, "local_limits = 'ask'").await;
        let fitted = send(&format!("{}{CHAT}", asking.url), &[], body.to_string()).await;
        assert_eq!(fitted.status, 200, "{path}");
        assert!(fitted.number("x-cupel-tokens-after") <= 600, "{path}: a quarter is the answer's");
        assert!(fitted.number("x-cupel-dropped") > 0, "{path}");
        let told = crate::support::get(&format!("{}/cupel/api/limits", asking.url)).await.json();
        assert_eq!(told["served"][0]["tokens"], 800, "{path}");
        let quiet = Running::start(&url, "").await;
        let whole = send(&format!("{}{CHAT}", quiet.url), &[], body.to_string()).await;
        assert!(whole.headers.get("x-cupel-dropped").is_none(), "{path}: nobody knows what fits");
        let configured = Running::start(&url, "local_limits = 'ask'\nmax = '9k'").await;
        let whole = send(&format!("{}{CHAT}", configured.url), &[], body.to_string()).await;
        assert_eq!(whole.number("x-cupel-dropped"), 0, "{path}");
        assert!(sight.seen.lock().unwrap().iter().all(|seen| seen.flaw.is_none()), "{path}");
    }
}
