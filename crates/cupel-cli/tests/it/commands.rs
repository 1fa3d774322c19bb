//! The output of every command, on realistic requests.

use crate::support::{Folder, assert_snapshot, root, run, run_with};

const AGENT: &str = "examples/coding-agent.json";
const ITEMS: &str = "examples/retrieval.json";
const SMALL: &str = "crates/cupel-cli/tests/data/chat.json";
const ORPHAN: &str = "crates/cupel-cli/tests/data/orphan.json";
const POLICY: &str = "crates/cupel-cli/tests/data/policy.toml";
/// Loads no vocabulary, which takes its time without optimization.
const ESTIMATE: &str = "--tokenizer=estimate";
const TYPO: &str = "crates/cupel-cli/tests/data/typo.toml";

#[test]
fn select_cuts_out_what_does_not_fit_and_nothing_else() {
    assert_snapshot("select", &["select", SMALL, "--max", "120"]);
}

#[test]
fn select_tells_what_it_kept_in_one_line() {
    let run = run(&["select", AGENT, "--max", "8000"]);
    assert_eq!(run.code, Some(0));
    assert_eq!(run.stderr.lines().count(), 1);
    assert!(run.stderr.starts_with("kept "), "{}", run.stderr);
    assert!(run.stderr.contains(" of 102 messages, "), "{}", run.stderr);
    assert!(run.stderr.contains(" of 8,000 tokens, from "), "{}", run.stderr);
}

#[test]
fn select_says_so_when_counts_are_estimates() {
    let run = run(&["select", SMALL, "--max", "120", "--tokenizer", "estimate"]);
    assert!(run.stderr.ends_with(" (estimated)\n"), "{}", run.stderr);
}

#[test]
fn a_request_that_fits_comes_back_byte_for_byte() {
    for name in [
        "coding-agent.json",
        "coding-agent-anthropic.json",
        "coding-agent-ai-sdk.json",
        "coding-agent-ai-sdk-ui.json",
        "coding-agent-bedrock.json",
        "coding-agent-cohere.json",
        "coding-agent-ollama.json",
        "gemini-trip.json",
        "langchain-research.json",
        "support-chat.json",
    ] {
        let path = format!("examples/{name}");
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        let run = run(&["select", &path, "--max=1m", "--quiet", ESTIMATE]);
        assert_eq!((run.stdout, run.stderr.as_str()), (text, ""), "{name}");
    }
}

#[test]
fn stdin_is_read_when_it_is_a_pipe() {
    let text = std::fs::read_to_string(root().join(SMALL)).unwrap();
    let from_file = run(&["select", SMALL, "--max=120", ESTIMATE]);
    for arguments in
        [&["select", "--max=120", ESTIMATE] as &[&str], &["select", "-", "--max=120", ESTIMATE]]
    {
        let from_pipe = run_with(arguments, &text);
        assert_eq!(from_pipe.stdout, from_file.stdout);
    }
}

#[test]
fn what_is_selected_is_valid_and_fits_again() {
    let first = run(&["select", AGENT, "--max=5000", "--quiet", ESTIMATE]);
    let valid = run_with(&["validate"], &first.stdout);
    assert_eq!(valid.code, Some(0), "{valid:?}");
    let again = run_with(&["select", "--max=5000", "--quiet", ESTIMATE], &first.stdout);
    assert_eq!(again.stdout, first.stdout);
}

#[test]
fn the_window_comes_from_the_model_or_the_policy_where_no_flag_gives_it() {
    // The request names a model with a date, and reserves 4,096 tokens by its own output limit.
    let by_request = run(&["select", AGENT, ESTIMATE]);
    assert!(by_request.stderr.contains(" of 123,904 tokens, "), "{}", by_request.stderr);
    let by_flag = run(&["select", SMALL, "--model", "gpt-4o", "--reserve=28k", ESTIMATE]);
    assert!(by_flag.stderr.contains(" of 100,000 tokens, "), "{}", by_flag.stderr);
    let by_policy = run(&["select", SMALL, "--policy", POLICY, ESTIMATE]);
    assert!(by_policy.stderr.contains(" of 100 tokens, "), "{}", by_policy.stderr);
    let nowhere = run(&["select", SMALL]);
    assert_eq!(nowhere.code, Some(2));
    assert!(nowhere.stderr.contains("the model `house-model`"), "{}", nowhere.stderr);
    assert!(nowhere.stderr.contains("--max TOKENS or --model NAME"), "{}", nowhere.stderr);
}

#[test]
fn what_is_pinned_and_does_not_fit_is_listed_and_nothing_is_written() {
    assert_snapshot("select-does-not-fit", &["select", SMALL, "--max", "30", "--pin", "1"]);
}

