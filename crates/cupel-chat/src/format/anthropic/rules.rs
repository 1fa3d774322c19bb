//! The rules of Anthropic.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::conversation::Conversation;
use crate::json::Json;
use crate::message::{Bond, Message, Role};
use crate::pairing::{IdScope, check_unique_ids};
use crate::text::JsonText;
use crate::validate::{Finding, Fix};

pub(super) fn check(conversation: &Conversation, findings: &mut Vec<Finding>) {
    check_beginning(conversation, findings);
    check_system_messages(conversation, findings);
    check_unique_ids(conversation, IdScope::Request, findings);
    conversation.pairing().check(conversation, true, findings);
    check_results_first(conversation, findings);
    check_server_results(conversation, findings);
    check_texts(conversation, findings);
    check_endings(conversation, findings);
    check_last_turn(conversation, findings);
}

/// The first message must be the user's.
fn check_beginning(conversation: &Conversation, findings: &mut Vec<Finding>) {
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
        // Content is blocks, or a text.
        let content =
            message.blocks.is_empty().then(|| message.json.view().at_path("content")).flatten();
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
    use super::super::samples::{call, list, result, user};
    use crate::Format::Anthropic;
    use crate::testing::{read, repaired, violations};

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
    fn only_the_end_of_the_beginning_of_the_answer_must_not_be_space() {
        let assistant = |content: &str| format!(r#"{{"role":"assistant","content":[{content}]}}"#);
        let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
        let two = assistant(&format!("{},{}", text("One. "), text("Two.")));
        assert_eq!(violations(&list(&[user("go"), two.clone()]), Anthropic), [""; 0]);
        let answered = list(&[user("go"), assistant(&text("Well. ")), user("on ")]);
        assert_eq!(violations(&answered, Anthropic), [""; 0]);
        let spaced = two.replace("Two.", "Two. ");
        assert_eq!(
            violations(&list(&[user("go"), spaced]), Anthropic),
            ["[1].content[1]: the beginning of the answer ends in white space; cut the white \
              space off (trailing-space)"]
        );
    }

    #[test]
    fn blocks_of_nothing_but_space_are_empty() {
        let blocks =
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":" "}]}"#;
        assert_eq!(
            violations(&list(&[blocks.into()]), Anthropic),
            ["[0].content[1]: the text is empty; write something, or remove it (empty-text)"]
        );
        let kept = r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#;
        assert_eq!(repaired(&list(&[blocks.into()]), Anthropic).0, list(&[kept.into()]));
    }

    #[test]
    fn results_of_the_service_follow_calls_of_the_service() {
        for (call, result) in [
            ("mcp_tool_use", "mcp_tool_result"),
            ("server_tool_use", "web_search_tool_result"),
            ("server_tool_use", "bash_code_execution_tool_result"),
        ] {
            let call = format!(r#"{{"type":"{call}","id":"s1","name":"n","input":{{}}}}"#);
            let answer = format!(r#"{{"type":"{result}","tool_use_id":"s1","content":[]}}"#);
            let said = r#"{"type":"text","text":"done"}"#;
            let steps = |blocks: &[&str]| {
                let blocks = blocks.join(",");
                list(&[user("go"), format!(r#"{{"role":"assistant","content":[{blocks}]}}"#)])
            };
            assert_eq!(violations(&steps(&[&call, &answer, said]), Anthropic), [""; 0]);
            let orphan = format!(
                "[1].content[0]: the {result} of `s1` has no call before it; remove it, or put its \
                 call back (orphan-result)"
            );
            assert_eq!(violations(&steps(&[&answer, &call, said]), Anthropic), [orphan]);
            assert_eq!(repaired(&steps(&[&answer, said]), Anthropic).0, steps(&[said]));
        }
    }

    #[test]
    fn a_system_message_needs_the_user_before_it_and_nobody_else_behind_it() {
        let system = r#"{"role":"system","content":"S"}"#.to_owned();
        let said = r#"{"role":"assistant","content":"so"}"#.to_owned();
        let is_fine = |messages: &[String]| {
            let list = list(messages);
            let text = format!(r#"{{"model":"claude-opus-4-8","messages":{list}}}"#);
            violations(&text, Anthropic).is_empty()
        };
        assert!(is_fine(&[user("a"), system.clone()]));
        assert!(is_fine(&[user("a"), system.clone(), said.clone(), user("b")]));
        assert!(!is_fine(&[user("a"), system.clone(), user("b")]), "the user is behind it");
        assert!(!is_fine(&[user("a"), said.clone(), system.clone()]), "no user before it");
        assert!(!is_fine(&[system.clone(), said, user("b")]), "nobody before it");
    }

    #[test]
    fn thinking_at_the_end_of_a_message_is_cut_off_and_the_rest_stays() {
        let thinking = r#"{"type":"thinking","thinking":"hm"}"#;
        let hidden = r#"{"type":"redacted_thinking","data":"x"}"#;
        let texts = r#"{"type":"text","text":"a"},{"type":"text","text":"b"}"#;
        let message = |blocks: &str| {
            let said = format!(r#"{{"role":"assistant","content":[{blocks}]}}"#);
            list(&[user("go"), said, user("on")])
        };
        let (text, done) =
            repaired(&message(&format!("{thinking},{texts},{thinking},{hidden}")), Anthropic);
        assert_eq!(text, message(&format!("{thinking},{texts}")));
        assert_eq!(done, ["dropped a part of [1]: the message ends with thinking"]);
    }

    #[test]
    fn results_of_one_message_of_calls_may_stand_in_two_messages() {
        let calls =
            call("a").replace("[{", r#"[{"type":"tool_use","id":"b","name":"ls","input":{}},{"#);
        let apart = list(&[user("go"), calls, result("a"), result("b")]);
        assert_eq!(violations(&apart, Anthropic), [""; 0]);
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
    fn a_long_turn_without_its_beginning_goes_to_its_end() {
        let ids: Vec<String> = (0..40).map(|at| format!("a{at}")).collect();
        let mut messages: Vec<String> = ids.iter().flat_map(|id| [call(id), result(id)]).collect();
        messages.push(user("go"));
        let (repaired, done) = repaired(&list(&messages), Anthropic);
        assert_eq!(repaired, list(&[user("go")]));
        assert_eq!(done.len(), 80);
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
