//! Invariants of all forms of any text.

#[expect(unreachable_pub, reason = "the fuzzer takes it from a library")]
mod holds;
mod node;
mod random;
