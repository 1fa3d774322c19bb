//! Texts from outside that would act on a terminal: whichever command shows them, they are written out.

use cupel_names::is_hidden;
use serde_json::{Value, json};

use crate::help::COMMANDS;
use crate::support::{Folder, Run, cupel, run_with};

/// Sets a window's title, clears the screen, colours by a character of the other range, turns the writing.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{7f}\rx";
/// Stands in all of it.
const MARK: &str = "owned";
const ESTIMATE: &str = "--tokenizer=estimate";

/// Hostile wherever a request may be.
fn request() -> Value {
    json!({"model": HOSTILE, HOSTILE: HOSTILE, "metadata": {HOSTILE: HOSTILE}, "messages": [
        {"role": "system", "name": HOSTILE, "content": format!("Always {HOSTILE}.")},
        {"role": "user", "name": HOSTILE, "content": format!("Look up {HOSTILE} in the long list.")},
        {"role": "assistant", "content": null, "tool_calls": [{"id": HOSTILE, "type": "function",
            "function": {"name": HOSTILE, "arguments": json!({HOSTILE: HOSTILE}).to_string()}}]},
        {"role": "tool", "tool_call_id": HOSTILE, "content": format!("{HOSTILE} {}", "said ".repeat(200))},
        {"role": "assistant", "content": format!("It is {HOSTILE}.")},
        {"role": "user", "content": format!("Why {HOSTILE}?")},
    ]})
}

