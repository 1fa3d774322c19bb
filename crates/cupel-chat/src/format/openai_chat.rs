//! OpenAI Chat Completions.
//!
//! Every call of an assistant message is answered by a `tool` message before anything else is said.
//! So a message with calls and its answers are one bundle, and every other message is one of its
//! own: any of them may go.

use cupel_tokens::Overheads;

use super::{Dialect, content};
use crate::ChatError;
use crate::conversation::{Conversation, Fixed};
use crate::document::Document;
use crate::evidence::{FUNCTION_TOOL, OBJECT_ARGUMENTS, TEXT_ARGUMENTS, Vocabulary};
use crate::grouping::{Group, TakenApart, exchanges};
use crate::json::{Json, Object};
use crate::message::{Answer, Call, IdPlace, Message, Nature, Role};
use crate::path::Path;
use crate::rest::{push_rest, push_rest_of_assistant};
use crate::text::{JsonText, Text};
use crate::validate::{Finding, Fix};

const ROLES: [&str; 8] =
    ["system", "developer", "user", "assistant", "tool", "function", TOOL_CALL, TOOL_RESPONSE];

/// The roles of smolagents, which writes calls and results as words. It sends the first as the assistant's,
/// the second as the user's.
const TOOL_CALL: &str = "tool-call";
const TOOL_RESPONSE: &str = "tool-response";

/// The roles of those who speak it, without what OpenAI alone has.
pub(super) const CHAT_ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];

/// Reads messages in the manner of Chat Completions.
pub(super) struct ChatReader {
    pub(super) vocabulary: &'static Vocabulary,
    /// The roles that the provider itself has.
    pub(super) roles: &'static [&'static str],
    /// True if calls and results must have ids; else they belong together by name and order.
    pub(super) needs_ids: bool,
    /// The fields that may name the tool of a result.
    pub(super) names_of_tool: &'static [&'static str],
    /// Fields that the format reads by itself.
    pub(super) others: &'static [&'static str],
}

const READER: ChatReader = ChatReader {
    vocabulary: &VOCABULARY,
    roles: &["system", "developer", "user", "assistant", "tool", "function"],
    needs_ids: true,
    names_of_tool: &["name"],
    others: &[],
};

/// Mistral takes calls and results without ids.
const MISTRAL: ChatReader = ChatReader { needs_ids: false, ..READER };

const VOCABULARY: Vocabulary = Vocabulary {
    lists: &["messages"],
    roles: &ROLES,
    fields: &["tool_calls", "tool_call_id", "function_call", "prefix", "thinking"],
    blocks: &[
        "text",
        "image_url",
        "input_audio",
        "file",
        "refusal",
        "video_url",
        "audio_url",
        "document_url",
        "reference",
        "tool_file",
        "resource",
        "resource_link",
        "transcription_segment",
    ],
    foreign: &[
        "audio",
        "video",
        "tool_reference",
        OBJECT_ARGUMENTS,
        "image",
        "document",
        "search_result",
        "thinking",
        "redacted_thinking",
        "reasoning",
        "compaction",
    ],
    tools: &[FUNCTION_TOOL, TEXT_ARGUMENTS],
    settings: &[
        "max_completion_tokens",
        "n",
        "logprobs",
        "top_logprobs",
        "logit_bias",
        "frequency_penalty",
        "presence_penalty",
        "response_format",
        "seed",
        "stop",
        "parallel_tool_calls",
        "reasoning_effort",
        "store",
        "stream_options",
        "verbosity",
        "web_search_options",
        "prediction",
        "modalities",
        "audio",
        "prompt_cache_key",
        "safety_identifier",
        "functions",
        "function_call",
        "user",
        "metadata",
        "service_tier",
        "top_k",
        "thinking",
    ],
    // Mistral's, whose requests are of this format with fields of its own.
    own_settings: &["safe_prompt", "random_seed", "prompt_mode"],
    models: &[
        "mistral-large-",
        "mistral-medium-",
        "mistral-small-",
        "ministral-3b-",
        "ministral-8b-",
        "ministral-14b-",
        "magistral-",
        "codestral-",
        "devstral-medium-",
        "devstral-small-25",
        "pixtral-",
        "voxtral-",
        "open-mistral-",
        "open-mixtral-",
    ],
    ..Vocabulary::NONE
};

pub(crate) struct OpenAiChat;

