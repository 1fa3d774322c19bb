//! The AI SDK's `ModelMessage`s, as they are handed to `generateText` and `streamText`, and the prompts that its
//! providers get, in every version of their specification.
//!
//! Which provider will get them is open, so the strictest rules hold, as for LangChain: results directly follow
//! their calls, bundles are steps, and a step needs the message that opens its turn.

use std::collections::HashMap;

use cupel_tokens::Overheads;

use super::openai_chat::missing_id;
use super::{Dialect, content};
use crate::ChatError;
use crate::conversation::{Conversation, Fixed};
use crate::document::Document;
use crate::evidence::Vocabulary;
use crate::grouping::{Group, TakenApart, pin_needed, turns};
use crate::json::{Json, Object};
use crate::message::{Answer, Bond, Call, IdPlace, Message, Nature, Piece, Role, Served};
use crate::path::Path;
use crate::rest::push_rest;
use crate::text::{JsonText, Text};
use crate::validate::Fix;

const VOCABULARY: Vocabulary = Vocabulary {
    lists: &["messages", "prompt"],
    roles: &["system", "user", "assistant", "tool"],
    fields: &["providerOptions"],
    blocks: &[
        "text",
        "image",
        "file",
        "reasoning",
        "reasoning-file",
        "custom",
        "tool-call",
        "tool-result",
        "tool-approval-request",
        "tool-approval-response",
        "tool-error",
    ],
    settings: &[
        "system",
        "instructions",
        "maxOutputTokens",
        "toolChoice",
        "stopWhen",
        "providerOptions",
    ],
    ..Vocabulary::NONE
};

pub(crate) struct AiSdk;

impl Dialect for AiSdk {
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError> {
        let listing = document.listing(VOCABULARY.lists)?;
        let top = &listing.top;
        let mut conversation = Conversation {
            list: listing.path.to_owned(),
            model: top.text("model").map(|name| name.to_string()),
            output_limit: top.get("maxOutputTokens").and_then(Json::whole_number),
            ..Conversation::default()
        };
        for name in ["system", "instructions"] {
            if let Some(system) = top.get(name) {
                conversation.fixed.push(Fixed::instructions(name, system));
            }
        }
        if let Some(tools) = top.get("tools").filter(|tools| tools.is_list()) {
            let tools = Fixed::tools("tools", tools, &mut conversation.flaws);
            conversation.fixed.push(tools);
        } else if let Some(tools) = top.get("tools") {
            // By name, as the SDK takes them.
            conversation.fixed.push(Fixed::other("tools", tools));
        }
        // A schema of bare types is read, too.
        let answer = top.get("responseFormat");
        if let Some(answer) = answer.filter(|answer| answer.at_path("schema").is_some()) {
            conversation.fixed.push(Fixed::other("responseFormat", answer));
        }
        const READ: [&str; 6] =
            ["messages", "prompt", "system", "instructions", "tools", "responseFormat"];
        conversation.read_others("", top, &READ);
        conversation.read_messages(document, listing.elements, read_message);
        Ok(conversation)
    }

