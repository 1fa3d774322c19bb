use crate::{Format, Pick, Request, TranscriptKind};

/// A transcript of lines: `kind uuid parent rest`, where the rest is JSON fields.
fn transcript(lines: &[(&str, &str, &str, &str)]) -> String {
    let line = |(kind, uuid, parent, rest): &(&str, &str, &str, &str)| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s",{rest}}}"#
        ) + "\n"
    };
    lines.iter().map(line).collect()
}

fn user(content: &str) -> String {
    format!(r#""message":{{"role":"user","content":{content}}}"#)
}

fn assistant(id: &str, block: &str) -> String {
    format!(
        r#""message":{{"role":"assistant","model":"claude-x","id":"{id}","content":[{block}],"usage":{{"input_tokens":5,"cache_read_input_tokens":7}}}}"#
    )
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}"#)
}

fn result(id: &str, text: &str) -> String {
    user(&format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}]"#))
}

/// The messages of the request, one on each line, and the notes.
#[track_caller]
fn import(text: &str, pick: &Pick) -> (Vec<String>, Vec<String>) {
    assert_eq!(TranscriptKind::detect(text), Some(TranscriptKind::ClaudeCode));
    let imported = TranscriptKind::ClaudeCode.import(text, pick).unwrap();
    let request = Request::parse(imported.text.as_str(), None).unwrap();
    assert_eq!(request.format(), Format::Anthropic);
    assert_eq!(request.validate(), []);
    let lines = imported.text.lines().filter_map(|line| line.trim().strip_prefix(r#"{"role":"#));
    let lines = lines.map(|line| line.trim_end_matches(',').trim_end_matches('}').to_owned());
    (lines.collect(), imported.notes)
}

#[test]
fn the_last_request_is_what_was_sent_before_the_last_answer() {
    let text = transcript(&[
        ("user", "1", "", &user("\"Hi\"")),
        ("assistant", "2", "1", &assistant("a", r#"{"type":"text","text":"Ho"}"#)),
        ("user", "3", "2", &user("\"Why?\"")),
        ("assistant", "4", "3", &assistant("b", r#"{"type":"text","text":"So"}"#)),
    ]);
    let (messages, notes) = import(&text, &Pick::Last);
    assert_eq!(
        messages,
        [
            r#""user","content":"Hi""#,
            r#""assistant","content":[{"type":"text","text":"Ho"}]"#,
            r#""user","content":"Why?""#
        ]
    );
    assert_eq!(
        notes,
        [
            "the system prompt and the tool definitions are not in a transcript",
            "the provider counted 12 input tokens for all of it"
        ]
    );
}

#[test]
fn blocks_of_one_answer_come_together_and_results_of_parallel_calls_follow_it() {
    // The second result hangs on the second call, beside the third: a way back from the end misses it.
    let text = transcript(&[
        ("user", "1", "", &user("\"Go\"")),
        (
            "assistant",
            "2",
            "1",
            &assistant("a", r#"{"type":"thinking","thinking":"t","signature":"s"}"#),
        ),
        ("assistant", "3", "2", &assistant("a", &call("x"))),
        ("user", "4", "3", &result("x", "X")),
        ("assistant", "5", "4", &assistant("a", &call("y"))),
        ("assistant", "6", "5", &assistant("a", &call("z"))),
        ("user", "7", "5", &result("y", "Y")),
        ("user", "8", "6", &result("z", "Z")),
    ]);
    let (messages, _) = import(&text, &Pick::Last);
    assert_eq!(messages.len(), 3);
    for part in ["thinking", "\"x\"", "\"y\"", "\"z\""] {
        assert!(messages[1].contains(part), "{part} in {}", messages[1]);
    }
    let order: Vec<usize> =
        ["\"X\"", "\"Y\"", "\"Z\""].iter().map(|part| messages[2].find(part).unwrap()).collect();
    assert!(order.is_sorted(), "{}", messages[2]);
    assert_eq!(TranscriptKind::ClaudeCode.list(&text).unwrap().len(), 1);
}

#[test]
fn branches_and_side_chains_are_left_out_and_can_be_chosen() {
    let side = format!(r#""isSidechain":true,"agentId":"agent-7",{}"#, user("\"Aside\""));
    let text = transcript(&[
        ("user", "1", "", &user("\"First try\"")),
        ("assistant", "2", "1", &assistant("a", r#"{"type":"text","text":"Ho"}"#)),
        ("user", "3", "2", &user("\"Wrong turn\"")),
        ("user", "9", "", &side),
        ("user", "4", "2", &user("\"Right turn\"")),
    ]);
    let listed = TranscriptKind::ClaudeCode.list(&text).unwrap();
    let listed: Vec<(&str, Option<usize>)> =
        listed.iter().map(|listed| (listed.id.as_str(), listed.messages)).collect();
    assert_eq!(listed, [("3", Some(3)), ("agent-7", Some(1)), ("s", Some(3))]);
    assert!(import(&text, &Pick::Last).0[2].contains("Right turn"));
    assert!(import(&text, &Pick::Named("1".into())).0[2].contains("Wrong turn"));
    assert_eq!(import(&text, &Pick::Named("agent-7".into())).0, [r#""user","content":"Aside""#]);
}

#[test]
fn a_compaction_leaves_its_summary_and_what_it_kept() {
    let boundary = r#""subtype":"compact_boundary","logicalParentUuid":"3","compactMetadata":{"preservedMessages":{"anchorUuid":"5","uuids":["2","3"]}}"#;
    let summary = format!(
        r#""isCompactSummary":true,"isVisibleInTranscriptOnly":true,{}"#,
        user("\"In short\"")
    );
    let hidden = format!(r#""isVisibleInTranscriptOnly":true,{}"#, user("\"hidden\""));
    let text = transcript(&[
        ("user", "1", "", &user("\"Long ago\"")),
        ("assistant", "2", "1", &assistant("a", &call("x"))),
        ("user", "3", "2", &result("x", "X")),
        ("system", "4", "", boundary),
        ("user", "5", "4", &summary),
        ("user", "6", "5", &hidden),
        ("assistant", "7", "6", &assistant("b", r#"{"type":"text","text":"On"}"#)),
        ("user", "8", "7", &user("\"Next\"")),
    ]);
    let (messages, _) = import(&text, &Pick::Last);
    let begins: Vec<&str> = messages.iter().map(|line| &line[..line.len().min(33)]).collect();
    assert_eq!(
        begins,
        [
            r#""user","content":"In short""#,
            r#""assistant","content":[{"type":"t"#,
            r#""user","content":[{"type":"tool_r"#,
            r#""assistant","content":[{"type":"t"#,
            r#""user","content":"Next""#
        ]
    );
    assert_eq!(TranscriptKind::ClaudeCode.list(&text).unwrap().len(), 1);
}

#[test]
fn what_the_program_adds_stands_where_it_is_sent() {
    let text = transcript(&[
        ("user", "1", "", &user("\"Go\"")),
        ("attachment", "2", "1", r#""attachment":{"type":"skill_listing","content":"skills"}"#),
        ("assistant", "3", "2", &assistant("a", &call("x"))),
        ("user", "4", "3", &result("x", "X")),
        (
            "attachment",
            "5",
            "4",
            r#""attachment":{"type":"file","filename":"a.rs","content":{"file":{"content":"fn a"}}}"#,
        ),
        ("attachment", "6", "5", r#""attachment":{"type":"task_reminder","content":[]}"#),
    ]);
    let (messages, notes) = import(&text, &Pick::Last);
    assert!(
        messages[0].contains("skills") && messages[0].ends_with(r#"{"type":"text","text":"Go"}]"#)
    );
    assert!(messages[2].contains(r#""content":"X\n\n<system-reminder>\na.rs\nfn a\n"#));
    assert_eq!(messages.len(), 3);
    assert!(notes.contains(
        &"skipped on line 6: an attachment `task_reminder`, whose text is not in the transcript".to_owned()
    ));
}

#[test]
fn a_long_result_is_what_was_sent_instead_of_it() {
    let mut text = transcript(&[
        ("user", "1", "", &user("\"Go\"")),
        ("assistant", "2", "1", &assistant("a", &call("x"))),
        ("user", "3", "2", &result("x", "long long")),
    ]);
    text += r#"{"type":"content-replacement","sessionId":"s","replacements":[{"kind":"tool-result","toolUseId":"x","replacement":"in a file"}]}"#;
    let (messages, _) = import(&text, &Pick::Last);
    assert_eq!(
        messages[2],
        r#""user","content":[{"type":"tool_result","tool_use_id":"x","content":"in a file"}]"#
    );
}

#[test]
fn broken_lines_unknown_records_and_missing_ones_are_told() {
    let mut text = transcript(&[
        ("user", "2", "1", &user("\"Hi\"")),
        ("oracle", "3", "2", r#""x":1"#),
        ("oracle", "4", "3", r#""x":1"#),
        ("user", "5", "4", &user("\"Ho\"")),
    ]);
    text += "{\"type\":\"user\",\"uuid\":\"6\",\"mess";
    let (messages, notes) = import(&text, &Pick::Last);
    assert_eq!(messages.len(), 2);
    assert_eq!(
        notes,
        [
            "line 1 follows a record that is not in the file: what came before is missing",
            "the system prompt and the tool definitions are not in a transcript",
            "skipped on line 5: a line that is not whole",
            "skipped 2 times, first on line 2: a record of the unknown type `oracle`",
        ]
    );
}

#[test]
fn records_that_name_each_other_end_and_errors_are_not_sent() {
    let refusal = format!(
        r#""isApiErrorMessage":true,{}"#,
        assistant("e", r#"{"type":"text","text":"API Error"}"#)
    );
    let text = transcript(&[
        ("user", "1", "2", &user("\"Hi\"")),
        ("user", "2", "1", &user("\"Ho\"")),
        ("assistant", "3", "2", &refusal),
        ("user", "4", "3", &user("\"Again\"")),
    ]);
    assert_eq!(import(&text, &Pick::Last).0.len(), 3);
    let only =
        transcript(&[("assistant", "1", "", &assistant("a", r#"{"type":"text","text":"x"}"#))]);
    let error = TranscriptKind::ClaudeCode.import(&only, &Pick::Last).unwrap_err();
    assert_eq!(
        error.to_string(),
        "nothing was sent to the model in it; choose another conversation"
    );
}
