//! Finds the files of a suite.

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// A file that should be a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorFile {
    /// Path below the folder given, with slashes, without `.toml`.
    pub name: String,
    /// Which level of conformance it belongs to.
    pub level: Level,
    /// Where it is.
    pub path: PathBuf,
    /// Content of the file.
    pub text: String,
}

/// Levels of conformance, as folders name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Below a folder `required`.
    Required,
    /// Below a folder `optional`.
    Optional,
    /// Neither.
    Other,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Required => "required",
            Self::Optional => "optional",
            Self::Other => "other",
        })
    }
}

/// Why no suite was found.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no `.toml` file under any of the paths.
    NothingFound(Vec<PathBuf>),
    /// A file or folder cannot be read.
    Unreadable(PathBuf, io::Error),
}

impl LoadError {
    /// A stable name of the variant.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NothingFound(_) => "nothing_found",
            Self::Unreadable(..) => "unreadable",
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingFound(paths) => {
                let paths: Vec<String> =
                    paths.iter().map(|path| format!("`{}`", path.display())).collect();
                write!(f, "no .toml file under {}", paths.join(", "))
            }
            Self::Unreadable(path, error) => write!(f, "cannot read `{}`: {error}", path.display()),
        }
    }
}

impl std::error::Error for LoadError {}

/// Every `.toml` file under the given folders, and every file given, sorted by name within each.
///
/// # Errors
///
/// If nothing is found, or something cannot be read.
pub fn load<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<VectorFile>, LoadError> {
    let mut files = Vec::new();
    for root in paths {
        let root = root.as_ref();
        let mut found = Vec::new();
        if root.is_file() {
            found.push(root.to_path_buf());
        } else {
            collect(root, &mut found)?;
        }
        found.sort();
        for path in found {
            files.push(read(root, path)?);
        }
    }
    if files.is_empty() {
        let paths = paths.iter().map(|path| path.as_ref().to_path_buf()).collect();
        return Err(LoadError::NothingFound(paths));
    }
    Ok(files)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), LoadError> {
    let unreadable = |error| LoadError::Unreadable(folder.to_path_buf(), error);
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
    Ok(())
}

fn read(root: &Path, path: PathBuf) -> Result<VectorFile, LoadError> {
    match fs::read_to_string(&path) {
        Ok(text) => Ok(VectorFile { name: name(root, &path), level: level(&path), path, text }),
        Err(error) => Err(LoadError::Unreadable(path, error)),
    }
}

fn name(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let below = if below.as_os_str().is_empty() {
        Path::new(path.file_name().unwrap_or_default())
    } else {
        below
    };
    let parts: Vec<_> =
        below.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    parts.join("/")
}

/// The nearest folder that names a level decides.
fn level(path: &Path) -> Level {
    let named = path.iter().rev().find_map(|part| match part.to_str() {
        Some("required") => Some(Level::Required),
        Some("optional") => Some(Level::Optional),
        _ => None,
    });
    named.unwrap_or(Level::Other)
}
