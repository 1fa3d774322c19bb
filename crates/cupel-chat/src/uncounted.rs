//! The fields of a request that no model reads, and those beside the messages that one does.

/// Fields that count nothing, whatever they hold, in messages, blocks, calls and results: ids, names of
/// models and types, metadata, signatures and encrypted content, addresses, times.
///
/// Every other text of a request counts, also where no rule knows the field. What files hold is
/// counted by pages, seconds or pixels; the `data` of encrypted reasoning counts nothing.
pub const UNCOUNTED_FIELDS: [&str; 82] = [
    "annotations",
    "approval_request_id",
    "approvalId",
    "artifact",
    "authorization",
    "authorization_token",
    "cache_control",
    "call_id",
    "callProviderMetadata",
    "citations",
    "completed_at",
    "container",
    "container_id",
    "conversation_id",
    "create_time",
    "created",
    "created_at",
    "createdAt",
    "createTime",
    "detail",
    "encrypted_content",
    "encrypted_index",
    "encrypted_stdout",
    "execution",
    "file_id",
    "file_uri",
    "file_url",
    "fileUri",
    "finish_reason",
    "headers",
    "id",
    "image_url",
    "item_id",
    "lastModified",
    "logprobs",
    "media_type",
    "mediaType",
    "message_id",
    "metadata",
    "mime_type",
    "mimeType",
    "model",
    "model_name",
    "native_finish_reason",
    "object",
    "parent_id",
    "phase",
    "previous_response_id",
    "provider",
    "providerMetadata",
    "providerOptions",
    "request_id",
    "response_id",
    "response_metadata",
    "resultProviderMetadata",
    "role",
    "server_url",
    "service_tier",
    "session",
    "session_id",
    "sessionId",
    "signature",
    "sourceId",
    "status",
    "stop_reason",
    "stop_sequence",
    "system_fingerprint",
    "thought_signature",
    "thoughtSignature",
    "thread_id",
    "timestamp",
    "tool_call_id",
    "tool_use_id",
    "toolCallId",
    "toolUseId",
    "type",
    "url",
    "usage",
    "usage_metadata",
    "user",
    "user_id",
    "uuid",
];

/// Fields beside the messages that the model reads, in each provider's spelling: the schema of its answer,
/// grammars, documents, an expected answer. System prompt and tools are read by each format itself.
///
/// No other field there counts or belongs to the prompt: it steers the service, or nobody knows it, and
/// clients put random ids and metadata of their own there.
pub const COUNTED_SETTINGS: [&str; 23] = [
    "documents",
    "format",
    "functions",
    "grammar",
    "guided_choice",
    "guided_grammar",
    "guided_json",
    "guided_regex",
    "instructions",
    "json_schema",
    "output_config",
    "output_format",
    "prediction",
    "prompt",
    "response_format",
    "response_json_schema",
    "response_schema",
    "responseFormat",
    "responseJsonSchema",
    "responseSchema",
    "structured_outputs",
    "system",
    "tools",
];

pub(crate) fn is_uncounted(name: &str) -> bool {
    holds(&UNCOUNTED_FIELDS, name)
}

pub(crate) fn is_read(name: &str) -> bool {
    holds(&COUNTED_SETTINGS, name)
}

/// Returns true if a list holds a name. It is asked for every field: most names differ in what is cheap to see.
fn holds(list: &[&str], name: &str) -> bool {
    let first = name.as_bytes().first();
    let may_be = |known: &&str| known.len() == name.len() && known.as_bytes().first() == first;
    list.iter().any(|known| may_be(known) && *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lists_are_in_order_and_name_nothing_twice() {
        let key = |name: &&str| name.to_lowercase().replace('_', " ");
        assert!(UNCOUNTED_FIELDS.is_sorted_by_key(key));
        assert!(COUNTED_SETTINGS.is_sorted_by_key(key));
        assert!(UNCOUNTED_FIELDS.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
