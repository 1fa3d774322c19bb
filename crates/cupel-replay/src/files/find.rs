//! Which files a path means: a file, a folder with all that is below it, or a pattern.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Paths that mean no log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FindError(String);

/// Endings of the names of logs; files of a folder with other names are passed over.
const ENDINGS: [&str; 13] = [
    "jsonl",
    "ndjson",
    "json",
    "parquet",
    "jsonl.gz",
    "json.gz",
    "jsonl.zst",
    "json.zst",
    "ndjson.gz",
    "ndjson.zst",
    "eval",
    "traj",
    "parq",
];

/// The files that paths mean, each once, in the order of the paths; those of a folder by name, whatever links
/// lead back to it.
///
/// # Errors
///
/// If a path is not there, a pattern matches nothing, or a folder holds no log.
pub fn find_logs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FindError> {
    let mut files = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            files.push(path.clone());
        } else if path.is_dir() {
            let before = files.len();
            let mut visited = HashSet::new();
            walk(path, &mut visited, &mut files)?;
            if files.len() == before {
                return Err(FindError(format!(
                    "{}: there is no log in the folder; logs end in {}",
                    path.display(),
                    ENDINGS.map(|ending| format!(".{ending}")).join(", ")
                )));
            }
        } else if path.exists() {
            files.push(path.clone());
        } else {
            files.extend(matching(path)?);
        }
    }
    // A folder and a pattern may both mean a file, which has its requests once.
    let mut known = HashSet::new();
    files.retain(|file| known.insert(file.canonicalize().unwrap_or_else(|_| file.clone())));
    Ok(files)
}

fn walk(
    folder: &Path,
    visited: &mut HashSet<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> Result<(), FindError> {
    // A link may lead back to a folder that is being walked through.
    if !folder.canonicalize().is_ok_and(|real| visited.insert(real)) {
        return Ok(());
    }
    let unreadable = |error: std::io::Error| {
        FindError(format!("{}: cannot read the folder: {}", folder.display(), super::cause(&error)))
    };
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            walk(&path, visited, files)?;
        } else if ENDINGS.iter().any(|ending| name.ends_with(&format!(".{ending}")))
            && path.is_file()
        {
            files.push(path);
        }
    }
    Ok(())
}

/// The files that a pattern matches, by name.
fn matching(pattern: &Path) -> Result<Vec<PathBuf>, FindError> {
    let absent =
        || FindError(format!("{}: there is no such file, folder or match", pattern.display()));
    let text = pattern.to_str().filter(|text| text.contains(['*', '?', '['])).ok_or_else(absent)?;
    let found =
        glob::glob(text).map_err(|error| FindError(format!("{text}: is no pattern: {error}")))?;
    let mut files: Vec<PathBuf> =
        found.filter_map(Result::ok).filter(|path| path.is_file()).collect();
    files.sort();
    if files.is_empty() { Err(absent()) } else { Ok(files) }
}
