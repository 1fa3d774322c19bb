//! What the fuzz targets check, as plain functions.
//!
//! `checks/tests/it` includes the same modules, so that all that the fuzzer ever found stays covered
//! without it.

#![forbid(unsafe_code)]

pub mod checks;
#[path = "../../crates/cupel-renderings/tests/it/holds.rs"]
pub mod renderings;

#[expect(dead_code, reason = "problems come from bytes here, not from seeds")]
#[path = "../../crates/cupel-conformance/tests/it/differential/case.rs"]
mod case;
#[path = "../../crates/cupel-conformance/tests/it/differential/compare.rs"]
mod compare;
#[path = "../../crates/cupel-renderings/tests/it/node.rs"]
mod node;
#[expect(dead_code, reason = "only what the end of the run brings is compared here")]
#[path = "../../crates/cupel-conformance/tests/it/differential/witness.rs"]
mod witness;
