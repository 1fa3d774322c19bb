//! Links between pages lead somewhere, in the repository and in a package.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{crates, read, root};

/// Every page of the repository, sorted. Links to folders are not followed: what they lead to is visited once.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let name = entry.file_name();
        // What is built or fetched has pages of others.
        let is_ours =
            name != "target" && name != "node_modules" && !name.to_string_lossy().starts_with('.');
        if kind.is_dir() && is_ours {
            pages.extend(self::pages(&path));
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

/// Where the links of a page lead; those to other sites, to items and within the page left out.
fn targets(page: &str) -> impl Iterator<Item = &str> {
    let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let paths = links.map(|link| link.split('#').next().unwrap_or_default());
    paths.filter(|path| !path.is_empty() && !path.contains("::") && !path.contains("://"))
}

#[test]
fn every_link_of_a_page_leads_to_a_file() {
    let pages = pages(&root());
    assert!(pages.len() > 10, "{pages:?}");
    for page in pages {
        for target in targets(&read(&page)) {
            let path = page.parent().unwrap().join(target);
            assert!(path.exists(), "{}: `{target}` does not exist", page.display());
        }
    }
}

/// A registry shows the page of a crate without the repository around it.
#[test]
fn no_link_of_a_crates_page_leaves_its_package() {
    for folder in crates() {
        let page = folder.join("README.md");
        for target in targets(&read(&page)) {
            assert!(!target.starts_with(".."), "{}: `{target}` is not packaged", page.display());
        }
    }
}
