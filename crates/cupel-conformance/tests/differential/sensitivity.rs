//! Comparisons of policies.

use cupel::{ItemStatus, Pipeline, PolicySensitivityReport};
use cupel_conformance::oracle::{self, DiffEntry, Error, Policy};

use crate::adapter;
use crate::case::{Case, Library};
use crate::compare::{Tolerance, Verdict, same, same_runs};
use crate::observe;
use crate::sweep::sweep;

const LABELS: [&str; 3] = ["first", "second", "third"];

#[test]
fn policies_compare_as_the_oracle_says() {
    sweep(10, Case::with_other_policies, check);
}

fn check(case: &Case) -> Verdict {
    let mut policies = vec![&case.problem.policy];
    policies.extend(&case.others);
    (1..=policies.len()).try_for_each(|count| check_variants(case, &policies[..count]))
}

fn check_variants(case: &Case, policies: &[&Policy]) -> Verdict {
    let library = case.library();
    let variants: Vec<(&str, &Policy)> = LABELS.into_iter().zip(policies.iter().copied()).collect();
    let expected = oracle::policy_sensitivity(&case.problem.items, &case.problem.budget, &variants)
        .map_err(observe::comparable);
    for actual in both_ways(&library, policies) {
        let actual = actual.map_err(observe::error);
        match (&expected, &actual) {
            (Ok(expected), Ok(actual)) => check_reports(&library, policies, expected, actual)?,
            _ => same("the error", &expected.as_ref().err(), &actual.as_ref().err())?,
        }
        let diffs = |diffs: Vec<DiffEntry>| Ok::<_, Error>(diffs);
        let expected = expected.clone().and_then(|report| diffs(report.diffs));
        let actual = actual.and_then(|report| diffs(self::diffs(&report)));
        same("the list of diffs", &expected, &actual)?;
    }
    Ok(())
}

type Comparison = Result<PolicySensitivityReport, cupel::CupelError>;

/// The comparison of policies, and that of pipelines.
fn both_ways(library: &Library, policies: &[&Policy]) -> [Comparison; 2] {
    let (items, budget) = (&library.items, &library.budget);
    let policies: Vec<cupel::Policy> =
        policies.iter().map(|policy| adapter::policy(policy)).collect();
    let pipelines: Vec<Pipeline> = policies.iter().cloned().map(Pipeline::from).collect();
    let by_policy: Vec<_> = LABELS.into_iter().zip(&policies).collect();
    let by_pipeline: Vec<_> = LABELS.into_iter().zip(&pipelines).collect();
    [
        cupel::policy_sensitivity(items, budget, &by_policy),
        cupel::policy_sensitivity_from_pipelines(items, budget, &by_pipeline),
    ]
}

fn check_reports(
    library: &Library,
    policies: &[&Policy],
    expected: &oracle::Sensitivity,
    actual: &PolicySensitivityReport,
) -> Verdict {
    same("the number of variants", &expected.variants.len(), &actual.variants.len())?;
    let both = expected.variants.iter().zip(&actual.variants).zip(policies);
    for (((label, expected), (actual_label, actual)), policy) in both {
        same("the label of a variant", label, actual_label)?;
        let output = library.positions(actual.included.iter().map(|included| &included.item));
        let actual = observe::run(library, output, actual, &[]);
        let output = expected.included.iter().map(|included| included.index).collect();
        // Reports do not tell how many items entered a stage.
        let report = oracle::Report { stages: Vec::new(), ..expected.clone() };
        let expected = Ok(oracle::Run { output, report });
        let tolerance = Tolerance::of(&policy.scorer);
        same_runs(&format!("the report of {label}"), &expected, &Ok(actual), tolerance)?;
    }
    Ok(())
}

fn diffs(report: &PolicySensitivityReport) -> Vec<DiffEntry> {
    let entry = |entry: &cupel::PolicySensitivityDiffEntry| DiffEntry {
        content: entry.content.clone(),
        included: entry
            .statuses
            .iter()
            .map(|(label, status)| (label.clone(), *status == ItemStatus::Included))
            .collect(),
    };
    report.diffs.iter().map(entry).collect()
}
