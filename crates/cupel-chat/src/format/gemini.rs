//! Gemini contents.
//!
//! A turn of function calls comes after a turn of the user or of responses, and is followed by as
//! many responses. So a bundle is a step, calls with their responses, and it needs the message that
//! opens its turn: else it could follow what the model said at the end of another turn.

use std::collections::HashSet;

use cupel_tokens::{Overheads, TokenizerFamily};

use super::{Dialect, content};
use crate::ChatError;
use crate::conversation::{Conversation, Fixed};
use crate::document::{Document, Listing};
use crate::evidence::Vocabulary;
use crate::grouping::{Group, PinReason, TakenApart, turns};
use crate::json::{Json, Object};
use crate::message::{Answer, Call, Message, Nature, Piece, Role, Served};
use crate::path::Path;
use crate::rest::{push_rest, push_rest_as};
use crate::text::{JsonText, Text};
use crate::validate::{Finding, Fix};

const VOCABULARY: Vocabulary = Vocabulary {
    lists: &["contents"],
    roles: &["user", "model", "function"],
    fields: &["parts"],
    part_fields: &[
        "text",
        "functionCall",
        "function_call",
        "functionResponse",
        "function_response",
        "inlineData",
        "inline_data",
        "fileData",
        "file_data",
        "executableCode",
        "executable_code",
        "codeExecutionResult",
        "code_execution_result",
        "thought",
        "thoughtSignature",
        "thought_signature",
        "videoMetadata",
        "video_metadata",
        "mediaResolution",
        "media_resolution",
        "toolCall",
        "tool_call",
        "toolResponse",
        "tool_response",
        "partMetadata",
        "part_metadata",
        "audioTranscription",
        "audio_transcription",
        "mediaProcessing",
        "media_processing",
        "speechMetadata",
        "speech_metadata",
    ],
    tools: &["the field `functionDeclarations`", "the field `function_declarations`"],
    ..Vocabulary::NONE
};

pub(crate) struct Gemini;

impl Dialect for Gemini {
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError> {
        let listing = listing(document)?;
        let top = &listing.top;
        let model = top.text("model");
        let mut conversation = Conversation {
            list: listing.path.to_owned(),
            model: model.map(|name| name.strip_prefix("models/").unwrap_or(&name).to_owned()),
            output_limit: output_limit(top),
            ..Conversation::default()
        };
        read_fixed(&mut conversation, "", top);
        for name in CONFIGS {
            if let Some(config) = top.get(name).and_then(Json::object) {
                read_fixed(&mut conversation, &format!("{name}."), &config);
            }
        }
        let elements = listing.elements.clone();
        conversation.read_messages(document, listing.elements, read_message);
        for (message, json) in conversation.messages.iter_mut().zip(elements) {
            if json.is_text() {
                *message = plain_text(json);
            }
        }
        Ok(conversation)
    }

    fn check(&self, conversation: &Conversation, findings: &mut Vec<Finding>) {
        let homes = homes_of_misplaced_responses(conversation);
        let mut has_misplaced = vec![false; homes.len()];
        for home in homes.iter().flatten() {
            has_misplaced[*home] = true;
        }
        for at in 0..homes.len() {
            check_calls(conversation, at, has_misplaced[at], findings);
            check_responses(conversation, at, homes[at], findings);
        }
    }

    fn group(&self, conversation: &Conversation, apart: TakenApart) -> Vec<Group> {
        turns(conversation, true, apart)
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    fn overheads(&self) -> Overheads {
        Overheads::gemini()
    }

    fn implied_family(&self) -> Option<TokenizerFamily> {
        Some(TokenizerFamily::Gemma)
    }
}

/// The list of contents. The SDKs take one content too, or a text.
fn listing<'t>(document: &Document<'t>) -> Result<Listing<'t>, ChatError> {
    if let Some((top, one)) =
        document.top().and_then(|top| Some((top.clone(), top.get("contents")?)))
    {
        if one.is_text() || one.is_object() {
            return Ok(Listing { path: "contents", elements: vec![one], top });
        }
    }
    document.listing(VOCABULARY.lists)
}

