//! Amazon Bedrock Converse.
//!
//! The user begins, roles alternate, and every `toolUse` is answered by the message that follows. So the user's
//! words go with the answer that ends their turn, and each step between them, calls and their results, may go by
//! itself: both sides of it are the user's and the assistant's in turn.

use cupel_tokens::{Overheads, TokenizerFamily};

use super::openai_chat::missing_id;
use super::{Dialect, content};
use crate::ChatError;
use crate::conversation::{Conversation, Fixed};
use crate::document::Document;
use crate::evidence::Vocabulary;
use crate::grouping::{Group, PinReason, TakenApart, turns};
use crate::json::{Json, Object};
use crate::message::{Answer, Bond, Call, IdPlace, Message, Nature, Piece, Role, Served};
use crate::pairing::{IdScope, check_unique_ids};
use crate::path::Path;
use crate::rest::{push_rest, push_unknown};
use crate::text::JsonText;
use crate::validate::{Finding, Fix};

const VOCABULARY: Vocabulary = Vocabulary {
    lists: &["messages"],
    // Tools come and go in messages of the system, which stand behind the user's.
    roles: &["user", "assistant", "system"],
    first: &["user", "assistant"],
    block_fields: &[
        "text",
        "toolUse",
        "toolResult",
        "image",
        "document",
        "video",
        "audio",
        "cachePoint",
        "reasoningContent",
        "guardContent",
        "citationsContent",
        "searchResult",
        "toolAddition",
        "toolRemoval",
    ],
    settings: &[
        "additionalModelRequestFields",
        "additionalModelResponseFieldPaths",
        "guardrailConfig",
        "outputConfig",
        "performanceConfig",
        "promptVariables",
        "requestMetadata",
        "serviceTier",
        "system",
    ],
    own_settings: &["modelId", "inferenceConfig", "toolConfig"],
    ..Vocabulary::NONE
};

pub(crate) struct Bedrock;

impl Dialect for Bedrock {
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError> {
        let listing = document.listing(&["messages"])?;
        let top = &listing.top;
        let limit = top.get("inferenceConfig").and_then(|config| config.at_path("maxTokens"));
        let mut conversation = Conversation {
            list: listing.path.to_owned(),
            model: top.text("modelId").map(|name| name.to_string()),
            output_limit: limit.and_then(Json::whole_number),
            ..Conversation::default()
        };
        if let Some(system) = top.get("system") {
            conversation.fixed.push(Fixed::instructions("system", system));
        }
        let config = top.get("toolConfig").and_then(Json::object).unwrap_or_default();
        if let Some(tools) = config.get("tools") {
            let mut tools = Fixed::tools("toolConfig.tools", tools, &mut conversation.flaws);
            // A point of the cache defines nothing.
            tools.definitions.retain(|tool| tool.view().at_path("cachePoint").is_none());
            conversation.fixed.push(tools);
        }
        let read = ["messages", "system", "toolConfig", "modelId", "inferenceConfig"];
        conversation.read_others("", top, &read);
        conversation.read_messages(document, listing.elements, read_message);
        Ok(conversation)
    }

    fn check(&self, conversation: &Conversation, findings: &mut Vec<Finding>) {
        check_roles(conversation, findings);
        check_unique_ids(conversation, IdScope::Message, findings);
        conversation.pairing().check(conversation, true, findings);
    }

