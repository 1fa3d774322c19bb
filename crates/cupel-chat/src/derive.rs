//! Fields of a bundle's item: its text, kind, tags and the rest.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use cupel::{
    ContextItem, ContextItemBuilder, ContextKind, ContextSource, CupelError, Part, PartKind,
    Speaker,
};
use foldhash::quality::RandomState;

use crate::annotations::Notes;
use crate::conversation::{Conversation, Fixed, FixedPart};
use crate::file::Opened;
use crate::grouping::Group;
use crate::json::Json;
use crate::message::{Answer, Content, Message, Nature, Piece, Role};
use crate::weigh::Weight;

/// The kind of tool definitions.
const TOOL_DEFINITION: &str = "ToolDefinition";

/// The item of a fixed part.
pub(crate) fn fixed_item(
    fixed: &Fixed,
    weight: Weight,
    time: Option<DateTime<Utc>>,
) -> Result<ContextItem, CupelError> {
    let mut content = String::new();
    push_pieces(&mut content, &fixed.pieces);
    for definition in &fixed.definitions {
        push_line(&mut content, definition.view().raw());
    }
    let kind = match fixed.part {
        FixedPart::Instructions | FixedPart::Other => ContextKind::system_prompt(),
        FixedPart::Tools => ContextKind::new(TOOL_DEFINITION)?,
    };
    let said = Part { range: 0..content.len(), kind: PartKind::Said { by: Speaker::System } };
    let parts = if fixed.part == FixedPart::Instructions { vec![said] } else { Vec::new() };
    let item = ContextItemBuilder::new(or_path(content, &fixed.path), weight.total)
        .parts(parts)
        .kind(kind)
        .tags(vec![format!("role:{}", fixed.part.role())])
        .pinned(true);
    at(item, time).build()
}

/// The item of a bundle.
pub(crate) fn group_item(
    conversation: &Conversation,
    group: &Group,
    weight: Weight,
    time: Option<DateTime<Utc>>,
) -> Result<ContextItem, CupelError> {
    let members = || members(conversation, &group.messages);
    let mut notes = Notes::default();
    for message in members() {
        notes.merge(&message.notes);
    }
    if let Some((message, item)) = members().find_map(|m| Some((m, m.item.as_ref()?))) {
        let is_counted = !message.pieces.is_empty();
        let tokens = if is_counted { weight.total } else { item.tokens() };
        return supplied_item(item, tokens, group.pin.is_some(), &notes, time);
    }
    let has_answers = members().any(|message| !message.answers.is_empty());
    let source = if has_answers {
        ContextSource::new(ContextSource::TOOL)?
    } else {
        ContextSource::default()
    };
    let text = TypedText::of(members(), &mut |_| None);
    let content = or_place(text.content, conversation, &group.messages);
    let mut item = ContextItemBuilder::new(content, weight.total)
        .parts(text.parts)
        .kind(kind(members(), weight))
        .source(source)
        .tags(tags(members(), &notes))
        .pinned(group.pin.is_some());
    if let Some(priority) = notes.priority {
        item = item.priority(priority);
    }
    at(item, time).build()
}

/// The messages at these places.
fn members<'m>(
    conversation: &'m Conversation,
    places: &[usize],
) -> impl Iterator<Item = &'m Message> + Clone {
    places.iter().map(|at| &conversation.messages[*at])
}

/// An item of Cupel's own format: as it is, with what annotations add to it.
fn supplied_item(
    item: &ContextItem,
    tokens: i64,
    pinned: bool,
    notes: &Notes,
    time: Option<DateTime<Utc>>,
) -> Result<ContextItem, CupelError> {
    let mut tags = item.tags().to_vec();
    tags.extend(note_tags(notes));
    let mut built = ContextItemBuilder::new(item.content(), tokens)
        .kind(item.kind().clone())
        .source(item.source().clone())
        .tags(tags)
        .metadata(item.metadata().clone())
        .pinned(pinned);
    if let Some(priority) = item.priority().or(notes.priority) {
        built = built.priority(priority);
    }
    if let Some(hint) = item.future_relevance_hint() {
        built = built.future_relevance_hint(hint);
    }
    if let Some(tokens) = item.original_tokens() {
        built = built.original_tokens(tokens);
    }
    if let Some(name) = item.rendered_as() {
        built = built.rendered_as(name);
    }
    built = built.renderings(item.renderings().to_vec());
    at(built, time).build()
}

