//! Rows are recognised or refused: what is no prompt is not counted, and nothing vanishes.

use cupel_replay::{Columns, Entry, LoggedRequest, RowContent, read_row};
use serde_json::{Value, json};

fn content(row: &Value) -> RowContent {
    read_row(&row.to_string(), &Columns::default()).unwrap()
}

fn requests(row: &Value) -> Vec<LoggedRequest> {
    let content = content(row);
    let requests = content.entries.into_iter().map(|entry| match entry {
        Ok(Entry::Request(logged)) => *logged,
        other => panic!("{row}: {other:?}"),
    });
    requests.collect()
}

fn only(row: &Value) -> (Value, LoggedRequest) {
    let mut all = requests(row);
    assert_eq!(all.len(), 1, "{row}");
    let logged = all.remove(0);
    (serde_json::from_str(&logged.request).unwrap(), logged)
}

fn refused(row: &Value) -> String {
    match read_row(&row.to_string(), &Columns::default()) {
        Err(error) => error.rule,
        Ok(content) => content.entries.into_iter().find_map(Result::err).unwrap().rule,
    }
}

const ASKED: &str = "Where is parcel PX-7?";

fn messages() -> Value {
    json!([{"role": "user", "content": ASKED}])
}

#[test]
fn the_fields_of_a_wrapper_are_no_prompt_and_its_response_is_an_answer() {
    let row = json!({
        "messages": messages(), "model": "gpt-4o", "trace": "x".repeat(4_000), "cost": 0.1,
        "response": {"choices": [{"message": {"role": "assistant", "content": "In depot 12."}}], "usage": {"prompt_tokens": 14}},
    });
    let (body, logged) = only(&row);
    assert_eq!(body, json!({"messages": messages(), "model": "gpt-4o"}));
    assert_eq!(logged.answer.unwrap().text, "In depot 12.");
    assert_eq!(logged.counted_tokens, Some(14));
}

#[test]
fn a_row_of_litellm_is_its_messages_tools_and_answer() {
    let tools = json!([{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]);
    let row = json!({
        "id": "1", "call_type": "acompletion", "custom_llm_provider": "openai", "response_cost": 0.1,
        "startTime": 1_766_000_068.284_66, "model": "gpt-4o", "messages": messages(), "model_parameters": {"tools": tools},
        "model_map_information": {"note": "x".repeat(9_000)}, "prompt_tokens": 60, "end_user": "ann", "metadata": {},
        "response": {"choices": [{"message": {"role": "assistant", "content": "Here."}}]},
    });
    let (body, logged) = only(&row);
    assert_eq!(body["messages"], messages());
    assert_eq!(body["tools"], tools);
    assert_eq!(body.as_object().unwrap().len(), 3, "{body}");
    assert_eq!((logged.counted_tokens, logged.user.as_deref()), (Some(60), Some("ann")));
    assert_eq!(logged.time, Some(1_766_000_068_284_660));
    let empty = json!({"request_id": "1", "call_type": "acompletion", "spend": 0.1, "model": "gpt-4o", "messages": {}, "response": {}});
    assert!(refused(&empty).contains("store_prompts_in_spend_logs"), "{}", refused(&empty));
}

#[test]
fn a_trajectory_is_the_sequence_of_its_requests() {
    let row = json!({
        "trajectory_format": "mini-swe-agent-1.1", "info": {"mini_version": "2", "config": {"model": {"model_name": "openai/gpt-4o"}}},
        "messages": [
            {"role": "system", "content": "Rules."},
            {"role": "user", "content": ASKED},
            {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}],
             "extra": {"response": {"usage": {"prompt_tokens": 70}}, "timestamp": 1_794_997_475.5}},
            {"role": "tool", "tool_call_id": "a", "content": "PX-7.txt", "extra": {"raw_output": "y".repeat(999)}},
            {"role": "assistant", "content": "Done."},
            {"role": "exit", "content": "Submitted"},
        ],
    });
    let all = requests(&row);
    let lengths: Vec<usize> = all
        .iter()
        .map(|logged| {
            serde_json::from_str::<Value>(&logged.request).unwrap()["messages"]
                .as_array()
                .unwrap()
                .len()
        })
        .collect();
    assert_eq!(lengths, [2, 4]);
    assert!(!all[1].request.contains("yyy"), "{}", all[1].request);
    assert_eq!(all[0].answer.as_ref().unwrap().calls[0].name, "bash");
    assert_eq!((all[0].counted_tokens, all[0].time), (Some(70), Some(1_794_997_475_500_000)));
}