impl Dialect for OpenAiChat {
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError> {
        let listing = document.listing(&["messages"])?;
        let top = &listing.top;
        let mut conversation = Conversation {
            list: listing.path.to_owned(),
            model: top.text("model").map(|name| name.to_string()),
            output_limit: top
                .any_of(&["max_completion_tokens", "max_tokens"])
                .and_then(|(_, limit)| limit.whole_number()),
            ..Conversation::default()
        };
        for name in ["tools", "functions"] {
            if let Some(tools) = top.get(name) {
                let tools = Fixed::tools(name, tools, &mut conversation.flaws);
                conversation.fixed.push(tools);
            }
        }
        conversation.read_others("", top, &["messages", "tools", "functions", "function_call"]);
        let read = if VOCABULARY.is_named(top) { read_mistral_message } else { read_message };
        conversation.read_messages(document, listing.elements, read);
        pair_smolagents(&mut conversation.messages);
        Ok(conversation)
    }

    fn group(&self, conversation: &Conversation, _: TakenApart) -> Vec<Group> {
        exchanges(conversation)
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    fn overheads(&self) -> Overheads {
        Overheads::openai_chat()
    }
}

fn read_message(json: Json<'_>, object: &Object<'_>, at: usize, path: Path<'_>) -> Message {
    READER.read(json, object, at, path)
}

fn read_mistral_message(json: Json<'_>, object: &Object<'_>, at: usize, path: Path<'_>) -> Message {
    MISTRAL.read(json, object, at, path)
}

/// Gives each result of smolagents to the call that it follows. One that follows none is an error that the
/// agent was told, and stands by itself.
fn pair_smolagents(messages: &mut [Message]) {
    let mut before = Text::default();
    for message in messages {
        if message.native_role == TOOL_CALL {
            message.calls = vec![Call {
                id: Text::default(),
                name: Text::default(),
                arguments: Text::default(),
                needs_answer: false,
                block: None,
                id_place: None,
            }];
        } else if message.native_role == TOOL_RESPONSE {
            let answer = Answer {
                id: Text::default(),
                name: None,
                block: None,
                body: None,
                is_error: false,
                id_place: None,
            };
            message.answers = Vec::from_iter((before == TOOL_CALL).then_some(answer));
        }
        before = message.native_role.clone();
    }
}

impl ChatReader {
    pub(super) fn read(
        &self,
        json: Json<'_>,
        object: &Object<'_>,
        at: usize,
        path: Path<'_>,
    ) -> Message {
        let mut message = content::read_role(json, object, path, &ROLES, self.roles);
        let role = message.role;
        let nature = if role == Role::Tool { Nature::Answer } else { Nature::Words };
        let body = object.get("content");
        content::read(
            &mut message,
            body,
            path.field("content"),
            nature,
            self.vocabulary,
            |_, _, _, _| false,
        );
        match role {
            Role::Tool if message.native_role != TOOL_RESPONSE => {
                self.read_answer(&mut message, json, object, at, path);
            }
            Role::Assistant => self.read_calls(&mut message, object, at, path),
            _ => {}
        }
        let name_of_tool = object.any_of(self.names_of_tool).and_then(|(_, name)| name.str());
        let is_name_read = if role == Role::Tool {
            // It repeats the name of the call, which is counted there.
            name_of_tool.as_ref().is_some_and(|name| is_tool_name(name))
        } else {
            if let Some(name) = object.text("name") {
                message.speaker = Some(name);
            }
            true
        };
        const READ: [&str; 5] = ["role", "content", "tool_calls", "function_call", "name"];
        let mut read = if is_name_read { READ.to_vec() } else { READ[..4].to_vec() };
        read.extend(self.others);
        match role {
            Role::Assistant => push_rest_of_assistant(object, &read, &mut message.pieces),
            _ => push_rest(object, &read, nature, &mut message.pieces),
        }
        let says_nothing =
            body.is_none() && !["refusal", "audio"].iter().any(|name| object.has(name));
        if says_nothing && message.calls.is_empty() && role != Role::Unknown {
            message.flaws.push(content::missing(path.field("content"), Fix::Drop(at)));
        }
        message
    }

    fn read_answer(
        &self,
        message: &mut Message,
        json: Json<'_>,
        object: &Object<'_>,
        at: usize,
        path: Path<'_>,
    ) {
        let is_legacy = message.native_role == "function";
        let field = if is_legacy { "name" } else { "tool_call_id" };
        let id = object.text(field).filter(|id| self.needs_ids || id != NO_ID);
        if id.is_none() && self.needs_ids {
            message.flaws.push(missing_id(path.field(field), Fix::NameAnswer(at, 0)));
        }
        message.answers.push(Answer {
            id: id.unwrap_or_default(),
            name: object.any_of(self.names_of_tool).and_then(|(_, name)| name.text()),
            block: None,
            body: object.get("content").map(JsonText::from),
            is_error: false,
            id_place: self.needs_ids.then(|| IdPlace::new(json, field)),
        });
    }