#[test]
fn a_pin_keeps_a_message() {
    let is_kept = |run: crate::support::Run| run.stdout.contains("anything about lighthouses?");
    let select = ["select", SMALL, "--max=70", ESTIMATE, "--policy=chat"];
    assert!(!is_kept(run(&select)));
    assert!(is_kept(run(&[&select[..], &["--pin", "1"]].concat())));
}

#[test]
fn a_broken_request_is_refused_and_repaired_when_asked() {
    assert_snapshot("select-invalid", &["select", ORPHAN, "--max", "100"]);
    assert_snapshot("select-repair", &["select", ORPHAN, "--max", "100", "--repair=drop"]);
}

#[test]
fn explain_shows_the_window_what_is_in_and_what_is_out() {
    assert_snapshot("explain", &["explain", AGENT, "--max", "3000", "--limit", "5"]);
    assert_snapshot("explain-small", &["explain", SMALL, "--max", "100", "--reserve", "20"]);
    let items = &["explain", ITEMS, "--max", "800", "--policy", "rag"];
    assert_snapshot("explain-items", items);
    assert_snapshot("explain-json", &["explain", SMALL, "--max", "120", "--json"]);
}

#[test]
fn explain_shows_all_that_is_out_when_asked() {
    let shown = |arguments: &[&str]| run(arguments).stdout.matches("tokens more").count();
    let explain = ["explain", AGENT, "--max=3000", ESTIMATE, "--policy=chat"];
    assert_eq!(shown(&[&explain[..], &["--limit", "2"]].concat()), 2);
    assert!(shown(&[&explain[..], &["--all"]].concat()) > 20);
}

