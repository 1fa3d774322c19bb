use cupel_conformance::protocol::{Answer, Curve, ErrorAnswer, Policy, Scorer, Task};
use cupel_conformance::{LibraryImplementation, OracleImplementation, Refusal, Vector, ask};

use super::cost::is_cheap;

/// Bytes are a vector or an error. If they are a vector, oracle and library answer it, and alike,
/// whatever the vector itself expects.
pub fn vector(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(vector) = Vector::parse(text) else { return };
    if !is_cheap(&vector.task) {
        return;
    }
    let expected = ask(&mut OracleImplementation, &vector.task).map(comparable);
    let actual = ask(&mut LibraryImplementation, &vector.task);
    match (&expected, &actual) {
        (_, Err(Refusal::Unsupported(_))) => {}
        (Err(Refusal::Error(expected)), Err(Refusal::Error(actual))) => {
            same_error(expected, actual);
        }
        (Ok(expected), Ok(actual)) => same_answer(&vector.task, expected, actual),
        _ => panic!("the oracle answers {expected:?}, the library {actual:?}"),
    }
}

/// An error of a run must be the same. Of several things that prevent the run, each may name its
/// own.
fn same_error(expected: &ErrorAnswer, actual: &ErrorAnswer) {
    if !expected.details.is_empty() || !actual.details.is_empty() {
        assert_eq!((&expected.code, &expected.details), (&actual.code, &actual.details));
    }
}

fn same_answer(task: &Task, expected: &Answer, actual: &Answer) {
    if uses_powers(task) {
        // Ages are rounded in more than one way, and any difference may turn a tie.
        return;
    }
    // Compared as text, because NaN differs from itself and the zeros do not.
    assert_eq!(format!("{expected:?}"), format!("{actual:?}"));
}

/// The oracle's answer without what the library does not report.
fn comparable(mut answer: Answer) -> Answer {
    if let Answer::Sensitivity(answer) = &mut answer {
        answer.variants.iter_mut().for_each(|variant| variant.report.stages = None);
    }
    answer
}

fn uses_powers(task: &Task) -> bool {
    let in_policy = |policy: &Policy| has_powers(&policy.scorer);
    match task {
        Task::Slicing(_) | Task::Placing(_) => false,
        Task::Scoring(task) => has_powers(&task.scorer),
        Task::Pipeline(task) => in_policy(&task.policy),
        Task::GetMarginalItems(task) => in_policy(&task.policy),
        Task::FindMinBudgetFor(task) => in_policy(&task.policy),
        Task::PolicySensitivity(task) => {
            task.variants.iter().any(|variant| in_policy(&variant.policy))
        }
    }
}

fn has_powers(scorer: &Scorer) -> bool {
    match scorer {
        Scorer::Decay { curve, .. } => matches!(curve, Curve::Exponential { .. }),
        Scorer::Composite { scorers } => scorers.iter().any(|child| has_powers(&child.scorer)),
        Scorer::Scaled { inner } => has_powers(inner),
        _ => false,
    }
}
