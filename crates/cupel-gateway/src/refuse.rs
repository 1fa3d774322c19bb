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
        Some(Api::Gemini | Api::CodeAssist) => json!({
            "error": { "code": status.as_u16(), "message": message, "status": gemini_status(status) },
        }),
        Some(Api::Converse) => json!({ "message": message }),
        Some(Api::Ollama) => json!({ "error": message }),
        Some(Api::OpenAiChat | Api::OpenAiResponses) | None => json!({
            "error": { "message": message, "type": "cupel_gateway", "param": null, "code": code },
        }),
    };
    let mut answer = Response::new(Body::from(error.to_string()));
    *answer.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    if api == Some(Api::Converse) {
        // The libraries of AWS take the kind of an error from here.
        let kind = HeaderValue::from_static(bedrock_type(status));
        answer.headers_mut().insert("x-amzn-errortype", kind);
    }
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

fn bedrock_type(status: StatusCode) -> &'static str {
    match status.as_u16() {
        403 => "AccessDeniedException",
        404 => "ResourceNotFoundException",
        408 | 504 => "ModelTimeoutException",
        400..=499 => "ValidationException",
        _ => "ServiceUnavailableException",
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

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    async fn body(api: Option<Api>, status: StatusCode) -> serde_json::Value {
        let answer = refuse(api, status, "a-code", "no");
        assert_eq!(answer.status(), status);
        assert_eq!(answer.headers()[header::CONTENT_TYPE], "application/json");
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[tokio::test]
    async fn a_refusal_has_the_form_that_clients_of_the_provider_read() {
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        let message = "cupel gateway: no";
        for api in [None, Some(Api::OpenAiChat), Some(Api::OpenAiResponses)] {
            let error = json!({
                "message": message, "type": "cupel_gateway", "param": null, "code": "a-code",
            });
            assert_eq!(body(api, status).await, json!({ "error": error }));
        }
        let error = json!({ "type": "request_too_large", "message": message, "code": "a-code" });
        let expected = json!({ "type": "error", "error": error });
        assert_eq!(body(Some(Api::Anthropic), status).await, expected);
        let error = json!({ "code": 413, "message": message, "status": "INVALID_ARGUMENT" });
        for api in [Api::Gemini, Api::CodeAssist] {
            assert_eq!(body(Some(api), status).await, json!({ "error": error }));
        }
        assert_eq!(body(Some(Api::Converse), status).await, json!({ "message": message }));
        assert_eq!(body(Some(Api::Ollama), status).await, json!({ "error": message }));
        let kind = refuse(Some(Api::Converse), status, "c", "no");
        assert_eq!(kind.headers()["x-amzn-errortype"], "ValidationException");
    }

    #[test]
    fn every_status_has_the_name_that_its_provider_gives_it() {
        for (status, anthropic, gemini, bedrock) in [
            (400, "invalid_request_error", "INVALID_ARGUMENT", "ValidationException"),
            (403, "permission_error", "PERMISSION_DENIED", "AccessDeniedException"),
            (404, "not_found_error", "NOT_FOUND", "ResourceNotFoundException"),
            (408, "invalid_request_error", "INVALID_ARGUMENT", "ModelTimeoutException"),
            (413, "request_too_large", "INVALID_ARGUMENT", "ValidationException"),
            (502, "api_error", "UNAVAILABLE", "ServiceUnavailableException"),
            (504, "timeout_error", "DEADLINE_EXCEEDED", "ModelTimeoutException"),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let names = (anthropic_type(status), gemini_status(status), bedrock_type(status));
            assert_eq!(names, (anthropic, gemini, bedrock));
        }
    }
}
