//! Every crate is ready for a registry: its page, its licences, its files.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{crates, read, root};

/// Standard output of cargo.
#[track_caller]
fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).current_dir(root()).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The descriptions of the packages that are published.
fn published() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--format-version", "1", "--no-deps", "--offline"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    // `null` is any registry; a list without a name is none.
    packages.filter(|package| package["publish"].is_null()).cloned().collect()
}

/// Names on crates.io that belong to other packages: three to the predecessor, one to another project.
const TAKEN: [&str; 4] = ["cupel", "cupel-core", "cupel-otel", "cupel-testing"];

#[test]
fn every_crate_below_crates_is_published_and_no_other() {
    let folder = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        manifest.parent().unwrap().canonicalize().unwrap()
    };
    let mut packaged: Vec<_> = published().iter().map(folder).collect();
    packaged.sort();
    let folders: Vec<_> = crates().iter().map(|folder| folder.canonicalize().unwrap()).collect();
    assert_eq!(packaged, folders);
}

#[test]
fn no_package_has_the_name_of_another_project() {
    for package in published() {
        let name = package["name"].as_str().unwrap();
        assert!(!TAKEN.contains(&name), "`{name}` on crates.io is another project");
    }
}

#[test]
fn every_package_has_what_a_registry_page_shows() {
    for package in published() {
        let name = package["name"].as_str().unwrap();
        for field in ["description", "readme", "documentation", "license", "rust_version"] {
            assert!(package[field].is_string(), "{name} has no {field}");
        }
        assert_eq!(package["documentation"], format!("https://docs.rs/{name}"));
        for field in ["keywords", "categories"] {
            let count = package[field].as_array().map_or(0, Vec::len);
            assert!(
                (1..=5).contains(&count),
                "{name} has {count} {field}, a registry takes 1 to 5"
            );
        }
    }
}

#[test]
fn every_package_holds_its_page_and_both_licences() {
    for package in published() {
        let name = package["name"].as_str().unwrap();
        let list = cargo(&["package", "--list", "--allow-dirty", "--offline", "-p", name]);
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(list.lines().any(|line| line == file), "the package of {name} lacks {file}");
        }
    }
}

#[test]
fn the_licences_of_a_crate_are_those_of_the_repository() {
    for folder in crates() {
        for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let path = folder.join(file);
            assert_eq!(read(&path), read(&root().join(file)), "{}", path.display());
        }
    }
}
