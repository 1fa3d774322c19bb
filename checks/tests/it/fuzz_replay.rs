//! Everything that was ever worth keeping of the fuzzer's input, through the same checks as the
//! fuzzer's, without it.

use crate::replay::replay;
use crate::{checks, renderings};

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

#[test]
fn shorter_forms() {
    replay("renderings", renderings::check);
}
