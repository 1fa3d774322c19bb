//! Everything that was ever worth keeping of the fuzzer's input, through the same check as the
//! fuzzer's, without it.

#[expect(unreachable_pub, reason = "the fuzzer takes it from a library")]
#[path = "it/holds.rs"]
mod holds;
#[path = "it/node.rs"]
mod node;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn renderings() {
    replay::replay("renderings", holds::check);
}
