//! Runs of agents: what is read, and how windows are judged, worked out by hand.

use cupel_eval::{
    AgentEvaluation, AgentEvaluator, AgentMethod, AgentReport, AgentRow, AgentRuns, Baseline,
    Budgets, DataKind, RecordedWindows, available_threads, summarize_agents, write_windows,
};
use serde_json::{Value, json};

use crate::{example, lines};

/// Tokens are words here, and four for each message.
fn words(text: &str) -> i64 {
    i64::try_from(text.split_whitespace().count()).unwrap()
}

fn call(id: &str, arguments: &str) -> Value {
    let function = json!({"name": "look", "arguments": arguments});
    json!({"role": "assistant", "content": null,
           "tool_calls": [{"id": id, "type": "function", "function": function}]})
}

fn result(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

fn said(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

/// A system message, a question, and two calls with their results.
fn run() -> Value {
    json!({"run": "r", "set": "s", "messages": [
        said("system", "Be kind, PX-7."),
        said("user", "Where is PX-7?"),
        call("a", "PX-7"),
        result("a", "depot D-12 of Malmö"),
        call("b", "D-12"),
        result("b", "open till five"),
    ], "steps": [
        {"at": 2, "values": ["PX-7"]},
        {"at": 4, "values": ["D-12", "px-7"]},
        {"at": 6, "values": ["malmö", "Where"]},
    ]})
}

fn read(run: &Value) -> Result<AgentRuns, String> {
    AgentRuns::read("t.jsonl", run.to_string().as_bytes()).map_err(|error| error.to_string())
}

/// The windows of a step at budget 10; `null` if nothing fits.
fn window(at: usize, indices: Option<&[usize]>) -> Value {
    let messages = run()["messages"].clone();
    let kept =
        indices.map(|indices| indices.iter().map(|at| messages[*at].clone()).collect::<Vec<_>>());
    json!({"run": "r", "at": at, "budget": 10, "messages": kept})
}

fn judged(data: &AgentRuns, windows: &[Value]) -> AgentRow {
    let windows = RecordedWindows::read("w", lines(windows).as_bytes(), data).unwrap();
    let methods = [AgentMethod::new("file", windows)];
    let evaluation = evaluate(data, &methods, &[10]);
    summarize_agents(&evaluation).rows[0].clone()
}

fn evaluate<'d>(
    data: &'d AgentRuns,
    methods: &[AgentMethod<'_>],
    budgets: &[i64],
) -> AgentEvaluation<'d> {
    let budgets = Budgets::new(budgets.iter().copied()).unwrap();
    AgentEvaluator::new(budgets, words).run(data, methods).unwrap()
}

#[test]
fn windows_are_judged_by_what_they_hold() {
    let data = read(&run()).unwrap();
    let row = judged(
        &data,
        &[
            window(2, Some(&[0, 1])),       // all: PX-7 is there
            window(4, Some(&[0, 2, 3])),    // the question is gone, its values are not
            window(6, Some(&[0, 1, 4, 5])), // `Where` is there, Malmö is not
        ],
    );
    assert_eq!((row.runs, row.steps, row.unfit), (1, 3, 0));
    assert_eq!(row.coverage.unwrap().mean, (1.0 + 1.0 + 0.5) / 3.0);
    assert_eq!((row.invalid, row.stale, row.over), (0, 0, 2));
    // Messages count 7, 7, 6, 8, 6 and 7 tokens. The second and third window share the system
    // message with the one before them.
    assert_eq!(row.uncached_tokens, (7 + 7) + (6 + 8) + (7 + 6 + 7));
    assert_eq!(row.everything_tokens, 7 + 7 + 6 + 8 + 6 + 7);
}

#[test]
fn the_system_message_covers_nothing() {
    let data = read(&run()).unwrap();
    let row = judged(&data, &[window(2, Some(&[0]))]);
    assert_eq!(row.coverage.unwrap().mean, 0.0);
    assert_eq!((row.stale, row.unfit), (1, 2));
}

#[test]
fn what_does_not_fit_is_counted_and_has_no_other_figure() {
    let data = read(&run()).unwrap();
    let row = judged(&data, &[window(2, None), window(4, Some(&[0, 1, 2, 3])), window(6, None)]);
    assert_eq!((row.unfit, row.coverage.unwrap().mean), (2, 1.0));
    assert_eq!(row.uncached_tokens, 28);
}

#[test]
fn a_call_without_its_result_is_invalid_and_an_old_end_is_stale() {
    let data = read(&run()).unwrap();
    let row = judged(&data, &[window(4, Some(&[0, 1, 2])), window(6, Some(&[0, 3, 4, 5]))]);
    assert_eq!((row.invalid, row.stale), (2, 1));
}

#[test]
fn a_shortened_newest_message_is_there() {
    let data = read(&run()).unwrap();
    let mut shortened = window(6, Some(&[0, 1, 4]));
    shortened["messages"].as_array_mut().unwrap().push(result("b", "open"));
    let row = judged(&data, &[shortened]);
    assert_eq!((row.invalid, row.stale, row.uncached_tokens), (0, 0, 7 + 7 + 6 + 5));
}

#[test]
fn evidence_counts_where_there_are_no_values() {
    let mut run = run();
    run["steps"] = json!([{"at": 4, "evidence": [1, 3]}, {"at": 6, "values": []}]);
    let data = read(&run).unwrap();
    let row = judged(&data, &[window(4, Some(&[0, 2, 3])), window(6, Some(&[0, 4, 5]))]);
    assert_eq!(row.coverage.unwrap().mean, 0.5);
}

#[test]
fn the_head_costs_nothing_and_is_two_messages_in_the_set_swe() {
    let newest = [AgentMethod::new("newest", Baseline::Newest)];
    let kept = |run: &Value| {
        let data = read(run).unwrap();
        let evaluation = evaluate(&data, &newest, &[16]);
        let windows = evaluation.windows(0, 0).last().unwrap()[0].clone();
        windows.map(|judged| judged.window.kept().collect::<Vec<_>>())
    };
    assert_eq!(kept(&run()), Some(vec![0, 4, 5]));
    let mut swe = run();
    swe["set"] = "swe".into();
    assert_eq!(kept(&swe), Some(vec![0, 1, 4, 5]));
    swe["head"] = 1.into();
    assert_eq!(kept(&swe), Some(vec![0, 4, 5]));
}

/// The messages of each window of a run at a budget, each as `4` or, if it was changed, as a text.
fn shown(data: &AgentRuns, baseline: Baseline, budget: i64) -> Vec<Option<Vec<String>>> {
    let evaluation = evaluate(data, &[AgentMethod::new("m", baseline)], &[budget]);
    let run = &data.runs()[0];
    let name = |json: &Value| {
        let same = run.messages().iter().position(|message| message.json() == json);
        same.map_or_else(|| json["content"].as_str().unwrap().to_owned(), |at| at.to_string())
    };
    let windows = evaluation.windows(0, 0);
    let names = windows.map(|windows| {
        let judged = windows[0].as_ref()?;
        Some(judged.window.json(run).into_iter().map(name).collect())
    });
    names.collect()
}

#[test]
fn everything_is_sent_whatever_the_budget_says_and_counted_as_over_it() {
    let data = read(&run()).unwrap();
    let all = |to: usize| Some((0..to).map(|at| at.to_string()).collect::<Vec<_>>());
    assert_eq!(shown(&data, Baseline::Everything, 10), [all(2), all(4), all(6)]);
    let methods = [AgentMethod::new("everything", Baseline::Everything)];
    let row = summarize_agents(&evaluate(&data, &methods, &[10])).rows[0].clone();
    assert_eq!((row.over, row.unfit, row.coverage.unwrap().mean), (2, 0, 1.0));
    assert_eq!((row.uncached_tokens, row.everything_tokens), (41, 41));
    assert!(row.costs.iter().all(|it| it.full_price_tokens == it.everything_full_price_tokens));
}

#[test]
fn results_are_cleared_but_the_last_three_then_the_oldest_messages_go_and_nothing_comes_back() {
    let mut messages = vec![said("system", "Be kind."), said("user", "go")];
    for id in ["a", "b", "c", "d", "e"] {
        messages.extend([call(id, "x"), result(id, "one two three four five six")]);
    }
    let steps: Vec<Value> = [4, 6, 8, 10, 12].map(|at| json!({"at": at})).to_vec();
    let data =
        read(&json!({"run": "r", "set": "s", "messages": messages, "steps": steps})).unwrap();
    let windows = |budget: i64| {
        let shown = shown(&data, Baseline::ClearToolResults, budget).into_iter();
        shown.map(|window| window.map(|names| names.join(" "))).collect::<Vec<_>>()
    };
    // Beyond the head: 5 for the question, and 16 for each call with its result, 11 if cleared.
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        windows(64),
        [
            some("0 1 2 3"),
            some("0 1 2 3 4 5"),
            some("0 1 2 3 4 5 6 7"),
            some("0 1 2 [cleared] 4 5 6 7 8 9"),
            some("0 4 [cleared] 6 7 8 9 10 11"),
        ]
    );
    assert_eq!(windows(15), [None, None, None, None, None]);
}

