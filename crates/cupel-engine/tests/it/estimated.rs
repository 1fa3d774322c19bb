//! Statements about budgets hold where counts are estimates, with the margin that a selection keeps.

use cupel_engine::{Engine, ErrorCode, Limits, Options, ToGetIn};

use crate::examples::example;

/// Requests of models whose tokenizer is not public.
const ESTIMATED: [&str; 2] = ["coding-agent-anthropic.json", "gemini-trip.json"];

fn engine() -> Engine {
    Engine::builder().max_tokens(2_500).build().unwrap()
}

/// Returns true if a selection for so many tokens keeps a message. One that had to shorten what must be kept is
/// of other candidates.
fn keeps(text: &str, max: i64, message: usize) -> bool {
    let options = Options::new().limits(Limits::of(max));
    let selected = engine().select_with(text, &options);
    selected.is_ok_and(|selection| {
        selection.shortened.is_empty() && selection.kept_messages.contains(&message)
    })
}

#[test]
fn the_smallest_budget_is_what_a_selection_needs() {
    for name in ESTIMATED {
        let text = example(name);
        let prepared = engine().prepare(text.as_str(), &Options::new()).unwrap();
        for message in (0..prepared.message_count()).step_by(9) {
            let found = prepared.min_budget(message).unwrap();
            assert!(found.is_estimate && found.is_exact);
            let least = found.min_budget.unwrap();
            assert!(keeps(&text, least, message), "{name} {message} {least}");
            assert!(!keeps(&text, least - 1, message), "{name} {message} {least}");
        }
    }
}

#[test]
fn so_many_tokens_more_let_it_in() {
    for name in ESTIMATED {
        let text = example(name);
        let explanation = engine().explain(text.as_str(), &Options::new()).unwrap();
        assert!(explanation.summary.is_estimate && explanation.left_out.len() > 3);
        for out in explanation.left_out.iter().step_by(4) {
            let ToGetIn::MoreTokens { tokens, .. } = out.to_get_in else { continue };
            let message = out.part.messages[0];
            assert!(keeps(&text, 2_500 + tokens, message), "{name} {message} {tokens}");
            assert!(!keeps(&text, 2_500 + tokens - 1, message), "{name} {message} {tokens}");
        }
    }
}

#[test]
fn a_point_of_a_curve_is_a_selection() {
    for name in ESTIMATED {
        let text = example(name);
        let prepared = engine().prepare(text.as_str(), &Options::new()).unwrap();
        let budgets = [3_000, 5_000, 9_000];
        for window in prepared.windows(&budgets).unwrap().windows {
            let options = Options::new().limits(Limits::of(window.budget));
            let selection = engine().select_with(text.as_str(), &options).unwrap();
            assert_eq!(window.kept_messages, selection.kept_messages, "{name} {}", window.budget);
        }
    }
}

#[test]
fn the_margin_is_moderate_and_is_what_stays_free() {
    for name in ESTIMATED {
        let text = example(name);
        let options = Options::new().limits(Limits::of(6_000));
        let selection = engine().select_with(text.as_str(), &options).unwrap();
        let budget = &selection.summary.budget;
        let most = 6_000.0 * (1.0 - budget.kept_free_percent / 100.0) + 6.0;
        assert!(selection.summary.tokens_after as f64 <= most, "{name} {:?}", selection.summary);
        assert!((1.0..=12.0).contains(&budget.kept_free_percent), "{name} {budget:?}");
    }
}

#[test]
fn usage_scales_counts_and_narrows_the_margin() {
    let text = example("coding-agent-anthropic.json");
    let count = |options: &Options| engine().count(text.as_str(), options).unwrap();
    let plain = count(&Options::new());
    assert!(plain.at_most * 100 > plain.total_tokens * 104, "{plain:?}");
    // The whole without the answer and what follows it.
    let before = engine().prepare(text.as_str(), &Options::new()).unwrap();
    let bundles = before.candidates().bundles();
    let last = bundles.iter().rposition(|bundle| bundle.role() == "assistant").unwrap();
    let after: i64 = bundles[last..].iter().map(cupel_chat::Bundle::tokens).sum();
    let reported = (plain.total_tokens - after) * 12 / 10;
    let scaled = count(&Options::new().usage(reported));
    let percent = scaled.total_tokens * 100 / plain.total_tokens;
    assert!((117..=121).contains(&percent), "{percent}");
    assert!(scaled.at_most * 100 <= scaled.total_tokens * 104, "{scaled:?}");
    assert!(scaled.is_estimate);
}

#[test]
fn a_usage_of_another_request_is_refused() {
    let text = example("coding-agent-anthropic.json");
    for usage in [10, 10_000_000] {
        let error = engine().count(text.as_str(), &Options::new().usage(usage)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument, "{error}");
    }
    let first = r#"[{"role": "user", "content": "Hello!"}]"#;
    assert!(engine().count(first, &Options::new().usage(9)).is_err());
}
