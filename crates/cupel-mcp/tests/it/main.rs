//! Hooks of Claude Code, by what the agent says and what it is answered.

use std::fs;
use std::path::PathBuf;

use cupel_engine::Engine;
use cupel_mcp::hook::{self, HookSettings};
use serde_json::{Value, json};

struct Place {
    settings: HookSettings,
}

impl Place {
    fn new(name: &str) -> Self {
        let folder = format!("cupel-hook-{}-{name}", std::process::id());
        let data = std::env::temp_dir().join(folder);
        let _ = fs::remove_dir_all(&data);
        fs::create_dir_all(&data).unwrap();
        let engine = Engine::builder().tokenizer("estimate");
        Self { settings: HookSettings { data, above: 1_000, to: 400, engine } }
    }

    fn say(&self, said: &Value) -> Option<Value> {
        let answer = hook::claude_code(&said.to_string(), &self.settings).unwrap();
        answer.map(|answer| serde_json::from_str(&answer).unwrap())
    }

    fn transcript(&self) -> PathBuf {
        self.settings.data.join("transcript.jsonl")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.settings.data);
    }
}

fn log() -> String {
    let lines: Vec<String> = (0..900).map(|number| format!("GET /orders/{number} 200\n")).collect();
    lines.concat()
}

fn used(tool: &str, response: &Value) -> Value {
    json!({"hook_event_name": "PostToolUse", "session_id": "one", "tool_name": tool,
        "tool_use_id": "toolu_1", "tool_response": response})
}

#[test]
fn long_texts_go_in_shorter_and_everything_else_stays() {
    let place = Place::new("shorter");
    let response =
        json!({"stdout": log(), "stderr": "warning: 1", "interrupted": false, "lines": [1, 2]});
    let answer = place.say(&used("Bash", &response)).unwrap();
    let updated = &answer["hookSpecificOutput"]["updatedToolOutput"];
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    for name in ["stderr", "interrupted", "lines"] {
        assert_eq!(updated[name], response[name]);
    }
    let short = updated["stdout"].as_str().unwrap();
    assert!(short.starts_with("GET /orders/0 200\n") && short.len() < log().len() / 4);
    let handle = short.split("whole: ").nth(1).unwrap().trim_end_matches(']');
    assert_eq!(place.settings.originals().find(handle).unwrap().as_deref(), Some(&*log()));
}

#[test]
fn results_of_mcp_tools_are_lists_of_texts() {
    let place = Place::new("mcp");
    let response = json!([{"type": "text", "text": log()}, {"type": "image", "data": log()}]);
    let answer = place.say(&used("mcp__shop__orders", &response)).unwrap();
    let updated = &answer["hookSpecificOutput"]["updatedToolOutput"];
    assert!(updated[0]["text"].as_str().unwrap().contains("the tool retrieve of cupel"));
    assert_eq!(updated[1], response[1], "an image is no text");
}

#[test]
fn what_is_short_or_our_own_is_not_answered() {
    let place = Place::new("own");
    assert_eq!(place.say(&used("Bash", &json!({"stdout": "short"}))), None);
    for own in ["mcp__cupel__retrieve", "mcp__plugin_cupel_cupel__retrieve"] {
        assert_eq!(place.say(&used(own, &json!([{"type": "text", "text": log()}]))), None, "{own}");
    }
    assert!(place.say(&used("mcp__cupels__list", &json!(log()))).is_some());
}

fn user(parent: Option<&str>, uuid: &str, text: &str) -> String {
    let message = json!({"role": "user", "content": text});
    let record = json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "one",
        "isSidechain": false, "message": message});
    format!("{record}\n")
}

fn event(name: &str, more: &Value) -> Value {
    let mut event = json!({"hook_event_name": name, "session_id": "one"});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

#[test]
fn rules_are_said_again_after_each_compaction() {
    let place = Place::new("rules");
    let path = json!({"transcript_path": place.transcript()});
    let first = user(None, "a", "Fix the login. Never touch the migrations folder.");
    fs::write(place.transcript(), first + &user(Some("a"), "b", "What is in it?")).unwrap();
    let start = |source: &str| {
        let event = event(
            "SessionStart",
            &json!({"source": source, "transcript_path": place.transcript()}),
        );
        let answer = place.say(&event)?;
        Some(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
    };
    assert_eq!(start("startup"), None);
    assert_eq!(start("compact"), None, "nothing was noted");
    assert_eq!(place.say(&event("PreCompact", &path)), None);
    assert_eq!(start("resume"), None);
    let told = start("compact").unwrap();
    assert!(told.ends_with("\n- Fix the login. Never touch the migrations folder."), "{told}");

    // After a compaction the transcript's last request knows nothing of what was said before it.
    fs::write(place.transcript(), user(None, "c", "Actually, always answer in French.")).unwrap();
    place.say(&event("PreCompact", &path));
    let told = start("compact").unwrap();
    let lines: Vec<&str> = told.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "- Fix the login. Never touch the migrations folder.",
            "- Actually, always answer in French."
        ]
    );
    let why = hook::why("one", &place.settings).unwrap();
    assert!(why.contains("Compacted 2 times; these rules of the user were put back:"), "{why}");
    assert!(
        why.contains("Never touch the migrations") && why.contains("No result was shortened."),
        "{why}"
    );
}

#[test]
fn the_page_tells_what_was_shortened() {
    let place = Place::new("why");
    place.say(&used("Bash", &json!({"stdout": log()})));
    let why = hook::why("one", &place.settings).unwrap();
    assert!(why.starts_with("1 result was shortened, "), "{why}");
    assert!(why.contains("  Bash: ") && why.contains("whole: cupel:"), "{why}");
    assert!(why.contains("The transcript is not known"), "{why}");
}

#[test]
fn what_is_not_understood_is_an_error_and_changes_nothing() {
    let place = Place::new("errors");
    let error = |said: &str| hook::claude_code(said, &place.settings).unwrap_err().to_string();
    assert!(error("hello").starts_with("the input is no hook of Claude Code: "));
    assert!(error(&event("Stop", &json!({})).to_string()).contains("the hook `Stop` is not known"));
    let missing = event("PreCompact", &json!({"transcript_path": "/none/such.jsonl"}));
    assert!(error(&missing.to_string()).starts_with("/none/such.jsonl: "));
    let outside =
        json!({"hook_event_name": "SessionStart", "session_id": "../../x", "source": "startup"});
    assert_eq!(error(&outside.to_string()), "`../../x` is no name of a session");
    assert!(
        hook::why("two", &place.settings).unwrap_err().to_string().contains("no hook has seen")
    );
    assert_eq!(fs::read_dir(&place.settings.data).unwrap().count(), 0);
}
