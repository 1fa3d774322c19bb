//! Answers of the gateway itself, in the form that the client's library expects errors in.

use axum::body::Body;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::json;

use crate::api::Api;

/// An answer that says no.
pub(crate) fn refuse(
    api: Option<Api>,
    status: StatusCode,
    code: &str,
    message: &str,
) -> Response<Body> {
    let message = format!("cupel gateway: {message}");
    let error = match api {
        Some(Api::Anthropic) => json!({
            "type": "error",
            "error": { "type": anthropic_type(status), "message": message, "code": code },
        }),
        Some(Api::Gemini) => json!({
            "error": { "code": status.as_u16(), "message": message, "status": gemini_status(status) },
        }),
        Some(Api::OpenAiChat | Api::OpenAiResponses) | None => json!({
            "error": { "message": message, "type": "cupel_gateway", "param": null, "code": code },
        }),
    };
    let mut answer = Response::new(Body::from(error.to_string()));
    *answer.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}

fn anthropic_type(status: StatusCode) -> &'static str {
    match status.as_u16() {
        413 => "request_too_large",
        403 => "permission_error",
        404 => "not_found_error",
        400..=499 => "invalid_request_error",
        504 => "timeout_error",
        _ => "api_error",
    }
}

fn gemini_status(status: StatusCode) -> &'static str {
    match status.as_u16() {
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        400..=499 => "INVALID_ARGUMENT",
        504 => "DEADLINE_EXCEEDED",
        _ => "UNAVAILABLE",
    }
}
