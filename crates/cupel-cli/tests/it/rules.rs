//! `--rules`: standing rules that the caller names.

use crate::support::{Folder, Run, assert_cannot_run, cupel, run, run_with};

const RULE: &str = "do not touch migrations/";

/// A talk that begins with a rule, and goes on about other things.
fn talk() -> String {
    let said = |at: usize| {
        format!(
            r#"{{"role":"user","content":"Step {at}: the login page shows a red banner in test {at}."}},
            {{"role":"assistant","content":"Then test {at} of the login page has to be looked at."}},"#
        )
    };
    let middle: String = (1..9).map(said).collect();
    format!(
        r#"{{"messages":[{{"role":"user","content":"One thing: do NOT\n touch migrations/, they are generated."}},
        {{"role":"assistant","content":"Noted."}},{middle}
        {{"role":"user","content":"Why does the login page show a red banner?"}}]}}"#
    )
}

/// The newest fit in, and nothing else does.
const NEWEST: &str = "scorers = [\"recency\"]\nslicer = \"greedy\"\n";

/// Returns true if the window has the rule, by this policy.
fn has_rule(policy: &str, flags: &[&str]) -> bool {
    let select = ["select", "--max", "200", "--tokenizer", "estimate", "--policy", policy];
    let done = run_with(&[&select[..], flags].concat(), &talk());
    assert_eq!(done.code, Some(0), "{done:?}");
    done.stdout.contains("touch migrations/")
}

#[test]
fn a_message_that_states_a_rule_is_kept() {
    let folder = Folder::new();
    let newest = folder.write("newest.toml", NEWEST);
    let file = folder.write("rules.txt", format!("# of the team\n\nbe brief\n  {RULE}\n"));
    assert!(!has_rule(&newest, &[]));
    assert!(has_rule(&newest, &["--rules", RULE]));
    assert!(has_rule(&newest, &["--rules", "DO NOT  touch migrations/"]));
    assert!(has_rule(&newest, &["--rules", &file]));
    assert!(has_rule(&newest, &["--rules", "be brief", "--rules", &file]));
    assert!(!has_rule(&newest, &["--rules", "be brief"]), "nobody says so");
}

#[test]
fn explain_names_the_rule() {
    let flags = ["explain", "--max", "200", "--tokenizer", "estimate", "--rules", RULE];
    let done = run_with(&flags, &talk());
    assert_eq!(done.code, Some(0), "{done:?}");
    let words = format!("states a rule: `{RULE}`");
    assert!(done.stdout.contains(&words), "{}", done.stdout);
}

#[test]
fn a_pin_of_words_that_nobody_says_is_an_error_and_a_rule_is_none() {
    let select = |flag: &str, text: &str| {
        run_with(&["select", "--max", "200", "--tokenizer", "estimate", flag, text], &talk())
    };
    assert_eq!(select("--rules", "be brief").code, Some(0));
    assert_eq!(select("--pin", &format!("words:{RULE}")).code, Some(0));
    let refused = select("--pin", "words:be brief");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("pin `words:be brief`: no message"), "{}", refused.stderr);
}

#[test]
fn rules_may_be_set_once_for_all_calls() {
    let folder = Folder::new();
    folder.write("rules.txt", RULE);
    folder.write("cupel.toml", "rules = [\"rules.txt\", \"be brief, please\"]\n");
    let newest = folder.write("newest.toml", NEWEST);
    let talk = folder.write("talk.json", talk());
    let select = ["select", &talk, "--max", "200", "--tokenizer", "estimate", "--policy", &newest];
    let select = |flags: &[&str]| -> Run {
        let flags = [&select[..], flags].concat();
        cupel(&flags).current_dir(folder.path()).output().unwrap().into()
    };
    assert!(select(&[]).stdout.contains("touch migrations/"));
    assert!(!select(&["--rules", "be brief"]).stdout.contains("touch migrations/"), "a flag wins");
}

#[test]
fn what_is_no_file_is_taken_as_a_rule_and_told() {
    let folder = Folder::new();
    let missing = folder.file("rulse.txt");
    let done = run_with(
        &["select", "--max", "900", "--tokenizer", "estimate", "--rules", &missing],
        &talk(),
    );
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = format!("--rules {missing}: there is no such file; it is taken as a rule");
    assert!(done.stderr.contains(&told), "{}", done.stderr);
}