    fn group(&self, conversation: &Conversation, apart: TakenApart) -> Vec<Group> {
        with_endings(conversation, turns(conversation, false, apart))
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    /// Most who use it speak to Claude.
    fn overheads(&self) -> Overheads {
        Overheads::anthropic()
    }

    fn implied_family(&self) -> Option<TokenizerFamily> {
        Some(TokenizerFamily::Claude)
    }
}

/// Joins what the assistant says at the end of a turn to the message that opens it: without either, two
/// messages of one role would meet. The last turn may end as it does.
fn with_endings(conversation: &Conversation, groups: Vec<Group>) -> Vec<Group> {
    let messages = &conversation.messages;
    let last_opening = messages.iter().rposition(Message::opens_turn);
    let mut joined: Vec<Group> = Vec::with_capacity(groups.len());
    let mut opening: Option<usize> = None;
    for group in groups {
        let first = group.messages.first().copied().unwrap_or_default();
        let ends = group.messages.last().is_some_and(|at| messages[*at].role == Role::Assistant);
        if messages[first].opens_turn() {
            opening = Some(joined.len());
            joined.push(group);
        } else if let Some(home) = opening.filter(|_| ends && Some(first) < last_opening) {
            joined[home].take_in(group);
        } else {
            joined.push(group);
        }
    }
    joined
}

/// The user begins, and nobody speaks twice in a row.
fn check_roles(conversation: &Conversation, findings: &mut Vec<Finding>) {
    let messages = &conversation.messages;
    let mut before = None;
    for (at, message) in messages.iter().enumerate() {
        if message.role == Role::System {
            continue;
        }
        let before = before.replace(message.role);
        let path = conversation.path(at);
        if before.is_none() && message.role == Role::Assistant {
            let text = "the first message must be the user's, not of role assistant";
            let remedy = "begin with a message of the user";
            let finding = Finding::new(path, "first-not-user", text, remedy);
            findings.push(finding.fixed_by(Fix::Drop(at)));
        } else if before == Some(message.role) && message.role != Role::Unknown {
            let text = format!("two messages of role {} in a row", message.native_role);
            let remedy = "join the two messages";
            findings.push(Finding::new(path, "roles-alternate", text, remedy));
        }
    }
}

fn read_message(json: Json<'_>, object: &Object<'_>, at: usize, path: Path<'_>) -> Message {
    let roles = VOCABULARY.roles;
    let mut message = content::read_role(json, object, path, roles, roles);
    let body = object.get("content");
    let path = path.field("content");
    match body {
        None => message.flaws.push(content::missing(path, Fix::Drop(at))),
        Some(body) if !body.is_list() => {
            let text = format!("must be a list of blocks, got {}", body.describe());
            message.flaws.push(Finding::new(path, "content-type", text, "give a list of blocks"));
        }
        Some(_) => {}
    }
    content::read(
        &mut message,
        body,
        path,
        Nature::Words,
        &VOCABULARY,
        |message, index, _, block| read_block(message, at, path, index, block),
    );
    push_rest(object, &["content"], Nature::Words, &mut message.pieces);
    message
}

/// Reads a block, whose one field says what it is. Returns whether it is known.
fn read_block(
    message: &mut Message,
    at: usize,
    path: Path<'_>,
    index: usize,
    block: &Object<'_>,
) -> bool {
    let Some((name, json)) = block.any_of(VOCABULARY.block_fields) else { return false };
    let body = json.object().unwrap_or_default();
    match name {
        "toolUse" | "toolResult" => {
            read_exchange(message, at, path.at(index), index, name, json, &body);
        }
        "reasoningContent" => {
            if index == 0 {
                message.bond = Bond::Reasoning;
            }
            let text = body.get("reasoningText").and_then(Json::object).unwrap_or_default();
            let words = text.text("text").unwrap_or_default();
            content::push_text(&mut message.pieces, Nature::Thought, words);
            push_rest(&text, &["text"], Nature::Thought, &mut message.pieces);
            // The service alone reads what is redacted.
            const READ: [&str; 2] = ["reasoningText", "redactedContent"];
            push_rest(&body, &READ, Nature::Thought, &mut message.pieces);
        }
        "toolAddition" | "toolRemoval" => {
            message.stays = Some(PinReason::ToolDefinitions);
            push_unknown(json, Nature::Words, &mut message.pieces);
        }
        // A point of the cache says nothing.
        "cachePoint" => push_rest(&body, &["ttl"], Nature::Words, &mut message.pieces),
        _ => read_said(name, json, &body, Nature::Words, &mut message.pieces),
    }
    push_rest(block, &[name], Nature::Words, &mut message.pieces);
    true
}

fn read_exchange(
    message: &mut Message,
    at: usize,
    path: Path<'_>,
    index: usize,
    name: &'static str,
    json: Json<'_>,
    body: &Object<'_>,
) {
    let home = if name == "toolUse" { Role::Assistant } else { Role::User };
    if body.get("type").is_some() && message.role == Role::Assistant {
        // The service calls its own tools, and answers them in the same message.
        let is_error = content::is_failure(body);
        let id = body.text("toolUseId").unwrap_or_default();
        message.served.push(Served { id, block: Some(index), is_error });
        push_unknown(json, Nature::Words, &mut message.pieces);
        return;
    }
    if message.role != home {
        let fix = Fix::DropBlocks(at, vec![index]);
        message.flaws.push(content::misplaced(path, name, home, fix));
        return;
    }
    let id = body.text("toolUseId");
    if id.is_none() {
        let fix = match home {
            Role::Assistant => Fix::NameCall(at, message.calls.len()),
            _ => Fix::NameAnswer(at, message.answers.len()),
        };
        let path = format!("{path}.{name}.toolUseId");
        message.flaws.push(missing_id(Path::from(&path), fix));
    }
    let id = id.unwrap_or_default();
    let id_place = Some(IdPlace::new(json, "toolUseId")).filter(|_| json.is_object());
    const READ: [&str; 4] = ["toolUseId", "name", "input", "content"];
    if home == Role::Assistant {
        push_rest(body, &READ, Nature::Words, &mut message.pieces);
        message.calls.push(Call {
            id,
            name: body.text("name").unwrap_or_default(),
            arguments: body.get("input").map(content::as_written).unwrap_or_default(),
            needs_answer: true,
            block: Some(index),
            id_place,
        });
        return;
    }
    push_rest(body, &READ, Nature::Answer, &mut message.pieces);
    for block in body.get("content").and_then(Json::list).unwrap_or_default() {
        let object = block.object().unwrap_or_default();
        let known = object.any_of(&["text", "json", "image", "document", "video", "searchResult"]);
        if let Some((name, json)) = known {
            let body = json.object().unwrap_or_default();
            read_said(name, json, &body, Nature::Answer, &mut message.pieces);
        }
        push_rest(
            &object,
            known.map(|(name, _)| name).as_slice(),
            Nature::Answer,
            &mut message.pieces,
        );
    }
    message.answers.push(Answer {
        id,
        name: None,
        block: Some(index),
        body: body.get("content").filter(|body| body.is_list()).map(JsonText::from),
        is_error: content::is_failure(body),
        id_place,
    });
}

/// A text or a file.
fn read_said(
    name: &str,
    json: Json<'_>,
    body: &Object<'_>,
    nature: Nature,
    pieces: &mut Vec<Piece>,
) {
    match name {
        "image" => content::push_image(json, body, nature, pieces),
        "document" => {
            let source = body.get("source").and_then(Json::object).unwrap_or_default();
            push_rest(body, &["source", "format"], Nature::Document, pieces);
            match source.any_of(&["text", "content"]) {
                Some((_, text)) => push_unknown(text, Nature::Document, pieces),
                None => content::push_file(json, &source, Nature::Document, pieces),
            }
        }
        "video" | "audio" => {
            content::push_file(json, body, nature, pieces);
        }
        "json" => content::push_text(pieces, nature, content::as_written(json)),
        _ => push_unknown(json, nature, pieces),
    }
}
