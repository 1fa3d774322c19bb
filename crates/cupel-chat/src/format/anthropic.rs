//! Anthropic Messages.
//!
//! Every `tool_use` is answered by the user's message that follows, results first, and the first
//! message is the user's. So a bundle is a whole turn, from one message of the user to the next. Of
//! the last turn the user's message is pinned, and each step of the agent is a bundle: what the
//! assistant says and the results that follow. A user's message that has results as well as words
//! belongs to the step that it answers; if its words are the user's last, that step is pinned too.
//!
//! Models that take system messages want them behind a message of the user: such a message belongs to
//! its turn. A compaction stands for all that came before it, and stays.
//!
//! A step that begins without thinking stays with the one before it that began with thinking: the
//! first step that the service sees must keep its thinking.

use std::borrow::Cow;
use std::collections::HashSet;

use cupel_tokens::{Model, Overheads};

use super::openai_chat::missing_id;
use super::{Dialect, content};
use crate::ChatError;
use crate::conversation::{Answer, Bond, Call, Conversation, Fixed, Message, Nature, Role};
use crate::document::Document;
use crate::grouping::{Group, PinReason, turns};
use crate::json::{Json, Object};
use crate::pairing::{IdScope, Pairing, check_unique_ids};
use crate::rest::push_rest;
use crate::text::JsonText;
use crate::validate::{Finding, Fix};

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
        conversation.read_messages(listing.elements, read_message);
        Ok(conversation)
    }

    fn check(&self, conversation: &Conversation, findings: &mut Vec<Finding>) {
        check_beginning(conversation, findings);
        check_system_messages(conversation, findings);
        check_unique_ids(conversation, IdScope::Request, findings);
        Pairing::of(&conversation.messages).check(conversation, true, findings);
        check_results_first(conversation, findings);
        check_server_results(conversation, findings);
        check_texts(conversation, findings);
        check_endings(conversation, findings);
        check_last_turn(conversation, findings);
    }

    fn group(&self, conversation: &Conversation) -> Vec<Group> {
        turns(conversation, false)
    }

    fn overheads(&self) -> Overheads {
        Overheads::anthropic()
    }
}

fn read_message(json: Json<'_>, object: &Object<'_>, at: usize, path: &str) -> Message {
    let native_role = object.text("role").unwrap_or_default();
    let role = match native_role.as_ref() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => Role::Unknown,
    };
    let mut message = Message::new(json, role, native_role);
    message.notes.take_in(object);
    if role == Role::Unknown {
        let known = ["user", "assistant"];
        message.flaws.push(content::role_flaw(path, "role", object.get("role"), &known));
    }
    let body = object.get("content");
    if body.is_none() {
        message.flaws.push(content::missing(&format!("{path}.content"), Fix::Drop(at)));
    }
    let path = format!("{path}.content");
    content::read(&mut message, body, &path, Nature::Words, |message, index, block| {
        read_block(message, at, &path, index, block)
    });
    push_rest(object, &["content"], Nature::Words, &mut message.pieces);
    message
}

/// Takes calls and results. Returns whether the block was one.
fn read_block(
    message: &mut Message,
    at: usize,
    path: &str,
    index: usize,
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
    let path = format!("{path}[{index}]");
    let Some(id) = block.text(id_field) else {
        message.flaws.push(missing_id(&format!("{path}.{id_field}"), drop));
        return true;
    };
    let nature = if home == Role::User { Nature::Answer } else { Nature::Words };
    push_rest(block, &["name", "input", "content"], nature, &mut message.pieces);
    if message.role != home {
        message.flaws.push(content::misplaced(&path, &kind, home, drop));
    } else if home == Role::Assistant {
        message.calls.push(Call {
            id,
            name: block.text("name").unwrap_or_default(),
            arguments: block.get("input").map(content::as_written).unwrap_or_default(),
            needs_answer: true,
            block: Some(index),
        });
    } else {
        message.answers.push(Answer { id, name: None, block: Some(index) });
        if let Some(result) = block.get("content") {
            content::nested(result, Nature::Answer, 0, &mut message.pieces);
        }
    }
    true
}