#[test]
fn rules_that_are_none_are_refused() {
    let folder = Folder::new();
    let empty = folder.write("empty.txt", "\n# to be written\n");
    let rest = "has no rules; give each on a line of its own that does not begin with `#`";
    let select = |text: &str, message: &str| {
        assert_cannot_run(&["select", "--max", "200", "--rules", text], message);
    };
    select(&empty, &format!("{empty}: {rest}"));
    select("# none", &format!("rules: `# none`: {rest}"));
    select("", &format!("rules: ``: {rest}"));
}

/// A log with the talk, and a record of it by a policy.
#[cfg(feature = "replay")]
fn recorded(folder: &Folder, policy: &str) -> String {
    let call = format!("{{\"request\":{}}}", talk().replace('\n', " "));
    let log = folder.write("calls.jsonl", &call);
    let record = folder.file("calls.record");
    let flags = ["--max", "200", "--tokenizer", "estimate", "--output", &record];
    let done = run(&[&["record", &log, "--policy", policy][..], &flags].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    record
}

#[test]
#[cfg(feature = "replay")]
fn a_policy_that_loses_a_rule_fails_the_check() {
    let folder = Folder::new();
    let newest = folder.write("newest.toml", NEWEST);
    let record = recorded(&folder, &newest);
    assert_eq!(run(&["check", &record]).code, Some(0));
    let (junit, markdown) = (folder.file("check.xml"), folder.file("check.md"));
    let flags = ["--rules", RULE, "--rules", "be brief"];
    let outputs = ["--junit", &junit, "--markdown", &markdown];
    let done = run(&[&["check", &record][..], &flags, &outputs].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    let log = folder.file("calls.jsonl");
    let lost = format!("{log}:1: {newest} at 200: lost the rule `{RULE}` in messages[0]");
    assert!(done.stdout.starts_with("the record of 1 request DOES NOT HOLD\n"), "{}", done.stdout);
    assert!(done.stdout.contains(&format!("  FAILED: {lost}\n")), "{}", done.stdout);
    let unstated = "no request of the record states the rule `be brief`";
    assert!(done.stdout.contains(&format!("  warning: {unstated}\n")), "{}", done.stdout);
    let markdown = std::fs::read_to_string(markdown).unwrap();
    assert!(markdown.contains(&format!("❌ a window lost a rule\n\n- {lost}\n")), "{markdown}");
    assert!(markdown.contains(&format!("⚠️ {unstated}\n")), "{markdown}");
    let xml = std::fs::read_to_string(junit).unwrap();
    let failure = format!("keeps the rules\">\n      <failure message=\"1 rule lost\">{lost}<");
    assert!(xml.contains("tests=\"3\" failures=\"1\"") && xml.contains(&failure), "{xml}");
    assert!(xml.contains(&format!("<skipped message=\"{unstated}\"/>")), "{xml}");
    // Neither tolerances nor a new record make up for it.
    let wide = ["--windows", "100%", "--coverage", "100%", "--cost", "100%", "--update"];
    assert_eq!(run(&[&["check", &record][..], &flags, &wide].concat()).code, Some(1));
}

#[test]
#[cfg(feature = "replay")]
fn auto_keeps_the_rule_and_passes_the_check() {
    let folder = Folder::new();
    let record = recorded(&folder, "auto");
    let markdown = folder.file("check.md");
    let done = run(&["check", &record, "--rules", RULE, "--markdown", &markdown]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!done.stdout.contains("warning"), "{}", done.stdout);
    assert!(std::fs::read_to_string(markdown).unwrap().contains("✅ no window lost a rule"));
}

/// A file of rules may be gone when a record is checked: what it said is in the record.
#[test]
#[cfg(feature = "replay")]
fn rules_that_were_set_where_it_was_recorded_hold_again() {
    let folder = Folder::new();
    let rules = folder.write("rules.txt", RULE);
    let newest = folder.write("newest.toml", NEWEST);
    let record = recorded(&folder, &newest);
    let log = folder.file("calls.jsonl");
    let flags = ["record", &log, "--max", "200", "--tokenizer", "estimate", "--policy", &newest];
    let flags = [&flags[..], &["--output", &record]].concat();
    let done: Run = cupel(&flags).env("CUPEL_RULES", &rules).output().unwrap().into();
    assert_eq!(done.code, Some(0), "{done:?}");
    std::fs::remove_file(&rules).unwrap();
    let done = run(&["check", &record, "--rules", RULE]);
    assert_eq!(done.code, Some(0), "{done:?}");
}