#[test]
fn rows_in_a_list_are_read_however_they_are_laid_out() {
    let rows = json!({"data": [
        {"type": "GENERATION", "traceId": "t", "input": messages(), "output": "Here.", "startTime": "2026-11-18T10:00:01Z"},
        {"type": "SPAN", "traceId": "t", "input": 1, "output": 2},
        {"type": "GENERATION", "traceId": "t", "input": messages(), "output": "There.", "startTime": "2026-11-18T10:00:00Z"},
    ]});
    for text in [rows.to_string(), serde_json::to_string_pretty(&rows).unwrap()] {
        let content = read_row(&text, &Columns::default()).unwrap();
        assert_eq!(content.entries.len(), 2);
        assert_eq!(content.skipped, ["observations of Langfuse of the type SPAN"]);
        assert_eq!(content.kind, "an observation of Langfuse");
    }
}

#[test]
fn a_row_with_a_request_is_no_span_whatever_else_it_has() {
    let row = json!({"type": "log", "trace_id": "7", "request": {"messages": messages()}, "response": "Here.", "conversation": "c-1"});
    let (body, logged) = only(&row);
    assert_eq!(body, json!({"messages": messages()}));
    assert_eq!(logged.conversation.as_deref(), Some("c-1"), "a text is the name of a conversation");
    assert_eq!(logged.answer.unwrap().text, "Here.");
}

#[test]
fn a_row_that_two_formats_claim_is_refused_by_both_names() {
    let row =
        json!({"run_type": "llm", "inputs": {"messages": messages()}, "op_name": "weave:///x"});
    let rule = refused(&row);
    assert!(rule.contains("a run of LangSmith and a call of Weave"), "{rule}");
}

fn called(body: &Value) -> Vec<(String, String)> {
    let messages = body["messages"].as_array().unwrap().iter();
    let calls =
        messages.flat_map(|message| message["tool_calls"].as_array().cloned().unwrap_or_default());
    let call = |call: Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&call["function"]["name"]), text(&call["function"]["arguments"]))
    };
    calls.map(call).collect()
}

