//! `cupel replay`, `record` and `check`.

use serde_json::Value;

use crate::support::{Folder, Run, assert_cannot_run, cupel, run};

const LANGFUSE: &str = "examples/logs/langfuse.json";

fn json(arguments: &[&str]) -> Value {
    let done = run(arguments);
    assert_eq!(done.code, Some(0), "{done:?}");
    serde_json::from_str(&done.stdout).unwrap()
}

#[test]
fn a_newcomer_with_an_export_gets_a_report_in_one_command() {
    let done = run(&[
        "replay",
        LANGFUSE,
        "--max",
        "400",
        "--policy",
        "auto",
        "--policy",
        "chat",
        "--session",
    ]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    for part in [
        "18 requests, 1 of something else",
        "auto in a session",
        "as logged",
        "cost in US dollars",
        "coverage compared with auto, conversation by conversation",
        "read as: 19 × an observation of Langfuse",
        "skipped: 1 observations of Langfuse of the type SPAN",
        "lost most by",
        "examples/logs/langfuse.json:",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
}

/// To the digit: the figures of `cupel eval`, from the same runs.
#[test]
fn runs_of_agents_have_the_figures_of_eval() {
    for runs in ["examples/logs/agent-runs.jsonl", "examples/eval/runs/ferry.jsonl"] {
        let shared = ["--policy", "auto", "--policy", "chat", "--session", "--json"];
        let eval = json(&[&["eval", runs, "--budget", "60,120"], &shared[..]].concat());
        let replay = json(&[&["replay", runs, "--max", "60,120"], &shared[..]].concat());
        let rows = eval["rows"].as_array().unwrap();
        let ways = replay["ways"].as_array().unwrap();
        assert_eq!(rows.len(), ways.len());
        for (row, way) in rows.iter().zip(ways) {
            assert_eq!(row["budget_tokens"], way["budget_tokens"]);
            assert_eq!(row["coverage"]["mean"], way["coverage"]["mean"], "{row} {way}");
            assert_eq!(row["uncached_tokens"], way["sent"]["uncached_tokens"]);
            assert_eq!(row["sent_tokens"], way["sent"]["tokens"]);
            assert_eq!(row["unfit"], way["does_not_fit"]);
            assert_eq!(row["everything_tokens"], replay["logged"]["uncached_tokens"]);
        }
    }
}

#[test]
fn results_are_written_as_a_table_or_as_lines() {
    let folder = Folder::new();
    let lines = folder.file("results.jsonl");
    let table = folder.file("results.parquet");
    for output in [&lines, &table] {
        assert_eq!(run(&["replay", LANGFUSE, "--max", "400", "--output", output]).code, Some(0));
    }
    let written = std::fs::read_to_string(&lines).unwrap();
    let rows: Vec<Value> =
        written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 18);
    let last = &rows[17];
    assert_eq!((last["policy"].as_str(), last["row"].as_u64()), (Some("auto"), Some(19)));
    assert!(last["kept"].as_array().is_some_and(|kept| !kept.is_empty()));
    assert!(rows.iter().any(|row| !row["reasons"].as_array().unwrap().is_empty()));
    assert_eq!(&std::fs::read(&table).unwrap()[..4], b"PAR1");
}

#[test]
fn a_report_has_a_chart_and_a_page_for_each_of_the_worst() {
    let folder = Folder::new();
    let report = folder.file("report");
    let picture = folder.file("chart.svg");
    let done = run(&[
        "replay",
        LANGFUSE,
        "--max",
        "300,400",
        "--session",
        "--html",
        &report,
        "--svg",
        &picture,
    ]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let index = std::fs::read_to_string(format!("{report}/index.html")).unwrap();
    assert!(index.contains("Content-Security-Policy") && !index.contains("<script"), "{index}");
    assert!(index.contains("<svg") && index.contains("auto in a session"), "{index}");
    let links: Vec<&str> =
        index.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(!links.is_empty());
    for link in links {
        assert!(std::fs::metadata(format!("{report}/{link}")).unwrap().len() > 100, "{link}");
    }
    assert!(std::fs::read_to_string(picture).unwrap().starts_with("<svg"));
}

/// Of a session a page shows the step as it was sent, which a window chosen anew is not.
#[test]
fn the_pages_of_a_session_show_the_step() {
    // Pairs tell of each request what was used, raw requests of the one before.
    for (log, is_before) in [(LANGFUSE, false), ("examples/logs/requests.jsonl", true)] {
        let folder = Folder::new();
        let (report, results) = (folder.file("report"), folder.file("results.jsonl"));
        let flags = ["--max", "400", "--session", "--html", &report, "--output", &results];
        let summary = json(&[&["replay", log, "--json"], &flags[..]].concat());
        let rows: Vec<Value> = std::fs::read_to_string(&results)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .filter(|row: &Value| row["in_session"] == true)
            .collect();
        let worst = summary["ways"][1]["worst"].as_array().unwrap();
        assert!(!worst.is_empty());
        let mut steps = Vec::new();
        for (at, worst) in worst.iter().enumerate() {
            let place = worst["place"].as_str().unwrap();
            assert_eq!(worst["is_before"], is_before);
            let row = place.rsplit(':').next().unwrap().parse::<u64>().unwrap();
            let told = rows.iter().position(|result| result["row"] == row).unwrap();
            let lost = &rows[told - usize::from(is_before)];
            let page = view_of(&format!("{report}/requests/2-{}.html", at + 1));
            assert_eq!(page["step"]["tokens"], lost["tokens"], "{place}");
            assert_eq!(page["step"]["uncached_tokens"], lost["uncached"], "{place}");
            assert_eq!(page["messages"], lost["messages"], "{place}");
            steps.push(page["step"]["number"].as_u64().unwrap());
        }
        assert!(steps.iter().any(|number| *number > 1), "{steps:?}");
        assert_eq!(view_of(&format!("{report}/requests/1-1.html"))["step"], Value::Null);
    }
}

/// What a page shows, as data.
fn view_of(path: &str) -> Value {
    let page = std::fs::read_to_string(path).unwrap();
    let (_, view) = page.split_once("id=\"view\">").unwrap();
    serde_json::from_str(view.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn bad_rows_are_named_and_the_exit_code_says_so() {
    let folder = Folder::new();
    let good = r#"{"messages":[{"role":"user","content":"Hello"}]}"#;
    let log = folder.write("a.jsonl", format!("{good}\nnonsense\n{good}\n"));
    let done = run(&["replay", &log, "--max", "100", "--json"]);
    assert_eq!(done.code, Some(2));
    let summary: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(summary["rows"]["requests"], 2);
    assert!(done.stderr.contains(&format!("cupel: {log}:2: is not JSON")), "{}", done.stderr);
    assert!(
        done.stderr.ends_with("cupel: 1 of 3 rows could not be read; the rest was replayed\n"),
        "{}",
        done.stderr
    );
    assert_cannot_run(
        &["replay", "absent.jsonl"],
        "absent.jsonl: there is no such file, folder or match",
    );
    let empty = folder.write("b.jsonl", "");
    assert_cannot_run(
        &["replay", &empty, "--max", "9"],
        "there is no request in the logs; see docs/replay.md for what is read",
    );
    // Where nothing can be read there are no figures to show.
    let cut = folder.write("cut.parquet", "PAR1 and no more");
    let done = run(&["replay", &cut, "--max", "100"]);
    assert_eq!((done.code, &*done.stdout), (Some(2), ""));
    let named = format!("cupel: {cut}: is no whole Parquet file");
    assert!(done.stderr.starts_with(&named), "{}", done.stderr);
    let last = "cupel: 1 file or a part of it could not be read; nothing was replayed\n";
    assert!(done.stderr.ends_with(last), "{}", done.stderr);
    let same = run(&["replay", &log, "--max", "100", "--output", &log]);
    assert_eq!(same.code, Some(2));
    assert!(same.stderr.contains("is one of the logs"), "{same:?}");
}

/// Bad rows are named though others are invalid, and the first of those is named too.
#[test]
fn rows_that_are_invalid_take_no_room_from_broken_ones() {
    let folder = Folder::new();
    let orphan = r#"{"messages":[{"role":"tool","tool_call_id":"x","content":"An orphan."},{"role":"user","content":"Hi"}]}"#;
    let log = folder.write(
        "a.jsonl",
        format!("{}{}", format!("{orphan}\n").repeat(30), "nonsense\n".repeat(22)),
    );
    let done = run(&["replay", &log, "--max", "100"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains(&format!("cupel: {log}:31: is not JSON")), "{}", done.stderr);
    assert!(done.stderr.contains("cupel: … and 2 more\n"), "{}", done.stderr);
    assert!(
        done.stdout.contains(&format!("invalid in the log, the first: {log}:1: ")),
        "{}",
        done.stdout
    );
}

/// What cannot be had is said before the work is done, not after.
#[test]
fn what_is_asked_for_in_vain_is_refused_before_anything_is_read() {
    let folder = Folder::new();
    let absent = folder.file("absent/x");
    for flag in ["--output", "--svg"] {
        let done = run(&["replay", LANGFUSE, "--max", "400", flag, &absent]);
        let expected = format!("cupel: {absent}: cannot write: no such file or directory\n");
        assert_eq!((done.code, &*done.stdout, done.stderr), (Some(2), "", expected), "{flag}");
    }
    let file = folder.write("file", "");
    let inside = format!("{file}/report");
    for (arguments, words) in [
        (["replay", "--html", &inside], "cannot write: not a directory"),
        (["record", "--output", &folder.file("")], "cannot write: is a directory"),
        (["replay", "--max", "0"], "nothing fits into it; give more than 0"),
        (["replay", "--max", "lots"], "not a number of tokens; write it as 8000 or 8k"),
        (["replay", "--policy", "atuo"], "unknown policy `atuo`; did you mean `auto`?"),
        (["replay", "--columns", "request"], "write NAME=FIELD"),
        (["replay", "--columns", "request=a,request=b"], "`request` is named twice"),
    ] {
        let done = run(&[&arguments[..], &[LANGFUSE]].concat());
        assert_eq!((done.code, &*done.stdout), (Some(2), ""), "{arguments:?}");
        assert!(done.stderr.contains(words), "{arguments:?}: {}", done.stderr);
    }
    let twice = ["replay", LANGFUSE, "--policy", "chat", "--policy", "chat"];
    assert_cannot_run(&twice, "policy `chat` is named twice; name each once");
}

/// A record of the sample by a policy that stands in a file.
fn recorded(folder: &Folder) -> (String, String) {
    let policy = folder.file("policy.toml");
    let shown = run(&["policy", "show", "tool-use"]);
    std::fs::write(&policy, shown.stdout).unwrap();
    let record = folder.file("desk.record");
    let done = run(&["record", LANGFUSE, "--max", "400", "--policy", &policy, "--output", &record]);
    assert_eq!(done.code, Some(0), "{done:?}");
    (policy, record)
}

#[test]
fn a_record_has_no_texts_and_holds_until_something_moves() {
    let folder = Folder::new();
    let (_, record) = recorded(&folder);
    let text = std::fs::read_to_string(&record).unwrap();
    assert_eq!(text.lines().count(), 19);
    assert!(!text.contains("PX-7010") && !text.contains("Ann"), "{text}");
    let done: Run = run(&["check", &record]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.starts_with("the record of 18 requests holds\n"), "{}", done.stdout);
}

#[test]
fn a_policy_change_that_loses_something_fails_and_says_what_and_where() {
    let folder = Folder::new();
    let (policy, record) = recorded(&folder);
    let other = run(&["policy", "show", "rag"]);
    std::fs::write(&policy, other.stdout).unwrap();
    let (junit, markdown) = (folder.file("check.xml"), folder.file("check.md"));
    let done = run(&["check", &record, "--junit", &junit, "--markdown", &markdown]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.stdout.starts_with("the record of 18 requests DOES NOT HOLD\n"),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout.contains("FAILED: ") && done.stdout.contains("windows are others"),
        "{}",
        done.stdout
    );
    let worse = done
        .stdout
        .lines()
        .find(|line| line.starts_with("  worse: "))
        .unwrap_or_else(|| panic!("{}", done.stdout));
    assert!(
        worse.contains("examples/logs/langfuse.json:") && worse.contains(": lost `"),
        "{worse}"
    );
    let xml = std::fs::read_to_string(junit).unwrap();
    assert!(xml.contains("failures=\"1\"") && xml.contains("<failure message="), "{xml}");
    assert!(std::fs::read_to_string(markdown).unwrap().contains("❌ does not hold"));
    // Whoever wants it so says so, by tolerances or by a new record.
    let wide = ["--windows", "100%", "--coverage", "100%", "--cost", "100%", "--losses", "18"];
    assert_eq!(run(&[&["check", &record][..], &wide].concat()).code, Some(0));
    assert_eq!(run(&["check", &record, "--update"]).code, Some(0));
    assert_eq!(run(&["check", &record]).code, Some(0));
}

/// All that changes what is decided is in the record: what is set where it is checked is no matter.
#[test]
fn a_check_decides_as_the_record_was_made() {
    let folder = Folder::new();
    let orphan = r#"{"messages":[{"role":"tool","tool_call_id":"x","content":"An orphan."},{"role":"user","content":"Hello"}]}"#;
    let log = folder.write("log.jsonl", format!("{orphan}\n"));
    let record = folder.file("a.record");
    let flags = [
        "--max",
        "300",
        "--repair=drop",
        "--session",
        "--tokenizer",
        "estimate",
        "--shorten",
        "off",
    ];
    let done = run(&[&["record", &log, LANGFUSE, "--output", &record], &flags[..]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        std::fs::read_to_string(&record).unwrap().contains("\"repair\":true,\"repair_drops\":true")
    );
    let held = |record: &str, variable: (&str, &str)| {
        let done: Run =
            cupel(&["check", record]).env(variable.0, variable.1).output().unwrap().into();
        assert_eq!(done.code, Some(0), "{done:?}");
        done.stdout
    };
    let told = held(&record, ("CUPEL_TARGET", "100"));
    assert!(told.starts_with("the record of 19 requests holds\n"), "{told}");
    // And what was set where it was recorded holds again.
    let small = folder.file("b.record");
    let record = ["record", LANGFUSE, "--max", "400", "--output", &small];
    let done: Run = cupel(&record).env("CUPEL_TARGET", "200").output().unwrap().into();
    assert_eq!(done.code, Some(0), "{done:?}");
    held(&small, ("CUPEL_MAX", "1000"));
    let text = std::fs::read_to_string(&small).unwrap();
    assert!(text.lines().next().unwrap().contains("\"settings\":{\"target\":\"200\"}"), "{text}");
}

#[test]
fn a_record_of_other_requests_fails() {
    let folder = Folder::new();
    let (_, record) = recorded(&folder);
    let text = std::fs::read_to_string(&record).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&record, lines[..18].join("\n")).unwrap();
    let done = run(&["check", &record]);
    assert_eq!(done.code, Some(1));
    assert!(done.stdout.contains("is not in the record"), "{}", done.stdout);
    let broken = folder.write("broken.record", "nonsense");
    let done = run(&["check", &broken]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("broken.record:1: is no line of a record"), "{}", done.stderr);
}

/// A log that was moved, or has a row more in front, holds the same requests.
#[test]
fn requests_are_known_again_where_they_are_now() {
    let folder = Folder::new();
    let (_, record) = recorded(&folder);
    let text = std::fs::read_to_string(crate::support::root().join(LANGFUSE)).unwrap();
    let mut rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    let moved = folder.write("moved.json", serde_json::to_string(&rows).unwrap());
    let done = run(&["check", &record, &moved]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let mut other = rows[0].clone();
    other["input"] = serde_json::json!([{ "role": "user", "content": "Hello" }]);
    rows.insert(0, other);
    let more = folder.write("more.json", serde_json::to_string(&rows).unwrap());
    let done = run(&["check", &record, &more]);
    assert_eq!(done.code, Some(1));
    let failed: Vec<&str> = done.stdout.lines().filter(|line| line.contains("FAILED")).collect();
    assert_eq!(failed, [format!("  FAILED: {more}:1: is not in the record")], "{}", done.stdout);
}

/// Rows come by a pipe which nobody closes: what has come is there, and nobody waits for more.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_a_readable_partial_result() {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let folder = Folder::new();
    let row = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}\n";
    let other = "{\"type\":\"SPAN\",\"trace_id\":\"1\",\"input\":\"of something else\"}\n";
    for name in ["results.jsonl", "results.parquet"] {
        let (pipe, results) = (folder.file(&format!("of-{name}.jsonl")), folder.file(name));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let flags = ["--max", "100", "--tokenizer", "estimate", "--json", "--output", &results];
        let mut command = crate::support::cupel(&[&["replay", &pipe], &flags[..]].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        // So much is only read when what came first was replayed.
        let rows = row.repeat(10) + &other.repeat(20_000);
        log.write_all(rows.as_bytes()).unwrap();
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let done: Run = child.wait_with_output().unwrap().into();
        drop(log);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains("stopped before the end"), "{}", done.stderr);
        let summary: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(
            (&summary["is_complete"], &summary["rows"]["requests"]),
            (&false.into(), &10.into())
        );
        // Any table is a log to whoever names its columns.
        let again =
            json(&["replay", &results, "--columns", "request=file", "--max", "100", "--json"]);
        assert_eq!(again["rows"]["requests"], 10, "{name}");
    }
}

/// What is written would be lost, or would be read.
#[test]
fn files_that_are_read_or_written_already_are_not_written() {
    let folder = Folder::new();
    let (_, record) = recorded(&folder);
    let before = std::fs::read_to_string(&record).unwrap();
    for flag in ["--junit", "--markdown"] {
        let message = format!("{record}: is the record; name another file");
        assert_cannot_run(&["check", &record, flag, &record], &message);
    }
    assert_eq!(std::fs::read_to_string(&record).unwrap(), before);
    assert_cannot_run(
        &["check", "-", "--update"],
        "--update writes the record anew; name its file instead of `-`",
    );
    let both = folder.file("both");
    let message = format!("{both}: is to hold two things; name another file");
    assert_cannot_run(&["replay", LANGFUSE, "--svg", &both, "--output", &both], &message);
    assert_cannot_run(&["check", &record, "--junit", &both, "--markdown", &both], &message);
    // Results beside the logs of a folder are no log while they are written.
    let logs = Folder::new();
    let good = r#"{"messages":[{"role":"user","content":"Hello"}]}"#;
    logs.write("a.jsonl", format!("{good}\n").repeat(3_000));
    let (logs, results) = (logs.path().to_str().unwrap().to_owned(), logs.file("z.jsonl"));
    let flags = ["--max", "100", "--tokenizer", "estimate", "--policy", "chat", "--json"];
    let summary = json(&[&["replay", &logs, "--output", &results], &flags[..]].concat());
    assert_eq!(summary["rows"]["requests"], 3_000);
    assert_eq!(std::fs::read_to_string(results).unwrap().lines().count(), 3_000);
}

/// Where there is no room, the system's words are enough.
#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_told_once() {
    let folder = Folder::new();
    let full = folder.file("full.parquet");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let done = run(&["replay", LANGFUSE, "--max", "400", "--output", &full]);
    assert_eq!(done.code, Some(2));
    let message = format!(
        "cupel: {full}: cannot write: no space left on device; the figures are there, the results are not\n"
    );
    assert_eq!(done.stderr, message);
    assert!(
        done.stdout.contains("18 requests") && done.stdout.contains("as logged"),
        "{}",
        done.stdout
    );
    // The same of a picture.
    let picture = folder.file("full.svg");
    std::os::unix::fs::symlink("/dev/full", &picture).unwrap();
    let done = run(&["replay", LANGFUSE, "--max", "400", "--svg", &picture]);
    assert_eq!(done.code, Some(2));
    assert!(done.stdout.contains("as logged"), "{}", done.stdout);
}

/// Rows of a log in which the provider counted so many times the tokens that we count.
fn counted(folder: &Folder, times: i64) -> String {
    let words =
        "The parcel PX-7 is in depot 12, on the shelf C4 of the second corridor. ".repeat(9);
    let row = |at: i64| {
        let request = serde_json::json!({"model": "gpt-4o", "messages": [{"role": "user", "content": format!("{words}{at}")}]});
        let usage = serde_json::json!({"prompt_tokens": times * 185});
        serde_json::json!({"request": request, "response": {"choices": [{"message": {"role": "assistant", "content": "PX-7"}}], "usage": usage}})
    };
    let rows = (0..5).fold(String::new(), |rows, at| rows + &row(at).to_string() + "\n");
    folder.write("counted.jsonl", rows)
}

#[test]
fn a_log_whose_counts_are_far_from_ours_is_refused_unless_it_is_trusted() {
    let folder = Folder::new();
    let log = counted(&folder, 3);
    let done = run(&["replay", &log, "--max", "100"]);
    assert_eq!((done.code, &*done.stdout), (Some(2), ""), "{done:?}");
    assert!(done.stderr.contains("this log is probably misread: we count 0.3"), "{}", done.stderr);
    assert!(done.stderr.contains("5 rows as a request beside its response"), "{}", done.stderr);
    assert_eq!(run(&["replay", &log, "--max", "100", "--trust"]).code, Some(0));
    let log = counted(&folder, 1);
    let done = run(&["replay", &log, "--max", "100"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout.contains("the providers counted 925 tokens in 5 requests"),
        "{}",
        done.stdout
    );
}

#[test]
fn nothing_but_skipped_or_invalid_rows_is_exit_code_1() {
    let folder = Folder::new();
    let span = r#"{"type":"SPAN","traceId":"t","input":"x","output":"y"}"#;
    let log = folder.write("spans.jsonl", format!("{span}\n{span}\n"));
    let done = run(&["replay", &log, "--max", "100"]);
    assert_eq!((done.code, &*done.stdout), (Some(1), ""), "{done:?}");
    assert!(
        done.stderr.contains("there are 2 observations of Langfuse of the type SPAN"),
        "{}",
        done.stderr
    );
    let orphan = r#"{"messages":[{"role":"tool","tool_call_id":"x","content":"An orphan."},{"role":"user","content":"Hi"}]}"#;
    let log = folder.write("orphans.jsonl", format!("{orphan}\n"));
    let done = run(&["replay", &log, "--max", "100"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.stderr.contains("1 request that the provider refuses; the first: "),
        "{}",
        done.stderr
    );
}

/// Conversations in which the answer uses what was said first, of which a window has to keep the beginning.
fn conversations(folder: &Folder, count: usize) -> String {
    let mut rows = String::new();
    for talk in 0..count {
        let filler = "The weather is mild, lunch was soup again, and the printer is out of paper. ";
        let mut messages = vec![
            serde_json::json!({"role": "user", "content": format!("The key of depot {talk} is on card B-{talk}7.")}),
        ];
        for turn in 0..6 + talk % 5 {
            messages.push(serde_json::json!({"role": "assistant", "content": format!("Noted, {turn}. {filler}")}));
            messages.push(serde_json::json!({"role": "user", "content": format!("Message {turn} of talk {talk}: {filler}")}));
        }
        messages.push(serde_json::json!({"role": "user", "content": format!("Where is the key of depot {talk}?")}));
        let row = serde_json::json!({
            "timestamp": format!("2026-11-{:02}T10:00:00Z", 1 + talk % 20), "conversation_id": format!("c{talk}"), "user_id": format!("u{}", talk % 2),
            "request": {"model": "gpt-4.1", "messages": messages},
            "response": {"role": "assistant", "content": format!("On card B-{talk}7.")},
        });
        rows += &row.to_string();
        rows.push('\n');
    }
    folder.write("talks.jsonl", rows)
}

#[test]
fn a_newcomer_gets_a_recommendation_in_one_command() {
    let folder = Folder::new();
    let log = conversations(&folder, 60);
    let report = folder.file("report");
    let done = run(&["replay", &log, "--recommend", "--html", &report]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for part in [
        "recommended: auto",
        "with 90 % confidence",
        "chosen on ",
        "US dollars a month",
        "by user: u",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    let summary = json(&["replay", &log, "--recommend", "--json"]);
    let found = &summary["recommendation"];
    let way = &summary["ways"][found["way"].as_u64().unwrap() as usize];
    assert_eq!(way["budget_tokens"], found["budget_tokens"]);
    assert!(way["coverage"]["mean"].as_f64().unwrap() >= 0.9, "{way}");
    // Table, gate and dollars are of one model of cost: its tokens at full price, times its price.
    for sent in [&way["sent"], &summary["logged"]] {
        let (tokens, dollars) =
            (sent["full_price_tokens"].as_f64().unwrap(), sent["dollars"].as_f64().unwrap());
        assert!((tokens * 2.0 / 1e6 - dollars).abs() < 1e-5, "{sent}");
    }
    let index = std::fs::read_to_string(format!("{report}/index.html")).unwrap();
    let top = index.find("class=\"recommended\"").unwrap();
    assert!(top < index.find("class=\"tiles\"").unwrap(), "{index}");
    for part in ["talks.jsonl", "2026-11-01 to 2026-11-20", "Cost over time", "By model", "By user"]
    {
        assert!(index.contains(part), "{part}");
    }
    // Who opens the report of a loss sees the value, and the answer that used it.
    let done = run(&["replay", &log, "--max", "200", "--policy", "tool-use", "--html", &report]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let index = std::fs::read_to_string(format!("{report}/index.html")).unwrap();
    assert!(index.contains("On card <mark>B-"), "{index}");
    let pages = std::fs::read_dir(format!("{report}/requests")).unwrap();
    let bytes: u64 = pages.map(|page| page.unwrap().metadata().unwrap().len()).sum();
    assert!(bytes > 20_000 && bytes + (index.len() as u64) < 5_000_000, "{bytes}");
    let few = conversations(&folder, 6);
    let done = run(&["replay", &few, "--recommend"]);
    assert!(done.stdout.contains("nothing is recommended: "), "{}", done.stdout);
}

#[test]
fn logs_come_from_stdin_too() {
    let rows = std::fs::read_to_string(crate::support::root().join("examples/logs/requests.jsonl"))
        .unwrap();
    let done = crate::support::run_with(&["replay", "-", "--max", "300", "--json"], &rows);
    assert_eq!(done.code, Some(0), "{done:?}");
    let summary: Value = serde_json::from_str(&done.stdout).unwrap();
    let file = json(&["replay", "examples/logs/requests.jsonl", "--max", "300", "--json"]);
    assert_eq!(summary["ways"][0]["coverage"], file["ways"][0]["coverage"]);
    assert_eq!(summary["rows"], file["rows"]);
}

#[test]
fn a_sample_is_of_whole_conversations() {
    let folder = Folder::new();
    let log = conversations(&folder, 60);
    let flags = ["--max", "300", "--json", "--sample", "20"];
    let sampled = json(&[&["replay", &log], &flags[..]].concat());
    let requests = sampled["rows"]["requests"].as_u64().unwrap();
    assert!((8..=35).contains(&requests), "{requests}");
    assert_eq!(sampled, json(&[&["replay", &log], &flags[..]].concat()), "the same every time");
}

#[test]
fn own_prices_and_baselines_are_taken() {
    let folder = Folder::new();
    let log = conversations(&folder, 4);
    let prices = folder.write("prices.toml", "[\"gpt-4.1\"]\ninput = 20.0\n");
    let flags = [
        "--max",
        "300",
        "--json",
        "--baseline",
        "newest",
        "--baseline",
        "everything",
        "--baseline",
        "clear-tool-results",
    ];
    let usual = json(&[&["replay", &log], &flags[..]].concat());
    let own = json(&[&["replay", &log, "--prices", &prices], &flags[..]].concat());
    let dollars = |summary: &Value| summary["logged"]["dollars_without_cache"].as_f64().unwrap();
    assert!((dollars(&own) - 10.0 * dollars(&usual)).abs() < 1e-9);
    let named: Vec<&str> =
        own["ways"].as_array().unwrap().iter().map(|way| way["policy"].as_str().unwrap()).collect();
    assert_eq!(named, ["auto", "newest", "everything", "clear-tool-results"]);
    let coverage = |at: usize| own["ways"][at]["coverage"]["mean"].as_f64().unwrap();
    assert!((coverage(2) - 1.0).abs() < 1e-12, "everything is there");
    assert!(coverage(1) < 0.5, "what was said first is not among the newest: {}", coverage(1));
    assert_eq!(own["ways"][2]["sent"]["tokens"], own["logged"]["tokens"]);
    let bad = folder.write("bad.toml", "[m]\noutput = 2.0\n");
    let done = run(&["replay", &log, "--max", "300", "--prices", &bad]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.stderr.contains("bad.toml: ") && done.stderr.contains("output"),
        "{}",
        done.stderr
    );
}

/// A request that has one of two values left has lost one, whatever the mean over all requests says.
#[test]
fn a_single_request_that_loses_a_value_fails_the_check() {
    let folder = Folder::new();
    let log = conversations(&folder, 60);
    let record = folder.file("talks.record");
    let policy = folder.file("policy.toml");
    std::fs::write(&policy, run(&["policy", "show", "auto"]).stdout).unwrap();
    let done = run(&["record", &log, "--max", "200", "--policy", &policy, "--output", &record]);
    assert_eq!(done.code, Some(0), "{done:?}");
    // The same log, laid out otherwise, is the same log.
    let rows: Vec<Value> = std::fs::read_to_string(&log)
        .unwrap()
        .lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    std::fs::write(&log, serde_json::to_string_pretty(&rows).unwrap()).unwrap();
    assert_eq!(run(&["check", &record]).code, Some(0));
    std::fs::write(&policy, run(&["policy", "show", "tool-use"]).stdout).unwrap();
    let wide = ["--windows", "100%", "--coverage", "100%", "--cost", "100%"];
    let done = run(&[&["check", &record][..], &wide].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("requests lost a value that was there, 0 may"), "{}", done.stdout);
    let first = done.stdout.lines().find(|line| line.starts_with("  worse: ")).unwrap();
    assert!(
        first.contains("lost `b-") && first.contains("messages ") && first.contains("−"),
        "{first}"
    );
}

/// Who stops a job of a cluster sends SIGTERM.
#[cfg(unix)]
#[test]
fn sigterm_leaves_the_figures_too() {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let folder = Folder::new();
    let pipe = folder.file("pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command =
        cupel(&["replay", &pipe, "--max", "100", "--tokenizer", "estimate", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    let row = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}\n";
    let other = "{\"type\":\"SPAN\",\"trace_id\":\"1\",\"input\":\"of something else\"}\n";
    log.write_all((row.repeat(10) + &other.repeat(20_000)).as_bytes()).unwrap();
    assert!(
        Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success()
    );
    let done: Run = child.wait_with_output().unwrap().into();
    drop(log);
    assert_eq!(done.code, Some(2), "{done:?}");
    let summary: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(summary["rows"]["requests"], 10);
}

/// The path of a log in a record is one of the place where it was recorded.
#[test]
fn a_record_of_a_log_that_is_gone_says_what_to_do() {
    let folder = Folder::new();
    let log = folder.write("log.jsonl", r#"{"messages":[{"role":"user","content":"Hello"}]}"#);
    let record = folder.file("a.record");
    assert_eq!(run(&["record", &log, "--max", "100", "--output", &record]).code, Some(0));
    std::fs::remove_file(&log).unwrap();
    let done = run(&["check", &record]);
    assert_eq!(done.code, Some(2));
    let begin = format!("cupel: {log}: there is no such file, folder or match; {record} names it");
    assert!(done.stderr.starts_with(&begin), "{}", done.stderr);
    assert!(done.stderr.ends_with(&format!("cupel check {record} LOGS\n")), "{}", done.stderr);
}

/// A request as large as a book is one among others.
#[test]
fn a_large_row_is_replayed() {
    let folder = Folder::new();
    let message = |at: usize| {
        let text = "before noon the parcel was sent to the depot again ".repeat(4_000);
        serde_json::json!({ "role": "user", "content": format!("PX-{at} {text}") })
    };
    let request = serde_json::json!({ "messages": (0..100).map(message).collect::<Vec<_>>() });
    let row = serde_json::json!({ "request": request, "response": { "role": "assistant", "content": "PX-7." } });
    let small = r#"{"messages":[{"role":"user","content":"Hello"}]}"#;
    let log = folder.write("log.jsonl", format!("{small}\n{row}\n{small}\n"));
    assert!(std::fs::metadata(&log).unwrap().len() > 20_000_000);
    let flags = ["--max", "100k", "--policy", "chat", "--tokenizer", "estimate", "--json"];
    let summary = json(&[&["replay", &log], &flags[..]].concat());
    assert_eq!(summary["rows"]["requests"], 3);
    assert_eq!(summary["ways"][0]["coverage"]["used"], 1);
    assert_eq!(summary["ways"][0]["worst"][0]["lost"][0], "px-7");
}