#[test]
fn costs_follow_from_what_is_sent_and_what_of_it_the_cache_has() {
    let data = read(&run()).unwrap();
    let row = judged(&data, &[window(2, Some(&[0, 1])), window(4, Some(&[0, 2, 3]))]);
    // 14 tokens, of which none is cached, then 21, of which the first 7 are.
    assert_eq!((row.sent_tokens, row.uncached_tokens), (35, 28));
    let costs: Vec<(f64, f64, i64)> =
        row.costs.iter().map(|it| (it.rule.read, it.rule.write, it.full_price_tokens)).collect();
    // 0.7 + 35, 0.7 + 28 and 3.5 + 28, rounded.
    assert_eq!(costs, [(0.1, 1.25, 36), (0.1, 1.0, 29), (0.5, 1.0, 32)]);
    // Everything: 14, 28 and 41 tokens, of which 14 and 28 were sent before.
    let everything: Vec<i64> =
        row.costs.iter().map(|cost| cost.everything_full_price_tokens).collect();
    assert_eq!(everything, [55, 45, 62]);
}

#[test]
fn baselines_say_what_they_are_for() {
    let data = read(&run()).unwrap();
    let budgets = Budgets::new([10]).unwrap();
    let methods = [AgentMethod::new("oracle", Baseline::Oracle)];
    let error = AgentEvaluator::new(budgets, words).run(&data, &methods).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "the baseline `oracle` is not for runs of agents; for these there are newest, \
             everything, clear-tool-results"
        ),
        "{error}"
    );
}

