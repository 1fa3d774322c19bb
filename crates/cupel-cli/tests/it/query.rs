//! What the window is for: `--query`, and what is superseded.

use crate::support::{Folder, run};

const CHAT: &str = r#"{"messages": [
    {"role": "user", "content": "My locker code is 4417, please remember it."},
    {"role": "assistant", "content": "I will remember the code of your locker."},
    {"role": "user", "content": "What shall I cook tonight? There are leeks and potatoes in the cellar."},
    {"role": "assistant", "content": "A soup of leeks and potatoes warms you up."},
    {"role": "user", "content": "Thanks. Which code opens my locker?"}
]}"#;

fn kept(arguments: &[&str]) -> String {
    let folder = Folder::new();
    let file = folder.write("request.json", CHAT);
    let first = ["select", &file, "--tokenizer=estimate", "--quiet"];
    let run = run(&[&first, arguments].concat());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    run.stdout
}

#[test]
fn the_last_turn_asks_unless_the_flag_does() {
    let asked = kept(&["--max=50"]);
    assert!(asked.contains("4417") && !asked.contains("cellar"), "{asked}");
    let told = kept(&["--max=42", "--query", "which vegetables are in the cellar?"]);
    assert!(told.contains("cellar") && !told.contains("4417"), "{told}");
}

#[test]
fn a_policy_that_looks_at_no_words_is_not_impressed_by_the_query() {
    let with = kept(&["--max=50", "--policy=chat", "--query=locker code"]);
    assert_eq!(with, kept(&["--max=50", "--policy=chat"]));
}

#[test]
fn explain_shows_which_words_earned_a_place() {
    let folder = Folder::new();
    let file = folder.write("request.json", CHAT);
    let run = run(&["explain", &file, "--tokenizer=estimate", "--max=60"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("words: code, locker"), "{}", run.stdout);
    assert!(run.stdout.contains("near \""), "{}", run.stdout);
}

#[test]
fn what_is_superseded_is_dropped_and_named_when_asked() {
    let coding = ["select", "examples/coding-agent.json", "--tokenizer=estimate", "--max=16k"];
    let run_of = |superseded: &str| run(&[&coding[..], &["--superseded", superseded]].concat());
    let (kept, dropped) = (run_of("keep"), run_of("drop"));
    assert_eq!((kept.code, dropped.code), (Some(0), Some(0)));
    assert!(!kept.stderr.contains("dropped"), "{}", kept.stderr);
    let beginning = "examples/coding-agent.json: dropped messages[";
    assert!(dropped.stderr.starts_with(beginning), "{}", dropped.stderr);
    assert!(dropped.stderr.contains("again in messages["), "{}", dropped.stderr);
}

#[test]
fn a_policy_with_relevance_is_read_shown_and_checked() {
    let folder = Folder::new();
    let shown = run(&["policy", "show", "auto"]);
    assert_eq!(shown.code, Some(0));
    let file = folder.write("mine.toml", shown.stdout.replace("k1 = 1.5", "k1 = 1.2"));
    let checked = run(&["policy", "check", &file]);
    assert_eq!(checked.stdout, format!("{file}: a valid policy, auto\n"), "{}", checked.stderr);
    let wrong = folder.write("wrong.toml", shown.stdout.replace("k1 = 1.5", "k1 = -1.0"));
    let refused = run(&["policy", "check", &wrong]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains(".k1: must"), "{}", refused.stderr);
}
