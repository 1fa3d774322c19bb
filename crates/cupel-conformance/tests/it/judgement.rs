//! A runner that passes everything proves nothing: falsified answers must fail.

use std::path::Path;

use cupel_conformance::protocol::{
    MarginalAnswer, MarginalTask, MinBudgetAnswer, MinBudgetTask, PipelineAnswer, PipelineTask,
    PlacingAnswer, PlacingTask, Report, ScoringAnswer, ScoringTask, SensitivityAnswer,
    SensitivityTask, SlicingAnswer, SlicingTask,
};
use cupel_conformance::vector::{Expected, ExpectedDiagnostics};
use cupel_conformance::{
    Implementation, OracleImplementation, Refusal, Vector, VectorFile, Verdict, load, run_one,
};

/// The oracle, but every result is changed a little, and every error is another one.
struct Liar {
    falsify_report: Option<fn(&mut Report)>,
}

fn lie<T>(result: Result<T, Refusal>, falsify: impl FnOnce(&mut T)) -> Result<T, Refusal> {
    match result {
        Ok(mut answer) => {
            falsify(&mut answer);
            Ok(answer)
        }
        Err(Refusal::Error(mut error)) => {
            error.code = "overflow".to_owned() + &error.code;
            Err(Refusal::Error(error))
        }
        Err(refusal) => Err(refusal),
    }
}

/// Adds an item that nobody chose, or drops one.
fn falsify_list(list: &mut Vec<usize>) {
    if list.pop().is_none() {
        list.push(0);
    }
}

impl Implementation for Liar {
    fn score(&mut self, task: &ScoringTask) -> Result<ScoringAnswer, Refusal> {
        lie(OracleImplementation.score(task), |answer| {
            for score in &mut answer.scores {
                *score = if score.is_finite() { *score + 1e-6 } else { 0.0 };
            }
        })
    }

    fn slice(&mut self, task: &SlicingTask) -> Result<SlicingAnswer, Refusal> {
        lie(OracleImplementation.slice(task), |answer| falsify_list(&mut answer.selected))
    }

    fn place(&mut self, task: &PlacingTask) -> Result<PlacingAnswer, Refusal> {
        lie(OracleImplementation.place(task), |answer| falsify_list(&mut answer.order))
    }

    fn run(&mut self, task: &PipelineTask) -> Result<PipelineAnswer, Refusal> {
        lie(OracleImplementation.run(task), |answer| match self.falsify_report {
            None => falsify_list(&mut answer.output),
            Some(falsify) => falsify(answer.report.as_mut().unwrap()),
        })
    }

    fn get_marginal_items(&mut self, task: &MarginalTask) -> Result<MarginalAnswer, Refusal> {
        lie(OracleImplementation.get_marginal_items(task), |answer| {
            falsify_list(&mut answer.marginal);
        })
    }

    fn find_min_budget_for(&mut self, task: &MinBudgetTask) -> Result<MinBudgetAnswer, Refusal> {
        lie(OracleImplementation.find_min_budget_for(task), |answer| {
            answer.min_budget = answer.min_budget.map_or(Some(1), |budget| Some(budget + 1));
        })
    }

    fn policy_sensitivity(&mut self, task: &SensitivityTask) -> Result<SensitivityAnswer, Refusal> {
        lie(OracleImplementation.policy_sensitivity(task), |answer| {
            if answer.diffs.pop().is_none() {
                let content = "nobody".to_owned();
                answer.diffs.push(cupel_conformance::protocol::Diff { content, statuses: vec![] });
            }
        })
    }
}

fn files() -> Vec<VectorFile> {
    load(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")]).unwrap()
}

fn passes(file: &VectorFile, falsify_report: Option<fn(&mut Report)>) -> bool {
    run_one(file, &mut Liar { falsify_report }, true).verdict == Verdict::Passed
}

#[test]
fn every_vector_fails_a_liar() {
    for file in files() {
        // A construction error of any code is all that some vectors ask for, and a scoring vector
        // without items has no score to falsify.
        let vector = Vector::parse(&file.text).unwrap();
        let asks_nothing = match &vector.expected {
            Expected::Error(error) => error.code.is_none(),
            Expected::Scoring(scores) => scores.is_empty(),
            _ => false,
        };
        assert!(asks_nothing || !passes(&file, None), "{} passed", file.name);
    }
}

/// Vectors whose report is asked for such a thing, with that thing falsified.
#[track_caller]
fn report_lies_fail(
    what: &str,
    is_asked: fn(&ExpectedDiagnostics) -> bool,
    falsify: fn(&mut Report),
) {
    let mut count = 0;
    for file in files() {
        let vector = Vector::parse(&file.text).unwrap();
        let Expected::Pipeline { diagnostics: Some(diagnostics), .. } = vector.expected else {
            continue;
        };
        if is_asked(&diagnostics) {
            count += 1;
            assert!(!passes(&file, Some(falsify)), "{} passed: {what}", file.name);
        }
    }
    assert!(count > 0, "no vector asks for {what}");
}

fn is_filled<T>(list: Option<&Vec<T>>) -> bool {
    list.is_some_and(|list| !list.is_empty())
}

#[test]
fn lies_in_the_report_fail() {
    report_lies_fail(
        "included",
        |expected| is_filled(expected.included.as_ref()),
        |report| report.included.as_mut().unwrap()[0].score += 1e-6,
    );
    report_lies_fail(
        "reasons of included items",
        |expected| is_filled(expected.included.as_ref()),
        |report| report.included.as_mut().unwrap()[0].reason.reason.push('x'),
    );
    report_lies_fail(
        "excluded",
        |expected| expected.excluded.is_some(),
        |report| report.excluded = None,
    );
    report_lies_fail(
        "fields of reasons",
        |expected| is_filled(expected.excluded.as_ref()),
        |report| report.excluded.as_mut().unwrap()[0].reason.fields.clear(),
    );
    report_lies_fail(
        "candidates",
        |expected| expected.total_candidates.is_some(),
        |report| report.total_candidates = Some(999),
    );
    report_lies_fail(
        "tokens",
        |expected| expected.total_tokens_considered.is_some(),
        |report| report.total_tokens_considered = report.total_tokens_considered.map(|sum| sum ^ 1),
    );
    report_lies_fail(
        "shortfalls",
        |expected| is_filled(expected.shortfalls.as_ref()),
        |report| report.count_requirement_shortfalls.as_mut().unwrap()[0].satisfied_count += 1,
    );
    report_lies_fail(
        "stages",
        |expected| is_filled(expected.stages.as_ref()),
        |report| report.stages.as_mut().unwrap()[3].item_count_out += 1,
    );
    report_lies_fail(
        "overflow",
        |expected| expected.overflow.is_some(),
        |report| {
            let invented = cupel_conformance::protocol::OverflowEvent {
                tokens_over_budget: 1,
                overflowing_items: vec![],
            };
            report.overflow = report.overflow.is_none().then_some(invented);
        },
    );
}
