//! The repository keeps what it promises.

use std::fs;
use std::path::{Path, PathBuf};

mod claims;
mod links;
mod packages;

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
