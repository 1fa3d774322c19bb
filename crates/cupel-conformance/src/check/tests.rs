use super::*;
use crate::protocol::{MinBudgetAnswer, PipelineAnswer, PlacingAnswer, ScoringAnswer, Shortfall};
use crate::vector::Vector;

const PLACING: &str = r#"
[test]
name = "x"
stage = "placing"
placer = "u-shaped"
[[items]]
content = "a"
tokens = 1
[[items]]
content = "b"
tokens = 1
[[items]]
content = "a"
tokens = 1
[expected]
"#;

fn vector(text: &str) -> Vector {
    Vector::parse(text).unwrap()
}

fn order(expected: &str, order: &[usize]) -> Vec<Mismatch> {
    let answer = Answer::Placing(PlacingAnswer { order: order.to_vec() });
    check(&vector(&format!("{PLACING}{expected}")), &answer)
}

#[test]
fn texts_are_compared_as_texts_and_positions_as_positions() {
    let by_text = "ordered_contents = [\"a\", \"b\", \"a\"]";
    assert_eq!(order(by_text, &[0, 1, 2]), []);
    assert_eq!(order(by_text, &[2, 1, 0]), []);
    assert_eq!(order(by_text, &[1, 0, 2]).len(), 1);
    let by_both = format!("{by_text}\nordered_indices = [0, 1, 2]");
    assert_eq!(order(&by_both, &[2, 1, 0]).len(), 1);
}

#[test]
fn expected_and_actual_stand_below_each_other() {
    let found = order("ordered_contents = [\"b\"]", &[1, 9]);
    assert_eq!(
        found[0].to_string(),
        "     order\n       expected: \"b\"\n       actual:   \"b\", position 9, which does not exist\n"
    );
}

fn scores(expected: &str, actual: f64) -> Vec<Mismatch> {
    let text = format!(
        "[test]\nname = \"x\"\nstage = \"scoring\"\nscorer = \"recency\"\n[tolerance]\n\
         score_epsilon = 0.25\n[[items]]\ncontent = \"a\"\ntokens = 1\n[[expected]]\n\
         content = \"a\"\nscore_approx = {expected}"
    );
    check(&vector(&text), &Answer::Scoring(ScoringAnswer { scores: vec![actual] }))
}

#[test]
fn scores_are_equal_within_epsilon_itself_excluded() {
    assert_eq!(scores("0.5", 0.625), []);
    assert_eq!(scores("0.5", 0.75).len(), 1);
    assert_eq!(scores("0.0", -0.0), []);
    assert_eq!(scores("0.5", f64::NAN).len(), 1);
    assert_eq!(scores("nan", f64::NAN), []);
    assert_eq!(scores("nan", 0.0).len(), 1);
    assert_eq!(scores("inf", f64::INFINITY), []);
    assert_eq!(scores("inf", f64::NEG_INFINITY).len(), 1);
}

#[test]
fn the_number_of_scores_counts() {
    let text = "[test]\nname = \"x\"\nstage = \"scoring\"\nscorer = \"recency\"";
    let answer = Answer::Scoring(ScoringAnswer { scores: vec![0.5] });
    assert_eq!(check(&vector(text), &answer)[0].what, "number of scores");
}

const SLICING: &str = r#"
[test]
name = "x"
stage = "slicing"
slicer = "greedy"
[budget]
target_tokens = 1
[[scored_items]]
content = "a"
tokens = 1
[[scored_items]]
content = "a"
tokens = 1
[expected]
selected_contents = ["a", "a"]
"#;

#[test]
fn a_selection_has_no_order_but_repetitions_count() {
    let slicing = |selected: &[usize]| {
        let answer = SlicingAnswer { selected: selected.to_vec(), ..SlicingAnswer::default() };
        check(&vector(SLICING), &Answer::Slicing(answer)).len()
    };
    assert_eq!((slicing(&[0, 1]), slicing(&[1, 0]), slicing(&[0])), (0, 0, 1));
}

#[test]
fn counts_that_are_expected_must_be_answered() {
    let vector = vector(&format!("{SLICING}shortfall_count = 1\ncap_excluded_count = 0"));
    let mut answer = SlicingAnswer { selected: vec![0, 1], ..SlicingAnswer::default() };
    assert_eq!(check(&vector, &Answer::Slicing(answer.clone())).len(), 2);
    let shortfall = Shortfall { kind: "k".to_owned(), required_count: 1, satisfied_count: 0 };
    answer.shortfalls = Some(vec![shortfall]);
    answer.cap_excluded = Some(vec![]);
    assert_eq!(check(&vector, &Answer::Slicing(answer)), []);
}

#[test]
fn errors_are_compared_by_code_message_and_details() {
    let actual = ErrorAnswer::new("overflow", "too much").with("merged_tokens", 5);
    let expected = |code: Option<&str>, message: Option<&str>, tokens: i64| ExpectedError {
        code: code.map(str::to_owned),
        message: message.map(str::to_owned),
        details: [("merged_tokens".to_owned(), tokens.into())].into(),
    };
    let mismatches = |expected| check_error(&expected, &actual).len();
    assert_eq!(mismatches(expected(Some("overflow"), Some("too much"), 5)), 0);
    assert_eq!(mismatches(expected(Some("underflow"), Some("too little"), 4)), 3);
    assert_eq!(mismatches(expected(None, None, 5)), 1, "no construction ends in an overflow");
    let at_construction = ErrorAnswer::new("scorer_config", "");
    assert_eq!(check_error(&ExpectedError::default(), &at_construction), []);
}

#[test]
fn no_error_where_one_is_expected_is_a_mismatch() {
    let text =
        format!("expected_error = \"invalid_budget\"\n{}", PLACING.replace("[expected]", ""));
    let found = check(&vector(&text), &Answer::Placing(PlacingAnswer::default()));
    let values = ("error invalid_budget".to_owned(), "no error".to_owned());
    assert_eq!(found[0].values, Some(values));
}

#[test]
fn an_answer_of_another_stage_is_a_mismatch() {
    let found = check(&vector(PLACING), &Answer::MinBudget(MinBudgetAnswer::default()));
    assert_eq!(found, [Mismatch::note("the answer belongs to another stage")]);
}

#[test]
fn a_report_that_is_looked_at_must_be_there() {
    let text = "[test]\nname = \"x\"\nstage = \"pipeline\"\n[budget]\nmax_tokens = 1\n\
        target_tokens = 1\n[config]\nscorer = \"recency\"\nslicer = \"greedy\"\n\
        placer = \"chronological\"\n[expected.diagnostics]\nexcluded = []";
    let found = check(&vector(text), &Answer::Pipeline(PipelineAnswer::default()));
    assert_eq!(found, [Mismatch::note("the answer has no report")]);
}