/// A text that stands for a message of the user, or for a part of one: the SDKs join what follows it.
fn plain_text(json: Json<'_>) -> Message {
    let mut message = Message::new(json, Role::User, Text::Name("user"));
    message.stays = Some(PinReason::LastUserTurn);
    message.pieces.extend(json.text().map(|text| Piece::text(Nature::Words, text)));
    message
}

/// Where the settings of a request stand, by the interface and by the SDK.
const CONFIGS: [&str; 3] = ["generationConfig", "generation_config", "config"];

/// System prompt, tools and what else is no message, of the request or of its settings.
fn read_fixed(conversation: &mut Conversation, prefix: &str, object: &Object<'_>) {
    const SYSTEM: [&str; 2] = ["systemInstruction", "system_instruction"];
    if let Some((name, system)) = object.any_of(&SYSTEM) {
        let fields = system.object();
        let parts = fields.as_ref().and_then(|fields| fields.get("parts"));
        let mut fixed = Fixed::instructions(format!("{prefix}{name}"), parts.unwrap_or(system));
        if let Some(fields) = fields.filter(|_| parts.is_some()) {
            push_rest(&fields, &["parts"], Nature::Words, &mut fixed.pieces);
        }
        conversation.fixed.push(fixed);
    }
    if let Some(tools) = object.get("tools") {
        let mut fixed = Fixed::tools(format!("{prefix}tools"), tools, &mut conversation.flaws);
        let tools = std::mem::take(&mut fixed.definitions);
        fixed.definitions = tools.iter().flat_map(|tool| declarations(tool.view())).collect();
        conversation.fixed.push(fixed);
    }
    let mut read = vec!["contents", "tools"];
    read.extend(SYSTEM);
    read.extend(CONFIGS);
    conversation.read_others(prefix, object, &read);
}

fn output_limit(top: &Object<'_>) -> Option<i64> {
    let (_, config) = top.any_of(&CONFIGS)?;
    let (_, limit) = config.object()?.any_of(&["maxOutputTokens", "max_output_tokens"])?;
    limit.whole_number()
}

/// The functions that a tool declares; the tool itself if it is one of the service's own.
fn declarations(tool: Json<'_>) -> Vec<JsonText> {
    let object = tool.object().unwrap_or_default();
    let others = object.fields().filter(|(_, value)| !value.is_null()).count();
    let declared = object.any_of(&["functionDeclarations", "function_declarations"]);
    let declared = declared.and_then(|(_, list)| list.list()).filter(|_| others == 1);
    let declared = declared.unwrap_or_else(|| vec![tool]);
    declared.into_iter().map(JsonText::from).collect()
}

fn read_message(json: Json<'_>, object: &Object<'_>, at: usize, path: Path<'_>) -> Message {
    let native_role = object.text("role").unwrap_or(Text::Name("user"));
    let role = match native_role.as_ref() {
        "user" => Role::User,
        "model" => Role::Assistant,
        "function" => Role::Tool,
        _ => Role::Unknown,
    };
    let mut message = Message::new(json, role, native_role);
    message.take_notes(object);
    if role == Role::Unknown {
        let known = ["user", "model", "function"];
        message.flaws.push(content::role_flaw(path, "role", object.get("role"), &known));
    }
    let body = object.get("parts");
    if body.is_none() && object.any_of(VOCABULARY.part_fields).is_some() {
        // A part that stands for a message, as the SDKs take it.
        message.stays = Some(PinReason::LastUserTurn);
        if object.any_of(&["functionCall", "function_call"]).is_some() {
            message.role = Role::Assistant;
        }
        read_part(&mut message, at, path, 0, object);
        return message;
    }
    let path = path.field("parts");
    if let Some(part) = body.and_then(Json::object) {
        read_part(&mut message, at, path, 0, &part);
        push_rest(object, &["parts"], Nature::Words, &mut message.pieces);
        return message;
    }
    if !body.is_some_and(|body| body.is_list() || body.is_text()) {
        let text = match body {
            Some(body) => format!("must be a list of parts, got {}", body.describe()),
            None => "is required".to_owned(),
        };
        let finding = Finding::new(path, "missing-content", text, "add it, or remove the message");
        message.flaws.push(finding.fixed_by(Fix::Drop(at)));
        return message;
    }
    push_rest(object, &["parts"], Nature::Words, &mut message.pieces);
    content::read(
        &mut message,
        body,
        path,
        Nature::Words,
        &VOCABULARY,
        |message, index, _, part| {
            read_part(message, at, path, index, part);
            true
        },
    );
    message
}

