use super::*;
use crate::protocol::{Placer, Scorer, Slicer};

const SCORING: &str = "[test]\nname = \"x\"\nstage = \"scoring\"\nscorer = ";
const SLICING: &str =
    "[test]\nname = \"x\"\nstage = \"slicing\"\nslicer = \"SLICER\"\n[budget]\ntarget_tokens = 7\n";
const PIPELINE: &str = "[test]\nname = \"x\"\nstage = \"pipeline\"\n[budget]\nmax_tokens = 9\n\
    target_tokens = 8\n[config]\nscorer = \"recency\"\nslicer = \"greedy\"\nplacer = \"u-shaped\"\n";

#[track_caller]
fn parse(text: &str) -> Vector {
    Vector::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn clean(text: &str) -> Vector {
    let vector = parse(text);
    assert_eq!((&vector.unknown_fields, &vector.broken_rules), (&vec![], &vec![]));
    vector
}

fn error(text: &str) -> String {
    Vector::parse(text).unwrap_err().to_string()
}

fn scorer(config: &str) -> Scorer {
    match clean(&format!("{SCORING}{config}")).task {
        Task::Scoring(task) => task.scorer,
        other => panic!("{other:?}"),
    }
}

fn slicer(name: &str, config: &str) -> Slicer {
    let text =
        format!("{}{config}\n[expected]\nselected_contents = []", SLICING.replace("SLICER", name));
    match clean(&text).task {
        Task::Slicing(task) => task.slicer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn children_and_scorers_are_the_same_and_so_are_dashes_and_underscores() {
    let one = scorer(
        "\"composite\"\n[[config.scorers]]\ntype = \"composite\"\n\
         [[config.scorers.children]]\ntype = \"metadata-trust\"\ndefault_score = 1",
    );
    let other = scorer(
        "\"composite\"\n[[config.children]]\ntype = \"composite\"\nweight = 1.0\n\
         [[config.children.scorers]]\ntype = \"metadata_trust\"\nweight = 1\ndefault_score = 1.0",
    );
    assert_eq!(one, other);
}

#[test]
fn an_inner_strategy_has_its_options_beside_the_outer_ones_or_in_its_own_table() {
    let beside =
        scorer("\"scaled\"\n[config]\ninner_scorer = \"kind\"\nuse_default_weights = false");
    let inside = scorer("\"scaled\"\n[config.inner]\ntype = \"kind\"\nweights = []");
    assert_eq!(beside, inside);
    let beside = slicer("quota", "[config]\ninner_slicer = \"knapsack\"\nbucket_size = 5");
    let inside = slicer("quota", "[config.inner]\ntype = \"knapsack\"\nbucket_size = 5");
    assert_eq!(beside, inside);
    assert_eq!(
        slicer("quota", ""),
        Slicer::Quota { quotas: vec![], inner: Box::new(Slicer::Greedy) }
    );
}

#[test]
fn a_knapsack_with_counts_may_name_its_inner_slicer() {
    let plain = slicer("count_constrained_knapsack", "[config]\nbucket_size = 1");
    let named = slicer(
        "count-constrained-knapsack",
        "[config]\nbucket_size = 1\ninner_slicer = \"knapsack\"",
    );
    assert_eq!(plain, named);
}

#[test]
fn kind_weights_are_the_default_unless_given_or_declined() {
    assert_eq!(scorer("\"kind\""), Scorer::Kind { weights: None });
    assert_eq!(
        scorer("\"kind\"\n[config]\nuse_default_weights = false"),
        Scorer::Kind { weights: Some(vec![]) }
    );
}

#[test]
fn a_single_scorer_of_a_policy_stands_alone() {
    let config = |scorers: &str| {
        let text = PIPELINE.replace("scorer = \"recency\"", "");
        match clean(&format!("{text}{scorers}")).task {
            Task::Pipeline(task) => task.policy,
            other => panic!("{other:?}"),
        }
    };
    let policy = config("[[config.scorers]]\ntype = \"priority\"\nweight = 3.0");
    assert_eq!((policy.scorer, policy.placer), (Scorer::Priority, Placer::UShaped));
    let two = "[[config.scorers]]\ntype = \"priority\"\n[[config.scorers]]\ntype = \"recency\"";
    assert!(matches!(config(two).scorer, Scorer::Composite { scorers } if scorers.len() == 2));
}

#[test]
fn absent_lists_are_empty_and_a_slicers_maximum_is_its_target() {
    let vector = clean(PIPELINE);
    assert!(vector.task.items().is_empty());
    let nothing = ExpectedItems { contents: Some(vec![]), indices: None };
    assert_eq!(vector.expected, Expected::Pipeline { output: nothing, diagnostics: None });
    let text = format!("{}[expected]\nselected_contents = []", SLICING.replace("SLICER", "greedy"));
    let Task::Slicing(task) = clean(&text).task else { panic!() };
    assert_eq!((task.budget.max_tokens, task.items.len()), (7, 0));
}

#[test]
fn unknown_fields_are_noted_with_their_path() {
    let item = "[[items]]\ncontent = \"a\"\ntokens = 1\ncolour = 3";
    let vector = parse(&format!("{PIPELINE}bucket_size = 5\n{item}"));
    assert_eq!(vector.unknown_fields, ["config.bucket_size", "items[0].colour"]);
}

#[test]
fn rules_of_this_suite_are_noted_when_broken() {
    let items = "[[items]]\ncontent = \"a\"\ntokens = 1";
    let silent = parse(&format!("{SCORING}\"recency\"\n{items}"));
    assert_eq!(silent.broken_rules, ["the score of item 0, `a`, is not stated"]);
    let silent = parse(&SLICING.replace("SLICER", "greedy").replace("name = \"x\"", ""));
    assert_eq!(
        silent.broken_rules,
        ["`test.name` is missing", "`expected.selected_contents` is not stated"]
    );
    let excluded = "[[expected.diagnostics.excluded]]\ncontent = \"a\"\nscore_approx = 0\n\
        exclusion_reason = \"BudgetExceeded\"\nitem_tokens = 5";
    let silent = parse(&format!("{PIPELINE}{excluded}"));
    assert_eq!(
        silent.broken_rules,
        ["`expected.diagnostics.excluded[0].available_tokens` is not stated"]
    );
}

#[test]
fn errors_are_expected_by_code_by_table_or_at_construction() {
    let expected = |text: &str| match clean(text).expected {
        Expected::Error(error) => error,
        other => panic!("{other:?}"),
    };
    let by_code = expected(&format!("expected_error = \"overflow\"\n{PIPELINE}"));
    assert_eq!(by_code.code.as_deref(), Some("overflow"));
    let table = "[expected_error]\ncode = \"overflow\"\nmerged_tokens = 5";
    let by_table = expected(&format!("{PIPELINE}{table}"));
    assert_eq!(by_table.details["merged_tokens"], 5);
    let at_construction =
        PIPELINE.replace("[budget]", "expect_construction_error = true\n[budget]");
    assert_eq!(expected(&at_construction), ExpectedError::default());
    let with_output = format!("{PIPELINE}{table}\n[[expected_output]]\ncontent = \"a\"");
    assert_eq!(parse(&with_output).unknown_fields, ["expected_output"]);
}

#[test]
fn equal_texts_are_told_apart_by_their_turn_or_their_index() {
    let items = "[[items]]\ncontent = \"a\"\ntokens = 1\n".repeat(2);
    let by_turn = "[[expected]]\ncontent = \"a\"\nscore_approx = 0.0\n".repeat(2);
    let vector = clean(&format!("{SCORING}\"recency\"\n{items}{by_turn}"));
    let Expected::Scoring(scores) = vector.expected else { panic!() };
    assert_eq!((scores[0].index, scores[1].index), (0, 1));
    let text =
        format!("{SCORING}\"recency\"\n{items}{by_turn}[[expected]]\nindex = 1\nscore = 0.0");
    assert!(error(&text).contains("named already"), "{}", error(&text));
}

#[test]
fn a_reason_may_have_a_score_of_its_own() {
    let excluded = "[[expected.diagnostics.excluded]]\nindex = 0\nscore_approx = 0.1\n\
        exclusion_reason = \"ScoredTooLow\"\nscore = 0.2\nthreshold = 0.3\n\
        [[expected.diagnostics.excluded]]\nindex = 1\nscore = 0.1\nreason = \"Mine\"\ncolour = nan";
    let Expected::Pipeline { diagnostics: Some(diagnostics), .. } =
        clean(&format!("{PIPELINE}{excluded}")).expected
    else {
        panic!()
    };
    let excluded = diagnostics.excluded.unwrap();
    assert_eq!((excluded[0].score, &excluded[0].reason.fields["score"]), (Some(0.1), &0.2.into()));
    assert_eq!(
        (excluded[1].score, &excluded[1].reason.fields["colour"]),
        (Some(0.1), &"NaN".into())
    );
}

#[test]
fn metadata_is_text_and_other_types_are_errors() {
    let item = |value: &str| {
        format!("{PIPELINE}[[items]]\ncontent = \"a\"\ntokens = 1\nmetadata = {{ k = {value} }}")
    };
    for (value, text) in [("\"v\"", "v"), ("1", "1"), ("0.5", "0.5"), ("true", "true")] {
        assert_eq!(clean(&item(value)).task.items()[0].metadata["k"], text);
    }
    assert!(error(&item("[1]")).contains("`items[0].metadata.k` must be"));
}

#[test]
fn mistakes_are_named() {
    for (text, part) in [
        ("a = ", "not TOML"),
        ("", "`test` is missing"),
        ("[test]\nname = \"x\"", "`test.stage` is missing"),
        ("[test]\nstage = \"guessing\"", "`test.stage` has the unknown value `guessing`"),
        ("[test]\nstage = \"scoring\"\nscorer = \"best\"", "there is no scorer `best`"),
        ("[test]\nstage = \"slicing\"\nslicer = \"best\"", "there is no slicer `best`"),
        ("[test]\nstage = \"placing\"\nplacer = \"best\"", "`test.placer` has the unknown value"),
        ("[test]\nstage = \"scoring\"\nscorer = \"decay\"", "`config.reference_time` is missing"),
    ] {
        let found = error(text);
        assert!(found.contains(part), "{found}");
    }
    let twice = "tag_weights = [{ tag = \"a\", weight = 1 }, { tag = \"a\", weight = 2 }]";
    let found = error(&format!("{SCORING}\"tag\"\n[config]\n{twice}"));
    assert_eq!(found, "`config.tag_weights[1].tag` is given twice");
}

#[test]
fn simulations_name_their_target_by_text_by_index_or_not_among_the_items() {
    let text = |target: &str| {
        PIPELINE.replace("\"pipeline\"", "\"find_min_budget_for\"")
            + &format!("[simulation]\n{target}\nsearch_ceiling = 5\n")
            + "[[items]]\ncontent = \"a\"\ntokens = 1\n[[items]]\ncontent = \"a\"\ntokens = 1\n"
            + "[expected]\nmin_budget = false"
    };
    let target = |target_text: &str| match clean(&text(target_text)).task {
        Task::FindMinBudgetFor(task) => (task.target, task.foreign_target.is_some()),
        other => panic!("{other:?}"),
    };
    assert_eq!(target("target = \"a\""), (Some(0), false));
    assert_eq!(target("target_index = 1"), (Some(1), false));
    assert_eq!(target("foreign_target = { content = \"a\", tokens = 1 }"), (None, true));
    assert_eq!(error(&text("target = \"b\"")), "`simulation.target` names no item");
    assert_eq!(error(&text("target_index = 7")), "`simulation.target_index` names no item");
}