fn at(item: ContextItemBuilder, time: Option<DateTime<Utc>>) -> ContextItemBuilder {
    match time {
        Some(time) => item.timestamp(time),
        None => item,
    }
}

/// The text of these messages, with other words where `instead` has some.
pub(crate) fn content_with(
    conversation: &Conversation,
    messages: &[usize],
    mut instead: impl FnMut(&Piece) -> Option<String>,
) -> TypedText {
    let text = TypedText::of(members(conversation, messages), &mut instead);
    TypedText { content: or_place(text.content, conversation, messages), ..text }
}

/// Text that the model reads in these messages, line by line; calls as name and arguments.
pub(crate) fn content<'m>(messages: impl Iterator<Item = &'m Message>) -> String {
    TypedText::of(messages, &mut |_| None).content
}

/// A text as one item has it, and what its stretches are.
#[derive(Default)]
pub(crate) struct TypedText {
    pub(crate) content: String,
    pub(crate) parts: Vec<Part>,
}

impl TypedText {
    fn of<'m>(
        messages: impl Iterator<Item = &'m Message>,
        instead: &mut dyn FnMut(&Piece) -> Option<String>,
    ) -> Self {
        let mut text = Self::default();
        for message in messages {
            for piece in &message.pieces {
                let before = text.content.len();
                match instead(piece) {
                    Some(other) => push_line(&mut text.content, &other),
                    None => push_pieces(&mut text.content, std::slice::from_ref(piece)),
                }
                text.close_piece(before, message, piece);
            }
            if !message.answers.is_empty() {
                text.close_silent(message);
            }
            for call in &message.calls {
                let before = text.content.len();
                push_line(&mut text.content, &call.name);
                let tool = text.content.len() - call.name.len()..text.content.len();
                text.content.push(' ');
                text.content.push_str(&call.arguments);
                let arguments = tool.end + 1..text.content.len();
                text.close(before, PartKind::Called { tool, id: (*call.id).into(), arguments });
            }
        }
        text
    }

    /// Ends the part that a piece is.
    fn close_piece(&mut self, before: usize, message: &Message, piece: &Piece) {
        let end = self.content.len();
        let start = if before == 0 { 0 } else { before + 1 };
        let kind = match piece.nature {
            Nature::Words if matches!(piece.content, Content::Text(_)) => {
                PartKind::Said { by: speaker(message.role) }
            }
            Nature::Thought => PartKind::Thought,
            Nature::Tool => {
                let id = served(message, piece).0;
                PartKind::Called { tool: start..end, id, arguments: end..end }
            }
            Nature::Arguments => match self.parts.last_mut() {
                // The name of the tool stands right before them.
                Some(Part { range, kind: PartKind::Called { arguments, .. } })
                    if arguments.start == arguments.end && range.end == before && start < end =>
                {
                    (*arguments, range.end) = (start..end, end);
                    return;
                }
                _ => {
                    let id = served(message, piece).0;
                    PartKind::Called { tool: start..start, id, arguments: start..end }
                }
            },
            Nature::Answer => {
                let (call, is_error) = match answer_of(message, piece) {
                    Some(answer) => (Box::from(&*answer.id), answer.is_error),
                    None => served(message, piece),
                };
                PartKind::Returned { call, is_error }
            }
            Nature::Words | Nature::Document => PartKind::Attached,
            Nature::Aside => PartKind::Beside,
        };
        self.close(before, kind);
    }

    /// Adds an empty part for each result of a message that says nothing: it came back all the same.
    fn close_silent(&mut self, message: &Message) {
        let end = self.content.len();
        let says = |piece: &&Piece| {
            let is_empty = matches!(&piece.content, Content::Text(text) if text.is_empty());
            piece.nature == Nature::Answer && !is_empty
        };
        let mut blocks: Vec<_> =
            message.pieces.iter().filter(says).map(|piece| piece.block).collect();
        blocks.sort_unstable();
        for answer in &message.answers {
            let is_silent = match answer.block {
                None => blocks.is_empty(),
                own => blocks.binary_search(&own).is_err(),
            };
            if is_silent {
                let (call, is_error) = (Box::from(&*answer.id), answer.is_error);
                let kind = PartKind::Returned { call, is_error };
                self.parts.push(Part { range: end..end, kind });
            }
        }
    }

    /// Ends a part that began where the text ended before, or behind the break of the line.
    fn close(&mut self, before: usize, kind: PartKind) {
        let start = if before == 0 { 0 } else { before + 1 };
        if start < self.content.len() {
            self.parts.push(Part { range: start..self.content.len(), kind });
        }
    }
}

