//! The README claims no more vectors than there are, and no fewer.

use cupel_conformance::{Level, load};

use crate::{read, root};

#[test]
fn the_readme_tells_how_many_vectors_there_are() {
    let files = load(&[root().join("conformance")]).unwrap();
    let count = |level: Level| files.iter().filter(|file| file.level == level).count();
    let (required, optional) = (count(Level::Required), count(Level::Optional));
    assert_eq!(required + optional, files.len());
    let claim = format!("all {required} Required and {optional} Optional vectors");
    let readme = read(&root().join("README.md"));
    assert!(readme.contains(&claim), "the README must say: {claim}");
}
