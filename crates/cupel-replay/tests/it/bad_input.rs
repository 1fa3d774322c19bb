//! Bad input is named with file, row group and row; the rest goes on.

use std::path::Path;

use cupel_replay::{Columns, LARGEST_ROW, LogReader, ProblemKind, find_logs};

use crate::support::{Folder, replay, replay_file, sample, settings};

const GOOD: &str = r#"{"messages":[{"role":"user","content":"Hello"}]}"#;

fn problems_of(content: impl AsRef<[u8]>, name: &str) -> (usize, Vec<String>) {
    let folder = Folder::new();
    let path = folder.write(name, content);
    let replayed = replay_file(&path, settings(1_000));
    let prefix = format!("{}/", folder.0.display());
    let problems =
        replayed.all_problems().iter().map(|problem| problem.replace(&prefix, "")).collect();
    (replayed.summary.rows.requests, problems)
}

#[test]
fn a_broken_first_line_hides_no_rows() {
    for broken in [r#"{"messages":[{"role":"us"#, "nonsense", r#"{"messages": 3,"#, "\u{feff}{\"a"]
    {
        let (requests, problems) = problems_of(format!("{broken}\n{GOOD}\n\n{GOOD}\n"), "a.jsonl");
        assert_eq!((requests, problems.len()), (2, 1), "{broken}: {problems:?}");
        assert!(problems[0].starts_with("a.jsonl:1: is not JSON"), "{problems:?}");
    }
}

#[test]
fn a_broken_element_of_a_list_hides_no_others() {
    for broken in [r#"{"messages": nonsense}"#, r#"{"messages":[{"role":"us"#, "17"] {
        let (requests, problems) =
            problems_of(format!("[\n{GOOD},\n{broken},\n{GOOD},\n{GOOD}\n]\n"), "a.json");
        assert_eq!((requests, problems.len()), (3, 1), "{broken}: {problems:?}");
        assert!(problems[0].starts_with("a.json:2: "), "{problems:?}");
    }
}

#[test]
fn rows_may_be_laid_out_over_lines_and_files_may_mix_formats() {
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(GOOD).unwrap())
            .unwrap();
    assert_eq!(problems_of(&pretty, "a.json"), (1, vec![]));
    assert_eq!(problems_of(format!("{pretty}\n{pretty}\n"), "a.json"), (2, vec![]));
    let pair = format!(r#"{{"request":{GOOD},"response":"Hi"}}"#);
    let (requests, problems) =
        problems_of(format!("{GOOD}\n{pair}\n{{\"colour\":\"red\"}}\n"), "a.jsonl");
    assert_eq!(requests, 2);
    assert_eq!(
        problems,
        [
            "a.jsonl:3: is of no known format, it has the fields colour; say what they are with --columns request=FIELD,response=FIELD"
        ]
    );
}

#[test]
fn wrong_types_are_named() {
    for (row, rule) in [
        (r#"{"request": 3}"#, "request: must be a request"),
        (r#"{"conversation": "x"}"#, "is of no known format, it has the fields conversation"),
        (
            r#"{"input": 3, "output": "x"}"#,
            "input: must be messages, a request or a prompt, got a number",
        ),
        (
            r#"{"run": "r", "set": "s", "messages": 3, "steps": []}"#,
            "messages: must be a list, got 3",
        ),
        (r#"{"resourceSpans": 3}"#, "resourceSpans: must be a list, got a number"),
        (r#"{"messages": 3}"#, "messages"),
    ] {
        let (requests, problems) = problems_of(format!("{GOOD}\n{row}\n{GOOD}\n"), "a.jsonl");
        assert_eq!((requests, problems.len()), (2, 1), "{row}: {problems:?}");
        assert!(problems[0].contains(rule), "{row}: {problems:?}");
    }
}

#[test]
fn bytes_that_are_no_text_and_packed_files_that_end_early_are_named() {
    let (requests, problems) = problems_of(
        [GOOD.as_bytes(), b"\n{\"a\": \"\xff\"}\n", GOOD.as_bytes()].concat(),
        "a.jsonl",
    );
    assert_eq!(requests, 2);
    assert!(problems[0].starts_with("a.jsonl:2: byte 8 is not UTF-8"), "{problems:?}");
    let packed = std::fs::read(sample("pairs.jsonl.gz")).unwrap();
    let (_, problems) = problems_of(&packed[..packed.len() / 2], "a.jsonl.gz");
    assert!(problems.iter().any(|problem| problem.contains("ends early")), "{problems:?}");
}

#[test]
fn a_parquet_file_that_is_cut_off_is_named_and_the_rest_goes_on() {
    let folder = Folder::new();
    let whole = std::fs::read(sample("otlp.parquet")).unwrap();
    folder.write("a.parquet", &whole[..whole.len() - 100]);
    folder.write("b.jsonl", GOOD);
    let mut damaged = whole.clone();
    damaged[200..900].fill(0xAA);
    folder.write("c.parquet", &damaged);
    let replayed = replay(std::slice::from_ref(&folder.0), settings(1_000));
    let problems = replayed.all_problems();
    assert!(
        problems.iter().any(|p| p.contains("a.parquet: is no whole Parquet file")),
        "{problems:?}"
    );
    assert!(
        problems.iter().any(|p| p.contains("c.parquet: row group 1, row 1: cannot be read")),
        "{problems:?}"
    );
    assert_eq!((replayed.summary.rows.requests, replayed.summary.rows.unreadable), (1, 2));
}

#[test]
fn a_table_without_the_column_that_is_named_says_which_it_has() {
    let columns: Columns = "request=body".parse().unwrap();
    let batches: Vec<_> = LogReader::new(vec![sample("otlp.parquet")], &columns).collect();
    let Err(problem) = &batches[0].rows[0] else { panic!("{batches:?}") };
    assert_eq!(problem.kind, ProblemKind::Unreadable);
    let rule = "there is no column body, there are span_id, gen_ai.operation.name";
    assert!(problem.rule.starts_with(rule), "{problem}");
    assert!(problem.rule.ends_with("; correct --columns"), "{problem}");
}

#[test]
fn a_row_that_is_too_large_is_named_and_a_large_one_is_alone_in_its_batch() {
    let folder = Folder::new();
    let large =
        format!(r#"{{"messages":[{{"role":"user","content":"{}"}}]}}"#, "x".repeat(9 << 20));
    let mut content = format!("{GOOD}\n{large}\n{GOOD}\n").into_bytes();
    content.resize(content.len() + LARGEST_ROW + 2, b'y');
    content.extend_from_slice(format!("\n{GOOD}\n").as_bytes());
    let path = folder.write("a.jsonl", content);
    let batches: Vec<_> = LogReader::new(vec![path], &Columns::default()).collect();
    let sizes: Vec<usize> = batches.iter().map(|batch| batch.rows.len()).collect();
    assert_eq!(sizes, [1, 1, 3]);
    let Err(problem) = &batches[2].rows[1] else { panic!("the fourth row") };
    assert_eq!((problem.place.row, problem.kind), (4, ProblemKind::Broken));
    assert!(problem.rule.starts_with("is larger than 256 MB"));
}

#[test]
fn a_log_of_nothing_but_bad_rows_is_handed_on_bit_by_bit() {
    let folder = Folder::new();
    let content = [GOOD.as_bytes(), b"\n", &b"{}\xff\n".repeat(3_000)].concat();
    let path = folder.write("a.jsonl", content);
    let batches: Vec<_> = LogReader::new(vec![path], &Columns::default()).collect();
    let counts: Vec<usize> = batches.iter().map(|batch| batch.rows.len()).collect();
    assert_eq!(counts, [1_024, 1_024, 953]);
}

/// A row that cannot be read has its place among the results, as it has in the log.
#[test]
fn rows_that_cannot_be_read_stand_where_they_stood() {
    let folder = Folder::new();
    let content = [GOOD.as_bytes(), b"\n\"\xff\"\nnonsense\n", GOOD.as_bytes()].concat();
    let path = folder.write("a.jsonl", content);
    let mut rows: Vec<(u64, bool)> = replay_file(&path, settings(100))
        .rows
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|row| (row["row"].as_u64().unwrap(), row["problem"].is_null()))
        .collect();
    rows.dedup();
    assert_eq!(rows, [(1, true), (2, false), (3, false), (4, true)]);
}

#[test]
fn json_that_is_no_request_is_told_from_what_is_no_json() {
    for (row, rule) in [
        ("17", "must be an object or a list of messages, got a number"),
        ("\"Hi\"", "must be an object or a list of messages, got a text"),
        ("null", "must be an object or a list of messages, got nothing"),
        ("[]", "is an empty list; a request has messages"),
        ("[ 1, 2]", "[0]: must be a message, which is an object"),
        ("{}", "is empty; a row is a request, or has one in a field"),
    ] {
        let (requests, problems) = problems_of(format!("{GOOD}\n{row}\n"), "a.jsonl");
        assert_eq!((requests, problems), (1, vec![format!("a.jsonl:2: {rule}")]), "{row}");
    }
    let wide: Vec<u8> =
        [0xFF, 0xFE].into_iter().chain(GOOD.bytes().flat_map(|byte| [byte, 0])).collect();
    let (_, problems) = problems_of(wide, "a.jsonl");
    assert!(problems[0].starts_with("a.jsonl: is written in UTF-16"), "{problems:?}");
}

#[test]
fn folders_are_walked_once_whatever_links_lead_back() {
    let folder = Folder::new();
    std::fs::create_dir(folder.0.join("inner")).unwrap();
    folder.write("inner/b.jsonl", GOOD);
    folder.write("a.jsonl", GOOD);
    folder.write("notes.txt", "nothing");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&folder.0, folder.0.join("inner/loop")).unwrap();
    let found = find_logs(std::slice::from_ref(&folder.0)).unwrap();
    let names: Vec<&str> =
        found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["a.jsonl", "b.jsonl"]);
    let pattern = folder.0.join("*/*.jsonl");
    assert_eq!(find_logs(std::slice::from_ref(&pattern)).unwrap().len(), 1);
    assert_eq!(find_logs(&[pattern, folder.0.clone(), folder.0.join("a.jsonl")]).unwrap().len(), 2);
}

#[test]
fn what_is_not_there_is_said() {
    let folder = Folder::new();
    folder.write("notes.txt", "nothing");
    let error = find_logs(std::slice::from_ref(&folder.0)).unwrap_err().to_string();
    assert!(error.contains("there is no log in the folder; logs end in .jsonl"), "{error}");
    let error = find_logs(&[Path::new("absent.jsonl").to_path_buf()]).unwrap_err().to_string();
    assert_eq!(error, "absent.jsonl: there is no such file, folder or match");
}
