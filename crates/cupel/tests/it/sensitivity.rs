//! Which items swing between policies.

use cupel::*;

use crate::support::*;

fn policy(scorer: impl Scorer + 'static) -> Policy {
    PolicyBuilder::new()
        .scorer(scorer)
        .slicer(GreedySlice)
        .placer(ChronologicalPlacer)
        .deduplication(false)
        .build()
        .unwrap()
}

fn items() -> Vec<ContextItem> {
    let item =
        |text: &str, priority, hint| hinted(text, 40, hint).priority(priority).build().unwrap();
    vec![item("z", 3, 0.9), item("m", 1, 0.8), item("a", 2, 0.1)]
}

#[test]
fn only_items_on_which_variants_disagree_appear_in_the_order_of_the_candidates() {
    let (by_priority, by_hint) = (policy(PriorityScorer), policy(ReflexiveScorer));
    let variants = [("priority", &by_priority), ("hint", &by_hint)];
    let report = policy_sensitivity(&items(), &budget(80), &variants).unwrap();
    let labels: Vec<&str> = report.variants.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["priority", "hint"]);
    let statuses =
        |first, second| vec![("priority".to_owned(), first), ("hint".to_owned(), second)];
    use ItemStatus::{Excluded, Included};
    assert_eq!(report.diffs.len(), 2);
    assert_eq!(report.diffs[0].content, "m");
    assert_eq!(report.diffs[0].statuses, statuses(Excluded, Included));
    assert_eq!(report.diffs[1].content, "a");
    assert_eq!(report.diffs[1].statuses, statuses(Included, Excluded));
}

#[test]
fn a_diff_has_a_status_of_every_variant_however_many_agree() {
    let (by_priority, by_hint) = (policy(PriorityScorer), policy(ReflexiveScorer));
    let variants =
        [("one", &by_hint), ("two", &by_hint), ("three", &by_priority), ("four", &by_hint)];
    let report = policy_sensitivity(&items(), &budget(80), &variants).unwrap();
    use ItemStatus::{Excluded, Included};
    let statuses = |four: [ItemStatus; 4]| {
        let labels = ["one", "two", "three", "four"].map(str::to_owned);
        labels.into_iter().zip(four).collect::<Vec<_>>()
    };
    let diffs: Vec<_> =
        report.diffs.into_iter().map(|diff| (diff.content, diff.statuses)).collect();
    let expected = [
        ("m".to_owned(), statuses([Included, Included, Excluded, Included])),
        ("a".to_owned(), statuses([Excluded, Excluded, Included, Excluded])),
    ];
    assert_eq!(diffs, expected);
}

#[test]
fn variants_that_agree_leave_no_diffs() {
    let policy = policy(PriorityScorer);
    let report =
        policy_sensitivity(&items(), &budget(80), &[("one", &policy), ("two", &policy)]).unwrap();
    assert!(report.diffs.is_empty());
}

#[test]
fn candidates_that_share_a_text_are_one_entry_included_if_any_is() {
    let copy = |priority, hint| hinted("same", 40, hint).priority(priority).build().unwrap();
    let other = hinted("other", 40, 0.5).priority(9).build().unwrap();
    let items = [copy(1, 0.9), other, copy(2, 0.1)];
    let (by_priority, by_hint) = (policy(PriorityScorer), policy(ReflexiveScorer));
    let variants = [("priority", &by_priority), ("hint", &by_hint)];
    let report = policy_sensitivity(&items, &budget(40), &variants).unwrap();
    let texts: Vec<&str> = report.diffs.iter().map(|diff| diff.content.as_str()).collect();
    assert_eq!(texts, ["same", "other"]);
    assert_eq!(report.diffs[0].statuses[1].1, ItemStatus::Included);
}

#[test]
fn fewer_than_two_variants_are_an_error_in_both_functions() {
    let text = "policy_sensitivity requires at least 2 variants";
    let error = CupelError::PipelineConfig(text.into());
    let policy = policy(PriorityScorer);
    let pipeline = Pipeline::from(policy.clone());
    assert_eq!(policy_sensitivity(&items(), &budget(80), &[("one", &policy)]), Err(error.clone()));
    let none: &[(&str, &Policy)] = &[];
    assert_eq!(policy_sensitivity(&items(), &budget(80), none), Err(error.clone()));
    let one = [("one", &pipeline)];
    assert_eq!(policy_sensitivity_from_pipelines(&items(), &budget(80), &one), Err(error));
}

#[test]
fn pipelines_are_compared_like_policies() {
    let (by_priority, by_hint) = (policy(PriorityScorer), policy(ReflexiveScorer));
    let (first, second) = (Pipeline::from(by_priority.clone()), Pipeline::from(by_hint.clone()));
    let pipelines = [("p", &first), ("h", &second)];
    let policies = [("p", &by_priority), ("h", &by_hint)];
    let from_pipelines = policy_sensitivity_from_pipelines(&items(), &budget(80), &pipelines);
    let from_policies = policy_sensitivity(&items(), &budget(80), &policies);
    assert_eq!(from_pipelines.unwrap().diffs, from_policies.unwrap().diffs);
}

#[test]
fn an_error_of_a_variant_is_returned() {
    let policy = policy(PriorityScorer);
    let variants = [("one", &policy), ("two", &policy)];
    let result = policy_sensitivity(&[pinned("p", 90)], &budget(80), &variants);
    assert!(matches!(result, Err(CupelError::PinnedExceedsBudget { .. })));
}
