//! The AI SDK's `UIMessage`s, as `useChat` keeps and posts them.
//!
//! A call and its result are one part, so that no message answers another. Which provider will get them is
//! open: a message of the assistant needs the one of the user that opens its turn, as for LangChain.

use cupel_tokens::Overheads;

use super::{Dialect, content};
use crate::ChatError;
use crate::conversation::Conversation;
use crate::document::Document;
use crate::evidence::Vocabulary;
use crate::grouping::{Group, TakenApart, turns};
use crate::json::{Json, Object};
use crate::message::{Bond, Message, Nature, Served};
use crate::path::Path;
use crate::rest::{push_rest, push_unknown};
use crate::validate::{Finding, Fix};

const PARTS: [&str; 11] = [
    "text",
    "reasoning",
    "reasoning-file",
    "custom",
    "tool-*",
    "dynamic-tool",
    "source-url",
    "source-document",
    "file",
    "data-*",
    "step-start",
];

const VOCABULARY: Vocabulary = Vocabulary {
    lists: &["messages"],
    roles: &["system", "user", "assistant"],
    fields: &["parts"],
    parts: &PARTS,
    blocks: &PARTS,
    settings: &["trigger", "messageId"],
    ..Vocabulary::NONE
};

pub(crate) struct AiSdkUi;

impl Dialect for AiSdkUi {
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError> {
        let listing = document.listing(VOCABULARY.lists)?;
        let top = &listing.top;
        let mut conversation = Conversation {
            list: listing.path.to_owned(),
            model: top.text("model").map(|name| name.to_string()),
            ..Conversation::default()
        };
        conversation.read_others("", top, &["messages", "trigger", "messageId", "id"]);
        conversation.read_messages(document, listing.elements, read_message);
        Ok(conversation)
    }

    /// All that can be wrong is wrong with single messages.
    fn check(&self, _: &Conversation, _: &mut Vec<Finding>) {}

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

fn read_message(json: Json<'_>, object: &Object<'_>, at: usize, path: Path<'_>) -> Message {
    let roles = VOCABULARY.roles;
    let mut message = content::read_role(json, object, path, roles, roles);
    let body = object.get("parts");
    let path = path.field("parts");
    match body {
        None => message.flaws.push(content::missing(path, Fix::Drop(at))),
        Some(body) if !body.is_list() => {
            let text = format!("must be a list of parts, got {}", body.describe());
            message.flaws.push(Finding::new(path, "content-type", text, "give a list of parts"));
        }
        Some(_) => {}
    }
    content::read(
        &mut message,
        body,
        path,
        Nature::Words,
        &VOCABULARY,
        |message, index, _, part| read_part(message, at, path, index, part),
    );
    // `content` repeats the text of `parts` in messages of version 4.
    push_rest(object, &["parts", "content"], Nature::Words, &mut message.pieces);
    message
}

/// Takes what only this format has. Returns whether the part was such.
fn read_part(
    message: &mut Message,
    at: usize,
    path: Path<'_>,
    index: usize,
    part: &Object<'_>,
) -> bool {
    let kind = part.str("type").unwrap_or_default();
    if index == 0 && kind == "reasoning" {
        message.bond = Bond::Reasoning;
    }
    if kind == "dynamic-tool" || kind.starts_with("tool-") {
        read_call(message, at, path, index, &kind, part);
    } else if kind == "file" {
        // The file is in its address.
        return false;
    } else if kind.starts_with("data-") || kind == "step-start" {
        // No model reads what is for the screen, unless the caller converts it.
        push_rest(part, &[], Nature::Words, &mut message.pieces);
    } else if kind.starts_with("source-") {
        push_rest(part, &["sourceId", "providerMetadata"], Nature::Words, &mut message.pieces);
    } else {
        return false;
    }
    true
}

const STATES: [&str; 7] = [
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
];

fn read_call(
    message: &mut Message,
    at: usize,
    path: Path<'_>,
    index: usize,
    kind: &str,
    part: &Object<'_>,
) {
    let state = part.str("state").unwrap_or_default();
    let is_open = matches!(state.as_ref(), "input-streaming" | "input-available");
    let name = part
        .text("toolName")
        .unwrap_or_else(|| kind.strip_prefix("tool-").unwrap_or(kind).to_owned().into());
    if is_open {
        let text = format!("the call of {name} has no result");
        let remedy = "add its result, or remove the call";
        let finding = Finding::new(path.at(index), "unanswered-call", text, remedy);
        message.flaws.push(finding.fixed_by(Fix::DropBlocks(at, vec![index])));
    }
    content::push_text(&mut message.pieces, Nature::Tool, name);
    for (field, nature) in
        [("input", Nature::Arguments), ("output", Nature::Answer), ("errorText", Nature::Answer)]
    {
        if let Some(value) = part.get(field) {
            content::push_text(&mut message.pieces, nature, content::as_written(value));
        }
    }
    if let Some(input) = part.get("rawInput").filter(|_| part.get("input").is_none()) {
        push_unknown(input, Nature::Arguments, &mut message.pieces);
    }
    const READ: [&str; 12] = [
        "toolName",
        "toolCallId",
        "state",
        "input",
        "rawInput",
        "output",
        "errorText",
        "approval",
        "callProviderMetadata",
        "resultProviderMetadata",
        "providerMetadata",
        "inputEncoding",
    ];
    push_rest(part, &READ, Nature::Words, &mut message.pieces);
    if !STATES.contains(&state.as_ref()) {
        content::push_text(
            &mut message.pieces,
            Nature::Aside,
            part.text("state").unwrap_or_default(),
        );
    }
    let id = part.text("toolCallId").unwrap_or_default();
    let is_error = state.starts_with("output-error") || state == "output-denied";
    message.served.push(Served { id, block: Some(index), is_error });
}
