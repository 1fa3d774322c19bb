//! Pools of candidates, and queries whose evidence is known.

use cupel_eval::{
    Baseline, Case, DataKind, DataSet, Evaluator, Method, PolicySelector, PoolReport, ReadOptions,
    RecordedSelections,
    write_selections,
};
use cupel_relevance::Strategies;

use super::methods::{self, MeasuredPolicy};
use super::vectors::PoolVectors;
use super::{Arguments, Detail, Output, Source, chart, pool_report};
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
    refuse_what_is_for_runs(arguments)?;
    let policies = methods::policies(&arguments.policies)?;
    let data = read(arguments, source)?;
    let (mut selections, mut budgets) = (Vec::new(), Vec::new());
    for path in &arguments.selections {
        let name = path.display().to_string();
        let read = RecordedSelections::read_file(path, &data).map_err(Failure::cannot)?;
        methods::tell_skipped(&name, read.skipped(), "pools");
        budgets.extend(read.budgets());
        selections.push((name, read));
    }
    // Holds what was found out about texts, so that the next question need not do it again.
    let strategies = Strategies::new("");
    let vectors = match &arguments.vectors {
        Some(path) => PoolVectors::read(path, &data)?,
        None => PoolVectors::default(),
    };
    let mut methods: Vec<Method<'_>> =
        policies.iter().map(|policy| method(policy, &strategies, &vectors)).collect();
    methods.extend(arguments.baselines.iter().map(|known| Method::new(known.name(), *known)));
    methods.extend(selections.into_iter().map(|(name, read)| Method::new(name, read)));
    let names: Vec<&str> = methods.iter().map(Method::name).collect();
    methods::refuse_equal_names(&names)?;
    let reference = methods::reference(arguments.reference.as_deref(), &names)?;

    let threads = arguments.threads();
    let evaluator = Evaluator::new(arguments.budgets(budgets)?).threads(threads);
    let steps = data.query_count().saturating_mul(methods.len());
    let progress = Progress::of_steps("answers", steps);
    let evaluation = evaluator.run_with_progress(&data, &methods, |_| progress.advance(1));
    progress.finish();
    let evaluation = evaluation.map_err(Failure::cannot)?;
    let report = PoolReport::of(&evaluation, reference, threads);
    let is_by_category = arguments.by == Detail::Category;
    Ok(Output {
        // The first policy is the first method.
        selections: arguments.written(|lines| write_selections(&evaluation, 0, lines))?,
        chart: chart::of_pools(&report.summary),
        json: json::pretty(&report)?,
        tables: pool_report::render(&report, is_by_category, text::screen_width(), palette),
    })
}

fn read(arguments: &Arguments, source: &Source<'_>) -> Result<DataSet, Failure> {
    let mut options = ReadOptions::default();
    if !arguments.by_tokens.is_empty() {
        options.by_tokens.clone_from(&arguments.by_tokens);
    }
    let data = match source {
        Source::Stdin(bytes) => DataSet::read(super::STDIN, &bytes[..], &options),
        Source::Files(files) => DataSet::read_files(files, &options),
    };
    data.map_err(Failure::cannot)
}

fn method<'m>(
    policy: &'m MeasuredPolicy,
    strategies: &'m Strategies,
    vectors: &'m PoolVectors,
) -> Method<'m> {
    let build = |case: Case<'_>| {
        Ok(policy.compiled.pipeline(&vectors.ask(strategies, case)?, case.candidates()))
    };
    Method::new(&policy.name, PolicySelector::for_cases(build))
}

fn refuse_what_is_for_runs(arguments: &Arguments) -> Result<(), Failure> {
    let is_for_runs = |baseline: &&Baseline| !baseline.is_for(DataKind::Pools);
    let text = if arguments.tokenizer.is_some() {
        "--tokenizer: the items of pools have their own token counts; leave it out".to_owned()
    } else if let Some(baseline) = arguments.baselines.iter().find(is_for_runs) {
        let name = baseline.name();
        format!("--baseline {name}: is for runs of agents, the data are pools; leave it out")
    } else if arguments.session {
        "--session: is for runs of agents, the data are pools; leave it out".to_owned()
    } else {
        return Ok(());
    };
    Err(Failure::cannot(text))
}
