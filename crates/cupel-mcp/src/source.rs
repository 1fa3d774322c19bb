//! Whence a tool has what it is asked about: a file below a folder that the user allowed, or the call itself.

use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cupel_engine::{Format, Pick, TranscriptKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::ToolError;

/// The most bytes of a file.
const LARGEST_FILE: u64 = 256 * 1024 * 1024;

/// The folders that tools may read files of. Without any, no file is read.
#[derive(Debug, Clone, Default)]
pub struct Roots(Vec<PathBuf>);

/// A folder that cannot be a root.
#[derive(Debug)]
pub struct RootsError {
    folder: PathBuf,
    why: String,
}

impl fmt::Display for RootsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.folder.display(), self.why)
    }
}

impl std::error::Error for RootsError {}

impl Roots {
    /// The folders, with links followed.
    ///
    /// # Errors
    ///
    /// If one is no folder, or cannot be read.
    pub fn new(folders: &[PathBuf]) -> Result<Self, RootsError> {
        let real = |folder: &PathBuf| {
            let failed = |why: String| RootsError { folder: folder.clone(), why };
            let real = folder.canonicalize().map_err(|error| failed(error.to_string()))?;
            if real.is_dir() { Ok(real) } else { Err(failed("is no folder".to_owned())) }
        };
        folders.iter().map(real).collect::<Result<_, _>>().map(Self)
    }

    /// The text of a file below one of the folders. A relative path begins at the first of them.
    fn read(&self, path: &str) -> Result<String, ToolError> {
        let Some(first) = self.0.first() else {
            let error = ToolError::new("path-not-allowed", "this server reads no files").at("path");
            return Err(error.remedy("start it with --root FOLDER, or give the text itself"));
        };
        let named = first.join(path);
        let not_allowed = || {
            let folders: Vec<String> =
                self.0.iter().map(|root| root.display().to_string()).collect();
            let rule = "is not below a folder that this server may read";
            let error = ToolError::new("path-not-allowed", rule).at("path");
            error.remedy(format!("name a file below {}", folders.join(" or ")))
        };
        // A path that leads out is refused before anything says whether something is there.
        let is_below = |path: &Path| self.0.iter().any(|root| path.starts_with(root));
        if !is_below(&plain(&named)) {
            return Err(not_allowed());
        }
        let unreadable = |why: String| ToolError::new("unreadable-file", why).at("path");
        let real = named.canonicalize().map_err(|error| unreadable(error.to_string()))?;
        if !is_below(&real) {
            return Err(not_allowed());
        }
        let metadata = fs::metadata(&real).map_err(|error| unreadable(error.to_string()))?;
        if !metadata.is_file() {
            return Err(unreadable("is no file".to_owned()).remedy("name a file"));
        }
        if metadata.len() > LARGEST_FILE {
            let rule = format!("has {} bytes, at most {LARGEST_FILE} are read", metadata.len());
            return Err(unreadable(rule).remedy("use the command on it: `cupel explain FILE`"));
        }
        let bytes = fs::read(&real).map_err(|error| unreadable(error.to_string()))?;
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            unreadable(format!("byte {at} is not UTF-8; only text can be read"))
        })
    }
}

/// A path without `.` and `..`, as it is written.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// A request of a provider, or a transcript that stands for its last one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct RequestSource {
    /// A file below a folder that the server may read: a request of a provider as JSON, or the transcript of an agent,
    /// for its last request.
    pub(crate) path: Option<String>,
    /// The request itself: JSON as a text, which keeps its bytes, or as an object or a list.
    pub(crate) request: Option<Value>,
    /// The format of the request, as in `openai-chat` or `anthropic`; detected if absent.
    pub(crate) format: Option<String>,
}

/// What was read.
pub(crate) struct Read {
    pub(crate) text: Arc<str>,
    /// What a transcript does not tell of its request.
    pub(crate) notes: Vec<String>,
    pub(crate) format: Option<Format>,
}

