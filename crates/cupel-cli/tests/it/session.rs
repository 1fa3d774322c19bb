//! A session on disk: steps count once they are handed out, whoever comes in between.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use fs4::FileExt;
use serde_json::Value;

use crate::schemas::assert_valid;
use crate::support::{Folder, Run, assert_cannot_run, assert_snapshot_in, cupel, root, run};

/// Loads no vocabulary, which takes its time without optimization.
const ESTIMATE: &str = "--tokenizer=estimate";
const MAX: &str = "--max=1500";

/// Number of messages of the example its user had seen when they spoke.
const TURNS: [usize; 8] = [14, 20, 26, 39, 43, 48, 53, 68];

/// The first messages of a long run of a coding agent.
fn history(messages: usize) -> Value {
    let text = fs::read_to_string(root().join("examples/coding-agent.json")).unwrap();
    let mut request: Value = serde_json::from_str(&text).unwrap();
    request["messages"].as_array_mut().unwrap().truncate(messages);
    request
}

/// A folder with a history and the state of a session, and the time.
struct Desk {
    folder: Folder,
    now: u64,
}

impl Desk {
    fn new() -> Self {
        Self { folder: Folder::new(), now: 1_000_000 }
    }

    /// A desk at which these turns were taken.
    fn after(turns: &[usize]) -> Self {
        let mut desk = Self::new();
        for turn in turns {
            assert_eq!(desk.step(*turn, &[]).code, Some(0));
        }
        desk
    }

    fn state_file(&self) -> String {
        self.folder.file("run.session")
    }

    fn state_text(&self) -> String {
        fs::read_to_string(self.state_file()).unwrap()
    }

    fn state(&self) -> Value {
        serde_json::from_str(&self.state_text()).unwrap()
    }

    fn put(&self, request: &Value) -> String {
        self.folder.write("history.json", request.to_string())
    }

    /// The arguments of a step with the history that is there.
    fn arguments(&self) -> Vec<String> {
        let at = format!("--at={}", self.now);
        let (history, state) = (self.folder.file("history.json"), self.state_file());
        let arguments = ["select", &history, MAX, ESTIMATE, "--session", &state, &at];
        arguments.map(ToOwned::to_owned).to_vec()
    }

    /// A step, ten seconds after the one before.
    fn step(&mut self, messages: usize, flags: &[&str]) -> Run {
        self.step_of(&history(messages), flags)
    }

    fn step_of(&mut self, request: &Value, flags: &[&str]) -> Run {
        self.put(request);
        self.now += 10;
        let arguments = self.arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        run(&[&arguments, flags].concat())
    }
}

fn messages(run: &Run) -> Vec<Value> {
    let request: Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    request["messages"].as_array().unwrap().clone()
}

#[test]
fn windows_begin_as_the_ones_before_and_say_by_how_much() {
    let mut desk = Desk::new();
    let report = desk.folder.file("step.json");
    let mut before: Vec<Value> = Vec::new();
    for (at, turn) in TURNS.into_iter().enumerate() {
        let step = desk.step(turn, &["--report", &report]);
        assert_eq!(step.code, Some(0), "{step:?}");
        let told: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
        let window = messages(&step);
        let same = before.iter().zip(&window).take_while(|(old, new)| old == new).count();
        assert_eq!(told["session"]["unchanged_messages"], same, "step {at}");
        assert!(at == 0 || same > 0, "step {at} kept nothing");
        assert_eq!(told["session"]["number"], at + 1);
        assert_eq!(window.last(), history(turn)["messages"].as_array().unwrap().last());
        assert_eq!(desk.state()["steps"], at + 1);
        let sum = ["cached_tokens", "uncached_tokens"].map(|name| &told["session"][name]);
        let sum: i64 = sum.into_iter().filter_map(Value::as_i64).sum();
        assert_eq!(told["summary"]["tokens_after"], sum);
        assert!(sum <= 1_500);
        before = window;
    }
    assert_eq!(
        desk.folder.names(),
        ["history.json", "run.session", "run.session.lock", "step.json"]
    );
}

