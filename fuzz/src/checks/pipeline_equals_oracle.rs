use cupel_conformance::library::{error_answer, report, stage_count};
use cupel_conformance::oracle;
use cupel_conformance::protocol::Report;
use cupel_conformance::random::{Problem, shrink};

use super::problem;
use crate::case::Case;
use crate::compare::{Outcome, Tolerance, Verdict, comparable, same, same_runs};
use crate::witness::Witness;

/// Any bytes stand for a problem, which the library solves as the oracle does, to the last field
/// of the report.
pub fn pipeline_equals_oracle(bytes: &[u8]) {
    let case = problem::case(bytes);
    if compare(&case).is_err() {
        let with = |problem: &Problem| Case { problem: problem.clone(), ..case.clone() };
        let small = shrink(case.problem.clone(), |smaller| compare(&with(smaller)).is_err());
        let small = with(&small);
        panic!("{small}\n{}", compare(&small).err().unwrap_or_default());
    }
}

fn compare(case: &Case) -> Verdict {
    let library = case.library();
    let Problem { items, budget, policy } = &case.problem;
    let expected = oracle::run(items, budget, policy).map_err(comparable);

    let mut witness = Witness::new();
    let traced = library.pipeline.run_traced(&library.items, &library.budget, &mut witness);
    let actual: Outcome = match &traced {
        Err(error) => Err(comparable(error_answer(error))),
        Ok(_) => {
            let completed = witness.testimony().completed;
            let completed = completed.expect("a run that does not fail is completed");
            let stages = Some(completed.snapshots.iter().map(stage_count).collect());
            Ok(Report { stages, ..report(&completed.report) })
        }
    };
    same_runs("the run", &expected, &actual, Tolerance::of(&policy.scorer))?;

    for window in [traced, library.pipeline.run(&library.items, &library.budget)] {
        match (&expected, &window) {
            (Ok(expected), Ok(window)) => {
                library.same_items("the window", &expected.output(), window)?;
            }
            (expected, Err(error)) => {
                let error = comparable(error_answer(error));
                same("the error", &expected.as_ref().err(), &Some(&error))?;
            }
            _ => return Err("a plain run does not fail".to_owned()),
        }
    }
    Ok(())
}
