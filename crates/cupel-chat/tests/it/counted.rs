//! Nothing that the model reads is free: every text of a request is counted, once.

use cupel_chat::{CandidateOptions, Format, Request};
use cupel_tokens::{Overheads, SuppliedCounter};

/// Every mark of a request is counted.
#[track_caller]
fn assert_every_mark_is_counted(format: Format, text: &str) {
    assert_marks_are_counted(format, text, 0);
}

/// Counts marks, so that a request has as many tokens as it has marked texts.
#[track_caller]
fn assert_marks_are_counted(format: Format, text: &str, free: i64) {
    let marks = |text: &str| text.bytes().map(|byte| i64::from(byte == b'@')).sum::<i64>();
    let expected = marks(text) - free;
    let counter = SuppliedCounter::new("marks", marks);
    let options = CandidateOptions { overheads: Some(Overheads::none()), ..Default::default() };
    let request = Request::parse(text, Some(format)).unwrap();
    let candidates = request.candidates(&counter, &options).unwrap();
    let counted = candidates.bundles().iter().map(|bundle| (bundle.label(), bundle.tokens()));
    assert_eq!(candidates.total_tokens(), expected, "{:?}", counted.collect::<Vec<_>>());
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
            {"role": "assistant", "content": "@so", "reasoning": "@since", "reasoning_content": "@as", "refusal": "@no",
                "reasoning_details": [{"type": "reasoning.text", "text": "@for"}], "audio": {"id": "x", "transcript": "@heard"}},
            {"role": "user", "content": "@thanks"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "@answer", "schema": {"properties": {"id": {"description": "@which"}}}}},
        "prediction": {"type": "content", "content": "@guess"}, "user": "@ann", "metadata": {"a": "@b"}}"#;
    assert_marks_are_counted(Format::OpenAiChat, text, 2);
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
            {"type": "program", "call_id": "c", "code": "@run", "language": "@python"},
            {"type": "program_output", "call_id": "c", "result": "@ran"},
            {"type": "tool_search_call", "call_id": "d", "arguments": {"query": "@maps"}},
            {"type": "tool_search_output", "call_id": "d", "tools": [{"type": "function", "name": "@map", "description": "@shows"}]},
            {"type": "code_interpreter_call", "id": "i", "code": "@print", "outputs": [{"type": "logs", "logs": "@printed"}]},
            {"type": "additional_tools", "tools": [{"type": "function", "name": "@more"}]},
            {"role": "user", "content": "@thanks"}],
        "text": {"format": {"type": "json_schema", "name": "@answer", "schema": {"description": "@which"}}, "verbosity": "@low"},
        "prompt": {"id": "@p", "variables": {"city": "@here"}}, "reasoning": {"effort": "@high"}}"#;
    assert_marks_are_counted(Format::OpenAiResponses, text, 2);
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
            {"role": "user", "content": [{"type": "text", "text": "@thanks"}]},
            {"role": "assistant", "content": [{"type": "compaction", "content": "@so far"},
                {"type": "server_tool_use", "id": "s", "name": "@search", "input": {"query": "@trams"}},
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": [
                    {"type": "web_search_result", "url": "@u", "title": "@line 4", "encrypted_content": "@secret"}]},
                {"type": "text", "text": "@found", "citations": [{"cited_text": "@again"}]}]},
            {"role": "user", "content": [{"type": "document", "title": "@plan", "context": "@new", "source": {"type": "text", "media_type": "text/plain", "data": "@stops"}},
                {"type": "search_result", "source": "@map", "title": "@hit", "content": [{"type": "text", "text": "@there"}]}]}],
        "output_config": {"format": {"type": "json_schema", "schema": {"description": "@which"}}}}"#;
    assert_marks_are_counted(Format::Anthropic, text, 3);
}

#[test]
fn gemini_is_counted() {
    let text = r#"{"systemInstruction": {"parts": [{"text": "@be brief"}]},
        "tools": [{"functionDeclarations": [{"name": "@trams", "description": "@when"}]}],
        "contents": [
            {"role": "user", "parts": [{"text": "@when"}, {"text": "@where"}]},
            {"role": "model", "parts": [{"text": "@look"}, {"functionCall": {"name": "@trams", "args": {"line": "@4"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "@trams", "response": {"text": "@soon"},
                "parts": [{"inlineData": {"mimeType": "text/plain", "data": "QG1hcA==", "displayName": "@name"}}]}}]},
            {"role": "model", "parts": [{"executableCode": {"language": "PYTHON", "code": "@run"}}, {"codeExecutionResult": {"output": "@ran"}}]},
            {"role": "user", "parts": [{"text": "@thanks", "thoughtSignature": "@s"}]}],
        "generationConfig": {"responseSchema": {"type": "OBJECT", "description": "@which"}, "stopSequences": ["@stop"]},
        "config": {"systemInstruction": {"parts": [{"text": "@and kind"}]}, "tools": [{"functionDeclarations": [{"name": "@stops"}]}]}}"#;
    // The file holds a mark as well, in base64.
    assert_marks_are_counted(Format::Gemini, text, 2 - 1);
}

#[test]
fn langchain_is_counted() {
    let text = r#"[
        {"type": "system", "data": {"content": "@be brief"}},
        {"type": "human", "data": {"content": [{"type": "text", "text": "@when"}, "@where"]}},
        {"type": "ai", "data": {"content": "@look", "tool_calls": [{"id": "a", "name": "@trams", "args": {"line": "@4"}}]}},
        {"type": "tool", "data": {"tool_call_id": "a", "content": "@soon"}},
        {"type": "ai", "data": {"content": [{"type": "reasoning", "reasoning": "@since"}, {"type": "text", "text": "@so"}],
            "additional_kwargs": {"reasoning_content": "@as"}, "response_metadata": {"model": "@m"}}},
        {"type": "human", "data": {"content": "@thanks"}}]"#;
    assert_marks_are_counted(Format::LangChain, text, 1);
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