#[test]
fn the_summary_says_what_is_cached() {
    let mut desk = Desk::new();
    let first = desk.step(14, &[]).stderr;
    let (begun, first) = first.split_once('\n').unwrap();
    assert_eq!(begun, format!("{}: a new session begins", desk.state_file()));
    assert!(first.starts_with("kept ") && first.contains("; 0 tokens cached, "), "{first}");
    let second = desk.step(20, &[]).stderr;
    assert_eq!(second.lines().count(), 1, "{second}");
    assert!(second.ends_with(" not\n") && !second.contains("; 0 tokens cached"), "{second}");
    assert_eq!(desk.step(26, &["--quiet"]).stderr, "");
}

#[test]
fn a_proposal_answers_the_same_and_spends_nothing() {
    let mut desk = Desk::after(&TURNS[..4]);
    let old = desk.state_text();
    let proposed = desk.step(43, &["--propose"]);
    assert_eq!(proposed.code, Some(0), "{proposed:?}");
    assert!(proposed.stderr.starts_with("proposed: kept "), "{}", proposed.stderr);
    assert_eq!(desk.state_text(), old);
    desk.now -= 10;
    let counted = desk.step(43, &[]);
    assert_eq!(counted.stdout, proposed.stdout);
    assert_eq!(format!("proposed: {}", counted.stderr), proposed.stderr);
    assert_eq!(desk.state()["steps"], 5);
}

#[test]
fn a_first_proposal_leaves_no_file() {
    let mut desk = Desk::new();
    assert_eq!(desk.step(14, &["--propose"]).code, Some(0));
    assert_eq!(desk.folder.names(), ["history.json"]);
}

