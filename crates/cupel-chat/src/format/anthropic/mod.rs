//! Anthropic Messages.
//!
//! Every `tool_use` is answered by the user's message that follows, results first. So a bundle is a step
//! of the agent: what the assistant says and the results that follow. The first message is the user's:
//! a step needs the message that opens its turn. A user's message that has results as well as words
//! belongs to the step that it answers; if its words are the user's last, that step is pinned.
//!
//! Models that take system messages want them behind a message of the user, and before one of the
//! assistant: such a message needs the one that it stands behind and, in an earlier turn, the step that
//! the turn ends with. A compaction stands for all that came before it, and stays.
//!
//! The first step of the last turn that the service sees must keep its thinking: there, a step that
//! begins without needs the one before it that began with it.

mod rules;
#[cfg(test)]
mod samples;

use cupel_tokens::{Model, Overheads, TokenizerFamily};

use super::openai_chat::missing_id;
use super::{Dialect, content};
use crate::ChatError;
use crate::conversation::{Conversation, Fixed};
use crate::document::Document;
use crate::evidence::Vocabulary;
use crate::grouping::{Group, PinReason, TakenApart, turns};
use crate::json::{Json, Object};
use crate::message::{Answer, Bond, Call, IdPlace, Message, Nature, Role};
use crate::path::Path;
use crate::rest::push_rest;
use crate::text::JsonText;
use crate::validate::{Finding, Fix};

const VOCABULARY: Vocabulary = Vocabulary {
    lists: &["messages"],
    roles: &["user", "assistant", "system"],
    // A system prompt at the beginning has a field of its own.
    first: &["user", "assistant"],
    // An answer of the service says that it is one, and is sent back as it came.
    types: &["message"],
    blocks: &[
        "text",
        "image",
        "document",
        "search_result",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
        "server_tool_use",
        "mcp_tool_use",
        "*_tool_result",
        "container_upload",
        "compaction",
        "tool_addition",
        "tool_removal",
        "mcp_tool_listing",
        "fallback",
        "tool_reference",
    ],
    tools: &["the field `input_schema`"],
    settings: &[
        "anthropic_beta",
        "betas",
        "cache_control",
        "compaction",
        "container",
        "diagnostics",
        "fallback_credit_token",
        "fallbacks",
        "inference_geo",
        "metadata",
        "output_config",
        "output_format",
        "service_tier",
        "speed",
        "stop_sequences",
        "thinking",
        "thread",
        "top_k",
        "user_profile_id",
    ],
    own_settings: &["system", "anthropic_version", "context_management", "mcp_servers"],
    models: &["claude-"],
    required: &["max_tokens"],
    ..Vocabulary::NONE
};

pub(crate) struct Anthropic;

impl Dialect for Anthropic {
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError> {
        let listing = document.listing(&["messages"])?;
        let top = &listing.top;
        let mut conversation = Conversation {
            list: listing.path.to_owned(),
            model: top.text("model").map(|name| name.to_string()),
            output_limit: top.get("max_tokens").and_then(Json::whole_number),
            wants_reasoning: top
                .get("thinking")
                .and_then(|thinking| thinking.at_path("type")?.text())
                .is_some_and(|kind| kind == "enabled"),
            ..Conversation::default()
        };
        if let Some(system) = top.get("system") {
            conversation.fixed.push(Fixed::instructions("system", system));
        }
        if let Some(tools) = top.get("tools") {
            let tools = Fixed::tools("tools", tools, &mut conversation.flaws);
            conversation.fixed.push(tools);
        }
        conversation.read_others("", top, &["messages", "system", "tools"]);
        conversation.takes_system_messages = conversation
            .model
            .as_deref()
            .and_then(|name| Model::find(name).ok())
            .is_some_and(|model| model.takes_system_messages);
        conversation.read_messages(document, listing.elements, read_message);
        Ok(conversation)
    }

    fn check(&self, conversation: &Conversation, findings: &mut Vec<Finding>) {
        rules::check(conversation, findings);
    }

