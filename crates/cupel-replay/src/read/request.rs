//! Requests as they are, to the byte.

use std::sync::Arc;

use serde_json::Value;

use super::chat::{self, Asked};
use super::row::Row;
use super::{LoggedRequest, RowError};

pub(super) const KIND: &str = "a request";

/// Where raw requests and pairs name their conversation.
pub(super) const CONVERSATION: [&str; 5] =
    ["conversation_id", "conversation", "session_id", "thread_id", "session"];

/// The fields in which providers and frameworks take messages.
pub(super) const LISTS: [&str; 4] = ["messages", "contents", "input", "items"];

/// The fields that requests of providers have beside [those of the prompt](chat::OF_BODIES): settings.
const SETTINGS: &[&str] = &[
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "n",
    "stream",
    "stream_options",
    "stop",
    "stop_sequences",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "user",
    "metadata",
    "store",
    "parallel_tool_calls",
    "function_call",
    "modalities",
    "audio",
    "prediction",
    "service_tier",
    "reasoning",
    "reasoning_effort",
    "verbosity",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "web_search_options",
    "previous_response_id",
    "conversation",
    "include",
    "truncation",
    "background",
    "max_tool_calls",
    "prompt",
    "thinking",
    "anthropic_version",
    "anthropic_beta",
    "betas",
    "container",
    "context_management",
    "mcp_servers",
    "output_config",
    "effort",
    "safetySettings",
    "safety_settings",
    "cachedContent",
    "cached_content",
    "labels",
    "config",
    "modelId",
    "toolConfig",
    "guardrailConfig",
    "additionalModelRequestFields",
    "additionalModelResponseFieldPaths",
    "requestMetadata",
    "performanceConfig",
    "promptVariables",
    "format",
    "options",
    "keep_alive",
    "think",
    "template",
    "raw",
    "suffix",
    "images",
    "safety_mode",
    "citation_options",
    "strict_tools",
    "k",
    "p",
    "id",
    "trigger",
    "messageId",
    "chatId",
    "extra_body",
    "extra_headers",
    "timeout",
    "provider",
    "transforms",
    "models",
    "route",
    "plugins",
    "usage",
    "query",
    "budget",
    "policy",
    "kind",
    "source",
];

/// Returns true if a row is a request: it has messages, and nothing that no provider takes.
pub(super) fn is_raw(row: &Row<'_>) -> bool {
    let is_known = |name: &str| {
        chat::OF_BODIES.contains(&name) || SETTINGS.contains(&name) || CONVERSATION.contains(&name)
    };
    row.has_any(&LISTS) && row.fields.keys().all(|name| is_known(name))
}

/// A request as it was sent.
pub(super) fn raw(request: Arc<str>, row: &Row<'_>) -> LoggedRequest {
    LoggedRequest {
        request,
        conversation: row.first_text(&CONVERSATION),
        model: row.text_of("model"),
        user: row.text_of("user"),
        ..LoggedRequest::default()
    }
}

/// A bare list of messages: as it is where a provider takes it so.
pub(super) fn list(text: &str, shared: impl Fn() -> Arc<str>) -> Result<LoggedRequest, RowError> {
    let is_plain = |message: &Value| {
        message["role"].is_string()
            && message["parts"].is_null()
            && message["additional_kwargs"].is_null()
    };
    let list: Value = serde_json::from_str(text).map_err(|error| super::not_json(text, &error))?;
    if list.as_array().is_some_and(|list| list.iter().all(is_plain)) {
        return Ok(LoggedRequest { request: shared(), ..LoggedRequest::default() });
    }
    let asked = Asked { input: Some(&list), ..Asked::default() };
    Ok(LoggedRequest { request: chat::request("messages", &asked)?, ..LoggedRequest::default() })
}
