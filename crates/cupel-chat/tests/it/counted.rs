//! Nothing that the model reads is free: every text of a request is counted, once.

use cupel_chat::{CandidateOptions, Format, Request};
use cupel_tokens::{Overheads, SuppliedCounter};

/// Counts marks, so that a request has as many tokens as it has marked texts.
#[track_caller]
fn assert_every_mark_is_counted(format: Format, text: &str) {
    let marks = |text: &str| text.bytes().map(|byte| i64::from(byte == b'@')).sum::<i64>();
    let counter = SuppliedCounter::new("marks", marks);
    let options = CandidateOptions { overheads: Some(Overheads::none()), ..Default::default() };
    let request = Request::parse(text, Some(format)).unwrap();
    let candidates = request.candidates(&counter, &options).unwrap();
    let counted = candidates.bundles().iter().map(|bundle| (bundle.label(), bundle.tokens()));
    assert_eq!(candidates.total_tokens(), marks(text), "{:?}", counted.collect::<Vec<_>>());
}

#[test]
fn openai_chat_is_counted() {
    let text = r#"{"model": "gpt-4o",
        "tools": [{"type": "function", "function": {"name": "@trams", "description": "@when",
            "parameters": {"type": "object", "properties": {"line": {"type": "string", "description": "@number"}}}}}],
        "messages": [
            {"role": "system", "content": "@be brief"},
            {"role": "developer", "content": [{"type": "text", "text": "@and kind"}]},
            {"role": "user", "content": [{"type": "text", "text": "@when"}, {"type": "text", "text": "@where"}]},
            {"role": "assistant", "content": "@look", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "@trams", "arguments": "{\"line\": \"@4\"}"}},
                {"id": "b", "type": "function", "function": {"name": "@trams", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "@none"}]},
            {"role": "tool", "tool_call_id": "a", "content": "@soon @late"},
            {"role": "user", "content": "@thanks"}]}"#;
    assert_every_mark_is_counted(Format::OpenAiChat, text);
}

#[test]
fn openai_responses_is_counted() {
    let text = r#"{"instructions": "@be brief",
        "tools": [{"type": "function", "name": "@trams", "description": "@when", "parameters": {"type": "object", "properties": {}}}],
        "input": [
            {"role": "developer", "content": "@and kind"},
            {"role": "user", "content": [{"type": "input_text", "text": "@when"}]},
            {"type": "function_call", "call_id": "a", "name": "@trams", "arguments": "{\"line\": \"@4\"}"},
            {"type": "function_call_output", "call_id": "a", "output": "@soon"},
            {"type": "custom_tool_call", "call_id": "b", "name": "@sketch", "input": "@map"},
            {"type": "custom_tool_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "@drawn"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "@look"}]},
            {"role": "user", "content": "@thanks"}]}"#;
    assert_every_mark_is_counted(Format::OpenAiResponses, text);
}

#[test]
fn anthropic_is_counted() {
    let text = r#"{"system": [{"type": "text", "text": "@be brief"}],
        "tools": [{"name": "@trams", "description": "@when", "input_schema": {"type": "object", "properties": {"line": {"description": "@number"}}}}],
        "messages": [
            {"role": "user", "content": "@when"},
            {"role": "assistant", "content": [{"type": "text", "text": "@look"}, {"type": "tool_use", "id": "a", "name": "@trams", "input": {"line": "@4"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "@soon"}]}, {"type": "text", "text": "@and?"}]},
            {"role": "assistant", "content": "@done"},
            {"role": "user", "content": [{"type": "text", "text": "@thanks"}]}]}"#;
    assert_every_mark_is_counted(Format::Anthropic, text);
}

#[test]
fn gemini_is_counted() {
    let text = r#"{"systemInstruction": {"parts": [{"text": "@be brief"}]},
        "tools": [{"functionDeclarations": [{"name": "@trams", "description": "@when"}]}],
        "contents": [
            {"role": "user", "parts": [{"text": "@when"}, {"text": "@where"}]},
            {"role": "model", "parts": [{"text": "@look"}, {"functionCall": {"name": "@trams", "args": {"line": "@4"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "@trams", "response": {"text": "@soon"}}}]},
            {"role": "user", "parts": [{"text": "@thanks"}]}]}"#;
    assert_every_mark_is_counted(Format::Gemini, text);
}

#[test]
fn langchain_is_counted() {
    let text = r#"[
        {"type": "system", "data": {"content": "@be brief"}},
        {"type": "human", "data": {"content": [{"type": "text", "text": "@when"}, "@where"]}},
        {"type": "ai", "data": {"content": "@look", "tool_calls": [{"id": "a", "name": "@trams", "args": {"line": "@4"}}]}},
        {"type": "tool", "data": {"tool_call_id": "a", "content": "@soon"}},
        {"type": "human", "data": {"content": "@thanks"}}]"#;
    assert_every_mark_is_counted(Format::LangChain, text);
}

#[test]
fn items_without_a_count_are_counted() {
    assert_every_mark_is_counted(
        Format::Items,
        r#"[{"content": "@one"}, {"content": "@two @three"}]"#,
    );
    assert_every_mark_is_counted(
        Format::ItemLines,
        "{\"content\": \"@one\"}\n{\"content\": \"@two\"}\n",
    );
}

#[test]
fn a_count_that_is_given_is_taken() {
    let counter = SuppliedCounter::new("none", |_| 1000);
    let text = r#"[{"content": "a", "tokens": 7}, {"content": "b", "tokens": 5}]"#;
    let request = Request::parse(text, Some(Format::Items)).unwrap();
    let candidates = request.candidates(&counter, &CandidateOptions::default()).unwrap();
    assert_eq!(candidates.total_tokens(), 12);
}
