//! OpenAI Responses.
//!
//! An output belongs to its call by `call_id`, wherever it stands; reasoning belongs to what follows
//! it. So a bundle is what the model put out in one go, beginning with its reasoning or with its
//! calls, and the outputs of all calls in it. Everything else stands for itself.

mod together;

use std::borrow::Cow;
use std::collections::HashMap;

use cupel_tokens::{Image, Model, Overheads, Provider};

use super::openai_chat::missing_id;
use super::{Dialect, content};
use crate::ChatError;
use crate::conversation::{Conversation, Fixed};
use crate::document::{Body, Document, Listing};
use crate::evidence::Vocabulary;
use crate::file::image_size;
use crate::grouping::{Group, PinReason, TakenApart};
use crate::json::{Json, Object};
use crate::message::{Answer, Bond, Call, Content, Message, Nature, Piece, Role, Served};
use crate::pairing::{IdScope, check_unique_ids};
use crate::path::Path;
use crate::rest::{push_rest, push_unknown};
use crate::text::{JsonText, Text};
use crate::validate::{Finding, Fix};

const ROLES: [&str; 4] = ["user", "assistant", "system", "developer"];

const VOCABULARY: Vocabulary = Vocabulary {
    lists: &["input"],
    roles: &ROLES,
    types: &[
        "message",
        "reasoning",
        "item_reference",
        "compaction*",
        "*_call",
        "*_output",
        "additional_tools",
        "tools",
        "mcp_*",
        "program",
    ],
    blocks: &[
        "text",
        "input_text",
        "output_text",
        "input_image",
        "input_file",
        "input_audio",
        "refusal",
        "summary_text",
        "reasoning_text",
        "computer_screenshot",
        "encrypted_content",
    ],
    ..Vocabulary::NONE
};

pub(crate) struct OpenAiResponses;

impl Dialect for OpenAiResponses {
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError> {
        let listing = listing(document)?;
        let top = &listing.top;
        let mut conversation = Conversation {
            list: listing.path.to_owned(),
            model: top.text("model").map(|name| name.to_string()),
            output_limit: top.get("max_output_tokens").and_then(Json::whole_number),
            has_stored_messages: top.any_of(&["previous_response_id", "conversation"]).is_some(),
            ..Conversation::default()
        };
        if let Some(instructions) = top.get("instructions") {
            conversation.fixed.push(Fixed::instructions("instructions", instructions));
        }
        if let Some(tools) = top.get("tools") {
            let tools = Fixed::tools("tools", tools, &mut conversation.flaws);
            conversation.fixed.push(tools);
        }
        conversation.read_others("", top, &["input", "instructions", "tools", "text"]);
        if let Some(text) = top.get("text").and_then(Json::object) {
            conversation.read_others("text.", &text, &[]);
        }
        match top.get("input").filter(|input| input.is_text()) {
            Some(text) => conversation.messages.push(plain_input(text)),
            None => conversation.read_messages(document, listing.elements, read_item),
        }
        pair_local_shells(&mut conversation.messages);
        let has_reference = |message: &Message| message.bond == Bond::Reference;
        conversation.has_stored_messages |= conversation.messages.iter().any(has_reference);
        Ok(conversation)
    }

    fn check(&self, conversation: &Conversation, findings: &mut Vec<Finding>) {
        check_unique_ids(conversation, IdScope::Request, findings);
        together::check_pairs(conversation, findings);
        together::check_reasoning(conversation, findings);
    }

    fn group(&self, conversation: &Conversation, _: TakenApart) -> Vec<Group> {
        together::group(conversation)
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    fn overheads(&self) -> Overheads {
        Overheads::openai_responses()
    }

    /// Results are items of their own, which no model's own figures say.
    fn overheads_of(&self, model: &Model) -> Option<Overheads> {
        let mut overheads = model.overheads();
        if model.provider == Provider::OpenAi {
            overheads.per_tool_result = self.overheads().per_tool_result;
        }
        Some(overheads)
    }
}

/// The list of items; `input` may also be the text of one message.
fn listing<'t>(document: &Document<'t>) -> Result<Listing<'t>, ChatError> {
    if let Body::One(json) = &document.body {
        let top = json.object().unwrap_or_default();
        if top.get("input").is_some_and(Json::is_text) {
            return Ok(Listing { path: "input", elements: Vec::new(), top });
        }
    }
    document.listing(&["input"])
}

fn plain_input(json: Json<'_>) -> Message {
    let mut message = Message::new(json, Role::User, Text::Name("user"));
    message.pieces.extend(json.text().map(|text| Piece::text(Nature::Words, text)));
    message
}

