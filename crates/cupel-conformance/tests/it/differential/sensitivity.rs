//! Comparisons of policies.

use cupel::{ItemStatus, Pipeline, PolicySensitivityReport};
use cupel_conformance::library::{self, error_answer};
use cupel_conformance::oracle;
use cupel_conformance::protocol::{Diff, Report, SensitivityAnswer, Status, Variant};

use super::case::{self, Case, Library};
use super::compare::{Tolerance, Verdict, comparable, same, same_runs};
use super::sweep::sweep;

const LABELS: [&str; 3] = ["first", "second", "third"];

#[test]
fn policies_compare_as_the_oracle_says() {
    sweep(10, Case::with_other_policies, check);
}

fn check(case: &Case) -> Verdict {
    let policies = std::iter::once(&case.problem.policy).chain(&case.others);
    let variants: Vec<Variant> = LABELS
        .into_iter()
        .zip(policies)
        .map(|(label, policy)| Variant { label: label.to_owned(), policy: policy.clone() })
        .collect();
    (1..=variants.len()).try_for_each(|count| check_variants(case, &variants[..count]))
}

fn check_variants(case: &Case, variants: &[Variant]) -> Verdict {
    let library = case.library();
    let expected = oracle::policy_sensitivity(&case.problem.items, &case.problem.budget, variants)
        .map_err(comparable);
    for actual in both_ways(&library, variants) {
        let actual = actual.map_err(|error| comparable(error_answer(&error)));
        match (&expected, &actual) {
            (Ok(expected), Ok(actual)) => check_reports(variants, expected, actual)?,
            _ => same("the error", &expected.as_ref().err(), &actual.as_ref().err())?,
        }
    }
    Ok(())
}

type Comparison = Result<PolicySensitivityReport, cupel::CupelError>;

/// The comparison of policies, and that of pipelines.
fn both_ways(library: &Library, variants: &[Variant]) -> [Comparison; 2] {
    let (items, budget) = (&library.items, &library.budget);
    let pipelines: Vec<Pipeline> =
        variants.iter().map(|variant| case::pipeline(&variant.policy)).collect();
    let by_policy: Vec<_> =
        LABELS.into_iter().zip(pipelines.iter().map(Pipeline::policy)).collect();
    let by_pipeline: Vec<_> = LABELS.into_iter().zip(&pipelines).collect();
    [
        cupel::policy_sensitivity(items, budget, &by_policy),
        cupel::policy_sensitivity_from_pipelines(items, budget, &by_pipeline),
    ]
}

fn check_reports(
    variants: &[Variant],
    expected: &SensitivityAnswer,
    actual: &PolicySensitivityReport,
) -> Verdict {
    same("the number of variants", &variants.len(), &actual.variants.len())?;
    let both = expected.variants.iter().zip(&actual.variants).zip(variants);
    for ((expected, (label, actual)), variant) in both {
        same("the label of a variant", &expected.label, label)?;
        // Reports do not tell how many items entered a stage.
        let expected = Ok(Report { stages: None, ..expected.report.clone() });
        let tolerance = Tolerance::of(&variant.policy.scorer);
        let what = format!("the report of {label}");
        same_runs(&what, &expected, &Ok(library::report(actual)), tolerance)?;
    }
    let diffs = actual.diffs.iter().map(|diff| {
        let labels = diff.statuses.iter().map(|(label, _)| label.as_str());
        same("the labels of a diff", &LABELS[..variants.len()].to_vec(), &labels.collect())?;
        let statuses = diff.statuses.iter().map(|(_, status)| match status {
            ItemStatus::Included => Status::Included,
            ItemStatus::Excluded => Status::Excluded,
        });
        Ok(Diff { content: diff.content.clone(), statuses: statuses.collect() })
    });
    same("the list of diffs", &expected.diffs, &diffs.collect::<Result<Vec<_>, String>>()?)
}