/// The answer that a piece belongs to: that of its block, or the only one.
fn answer_of<'m>(message: &'m Message, piece: &Piece) -> Option<&'m Answer> {
    // Blocks are read in order.
    let own = message.answers.binary_search_by_key(&piece.block, |answer| answer.block);
    own.map_or_else(|_| message.answers.first(), |at| message.answers.get(at))
}

/// The id of the call that a piece belongs to and whether it failed, where the service answers it.
fn served(message: &Message, piece: &Piece) -> (Box<str>, bool) {
    let own = message.served.binary_search_by_key(&piece.block, |served| served.block);
    let own = own.ok().map(|at| &message.served[at]);
    (
        own.map(|served| Box::from(&*served.id)).unwrap_or_default(),
        own.is_some_and(|own| own.is_error),
    )
}

fn speaker(role: Role) -> Speaker {
    match role {
        Role::System => Speaker::System,
        Role::User => Speaker::User,
        Role::Assistant => Speaker::Assistant,
        Role::Tool => Speaker::Tool,
        Role::Unknown => Speaker::Other,
    }
}

fn push_pieces(content: &mut String, pieces: &[Piece]) {
    for piece in pieces {
        match &piece.content {
            Content::Text(text) => push_line(content, text),
            Content::Image(_, json) => push_line(content, &named("image", json.view())),
            Content::File(file, json) => match file.open() {
                Opened::Text(text) => push_line(content, text),
                Opened::Attachment(_) => push_line(content, &named("attachment", json.view())),
            },
            Content::Opaque(json) => push_line(content, &named("attachment", json.view())),
        }
    }
}

fn push_line(content: &mut String, line: &str) {
    if !content.is_empty() {
        content.push('\n');
    }
    content.push_str(line);
}

/// A name for something that has no text, different for different things: equal texts are
/// duplicates to the pipeline.
fn named(what: &str, json: Json<'_>) -> String {
    let digest = json.raw().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("({what} {digest:016x})")
}

/// An item needs a text; where the messages have none, their place stands in.
fn or_place(content: String, conversation: &Conversation, messages: &[usize]) -> String {
    if !content.is_empty() {
        return content;
    }
    or_path(content, &messages.first().map(|at| conversation.path(*at)).unwrap_or_default())
}

fn or_path(content: String, path: &str) -> String {
    if content.is_empty() { format!("(empty {path})") } else { content }
}

/// A bundle with answers of tools is tool output, unless the user speaks in it too: then it is what
/// most of its tokens are.
fn kind<'m>(
    mut messages: impl Iterator<Item = &'m Message> + Clone,
    weight: Weight,
) -> ContextKind {
    let has_answers = messages.clone().any(|message| !message.answers.is_empty());
    let has_user = messages.clone().any(Message::opens_turn);
    let half = weight.total / 2;
    if messages.any(|message| message.role == Role::System) {
        ContextKind::system_prompt()
    } else if has_answers && !has_user || weight.answers > half {
        ContextKind::tool_output()
    } else if weight.documents > half {
        ContextKind::document()
    } else {
        ContextKind::message()
    }
}

/// Roles, speakers, tools and calls, each once, in order of appearance; then what notes add.
fn tags<'m>(messages: impl Iterator<Item = &'m Message>, notes: &Notes) -> Vec<String> {
    let mut has_role = [false; Role::COUNT];
    let mut seen: HashSet<(&str, &str), RandomState> = HashSet::default();
    // Most have their role alone.
    let mut tags = Vec::with_capacity(1);
    for message in messages {
        let answers = (!message.answers.is_empty()).then_some(Role::Tool);
        for role in [message.role].into_iter().chain(answers) {
            if !std::mem::replace(&mut has_role[role as usize], true) {
                tags.push(role.tag().to_owned());
            }
        }
        let mut push = |name: &'static str, value: &'m str| {
            if !value.is_empty() && seen.insert((name, value)) {
                tags.push([name, ":", value].concat());
            }
        };
        push("speaker", message.speaker.as_deref().unwrap_or_default());
        for call in &message.calls {
            push("tool", &call.name);
            push("call", &call.id);
        }
        for answer in &message.answers {
            push("tool", answer.name.as_deref().unwrap_or_default());
            push("call", &answer.id);
        }
    }
    tags.extend(note_tags(notes));
    tags
}

fn note_tags(notes: &Notes) -> impl Iterator<Item = String> {
    let audience = notes.audience.iter().map(|name| format!("audience:{name}"));
    audience.chain(notes.session.iter().map(|id| format!("session:{id}")))
}