fn read_item(json: Json<'_>, object: &Object<'_>, at: usize, path: Path<'_>) -> Message {
    let kind = object.text("type").unwrap_or(Text::Name("message"));
    let mut message = match kind.as_ref() {
        "message" => read_message(json, object, at, path),
        "reasoning" => read_reasoning(json, object),
        "item_reference" | "compaction" | "compaction_summary" => {
            let mut message = Message::new(json, Role::Assistant, kind);
            message.bond = Bond::Reference;
            let content = Content::Opaque(json.into());
            message.pieces.push(Piece::new(Nature::Words, content));
            push_rest(object, &[], Nature::Words, &mut message.pieces);
            message
        }
        "additional_tools" | "tools" => {
            let mut message = Message::new(json, Role::System, kind);
            message.stays = Some(PinReason::ToolDefinitions);
            push_rest(object, &[], Nature::Words, &mut message.pieces);
            message
        }
        "mcp_approval_response" => {
            read_answer(json, object, "approval_request_id", kind, Fix::Drop(at), path)
        }
        _ if kind.ends_with("_output") && !is_served(object) => {
            let by_id = kind == "local_shell_call_output" && !object.has("call_id");
            let id_field = if by_id { "id" } else { "call_id" };
            read_answer(json, object, id_field, kind, Fix::Drop(at), path)
        }
        _ => read_call(json, object, kind, at, path),
    };
    message.take_notes(object);
    message
}

fn read_message(json: Json<'_>, object: &Object<'_>, at: usize, path: Path<'_>) -> Message {
    let native_role = object.text("role").unwrap_or_default();
    let role = match native_role.as_ref() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => Role::Unknown,
    };
    let mut message = Message::new(json, role, native_role);
    if role == Role::Unknown {
        message.flaws.push(content::role_flaw(path, "role", object.get("role"), &ROLES));
    }
    let body = object.get("content");
    let path = path.field("content");
    if body.is_none() {
        message.flaws.push(content::missing(path, Fix::Drop(at)));
    }
    content::read(&mut message, body, path, Nature::Words, &VOCABULARY, |_, _, _, _| false);
    push_rest(object, &["content"], Nature::Words, &mut message.pieces);
    message
}

/// Of reasoning, what can be read. What is encrypted counts as nothing: the service leaves it out
/// again once the turn is over.
fn read_reasoning(json: Json<'_>, object: &Object<'_>) -> Message {
    let mut message = Message::new(json, Role::Assistant, Text::Name("reasoning"));
    message.bond = Bond::Reasoning;
    for name in ["summary", "content"] {
        if let Some(content) = object.get(name) {
            content::nested(content, Nature::Thought, 0, &mut message.pieces);
        }
    }
    push_rest(object, &["summary", "content"], Nature::Words, &mut message.pieces);
    message
}

fn read_answer(
    json: Json<'_>,
    object: &Object<'_>,
    id_field: &str,
    kind: Text,
    fix: Fix,
    path: Path<'_>,
) -> Message {
    let mut message = Message::new(json, Role::Tool, kind);
    match object.text(id_field) {
        Some(id) => {
            let body = object.get("output").filter(|output| !output.is_object());
            let (name, body) = (object.text("name"), body.map(JsonText::from));
            message.answers.push(Answer {
                id,
                name,
                block: None,
                body,
                is_error: false,
                id_place: None,
            });
        }
        None => message.flaws.push(missing_id(path.field(id_field), fix)),
    }
    if let Some(output) = object.get("output") {
        match output.object().filter(|output| output.has("image_url") || output.has("file_id")) {
            Some(object) => {
                content::push_image(output, &object, Nature::Answer, &mut message.pieces);
            }
            None => content::nested(output, Nature::Answer, 0, &mut message.pieces),
        }
    }
    push_rest(object, &["output"], Nature::Answer, &mut message.pieces);
    message
}

/// Returns true if the service did it by itself, so that nothing has to answer it.
fn is_served(object: &Object<'_>) -> bool {
    object.str("execution").is_some_and(|by| by == "server")
}

/// The output of a local shell may name its call by the id of the item.
fn pair_local_shells(messages: &mut [Message]) {
    let mut called: HashMap<String, Text> = HashMap::new();
    for message in messages {
        if message.native_role == "local_shell_call" {
            let id = message.json.view().at_path("id").and_then(Json::str);
            let call = message.calls.first().map(|call| call.id.clone());
            called.extend(id.map(Cow::into_owned).zip(call));
        } else if message.native_role == "local_shell_call_output" {
            for answer in &mut message.answers {
                if let Some(call) = called.get(answer.id.as_str()) {
                    answer.id = call.clone();
                }
            }
        }
    }
}

