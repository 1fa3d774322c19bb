use cupel_conformance::oracle;
use cupel_conformance::random::{Problem, shrink};

use super::problem;
use crate::case::Case;
use crate::compare::{Tolerance, Verdict, same, same_runs};
use crate::observe;
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
    let expected = oracle::run(items, budget, policy)
        .map(|run| observe::by_handle(&library, run))
        .map_err(observe::comparable);

    let mut witness = Witness::new();
    let traced = library.pipeline.run_traced(&library.items, &library.budget, &mut witness);
    let actual = traced.map_err(observe::error).map(|window| {
        let completed = witness.testimony().completed;
        let completed = completed.expect("a run that does not fail is completed");
        let window = library.positions(&window);
        observe::run(&library, window, &completed.report, &completed.snapshots)
    });
    same_runs("the run", &expected, &actual, Tolerance::of(&policy.scorer))?;

    let plain = library.pipeline.run(&library.items, &library.budget);
    let plain = plain.map(|window| library.positions(&window)).map_err(observe::error);
    same("the window of a plain run", &expected.map(|run| run.output), &plain)
}