/// The same call and its result in the shapes of frameworks, all of which Langfuse stores as they come.
#[test]
fn messages_of_all_frameworks_keep_calls_and_results() {
    let arguments = r#"{"id":"PX-7"}"#;
    let user = json!({"role": "user", "content": ASKED});
    let shapes = [
        // LangChain's handler.
        json!([user, {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [{"id": "1", "type": "function", "function": {"name": "find", "arguments": arguments}}]}},
               {"role": "tool", "tool_call_id": "1", "content": "depot 12"},
               {"role": "tool", "content": {"type": "function", "function": {"name": "find", "description": "Finds.", "parameters": {}}}}]),
        json!([{"type": "human", "content": ASKED}, {"type": "ai", "content": "", "tool_calls": [{"name": "find", "args": {"id": "PX-7"}, "id": "1", "type": "tool_call"}]},
               {"type": "tool", "tool_call_id": "1", "content": "depot 12"}]),
        json!([[{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": {"content": ASKED}},
                {"lc": 1, "type": "constructor", "id": ["x", "AIMessage"], "kwargs": {"content": "", "tool_calls": [{"name": "find", "args": {"id": "PX-7"}, "id": "1"}]}},
                {"lc": 1, "type": "constructor", "id": ["x", "ToolMessage"], "kwargs": {"content": "depot 12", "tool_call_id": "1"}}]]),
        // Parts of OpenTelemetry, which look like Gemini's.
        json!([{"role": "user", "parts": [{"type": "text", "content": ASKED}]}, {"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "find", "arguments": {"id": "PX-7"}}]},
               {"role": "user", "parts": [{"type": "tool_call_response", "id": "1", "response": "depot 12"}]}]),
        // Content instead of parts.
        json!([{"role": "user", "content": [{"type": "text", "content": ASKED}]}, {"role": "assistant", "content": [{"type": "tool_call", "id": "1", "name": "find", "arguments": arguments}]},
               {"role": "tool", "content": [{"type": "tool_call_response", "id": "1", "result": "depot 12"}]}]),
        // Vercel's AI SDK.
        json!([user, {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "1", "toolName": "find", "input": {"id": "PX-7"}}]},
               {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "1", "toolName": "find", "output": {"type": "text", "value": "depot 12"}}]}]),
        // Inspect.
        json!([user, {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "find", "arguments": {"id": "PX-7"}, "type": "function"}]},
               {"role": "tool", "tool_call_id": "1", "function": "find", "content": [{"type": "text", "text": "depot 12"}]}]),
        // Koog.
        json!([user, {"role": "tool", "content": [{"function": {"name": "find", "arguments": {"id": "PX-7"}}, "id": "1", "type": "function"}]}, {"role": "tool", "content": "depot 12"}]),
        // Microsoft's framework, whose ids are lists.
        json!([{"role": "user", "parts": [{"type": "text", "content": ASKED}]}, {"role": "assistant", "parts": [{"type": "tool_call", "id": ["run", "1"], "name": "find", "arguments": {"id": "PX-7"}}]},
               {"role": "tool", "parts": [{"type": "tool_call_response", "id": ["run", "1"], "response": "depot 12"}]}]),
        // Results without ids.
        json!([user, {"role": "assistant", "tool_calls": [{"name": "find", "args": {"id": "PX-7"}}]}, {"role": "tool", "name": "find", "content": "depot 12"}]),
    ];
    for shape in shapes {
        let row = json!({"type": "GENERATION", "traceId": "t", "input": shape, "output": "Here."});
        let (body, _) = only(&row);
        assert_eq!(called(&body), [("find".to_owned(), arguments.to_owned())], "{shape}");
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 3, "{body}");
        assert_eq!(
            (&messages[0]["role"], &messages[0]["content"]),
            (&json!("user"), &json!(ASKED)),
            "{body}"
        );
        assert_eq!(
            (&messages[2]["role"], messages[2]["content"].as_str().unwrap().contains("depot 12")),
            (&json!("tool"), true),
            "{body}"
        );
        assert_eq!(messages[1]["tool_calls"][0]["id"], messages[2]["tool_call_id"], "{body}");
        let request = cupel_chat::Request::parse(body.to_string(), None).unwrap();
        assert_eq!(request.validate(), [], "{body}");
    }
}

#[test]
fn requests_of_other_providers_stay_theirs() {
    let anthropic = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "Rules.", "messages": [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "find", "input": {"id": "PX-7"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "depot 12"}]}]});
    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": ASKED}]},
        {"role": "model", "parts": [{"function_call": {"name": "find", "args": {"id": "PX-7"}}}]},
        {"role": "user", "parts": [{"function_response": {"name": "find", "response": {"at": "depot 12"}}}]}],
        "config": {"system_instruction": "Rules."}});
    for (input, format) in [(anthropic, "anthropic"), (gemini, "gemini")] {
        let row = json!({"type": "GENERATION", "traceId": "t", "model": "m", "input": input, "output": "Here."});
        let (body, _) = only(&row);
        let request = cupel_chat::Request::parse(body.to_string(), None).unwrap();
        assert_eq!((request.format().name(), request.message_count()), (format, 3), "{body}");
        assert_eq!(request.validate(), [], "{body}");
        assert!(body.to_string().contains("Rules."), "{body}");
    }
}

#[test]
fn a_shape_that_nobody_knows_is_refused_with_its_place() {
    let row = |message: Value| json!({"type": "GENERATION", "traceId": "t", "input": [message], "output": "x"});
    let rule = refused(&row(json!({"role": "wizard", "content": "x"})));
    assert_eq!(rule, "input[0].role: `wizard` is no role that is known");
    let rule =
        refused(&row(json!({"role": "user", "content": [{"type": "hologram", "source": "x"}]})));
    assert_eq!(rule, "input[0].content[0].type: `hologram` is no part of a message that is known");
}