/// Calls that the client answers have a `call_id`; those that the service answers by itself have not.
fn read_call(
    json: Json<'_>,
    object: &Object<'_>,
    kind: Text,
    at: usize,
    path: Path<'_>,
) -> Message {
    let is_request = kind == "mcp_approval_request";
    let is_clients = matches!(&*kind, "function_call" | "custom_tool_call" | "computer_call");
    let is_image = kind == "image_generation_call";
    let id = object.text(if is_request { "id" } else { "call_id" });
    let name = object.text("name");
    let mut message = Message::new(json, Role::Assistant, kind.clone());
    let mut read = Vec::new();
    match id {
        Some(id) => {
            let named = ["arguments", "input", "action", "operation"];
            let arguments = object.any_of(&named);
            read.extend(arguments.map(|(name, _)| name));
            read.extend(name.is_some().then_some("name"));
            let arguments = arguments.map(|(_, json)| content::as_written(json));
            message.calls.push(Call {
                id,
                name: name.unwrap_or(kind),
                arguments: arguments.unwrap_or_default(),
                needs_answer: !is_request && !is_served(object),
                block: None,
                id_place: None,
            });
        }
        None if is_clients => {
            message.flaws.push(missing_id(path.field("call_id"), Fix::Drop(at)));
        }
        None => {
            message.bond = Bond::BuiltIn;
            read.extend(read_served(&mut message, object));
        }
    }
    if let Some(image) = object.get("result").filter(|_| is_image) {
        let size = image.str().and_then(|file| image_size(&file));
        let content = Content::Image(Image { size, ..Image::default() }, image.into());
        message.pieces.push(Piece::new(Nature::Words, content));
        read.push("result");
    }
    push_rest(object, &read, Nature::Words, &mut message.pieces);
    message
}