fn read_part(message: &mut Message, at: usize, path: Path<'_>, index: usize, part: &Object<'_>) {
    let field = |names: &[&'static str]| part.any_of(names).and_then(|(_, json)| json.object());
    if let Some(call) = field(&["functionCall", "function_call"]) {
        if message.role != Role::Assistant {
            let fix = Fix::DropBlocks(at, vec![index]);
            message.flaws.push(content::misplaced(
                path.at(index),
                "functionCall",
                Role::Assistant,
                fix,
            ));
            return;
        }
        push_rest(&call, &["name", "args"], Nature::Words, &mut message.pieces);
        message.calls.push(Call {
            id: call.text("id").unwrap_or_default(),
            name: call.text("name").unwrap_or_default(),
            arguments: call.get("args").map(content::as_written).unwrap_or_default(),
            needs_answer: true,
            block: Some(index),
            id_place: None,
        });
    } else if let Some(response) = field(&["functionResponse", "function_response"]) {
        if message.role == Role::Assistant {
            let fix = Fix::DropBlocks(at, vec![index]);
            message.flaws.push(content::misplaced(
                path.at(index),
                "functionResponse",
                Role::User,
                fix,
            ));
            return;
        }
        let name = response.text("name");
        if let Some(name) = name.clone() {
            content::push_text(&mut message.pieces, Nature::Answer, name);
        }
        if let Some(body) = response.get("response") {
            content::push_text(&mut message.pieces, Nature::Answer, content::as_written(body));
        }
        for part in response.get("parts").and_then(Json::list).unwrap_or_default() {
            let part = part.object().unwrap_or_default();
            read_media(&mut message.pieces, &part, Nature::Answer);
        }
        push_rest(&response, &["name", "response", "parts"], Nature::Answer, &mut message.pieces);
        let id = response.text("id").unwrap_or_default();
        let answer = response.get("response").filter(|body| body.is_object());
        let is_error =
            answer.and_then(Json::object).is_some_and(|answer| answer.get("error").is_some());
        let body = answer.map(JsonText::from);
        message.answers.push(Answer {
            id,
            name,
            block: Some(index),
            body,
            is_error,
            id_place: None,
        });
    }
    let outcome = part.any_of(&RUN).and_then(|(_, run)| run.object()?.text("outcome"));
    if let Some(outcome) = outcome {
        let is_error = outcome != "OUTCOME_OK";
        message.served.push(Served { id: Text::default(), block: Some(index), is_error });
    }
    let is_thought = part.get("thought").is_some_and(|flag| flag.raw() == "true");
    let nature = if is_thought { Nature::Thought } else { Nature::Words };
    read_media(&mut message.pieces, part, nature);
}

/// Code that the service runs by itself, and what came of it.
const CODE: [&str; 2] = ["executableCode", "executable_code"];
const RUN: [&str; 2] = ["codeExecutionResult", "code_execution_result"];

/// The texts and files of a part.
fn read_media(pieces: &mut Vec<Piece>, part: &Object<'_>, nature: Nature) {
    const MEDIA: [&str; 4] = ["inlineData", "inline_data", "fileData", "file_data"];
    if let Some((_, media)) = part.any_of(&MEDIA) {
        let object = media.object().unwrap_or_default();
        let kind = object.any_of(&["mimeType", "mime_type"]).and_then(|(_, kind)| kind.str());
        if kind.is_some_and(|kind| kind.starts_with("image/")) {
            content::push_image(media, &object, nature, pieces);
        } else {
            content::push_file(media, &object, nature, pieces);
        }
    }
    let mut read = vec!["functionCall", "function_call", "functionResponse", "function_response"];
    read.extend(MEDIA);
    if let Some(text) = part.text("text") {
        content::push_text(pieces, nature, text);
        read.push("text");
    }
    let beside = if nature == Nature::Words { Nature::Aside } else { nature };
    push_rest_as(part, &read, pieces, |name| match name {
        _ if CODE.contains(&name) => Nature::Arguments,
        _ if RUN.contains(&name) => Nature::Answer,
        _ => beside,
    });
}

/// Returns true if responses can be those of calls: where both have ids, each must be that of a call.
fn may_answer(responses: &Message, calls: &Message) -> bool {
    let ids: HashSet<&str> = calls.calls.iter().map(|call| call.id.as_str()).collect();
    !responses.answers.is_empty()
        && !calls.calls.is_empty()
        && (ids.contains("")
            || responses.answers.iter().all(|a| a.id.is_empty() || ids.contains(a.id.as_str())))
}

/// Responses that stand elsewhere than behind their calls: from each to the turn of calls that lacks
/// exactly as many.
fn homes_of_misplaced_responses(conversation: &Conversation) -> Vec<Option<usize>> {
    let messages = &conversation.messages;
    let mut homes = vec![None; messages.len()];
    let mut waiting: Option<usize> = None;
    for (at, message) in messages.iter().enumerate() {
        if !message.calls.is_empty() {
            let is_answered = messages.get(at + 1).is_some_and(|next| may_answer(next, message));
            waiting = Some(at).filter(|_| !is_answered);
        } else if !message.answers.is_empty() {
            let fits = |home: &usize| {
                let calls = &messages[*home];
                calls.calls.len() == message.answers.len() && may_answer(message, calls)
            };
            // Those directly behind their calls are no candidates: calls that they may answer do not
            // wait.
            homes[at] = waiting.filter(fits);
            waiting = waiting.filter(|_| homes[at].is_none());
        }
    }
    homes
}

fn check_calls(
    conversation: &Conversation,
    at: usize,
    has_misplaced_responses: bool,
    findings: &mut Vec<Finding>,
) {
    let messages = &conversation.messages;
    let calls = &messages[at].calls;
    if calls.is_empty() {
        return;
    }
    let drop = Fix::DropBlocks(at, calls.iter().filter_map(|call| call.block).collect());
    let is_first = at == 0 || messages[at - 1].role == Role::Assistant;
    if is_first {
        let finding = Finding::new(
            conversation.path(at),
            "call-turn-position",
            "function calls must come after a turn of the user or of responses",
            "put a message of the user before it",
        );
        findings.push(finding.fixed_by(drop.clone()));
    }
    let next = messages.get(at + 1).filter(|next| may_answer(next, &messages[at]));
    let responses = next.map_or(0, |next| next.answers.len());
    if responses == calls.len() || responses == 0 && has_misplaced_responses {
        return;
    }
    let rule = if responses == 0 { "unanswered-call" } else { "response-count" };
    let text = format!(
        "{} are followed by {}",
        counted(calls.len(), "function call"),
        counted(responses, "function response")
    );
    let remedy = "give as many responses as calls, in the message that follows";
    findings.push(Finding::new(conversation.path(at), rule, text, remedy).fixed_by(drop));
}

fn check_responses(
    conversation: &Conversation,
    at: usize,
    home: Option<usize>,
    findings: &mut Vec<Finding>,
) {
    let messages = &conversation.messages;
    let answers = &messages[at].answers;
    let is_at_home = at > 0 && may_answer(&messages[at], &messages[at - 1]);
    if answers.is_empty() || is_at_home {
        return;
    }
    let path = conversation.path(at);
    findings.push(match home {
        Some(target) => Finding::new(
            path,
            "result-not-adjacent",
            "the function responses do not directly follow their calls",
            "move them behind their calls",
        )
        .fixed_by(Fix::MoveBehind { message: at, target }),
        None => Finding::new(
            path,
            "orphan-result",
            "the function responses have no calls before them",
            "remove them, or put their calls back",
        )
        .fixed_by(Fix::DropBlocks(at, answers.iter().filter_map(|answer| answer.block).collect())),
    });
}

fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use crate::Format::Gemini;
    use crate::testing::{labels, read, repaired, violations};

    const CALLS: &str = r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{"x":1}}},{"functionCall":{"name":"g","args":{}},"thoughtSignature":"s"}]}"#;
    const RESPONSES: &str = r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"r":1}}},{"functionResponse":{"name":"g","response":{"r":2}}}]}"#;
    const USER: &str = r#"{"parts":[{"text":"go"}]}"#;
    const MODEL: &str = r#"{"role":"model","parts":[{"text":"done"}]}"#;

    fn list(contents: &[&str]) -> String {
        format!("[{}]", contents.join(","))
    }

    #[test]
    fn each_step_is_a_bundle_and_needs_the_message_that_opens_its_turn() {
        let text = list(&[USER, CALLS, RESPONSES, MODEL, USER, CALLS, RESPONSES, CALLS, RESPONSES]);
        assert_eq!(
            labels(&text, Gemini),
            [
                "[0]: user",
                "[1..3]: model, 2 tool results > [0]",
                "[3]: model > [0]",
                "*[4]: user",
                "[5..7]: model, 2 tool results > [4]",
                "*[7..9]: model, 2 tool results > [4]",
            ]
        );
    }

    #[test]
    fn both_spellings_are_read() {
        let text = r#"{"model":"models/gemini-2.5-pro","system_instruction":{"parts":[{"text":"S"}]},
            "generation_config":{"max_output_tokens":7},
            "tools":[{"function_declarations":[{"name":"f"},{"name":"g"}]},{"googleSearch":{}}],
            "contents":[{"role":"user","parts":[{"text":"go"}]},
            {"role":"model","parts":[{"function_call":{"name":"f","args":{}}}]},
            {"role":"function","parts":[{"function_response":{"name":"f","response":{}}}]}]}"#;
        let request = read(text, Gemini);
        assert_eq!((request.model(), request.output_limit()), (Some("gemini-2.5-pro"), Some(7)));
        assert_eq!(
            labels(text, Gemini),
            [
                "*system_instruction: system prompt",
                "*tools: 3 tool definitions",
                "*contents[0]: user",
                "*contents[1..3]: model, tool result > contents[0]",
            ]
        );
    }

    #[test]
    fn the_config_of_the_sdk_is_read() {
        let text = r#"{"contents":[{"parts":[{"text":"go"}]}],"config":{"maxOutputTokens":7,
            "systemInstruction":"S","tools":[{"functionDeclarations":[{"name":"f"}]}],
            "responseMimeType":"application/json","responseSchema":{"type":"OBJECT"}}}"#;
        assert_eq!(read(text, Gemini).output_limit(), Some(7));
        assert_eq!(
            labels(text, Gemini),
            [
                "*config.systemInstruction: system prompt",
                "*config.tools: tool definition",
                "*contents[0]: user",
            ]
        );
        let labels = labels(&text.replace("OBJECT\"", "OBJECT\",\"title\":\"t\""), Gemini);
        assert_eq!(labels[2], "*config.responseSchema: output format");
    }

    #[test]
    fn broken_rules_are_named() {
        let one = r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}"#;
        let text = list(&[CALLS, one, MODEL, RESPONSES, USER, CALLS]);
        assert_eq!(
            violations(&text, Gemini),
            [
                "[0]: function calls must come after a turn of the user or of responses; put a \
                 message of the user before it (call-turn-position)",
                "[0]: 2 function calls are followed by 1 function response; give as many \
                 responses as calls, in the message that follows (response-count)",
                "[3]: the function responses have no calls before them; remove them, or put \
                 their calls back (orphan-result)",
                "[5]: 2 function calls are followed by no function responses; give as many \
                 responses as calls, in the message that follows (unanswered-call)",
            ]
        );
        let (repaired, _) = repaired(&text, Gemini);
        assert_eq!(repaired, list(&[MODEL, USER]));
    }

    #[test]
    fn where_ids_are_given_they_must_match() {
        let call = r#"{"role":"model","parts":[{"functionCall":{"id":"1","name":"f"}}]}"#;
        let response = |id: &str| {
            format!(
                r#"{{"role":"user","parts":[{{"functionResponse":{{"id":"{id}","name":"f"}}}}]}}"#
            )
        };
        let (wrong, right) = (response("2"), response("1"));
        let (repaired, done) = repaired(&list(&[USER, call, &wrong, &right]), Gemini);
        assert_eq!(repaired, list(&[USER, call, &right]));
        assert_eq!(
            done,
            [
                "dropped [2]: the function responses have no calls before them",
                "moved [3] behind [1]: the function responses do not directly follow their calls",
            ]
        );
    }

    #[test]
    fn responses_that_stand_elsewhere_go_if_they_are_not_as_many_as_the_calls() {
        let one = r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}"#;
        let text = list(&[USER, CALLS, USER, one]);
        assert_eq!(
            violations(&text, Gemini),
            [
                "[1]: 2 function calls are followed by no function responses; give as many responses \
                 as calls, in the message that follows (unanswered-call)",
                "[3]: the function responses have no calls before them; remove them, or put their \
                 calls back (orphan-result)",
            ]
        );
    }

    #[test]
    fn texts_of_parts_and_what_functions_answered_are_counted() {
        let request = read(&list(&[USER, CALLS, RESPONSES]), Gemini);
        assert_eq!(request.query().as_deref(), Some("go"));
        let candidates =
            request.candidates(&crate::testing::Words, &crate::CandidateOptions::default());
        let candidates = candidates.unwrap();
        let contents: Vec<&str> =
            candidates.items().iter().map(cupel::ContextItem::content).collect();
        assert_eq!(contents, ["go", "f {\"x\":1}\ng {}\nf\n{\"r\":1}\ng\n{\"r\":2}"]);
    }

    #[test]
    fn an_id_that_only_one_side_has_matches_anything() {
        let call = |id: &str| {
            format!(r#"{{"role":"model","parts":[{{"functionCall":{{{id}"name":"f"}}}}]}}"#)
        };
        let response = |id: &str| {
            format!(r#"{{"role":"user","parts":[{{"functionResponse":{{{id}"name":"f"}}}}]}}"#)
        };
        for (its, answers, is_matched) in [
            ("", "", true),
            ("", r#""id":"1","#, true),
            (r#""id":"1","#, "", true),
            (r#""id":"1","#, r#""id":"1","#, true),
            (r#""id":"1","#, r#""id":"2","#, false),
        ] {
            let text = list(&[USER, &call(its), &response(answers)]);
            assert_eq!(violations(&text, Gemini).is_empty(), is_matched, "{text}");
        }
    }

    #[test]
    fn responses_that_stand_elsewhere_move_behind_their_calls() {
        let text = list(&[USER, CALLS, USER, RESPONSES]);
        let (repaired, done) = repaired(&text, Gemini);
        assert_eq!(repaired, list(&[USER, CALLS, RESPONSES, USER]));
        assert_eq!(
            done,
            ["moved [3] behind [1]: the function responses do not directly follow their calls"]
        );
    }
}
