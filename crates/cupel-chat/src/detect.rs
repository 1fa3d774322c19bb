//! Which format is it?

use crate::document::{Body, Document, SAMPLE};
use crate::json::{Json, Object};
use crate::{ChatError, Format};

/// LangChain's names of messages.
const LANGCHAIN: [&str; 7] = ["human", "ai", "system", "tool", "function", "chat", "developer"];

pub(crate) fn detect(document: &Document<'_>) -> Result<Format, ChatError> {
    let json = match &document.body {
        Body::Lines(lines) => return detect_lines(lines),
        Body::One(json) => *json,
    };
    if json.is_list() {
        let messages = document.elements(json).unwrap_or_default();
        return detect_messages(&Object::default(), &document.sample(&messages));
    }
    let Some(top) = document.top() else {
        return unknown(format!("{} is no request", json.describe()));
    };
    if top.has("contents") {
        Ok(Format::Gemini)
    } else if top.has("input") {
        Ok(Format::OpenAiResponses)
    } else if top.has("items") {
        Ok(Format::Items)
    } else if let Some(messages) = top.get("messages").and_then(|list| document.elements(list)) {
        detect_messages(&top, &document.sample(&messages))
    } else if top.has("messages") {
        Ok(Format::OpenAiChat)
    } else if is_item(&top) {
        Ok(Format::ItemLines)
    } else {
        unknown("the object has none of the fields messages, input, contents, items".to_owned())
    }
}

fn unknown(problem: String) -> Result<Format, ChatError> {
    Err(ChatError::UnknownFormat { problem })
}

fn is_item(object: &Object<'_>) -> bool {
    object.get("content").is_some_and(Json::is_text) && !object.has("role") && !is_langchain(object)
}

