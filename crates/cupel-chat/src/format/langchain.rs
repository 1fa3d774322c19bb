//! LangChain message dumps, in three shapes: `messages_to_dict`, `model_dump` and `dumpd`.
//!
//! Which provider will get them is open, so the strictest rules hold: results directly follow their
//! calls, and calls follow the user or results. A dump may begin with a greeting of the model, but
//! nothing that is left out makes one begin so. Bundles are steps, and need the message that opens their
//! turn, as for Gemini.

use cupel_tokens::Overheads;

use super::openai_chat::{missing_id, read_call_list, read_legacy_call};
use super::{Dialect, content};
use crate::ChatError;
use crate::conversation::{Conversation, Fixed};
use crate::document::Document;
use crate::evidence::Vocabulary;
use crate::grouping::{Group, TakenApart, turns};
use crate::json::{Json, Object};
use crate::message::{Answer, Bond, Call, IdPlace, Message, Nature, Role};
use crate::path::Path;
use crate::rest::{push_rest, push_rest_of_assistant};
use crate::text::{JsonText, Text};
use crate::validate::Fix;

const TYPES: [&str; 6] = ["human", "ai", "system", "tool", "function", "chat"];

const VOCABULARY: Vocabulary = Vocabulary {
    // A `ChatPromptValue` has them within.
    lists: &["messages", "kwargs.messages"],
    types: &[
        "human",
        "ai",
        "system",
        "tool",
        "function",
        "chat",
        "developer",
        "remove",
        "constructor",
        "*MessageChunk",
    ],
    fields: &[
        "lc",
        "kwargs",
        "data",
        "additional_kwargs",
        "response_metadata",
        "usage_metadata",
        "tool_calls",
        "invalid_tool_calls",
        "tool_call_id",
        "function_call",
        "thinking",
    ],
    // A message has the blocks of whatever model it came from.
    blocks: &["*"],
    block_fields: &["*"],
    // And whatever tools that model takes: `bind_tools` hands them on.
    tools: &["*"],
    ..Vocabulary::NONE
};

pub(crate) struct LangChain;

impl Dialect for LangChain {
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError> {
        let listing = document.listing(VOCABULARY.lists)?;
        let top = &listing.top;
        let mut conversation = Conversation {
            list: listing.path.to_owned(),
            model: top.text("model").map(|name| name.to_string()),
            output_limit: top.get("max_tokens").and_then(Json::whole_number),
            ..Conversation::default()
        };
        if let Some(tools) = top.get("tools") {
            let tools = Fixed::tools("tools", tools, &mut conversation.flaws);
            conversation.fixed.push(tools);
        }
        conversation.read_others("", top, &["messages", "tools"]);
        conversation.read_messages(document, listing.elements, read_message);
        take_out_removed(&mut conversation);
        Ok(conversation)
    }

    fn group(&self, conversation: &Conversation, apart: TakenApart) -> Vec<Group> {
        turns(conversation, true, apart)
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    fn overheads(&self) -> Overheads {
        Overheads::openai_chat()
    }
}

/// The fields of a message, out of the shape that it was dumped in.
struct Dump<'t> {
    /// Type in the dump, as `human` or `HumanMessage`.
    native_type: Text,
    /// Where it says so.
    type_field: (&'static str, Option<Json<'t>>),
    body: Object<'t>,
    /// The object that has the fields.
    holder: Json<'t>,
    /// The path of the fields.
    path: String,
    /// True if the fields stand in the dump itself.
    is_flat: bool,
}

impl<'t> Dump<'t> {
    fn of(json: Json<'t>, object: &Object<'t>, path: Path<'_>) -> Self {
        let kwargs = object.get("kwargs").and_then(Json::object);
        let type_field = match &kwargs {
            Some(_) => {
                ("id", object.get("id").and_then(Json::list).and_then(|id| id.last().copied()))
            }
            None => ("type", object.get("type")),
        };
        let native_type = type_field.1.and_then(Json::text).unwrap_or_default();
        let data = object.get("data").and_then(Json::object);
        let is_flat = kwargs.is_none() && data.is_none();
        let field = if kwargs.is_some() { "kwargs" } else { "data" };
        let holder = if is_flat { json } else { object.get(field).unwrap_or(json) };
        let path = if is_flat { path.to_string() } else { format!("{path}.{field}") };
        let body = kwargs.or(data).unwrap_or_else(|| object.clone());
        Self { native_type, type_field, body, holder, path, is_flat }
    }

