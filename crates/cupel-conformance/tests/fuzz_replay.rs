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
#[expect(dead_code, reason = "only what the end of the run brings is compared here")]
#[path = "differential/witness.rs"]
mod witness;

use std::fs;
use std::path::{Path, PathBuf};

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

/// Puts every seed and every finding of a target to its check.
fn replay(target: &str, check: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let seeds = files(&fuzz.join("seeds").join(target));
    assert!(!seeds.is_empty(), "{target} has no seeds");
    for file in seeds.into_iter().chain(files(&fuzz.join("regressions").join(target))) {
        // Shown if the check panics.
        println!("{}", file.display());
        check(&fs::read(&file).expect("a file that was found can be read"));
    }
}

/// The files of a folder, sorted; none if there is no such folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}