#[cfg(test)]
mod tests {
    use cupel::{ContextItem, PartKind, Speaker};

    use crate::testing::{Words, read};
    use crate::{CandidateOptions, Format};

    fn items(text: &str, format: Format) -> Vec<ContextItem> {
        let candidates = read(text, format).candidates(&Words, &CandidateOptions::default());
        candidates.unwrap().items().to_vec()
    }

    /// Each part as `kind text`.
    fn parts(item: &ContextItem) -> Vec<String> {
        let text = item.content();
        let shown = |part: &cupel::Part| match &part.kind {
            PartKind::Said { by: Speaker::User } => format!("user {}", part.of(text)),
            PartKind::Said { .. } => format!("said {}", part.of(text)),
            PartKind::Thought => format!("thought {}", part.of(text)),
            PartKind::Called { tool, id, arguments } => {
                format!("called {} {id} {}", &text[tool.clone()], &text[arguments.clone()])
            }
            PartKind::Returned { call, is_error } => {
                format!("returned {call} {is_error} {}", part.of(text))
            }
            PartKind::Attached => format!("attached {}", part.of(text)),
            _ => format!("beside {}", part.of(text)),
        };
        item.parts().iter().map(shown).collect()
    }

    #[test]
    fn a_result_that_prints_a_call_is_a_result() {
        let items = items(
            r#"[{"role":"user","content":"go"},
            {"role":"assistant","content":"I run it.","tool_calls":[{"id":"c1","function":{"name":"run","arguments":"{\"cmd\": \"make\"}"}}]},
            {"role":"tool","tool_call_id":"c1","content":"run {\"cmd\": \"ls\"}\nok"},
            {"role":"user","content":"and?"}]"#,
            Format::OpenAiChat,
        );
        assert_eq!(parts(&items[0]), ["user go"]);
        let expected = [
            "said I run it.",
            r#"called run c1 {"cmd": "make"}"#,
            "returned c1 false run {\"cmd\": \"ls\"}\nok",
        ];
        assert_eq!(parts(&items[1]), expected);
    }

    #[test]
    fn results_of_one_message_know_their_calls_and_whether_they_failed() {
        let items = items(
            r#"[{"role":"user","content":"go"},
            {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},
              {"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"g","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"one"},
              {"type":"tool_result","tool_use_id":"b","content":"two","is_error":true},{"type":"text","text":"go on"}]}]"#,
            Format::Anthropic,
        );
        let all: Vec<String> = items.iter().flat_map(parts).collect();
        for expected in ["thought hm", "called f a {}", "called g b {}", "user go on"] {
            assert!(all.iter().any(|part| part == expected), "{expected}: {all:?}");
        }
        assert!(all.contains(&"returned a false one".to_owned()), "{all:?}");
        assert!(all.contains(&"returned b true two".to_owned()), "{all:?}");
    }

    /// The parts of all items but tool definitions, in order.
    fn all_parts(text: &str, format: Format) -> Vec<String> {
        items(text, format).iter().flat_map(parts).collect()
    }

    #[test]
    fn chat_servers_put_reasoning_beside_the_content() {
        let text = r#"[{"role":"system","content":"S"},
            {"role":"user","content":[{"type":"text","text":"go"},{"type":"image_url","image_url":{"url":"u"}}]},
            {"role":"assistant","reasoning_content":"hm","refusal":"no","content":"yes","odd":"field",
              "tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"c","content":""}]"#;
        let parts = all_parts(text, Format::OpenAiChat);
        assert!(parts[2].starts_with("attached (image"), "{parts:?}");
        let expected = [
            "said yes",
            "thought hm",
            "said no",
            "beside field",
            "called f c {}",
            "returned c false ",
        ];
        assert_eq!(parts[..2], ["said S", "user go"]);
        assert_eq!(parts[3..], expected);
    }

    #[test]
    fn calls_that_anthropic_answers_itself_are_calls() {
        let text = r#"{"system":"S","messages":[{"role":"user","content":"go"},
            {"role":"assistant","content":[
              {"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}},
              {"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","title":"T","url":"u"}]},
              {"type":"mcp_tool_use","id":"m1","name":"echo","server_name":"srv","input":{}},
              {"type":"mcp_tool_result","tool_use_id":"m1","is_error":true,"content":[{"type":"text","text":"bad"}]},
              {"type":"server_tool_use","id":"s2","name":"web_search","input":{}},
              {"type":"web_search_tool_result","tool_use_id":"s2","content":{"type":"web_search_tool_result_error","error_code":"x"}},
              {"type":"text","text":"done"}]},
            {"role":"user","content":[{"type":"document","source":{"type":"text","data":"D"}},{"type":"text","text":"well?"}]}]}"#;
        let expected = [
            "said S",
            "user go",
            r#"called web_search s1 {"query":"q"}"#,
            "returned s1 false T",
            "called echo m1 {}",
            "beside srv",
            "returned m1 true bad",
            "called web_search s2 {}",
            "returned s2 true x",
            "said done",
            "attached D",
            "user well?",
        ];
        assert_eq!(all_parts(text, Format::Anthropic), expected);
    }

    #[test]
    fn calls_that_the_responses_service_answers_itself_are_calls() {
        let text = r#"{"instructions":"S","input":[{"role":"user","content":[{"type":"input_text","text":"go"}]},
            {"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"e"},
            {"type":"web_search_call","id":"w","status":"completed","action":{"type":"search","query":"q"}},
            {"type":"mcp_call","id":"m","arguments":"{\"a\":1}","name":"roll","output":"4","server_label":"srv"},
            {"type":"mcp_call","id":"n","arguments":"{}","name":"roll","error":"lost","output":null},
            {"type":"code_interpreter_call","id":"c","code":"1+1","outputs":[{"type":"logs","logs":"2"}]},
            {"type":"function_call","call_id":"f1","name":"f","arguments":"{}"},
            {"type":"function_call_output","call_id":"f1","output":"one"},
            {"role":"user","content":"well?"}]}"#;
        let expected = [
            "said S",
            "user go",
            "thought hm",
            r#"called  w {"query":"q"}"#,
            r#"called roll m {"a":1}"#,
            "returned m false 4",
            "beside srv",
            "called roll n {}",
            "returned n true lost",
            "called  c 1+1",
            r#"returned c false [{"logs":"2"}]"#,
            "called f f1 {}",
            "returned f1 false one",
            "user well?",
        ];
        assert_eq!(all_parts(text, Format::OpenAiResponses), expected);
    }

    #[test]
    fn thoughts_and_code_of_gemini_are_told_from_words() {
        let text = r#"[{"role":"user","parts":[{"text":"go"},{"inlineData":{"mimeType":"application/pdf","data":"JVBERg=="}}]},
            {"role":"model","parts":[{"text":"hm","thought":true},{"text":"I run it."},
              {"executableCode":{"language":"PYTHON","code":"1/0"}},
              {"codeExecutionResult":{"outcome":"OUTCOME_FAILED","output":"division"}},
              {"functionCall":{"name":"f","args":{"x":1}}},{"functionCall":{"name":"g","args":{}}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"one"}}},
              {"functionResponse":{"name":"g","response":{"error":"lost"}}}]}]"#;
        let parts = all_parts(text, Format::Gemini);
        assert_eq!(parts[..2], ["user go", "attached %PDF"]);
        let expected = [
            "thought hm",
            "said I run it.",
            r#"called   {"language":"PYTHON","code":"1/0"}"#,
            r#"returned  true {"outcome":"OUTCOME_FAILED","output":"division"}"#,
            r#"called f  {"x":1}"#,
            "called g  {}",
            "returned  false f",
            r#"returned  false {"output":"one"}"#,
            "returned  true g",
            r#"returned  true {"error":"lost"}"#,
        ];
        assert_eq!(parts[2..], expected);
    }

    #[test]
    fn langchain_says_what_failed_and_what_was_thought() {
        let text = r#"[{"type":"human","content":"go"},
            {"type":"ai","content":[{"type":"reasoning","reasoning":"hm"},{"type":"reasoning","summary":[{"type":"summary_text","text":"so"}]},
              {"type":"server_tool_call","id":"s","name":"search","args":{"q":1}},
              {"type":"server_tool_result","tool_call_id":"s","status":"error","content":"none"},{"type":"text","text":"ok"}],
              "additional_kwargs":{"reasoning_content":"deep"},"tool_calls":[{"name":"f","args":{},"id":"a"}]},
            {"type":"tool","content":"lost","tool_call_id":"a","status":"error"}]"#;
        let expected = [
            "user go",
            "thought deep",
            "thought hm",
            r#"thought [{"text":"so"}]"#,
            r#"called search s {"q":1}"#,
            "returned s true none",
            "said ok",
            "called f a {}",
            "returned a true lost",
        ];
        assert_eq!(all_parts(text, Format::LangChain), expected);
    }
}
