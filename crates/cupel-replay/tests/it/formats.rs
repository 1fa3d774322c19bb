//! Every format that is read, by its sample.

use cupel_replay::{Columns, LogReader, RowOutcome, read_row};

use crate::support::{Folder, replay, replay_file, sample, settings, threads};

/// The samples that hold the requests of an agent with their answers, and how many rows of something else.
const OF_AGENT: [(&str, usize); 7] = [
    ("langfuse.json", 1),
    ("langfuse.parquet", 1),
    ("otlp.json", 1),
    ("otlp.parquet", 0),
    ("langsmith.jsonl", 1),
    ("langsmith.parquet", 1),
    ("pairs.jsonl.gz", 0),
];

#[test]
fn the_samples_of_all_formats_hold_the_same_requests() {
    let expected = replay_file(&sample("pairs.jsonl.gz"), settings(400)).summary;
    assert_eq!(expected.rows.requests, 18);
    for (name, others) in OF_AGENT {
        let replayed = replay_file(&sample(name), settings(400));
        assert_eq!(replayed.all_problems(), [""; 0], "{name}");
        let rows = replayed.summary.rows;
        assert_eq!((rows.requests, rows.others), (18, others), "{name}");
        for (way, expected) in replayed.summary.ways.iter().zip(&expected.ways) {
            let (coverage, expected) = (way.coverage.unwrap(), expected.coverage.unwrap());
            assert_eq!(
                (coverage.requests, coverage.used),
                (expected.requests, expected.used),
                "{name}"
            );
        }
    }
}

/// The logs that libraries wrote themselves, of one run of three requests, and what they are read as.
const BY_LIBRARIES: [(&str, &str); 13] = [
    ("langfuse-openai.json", "an observation of Langfuse"),
    ("langfuse-langgraph.json", "an observation of Langfuse"),
    ("langsmith-langgraph.jsonl", "a run of LangSmith"),
    ("openllmetry.json", "a document of OTLP"),
    ("otel-events.json", "a document of OTLP logs"),
    ("openinference.json", "a document of OTLP"),
    ("openinference-langchain.jsonl", "a span of OpenInference"),
    ("pydantic-ai.jsonl", "a span of OpenTelemetry"),
    ("litellm.jsonl", "a call of LiteLLM"),
    ("mlflow.jsonl", "a trace of MLflow"),
    ("mini-swe-agent.traj.json", "a trajectory of mini-swe-agent"),
    ("inspect.json", "a log of Inspect"),
    ("inspect.eval", "a log of Inspect"),
];

#[test]
fn logs_that_libraries_wrote_have_their_three_requests() {
    for (name, kind) in BY_LIBRARIES {
        let summary = replay_file(&sample("libraries").join(name), settings(20_000)).summary;
        assert_eq!(summary.problems, [], "{name}");
        assert_eq!((summary.rows.requests, summary.kinds[0].what.as_str()), (3, kind), "{name}");
        let coverage = summary.ways[0].coverage.unwrap();
        assert_eq!((coverage.requests, coverage.conversations), (3, 1), "{name}");
        // Each request goes on from the one before it: only what is new is not cached.
        assert!(summary.logged.uncached_tokens < summary.logged.tokens * 3 / 4, "{name}");
    }
    let silent = replay_file(&sample("libraries").join("otel.json"), settings(20_000));
    assert_eq!(silent.summary.rows.broken, 3);
    assert!(silent.all_problems()[0].contains("the messages were not recorded in the span"));
}

/// Dumps of LangChain have no place for a model, but the log tells it: so there is a window, and a price.
#[test]
fn the_model_that_a_log_tells_beside_a_dump_counts() {
    for name in ["langsmith.jsonl", "langsmith.parquet"] {
        let mut settings = settings(400);
        settings.budgets.clear();
        let summary = replay_file(&sample(name), settings).summary;
        assert_eq!((summary.rows.requests, summary.logged.priced_requests), (18, 18), "{name}");
    }
}

#[test]
fn a_table_and_a_text_of_the_same_export_give_the_same_windows() {
    for (text, table) in [
        ("langfuse.json", "langfuse.parquet"),
        ("otlp.json", "otlp.parquet"),
        ("langsmith.jsonl", "langsmith.parquet"),
        ("conversations.jsonl", "conversations.parquet"),
    ] {
        let kept = |name: &str| -> Vec<Vec<Vec<u32>>> {
            let outcomes = replay_file(&sample(name), settings(300)).outcomes;
            let windows = outcomes.iter().map(|outcome| match outcome {
                RowOutcome::Request(request) => {
                    request.windows.iter().map(|window| window.kept.clone()).collect()
                }
                _ => panic!("{name}: {outcome:?}"),
            });
            windows.collect()
        };
        assert_eq!(kept(text), kept(table), "{text}");
    }
}

