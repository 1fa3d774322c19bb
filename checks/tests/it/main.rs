//! The repository keeps what it promises.

use std::fs;
use std::path::{Path, PathBuf};

mod claims;
mod fuzz_replay;
mod links;
mod packages;

// The fuzzer's checks, and what they are made of, as in `fuzz/src/lib.rs`.
#[expect(dead_code, reason = "problems come from bytes here, not from seeds")]
#[path = "../../../crates/cupel-conformance/tests/it/differential/case.rs"]
mod case;
#[expect(unreachable_pub, reason = "the fuzzer takes them from a library")]
#[path = "../../../fuzz/src/checks/mod.rs"]
mod checks;
#[path = "../../../crates/cupel-conformance/tests/it/differential/compare.rs"]
mod compare;
#[path = "../../../crates/cupel-renderings/tests/it/node.rs"]
mod node;
#[expect(unreachable_pub, reason = "the fuzzer takes it from a library")]
#[path = "../../../crates/cupel-renderings/tests/it/holds.rs"]
mod renderings;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;
#[expect(dead_code, reason = "only what the end of the run brings is compared here")]
#[path = "../../../crates/cupel-conformance/tests/it/differential/witness.rs"]
mod witness;

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[track_caller]
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folders of the crates that are published, sorted.
fn crates() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("crates")).unwrap();
    let folders = entries.map(|entry| entry.unwrap().path());
    let mut crates: Vec<_> = folders.filter(|path| path.join("Cargo.toml").is_file()).collect();
    crates.sort();
    assert!(!crates.is_empty());
    crates
}