#[test]
fn what_is_written_reads_back_to_the_same_figures() {
    let data =
        AgentRuns::read_files(&[example("runs/ferry.jsonl"), example("runs/coder.jsonl")]).unwrap();
    let report = |methods: &[AgentMethod<'_>]| {
        let evaluation = evaluate(&data, methods, &[100, 400]);
        let mut bytes = Vec::new();
        write_windows(&evaluation, 0, &mut bytes).unwrap();
        (bytes, AgentReport::of(&evaluation, 0, available_threads()))
    };
    let (bytes, ours) = report(&[AgentMethod::new("m", Baseline::Newest)]);
    let recorded = RecordedWindows::read("w.jsonl", &bytes[..], &data).unwrap();
    assert_eq!(recorded.budgets(), [100, 400]);
    let (again, read_back) = report(&[AgentMethod::new("m", recorded)]);
    assert_eq!(ours, read_back);
    assert_eq!(bytes, again);
    assert_eq!(ours.schema, "cupel/1");
}

#[test]
fn methods_are_compared_run_by_run() {
    let data = AgentRuns::read_files(&[example("runs/ferry.jsonl")]).unwrap();
    let methods = ["one", "two"].map(|name| AgentMethod::new(name, Baseline::Newest));
    let report = AgentReport::of(&evaluate(&data, &methods, &[200]), 0, available_threads());
    let [same] = &report.differences[..] else { panic!("{:?}", report.differences) };
    assert_eq!((same.pairs, same.ties, same.verdict.name()), (2, 2, "equal"));
    assert_eq!((same.method.as_str(), same.reference.as_str()), ("two", "one"));
}