#[test]
fn packed_lines_are_read_however_they_are_packed() {
    let folder = Folder::new();
    let plain = std::fs::read(sample("requests.jsonl")).unwrap();
    let packed = zstd::encode_all(&plain[..], 3).unwrap();
    let path = folder.write("requests.jsonl.zst", &packed);
    let expected = replay_file(&sample("requests.jsonl"), settings(300)).summary;
    assert_eq!(replay(std::slice::from_ref(&folder.0), settings(300)).summary.ways.len(), 2);
    let figures = |summary: cupel_replay::Summary| {
        let coverage = summary.ways[0].coverage.map(|share| (share.used, share.found));
        (summary.rows, summary.ways[0].sent, coverage)
    };
    assert_eq!(figures(replay_file(&path, settings(300)).summary), figures(expected));
    // How much was read is told as it is on the disk.
    let last = LogReader::new(vec![path.clone()], &Columns::default()).last().unwrap();
    assert_eq!(last.bytes_read, packed.len() as u64);
    folder.write("requests.jsonl.zst", &packed[..packed.len() / 2]);
    let problems = replay_file(&path, settings(300)).all_problems();
    assert!(problems.len() == 1 && problems[0].contains("ends early"), "{problems:?}");
}

#[test]
fn raw_requests_tell_of_the_requests_before_them_what_was_used() {
    let replayed = replay_file(&sample("requests.jsonl"), settings(100_000));
    assert_eq!(replayed.summary.rows.requests, 18);
    let coverage = replayed.summary.ways[0].coverage.unwrap();
    assert_eq!(coverage.requests, 15, "each but the last of three conversations");
    assert_eq!(coverage.found, coverage.used, "everything fits");
    // Each request of a conversation is the one before it and more: only what is new is not cached.
    let logged = replayed.summary.logged;
    assert!(logged.uncached_tokens < logged.tokens / 2, "{logged:?}");
}

#[test]
fn every_answer_of_a_conversation_is_one_to_all_before_it() {
    let replayed = replay_file(&sample("conversations.jsonl"), settings(10_000));
    assert_eq!(replayed.summary.rows.requests, 9);
    let RowOutcome::Request(third) = &replayed.outcomes[2] else { panic!() };
    assert_eq!((third.messages, third.place.part), (5, Some(3)));
}

#[test]
fn results_are_the_same_on_any_number_of_threads() {
    let paths = [
        sample("langfuse.json"),
        sample("requests.jsonl"),
        sample("agent-runs.jsonl"),
        sample("otlp.parquet"),
    ];
    let results = |count: usize| {
        let mut settings = settings(300);
        (settings.session, settings.details, settings.threads) = (true, true, threads(count));
        let replayed = replay(&paths, settings);
        (replayed.rows, serde_json::to_string(&replayed.summary).unwrap())
    };
    let alone = results(1);
    assert!(alone.0.lines().count() > 150, "{}", alone.0.lines().count());
    assert_eq!(alone, results(2));
    assert_eq!(alone, results(7));
}

#[test]
fn columns_name_what_is_what_in_other_logs() {
    let columns: Columns =
        "request=body.payload,response=answer,conversation=thread,model=engine".parse().unwrap();
    let row = r#"{"body":{"payload":"[{\"role\":\"user\",\"content\":\"Where is PX-7?\"}]"},"answer":"PX-7 is here.","thread":"t1","engine":"gpt-4o"}"#;
    let content = read_row(row, &columns).unwrap();
    let Ok(cupel_replay::Entry::Request(request)) = &content.entries[0] else {
        panic!("{content:?}")
    };
    let body: serde_json::Value = serde_json::from_str(&request.request).unwrap();
    let expected = serde_json::json!({"messages": [{"role": "user", "content": "Where is PX-7?"}], "model": "gpt-4o"});
    assert_eq!(body, expected);
    assert_eq!(
        (request.conversation.as_deref(), request.answer.as_ref().map(|a| &*a.text)),
        (Some("t1"), Some("PX-7 is here."))
    );
    let error = read_row(r#"{"other": 1}"#, &columns).unwrap_err();
    assert_eq!(
        error.rule,
        "body.payload: there is no such field, there are other; correct --columns"
    );
}

#[test]
fn attributes_alone_make_no_span() {
    let none = Columns::default();
    let plain = r#"{"attributes":{"colour":"red"},"messages":[{"role":"user","content":"Hi"}]}"#;
    assert_eq!(
        read_row(plain, &none).unwrap().entries.len(),
        1,
        "a request with attributes of its own"
    );
    let web = r#"{"span_id":"1","attributes":{"http.method":"GET"}}"#;
    let content = read_row(web, &none).unwrap();
    assert_eq!((content.entries.len(), content.skipped.len()), (0, 1));
    let nested = r#"{"attributes":{"gen_ai":{"input":{"messages":[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]}}}}"#;
    assert!(read_row(nested, &none).unwrap().entries[0].is_ok());
    let silent = r#"{"attributes":{"gen_ai.operation.name":"chat"}}"#;
    let content = read_row(silent, &none).unwrap();
    let rule = &content.entries[0].as_ref().unwrap_err().rule;
    assert!(rule.starts_with("gen_ai.input.messages: is not there"), "{rule}");
}
