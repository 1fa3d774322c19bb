//! Data that is read, and data that is refused.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use cupel_eval::{Baseline, Budgets, DataSet, Pool, ReadOptions, Weigh};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::{data, item, lines, pool, read};

#[track_caller]
fn assert_refused(pool: &Value, text: &str) {
    assert_eq!(read(&lines(std::slice::from_ref(pool))).unwrap_err(), format!("t.jsonl:1: {text}"));
}

/// A pool with one query, of which the given fields are others.
fn asking(fields: Value) -> Value {
    let mut query = json!({"id": "q", "query": "which?", "evidence": [1]});
    let Value::Object(fields) = fields else { panic!("fields") };
    query.as_object_mut().unwrap().extend(fields);
    pool(&json!([query]))
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn read_bytes(bytes: &[u8]) -> Result<DataSet, String> {
    DataSet::read("t.jsonl", bytes, &ReadOptions::default()).map_err(|error| error.to_string())
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn candidates_are_unpinned_and_below_before() {
    let data = data(&[asking(json!({"before": 4}))]);
    let case = data.cases().next().unwrap();
    assert_eq!(case.candidate_indices(), [1, 2, 3]);
    assert_eq!(case.candidates()[2].content(), "text 3");
    assert_eq!(case.candidate_tokens(), 60);
}

#[test]
fn a_set_is_what_comes_before_the_first_slash() {
    let named = |name: &str| {
        let mut pool = pool(&json!([{"id": "q", "query": "?", "evidence": [1]}]));
        pool["pool"] = name.into();
        pool
    };
    let data = data(&[named("b/1/x"), named("a"), named("b/2")]);
    assert_eq!(data.sets(), ["b", "a"]);
}

#[test]
fn query_before_pool_before_set_says_how_evidence_is_weighed() {
    let weighed = |name: &str, of_pool: Value, of_query: Value| {
        let mut pool = asking(json!({ "weigh": of_query }));
        pool["pool"] = name.into();
        pool["weigh"] = of_pool;
        data(&[pool]).cases().next().unwrap().query.weigh()
    };
    assert_eq!(weighed("talk/1", Value::Null, Value::Null), Weigh::Items);
    assert_eq!(weighed("qmsum/1", Value::Null, Value::Null), Weigh::Tokens);
    assert_eq!(weighed("qmsum/1", "items".into(), Value::Null), Weigh::Items);
    assert_eq!(weighed("talk/1", "items".into(), "tokens".into()), Weigh::Tokens);
}

#[test]
fn the_caller_names_the_sets_that_are_weighed_by_tokens() {
    let text = lines(&[asking(json!({}))]);
    let mut options = ReadOptions::default();
    options.by_tokens = vec!["set".into()];
    let data = DataSet::read("t.jsonl", text.as_bytes(), &options).unwrap();
    assert_eq!(data.cases().next().unwrap().query.weigh(), Weigh::Tokens);
}

#[test]
fn gzip_is_known_by_its_bytes_and_may_have_several_members() {
    let mut second = asking(json!({}));
    second["pool"] = "set/two".into();
    let (first, second) = (lines(&[asking(json!({}))]), lines(&[second]));
    let path = file("plain-name.jsonl", &[gzip(&first), gzip("\n"), gzip(&second)].concat());
    let data = DataSet::read_files(&[path], &ReadOptions::default()).unwrap();
    assert_eq!(data.pools().iter().map(Pool::name).collect::<Vec<_>>(), ["set/one", "set/two"]);
}

#[test]
fn a_gzip_file_that_was_cut_off_or_damaged_says_so() {
    let whole = gzip(&lines(&[asking(json!({}))]));
    assert_eq!(
        read_bytes(&whole[..whole.len() - 20]).unwrap_err(),
        "t.jsonl:1: the gzip data ends early; the file was cut off, fetch or write it again"
    );
    let mut damaged = whole;
    damaged[12] ^= 0xff;
    damaged[13] ^= 0xff;
    let error = read_bytes(&damaged).unwrap_err();
    assert!(error.contains("the gzip data"), "{error}");
}

#[test]
fn a_broken_line_is_named_by_line_and_column() {
    let good = lines(&[asking(json!({}))]);
    let error = read(&format!("{good}\n\n{{\"pool\": \"a\", \"items\": [}}\n")).unwrap_err();
    assert_eq!(
        error,
        "t.jsonl:3:25: is not JSON: expected value; each line must be one complete JSON object"
    );
}

#[test]
fn files_that_hold_nothing_are_refused() {
    let empty = "t.jsonl: is empty; a data file has one pool a line, as a JSON object";
    assert_eq!(read("").unwrap_err(), empty);
    assert_eq!(read("\n  \n").unwrap_err(), empty);
    assert_eq!(
        read(&lines(&[pool(&json!([]))])).unwrap_err(),
        "t.jsonl: no pool has a query, so there is nothing to measure"
    );
}

#[test]
fn binary_data_is_refused_by_its_first_wrong_byte() {
    assert_eq!(
        read_bytes(b"{\"pool\": \"\xff\"}").unwrap_err(),
        "t.jsonl:1: byte 11 of the line (0xff) is not UTF-8; only JSON lines can be read, plain or gzip"
    );
}

#[test]
fn files_that_cannot_be_opened_are_named() {
    let options = ReadOptions::default();
    let error = DataSet::read_files(&["no/such.jsonl"], &options).unwrap_err();
    assert_eq!(error.to_string(), "no/such.jsonl: cannot read: no such file or directory");
    let folder = env!("CARGO_TARGET_TMPDIR");
    let error = DataSet::read_files(&[folder], &options).unwrap_err();
    assert_eq!(error.to_string(), format!("{folder}: is a folder; name a file"));
}

#[test]
fn fields_of_the_wrong_type_are_named_by_path() {
    let with_item = |item: Value| json!({"pool": "a", "items": [{"content": "x", "tokens": 1}, item], "queries": []});
    let wrong = with_item(json!({"content": "x", "tokens": "x"}));
    assert_refused(&wrong, "items[1].tokens: must be a whole number, got \"x\"");
    assert_refused(&with_item(item("x", -1)), "items[1].tokens: must not be negative, got -1");
    assert_refused(&with_item(json!({"content": "x"})), "items[1].tokens: is required");
    assert_refused(&with_item(json!(7)), "items[1]: must be an object, got 7");
    assert_refused(&json!([]), "must be an object, got a list");
    assert_refused(&json!({"pool": ""}), "pool: must not be empty");
    assert_refused(&json!({"items": []}), "pool: is required");
    assert_refused(&asking(json!({"query": 5})), "queries[0].query: must be a text, got 5");
    assert_refused(
        &asking(json!({"before": -1})),
        "queries[0].before: must be an index, a whole number from 0, got -1",
    );
    assert_refused(
        &asking(json!({"any_of": [[1], [1, "x"]]})),
        "queries[0].any_of[1][1]: must be an index, a whole number from 0, got \"x\"",
    );
    assert_refused(
        &asking(json!({"weigh": "words"})),
        "queries[0].weigh: must be \"items\" or \"tokens\", got \"words\"",
    );
}

#[test]
fn an_empty_text_is_refused() {
    let error = read(&lines(&[json!({"pool": "a", "items": [item("", 1)], "queries": []})]));
    assert!(error.unwrap_err().starts_with("t.jsonl:1: items[0]: "));
}

#[test]
fn evidence_must_be_candidates_each_once() {
    let at = "queries[0].evidence";
    for (fields, text) in [
        (json!({"evidence": [1, 6]}), "[1]: there is no item 6; the pool has 6 items"),
        (
            json!({"evidence": [4], "before": 3}),
            "[0]: item 4 is no candidate; `before` allows items below 3",
        ),
        (
            json!({"evidence": [0]}),
            "[0]: item 0 is pinned, so it is in every window; it is never evidence",
        ),
        (json!({"evidence": [2, 2]}), "[1]: item 2 is named twice; name it once"),
        (json!({"evidence": []}), ": must name at least one item; leave the query out"),
    ] {
        assert_refused(&asking(fields), &format!("{at}{text}"));
    }
}

#[test]
fn groups_follow_the_rules_of_evidence() {
    assert_refused(
        &asking(json!({"any_of": []})),
        "queries[0].any_of: must not be empty; leave it out",
    );
    assert_refused(
        &asking(json!({"any_of": [[1], []]})),
        "queries[0].any_of[1]: must name at least one item; leave the query out",
    );
    assert_refused(
        &asking(json!({"any_of": [[1, 9]]})),
        "queries[0].any_of[0][1]: there is no item 9; the pool has 6 items",
    );
}

#[test]
fn before_lies_within_the_pool() {
    assert!(read(&lines(&[asking(json!({"before": 6}))])).is_ok());
    assert_refused(
        &asking(json!({"before": 7})),
        "queries[0].before: must not exceed the 6 items, got 7",
    );
}

#[test]
fn evidence_without_tokens_cannot_be_weighed_by_tokens() {
    let pool = json!({
        "pool": "a", "items": [item("x", 0)],
        "queries": [{"id": "q", "query": "?", "evidence": [0], "weigh": "tokens"}],
    });
    assert_refused(
        &pool,
        "queries[0].evidence: has no tokens, so it cannot be weighed by tokens; set `weigh` to \"items\"",
    );
}

#[test]
fn ids_and_names_are_there_once() {
    let query = json!({"id": "q", "query": "?", "evidence": [1]});
    assert_refused(
        &pool(&json!([query, query])),
        "queries[1].id: `q` is there twice; give each query of a pool its own id",
    );
    let line = asking(json!({}));
    assert_eq!(
        read(&lines(&[line.clone(), line.clone()])).unwrap_err(),
        "t.jsonl:2: pool: `set/one` is there twice; give each pool its own name"
    );
    let path = file("twice.jsonl", lines(&[line]).as_bytes());
    let error = DataSet::read_files(&[&path, &path], &ReadOptions::default()).unwrap_err();
    assert_eq!((error.line(), error.path()), (Some(1), "pool"));
}

#[test]
fn notes_are_ignored_and_misspellings_refused() {
    assert!(read(&lines(&[asking(json!({"answer": "the first", "notes": [1, 2]}))])).is_ok());
    assert_refused(
        &asking(json!({"any_off": [[1]]})),
        "queries[0].any_off: unknown field; did you mean `any_of`?",
    );
    let mut pool = asking(json!({}));
    pool["items"][1]["pined"] = true.into();
    assert_refused(&pool, "items[1].pined: unknown field; did you mean `pinned`?");
}

#[test]
fn errors_have_codes_that_stay() {
    let code =
        |text: &[u8]| DataSet::read("t.jsonl", text, &ReadOptions::default()).unwrap_err().code();
    assert_eq!(code(b"{"), "data-not-json");
    assert_eq!(code(b"{}"), "invalid-data");
    assert_eq!(code(&[0x1f, 0x8b, 1]), "unreadable-data");
    let missing = DataSet::read_files(&["/no/such/file"], &ReadOptions::default()).unwrap_err();
    assert_eq!(missing.code(), "unreadable-data");
    assert_eq!("x".parse::<Budgets>().unwrap_err().code(), "invalid-budgets");
    assert_eq!("x".parse::<Baseline>().unwrap_err().code(), "unknown-baseline");
}
