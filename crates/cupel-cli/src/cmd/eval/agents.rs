//! Runs of agents, whose requests are trimmed at every step.

use std::sync::Arc;

use cupel_eval::{
    AgentEvaluator, AgentMethod, AgentReport, AgentRuns, Baseline, DataKind, PolicyTrimmer,
    RecordedWindows, write_windows,
};
use cupel_engine::Shorten;
use cupel_tokens::TokenCounter;

use super::{Arguments, Detail, Output, Source, agent_report, chart, methods};
use crate::error::Failure;
use crate::progress::Progress;
use crate::render::{json, text};
use crate::style::Palette;

/// Measures, and says what is to be written and printed.
pub(super) fn measure(
    arguments: &Arguments,
    source: &Source<'_>,
    palette: Palette,
) -> Result<Output, Failure> {
    refuse_what_is_for_pools(arguments)?;
    let policies = methods::policies(&arguments.policies)?;
    let counter = counter(arguments.tokenizer.as_deref())?;
    let data = match source {
        Source::Stdin(bytes) => AgentRuns::read(super::STDIN, &bytes[..]),
        Source::Files(files) => AgentRuns::read_files(files),
    };
    let data = data.map_err(Failure::cannot)?;
    let (mut windows, mut budgets) = (Vec::new(), Vec::new());
    for path in &arguments.selections {
        let name = path.display().to_string();
        let read = RecordedWindows::read_file(path, &data).map_err(Failure::cannot)?;
        methods::tell_skipped(&name, read.skipped(), "runs");
        budgets.extend(read.budgets());
        windows.push((name, read));
    }
    // The windows of the last way of the first policy are those that may be written.
    let ways = ways(arguments);
    let trimmers = policies.iter().flat_map(|policy| {
        let counter = &counter;
        let method = move |(in_session, shorten): &(bool, Option<Shorten>)| {
            let trimmer = PolicyTrimmer {
                policy: policy.policy.clone(),
                counter: counter.clone(),
                in_session: *in_session,
                shorten: *shorten,
            };
            AgentMethod::new(trimmer.name_of(&policy.name), trimmer)
        };
        ways.iter().map(method)
    });
    let mut methods: Vec<AgentMethod<'_>> = trimmers.collect();
    methods.extend(arguments.baselines.iter().map(|known| AgentMethod::new(known.name(), *known)));
    methods.extend(windows.into_iter().map(|(name, read)| AgentMethod::new(name, read)));
    let names: Vec<&str> = methods.iter().map(AgentMethod::name).collect();
    methods::refuse_equal_names(&names)?;
    let reference = methods::reference(arguments.reference.as_deref(), &names)?;

    let threads = arguments.threads();
    let count = |text: &str| counter.count(text);
    let evaluator = AgentEvaluator::new(arguments.budgets(budgets)?, count).threads(threads);
    let progress = Progress::of_steps("runs", data.runs().len().saturating_mul(methods.len()));
    let evaluation = evaluator.run_with_progress(&data, &methods, |_| progress.advance(1));
    progress.finish();
    let evaluation = evaluation.map_err(Failure::cannot)?;
    let report = AgentReport::of(&evaluation, reference, threads);
    Ok(Output {
        selections: arguments.written(|lines| write_windows(&evaluation, ways.len() - 1, lines))?,
        chart: chart::of_agents(&report.summary),
        json: json::pretty(&report)?,
        tables: agent_report::render(&report, text::screen_width(), palette),
    })
}

/// The ways in which each policy is measured: anew at each step and in a session, as it is and shortened.
fn ways(arguments: &Arguments) -> Vec<(bool, Option<Shorten>)> {
    let sessions: &[bool] = if arguments.session { &[false, true] } else { &[false] };
    let forms: Vec<Option<Shorten>> = match arguments.shorten {
        None => vec![None],
        Some(Shorten::Off) => vec![Some(Shorten::Off)],
        Some(shorten) => vec![Some(Shorten::Off), Some(shorten)],
    };
    let of = |in_session: &bool| {
        let in_session = *in_session;
        forms.iter().map(move |shorten| (in_session, *shorten)).collect::<Vec<_>>()
    };
    sessions.iter().flat_map(of).collect()
}

/// Counter that the user asked for, or else that of the public judge of such runs.
fn counter(named: Option<&str>) -> Result<Arc<dyn TokenCounter>, Failure> {
    let counter = cupel_engine::counter(named.unwrap_or("cl100k_base"));
    counter.map_err(|error| Failure::of_settings(&error))
}

fn refuse_what_is_for_pools(arguments: &Arguments) -> Result<(), Failure> {
    let is_for_pools = |baseline: &&Baseline| !baseline.is_for(DataKind::AgentRuns);
    let flag = if let Some(baseline) = arguments.baselines.iter().find(is_for_pools) {
        format!("--baseline {}", baseline.name())
    } else if !arguments.by_tokens.is_empty() {
        "--by-tokens".to_owned()
    } else if arguments.vectors.is_some() {
        "--vectors".to_owned()
    } else if arguments.by == Detail::Category {
        "--by category".to_owned()
    } else {
        return Ok(());
    };
    Err(Failure::cannot(format!("{flag}: is for pools, the data are runs of agents; leave it out")))
}
