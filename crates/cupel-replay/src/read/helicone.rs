//! Helicone: rows of requests, as its API and its exports write them.

use super::answer::Answer;
use super::chat::{self, Asked};
use super::row::{Row, first, first_text, unwrapped};
use super::table::Reader;
use super::{LoggedRequest, RowContent, RowError, time, usage};

pub(super) const REQUEST: Reader = Reader {
    called: "a request of Helicone",
    proves: |row| {
        (row.has("request_body") || row.has("requestBody"))
            && row.has_any(&[
                "request_created_at",
                "request_id",
                "response_body",
                "responseBody",
                "request_path",
                "helicone_user",
            ])
    },
    read,
    columns: &[
        "request_body",
        "requestBody",
        "response_body",
        "responseBody",
        "request_created_at",
        "request_id",
        "request_path",
        "request_user_id",
        "request_properties",
        "properties",
        "request_model",
        "model",
        "prompt_tokens",
        "response_status",
        "helicone_user",
    ],
};

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    let row = row.whole()?;
    let status = first(row, &["response_status", "status"]).and_then(serde_json::Value::as_i64);
    if status.is_some_and(|status| status >= 400) {
        return Ok(RowContent::skip("requests of Helicone that failed"));
    }
    let body = first(row, &["request_body", "requestBody"]).map(unwrapped).unwrap_or_default();
    let response =
        first(row, &["response_body", "responseBody"]).map(unwrapped).unwrap_or_default();
    let properties =
        first(row, &["request_properties", "properties"]).map(unwrapped).unwrap_or_default();
    let model =
        first_text(row, &["request_model", "model"]).or_else(|| first_text(&body, &["model"]));
    let asked = Asked { input: Some(&body), model: model.as_deref(), ..Asked::default() };
    let named = |names: &[&str]| {
        let is_it = |name: &str| names.iter().any(|known| name.eq_ignore_ascii_case(known));
        let mut fields = properties.as_object().into_iter().flatten();
        fields.find_map(|(name, value)| value.as_str().filter(|_| is_it(name)).map(str::to_owned))
    };
    Ok(RowContent::of(chat::request("request_body", &asked).map(|request| LoggedRequest {
        request,
        answer: Answer::of(&response),
        conversation: named(&["helicone-session-id", "session-id", "session_id", "session"]),
        counted_tokens: usage::input_tokens(row).or_else(|| {
            first(&response, &["usage", "usageMetadata"]).and_then(usage::input_tokens)
        }),
        time: first(row, &["request_created_at", "created_at"]).and_then(time::micros),
        route: named(&["helicone-session-path", "route", "app", "feature"]),
        user: first_text(row, &["request_user_id", "user_id", "helicone_user"]),
        model,
    })))
}