    fn role(&self) -> Role {
        let name = self.native_type.as_str();
        let name = name.strip_suffix("Chunk").unwrap_or(name);
        let name = name.strip_suffix("Message").unwrap_or(name).to_ascii_lowercase();
        match name.as_str() {
            "chat" => role_named(&self.body.text("role").unwrap_or_default()),
            name => role_named(name),
        }
    }
}

/// Id in a `RemoveMessage` that takes away all messages before it.
const ALL: &str = "__remove_all__";

/// The id that a `RemoveMessage` takes away.
fn removed_id(message: &Message) -> Option<Text> {
    matches!(message.native_role.as_str(), "remove" | "RemoveMessage").then(|| id_of(message))?
}

fn id_of(message: &Message) -> Option<Text> {
    let json = message.json.view();
    Dump::of(json, &json.object()?, Path::from("")).body.text("id")
}

/// Messages that a `RemoveMessage` takes away stay where they are, and say nothing: whoever keeps the list
/// takes them out before it is sent.
fn take_out_removed(conversation: &mut Conversation) {
    let list = Path::from(&conversation.list);
    for (at, message) in conversation.messages.iter_mut().enumerate() {
        // One that an earlier request took away may be back.
        if message.role == Role::Unknown
            && message.flaws.is_empty()
            && removed_id(message).is_none()
        {
            let json = message.json.clone();
            let object = json.view().object().unwrap_or_default();
            *message = read_message(json.view(), &object, at, list.at(at));
        }
    }
    let removals: Vec<(usize, Text)> = conversation
        .messages
        .iter()
        .enumerate()
        .filter_map(|(at, message)| Some((at, removed_id(message)?)))
        .collect();
    for (at, id) in removals {
        for message in &mut conversation.messages[..at] {
            if id == ALL || id_of(message).is_some_and(|own| *own == *id) {
                let json = message.json.clone();
                *message = Message::new(json.view(), Role::Unknown, message.native_role.clone());
            }
        }
    }
}

fn role_named(name: &str) -> Role {
    match name {
        "human" | "user" => Role::User,
        "ai" | "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        "tool" | "function" => Role::Tool,
        _ => Role::Unknown,
    }
}

fn read_message<'t>(json: Json<'t>, object: &Object<'t>, at: usize, path: Path<'_>) -> Message {
    let dump = Dump::of(json, object, path);
    let role = dump.role();
    let mut message = Message::new(json, role, dump.native_type.clone());
    if removed_id(&message).is_some() {
        return message;
    }
    if role == Role::Unknown {
        let (field, value) = dump.type_field;
        message.flaws.push(content::role_flaw(path, field, value, &TYPES));
    }
    take_notes(&mut message, &dump.body);
    let raw = dump.body.get("additional_kwargs").and_then(Json::object).unwrap_or_default();
    push_rest_of_assistant(&raw, &["tool_calls", "function_call"], &mut message.pieces);
    match role {
        Role::Assistant => read_calls(&mut message, &dump, at),
        Role::Tool => read_answer(&mut message, &dump, at),
        _ => {}
    }
    let nature = if role == Role::Tool { Nature::Answer } else { Nature::Words };
    let body = dump.body.get("content");
    let path = Path::from(&dump.path);
    let path = path.field("content");
    if body.is_none() && message.calls.is_empty() && role != Role::Unknown {
        message.flaws.push(content::missing(path, Fix::Drop(at)));
    }
    let has_calls = !message.calls.is_empty();
    content::read(&mut message, body, path, nature, &VOCABULARY, |message, index, _, block| {
        let kind = block.text("type").unwrap_or_default();
        if index == 0 && matches!(kind.as_ref(), "thinking" | "redacted_thinking" | "reasoning") {
            message.bond = Bond::Reasoning;
        }
        // Providers repeat their calls in the content; they count once.
        has_calls && matches!(kind.as_ref(), "tool_use" | "tool_call" | "function_call")
    });
    let mut read = vec!["content", "tool_calls", "invalid_tool_calls", "additional_kwargs"];
    if role != Role::Tool {
        if let Some(name) = dump.body.text("name") {
            message.speaker = Some(name);
        }
        read.push("name");
    }
    push_rest(&dump.body, &read, nature, &mut message.pieces);
    if !dump.is_flat {
        push_rest(object, &["kwargs", "data", "name", "graph"], nature, &mut message.pieces);
    }
    message
}