/// The first message must be the user's.
pub(super) fn check_beginning(conversation: &Conversation, findings: &mut Vec<Finding>) {
    let spoken = conversation.messages.iter().enumerate();
    let spoken = spoken.filter(|(_, message)| message.role != Role::System);
    // Of an unknown role nobody can say whose it is.
    let is_others = |message: &Message| matches!(message.role, Role::Assistant | Role::Tool);
    for (at, message) in spoken.take_while(|(_, message)| is_others(message)) {
        let text = format!("the first message must be the user's, not of role {}", {
            &message.native_role
        });
        let finding = Finding::new(
            conversation.path(at),
            "first-not-user",
            text,
            "begin with a message of the user",
        );
        findings.push(finding.fixed_by(Fix::Drop(at)));
    }
}

/// A system prompt among the messages is only for models that take it, behind a message of the user
/// and before one of the assistant or the end.
fn check_system_messages(conversation: &Conversation, findings: &mut Vec<Finding>) {
    let messages = &conversation.messages;
    let role = |at: Option<usize>| at.and_then(|at| messages.get(at)).map(|message| message.role);
    for (at, message) in messages.iter().enumerate() {
        if message.role != Role::System {
            continue;
        }
        let is_placed = role(at.checked_sub(1)) == Some(Role::User)
            && matches!(role(Some(at + 1)), None | Some(Role::Assistant));
        let (text, remedy) = if !conversation.takes_system_messages {
            let text = "the system prompt is no message";
            (text, "put it into the field `system` of the request")
        } else if is_placed {
            continue;
        } else {
            let text = "a system message must follow one of the user, and come last or before one of \
                        the assistant";
            (text, "move it behind a message of the user, or into the field `system`")
        };
        findings.push(Finding::new(conversation.path(at), "system-message", text, remedy));
    }
}

/// Results of what the service does by itself follow their calls.
fn check_server_results(conversation: &Conversation, findings: &mut Vec<Finding>) {
    let mut called: HashSet<Cow<'_, str>> = HashSet::new();
    for (at, message) in conversation.messages.iter().enumerate() {
        for (index, block) in message.blocks.iter().enumerate() {
            let Some(block) = block.view().object() else { continue };
            let kind = block.str("type").unwrap_or_default();
            if matches!(kind.as_ref(), "server_tool_use" | "mcp_tool_use") {
                called.extend(block.str("id"));
            }
            let answers_server = kind != "tool_result" && kind.ends_with("_tool_result");
            let id = block.str("tool_use_id").unwrap_or_default();
            if answers_server && !called.contains(&id) {
                let path = format!("{}.content[{index}]", conversation.path(at));
                let text = format!("the {kind} of `{id}` has no call before it");
                let remedy = "remove it, or put its call back";
                let finding = Finding::new(path, "orphan-result", text, remedy);
                findings.push(finding.fixed_by(Fix::DropBlocks(at, vec![index])));
            }
        }
    }
}

/// No text is empty, and the beginning of the answer does not end in white space.
fn check_texts(conversation: &Conversation, findings: &mut Vec<Finding>) {
    let last = conversation.messages.len().saturating_sub(1);
    for (at, message) in conversation.messages.iter().enumerate() {
        let path = format!("{}.content", conversation.path(at));
        let is_prefill = at == last && message.role == Role::Assistant;
        let content = message.json.view().at_path("content");
        if let Some(text) = content.and_then(Json::str) {
            if text.trim().is_empty() && !is_prefill {
                findings.push(empty_text(&path).fixed_by(Fix::Drop(at)));
            }
            check_prefill(&path, is_prefill, &text, findings);
        }
        for (index, block) in message.blocks.iter().enumerate() {
            let block =
                block.view().object().filter(|b| b.str("type").is_some_and(|t| t == "text"));
            let Some(text) = block.and_then(|block| block.str("text")) else { continue };
            let path = format!("{path}[{index}]");
            if text.trim().is_empty() {
                findings.push(empty_text(&path).fixed_by(Fix::DropBlocks(at, vec![index])));
            } else if index + 1 == message.blocks.len() {
                check_prefill(&path, is_prefill, &text, findings);
            }
        }
    }
}

fn empty_text(path: &str) -> Finding {
    Finding::new(path, "empty-text", "the text is empty", "write something, or remove it")
}

fn check_prefill(path: &str, is_prefill: bool, text: &str, findings: &mut Vec<Finding>) {
    if is_prefill && text.ends_with(char::is_whitespace) {
        let problem = "the beginning of the answer ends in white space";
        findings.push(Finding::new(path, "trailing-space", problem, "cut the white space off"));
    }
}