#[test]
fn all_generations_of_opentelemetry_say_the_same() {
    let call = json!([{"id": "1", "name": "find", "arguments": "{\"id\":\"PX-7\"}"}]);
    let attributes = [
        json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.input.messages": json!([
            {"role": "user", "content": ASKED}, {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "find", "arguments": "{\"id\":\"PX-7\"}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "depot 12"}]).to_string()}),
        json!({"gen_ai.request.model": "gpt-4o", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": ASKED, "gen_ai.prompt.1.role": "assistant",
            "gen_ai.prompt.1.tool_calls.0.id": "1", "gen_ai.prompt.1.tool_calls.0.name": "find", "gen_ai.prompt.1.tool_calls.0.arguments": "{\"id\":\"PX-7\"}",
            "gen_ai.prompt.2.role": "tool", "gen_ai.prompt.2.tool_call_id": "1", "gen_ai.prompt.2.content": "depot 12",
            "gen_ai.completion.0.content": "Here.", "gen_ai.completion.0.role": "assistant"}),
        json!({"openinference.span.kind": "LLM", "llm.model_name": "gpt-4o", "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": ASKED,
            "llm.input_messages.1.message.role": "assistant", "llm.input_messages.1.message.tool_calls.0.tool_call.id": "1",
            "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "find", "llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": "{\"id\":\"PX-7\"}",
            "llm.input_messages.2.message.role": "tool", "llm.input_messages.2.message.tool_call_id": "1", "llm.input_messages.2.message.content": "depot 12"}),
    ];
    drop(call);
    for attributes in attributes {
        let row = json!({"span_id": "1", "name": "chat", "start_time": "2026-11-18T10:00:00Z", "attributes": attributes});
        let (body, logged) = only(&row);
        assert_eq!(body["messages"].as_array().unwrap().len(), 3, "{body}");
        assert_eq!(called(&body), [("find".to_owned(), r#"{"id":"PX-7"}"#.to_owned())], "{body}");
        assert_eq!(
            (body["model"].as_str(), logged.time),
            (Some("gpt-4o"), Some(1_794_996_000_000_000))
        );
    }
}

#[test]
fn columns_reach_nested_fields_and_attributes() {
    let columns: Columns =
        "request=attributes.my.prompt,model=my.model,time=start_time,tokens=my.count"
            .parse()
            .unwrap();
    let span = json!({"name": "x", "start_time": "2026-11-18T10:00:00Z", "spanId": "1", "attributes": [
        {"key": "my.prompt", "value": {"stringValue": messages().to_string()}},
        {"key": "my.model", "value": {"stringValue": "gpt-4o"}}, {"key": "my.count", "value": {"intValue": "14"}}]});
    let document = json!({"resourceSpans": [{"scopeSpans": [{"spans": [span, {"name": "other", "attributes": []}]}]}]});
    let content = read_row(&document.to_string(), &columns).unwrap();
    assert_eq!(content.skipped, ["spans without attributes.my.prompt"]);
    let Ok(Entry::Request(logged)) = &content.entries[0] else { panic!("{content:?}") };
    assert_eq!(
        serde_json::from_str::<Value>(&logged.request).unwrap(),
        json!({"messages": messages(), "model": "gpt-4o"})
    );
    assert_eq!((logged.counted_tokens, logged.time), (Some(14), Some(1_794_996_000_000_000)));
    let columns: Columns = "request=calls.1.body".parse().unwrap();
    let row = json!({"calls": [{"body": 1}, {"body": {"messages": messages()}}]});
    assert!(read_row(&row.to_string(), &columns).unwrap().entries[0].is_ok());
}

#[test]
fn other_trajectories_are_sequences_too() {
    let call =
        json!([{"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}}]);
    let turns = json!([{"role": "system", "content": "Rules."}, {"role": "user", "content": ASKED}, {"role": "assistant", "content": "", "tool_calls": call},
        {"role": "tool", "tool_call_id": "1", "content": "depot 12"}, {"role": "assistant", "content": "Depot 12."}]);
    let rows = [
        json!({"trajectory": [], "history": turns, "info": {"exit_status": "submitted"}}),
        json!({"task_id": 3, "reward": 1.0, "info": {}, "traj": turns, "trial": 0}),
        json!({"simulations": [{"id": "s", "task_id": "3", "messages": turns}], "info": {}}),
        json!({"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "a", "version": "1", "model_name": "gpt-4o"}, "steps": [
            {"step_id": 1, "source": "system", "message": "Rules."}, {"step_id": 2, "source": "user", "message": ASKED},
            {"step_id": 3, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "1", "function_name": "find", "arguments": {}}],
             "observation": {"results": [{"source_call_id": "1", "content": "depot 12"}]}, "metrics": {"prompt_tokens": 9}},
            {"step_id": 4, "source": "agent", "message": "Depot 12."}]}),
        json!({"id": 1, "epoch": 1, "input": ASKED, "target": "", "messages": turns, "events": []}),
        json!({"instance_id": "i", "history": [
            {"id": 0, "source": "agent", "action": "system", "args": {"content": "Rules.", "tools": []}},
            {"id": 1, "source": "user", "action": "message", "args": {"content": ASKED}},
            {"id": 2, "source": "agent", "action": "run", "args": {"command": "ls", "thought": ""}, "tool_call_metadata": {"function_name": "find", "tool_call_id": "1", "model_response": {"id": "r", "choices": [{"message": {"content": "", "tool_calls": call}}], "usage": {"prompt_tokens": 9}}}},
            {"id": 3, "source": "agent", "observation": "run", "content": "depot 12", "tool_call_metadata": {"tool_call_id": "1"}},
            {"id": 4, "source": "agent", "action": "message", "args": {"content": "Depot 12."}}]}),
        json!({"id": "c", "conversations": [{"from": "system", "value": "Rules."}, {"from": "human", "value": ASKED},
            {"from": "function_call", "value": "{\"name\": \"find\", \"arguments\": {}}"}, {"from": "observation", "value": "depot 12"}, {"from": "gpt", "value": "Depot 12."}]}),
    ];
    for row in rows {
        let all = requests(&row);
        let lengths: Vec<usize> = all
            .iter()
            .map(|logged| {
                serde_json::from_str::<Value>(&logged.request).unwrap()["messages"]
                    .as_array()
                    .unwrap()
                    .len()
            })
            .collect();
        assert_eq!(lengths, [2, 4], "{row}");
        assert_eq!(all[0].answer.as_ref().unwrap().calls[0].name, "find", "{row}");
        assert_eq!(all[1].answer.as_ref().unwrap().text, "Depot 12.", "{row}");
        assert_eq!(all[0].conversation, all[1].conversation, "{row}");
    }
    let tree = json!({"message_tree_id": "t", "tree_state": "ready", "prompt": {"message_id": "a", "text": ASKED, "role": "prompter", "replies": [
        {"message_id": "b", "text": "Depot 12.", "role": "assistant", "replies": [{"message_id": "c", "text": "Sure?", "role": "prompter", "replies": [{"message_id": "d", "text": "Yes.", "role": "assistant", "replies": []}]}]},
        {"message_id": "e", "text": "Depot 13.", "role": "assistant", "replies": []}]}});
    assert_eq!(requests(&tree).len(), 3);
    let flat = json!({"message_id": "a", "parent_id": null, "message_tree_id": "t", "text": "x", "role": "prompter"});
    assert!(refused(&flat).contains("give the file of trees"), "{}", refused(&flat));
}

#[test]
fn other_services_are_read() {
    let response = json!({"choices": [{"message": {"role": "assistant", "content": "Here."}}], "usage": {"prompt_tokens": 60}});
    let body = json!({"model": "gpt-4o", "messages": messages(), "temperature": 0});
    let rows = [
        json!({"request_id": "1", "request_created_at": "2026-11-18T10:00:00Z", "request_body": body, "response_body": response, "request_user_id": "ann", "response_status": 200, "request_properties": {}}),
        json!({"id": "1", "op_name": "weave:///a/b/op/openai.chat.completions.create:x", "inputs": body, "output": response, "started_at": "2026-11-18T10:00:00Z", "trace_id": "t", "wb_user_id": "ann"}),
        json!({"info": {"trace_id": "t", "trace_metadata": {"mlflow.trace.user": "ann"}}, "data": {"spans": [{"name": "Completions", "start_time_unix_nano": 1_794_996_000_000_000_000_i64,
            "attributes": {"mlflow.spanType": "\"CHAT_MODEL\"", "mlflow.spanInputs": body.to_string(), "mlflow.spanOutputs": response.to_string()}}]}}),
    ];
    for row in rows {
        let (written, logged) = only(&row);
        assert_eq!(
            (written["messages"].clone(), written["model"].as_str()),
            (messages(), Some("gpt-4o")),
            "{row}"
        );
        assert_eq!(
            (logged.counted_tokens, logged.time),
            (Some(60), Some(1_794_996_000_000_000)),
            "{row}"
        );
        assert_eq!(
            (logged.user.as_deref(), logged.answer.unwrap().text.as_str()),
            (Some("ann"), "Here."),
            "{row}"
        );
    }
    let line =
        json!({"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": body});
    assert_eq!(only(&line).0["messages"], messages());
    let line = json!({"custom_id": "a", "params": {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages()}});
    assert_eq!(only(&line).0["messages"], messages());
    let answer = json!({"custom_id": "a", "response": {"body": response}});
    assert_eq!(content(&answer).skipped.len(), 1);
}

/// Files that are one conversation each, whose lines or elements belong together.
#[test]
fn transcripts_are_the_sequence_of_their_requests() {
    let about = |parent: Value, id: &str| json!({"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/p", "sessionId": "s1", "version": "2.0.1", "uuid": id, "timestamp": "2026-11-18T10:00:00.000Z"});
    let line = |parent: Value, id: &str, kind: &str, message: Value| {
        let mut line = about(parent, id);
        line["type"] = kind.into();
        line["message"] = message;
        format!("{line}\n")
    };
    let answer = |id: &str, content: Value| json!({"id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content});
    let claude = [
        line(Value::Null, "1", "user", json!({"role": "user", "content": ASKED})),
        line("1".into(), "2", "assistant", answer("m1", json!([{"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "depot.txt"}}]))),
        line("2".into(), "3", "user", json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "PX-7 is on shelf C4"}]})),
        line("3".into(), "4", "assistant", answer("m2", json!([{"type": "text", "text": "On shelf C4."}]))),
        line("4".into(), "5", "user", json!({"role": "user", "content": "Thank you."})),
        line("5".into(), "6", "assistant", answer("m3", json!([{"type": "text", "text": "Sure."}]))),
    ]
    .concat();
    let item = |payload: Value| {
        format!(
            "{}\n",
            json!({"timestamp": "2026-11-18T10:00:00Z", "type": "response_item", "payload": payload})
        )
    };
    let codex = [
        format!("{}\n", json!({"timestamp": "2026-11-18T10:00:00Z", "type": "session_meta", "payload": {"id": "r", "cwd": "/p", "originator": "codex_cli", "cli_version": "0.50.0", "instructions": "Be brief."}})),
        item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKED}]})),
        item(json!({"type": "function_call", "name": "shell", "arguments": "{\"command\":[\"cat\"]}", "call_id": "c"})),
        item(json!({"type": "function_call_output", "call_id": "c", "output": "PX-7 is on shelf C4"})),
        item(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "On shelf C4."}]})),
        item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Thank you."}]})),
    ]
    .concat();
    for (text, tool) in [(claude, "Read"), (codex, "shell")] {
        let folder = crate::support::Folder::new();
        let path = folder.write("transcript.jsonl", &text);
        let summary = crate::support::replay_file(&path, crate::support::settings(20_000)).summary;
        assert_eq!((summary.rows.requests, summary.rows.broken), (2, 0), "{:?}", summary.problems);
        let content = read_row(&text, &Columns::default()).unwrap();
        let Ok(Entry::Request(first)) = &content.entries[0] else { panic!("{content:?}") };
        assert_eq!(first.answer.as_ref().unwrap().calls[0].name, tool);
    }
    // A list of messages that is laid out over many lines is one request.
    let folder = crate::support::Folder::new();
    let list = json!([{"type": "human", "data": {"content": ASKED}}, {"type": "ai", "data": {"content": "Here."}}, {"type": "human", "data": {"content": "Sure?"}}]);
    let path = folder.write("list.json", serde_json::to_string_pretty(&list).unwrap());
    let summary = crate::support::replay_file(&path, crate::support::settings(20_000)).summary;
    assert_eq!((summary.rows.requests, summary.rows.broken), (1, 0), "{:?}", summary.problems);
}

#[test]
fn an_input_beside_an_output_is_an_observation_only_where_the_whole_row_is_one() {
    // A row to train with: what was asked stands in a field that no observation has.
    let alpaca = json!({"instruction": ASKED, "input": "PX-7", "output": "In depot 12."});
    assert!(refused(&alpaca).contains("is of no known format"), "{}", refused(&alpaca));
    let wrapped = json!({"input": ASKED, "output": "In depot 12.", "note": "of my own tool"});
    assert!(refused(&wrapped).contains("is of no known format"));
    let exported = json!({"id": "1", "timestamp": "2026-01-01T10:00:00Z", "input": messages(), "output": "In depot 12.", "latency": 1.5});
    assert_eq!(only(&exported).1.answer.unwrap().text, "In depot 12.");
}
