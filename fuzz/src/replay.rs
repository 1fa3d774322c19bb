//! Puts what is kept of the fuzzer's input to its check, without the fuzzer. The tests of the repository include it.

use std::fs;
use std::path::{Path, PathBuf};

/// Puts every seed and every finding of a target to its check.
pub(crate) fn replay(target: &str, check: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
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