impl RequestSource {
    /// A text stands beside it: then nothing else may be named.
    pub(crate) fn must_be_empty(&self) -> Result<(), ToolError> {
        let names = [
            ("path", self.path.is_some()),
            ("request", self.request.is_some()),
            ("format", self.format.is_some()),
        ];
        match names.iter().find(|(_, is_there)| *is_there) {
            None => Ok(()),
            Some((name, _)) => {
                let error = ToolError::argument(*name, "cannot stand beside `text`");
                Err(error.remedy("give one of them"))
            }
        }
    }

    /// The request.
    pub(crate) fn read(&self, roots: &Roots) -> Result<Read, ToolError> {
        let text = match (&self.path, &self.request) {
            (Some(path), None) => roots.read(path)?,
            (None, Some(Value::String(text))) => text.clone(),
            (None, Some(value @ (Value::Object(_) | Value::Array(_)))) => value.to_string(),
            (None, Some(_)) => {
                let error =
                    ToolError::argument("request", "must be JSON as a text, an object or a list");
                return Err(error.remedy("give the body that a provider would get"));
            }
            (Some(_), Some(_)) => {
                let error = ToolError::argument("request", "cannot stand beside `path`");
                return Err(error.remedy("give one of them"));
            }
            (None, None) => {
                let error = ToolError::argument("request", "is missing");
                return Err(error.remedy("give `request`, or the `path` of a file"));
            }
        };
        let format = self.format.as_deref().map(str::parse::<Format>).transpose();
        let format = format.map_err(|error| ToolError::argument("format", error.to_string()))?;
        imported(text, format)
    }
}

/// The last request of a transcript; what is a request, or of a named format, stays as it is.
pub(crate) fn imported(text: String, format: Option<Format>) -> Result<Read, ToolError> {
    let kind = if format.is_none() { TranscriptKind::detect(&text) } else { None };
    let Some(kind) = kind else { return Ok(Read { text: text.into(), notes: Vec::new(), format }) };
    let imported = kind.import(&text, &Pick::Last).map_err(|error| {
        let place = error.line().map(|line| format!("line {line}: ")).unwrap_or_default();
        let rule = format!("{place}{}", error.problem());
        ToolError::new("unreadable-transcript", rule).remedy(error.remedy())
    })?;
    let mut notes = vec![format!("{}; this is about its last request", kind.called())];
    notes.extend(imported.notes);
    Ok(Read { text: imported.text.into(), notes, format: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(name: &str) -> (PathBuf, Roots) {
        let folder =
            std::env::temp_dir().join(format!("cupel-roots-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("in")).unwrap();
        fs::write(folder.join("in/request.json"), "[]").unwrap();
        fs::write(folder.join("secret.json"), "[1]").unwrap();
        let roots = Roots::new(&[folder.join("in")]).unwrap();
        (folder, roots)
    }

    #[test]
    fn files_below_the_folders_are_read_and_no_others() {
        let (folder, roots) = roots("below");
        assert_eq!(roots.read("request.json").unwrap(), "[]");
        assert_eq!(roots.read("../in/./request.json").unwrap(), "[]");
        let outside = folder.join("secret.json").display().to_string();
        for path in ["../secret.json", "../none.json", &outside, "/etc/passwd", "/none"] {
            let error = roots.read(path).unwrap_err();
            assert_eq!(error.code, "path-not-allowed", "{path}: {error:?}");
            assert!(error.remedy.unwrap().starts_with("name a file below "), "{path}");
        }
        assert_eq!(roots.read("none.json").unwrap_err().code, "unreadable-file");
        assert_eq!(roots.read(".").unwrap_err().rule, "is no file");
        assert_eq!(Roots::default().read("request.json").unwrap_err().code, "path-not-allowed");
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_leads_nowhere_that_is_not_allowed() {
        let (folder, roots) = roots("link");
        std::os::unix::fs::symlink(folder.join("secret.json"), folder.join("in/link.json"))
            .unwrap();
        assert_eq!(roots.read("link.json").unwrap_err().code, "path-not-allowed");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_is_none_is_no_root() {
        let error = Roots::new(&[PathBuf::from("/none/such")]).unwrap_err();
        assert!(error.to_string().starts_with("/none/such: "), "{error}");
    }
}
