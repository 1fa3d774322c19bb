//! Everything that was ever worth keeping of the fuzzer's input, through the same checks as the
//! fuzzer's, without it.

#[expect(dead_code, reason = "problems come from bytes here, not from seeds")]
#[path = "differential/case.rs"]
mod case;
#[expect(unreachable_pub, reason = "the fuzzer takes them from a library")]
#[path = "../../../fuzz/src/checks/mod.rs"]
mod checks;
#[path = "differential/compare.rs"]
mod compare;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;
#[expect(dead_code, reason = "only what the end of the run brings is compared here")]
#[path = "differential/witness.rs"]
mod witness;

use replay::replay;

#[test]
fn items() {
    replay("item", checks::item);
}

#[test]
fn budgets() {
    replay("budget", checks::budget);
}

#[test]
fn policies() {
    replay("policy", checks::policy);
}

#[test]
fn vectors() {
    replay("vector", checks::vector);
}

#[test]
fn problems() {
    replay("pipeline_equals_oracle", checks::pipeline_equals_oracle);
}