/// No message may end with thinking.
fn check_endings(conversation: &Conversation, findings: &mut Vec<Finding>) {
    let is_thinking = |block: &JsonText| {
        let kind = block.view().object().and_then(|block| block.text("type"));
        matches!(kind.as_deref(), Some("thinking" | "redacted_thinking"))
    };
    for (at, message) in conversation.messages.iter().enumerate() {
        let thinking = message.blocks.iter().rev().take_while(|block| is_thinking(block)).count();
        if thinking == 0 {
            continue;
        }
        let finding = Finding::new(
            conversation.path(at),
            "thinking-last",
            "the message ends with thinking",
            "put what it led to behind it, or remove it",
        );
        let all = message.blocks.len();
        findings.push(finding.fixed_by(Fix::DropBlocks(at, (all - thinking..all).collect())));
    }
}

/// With thinking enabled, what the assistant did in the last turn begins with thinking.
fn check_last_turn(conversation: &Conversation, findings: &mut Vec<Finding>) {
    let messages = &conversation.messages;
    let opening = messages.iter().rposition(Message::opens_turn);
    let (Some(opening), true) = (opening, conversation.wants_reasoning) else { return };
    let turn = opening + 1..messages.len();
    let is_step = |at: &usize| messages[*at].role == Role::Assistant;
    let reasons = |at: &usize| is_step(at) && messages[*at].bond == Bond::Reasoning;
    let Some(first) = turn.clone().find(is_step).filter(|at| !reasons(at)) else { return };
    let end = turn.clone().find(reasons).unwrap_or(turn.end);
    let finding = Finding::new(
        conversation.path(first),
        "missing-thinking",
        "thinking is enabled, but the last turn of the assistant does not begin with it",
        "put its thinking block back, or disable thinking",
    );
    findings.push(finding.fixed_by(Fix::DropAll((first..end).collect())));
}

/// Results come before everything else that the user says after a call.
fn check_results_first(conversation: &Conversation, findings: &mut Vec<Finding>) {
    for (at, message) in conversation.messages.iter().enumerate() {
        let results: Vec<usize> =
            message.answers.iter().filter_map(|answer| answer.block).collect();
        if results.iter().copied().eq(0..results.len()) {
            continue;
        }
        let others =
            (0..message.blocks.len()).filter(|block| results.binary_search(block).is_err());
        let order = results.iter().copied().chain(others).collect();
        let finding = Finding::new(
            conversation.path(at),
            "result-not-first",
            "results of tools must come before everything else in the message",
            "put the tool_result blocks first",
        );
        findings.push(finding.fixed_by(Fix::ReorderBlocks(at, order)));
    }
}

#[cfg(test)]
mod tests {
    use crate::Format::Anthropic;
    use crate::testing::{labels, read, repaired, violations};

