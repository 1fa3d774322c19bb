//! The runs of agents, judged as `cupel eval` judges them: by its own code.

use cupel_chat::{Request, Statement};
use cupel_eval::{
    AgentEvaluator, AgentMethod, AgentRun, AgentStep, Budgets, JudgedWindow, PolicyTrimmer,
    stands_apart,
};

use crate::cost::Tariff;
use crate::outcome::{
    Coverage, ProblemKind, RequestOutcome, RowOutcome, RowProblem, Sent, WindowOutcome,
};
use crate::place::Place;
use crate::settings::{Settings, Way};
use crate::used::fingerprint;

/// Judges the requests of a run, step by step.
pub(crate) fn judge(
    settings: &Settings,
    ways: &[Way],
    place: &Place,
    run: &AgentRun,
) -> Vec<RowOutcome> {
    match steps(settings, ways, place, run) {
        Ok(steps) => steps.into_iter().map(|step| RowOutcome::Request(Box::new(step))).collect(),
        Err(rule) => {
            let kind = ProblemKind::Broken;
            vec![RowOutcome::Problem(RowProblem { place: place.clone(), kind, rule })]
        }
    }
}

fn steps(
    settings: &Settings,
    ways: &[Way],
    place: &Place,
    run: &AgentRun,
) -> Result<Vec<RequestOutcome>, String> {
    let budgets = Budgets::new(settings.budgets.iter().copied()).map_err(|_| {
        "the run of an agent has no model whose window could be taken; give --max TOKENS".to_owned()
    })?;
    let count = |text: &str| settings.counter.count(text);
    let evaluator = AgentEvaluator::new(budgets.clone(), count);
    let tokens = evaluator.message_tokens(run);
    let mut steps: Vec<RequestOutcome> = Vec::new();
    let mut before = 0;
    for (at, step) in run.steps().iter().enumerate() {
        steps.push(logged(settings, place, run, step, at, before, &tokens));
        before = step.at();
    }
    // Ways are by policy, then by session, then by budget: one call of a method makes all budgets.
    for of_method in ways.chunks(budgets.tokens().len()) {
        let Some(way) = of_method.first() else { continue };
        if let Some(baseline) = way.baseline {
            let method = AgentMethod::new(way.title(), baseline);
            let windows =
                evaluator.run_one(&method, run, &tokens).map_err(|error| error.to_string())?;
            add_windows(run, &mut steps, &windows, of_method.len());
            continue;
        }
        let trimmer = PolicyTrimmer {
            policy: settings.policies[way.policy].engine.policy().clone(),
            counter: settings.counter.clone(),
            in_session: way.in_session,
            shorten: settings.shorten,
        };
        let method = AgentMethod::new(way.title(), trimmer);
        let windows =
            evaluator.run_one(&method, run, &tokens).map_err(|error| error.to_string())?;
        add_windows(run, &mut steps, &windows, of_method.len());
    }
    Ok(steps)
}

/// Adds the windows of a method, which are by step, then by budget.
fn add_windows(
    run: &AgentRun,
    steps: &mut [RequestOutcome],
    windows: &[Option<JudgedWindow>],
    budgets: usize,
) {
    for (outcome, windows) in steps.iter_mut().zip(windows.chunks(budgets)) {
        let step = &run.steps()[outcome.place.part.unwrap_or(1) - 1];
        outcome.windows.extend(windows.iter().map(|judged| window(run, step, judged.as_ref())));
    }
}

fn billed(tokens: i64, uncached_tokens: i64) -> Sent {
    let mut sent = Sent { tokens, uncached_tokens, cost: 0.0 };
    sent.bill(&Tariff::OF_RUNS, false);
    sent
}

/// A step as it was logged: each message is sent once, since all that was sent before is in the cache.
fn logged(
    settings: &Settings,
    place: &Place,
    run: &AgentRun,
    step: &AgentStep,
    at: usize,
    before: usize,
    tokens: &[i64],
) -> RequestOutcome {
    let has_evidence = !step.values().is_empty() || !step.evidence().is_empty();
    let text = run.request(step);
    RequestOutcome {
        place: Place { part: Some(at + 1), ..place.clone() },
        fingerprint: fingerprint(&text),
        conversation: Some(run.name().to_owned()),
        set: Some(run.set().to_owned()),
        model: None,
        time: None,
        route: None,
        user: None,
        messages: step.at(),
        logged: billed(tokens[..step.at()].iter().sum(), tokens[before..step.at()].iter().sum()),
        counted_tokens: None,
        tariff: Tariff::OF_RUNS,
        cluster: fingerprint(run.name()),
        used_values: has_evidence.then(|| needed(step)),
        repeated_calls: 0,
        repeated_after_loss: 0,
        tools: Vec::new(),
        statements: statements(settings, text),
        windows: Vec::new(),
        late: Vec::new(),
        text: None,
        answer: None,
        text_before: None,
    }
}

/// Returns the statements of the rules in a step, whose windows have the messages of its request.
fn statements(settings: &Settings, text: String) -> Vec<Statement> {
    if settings.rules.is_empty() {
        return Vec::new();
    }
    let request = Request::parse(text, None);
    request.map(|request| request.statements(&settings.rules)).unwrap_or_default()
}

fn needed(step: &AgentStep) -> usize {
    if step.values().is_empty() { step.evidence().len() } else { step.values().len() }
}

fn window(run: &AgentRun, step: &AgentStep, judged: Option<&JudgedWindow>) -> WindowOutcome {
    let Some(JudgedWindow { window, measures, .. }) = judged else {
        return WindowOutcome::default();
    };
    let kept: Vec<usize> = window.kept().collect();
    let all = window.json(run).len();
    let used = needed(step);
    let coverage = measures.coverage.map(|share| Coverage {
        share,
        used,
        found: (share * used as f64).round() as usize,
        lost: if share < 1.0 { lost(run, step, &kept) } else { Vec::new() },
    });
    WindowOutcome {
        fits: true,
        is_changed: kept.len() != step.at(),
        is_invalid: measures.is_invalid,
        sent: billed(measures.tokens, measures.uncached_tokens),
        shortened: all - kept.len(),
        kept: kept.into_iter().map(|at| at as u32).collect(),
        coverage,
        ..WindowOutcome::default()
    }
}

/// The values that no message has that was kept as it is.
fn lost(run: &AgentRun, step: &AgentStep, kept: &[usize]) -> Vec<String> {
    let kept = kept.iter().filter_map(|at| run.messages().get(*at));
    let texts: Vec<String> = kept
        .filter(|message| message.role() != "system")
        .map(|message| message.text().to_lowercase())
        .collect();
    let has = |value: &str| {
        let value = value.to_lowercase();
        let is_there = |text: &String| {
            text.match_indices(&value).any(|(at, _)| stands_apart(text, at..at + value.len()))
        };
        texts.iter().any(is_there)
    };
    step.values().iter().filter(|value| !has(value)).take(8).cloned().collect()
}