fn take_notes(message: &mut Message, body: &Object<'_>) {
    message.take_notes(body);
    for name in ["metadata", "additional_kwargs", "response_metadata"] {
        if let Some(object) = body.get(name).and_then(Json::object) {
            message.take_notes(&object);
        }
    }
}

fn read_answer(message: &mut Message, dump: &Dump<'_>, at: usize) {
    let is_legacy = dump.native_type.to_ascii_lowercase().starts_with("function");
    let field = if is_legacy { "name" } else { "tool_call_id" };
    let name = dump.body.text("name");
    let id = dump.body.text(field);
    if id.is_none() {
        let path = Path::from(&dump.path);
        message.flaws.push(missing_id(path.field(field), Fix::NameAnswer(at, 0)));
    }
    message.answers.push(Answer {
        id: id.unwrap_or_default(),
        name,
        block: None,
        body: dump.body.get("content").map(JsonText::from),
        is_error: content::is_failure(&dump.body),
        id_place: Some(IdPlace::new(dump.holder, field)),
    });
}

fn read_calls(message: &mut Message, dump: &Dump<'_>, at: usize) {
    let raw = dump.body.get("additional_kwargs").and_then(Json::object).unwrap_or_default();
    for (field, needs_answer) in [("tool_calls", true), ("invalid_tool_calls", false)] {
        let calls = dump.body.get(field).and_then(Json::list).unwrap_or_default();
        for (index, call) in calls.into_iter().enumerate() {
            let json = call;
            let call = json.object().unwrap_or_default();
            let id = call.text("id");
            if id.is_none() {
                let path = format!("{}.{field}[{index}].id", dump.path);
                let fix = Fix::NameCall(at, message.calls.len());
                message.flaws.extend(needs_answer.then(|| missing_id(Path::from(&path), fix)));
                if !needs_answer {
                    continue;
                }
            }
            push_rest(&call, &["name", "args"], Nature::Words, &mut message.pieces);
            message.calls.push(Call {
                id: id.unwrap_or_default(),
                name: call.text("name").unwrap_or_default(),
                arguments: call.get("args").map(content::as_written).unwrap_or_default(),
                needs_answer,
                block: None,
                id_place: Some(IdPlace::new(json, "id")).filter(|_| json.is_object()),
            });
        }
    }
    if let Some(calls) = raw.get("tool_calls").filter(|_| message.calls.is_empty()) {
        let path = format!("{}.additional_kwargs.tool_calls", dump.path);
        read_call_list(message, calls, at, Path::from(&path), true);
    }
    read_legacy_call(message, &raw);
}

#[cfg(test)]
mod tests {
    use crate::Format::LangChain;
    use crate::message::Bond;
    use crate::testing::{labels, pieces, read, repaired, violations};