    fn call(id: &str) -> String {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"ls","input":{{}}}}]}}"#
        )
    }

    fn result(id: &str) -> String {
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}]}}"#
        )
    }

    fn user(text: &str) -> String {
        format!(r#"{{"role":"user","content":"{text}"}}"#)
    }

    fn list(messages: &[String]) -> String {
        format!("[{}]", messages.join(","))
    }

    #[test]
    fn turns_stay_whole_and_the_last_goes_step_by_step() {
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
                "[0..4]: user, 2 × assistant, tool result",
                "*[4]: user",
                "[5..7]: assistant, tool result",
                "*[7..9]: assistant, tool result",
            ]
        );
    }

    #[test]
    fn a_step_without_thinking_stays_with_the_thinking_before_it() {
        let thought = call("a").replace(
            r#""content":["#,
            r#""content":[{"type":"thinking","thinking":"hm","signature":"s"},"#,
        );
        let again = thought.replace("\"a\"", "\"c\"");
        let text =
            list(&[user("go"), thought, result("a"), call("b"), result("b"), again, result("c")]);
        assert_eq!(
            labels(&text, Anthropic),
            [
                "*[0]: user",
                "[1..5]: 2 × assistant, 2 tool results",
                "*[5..7]: assistant, tool result",
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
                "*[1..3]: assistant, tool result, user",
                "[3..5]: assistant, tool result",
                "*[5..7]: assistant, tool result",
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
    fn broken_rules_are_named() {
        let late = r#"{"role":"user","content":[{"type":"text","text":"so"},{"type":"tool_result","tool_use_id":"a"}]}"#;
        let text = list(&[
            call("a"),
            late.into(),
            result("x"),
            call("a"),
            r#"{"role":"user","content":[{"type":"tool_use","id":"q","name":"ls"}]}"#.into(),
            r#"{"role":"system","content":"S"}"#.into(),
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}"#.into(),
        ]);
        let rules: Vec<String> = read(&text, Anthropic)
            .validate()
            .iter()
            .map(|v| format!("{} {}", v.path, v.rule))
            .collect();
        assert_eq!(
            rules,
            [
                "[0] first-not-user",
                "[1] result-not-first",
                "[2] orphan-result",
                "[3] duplicate-call-id",
                "[3] unanswered-call",
                "[4].content[0] misplaced-block",
                "[5] system-message",
                "[6] thinking-last",
            ]
        );
    }

    #[test]
    fn system_messages_are_for_models_that_take_them_and_stay_where_they_are() {
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
                "*messages[0..3]: user, system, assistant",
                "messages[3..5]: user, assistant",
                "*messages[5]: user",
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
        assert_eq!(labels[0], "*[0..2]: user, assistant");
        assert!(!labels[1].starts_with('*'));
    }

    #[test]
    fn texts_are_not_empty_and_the_beginning_of_the_answer_does_not_end_in_space() {
        let prefill =
            |text: &str| list(&[user("go"), format!(r#"{{"role":"assistant","content":{text}}}"#)]);
        assert_eq!(
            violations(&prefill(r#""{ ""#), Anthropic),
            ["[1].content: the beginning of the answer ends in white space; cut the white space \
              off (trailing-space)"]
        );
        assert!(
            violations(&prefill(r#"[{"type":"text","text":"{\n"}]"#), Anthropic)[0]
                .contains("trailing-space")
        );
        assert_eq!(violations(&prefill(r#""{""#), Anthropic), [""; 0]);
        assert_eq!(
            violations(
                &list(&[user("go"), r#"{"role":"assistant","content":""}"#.into(), user("x")]),
                Anthropic
            ),
            ["[1].content: the text is empty; write something, or remove it (empty-text)"]
        );
    }

    #[test]
    fn with_thinking_enabled_the_last_turn_begins_with_it() {
        let thought = call("b").replace("[{", r#"[{"type":"thinking","thinking":"hm"},{"#);
        let steps = list(&[user("go"), call("a"), result("a"), thought, result("b")]);
        let text = format!(r#"{{"thinking":{{"type":"enabled"}},"messages":{steps}}}"#);
        assert_eq!(
            violations(&text, Anthropic),
            [
                "messages[1]: thinking is enabled, but the last turn of the assistant does not begin \
              with it; put its thinking block back, or disable thinking (missing-thinking)"
            ]
        );
        let (repaired, done) = repaired(&text, Anthropic);
        assert_eq!(read(&repaired, Anthropic).message_count(), 3);
        assert!(done[0].starts_with("dropped messages[1], messages[2]: "), "{done:?}");
        assert_eq!(violations(&text.replace("enabled", "disabled"), Anthropic), [""; 0]);
    }

    #[test]
    fn results_are_put_first_and_orphans_cut_out_of_their_message() {
        let late = r#"{"role":"user","content":[{"type":"text","text":"so"}, {"type":"tool_result","tool_use_id":"x"},{"type":"tool_result","tool_use_id":"a"}]}"#;
        let text = list(&[user("go"), call("a"), late.into()]);
        let (repaired, done) = repaired(&text, Anthropic);
        let expected = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}, {"type":"text","text":"so"}]}"#;
        assert!(repaired.ends_with(&format!("{expected}]")), "{repaired}");
        assert_eq!(
            done,
            [
                "dropped a part of [2]: the result of `x` has no call before it",
                "reordered [2]: results of tools must come before everything else in the message",
            ]
        );
    }

    #[test]
    fn what_stands_before_the_user_goes() {
        let text = list(&[call("a"), result("a"), user("go")]);
        let (repaired, done) = repaired(&text, Anthropic);
        assert_eq!(repaired, list(&[user("go")]));
        assert_eq!(done.len(), 2);
        assert_eq!(
            violations(&text, Anthropic),
            ["[0]: the first message must be the user's, not of role assistant; begin with a \
              message of the user (first-not-user)"]
        );
    }
}