/// Whoever follows the advice gets what was promised.
#[test]
fn so_many_tokens_more_do_let_an_item_in() {
    let explained = run(&["explain", SMALL, "--max=90", ESTIMATE]).stdout;
    let row = explained.lines().find(|line| line.contains("tokens more")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    let needs = words.iter().position(|word| *word == "needs").unwrap();
    let more: u32 = words[needs + 1].replace(',', "").parse().unwrap();
    let path = words.iter().find(|word| word.starts_with("messages[")).unwrap();
    let is_kept = |max: u32| {
        let explained = run(&["explain", SMALL, "--max", &max.to_string(), ESTIMATE]).stdout;
        explained.split("left out").next().unwrap().contains(path)
    };
    assert!(is_kept(90 + more) && !is_kept(90 + more - 1), "{row}");
}

#[test]
fn simulate_answers_three_questions() {
    let marginal = ["simulate", "marginal", SMALL, "--max", "150", "--slack", "40"];
    assert_snapshot("simulate-marginal", &marginal);
    assert_snapshot("simulate-marginal-json", &[&marginal[..], &["--json"]].concat());
    assert_snapshot("simulate-min-budget", &["simulate", "min-budget", SMALL, "--item", "3"]);
    let json = ["simulate", "min-budget", SMALL, "--item", "3", "--json"];
    assert_snapshot("simulate-min-budget-json", &json);
    assert_snapshot("simulate-curve", &["simulate", "curve", AGENT]);
    let curve = ["simulate", "curve", SMALL, "--from", "20", "--steps", "4"];
    assert_snapshot("simulate-curve-csv", &[&curve[..], &["--csv"]].concat());
    assert_snapshot("simulate-curve-json", &[&curve[..], &["--json"]].concat());
}

#[test]
fn the_smallest_budget_keeps_the_item_and_one_token_less_does_not() {
    let json = run(&["simulate", "min-budget", SMALL, "--item=1", "--json", ESTIMATE]).stdout;
    let answer: serde_json::Value = serde_json::from_str(&json).unwrap();
    let smallest = answer["min_budget"].as_i64().unwrap();
    let is_kept = |max: i64| {
        run(&["select", SMALL, "--max", &max.to_string(), ESTIMATE])
            .stdout
            .contains("about lighthouses?")
    };
    assert!(is_kept(smallest) && !is_kept(smallest - 1));
}

#[test]
fn a_curve_can_be_a_picture() {
    let folder = Folder::new();
    let file = folder.file("curve.svg");
    let run = run(&["simulate", "curve", SMALL, "--svg", &file, ESTIMATE]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:?}");
    let svg = std::fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<polyline ").count(), 3);
}

#[test]
fn compare_shows_what_swings_and_exits_with_1() {
    let compare = ["compare", AGENT, "--max", "4000", "--policy", "chat", "--policy", "rag"];
    assert_snapshot("compare", &compare);
    let small = ["compare", SMALL, "--max", "100", "--policy", "chat", "--policy", "tool-use"];
    assert_snapshot("compare-json", &[&small[..], &["--json"]].concat());
    let same = ["compare", SMALL, "--max", "100", "--policy", "chat", "--policy", "chat"];
    assert_snapshot("compare-same", &same);
}

#[test]
fn count_adds_up() {
    assert_snapshot("count", &["count", SMALL]);
    assert_snapshot("count-json", &["count", SMALL, "--json"]);
    let texts = ["count", "--text", POLICY, TYPO, "--tokenizer", "cl100k_base"];
    assert_snapshot("count-text", &texts);
    let json = run(&["count", AGENT, "--json", ESTIMATE]).stdout;
    let count: serde_json::Value = serde_json::from_str(&json).unwrap();
    let parts = count["parts"].as_array().unwrap();
    let sum: i64 = parts.iter().map(|part| part["tokens"].as_i64().unwrap()).sum();
    assert_eq!(count["total_tokens"], sum);
}

#[test]
fn validate_names_message_rule_and_remedy() {
    assert_snapshot("validate", &["validate", AGENT]);
    assert_snapshot("validate-invalid", &["validate", ORPHAN]);
    assert_snapshot("validate-json", &["validate", ORPHAN, "--json"]);
    assert_snapshot("validate-repair", &["validate", ORPHAN, "--repair"]);
    assert_snapshot("validate-repair-show", &["validate", ORPHAN, "--repair=show"]);
}

#[test]
fn policies_are_listed_shown_and_checked() {
    assert_snapshot("policy-list", &["policy", "list"]);
    assert_snapshot("policy-list-json", &["policy", "list", "--json"]);
    assert_snapshot("policy-show", &["policy", "show", "tool-use"]);
    assert_snapshot("policy-show-json", &["policy", "show", POLICY, "--json"]);
    assert_snapshot("policy-check", &["policy", "check", POLICY]);
    assert_snapshot("policy-check-typo", &["policy", "check", TYPO]);
    assert_snapshot("policy-schema", &["policy", "schema"]);
}

#[test]
fn every_preset_that_is_shown_is_a_valid_policy() {
    let list = run(&["policy", "list", "--json"]).stdout;
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    for preset in list["policies"].as_array().unwrap() {
        let name = preset["name"].as_str().unwrap();
        for format in [&[] as &[&str], &["--json"]] {
            let shown = run(&[&["policy", "show", name], format].concat());
            let checked = run_with(&["policy", "check"], &shown.stdout);
            assert_eq!(checked.stdout, format!("stdin: a valid policy, {name}\n"), "{checked:?}");
        }
    }
}

#[test]
fn models_have_windows_and_tokenizers() {
    let table = run(&["models"]).stdout;
    assert!(table.lines().any(|line| line.contains("gpt-4o ") && line.contains("o200k_base")));
    let json: serde_json::Value = serde_json::from_str(&run(&["models", "--json"]).stdout).unwrap();
    for model in json["models"].as_array().unwrap() {
        assert!(model["context_window"].as_i64() > Some(0), "{model}");
    }
}

#[test]
fn conformance_runs_the_library_and_any_program() {
    let folder = "conformance/required/placing";
    let library = run(&["conformance", folder]);
    assert_eq!(library.code, Some(0), "{library:?}");
    assert!(library.stdout.ends_with(" passed, 0 failed, 0 skipped\n"), "{}", library.stdout);
    let program = format!("{} serve-protocol", env!("CARGO_BIN_EXE_cupel"));
    let by_protocol = run(&["conformance", folder, "--program", &program]);
    assert_eq!(by_protocol.stdout, library.stdout);
    let broken = run(&["conformance", folder, "--program", "false"]);
    assert_eq!(broken.code, Some(1));
    let lazy = "python3 conformance/program.py";
    let skipped = ["conformance", "conformance/required/slicing", "--program", lazy];
    assert_eq!(run(&skipped).code, Some(0));
    let forbidden = run(&[&skipped[..], &["--no-skips"]].concat());
    assert_eq!(forbidden.code, Some(1));
    assert!(forbidden.stdout.contains("were skipped, and none may be\n"), "{}", forbidden.stdout);
    let none = run(&["conformance", folder, "--filter", "no such vector"]);
    assert_eq!(none.code, Some(2));
}

#[test]
fn the_protocol_is_spoken_line_by_line() {
    let request = r#"{"id":1,"stage":"placing","placer":"u-shaped","scores":[0.1,0.9],"items":[{"content":"a","tokens":5},{"content":"b","tokens":5}]}"#;
    let answer = run_with(&["serve-protocol"], &format!("{request}\n"));
    assert_eq!(answer.stdout, "{\"id\":1,\"order\":[1,0]}\n");
}

#[cfg(feature = "huggingface")]
#[test]
fn a_tokenizer_file_counts() {
    let tokenizer = "crates/cupel-cli/tests/data/tokenizer.json";
    let run = run_with(&["count", "--text", "--tokenizer", tokenizer], "stone and paper lamp");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("  4  stdin\n"), "{}", run.stdout);
}
