//! A request that fits comes back whole, whatever the policy.

use cupel_engine::{Engine, Options, policies};

use crate::examples::{REQUESTS, builder, example};

fn engine(policy: &str, max_tokens: i64) -> Engine {
    builder().policy(policy).max_tokens(max_tokens).build().unwrap()
}

#[test]
fn a_request_that_fits_comes_back_byte_for_byte_by_every_policy() {
    for name in REQUESTS {
        let text = example(name);
        let total = engine("auto", 1).count(text.as_str(), &Options::new()).unwrap().total_tokens;
        for policy in policies().policies {
            let selection = engine(&policy.name, total).select(text.as_str()).unwrap();
            assert_eq!(selection.text, text, "{name} by {}", policy.name);
            assert!(selection.report.excluded.is_empty());
            let tight = engine(&policy.name, total - 1).select(text.as_str()).unwrap();
            assert_ne!(tight.text, text, "{name} by {}", policy.name);
        }
    }
}

#[test]
fn caps_hold_where_they_are_asked_for() {
    let text = example("support-chat.json");
    let total = engine("auto", 1).count(text.as_str(), &Options::new()).unwrap().total_tokens;
    let left_out = |policy: &str| {
        let builder = builder().policy(policy).max_tokens(total).keep_caps(true);
        builder.build().unwrap().select(text.as_str()).unwrap().report.excluded.len()
    };
    assert!(left_out("code-review") > 0 && left_out("long-running") > 0);
    assert_eq!(left_out("auto"), 0);
}

#[test]
fn a_margin_is_kept_free_also_of_what_would_fit_without_it() {
    let text = example("support-chat.json");
    let total = engine("auto", 1).count(text.as_str(), &Options::new()).unwrap().total_tokens;
    let limits = cupel_engine::Limits::of(total).with_margin_percent(20.0);
    let engine = builder().limits(limits).build().unwrap();
    let selection = engine.select(text.as_str()).unwrap();
    assert!(selection.summary.tokens_after < total);
    let limits = cupel_engine::Limits::of(total * 2).with_margin_percent(20.0);
    let engine = builder().limits(limits).build().unwrap();
    assert_eq!(engine.select(text.as_str()).unwrap().text, text);
}