/// One after the other, wherever they are: each goes on from the one before.
#[test]
fn calls_at_the_same_time_all_count() {
    const CALLS: usize = 6;
    let desk = Desk::after(&TURNS[..2]);
    desk.put(&history(26));
    let children: Vec<_> = (0..CALLS)
        .map(|_| {
            let arguments = desk.arguments();
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let mut command = cupel(&arguments);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        let run: Run = child.wait_with_output().unwrap().into();
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    assert_eq!(desk.state()["steps"], 2 + CALLS);
}

#[test]
fn whoever_comes_second_waits_and_readers_need_not() {
    let desk = Desk::after(&TURNS[..1]);
    desk.put(&history(20));
    let lock = File::options().write(true).open(desk.folder.file("run.session.lock")).unwrap();
    FileExt::lock(&lock).unwrap();
    let arguments = desk.arguments();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut waiting = cupel(&arguments).stdout(Stdio::null()).spawn().unwrap();
    assert_eq!(run(&[&arguments[..], &["--propose"]].concat()).code, Some(0));
    let explain = [&["explain"], &arguments[1..]].concat();
    assert_eq!(run(&explain).code, Some(0));
    assert_eq!(waiting.try_wait().unwrap(), None, "it did not wait");
    assert_eq!(desk.state()["steps"], 1);
    FileExt::unlock(&lock).unwrap();
    assert_eq!(waiting.wait().unwrap().code(), Some(0));
    assert_eq!(desk.state()["steps"], 2);
}

/// The process is killed at moments all over its life: the state is the old one or the new one to
/// the byte, new only with the whole answer, and nothing that is left keeps the next call from it.
#[test]
fn a_kill_at_any_moment_leaves_the_old_state_or_the_new_one() {
    const KILLS: u32 = 80;
    let mut desk = Desk::after(&TURNS[..3]);
    let old = desk.state_text();
    let output = desk.folder.file("next.json");
    let begin = Instant::now();
    assert_eq!(desk.step(39, &["--output", &output]).code, Some(0));
    let whole = begin.elapsed();
    let (new, answer) = (desk.state_text(), fs::read_to_string(&output).unwrap());
    assert_ne!(old, new);
    let arguments = [desk.arguments(), vec!["--output".to_owned(), output.clone()]].concat();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (mut old_left, mut new_left) = (0, 0);
    for at in 0..KILLS {
        desk.folder.write("run.session", &old);
        let _ = fs::remove_file(&output);
        let mut child = cupel(&arguments).stderr(Stdio::null()).spawn().unwrap();
        // Spread over a life and a bit, so that some end by themselves.
        thread::sleep(whole * at / KILLS * 5 / 4);
        child.kill().unwrap();
        child.wait().unwrap();
        let left = desk.state_text();
        if left == new {
            new_left += 1;
            assert_eq!(fs::read_to_string(&output).unwrap(), answer, "kill {at}");
        } else {
            old_left += 1;
            assert_eq!(left, old, "kill {at}");
        }
    }
    assert!(old_left > 0, "never killed early: {new_left}");
    desk.folder.write("run.session", &old);
    assert_eq!(run(&arguments).code, Some(0), "something was left that is in the way");
    assert_eq!(desk.state_text(), new);
}

/// As if a kill had struck between writing the new state down and putting it into its place.
#[test]
fn a_draft_that_was_left_behind_is_in_nobodys_way() {
    let mut desk = Desk::after(&TURNS[..1]);
    desk.folder.write(".run.session.tmp", "{\"schema\": \"cupel-se");
    assert_eq!(desk.step(20, &[]).code, Some(0));
    assert_eq!(desk.state()["steps"], 2);
    assert!(!desk.folder.names().contains(&".run.session.tmp".to_owned()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_step_that_was_not_handed_out_does_not_count() {
    let desk = Desk::after(&TURNS[..2]);
    let old = desk.state_text();
    desk.put(&history(26));
    let arguments = desk.arguments();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let full = File::options().write(true).open("/dev/full").unwrap();
    assert_eq!(cupel(&arguments).stdout(full).status().unwrap().code(), Some(2));
    // Whoever would have read has gone before anything is written.
    let mut reader = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
    let closed = reader.stdin.take().unwrap();
    reader.wait().unwrap();
    assert_eq!(cupel(&arguments).stdout(closed).status().unwrap().code(), Some(0));
    desk.folder.write("history.json", "{");
    assert_eq!(run(&arguments).code, Some(2));
    desk.put(&history(26));
    let small: Vec<&str> =
        arguments.iter().map(|a| if *a == MAX { "--max=9" } else { a }).collect();
    assert_eq!(run(&small).code, Some(1), "what must be kept fits");
    assert_eq!(desk.state_text(), old);
}

#[cfg(target_os = "linux")]
#[test]
fn a_state_that_cannot_be_written_is_told_before_anything_is_handed_out() {
    let desk = Desk::new();
    let history = desk.put(&history(14));
    for state in ["/proc/run.session", &desk.folder.file("no/such/run.session")] {
        let run = run(&["select", &history, MAX, ESTIMATE, "--session", state]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:?}");
        let beginning = format!("cupel: {state}.lock: cannot write: ");
        assert!(run.stderr.starts_with(&beginning), "{}", run.stderr);
    }
}

#[test]
fn a_state_that_is_none_or_of_another_version_is_refused_or_begun_anew() {
    let remedy = "remove the file, or begin anew with --restart-unreadable";
    let known = "this version reads `cupel-session/1`";
    let desk = Desk::after(&TURNS[..1]);
    let good = desk.state_text();
    let older = good.replace("cupel-session/1", "cupel-session/0");
    let cut = &good[..good.len() / 2];
    let outside = good.replace("\"window\":[", "\"window\":[99,");
    for (bad, rule) in [
        (older.as_str(), format!(":1:27: schema `cupel-session/0` is not known; {known}")),
        ("", ": there is nothing in it".to_owned()),
        (cut, ":1:".to_owned()),
        (outside.as_str(), ": window: there are 14 messages, but".to_owned()),
        ("{\"messages\": []}", ":1:".to_owned()),
    ] {
        let mut desk = Desk::new();
        let file = desk.folder.write("run.session", bad);
        let refused = desk.step(14, &[]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
        let beginning = format!("cupel: {file}{rule}");
        assert!(refused.stderr.starts_with(&beginning), "{beginning}\n{}", refused.stderr);
        assert!(refused.stderr.ends_with(&format!("{remedy}\n")), "{}", refused.stderr);
        assert_eq!(desk.state_text(), bad);

        let begun = desk.step(14, &["--restart-unreadable"]);
        assert_eq!(begun.code, Some(0), "{begun:?}");
        let told = format!("{file}: not the state of a session: ");
        assert!(begun.stderr.starts_with(&told), "{}", begun.stderr);
        assert_eq!(desk.state()["steps"], 1);
        // A good one is gone on with, so that the flag may stand in a script.
        assert_eq!(desk.step(20, &["--restart-unreadable"]).code, Some(0));
        assert_eq!(desk.state()["steps"], 2);
    }
    let binary = desk.folder.write("run.session", [b'{', 0xff]);
    let history = desk.folder.file("history.json");
    let run = run(&["select", &history, MAX, ESTIMATE, "--session", &binary]);
    assert!(run.stderr.starts_with(&format!("cupel: {binary}:1:2: ")), "{run:?}");
}

#[test]
fn why_an_account_begins_anew_is_said_plainly() {
    let mut other = history(14);
    for message in other["messages"].as_array_mut().unwrap() {
        if message["content"].is_string() {
            message["content"] = "Something else.".into();
        }
    }
    let mut edited = history(26);
    edited["messages"][13]["content"] = "Never mind.".into();
    let mut model = history(26);
    model["model"] = "gpt-4.1".into();
    let mut head = history(26);
    head["tools"].as_array_mut().unwrap().pop();
    for (request, passed, reason) in [
        (other, 0, Some("nothing of the last request is in this one: another conversation")),
        (edited, 0, Some("messages that were there have changed or gone, from message 13 on")),
        (model, 0, Some("another model")),
        (head, 0, Some("the system prompt or the tools changed")),
        (history(26), 290, Some("the provider has forgotten the last request by now")),
        (history(26), 289, None),
    ] {
        let mut desk = Desk::after(&TURNS[..2]);
        desk.now += passed;
        let step = desk.step_of(&request, &["--quiet"]);
        assert_eq!(step.code, Some(0), "{step:?}");
        let line = |reason| format!("{}: a new account begins: {reason}\n", desk.state_file());
        assert_eq!(step.stderr, reason.map(line).unwrap_or_default());
    }
}

#[test]
fn the_clock_is_asked_where_no_time_is_given() {
    let desk = Desk::new();
    let (history, state) = (desk.put(&history(14)), desk.state_file());
    assert_eq!(run(&["select", &history, MAX, ESTIMATE, "--session", &state]).code, Some(0));
    assert!(desk.state()["sent_at"].as_u64().unwrap() > 1_700_000_000);
}

#[test]
fn a_link_to_a_state_is_the_same_session() {
    let mut desk = Desk::after(&TURNS[..1]);
    let real = desk.folder.file("real.session");
    fs::rename(desk.state_file(), &real).unwrap();
    std::os::unix::fs::symlink(&real, desk.state_file()).unwrap();
    assert_eq!(desk.step(20, &[]).code, Some(0));
    assert!(fs::symlink_metadata(desk.state_file()).unwrap().is_symlink());
    assert_eq!(desk.state()["steps"], 2);
    assert!(desk.folder.names().contains(&"real.session.lock".to_owned()));
}

#[test]
fn what_makes_no_sense_in_a_session_is_refused() {
    let desk = Desk::after(&TURNS[..1]);
    let old = desk.state_text();
    let (history, state) = (desk.folder.file("history.json"), desk.state_file());
    let session = ["--session", &state];
    for flags in [&["--lines"] as &[&str], &[&history, "--output=out"]] {
        let arguments = [&["select", &history, MAX, ESTIMATE], &session[..], flags].concat();
        assert_cannot_run(&arguments, "--session is for one request; give its steps one by one");
    }
    let own = "is read or written otherwise; give the session a file of its own";
    for flags in [&["--session", &history] as &[&str], &["--session=new", "--output=new"]] {
        let file = flags[0].strip_prefix("--session=").unwrap_or(flags[1]);
        let arguments = [&["select", &history, MAX, ESTIMATE, "--restart-unreadable"], flags];
        assert_cannot_run(&arguments.concat(), &format!("{file}: {own}"));
    }
    let folder = desk.folder.path().to_str().unwrap();
    assert_cannot_run(
        &["explain", &history, MAX, ESTIMATE, "--session", folder],
        &format!("{folder}: is no file; name one for --session"),
    );
    assert_cannot_run(
        &["explain", &history, MAX, ESTIMATE, "--session", &state, "--json=report"],
        "a step of a session has no report; give --json alone",
    );
    for flags in [
        &["--session", &state, "--in-place"] as &[&str],
        &["--propose"],
        &["--cache-marks"],
        &["--restart-unreadable"],
        &["--at=1000"],
        &["--session", &state, "--at=noon"],
        &["--session", &state, "--at=-1"],
    ] {
        let run = run(&[&["select", &history, MAX, ESTIMATE], flags].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{flags:?}: {run:?}");
        assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    }
    assert_eq!(desk.state_text(), old);
}

/// The request without marks, and how many there were.
fn without_marks(mut request: Value) -> (Value, usize) {
    fn take(value: &mut Value) -> usize {
        match value {
            Value::Array(list) => list.iter_mut().map(take).sum(),
            Value::Object(fields) => {
                let own = usize::from(fields.remove("cache_control").is_some());
                own + fields.values_mut().map(take).sum::<usize>()
            }
            _ => 0,
        }
    }
    let count = take(&mut request);
    (request, count)
}

#[test]
fn marks_for_the_cache_are_written_for_anthropic_and_on_request_only() {
    for (example, is_marked) in [("coding-agent-anthropic", true), ("coding-agent", false)] {
        let text = fs::read_to_string(root().join(format!("examples/{example}.json"))).unwrap();
        let (request, _) = without_marks(serde_json::from_str(&text).unwrap());
        let desk = Desk::new();
        let (file, state) = (desk.put(&request), desk.state_file());
        let select = |flags: &[&str]| {
            let step = ["select", &file, "--max=5000", ESTIMATE, "--session", &state, "--at=1000"];
            let run = run(&[&step[..], flags].concat());
            assert_eq!(run.code, Some(0), "{run:?}");
            run.stdout
        };
        let plain = select(&["--propose"]);
        let marked = select(&["--propose", "--cache-marks"]);
        let (bare, marks) = without_marks(serde_json::from_str(&marked).unwrap());
        assert_eq!((1..=4).contains(&marks), is_marked, "{marks}");
        assert_eq!(plain == marked, !is_marked);
        assert_eq!(texts(&bare), texts(&serde_json::from_str(&plain).unwrap()));
        assert_eq!(select(&["--cache-marks"]), marked);
    }
}

/// What the messages hold. A text that has a mark to carry is a list of one block.
fn texts(request: &Value) -> Vec<Value> {
    let messages = request["messages"].as_array().unwrap().iter();
    let content = messages.map(|message| match &message["content"] {
        Value::Array(blocks) if blocks.len() == 1 && blocks[0]["type"] == "text" => {
            blocks[0]["text"].clone()
        }
        content => content.clone(),
    });
    content.collect()
}

#[test]
fn a_step_is_shown_and_the_session_stays_as_it_is() {
    let mut desk = Desk::after(&TURNS);
    let old = desk.state_text();
    desk.put(&history(72));
    desk.now += 10;
    let at = format!("--at={}", desk.now);
    let (file, state) = (desk.folder.file("history.json"), desk.state_file());
    let arguments = ["explain", &file, MAX, ESTIMATE, "--session", &state, &at];
    assert_snapshot_in("explain-session", &desk.folder, &arguments);
    let few = [&arguments[..], &["--limit=1"]].concat();
    assert_snapshot_in("explain-session-few", &desk.folder, &few);
    let json = run(&[&arguments[..], &["--json"]].concat());
    assert_valid("Step", &serde_json::from_str(&json.stdout).unwrap());
    assert_valid("SessionState", &desk.state());
    assert_eq!(desk.state_text(), old);
    desk.now -= 10;
    let report = desk.folder.file("step.json");
    let step = desk.step(72, &["--report", &report]);
    assert_eq!(step.code, Some(0), "{step:?}");
    assert_eq!(fs::read_to_string(report).unwrap(), json.stdout);
}

#[test]
fn a_first_step_is_shown_and_leaves_no_file() {
    let desk = Desk::new();
    let (file, state) = (desk.put(&history(14)), desk.state_file());
    let arguments = ["explain", &file, MAX, ESTIMATE, "--session", &state, "--at=1000"];
    assert_snapshot_in("explain-session-first", &desk.folder, &arguments);
    assert_eq!(desk.folder.names(), ["history.json"]);
}

#[test]
fn a_pipe_in_the_place_of_a_session_or_its_lock_is_refused_at_once() {
    let folder = Folder::new();
    let request = folder.write("r.json", history(14).to_string());
    for (pipe, rule) in [
        ("s.lock", "s.lock: is no file, and stands where the session's lock would; remove it"),
        ("s", "s: is no file; name one for --session"),
    ] {
        let made = Command::new("mkfifo").arg(folder.file(pipe)).status().unwrap();
        assert!(made.success());
        let run = run(&["select", &request, MAX, ESTIMATE, "--session", &folder.file("s")]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.contains(rule), "{}", run.stderr);
    }
}