    fn group(&self, conversation: &Conversation, apart: TakenApart) -> Vec<Group> {
        let mut groups = turns(conversation, true, apart);
        join_deferred(conversation, &mut groups);
        groups
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    fn overheads(&self) -> Overheads {
        Overheads::openai_chat()
    }
}

/// Puts a call that the provider answers by itself, but only in a later message, into one group with its result.
fn join_deferred(conversation: &Conversation, groups: &mut Vec<Group>) {
    let mut homes = vec![0; conversation.messages.len()];
    for (home, group) in groups.iter().enumerate() {
        for at in &group.messages {
            homes[*at] = home;
        }
    }
    let mut waits: HashMap<&str, usize> = HashMap::new();
    for (at, message) in conversation.messages.iter().enumerate() {
        let mut ids: Vec<&str> = message.served.iter().map(|served| served.id.as_str()).collect();
        ids.sort_unstable();
        // A call and its result are two blocks with one id.
        for same in ids.chunk_by(|one, other| one == other).filter(|same| same.len() == 1) {
            let Some(call) = waits.remove(same[0]) else {
                waits.insert(same[0], at);
                continue;
            };
            let (home, other) = (homes[call], homes[at]);
            if home != other && !same[0].is_empty() {
                let taken = std::mem::replace(&mut groups[other], Group::of(Vec::new()));
                for at in &taken.messages {
                    homes[*at] = home;
                }
                groups[home].take_in(taken);
            }
        }
    }
    groups.retain(|group| !group.messages.is_empty());
    for group in groups.iter_mut() {
        group.messages.sort_unstable();
    }
    pin_needed(groups);
}

fn read_message(json: Json<'_>, object: &Object<'_>, at: usize, path: Path<'_>) -> Message {
    let roles = VOCABULARY.roles;
    let mut message = content::read_role(json, object, path, roles, roles);
    let body = object.get("content");
    let path = path.field("content");
    if body.is_none() {
        message.flaws.push(content::missing(path, Fix::Drop(at)));
    }
    let waits = awaiting_approval(body);
    content::read(
        &mut message,
        body,
        path,
        Nature::Words,
        &VOCABULARY,
        |message, index, json, block| read_part(message, at, path, index, json, block, &waits),
    );
    push_rest(object, &["content", "providerOptions"], Nature::Words, &mut message.pieces);
    message
}

/// The calls that wait for the user's leave: the SDK makes them itself once it is given.
fn awaiting_approval(content: Option<Json<'_>>) -> Vec<Text> {
    let parts = content.and_then(Json::list).unwrap_or_default();
    let requests = parts.into_iter().filter_map(Json::object);
    let requests = requests.filter(|part| is_type(part, "tool-approval-request"));
    requests.filter_map(|part| part.text("toolCallId")).collect()
}

fn is_type(part: &Object<'_>, kind: &str) -> bool {
    part.str("type").is_some_and(|known| known == kind)
}

/// Takes calls, results and approvals. Returns whether the part was one.
fn read_part(
    message: &mut Message,
    at: usize,
    path: Path<'_>,
    index: usize,
    json: Json<'_>,
    part: &Object<'_>,
    waits: &[Text],
) -> bool {
    let kind = part.str("type").unwrap_or_default();
    if index == 0 && kind == "reasoning" {
        message.bond = Bond::Reasoning;
    }
    let home = match kind.as_ref() {
        "tool-call" => Role::Assistant,
        "tool-result" | "tool-error" => Role::Tool,
        "reasoning-file" => {
            let is_image = part.str("mediaType").is_some_and(|media| media.starts_with("image/"));
            let push = if is_image { content::push_image } else { content::push_file };
            push(json, part, Nature::Thought, &mut message.pieces);
            return true;
        }
        // Approvals name ids and say yes or no.
        "tool-approval-request" | "tool-approval-response" => {
            const READ: [&str; 3] = ["approvalId", "toolCallId", "approved"];
            push_rest(part, &READ, Nature::Words, &mut message.pieces);
            return true;
        }
        _ => return false,
    };
    let is_served = home == Role::Tool && message.role == Role::Assistant
        || part.get("providerExecuted").is_some_and(|flag| flag.raw() == "true");
    let id = part.text("toolCallId");
    let name = part.text("toolName");
    let nature = if home == Role::Tool { Nature::Answer } else { Nature::Words };
    const READ: [&str; 8] = [
        "toolCallId",
        "toolName",
        "input",
        "args",
        "output",
        "result",
        "providerOptions",
        "experimental_content",
    ];
    push_rest(part, &READ, nature, &mut message.pieces);
    if home == Role::Tool {
        content::push_text(&mut message.pieces, nature, name.clone().unwrap_or_default());
    }
    if is_served {
        let (id, is_error) = (id.unwrap_or_default(), is_failure(part));
        message.served.push(Served { id, block: Some(index), is_error });
        if home == Role::Assistant {
            content::push_text(&mut message.pieces, Nature::Tool, name.unwrap_or_default());
            let input = part.any_of(&["input", "args"]);
            let input = input.map(|(_, input)| content::as_written(input)).unwrap_or_default();
            content::push_text(&mut message.pieces, Nature::Arguments, input);
        } else {
            read_output(part, &mut message.pieces);
        }
        return true;
    }
    if message.role != home {
        let fix = Fix::DropBlocks(at, vec![index]);
        message.flaws.push(content::misplaced(path.at(index), &kind, home, fix));
        return true;
    }
    if id.is_none() {
        let fix = match home {
            Role::Assistant => Fix::NameCall(at, message.calls.len()),
            _ => Fix::NameAnswer(at, message.answers.len()),
        };
        message.flaws.push(missing_id(path.at(index).field("toolCallId"), fix));
    }
    let id = id.unwrap_or_default();
    let id_place = Some(IdPlace::new(json, "toolCallId"));
    if home == Role::Assistant {
        let input = part.any_of(&["input", "args"]).map(|(_, input)| content::as_written(input));
        message.calls.push(Call {
            needs_answer: !waits.iter().any(|waits| waits.as_str() == id.as_str()),
            id,
            name: name.unwrap_or_default(),
            arguments: input.unwrap_or_default(),
            block: Some(index),
            id_place,
        });
    } else {
        let body = read_output(part, &mut message.pieces).map(JsonText::from);
        let is_error = is_failure(part);
        let block = Some(index);
        message.answers.push(Answer { id, name, block, body, is_error, id_place });
    }
    true
}

fn is_failure(part: &Object<'_>) -> bool {
    let kind = part.get("output").and_then(|output| output.at_path("type")).and_then(Json::str);
    kind.is_some_and(|kind| kind.starts_with("error") || kind == "execution-denied")
        || part.get("isError").is_some_and(|flag| flag.raw() == "true")
        || is_type(part, "tool-error")
}

/// Reads a tool's output: a value beside its type, or, in version 4, the result itself. Returns it if it may be
/// shortened.
fn read_output<'t>(part: &Object<'t>, pieces: &mut Vec<Piece>) -> Option<Json<'t>> {
    let nature = Nature::Answer;
    let (_, output) = part.any_of(&["output", "result", "error"])?;
    let object = output.object().filter(|object| object.has("type") && part.has("output"));
    let value = match &object {
        Some(object) => {
            push_rest(object, &["value", "providerOptions"], nature, pieces);
            object.get("value")?
        }
        None => output,
    };
    let is_content = object.is_some_and(|object| is_type(&object, "content"));
    let Some(parts) = value.list().filter(|_| is_content) else {
        content::push_text(pieces, nature, content::as_written(value));
        return Some(value).filter(|value| !value.is_list());
    };
    for json in parts {
        let part = json.object().unwrap_or_default();
        let kind = part.str("type").unwrap_or_default();
        let media = part.str("mediaType").unwrap_or_default();
        if kind.starts_with("image") || media.starts_with("image/") {
            content::push_image(json, &part, nature, pieces);
        } else if kind.starts_with("file") || kind == "media" {
            content::push_file(json, &part, nature, pieces);
        } else {
            content::push_text(pieces, nature, part.text("text").unwrap_or_default());
            push_rest(&part, &["text", "providerOptions"], nature, pieces);
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use crate::Format::AiSdk;
    use crate::testing::labels;

    #[test]
    fn a_result_that_the_provider_brings_later_stays_with_its_call() {
        let served = r#"{"role":"assistant","content":[{"type":"tool-call","toolCallId":"s","toolName":"web","input":{},"providerExecuted":true},{"type":"tool-call","toolCallId":"a","toolName":"read","input":{}}]}"#;
        let own = r#"{"role":"tool","content":[{"type":"tool-result","toolCallId":"a","toolName":"read","output":{"type":"text","value":"x"}}]}"#;
        let later = r#"{"role":"assistant","content":[{"type":"tool-result","toolCallId":"s","toolName":"web","output":{"type":"json","value":["y"]}},{"type":"text","text":"done"}]}"#;
        let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
        let text =
            format!("[{},{served},{own},{},{later},{}]", user("go"), user("and"), user("so"));
        let joined = labels(&text, AiSdk);
        assert_eq!(joined.len(), 4, "{joined:?}");
        let kept = crate::testing::read(&text, AiSdk).validate();
        assert_eq!(kept, [], "{joined:?}");
    }
}
