use cupel_conformance::library::error_answer;
use cupel_conformance::oracle;
use cupel_conformance::random::{Problem, shrink};

use super::problem;
use crate::case::Case;
use crate::compare::{Tolerance, Verdict, comparable, outcome, same, same_runs};
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
    let (report, snapshots) = match witness.testimony().completed {
        Some(completed) => (Ok(completed.report), completed.snapshots),
        None => (Err(traced.clone().expect_err("only a run that fails is not completed")), vec![]),
    };
    let actual = outcome(report, &snapshots);
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
