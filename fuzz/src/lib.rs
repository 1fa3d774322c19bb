//! What the fuzz targets check, as plain functions.
//!
//! `crates/cupel-conformance/tests/fuzz_replay.rs` includes the same [`checks`], so that all that
//! the fuzzer ever found stays covered without it.

#![forbid(unsafe_code)]

pub mod checks;

#[expect(dead_code, reason = "problems come from bytes here, not from seeds")]
#[path = "../../crates/cupel-conformance/tests/differential/case.rs"]
mod case;
#[path = "../../crates/cupel-conformance/tests/differential/compare.rs"]
mod compare;
#[expect(dead_code, reason = "only what the end of the run brings is compared here")]
#[path = "../../crates/cupel-conformance/tests/differential/witness.rs"]
mod witness;
