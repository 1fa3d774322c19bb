//! Our library passes the vectors that come with the published crate, read from where cargo
//! unpacked it, and the README tells their number.

use cupel_bench::package;
use cupel_conformance::{LibraryImplementation, Options, load, run};

#[test]
fn the_published_required_vectors_pass_and_the_readme_tells_how_many() {
    let files = load(&[package::folder("cupel", Some("1.2.0")).join("conformance/required")])
        .expect("vectors");
    let summary = run(&files, &mut LibraryImplementation, &Options::default());
    assert!(summary.is_success(), "{summary}");
    let readme: Vec<&str> = include_str!("../../README.md").split_whitespace().collect();
    let readme = readme.join(" ");
    let claim = format!("all {} Required vectors that cupel 1.2.0 ships", files.len());
    assert!(readme.contains(&claim), "the README must say: {claim}");
}