#[test]
fn lines_that_break_a_rule_are_refused_by_path() {
    let error = |change: fn(&mut Value)| {
        let mut run = run();
        change(&mut run);
        read(&run).unwrap_err()
    };
    assert_eq!(
        error(|run| run["steps"][1]["at"] = 3.into()),
        "t.jsonl:1: steps[1].at: the first 3 messages are no valid request: every call needs its \
         results, and every result follows its call"
    );
    assert_eq!(
        error(|run| run["steps"][1]["at"] = 2.into()),
        "t.jsonl:1: steps[1].at: must rise from step to step, and hold the head: at least 3, got 2"
    );
    assert_eq!(
        error(|run| run["steps"][2]["at"] = 9.into()),
        "t.jsonl:1: steps[2].at: there are 6 messages, got 9"
    );
    assert_eq!(
        error(|run| run["steps"][0]["evidence"] = json!([2])),
        "t.jsonl:1: steps[0].evidence: message 2 is not in the request, which has 2"
    );
    assert_eq!(
        error(|run| run["messages"][3]["tool_call_id"] = 7.into()),
        "t.jsonl:1: messages[3].tool_call_id: must be a text, got 7"
    );
    assert_eq!(error(|run| run["set"] = Value::Null), "t.jsonl:1: set: is required");
    assert_eq!(
        error(|run| run["steps"] = json!([])),
        "t.jsonl: has no run with a step, so there is nothing to measure"
    );
}

#[test]
fn the_first_line_tells_pools_from_runs() {
    let kind = |text: &str| DataKind::of_bytes("t", text.as_bytes()).unwrap();
    assert_eq!(kind(&run().to_string()), DataKind::AgentRuns);
    assert_eq!(kind(r#"{"steps": 3}"#), DataKind::AgentRuns);
    assert_eq!(kind(r#"{"pool": "a/1", "messages": []}"#), DataKind::Pools);
    assert_eq!(kind(""), DataKind::Pools);
    assert_eq!(DataKind::of_file(example("runs/coder.jsonl")).unwrap(), DataKind::AgentRuns);
    assert_eq!(DataKind::of_file(example("code.jsonl")).unwrap(), DataKind::Pools);
}

#[test]
fn the_readme_tells_the_size_of_each_file_and_its_line_can_be_read() {
    let readme = std::fs::read_to_string(example("README.md")).unwrap();
    for name in ["ferry", "coder"] {
        let data = AgentRuns::read_files(&[example(&format!("runs/{name}.jsonl"))]).unwrap();
        let row =
            readme.lines().find(|line| line.contains(&format!("`runs/{name}.jsonl`"))).unwrap();
        let messages: usize = data.runs().iter().map(|run| run.messages().len()).sum();
        let size = format!("| {} | {messages} | {} |", data.runs().len(), data.step_count());
        assert!(row.contains(&size), "{name}: {size}");
    }
    let blocks: Vec<&str> = readme.split("```json\n").skip(1).collect();
    let block = |at: usize| blocks[at].split("```").next().unwrap().replace('\n', " ");
    let data = AgentRuns::read("readme", block(3).as_bytes()).unwrap();
    let windows = RecordedWindows::read("readme", block(4).as_bytes(), &data).unwrap();
    assert_eq!(windows.budgets(), [250]);
}

#[test]
fn newest_first_leaves_something_to_gain_on_our_own_runs() {
    for name in ["ferry", "coder"] {
        let data = AgentRuns::read_files(&[example(&format!("runs/{name}.jsonl"))]).unwrap();
        let methods = [AgentMethod::new("newest", Baseline::Newest)];
        let summary = summarize_agents(&evaluate(&data, &methods, &[150]));
        let coverage = summary.rows[0].coverage.unwrap().mean;
        assert!((0.2..0.9).contains(&coverage), "{name}: {coverage}");
    }
}
