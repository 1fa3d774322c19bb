//! What a bundle is to the pipeline: its text, kind, tags and the rest.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use cupel::{ContextItem, ContextItemBuilder, ContextKind, ContextSource, CupelError};
use foldhash::quality::RandomState;

use crate::annotations::Notes;
use crate::conversation::{Conversation, Fixed, FixedPart};
use crate::file::Opened;
use crate::grouping::Group;
use crate::json::Json;
use crate::message::{Content, Message, Piece, Role};
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
    let item = ContextItemBuilder::new(or_path(content, &fixed.path), weight.total)
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
    let content = or_place(content(members()), conversation, &group.messages);
    let mut item = ContextItemBuilder::new(content, weight.total)
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
) -> String {
    let content = written(members(conversation, messages), &mut instead);
    or_place(content, conversation, messages)
}

/// What the model reads in these messages, line by line; calls as name and arguments.
pub(crate) fn content<'m>(messages: impl Iterator<Item = &'m Message>) -> String {
    written(messages, &mut |_| None)
}

fn written<'m>(
    messages: impl Iterator<Item = &'m Message>,
    instead: &mut dyn FnMut(&Piece) -> Option<String>,
) -> String {
    let mut content = String::new();
    for message in messages {
        for piece in &message.pieces {
            match instead(piece) {
                Some(text) => push_line(&mut content, &text),
                None => push_pieces(&mut content, std::slice::from_ref(piece)),
            }
        }
        for call in &message.calls {
            push_line(&mut content, &call.name);
            content.push(' ');
            content.push_str(&call.arguments);
        }
    }
    content
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
