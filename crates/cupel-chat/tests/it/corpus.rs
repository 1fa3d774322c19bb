//! Blocks, items and fields that the types of current SDKs can produce (`openai`, `@anthropic-ai/sdk`,
//! `@google/genai`, `@mistralai/mistralai`, `cohere-ai`, `@aws-sdk/client-bedrock-runtime`, `ai`), each in a
//! small request: which format it is told for, how many messages it has, and which belong together.

use cupel_chat::{CandidateOptions, Format, Request};

use crate::pipelines::Quarters;

/// A request of a format around a message that holds this: of the user, unless the assistant says it.
fn around(format: Format, block: &str) -> String {
    let (role, block) = match block.strip_prefix("assistant ") {
        Some(block) => ("assistant", block),
        None => ("user", block),
    };
    let message = |role: &str, field: &str, block: &str| {
        format!(r#"{{"role":"{role}","{field}":[{block}]}}"#)
    };
    let text = r#"{"type":"text","text":"hi"}"#;
    match format {
        Format::OpenAiChat => format!(
            r#"{{"model":"gpt-5","messages":[{},{},{}]}}"#,
            message("user", "content", text),
            message(role, "content", block),
            message("user", "content", text)
        ),
        Format::Anthropic => format!(
            r#"{{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{},{},{}]}}"#,
            message("user", "content", text),
            message(role, "content", block),
            message("user", "content", text)
        ),
        Format::OpenAiResponses => format!(
            r#"{{"model":"gpt-5","input":[{{"role":"user","content":"hi"}},{block},{{"role":"user","content":"so?"}}]}}"#
        ),
        Format::Gemini => {
            let role = if role == "assistant" { "model" } else { role };
            format!(
                r#"{{"contents":[{{"role":"user","parts":[{{"text":"hi"}}]}},{},{{"role":"user","parts":[{{"text":"so?"}}]}}]}}"#,
                message(role, "parts", block)
            )
        }
        Format::Bedrock => format!(
            r#"{{"modelId":"amazon.nova-pro-v1:0","messages":[{},{},{}]}}"#,
            message("user", "content", r#"{"text":"hi"}"#),
            message("assistant", "content", r#"{"text":"ho"}"#),
            message("user", "content", block)
        ),
        Format::AiSdk => format!(
            r#"[{},{},{{"role":"assistant","content":[{{"type":"reasoning","text":"hm"}},{{"type":"reasoning-file","data":"","mediaType":"text/plain"}}]}}]"#,
            message("user", "content", text),
            message(role, "content", block)
        ),
        Format::AiSdkUi => format!(
            r#"{{"messages":[{},{},{}]}}"#,
            message("user", "parts", text),
            message("assistant", "parts", block),
            message("user", "parts", text)
        ),
        Format::Cohere => format!(
            r#"{{"model":"command-a-03-2025","messages":[{{"role":"user","content":"hi"}},{},{{"role":"user","content":"so?"}}]}}"#,
            message(role, "content", block)
        ),
        other => panic!("no request around {other}"),
    }
}

const BLOCKS: &[(Format, &str)] = &[
    (Format::OpenAiChat, r#"{"type":"text","text":"a"}"#),
    (
        Format::OpenAiChat,
        r#"{"type":"image_url","image_url":{"url":"https://x/y.png","detail":"low"}}"#,
    ),
    (Format::OpenAiChat, r#"{"type":"input_audio","input_audio":{"data":"","format":"wav"}}"#),
    (Format::OpenAiChat, r#"{"type":"file","file":{"file_id":"f"}}"#),
    (Format::OpenAiChat, r#"assistant {"type":"refusal","refusal":"no"}"#),
    // Mistral's.
    (Format::OpenAiChat, r#"{"type":"image_url","image_url":"https://x/y.png"}"#),
    (Format::OpenAiChat, r#"{"type":"document_url","document_url":"https://x/y.pdf"}"#),
    (Format::OpenAiChat, r#"assistant {"type":"reference","reference_ids":[1]}"#),
    (Format::OpenAiChat, r#"{"type":"file","file_id":"f"}"#),
    (Format::OpenAiChat, r#"{"type":"input_audio","input_audio":"UklG"}"#),
    (Format::OpenAiResponses, r#"{"role":"user","content":[{"type":"input_text","text":"a"}]}"#),
    (
        Format::OpenAiResponses,
        r#"{"role":"user","content":[{"type":"input_image","image_url":"u","detail":"auto"}]}"#,
    ),
    (Format::OpenAiResponses, r#"{"role":"user","content":[{"type":"input_file","file_id":"f"}]}"#),
    (
        Format::OpenAiResponses,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}"#,
    ),
    (
        Format::OpenAiResponses,
        r#"{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}"#,
    ),
    (
        Format::OpenAiResponses,
        r#"{"type":"file_search_call","id":"f","queries":["a"],"status":"completed"}"#,
    ),
    (Format::OpenAiResponses, r#"{"type":"web_search_call","id":"w","status":"completed"}"#),
    (
        Format::OpenAiResponses,
        r#"{"type":"tool_search_call","execution":"server","call_id":null,"arguments":{}}"#,
    ),
    (Format::OpenAiResponses, r#"{"type":"additional_tools","role":"developer","tools":[]}"#),
    (Format::OpenAiResponses, r#"{"type":"compaction","encrypted_content":"x"}"#),
    (
        Format::OpenAiResponses,
        r#"{"type":"image_generation_call","id":"i","result":"","status":"completed"}"#,
    ),
    (
        Format::OpenAiResponses,
        r#"{"type":"code_interpreter_call","id":"c","code":"1","outputs":[]}"#,
    ),
    (
        Format::OpenAiResponses,
        r#"{"type":"mcp_list_tools","id":"m","server_label":"s","tools":[]}"#,
    ),
    (
        Format::OpenAiResponses,
        r#"{"type":"mcp_call","id":"m","name":"f","arguments":"{}","output":"1"}"#,
    ),
    (Format::OpenAiResponses, r#"{"type":"item_reference","id":"r"}"#),
    (Format::Anthropic, r#"{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}"#),
    (
        Format::Anthropic,
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":""}}"#,
    ),
    (Format::Anthropic, r#"{"type":"image","source":{"type":"file","file_id":"f"}}"#),
    (
        Format::Anthropic,
        r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a"}}"#,
    ),
    (
        Format::Anthropic,
        r#"{"type":"document","source":{"type":"content","content":"a"},"title":"t"}"#,
    ),
    (
        Format::Anthropic,
        r#"{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"a"}]}"#,
    ),
    (Format::Anthropic, r#"{"type":"container_upload","file_id":"f"}"#),
    (
        Format::Anthropic,
        r#"assistant {"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a"}"#,
    ),
    (
        Format::Anthropic,
        r#"assistant {"type":"redacted_thinking","data":"x"},{"type":"text","text":"a"}"#,
    ),
    (Format::Anthropic, r#"assistant {"type":"compaction","content":"so far"}"#),
    (Format::Anthropic, r#"assistant {"type":"fallback"}"#),
    (
        Format::Anthropic,
        r#"assistant {"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}"#,
    ),
    (
        Format::Anthropic,
        r#"assistant {"type":"server_tool_use","id":"s","name":"web_fetch","input":{}},{"type":"web_fetch_tool_result","tool_use_id":"s","content":{"type":"web_fetch_result","url":"u"}}"#,
    ),
    (
        Format::Anthropic,
        r#"assistant {"type":"server_tool_use","id":"s","name":"code_execution","input":{}},{"type":"code_execution_tool_result","tool_use_id":"s","content":{"type":"code_execution_result","stdout":"1"}}"#,
    ),
    (
        Format::Anthropic,
        r#"assistant {"type":"server_tool_use","id":"s","name":"bash_code_execution","input":{}},{"type":"bash_code_execution_tool_result","tool_use_id":"s","content":{"type":"bash_code_execution_result","stdout":"1"}}"#,
    ),
    (
        Format::Anthropic,
        r#"assistant {"type":"server_tool_use","id":"s","name":"text_editor_code_execution","input":{}},{"type":"text_editor_code_execution_tool_result","tool_use_id":"s","content":{"type":"text_editor_code_execution_view_result","content":"1"}}"#,
    ),
    (
        Format::Anthropic,
        r#"assistant {"type":"server_tool_use","id":"s","name":"tool_search_tool_regex","input":{}},{"type":"tool_search_tool_result","tool_use_id":"s","content":{"type":"tool_search_tool_search_result","tool_references":[]}}"#,
    ),
    (
        Format::Anthropic,
        r#"assistant {"type":"server_tool_use","id":"s","name":"advisor","input":{}},{"type":"advisor_tool_result","tool_use_id":"s","content":{"type":"advisor_result","text":"1"}}"#,
    ),
    (
        Format::Anthropic,
        r#"assistant {"type":"mcp_tool_use","id":"s","name":"f","server_name":"x","input":{}},{"type":"mcp_tool_result","tool_use_id":"s","content":"1"}"#,
    ),
    (Format::Gemini, r#"{"text":"a"}"#),
    (Format::Gemini, r#"{"inlineData":{"mimeType":"image/png","data":""}}"#),
    (Format::Gemini, r#"{"fileData":{"mimeType":"application/pdf","fileUri":"u"}}"#),
    (Format::Gemini, r#"{"fileData":{"fileUri":"u"},"videoMetadata":{"fps":1}}"#),
    (Format::Gemini, r#"assistant {"text":"hm","thought":true,"thoughtSignature":"s"}"#),
    (
        Format::Gemini,
        r#"assistant {"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}"#,
    ),
    (Format::Gemini, r#"{"text":"a","partMetadata":{"a":1}}"#),
    (Format::Gemini, r#"{"text":"a","part_metadata":{"a":1}}"#),
    (
        Format::Gemini,
        r#"{"inlineData":{"mimeType":"audio/wav","data":""},"audioTranscription":{"text":"b"}}"#,
    ),
    (Format::Bedrock, r#"{"text":"a"}"#),
    (Format::Bedrock, r#"{"image":{"format":"png","source":{"bytes":""}}}"#),
    (Format::Bedrock, r#"{"image":{"format":"png","source":{"s3Location":{"uri":"s3://b/k"}}}}"#),
    (Format::Bedrock, r#"{"document":{"format":"pdf","name":"n","source":{"bytes":""}}}"#),
    (Format::Bedrock, r#"{"document":{"name":"n","source":{"text":"a"}}}"#),
    (
        Format::Bedrock,
        r#"{"document":{"name":"n","source":{"content":[{"text":"a"}]},"citations":{"enabled":true}}}"#,
    ),
    (Format::Bedrock, r#"{"video":{"format":"mp4","source":{"bytes":""}}}"#),
    (Format::Bedrock, r#"{"audio":{"format":"wav","source":{"bytes":""}}}"#),
    (Format::Bedrock, r#"{"text":"a"},{"cachePoint":{"type":"default"}}"#),
    (Format::Bedrock, r#"{"guardContent":{"text":{"text":"a"}}}"#),
    (Format::Bedrock, r#"{"searchResult":{"source":"s","title":"t","content":[{"text":"a"}]}}"#),
    (Format::Bedrock, r#"{"citationsContent":{"content":[{"text":"a"}],"citations":[]}}"#),
    (Format::Bedrock, r#"{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}}"#),
    (Format::Bedrock, r#"{"reasoningContent":{"redactedContent":"eA=="}}"#),
    (Format::AiSdk, r#"{"type":"text","text":"a","providerOptions":{}}"#),
    (Format::AiSdk, r#"{"type":"image","image":"https://x/y.png","mediaType":"image/png"}"#),
    (Format::AiSdk, r#"{"type":"file","data":"","mediaType":"application/pdf","filename":"n"}"#),
    (
        Format::AiSdk,
        r#"assistant {"type":"tool-call","toolCallId":"s","toolName":"web","input":{},"providerExecuted":true},{"type":"tool-result","toolCallId":"s","toolName":"web","output":{"type":"json","value":[1]}}"#,
    ),
    (Format::AiSdk, r#"assistant {"type":"custom","kind":"x"}"#),
    (Format::AiSdkUi, r#"{"type":"text","text":"a","state":"done"}"#),
    (Format::AiSdkUi, r#"{"type":"reasoning","text":"hm","state":"done"}"#),
    (
        Format::AiSdkUi,
        r#"{"type":"tool-look","toolCallId":"a","state":"output-available","input":{},"output":{"x":1}}"#,
    ),
    (
        Format::AiSdkUi,
        r#"{"type":"tool-look","toolCallId":"a","state":"output-error","input":{},"errorText":"x"}"#,
    ),
    (
        Format::AiSdkUi,
        r#"{"type":"tool-look","toolCallId":"a","state":"output-denied","input":{},"approval":{"id":"p","approved":false}}"#,
    ),
    (
        Format::AiSdkUi,
        r#"{"type":"tool-look","toolCallId":"a","state":"approval-requested","input":{},"approval":{"id":"p"}}"#,
    ),
    (
        Format::AiSdkUi,
        r#"{"type":"dynamic-tool","toolName":"look","toolCallId":"a","state":"output-available","input":{},"output":"1"}"#,
    ),
    (Format::AiSdkUi, r#"{"type":"source-url","sourceId":"s","url":"u","title":"t"}"#),
    (
        Format::AiSdkUi,
        r#"{"type":"source-document","sourceId":"s","mediaType":"application/pdf","title":"t"}"#,
    ),
    (Format::AiSdkUi, r#"{"type":"file","mediaType":"image/png","url":"data:image/png;base64,"}"#),
    (Format::AiSdkUi, r#"{"type":"data-weather","id":"d","data":{"x":1}}"#),
    (Format::AiSdkUi, r#"{"type":"step-start"}"#),
    (Format::OpenAiChat, r#"{"type":"video","video":["https://x/1.jpg"]}"#),
    (
        Format::OpenAiChat,
        r#"assistant {"type":"text","text":"a"},{"type":"reference","reference_ids":[1]}"#,
    ),
    (
        Format::OpenAiChat,
        r#"assistant {"type":"reference","reference_ids":[1]},{"type":"tool_reference","tool":"web_search","title":"t"}"#,
    ),
    (Format::OpenAiChat, r#"assistant {"type":"tool_file","tool":"code","file_id":"f"}"#),
    (Format::Cohere, r#"{"type":"text","text":"a"}"#),
    (Format::Cohere, r#"{"type":"image_url","image_url":{"url":"u"}}"#),
    (Format::Cohere, r#"assistant {"type":"thinking","thinking":"hm"}"#),
];

#[test]
fn every_block_is_known_to_its_format() {
    for (format, block) in BLOCKS {
        let text = around(*format, block);
        let request =
            Request::parse(text.as_str(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(request.format(), *format, "{text}");
        assert_eq!(request.message_count(), 3, "{text}");
        assert_eq!(request.validate(), [], "{text}");
    }
}

/// Fields beside the messages that tell a format where the messages alone do not.
const SETTINGS: &[(Format, &[&str])] = &[
    (
        Format::OpenAiChat,
        &[
            "audio",
            "frequency_penalty",
            "function_call",
            "functions",
            "logit_bias",
            "logprobs",
            "max_completion_tokens",
            "max_tokens",
            "metadata",
            "modalities",
            "n",
            "parallel_tool_calls",
            "prediction",
            "presence_penalty",
            "prompt_cache_key",
            "reasoning_effort",
            "response_format",
            "safety_identifier",
            "seed",
            "service_tier",
            "stop",
            "store",
            "stream",
            "stream_options",
            "temperature",
            "tool_choice",
            "top_logprobs",
            "top_p",
            "user",
            "verbosity",
            "web_search_options",
            "random_seed",
            "safe_prompt",
            "prompt_mode",
            "top_k",
            "guardrails",
        ],
    ),
    (
        Format::Anthropic,
        &[
            "system",
            "anthropic_version",
            "anthropic_beta",
            "betas",
            "container",
            "context_management",
            "inference_geo",
            "mcp_servers",
            "output_config",
            "stop_sequences",
            "cache_control",
            "speed",
            "fallbacks",
            "compaction",
            "diagnostics",
            "thread",
            "user_profile_id",
        ],
    ),
    (Format::Ollama, &["options", "keep_alive", "think", "format"]),
    (Format::Cohere, &["documents", "citation_options", "safety_mode", "strict_tools"]),
    (Format::Bedrock, &["inferenceConfig", "toolConfig", "modelId"]),
];

#[test]
fn fields_beside_the_messages_tell_formats_that_write_messages_alike() {
    for (format, names) in SETTINGS {
        for name in *names {
            let text = format!(
                r#"{{"{name}":{{}},"messages":[{{"role":"user","content":"hi"}},{{"role":"assistant","content":"ho"}}]}}"#
            );
            assert_eq!(Format::detect(&text), Some(*format), "{text}");
        }
    }
}

/// A call and its result, or several, and how many groups of more than one message they make.
const PAIRS: &[(Format, usize, &str)] = &[
    (
        Format::OpenAiChat,
        1,
        r#"[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"x"},{"role":"user","content":"b"}]"#,
    ),
    (
        Format::OpenAiChat,
        1,
        r#"[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","type":"custom","custom":{"name":"f","input":"x"}}]},{"role":"tool","tool_call_id":"1","content":"x"},{"role":"user","content":"b"}]"#,
    ),
    (
        Format::OpenAiChat,
        1,
        r#"[{"role":"user","content":"a"},{"role":"assistant","function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"x"},{"role":"user","content":"b"}]"#,
    ),
    (
        Format::OpenAiResponses,
        1,
        r#"{"input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"x"},{"role":"user","content":"b"}]}"#,
    ),
    (
        Format::OpenAiResponses,
        1,
        r#"{"input":[{"role":"user","content":"a"},{"type":"custom_tool_call","call_id":"1","name":"f","input":"x"},{"type":"custom_tool_call_output","call_id":"1","output":"x"},{"role":"user","content":"b"}]}"#,
    ),
    (
        Format::OpenAiResponses,
        1,
        r#"{"input":[{"role":"user","content":"a"},{"type":"shell_call","call_id":"1","action":{}},{"type":"shell_call_output","call_id":"1","output":[]},{"role":"user","content":"b"}]}"#,
    ),
    (
        Format::OpenAiResponses,
        1,
        r#"{"input":[{"role":"user","content":"a"},{"type":"apply_patch_call","call_id":"1","operation":{}},{"type":"apply_patch_call_output","call_id":"1","output":"x"},{"role":"user","content":"b"}]}"#,
    ),
    (
        Format::OpenAiResponses,
        1,
        r#"{"input":[{"role":"user","content":"a"},{"type":"computer_call","call_id":"1","action":{}},{"type":"computer_call_output","call_id":"1","output":{"type":"computer_screenshot","file_id":"f"}},{"role":"user","content":"b"}]}"#,
    ),
    (
        Format::OpenAiResponses,
        1,
        r#"{"input":[{"role":"user","content":"a"},{"type":"mcp_approval_request","id":"1","name":"f","arguments":"{}"},{"type":"mcp_approval_response","approval_request_id":"1","approve":true},{"role":"user","content":"b"}]}"#,
    ),
    (
        Format::Anthropic,
        1,
        r#"[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]"#,
    ),
    (
        Format::Gemini,
        1,
        r#"{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]},{"role":"model","parts":[{"text":"b"}]},{"role":"user","parts":[{"text":"c"}]}]}"#,
    ),
    (
        Format::Bedrock,
        1,
        r#"[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"json":{}}]}}]}]"#,
    ),
    (
        Format::AiSdk,
        1,
        r#"[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool-call","toolCallId":"1","toolName":"f","input":{}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"1","toolName":"f","output":{"type":"text","value":"x"}}]},{"role":"user","content":"b"}]"#,
    ),
    (
        Format::AiSdk,
        1,
        r#"[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool-call","toolCallId":"1","toolName":"f","input":{}},{"type":"tool-approval-request","approvalId":"p","toolCallId":"1"}]},{"role":"tool","content":[{"type":"tool-approval-response","approvalId":"p","approved":true}]}]"#,
    ),
    (
        Format::OpenAiChat,
        2,
        r#"{"model":"mistral-large-latest","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","prefix":false,"tool_calls":[{"id":"null","function":{"name":"f","arguments":{"x":1}}},{"id":"null","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","name":"g","content":"2"},{"role":"tool","name":"f","content":"1"},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"x"},{"role":"user","content":"b"}]}"#,
    ),
    (
        Format::OpenAiChat,
        1,
        r#"{"model":"x","safe_prompt":true,"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"x"},{"role":"user","content":"b"}]}"#,
    ),
    (
        Format::OpenAiChat,
        1,
        r#"[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"tool-call","content":[{"type":"text","text":"Calling tools: f"}]},{"role":"tool-response","content":[{"type":"text","text":"Observation: 1"}]},{"role":"tool-response","content":[{"type":"text","text":"Error: x"}]},{"role":"assistant","content":[{"type":"text","text":"b"}]}]"#,
    ),
    (
        Format::LangChain,
        1,
        r#"{"lc":1,"type":"constructor","id":["langchain","prompts","chat","ChatPromptValue"],"kwargs":{"messages":[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"a"}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":"","tool_calls":[{"name":"f","args":{},"id":"1"}]}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","ToolMessage"],"kwargs":{"content":"x","tool_call_id":"1"}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"b"}}]}}"#,
    ),
    (
        Format::Bedrock,
        2,
        r#"[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"text":"x"}]}}]},{"role":"assistant","content":[{"text":"b"}]},{"role":"user","content":[{"text":"c"}]}]"#,
    ),
    (
        Format::Bedrock,
        0,
        r#"{"modelId":"x","messages":[{"role":"user","content":[{"text":"a"}]},{"role":"system","content":[{"toolAddition":{"tool":{}}}]}]}"#,
    ),
    (
        Format::Bedrock,
        1,
        r#"{"modelId":"amazon.nova-pro-v1:0","messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"s","name":"nova_grounding","input":{},"type":"server_tool_use"}},{"toolResult":{"toolUseId":"s","content":[{"text":"r"}],"type":"nova_grounding_result"}},{"text":"b"}]},{"role":"user","content":[{"text":"c"}]}]}"#,
    ),
    (Format::Gemini, 0, r#"{"model":"gemini-2.5-flash","contents":"Why is the sky blue?"}"#),
    (Format::Gemini, 0, r#"{"contents":{"role":"user","parts":[{"text":"a"}]}}"#),
    (
        Format::Gemini,
        0,
        r#"{"contents":["What is this?",{"inlineData":{"mimeType":"image/png","data":""}}]}"#,
    ),
    (
        Format::Gemini,
        0,
        r#"{"contents":[{"role":"user","parts":"a"},{"role":"model","parts":{"text":"b"}},{"role":"user","parts":["c"]}]}"#,
    ),
    (
        Format::Ollama,
        1,
        r#"[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}},{"function":{"name":"g","arguments":{}}}]},{"role":"tool","tool_name":"g","content":"x"},{"role":"tool","content":"y"},{"role":"user","content":"b"}]"#,
    ),
    (
        Format::Cohere,
        1,
        r#"{"model":"command-a","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_plan":"p","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":[{"type":"document","document":{"data":"x"}}]},{"role":"user","content":"b"}]}"#,
    ),
    (
        Format::LangChain,
        1,
        r#"[{"type":"human","content":"a"},{"type":"ai","content":"","tool_calls":[{"name":"f","args":{},"id":"1"}]},{"type":"tool","content":"x","tool_call_id":"1"},{"type":"human","content":"b"}]"#,
    ),
];

#[test]
fn calls_stay_with_their_results() {
    for (format, groups, text) in PAIRS {
        let request = Request::parse(*text, None).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(request.format(), *format, "{text}");
        assert_eq!(request.validate(), [], "{text}");
        let candidates = request.candidates(&Quarters, &CandidateOptions::default()).unwrap();
        let bundles = candidates.bundles().iter();
        let found = bundles.filter(|bundle| bundle.message_indices().len() > 1).count();
        assert_eq!(found, *groups, "{text}");
    }
}

/// Requests that nobody can be sure about, and what the refusal names.
const REFUSED: &[(&str, &str)] = &[
    (
        r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]},{"role":"tool","tool_call_id":"a","content":"x"}]"#,
        "no format has both",
    ),
    (
        r#"[{"role":"user","content":[{"toolResult":{"toolUseId":"a"}},{"type":"tool_result","tool_use_id":"a"}]}]"#,
        "no format has both",
    ),
    (
        r#"[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":[{"type":"tool-result","toolCallId":"a"}]}]"#,
        "no format has both",
    ),
    (r#"[{"role":"user","parts":[{"type":"text","content":"hi"}]}]"#, "OpenTelemetry"),
    (
        r#"[{"role":"assistant","parts":[{"type":"tool_call","id":"a","name":"f","arguments":{}}]}]"#,
        "OpenTelemetry",
    ),
    (r#"[{"role":"user","content":[{"type":"tool_invocation"}]}]"#, "tool_invocation"),
    (r#"[{"role":"user","content":[{"functionCall":{"name":"f"}}]}]"#, "functionCall"),
    (
        r#"{"messages":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]}"#,
        "input_text",
    ),
    (r#"{"messages":[{"role":"user","parts":[{"text":"hi"}]}]}"#, "parts"),
];

#[test]
fn what_nobody_knows_is_refused_with_what_was_seen() {
    for (text, seen) in REFUSED {
        let error = Request::parse(*text, None).unwrap_err();
        assert_eq!(error.code(), "unknown-format", "{text}");
        assert!(error.to_string().contains(seen), "{error}\n{text}");
    }
}

#[test]
fn the_corpus_has_more_than_a_hundred_and_fifty_requests() {
    let settings: usize = SETTINGS.iter().map(|(_, names)| names.len()).sum();
    assert!(BLOCKS.len() + settings + PAIRS.len() + REFUSED.len() > 150);
}
