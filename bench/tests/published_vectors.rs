//! Our library passes the vectors that come with the published crate, read from where cargo
//! unpacked it, and the README tells their number.

use std::path::PathBuf;
use std::process::Command;

use cupel_conformance::{LibraryImplementation, Options, load, run};

/// The folder of the published crate, asked from cargo.
fn published_package() -> PathBuf {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--manifest-path", manifest])
        .output()
        .expect("cargo runs");
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let published = packages
        .iter()
        .find(|package| package["name"] == "cupel" && package["version"] == "1.2.0")
        .expect("cupel 1.2.0 is a dependency");
    let manifest = PathBuf::from(published["manifest_path"].as_str().expect("a path"));
    manifest.parent().expect("a folder").to_owned()
}

#[test]
fn the_published_required_vectors_pass_and_the_readme_tells_how_many() {
    let files = load(&[published_package().join("conformance/required")]).expect("vectors");
    let summary = run(&files, &mut LibraryImplementation, &Options::default());
    assert!(summary.is_success(), "{summary}");
    let readme = include_str!("../../README.md");
    let claim = format!("all {} Required vectors that cupel 1.2.0 ships", files.len());
    assert!(readme.contains(&claim), "the README must say: {claim}");
}