    fn group(&self, conversation: &Conversation, apart: TakenApart) -> Vec<Group> {
        turns(conversation, false, apart)
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    fn overheads(&self) -> Overheads {
        Overheads::anthropic()
    }

    fn implied_family(&self) -> Option<TokenizerFamily> {
        Some(TokenizerFamily::Claude)
    }

    fn marks_cache(&self) -> bool {
        true
    }
}

fn read_message(json: Json<'_>, object: &Object<'_>, at: usize, path: Path<'_>) -> Message {
    let taken = ["user", "assistant", "system"];
    let mut message = content::read_role(json, object, path, &taken, &taken[..2]);
    let body = object.get("content");
    if body.is_none() {
        message.flaws.push(content::missing(path.field("content"), Fix::Drop(at)));
    }
    let path = path.field("content");
    content::read(
        &mut message,
        body,
        path,
        Nature::Words,
        &VOCABULARY,
        |message, index, json, block| {
            if matches!(block.str("type").as_deref(), Some("tool_addition" | "tool_removal")) {
                message.stays = Some(PinReason::ToolDefinitions);
            }
            read_block(message, at, path, index, json, block)
        },
    );
    push_rest(object, &["content"], Nature::Words, &mut message.pieces);
    message
}

/// Takes calls and results. Returns whether the block was one.
fn read_block(
    message: &mut Message,
    at: usize,
    path: Path<'_>,
    index: usize,
    json: Json<'_>,
    block: &Object<'_>,
) -> bool {
    let kind = block.text("type").unwrap_or_default();
    if index == 0 && matches!(kind.as_ref(), "thinking" | "redacted_thinking") {
        message.bond = Bond::Reasoning;
    }
    if kind == "compaction" {
        message.stays = Some(PinReason::Reference);
    }
    let (home, id_field) = match kind.as_ref() {
        "tool_use" => (Role::Assistant, "id"),
        "tool_result" => (Role::User, "tool_use_id"),
        _ => return false,
    };
    let drop = Fix::DropBlocks(at, vec![index]);
    let path = path.at(index);
    let id = block.text(id_field);
    if id.is_none() && message.role == home {
        let fix = match home {
            Role::Assistant => Fix::NameCall(at, message.calls.len()),
            _ => Fix::NameAnswer(at, message.answers.len()),
        };
        message.flaws.push(missing_id(path.field(id_field), fix));
    }
    let id = id.unwrap_or_default();
    let id_place = Some(IdPlace::new(json, id_field));
    let nature = if home == Role::User { Nature::Answer } else { Nature::Words };
    push_rest(block, &["name", "input", "content"], nature, &mut message.pieces);
    if message.role != home {
        message.flaws.push(content::misplaced(path, &kind, home, drop));
    } else if home == Role::Assistant {
        message.calls.push(Call {
            id,
            name: block.text("name").unwrap_or_default(),
            arguments: block.get("input").map(content::as_written).unwrap_or_default(),
            needs_answer: true,
            block: Some(index),
            id_place,
        });
    } else {
        let body = block.get("content").map(JsonText::from);
        let is_error = content::is_failure(block);
        let answer = Answer { id, name: None, block: Some(index), body, is_error, id_place };
        message.answers.push(answer);
        if let Some(result) = block.get("content") {
            content::nested(result, Nature::Answer, 0, &mut message.pieces);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::samples::{call, list, result, user};
    use crate::CandidateOptions;
    use crate::Format::Anthropic;
    use crate::testing::{Words, labels, read, violations};

    #[test]
    fn each_step_is_a_bundle_and_needs_the_message_that_opens_its_turn() {
        let text = list(&[
            user("first"),
            call("a"),
            result("a"),
            r#"{"role":"assistant","content":"done"}"#.into(),
            user("second"),
            call("b"),
            result("b"),
            call("c"),
            result("c"),
        ]);
        assert_eq!(
            labels(&text, Anthropic),
            [
                "[0]: user",
                "[1..3]: assistant, tool result > [0]",
                "[3]: assistant > [0]",
                "*[4]: user",
                "[5..7]: assistant, tool result > [4]",
                "*[7..9]: assistant, tool result > [4]",
            ]
        );
        let request = read(&text, Anthropic);
        let options = CandidateOptions { whole_turns: true, ..Default::default() };
        let candidates = request.candidates(&Words, &options).unwrap();
        assert_eq!(candidates.bundle(0).label(), "[0..4]: user, 2 × assistant, tool result");
        assert_eq!(candidates.bundles().len(), 4);
    }

    #[test]
    fn in_the_last_turn_a_step_without_thinking_needs_the_thinking_before_it() {
        let thought = call("a").replace(
            r#""content":["#,
            r#""content":[{"type":"thinking","thinking":"hm","signature":"s"},"#,
        );
        let again = thought.replace("\"a\"", "\"c\"");
        let mut messages =
            vec![user("go"), thought, result("a"), call("b"), result("b"), again, result("c")];
        assert_eq!(
            labels(&list(&messages), Anthropic),
            [
                "*[0]: user",
                "[1..3]: assistant, tool result > [0]",
                "[3..5]: assistant, tool result > [1..3]",
                "*[5..7]: assistant, tool result > [0]",
            ]
        );
        messages.push(user("on"));
        assert_eq!(labels(&list(&messages), Anthropic)[2], "[3..5]: assistant, tool result > [0]");
        messages.truncate(5);
        assert_eq!(
            labels(&list(&messages), Anthropic),
            [
                "*[0]: user",
                "*[1..3]: assistant, tool result > [0]",
                "*[3..5]: assistant, tool result > [1..3]",
            ]
        );
    }

    #[test]
    fn words_beside_results_pin_the_step_that_they_are_in() {
        let mixed = result("a").replace("]}", r#",{"type":"text","text":"and now the other"}]}"#);
        let text =
            list(&[user("go"), call("a"), mixed, call("b"), result("b"), call("c"), result("c")]);
        assert_eq!(
            labels(&text, Anthropic),
            [
                "*[0]: user",
                "*[1..3]: assistant, tool result, user > [0]",
                "[3..5]: assistant, tool result > [0]",
                "*[5..7]: assistant, tool result > [0]",
            ]
        );
        assert_eq!(read(&text, Anthropic).query().as_deref(), Some("and now the other"));
    }

    #[test]
    fn system_and_tools_are_fixed() {
        let text = r#"{"model":"claude-x","max_tokens":9,"system":[{"type":"text","text":"S"}],
            "tools":[{"name":"ls","input_schema":{}}],"messages":[{"role":"user","content":"go"}]}"#;
        assert_eq!(
            labels(text, Anthropic),
            ["*system: system prompt", "*tools: tool definition", "*messages[0]: user"]
        );
        assert_eq!(read(text, Anthropic).output_limit(), Some(9));
    }

    #[test]
    fn system_messages_are_for_models_that_take_them_and_are_part_of_their_turn() {
        let system = r#"{"role":"system","content":"S"}"#.to_owned();
        let said = r#"{"role":"assistant","content":"done"}"#.to_owned();
        let request = |model: &str, messages: &[String]| {
            format!(r#"{{"model":"{model}","messages":{}}}"#, list(messages))
        };
        let messages =
            [user("a"), system.clone(), said.clone(), user("b"), said.clone(), user("c")];
        let text = request("claude-opus-4-8", &messages);
        assert_eq!(
            labels(&text, Anthropic),
            [
                "messages[0]: user",
                "messages[1]: system > messages[0] > messages[2]",
                "messages[2]: assistant > messages[0]",
                "messages[3]: user",
                "messages[4]: assistant > messages[3]",
                "*messages[5]: user",
            ]
        );
        let reminded = [user("a"), call("1"), result("1"), system.clone()];
        assert_eq!(
            labels(&request("claude-opus-4-8", &reminded), Anthropic),
            [
                "*messages[0]: user",
                "*messages[1..3]: assistant, tool result > messages[0]",
                "*messages[3]: system > messages[1..3]",
            ]
        );
        let refused = violations(&request("claude-sonnet-4-5", &messages), Anthropic);
        assert_eq!(
            refused,
            [
                "messages[1]: the system prompt is no message; put it into the field `system` of the \
              request (system-message)"
            ]
        );
        let misplaced = request("claude-opus-4-8", &[user("a"), said, system, user("b")]);
        assert!(violations(&misplaced, Anthropic)[0].contains("must follow one of the user"));
    }

    #[test]
    fn a_compaction_stays() {
        let summary = r#"{"role":"assistant","content":[{"type":"compaction","content":"so far"},
            {"type":"text","text":"on we go"}]}"#;
        let text = list(&[user("a"), summary.into(), user("b"), call("x"), result("x"), user("c")]);
        let labels = labels(&text, Anthropic);
        assert_eq!(labels[..2], ["*[0]: user", "*[1]: assistant > [0]"]);
        assert!(!labels[2].starts_with('*'));
    }

    #[test]
    fn what_stands_beside_a_result_is_part_of_the_answer() {
        let extra = |message: &str, block: &str, field: &str| {
            message.replace(block, &format!(r#"{block},"{field}":"words""#))
        };
        let call = extra(&call("x"), r#""name":"ls""#, "caption");
        let result = extra(&result("x"), r#""content":"x""#, "caption");
        let text = list(&[user("a"), call, result]);
        let has = |at: usize, piece: &str| {
            crate::testing::pieces(&text, Anthropic, at).contains(&piece.to_owned())
        };
        assert!(has(1, "Aside: words") && has(2, "Answer: words") && has(2, "Answer: x"));
    }
}