/// Reads what the service called by itself, and what came back. Returns the fields that say so.
fn read_served(message: &mut Message, object: &Object<'_>) -> Vec<&'static str> {
    const FIELDS: [(&str, Nature); 9] = [
        ("name", Nature::Tool),
        ("arguments", Nature::Arguments),
        ("action", Nature::Arguments),
        ("queries", Nature::Arguments),
        ("code", Nature::Arguments),
        ("output", Nature::Answer),
        ("outputs", Nature::Answer),
        ("results", Nature::Answer),
        ("error", Nature::Answer),
    ];
    for (name, nature) in FIELDS {
        if let Some(value) = object.get(name) {
            push_unknown(value, nature, &mut message.pieces);
        }
    }
    let id = object.text("id").unwrap_or_default();
    message.served.push(Served { id, block: None, is_error: object.get("error").is_some() });
    FIELDS.map(|(name, _)| name).to_vec()
}

#[cfg(test)]
mod tests {
    use crate::Format::OpenAiResponses;
    use crate::testing::{labels, pieces, read, repaired, violations};

    const USER: &str = r#"{"role":"user","content":[{"type":"input_text","text":"go"}]}"#;
    const REASONING: &str = r#"{"type":"reasoning","summary":[],"encrypted_content":"s"}"#;
    const MESSAGE: &str =
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}"#;
    const SEARCH: &str = r#"{"type":"web_search_call","id":"w","status":"completed"}"#;

    fn call(id: &str) -> String {
        format!(r#"{{"type":"function_call","call_id":"{id}","name":"f","arguments":"{{}}"}}"#)
    }

    fn output(id: &str) -> String {
        format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"1"}}"#)
    }

    fn list(items: &[&str]) -> String {
        format!("[{}]", items.join(","))
    }

    #[test]
    fn reasoning_calls_and_outputs_are_one_bundle_wherever_outputs_stand() {
        let text = list(&[
            USER,
            REASONING,
            &call("a"),
            &call("b"),
            &output("b"),
            USER,
            &output("a"),
            REASONING,
            MESSAGE,
            USER,
        ]);
        assert_eq!(
            labels(&text, OpenAiResponses),
            [
                "[0]: user",
                "[1..5, 6]: reasoning, 2 × function call, 2 tool results",
                "[5]: user",
                "[7..9]: reasoning, assistant",
                "*[9]: user",
            ]
        );
    }

    #[test]
    fn calls_of_the_service_stand_alone_unless_reasoning_led_to_them() {
        let text = list(&[USER, SEARCH, MESSAGE, USER, REASONING, SEARCH, REASONING, MESSAGE]);
        assert_eq!(
            labels(&text, OpenAiResponses),
            [
                "[0]: user",
                "[1]: web search call",
                "[2]: assistant",
                "*[3]: user",
                "[4..6]: reasoning, web search call",
                "*[6..8]: reasoning, assistant",
            ]
        );
    }

    #[test]
    fn what_refers_to_stored_items_is_pinned() {
        let reference = r#"{"type":"item_reference","id":"x"}"#;
        let text = list(&[reference, &output("a"), USER, MESSAGE, USER]);
        assert_eq!(
            labels(&text, OpenAiResponses),
            [
                "*[0]: item reference",
                "*[1]: tool result",
                "[2]: user",
                "[3]: assistant",
                "*[4]: user"
            ]
        );
        let text = format!(r#"{{"previous_response_id":"r","input":{}}}"#, list(&[&output("a")]));
        assert_eq!(labels(&text, OpenAiResponses), ["*input[0]: tool result"]);
    }

    #[test]
    fn tools_in_the_input_always_stay() {
        for kind in ["additional_tools", "tools"] {
            let tools =
                format!(r#"{{"type":"{kind}","tools":[{{"type":"function","name":"f"}}]}}"#);
            let labels = labels(&list(&[&tools, USER, MESSAGE, USER]), OpenAiResponses);
            assert!(labels[0].starts_with("*[0]: ") && !labels[1].starts_with('*'), "{labels:?}");
        }
    }

    #[test]
    fn the_output_of_a_local_shell_may_name_its_call_by_id() {
        let call =
            r#"{"type":"local_shell_call","id":"ls_1","call_id":"c_1","action":{"type":"exec"}}"#;
        for id in ["ls_1", "c_1"] {
            let output =
                format!(r#"{{"type":"local_shell_call_output","id":"{id}","output":"x"}}"#);
            let text = list(&[USER, call, &output, USER]);
            assert_eq!(violations(&text, OpenAiResponses), [""; 0], "{id}");
            assert_eq!(labels(&text, OpenAiResponses)[1], "[1..3]: local shell call, tool result");
        }
    }

    #[test]
    fn what_the_service_searched_for_itself_needs_no_answer() {
        let search =
            r#"{"type":"tool_search_call","execution":"server","call_id":null,"arguments":{}}"#;
        let found =
            r#"{"type":"tool_search_output","execution":"server","call_id":null,"tools":[]}"#;
        assert_eq!(violations(&list(&[USER, search, found, USER]), OpenAiResponses), [""; 0]);
    }

    #[test]
    fn input_may_be_a_text() {
        let text = r#"{"model":"gpt-5","instructions":"S","max_output_tokens":5,"input":"go"}"#;
        assert_eq!(
            labels(text, OpenAiResponses),
            ["*instructions: system prompt", "*input[0]: user"]
        );
        assert_eq!(read(text, OpenAiResponses).query().as_deref(), Some("go"));
    }

    #[test]
    fn approvals_belong_to_their_request() {
        let text = list(&[
            USER,
            r#"{"type":"mcp_approval_request","id":"m","name":"rm","arguments":"{}"}"#,
            r#"{"type":"mcp_approval_response","approval_request_id":"m","approve":true}"#,
            USER,
        ]);
        assert_eq!(labels(&text, OpenAiResponses)[1], "[1..3]: mcp approval request, tool result");
    }

    #[test]
    fn broken_rules_are_named_and_repaired() {
        let text = list(&[USER, REASONING, &call("a"), &output("b"), MESSAGE, REASONING, USER]);
        assert_eq!(
            violations(&text, OpenAiResponses),
            [
                "[2]: the call `a` of f has no result; add its result, or remove the call \
                 (unanswered-call)",
                "[3]: the result of `b` has no call before it; remove it, or put its call back \
                 (orphan-result)",
                "[5]: the reasoning is not followed by what it led to; put the message or call \
                 that followed it back, or remove it (reasoning-without-follower)",
            ]
        );
        let (repaired, done) = repaired(&text, OpenAiResponses);
        assert_eq!(repaired, list(&[USER, MESSAGE, USER]));
        assert_eq!(
            done,
            [
                "dropped [1], [2]: the call `a` of f has no result",
                "dropped [3]: the result of `b` has no call before it",
                "dropped [5]: the reasoning is not followed by what it led to",
            ]
        );
    }

    #[test]
    fn model_and_limit_are_read() {
        let request =
            read(r#"{"model":"gpt-5","max_output_tokens":5,"input":"go"}"#, OpenAiResponses);
        assert_eq!((request.model(), request.output_limit()), (Some("gpt-5"), Some(5)));
    }

    #[test]
    fn a_call_or_an_output_without_its_id_is_named() {
        let call = r#"{"type":"function_call","name":"f","arguments":"{}"}"#;
        let output = r#"{"type":"function_call_output","id":"x","output":"1"}"#;
        let found = violations(&list(&[USER, call, output]), OpenAiResponses);
        let paths: Vec<&str> = found.iter().map(|text| text.split(": ").next().unwrap()).collect();
        assert_eq!(paths, ["[1].call_id", "[2].call_id"], "{found:?}");
    }

    #[test]
    fn the_output_of_a_local_shell_names_its_call_by_call_id_first() {
        let call = r#"{"type":"local_shell_call","id":"l","call_id":"c","action":{}}"#;
        let output = r#"{"type":"local_shell_call_output","id":"o","call_id":"c","output":"x"}"#;
        assert_eq!(violations(&list(&[USER, call, output]), OpenAiResponses), [""; 0]);
    }

    #[test]
    fn what_the_client_need_not_answer_may_stay_unanswered() {
        let request = r#"{"type":"mcp_approval_request","id":"m","name":"rm","arguments":"{}"}"#;
        let served =
            r#"{"type":"tool_search_call","execution":"server","call_id":"t","arguments":{}}"#;
        let own = served.replace("server", "client");
        assert_eq!(violations(&list(&[USER, request, served]), OpenAiResponses), [""; 0]);
        assert_eq!(violations(&list(&[USER, &own]), OpenAiResponses).len(), 1);
    }

    #[test]
    fn system_and_developer_are_one_role() {
        use crate::message::Role;
        for (name, role) in
            [("system", Role::System), ("developer", Role::System), ("user", Role::User)]
        {
            let text = format!(r#"[{{"role":"{name}","content":"a"}}]"#);
            let request = read(&text, OpenAiResponses);
            assert_eq!(request.conversation().messages[0].role, role, "{name}");
        }
    }

    #[test]
    fn an_output_may_be_a_picture() {
        let output = |output: &str| {
            let text =
                format!(r#"{{"type":"computer_call_output","call_id":"a","output":{output}}}"#);
            pieces(&list(&[&text]), OpenAiResponses, 0)
        };
        for field in ["image_url", "file_id"] {
            let pieces = output(&format!(r#"{{"type":"computer_screenshot","{field}":"u"}}"#));
            assert_eq!(pieces[0], "Answer image, Auto", "{field}");
        }
        assert_eq!(output(r#""done""#), ["Answer: done"]);
        let image = r#"{"type":"image_generation_call","id":"i","result":"data"}"#;
        assert_eq!(pieces(&list(&[image]), OpenAiResponses, 0), ["Words image, Auto"]);
        let other = r#"{"type":"other_call","id":"i","result":"data"}"#;
        assert_eq!(pieces(&list(&[other]), OpenAiResponses, 0), ["Aside: data"]);
    }

    #[test]
    fn an_output_can_be_shortened_unless_it_is_an_object() {
        let has_body = |output: &str| {
            let text =
                format!(r#"{{"type":"function_call_output","call_id":"a","output":{output}}}"#);
            let request = read(&list(&[&text]), OpenAiResponses);
            request.conversation().messages[0].answers[0].body.is_some()
        };
        assert!(has_body(r#""text""#) && has_body("[]"));
        assert!(!has_body(r#"{"type":"computer_screenshot"}"#));
    }

    #[test]
    fn without_reasoning_calls_stay_with_each_other_and_with_the_message_before() {
        let (a, b) = (call("a"), call("b"));
        let (of_a, of_b) = (output("a"), output("b"));
        let text = list(&[USER, MESSAGE, MESSAGE, &a, &b, &of_a, &of_b, USER]);
        assert_eq!(
            labels(&text, OpenAiResponses)[1..3],
            ["[1]: assistant", "[2..7]: assistant, 2 × function call, 2 tool results"]
        );
        let text = list(&[USER, SEARCH, &a, &of_a, MESSAGE, USER]);
        assert_eq!(
            labels(&text, OpenAiResponses)[1..4],
            ["[1]: web search call", "[2..4]: function call, tool result", "[4]: assistant"]
        );
    }

    #[test]
    fn a_picture_that_the_service_made_has_its_size() {
        // The beginning of a PNG file of 2 by 1 pixels.
        let png = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAA=";
        let text = format!(r#"{{"type":"image_generation_call","id":"i","result":"{png}"}}"#);
        let request = read(&list(&[&text]), OpenAiResponses);
        let pieces = &request.conversation().messages[0].pieces;
        let crate::message::Content::Image(image, _) = &pieces[0].content else {
            panic!("no image");
        };
        assert_eq!(image.size, Some((2, 1)));
    }
}