/// Requests that break rules, so that messages quote them.
fn broken() -> Vec<Value> {
    let with = |message: Value| json!({"messages": [{"role": "user", "content": "x"}, message]});
    vec![
        with(json!({"role": HOSTILE, "content": "x"})),
        with(json!({"role": "tool", "tool_call_id": HOSTILE, "content": "x"})),
        with(json!({"role": "user", "content": [{"type": HOSTILE}]})),
        with(json!({"role": "assistant", "tool_calls": [{"id": HOSTILE, "type": HOSTILE}]})),
        with(json!({"role": "user", HOSTILE: [], "content": {HOSTILE: 1}})),
        json!({"contents": [{"role": HOSTILE, "parts": [{HOSTILE: 1}]}]}),
        json!({"input": [{"type": HOSTILE, "call_id": HOSTILE}]}),
        json!({"max_tokens": 5, "messages": [{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": HOSTILE, "content": "x"}]}]}),
        json!({"items": [{"id": HOSTILE, "kind": HOSTILE, HOSTILE: 1}]}),
        json!([{"id": HOSTILE, "tokens": 3, "kind": HOSTILE, "requires": [HOSTILE]}]),
        json!({HOSTILE: HOSTILE}),
        json!({"messages": [{"role": "user", "content": "x"}], "tools": [
            {"type": "function", "function": {"name": HOSTILE}}, {"type": HOSTILE}]}),
    ]
}

/// Nothing of a run acts on a terminal. Of `--json` the marks are escaped as JSON does it.
#[track_caller]
fn assert_plain(run: &Run, is_data: bool, arguments: &[&str]) -> bool {
    for (stream, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        let odd = text.chars().find(|letter| is_hidden(*letter) && *letter != '\n');
        let is_exempt = is_data && stream == "stdout";
        assert!(is_exempt || odd.is_none(), "{arguments:?} {stream}: {odd:?}\n{text:?}");
    }
    run.stdout.contains(MARK) || run.stderr.contains(MARK)
}

struct Desk {
    folder: Folder,
    ran: Vec<String>,
    quoted: usize,
}

impl Desk {
    fn new() -> Self {
        let folder = Folder::new();
        folder.write("request.json", request().to_string());
        folder.write("\u{1b}[2Jowned.json", request().to_string());
        folder.write("half.json", format!("{{\"{HOSTILE}\": "));
        let items = json!([{"id": HOSTILE, "text": HOSTILE, "kind": HOSTILE, "labels": [HOSTILE]}]);
        folder.write("items.json", items.to_string());
        folder.write("p.toml", "name = '\u{202e}owned'\n[[scorers]]\nname = \"x\"");
        folder.write("q.toml", "\"\\u001b[2Jowned\" = 1");
        folder.write("state", json!({"schema": HOSTILE, HOSTILE: 1}).to_string());
        let run = json!({"id": HOSTILE, "kind": HOSTILE, "messages": request()["messages"], "model": HOSTILE});
        folder.write("runs.jsonl", format!("{run}\n"));
        Self { folder, ran: Vec::new(), quoted: 0 }
    }

    fn run(&mut self, arguments: &[&str]) {
        self.run_on(arguments, "", false);
    }

    fn run_on(&mut self, arguments: &[&str], input: &str, is_data: bool) {
        let ran = run_with(arguments, input);
        assert_ne!(ran.code, None, "{arguments:?}");
        self.quoted += usize::from(assert_plain(&ran, is_data, arguments));
        self.ran.push(arguments.join(" "));
    }

    fn feed_broken(&mut self) {
        for (number, flaw) in broken().iter().enumerate() {
            let name = self.folder.write(&format!("broken{number}.json"), flaw.to_string());
            for command in
                ["validate", "count", "tools", "explain", "select", "show", "view", "compare"]
            {
                let takes_max = !matches!(command, "validate" | "count" | "tools" | "show");
                let max: &[&str] = if takes_max { &["--max=40"] } else { &[] };
                // A request that can be read would be served until somebody stops it.
                if command == "view" && run_with(&["count", &name], "").code == Some(0) {
                    continue;
                }
                self.run_on(&[&[command, &name], max].concat(), "", command == "select");
            }
            self.run(&["validate", "--json", &name]);
            self.run(&["validate", "--repair=show", &name]);
            self.run_on(&["validate", "--repair=drop", &name], "", true);
        }
    }

    fn feed_inputs(&mut self) {
        let policy = self.folder.file("p.toml");
        for name in ["request.json", "\u{1b}[2Jowned.json", "items.json", "half.json"] {
            let input = &self.folder.file(name);
            for more in [&["--max=60"][..], &["--max=5"], &["--max=4000"], &["--max=60", "--json"]]
            {
                self.run(&[&["explain", input, ESTIMATE], more].concat());
            }
            self.run_on(&["select", input, ESTIMATE, "--max=60", "--shorten=all"], "", true);
            self.run_on(&["select", input, ESTIMATE, "--max=60", "--policy", &policy], "", true);
            self.run(&["simulate", "curve", input, ESTIMATE]);
            self.run(&["simulate", "marginal", input, ESTIMATE, "--max=60", "--slack=40"]);
            self.run(&["simulate", "min-budget", input, ESTIMATE, "--target", HOSTILE]);
            self.run(&["compare", input, ESTIMATE, "--max=60", "auto", "chat"]);
            self.run(&["count", input, ESTIMATE]);
            self.run(&["count", input, ESTIMATE, "--json"]);
            self.run(&["show", input]);
            self.run(&["show", input, "--json"]);
            self.run(&["show", input, HOSTILE]);
        }
    }

    fn feed_flags(&mut self) {
        let [file, policy, odd_policy, state] =
            ["request.json", "p.toml", "q.toml", "state"].map(|name| self.folder.file(name));
        for (flag, value) in [
            ("--model", HOSTILE),
            ("--policy", HOSTILE),
            ("--tokenizer", HOSTILE),
            ("--max", HOSTILE),
            ("--pin", HOSTILE),
            ("--format", HOSTILE),
            ("--query", HOSTILE),
            ("--rules", HOSTILE),
            ("--policy", &policy),
            ("--policy", &odd_policy),
            ("--session", &state),
            ("--session", HOSTILE),
            (HOSTILE, "x"),
        ] {
            self.run(&["explain", &file, "--max=60", flag, value]);
        }
        let session = ["--session", &state, "--restart-unreadable", "--propose"];
        self.run_on(&[&["select", &file, "--max=60", ESTIMATE], &session[..]].concat(), "", true);
        for command in ["check", "show"] {
            self.run(&["policy", command, &policy]);
            self.run(&["policy", command, &odd_policy]);
            self.run(&["policy", command, HOSTILE]);
        }
    }

    fn feed_others(&mut self) {
        let runs = self.folder.file("runs.jsonl");
        self.run(&["explain", "--lines", "--max=60", ESTIMATE, &runs]);
        let record = json!({"type": "user", "uuid": "1", "sessionId": HOSTILE, "parentUuid": HOSTILE,
            "message": {"role": "user", "content": HOSTILE}});
        let transcript = self.folder.write("t.jsonl", format!("{record}\n{HOSTILE}\n"));
        self.run_on(&["import", &transcript], "", true);
        self.run(&["import", &transcript, "--list"]);
        self.run(&["import", &transcript, "--list", "--json"]);
        self.run_on(&["import", &transcript, "--pick", HOSTILE], "", true);
        self.run(&["import", "--kind", HOSTILE]);
        self.run(&["import", HOSTILE]);
        self.run(&["explain", "--max=60", &transcript]);
        self.run(&["policy", "list"]);
        self.run(&["policy", "schema"]);
        self.run(&["policy", HOSTILE]);
        self.run(&["models", HOSTILE]);
        self.run(&["models"]);
        self.run(&["schema", HOSTILE]);
        self.run(&["eval", &runs, "--budget=60"]);
        self.run(&["eval", HOSTILE, "--budget=60"]);
        self.run(&["conformance", HOSTILE]);
        let cases = self.folder.file("cases");
        std::fs::create_dir(&cases).unwrap();
        self.folder.write("cases/\u{1b}[2Jowned.toml", "name = \"\\u001bowned\"\n");
        self.run(&["conformance", &cases]);
        self.run_on(&["serve-protocol"], &format!("{{\"{HOSTILE}\": 1}}\n{HOSTILE}\n"), true);
        self.run_on(&["completions", "bash"], "", true);
        self.run(&["completions", HOSTILE]);
        self.run_on(&["man"], "", true);
        self.folder.write("cupel.toml", "policy = \"\\u001b[2Jowned\"\n");
        let config: Run =
            cupel(&["config"]).current_dir(self.folder.path()).output().unwrap().into();
        self.quoted += usize::from(assert_plain(&config, false, &["config"]));
        self.ran.push("config".to_owned());
    }

    #[cfg(feature = "replay")]
    fn feed_logs(&mut self) {
        let named = json!({"id": HOSTILE, "model": HOSTILE, "input": request()["messages"]});
        let odd = json!({HOSTILE: HOSTILE});
        let rows = format!("{}\n{named}\n{odd}\n{{\"{HOSTILE}\n", request());
        let log = self.folder.write("log.jsonl", rows);
        let [record, policy, state] =
            ["log.record", "p.toml", "state"].map(|name| self.folder.file(name));
        self.run(&["replay", &log, "--max=60", ESTIMATE]);
        self.run(&["replay", &log, "--max=60", ESTIMATE, "--json"]);
        self.run(&["replay", HOSTILE, "--max=60"]);
        self.run_on(&["record", &log, "--max=60", ESTIMATE], "", true);
        self.run(&["record", &log, "--max=60", ESTIMATE, "--output", &record]);
        self.run(&["check", &record]);
        self.run(&["check", &record, "--policy", &policy]);
        self.run(&["check", &state]);
    }

    #[cfg(feature = "gateway")]
    fn feed_gateway(&mut self) {
        let config = self.folder.write("gateway.toml", "\"\\u001b[2Jowned\" = 1\n");
        self.run(&["gateway", "--config", &config]);
        self.run(&["gateway", "--upstream", HOSTILE]);
        let log = format!("/nowhere/{HOSTILE}");
        self.run(&["gateway", "--upstream=http://127.0.0.1:9", "--log", &log]);
        self.run(&["wrap", "any", "--config", &config, "--", "true"]);
        self.run(&["wrap", "any", "--upstream", HOSTILE, "--", "true"]);
        self.run(&["wrap", "any", "--", HOSTILE]);
        self.run(&["doctor", "--config", &config]);
        self.run(&["doctor", "--upstream", HOSTILE]);
    }

    #[cfg(feature = "mcp")]
    fn feed_mcp(&mut self) {
        self.run(&["mcp", "--root", HOSTILE]);
        self.run(&["mcp", "--model", HOSTILE]);
        let data = self.folder.file("hooks");
        let hook = ["hook", "--data", &data];
        let used = json!({"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": HOSTILE,
            "tool_use_id": HOSTILE, "tool_response": format!("{HOSTILE} ").repeat(2_000)});
        let unknown = json!({"hook_event_name": HOSTILE, "session_id": "s"});
        self.run_on(&hook, &used.to_string(), true);
        self.run_on(&hook, &unknown.to_string(), false);
        self.run_on(&hook, HOSTILE, false);
        self.run(&[&hook[..], &["--why", "s"]].concat());
        self.run(&[&hook[..], &["--why", HOSTILE]].concat());
    }
}

#[test]
fn no_command_lets_anything_act_on_a_terminal() {
    let mut desk = Desk::new();
    desk.feed_broken();
    desk.feed_inputs();
    desk.feed_flags();
    desk.feed_others();
    #[cfg(feature = "replay")]
    desk.feed_logs();
    #[cfg(feature = "gateway")]
    desk.feed_gateway();
    #[cfg(feature = "mcp")]
    desk.feed_mcp();
    for command in COMMANDS {
        let command = command.join(" ");
        assert!(desk.ran.iter().any(|ran| ran.starts_with(&command)), "{command} was not fed");
    }
    assert!(desk.quoted > 60, "{} of {} runs quote anything", desk.quoted, desk.ran.len());
}

#[test]
fn what_is_data_stays_as_it_was_written() {
    let selected = run_with(&["select", "--max=4000", ESTIMATE, "--quiet"], &request().to_string());
    assert_eq!(selected.stdout, request().to_string());
}