    const DICTS: &str = r#"[
        {"type":"system","data":{"content":"S"}},
        {"type":"human","data":{"content":"first"}},
        {"type":"ai","data":{"content":"","tool_calls":[{"name":"f","args":{"x":1},"id":"a"}],
            "additional_kwargs":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}}},
        {"type":"tool","data":{"content":"1","tool_call_id":"a","name":"f"}},
        {"type":"ai","data":{"content":"done"}},
        {"type":"human","data":{"content":"second"}}]"#;

    const FLAT: &str = r#"{"messages":[
        {"type":"human","content":"first"},
        {"type":"AIMessageChunk","content":[{"type":"tool_use","id":"a","name":"f","input":{}}],
            "tool_calls":[{"name":"f","args":{},"id":"a"}]},
        {"type":"tool","content":"1","tool_call_id":"a"},
        {"type":"ai","content":"","invalid_tool_calls":[{"id":"b","name":"f","args":"{"}]},
        {"type":"chat","role":"user","content":"well?"}]}"#;

    const DUMPD: &str = r#"[
        {"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"go"}},
        {"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":"","tool_calls":[{"name":"f","args":{},"id":"a"}]}},
        {"lc":1,"type":"constructor","id":["langchain","schema","messages","ToolMessage"],"kwargs":{"content":"1","tool_call_id":"a"}}]"#;

    #[test]
    fn all_three_shapes_are_read() {
        assert_eq!(
            labels(DICTS, LangChain),
            [
                "*[0]: system",
                "[1]: human",
                "[2..4]: ai, tool result > [1]",
                "[4]: ai > [1]",
                "*[5]: human",
            ]
        );
        assert_eq!(
            labels(FLAT, LangChain),
            [
                "messages[0]: human",
                "messages[1..3]: AIMessageChunk, tool result > messages[0]",
                "messages[3]: ai > messages[0]",
                "*messages[4]: chat",
            ]
        );
        assert_eq!(
            labels(DUMPD, LangChain),
            ["*[0]: HumanMessage", "*[1..3]: AIMessage, tool result > [0]"]
        );
        assert_eq!(read(DUMPD, LangChain).query().as_deref(), Some("go"));
    }

    #[test]
    fn what_a_model_is_bound_to_is_read_beside_the_messages() {
        let text = r#"{"model":"claude-sonnet-4-5","max_tokens":500,"tools":[
            {"type":"function","function":{"name":"ls"}},{"google_search":{}},
            {"name":"look","input_schema":{}}],"messages":[{"type":"human","content":"go"}]}"#;
        let request = crate::Request::parse(text, None).unwrap();
        assert_eq!(request.format(), LangChain);
        assert_eq!(
            (request.model(), request.output_limit()),
            (Some("claude-sonnet-4-5"), Some(500))
        );
        assert_eq!(labels(text, LangChain), ["*tools: 3 tool definitions", "*messages[0]: human"]);
        assert_eq!(violations(text, LangChain), [""; 0]);
    }

    #[test]
    fn a_dump_may_begin_with_a_greeting() {
        let text = r#"[{"type":"ai","content":"Hello!"},{"type":"human","content":"a"},
            {"type":"ai","content":"b"},{"type":"human","content":"c"}]"#;
        assert_eq!(violations(text, LangChain), [""; 0]);
        assert_eq!(
            labels(text, LangChain),
            ["[0]: ai", "[1]: human", "[2]: ai > [1]", "*[3]: human"]
        );
    }

    #[test]
    fn broken_rules_are_named() {
        let text = r#"[{"type":"ai","content":"hi"},{"type":"humn","content":"x"},
            {"type":"tool","content":"1","tool_call_id":"a"}]"#;
        assert_eq!(
            violations(text, LangChain),
            [
                "[1].type: unknown role \"humn\"; did you mean `human`? (unknown-role)",
                "[2]: the result of `a` has no call before it; remove it, or put its call back \
                 (orphan-result)",
            ]
        );
    }

    #[test]
    fn a_result_with_the_id_of_no_call_is_given_to_the_call_before_it() {
        let text = DUMPD.replace("\"tool_call_id\":\"a\"", "\"tool_call_id\":\"b\"");
        let (repaired, done) = repaired(&text, LangChain);
        assert_eq!(done.len(), 1);
        assert_eq!(repaired, DUMPD);
    }

    #[test]
    fn what_stands_beside_the_body_counts_once_in_every_shape() {
        for text in [
            r#"[{"type":"human","content":"go","caption":"words"}]"#,
            r#"[{"type":"human","data":{"content":"go","caption":"words"}}]"#,
            r#"[{"type":"human","data":{"content":"go"},"caption":"words"}]"#,
            r#"[{"id":["HumanMessage"],"kwargs":{"content":"go"},"caption":"words"}]"#,
        ] {
            assert_eq!(pieces(text, LangChain, 0), ["Words: go", "Aside: words"], "{text}");
        }
    }

    #[test]
    fn what_is_removed_says_nothing() {
        let text = r#"[{"type":"human","data":{"content":"a b c","id":"1"}},
            {"type":"ai","data":{"content":"d e f","id":"2"}},
            {"type":"remove","data":{"content":"","id":"1"}},
            {"type":"human","data":{"content":"g","id":"3"}}]"#;
        assert_eq!(violations(text, LangChain), [""; 0]);
        assert_eq!(pieces(text, LangChain, 0), [""; 0]);
        assert_eq!(pieces(text, LangChain, 1), ["Words: d e f"]);
        let all = text.replace(
            r#""id":"1"}},
            {"type":"human""#,
            r#""id":"__remove_all__"}},
            {"type":"human""#,
        );
        assert_eq!(pieces(&all, LangChain, 1), [""; 0]);
        assert_eq!(pieces(&all, LangChain, 3), ["Words: g"]);
    }

    #[test]
    fn a_message_without_content_is_named_once() {
        assert_eq!(
            violations(r#"[{"type":"human"}]"#, LangChain),
            ["[0].content: is required; add it, or remove the message (missing-content)"]
        );
        let unknown = violations(r#"[{"type":"humn"}]"#, LangChain);
        assert_eq!(unknown.len(), 1, "{unknown:?}");
        assert!(unknown[0].ends_with("(unknown-role)"));
    }

    #[test]
    fn a_call_that_the_content_repeats_counts_once() {
        let message = |calls: &str| {
            format!(
                r#"[{{"type":"ai","content":[{{"type":"text","text":"I look."}},
                {{"type":"tool_use","id":"a","name":"f","input":{{"x":1}}}}]{calls}}}]"#
            )
        };
        let called = message(r#","tool_calls":[{"id":"a","name":"f","args":{"x":1}}]"#);
        assert_eq!(pieces(&called, LangChain, 0), ["Words: I look."]);
        let uncalled = pieces(&message(""), LangChain, 0);
        assert_eq!(uncalled, ["Words: I look.", "Tool: f", r#"Arguments: {"x":1}"#]);
    }

    #[test]
    fn a_message_reasons_if_it_begins_with_that() {
        let bond = |blocks: &str| {
            let text = format!(r#"[{{"type":"ai","content":[{blocks}]}}]"#);
            read(&text, LangChain).conversation().messages[0].bond
        };
        let text = r#"{"type":"text","text":"so"}"#;
        for kind in ["thinking", "redacted_thinking", "reasoning"] {
            let thought = format!(r#"{{"type":"{kind}"}}"#);
            assert_eq!(bond(&format!("{thought},{text}")), Bond::Reasoning, "{kind}");
            assert_eq!(bond(&format!("{text},{thought}")), Bond::None, "{kind}");
        }
        assert_eq!(bond(text), Bond::None);
    }

    #[test]
    fn a_name_is_the_speakers_unless_a_tool_answers() {
        let text = DICTS.replace(r#""content":"first""#, r#""content":"first","name":"Ann""#);
        let request = read(&text, LangChain);
        let messages = &request.conversation().messages;
        assert!(messages[1].speaker.as_ref().is_some_and(|name| name == "Ann"));
        assert!(messages[3].speaker.is_none());
        assert_eq!(pieces(&text, LangChain, 1), ["Words: first"]);
        assert_eq!(pieces(&text, LangChain, 3), ["Answer: 1", "Answer: f"]);
    }

    #[test]
    fn notes_are_read_wherever_they_stand() {
        for field in ["metadata", "additional_kwargs", "response_metadata"] {
            let text = format!(
                r#"[{{"type":"human","content":"a","{field}":{{"annotations":{{"priority":0.5}}}}}}]"#
            );
            let request = read(&text, LangChain);
            assert_eq!(request.conversation().messages[0].notes.priority, Some(50), "{field}");
        }
        let own = r#"[{"type":"human","content":"a","annotations":{"priority":0.5}}]"#;
        assert_eq!(read(own, LangChain).conversation().messages[0].notes.priority, Some(50));
    }
}