    fn read_calls(&self, message: &mut Message, object: &Object<'_>, at: usize, path: Path<'_>) {
        if let Some(calls) = object.get("tool_calls") {
            read_call_list(message, calls, at, path.field("tool_calls"), self.needs_ids);
        }
        read_legacy_call(message, object);
    }
}

/// Text that Mistral's SDK writes for a missing id.
const NO_ID: &str = "null";

/// Returns true if a text can be the name of a tool, as the provider allows it.
fn is_tool_name(name: &str) -> bool {
    const LONGEST: usize = 64;
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    name.len() <= LONGEST && name.bytes().all(is_allowed)
}

pub(super) fn missing_id(path: Path<'_>, fix: Fix) -> Finding {
    let text = "is required, as a text";
    Finding::new(path, "missing-call-id", text, "name the call that it belongs to").fixed_by(fix)
}

/// The one call of old, which has no id but its name.
pub(super) fn read_legacy_call(message: &mut Message, object: &Object<'_>) {
    let Some(call) = object.get("function_call").and_then(Json::object) else { return };
    push_rest(&call, &["name", "arguments"], Nature::Words, &mut message.pieces);
    let name = call.text("name").unwrap_or_default();
    message.calls.push(Call {
        id: name.clone(),
        name,
        arguments: call.get("arguments").map(content::as_written).unwrap_or_default(),
        needs_answer: true,
        block: None,
        id_place: None,
    });
}

/// The calls of a list in the manner of OpenAI.
pub(super) fn read_call_list(
    message: &mut Message,
    calls: Json<'_>,
    at: usize,
    path: Path<'_>,
    needs_ids: bool,
) {
    let Some(calls) = calls.list() else {
        let text = format!("must be a list, got {}", calls.describe());
        message.flaws.push(Finding::new(path, "calls-type", text, "give the calls as a list"));
        return;
    };
    for (index, json) in calls.into_iter().enumerate() {
        let call = json.object().unwrap_or_default();
        let id = call.text("id").filter(|id| needs_ids || id != NO_ID);
        if id.is_none() && needs_ids {
            let fix = Fix::NameCall(at, message.calls.len());
            message.flaws.push(missing_id(path.at(index).field("id"), fix));
        }
        let (holder, body) = call.any_of(&["function", "custom"]).unzip();
        let body = body.and_then(Json::object).unwrap_or_default();
        let (field, arguments) = body.any_of(&["arguments", "input"]).unzip();
        let mut read = vec!["name"];
        read.extend(field);
        push_rest(&call, holder.as_slice(), Nature::Words, &mut message.pieces);
        push_rest(&body, &read, Nature::Words, &mut message.pieces);
        message.calls.push(Call {
            id: id.unwrap_or_default(),
            name: body.text("name").unwrap_or_default(),
            arguments: arguments.map(content::as_written).unwrap_or_default(),
            needs_answer: true,
            block: None,
            id_place: Some(IdPlace::new(json, "id")).filter(|_| needs_ids && json.is_object()),
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::CandidateOptions;
    use crate::Format::OpenAiChat;
    use crate::testing::{Words, labels, read, repaired, violations};

    const AGENT: &str = r#"{"model": "gpt-4o", "max_completion_tokens": 500,
        "tools": [{"type": "function", "function": {"name": "ls"}}],
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "List both."},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "b", "content": "two"},
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "one"}]},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "Thanks."}
        ]}"#;

    #[test]
    fn the_name_in_a_result_repeats_its_call_but_a_text_in_its_place_is_counted() {
        let tokens = |name: &str| {
            let text = format!(
                r#"[{{"role":"user","content":"a"}},
                {{"role":"assistant","tool_calls":[{{"id":"c","function":{{"name":"ls","arguments":""}}}}]}},
                {{"role":"tool","tool_call_id":"c",{name}"content":"one two"}}]"#
            );
            let request = read(&text, OpenAiChat);
            request.candidates(&Words, &CandidateOptions::default()).unwrap().total_tokens()
        };
        assert_eq!(tokens(r#""name":"ls","#), tokens(""));
        assert_eq!(tokens(r#""name":"a text of its own","#), tokens("") + 5);
    }

    #[test]
    fn a_call_and_all_its_results_are_one_bundle() {
        assert_eq!(
            labels(AGENT, OpenAiChat),
            [
                "*tools: tool definition",
                "*messages[0]: developer",
                "messages[1]: user",
                "messages[2..5]: assistant, 2 tool results",
                "messages[5]: assistant",
                "*messages[6]: user",
            ]
        );
    }

    #[test]
    fn model_and_output_limit_are_found() {
        let request = read(AGENT, OpenAiChat);
        assert_eq!((request.model(), request.output_limit()), (Some("gpt-4o"), Some(500)));
        assert_eq!(request.query().as_deref(), Some("Thanks."));
    }

    #[test]
    fn functions_of_old_are_bundled_by_name() {
        let text = r#"[{"role":"user","content":"go"},
            {"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},
            {"role":"function","name":"f","content":"1"}]"#;
        let expected = ["*[0]: user", "*[1..3]: assistant, tool result"];
        assert_eq!(labels(text, OpenAiChat), expected);
    }

    #[test]
    fn ids_may_be_used_again_by_later_calls() {
        let call = r#"{"role":"assistant","tool_calls":[{"id":"0","function":{"name":"f"}}]},
            {"role":"tool","tool_call_id":"0","content":"1"}"#;
        let text = format!(r#"[{{"role":"user","content":"go"}},{call},{call}]"#);
        assert_eq!(violations(&text, OpenAiChat), [""; 0]);
        assert_eq!(labels(&text, OpenAiChat).len(), 3);
    }

    #[test]
    fn broken_pairs_are_named() {
        let text = r#"[
            {"role":"tool","tool_call_id":"x","content":"?"},
            {"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"g"}}]},
            {"role":"tool","tool_call_id":"a","content":"1"},
            {"role":"tool","tool_call_id":"a","content":"2"},
            {"role":"user","content":"go"}]"#;
        assert_eq!(
            violations(text, OpenAiChat),
            [
                "[0]: the result of `x` has no call before it; remove it, or put its call back \
                 (orphan-result)",
                "[1]: the call `b` of g has no result; add its result, or remove the call \
                 (unanswered-call)",
                "[3]: the call `a` has a result already; keep one result of each call \
                 (duplicate-result)",
            ]
        );
    }

    #[test]
    fn roles_and_contents_are_checked() {
        let text = r#"[{"role":"usr","content":"x"},{"content":"x"},{"role":"user"},
            {"role":"user","content":3},7,{"role":"tool","content":"x"},{"role":"user","content":"go"}]"#;
        assert_eq!(
            violations(text, OpenAiChat),
            [
                "[0].role: unknown role \"usr\"; did you mean `user`? (unknown-role)",
                "[1].role: is required; give one of system, developer, user, assistant, tool, \
                 function (missing-role)",
                "[2].content: is required; add it, or remove the message (missing-content)",
                "[3].content: must be a text or a list of blocks, got 3; correct the content \
                 (content-type)",
                "[4]: must be an object, got 7; give each message as an object (message-type)",
                "[5].tool_call_id: is required, as a text; name the call that it belongs to \
                 (missing-call-id)",
            ]
        );
        assert_eq!(
            violations(r#"{"messages":[]}"#, OpenAiChat),
            ["messages: the request has no messages; add a message of the user (no-messages)"]
        );
    }

    #[test]
    fn results_that_stand_elsewhere_move_behind_their_call() {
        let text = r#"[{"role":"user","content":"go"},
            {"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}}]},
            {"role":"user","content":"well?"},
            {"role":"tool","tool_call_id":"a","content":"1"}]"#;
        let (repaired, done) = repaired(text, OpenAiChat);
        assert_eq!(
            done,
            ["moved [3] behind [1]: the result of `a` does not directly follow its call"]
        );
        assert!(repaired.find("\"1\"").unwrap() < repaired.find("well?").unwrap());
    }

    #[test]
    fn a_call_without_a_result_goes_with_the_results_that_it_has() {
        let text = r#"[{"role":"user","content":"go"},
            {"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"g"}}]},
            {"role":"tool","tool_call_id":"a","content":"1"}]"#;
        let (repaired, done) = repaired(text, OpenAiChat);
        assert_eq!(repaired, r#"[{"role":"user","content":"go"}]"#);
        assert_eq!(
            done,
            [
                "dropped [1]: the call `b` of g has no result",
                "dropped [2]: the result of `a` has no call before it",
            ]
        );
    }
}