fn detect_lines(lines: &[Json<'_>]) -> Result<Format, ChatError> {
    let sample = lines.iter().take(SAMPLE).filter_map(|line| line.object());
    if sample.into_iter().all(|object| object.has("content") && !object.has("role")) {
        return Ok(Format::ItemLines);
    }
    unknown("there is a JSON value on each line, but they are not items".to_owned())
}

fn detect_messages<'s, 't: 's>(
    top: &Object<'_>,
    sample: &(impl Iterator<Item = &'s Object<'t>> + Clone),
) -> Result<Format, ChatError> {
    let any = |sign: &dyn Fn(&Object<'_>) -> bool| sample.clone().any(sign);
    if any(&|message| message.has("parts")) {
        Ok(Format::Gemini)
    } else if any(&is_langchain) {
        Ok(Format::LangChain)
    } else if any(&is_response_item) {
        Ok(Format::OpenAiResponses)
    } else if any(&is_openai) || defines_functions(top) {
        Ok(Format::OpenAiChat)
    } else if has_anthropic_signs(top) || any(&is_anthropic) {
        Ok(Format::Anthropic)
    } else if any(&|message| message.has("role")) || top.has("messages") {
        Ok(Format::OpenAiChat)
    } else if any(&is_item) {
        Ok(Format::Items)
    } else {
        unknown("the list has nothing that tells its format".to_owned())
    }
}

fn is_langchain(message: &Object<'_>) -> bool {
    let kind = message.str("type").unwrap_or_default();
    let is_named = LANGCHAIN.contains(&kind.as_ref()) || kind.ends_with("MessageChunk");
    message.has("lc") || is_named && (message.has("data") || message.has("content"))
}

fn is_response_item(message: &Object<'_>) -> bool {
    const TYPES: [&str; 4] = ["message", "reasoning", "item_reference", "compaction"];
    let kind = message.str("type").unwrap_or_default();
    TYPES.contains(&kind.as_ref())
        || kind.ends_with("_call")
        || kind.ends_with("_call_output")
        || has_block(message, &["input_text", "output_text", "input_image", "input_file"])
}

/// What only Chat Completions has: roles and calls of its own, and functions as tools. Whoever
/// speaks it may name any model, and pass on blocks of others.
fn is_openai(message: &Object<'_>) -> bool {
    const ROLES: [&str; 3] = ["developer", "tool", "function"];
    message.has("tool_calls")
        || message.has("tool_call_id")
        || message.str("role").is_some_and(|role| ROLES.contains(&role.as_ref()))
        || has_block(message, &["image_url", "input_audio", "file"])
}

fn defines_functions(top: &Object<'_>) -> bool {
    let defines_function = |tool: &Json<'_>| tool.object().is_some_and(|t| t.has("function"));
    let tools = top.get("tools").and_then(Json::list).unwrap_or_default();
    tools.iter().any(defines_function)
}

/// What stands beside the messages of an Anthropic request and of no other. The model says nothing:
/// gateways take any model in any shape.
fn has_anthropic_signs(top: &Object<'_>) -> bool {
    let defines_tool = |tool: &Json<'_>| tool.object().is_some_and(|t| t.has("input_schema"));
    let tools = top.get("tools").and_then(Json::list).unwrap_or_default();
    ["system", "anthropic_version", "anthropic_beta", "stop_sequences"]
        .iter()
        .any(|name| top.has(name))
        || tools.iter().any(defines_tool)
}

fn is_anthropic(message: &Object<'_>) -> bool {
    has_block(
        message,
        &["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "image"],
    )
}

fn has_block(message: &Object<'_>, types: &[&str]) -> bool {
    let blocks = message.get("content").and_then(Json::list).unwrap_or_default();
    let types_of = blocks.into_iter().filter_map(|block| block.object()?.str("type"));
    types_of.into_iter().any(|kind| types.contains(&kind.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_format(text: &str, format: Format) {
        assert_eq!(Format::detect(text), Some(format), "{text}");
    }

    #[test]
    fn whole_requests_are_told_apart_by_their_fields() {
        assert_format(r#"{"model":"gpt-4o","messages":[]}"#, Format::OpenAiChat);
        assert_format(r#"{"system":"x","messages":[]}"#, Format::Anthropic);
        assert_format(r#"{"messages":[],"tools":[{"input_schema":{}}]}"#, Format::Anthropic);
        assert_format(r#"{"input":"hi"}"#, Format::OpenAiResponses);
        assert_format(r#"{"contents":[]}"#, Format::Gemini);
        assert_format(r#"{"items":[]}"#, Format::Items);
        assert_format(r#"{"messages":[{"type":"human","content":"x"}]}"#, Format::LangChain);
    }

    #[test]
    fn the_shape_decides_and_the_model_never() {
        for model in ["claude-sonnet-4-5", "anthropic/claude-opus-5", "gemini-3-pro", "gpt-4o"] {
            let request = |rest: &str| format!(r#"{{"model":"{model}",{rest}}}"#);
            let chat = r#""messages":[{"role":"user","content":"x"}]"#;
            assert_format(&request(chat), Format::OpenAiChat);
            let system =
                r#""messages":[{"role":"system","content":"s"},{"role":"user","content":"x"}]"#;
            assert_format(&request(system), Format::OpenAiChat);
            let tools = r#""messages":[{"role":"user","content":[{"type":"thinking"}]},
                {"role":"tool","tool_call_id":"a","content":"x"}]"#;
            assert_format(&request(tools), Format::OpenAiChat);
            let functions = format!(
                r#"{chat},"stop_sequences":["x"],"tools":[{{"type":"function","function":{{"name":"f"}}}}]"#
            );
            assert_format(&request(&functions), Format::OpenAiChat);
            assert_format(&request(&format!(r#"{chat},"system":"s""#)), Format::Anthropic);
            assert_format(&request(r#""contents":[]"#), Format::Gemini);
        }
    }

    #[test]
    fn bare_lists_are_told_apart_by_their_messages() {
        assert_format(r#"[{"role":"user","content":"x"}]"#, Format::OpenAiChat);
        assert_format(r#"[{"role":"user","parts":[]}]"#, Format::Gemini);
        assert_format(r#"[{"type":"ai","data":{}}]"#, Format::LangChain);
        assert_format(r#"[{"lc":1,"id":[]}]"#, Format::LangChain);
        assert_format(r#"[{"type":"reasoning"}]"#, Format::OpenAiResponses);
        assert_format(
            r#"[{"role":"user","content":[{"type":"input_text"}]}]"#,
            Format::OpenAiResponses,
        );
        assert_format(r#"[{"role":"user","content":[{"type":"tool_result"}]}]"#, Format::Anthropic);
        assert_format(r#"[{"content":"x","tokens":1}]"#, Format::Items);
    }

    #[test]
    fn items_may_stand_on_lines() {
        assert_format("{\"content\":\"a\"}\n{\"content\":\"b\"}", Format::ItemLines);
        assert_format(r#"{"content":"a","tokens":3}"#, Format::ItemLines);
    }

    #[test]
    fn what_looks_like_nothing_is_nothing() {
        for text in ["[]", "3", "{\"a\":1}", "nonsense", "{\"role\":\"user\"}\n{\"role\":\"user\"}"]
        {
            assert_eq!(Format::detect(text), None, "{text}");
        }
    }
}
