//! The smallest budget is the smallest.

use cupel_engine::{Options, ToGetIn};

use crate::examples::{builder, engine, example};

/// Every budget one by one, against what the engine says of each message.
#[test]
fn no_smaller_budget_keeps_a_message_and_out_again_is_where_it_goes() {
    for (name, policy) in
        [("support-chat.json", "auto"), ("support-chat.json", "chat"), ("gemini-trip.json", "auto")]
    {
        let text = example(name);
        let engine = builder().policy(policy).max_tokens(1).build().unwrap();
        let prepared = engine.prepare(text.as_str(), &Options::new()).unwrap();
        let total = prepared.count().total_tokens;
        let budgets: Vec<i64> = (1..=total).collect();
        let windows = prepared.windows(&budgets).unwrap().windows;
        for message in (0..prepared.message_count()).step_by(7) {
            let holds = |at: usize| windows[at].kept_messages.contains(&message);
            let first = (0..windows.len()).find(|at| holds(*at));
            let lost = first.and_then(|first| (first..windows.len()).find(|at| !holds(*at)));
            let found = prepared.min_budget(message).unwrap();
            assert!(found.is_exact);
            assert_eq!(found.min_budget, first.map(|at| budgets[at]), "{name} {message}");
            assert_eq!(found.out_again_at, lost.map(|at| budgets[at]), "{name} {message}");
        }
    }
}

/// Raises the budget by what is said to be missing, and by one token less.
#[test]
fn so_many_tokens_more_and_not_one_less_let_it_in() {
    let text = example("support-chat.json");
    for (reserve, margin) in [(0, 0.0), (200, 0.0), (0, 15.0), (100, 33.0)] {
        let limits =
            |max| cupel_engine::Limits::of(max).with_reserve(reserve).with_margin_percent(margin);
        let explanation = builder()
            .limits(limits(1_500))
            .build()
            .unwrap()
            .explain(text.as_str(), &Options::new())
            .unwrap();
        assert!(explanation.left_out.len() > 10);
        for out in explanation.left_out.iter().step_by(5) {
            let ToGetIn::MoreTokens { tokens, .. } = out.to_get_in else {
                panic!("{:?}", out.to_get_in);
            };
            let holds = |max| {
                let options = Options::new().limits(limits(max));
                let selection = engine(1).select_with(text.as_str(), &options).unwrap();
                out.part.messages.iter().all(|at| selection.kept_messages.contains(at))
            };
            let path = &out.part.path;
            assert!(holds(1_500 + tokens), "{path} {reserve} {margin} {tokens}");
            assert!(!holds(1_500 + tokens - 1), "{path} {reserve} {margin} {tokens}");
        }
    }
}

#[test]
fn what_the_last_tokens_buy_is_in_the_larger_window_only() {
    let text = example("support-chat.json");
    let marginal = engine(1_500).marginal(text.as_str(), 300, &Options::new()).unwrap();
    let kept = |max: i64| engine(max).select(text.as_str()).unwrap().kept_messages;
    let (large, small) = (kept(1_500), kept(1_200));
    let bought: Vec<usize> = marginal.parts.iter().flat_map(|part| part.messages.clone()).collect();
    assert!(!bought.is_empty());
    for message in &large {
        assert_eq!(bought.contains(message), !small.contains(message), "{message}");
    }
}
