//! Where cargo unpacked the packages that are compared with.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of a dependency, asked from cargo; of the last version that it lists if none is
/// given.
pub fn folder(name: &str, version: Option<&str>) -> PathBuf {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--manifest-path", manifest])
        .output()
        .expect("cargo runs");
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let is_meant = |package: &&serde_json::Value| {
        package["name"] == name && version.is_none_or(|version| package["version"] == version)
    };
    let package = packages.iter().rfind(is_meant).expect("it is a dependency");
    let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
    manifest.parent().expect("a folder").to_owned()
}
