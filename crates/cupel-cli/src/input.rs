//! What the command reads: a file, or the standard input.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use crate::error::{Failure, cause};

/// A text and where it came from.
#[derive(Debug)]
pub(crate) struct Input {
    /// The file; `None` for the standard input.
    pub(crate) path: Option<PathBuf>,
    /// All of it.
    pub(crate) text: String,
}

impl Input {
    /// Reads a file, or the standard input if the path is `-` or missing.
    pub(crate) fn read(path: Option<&Path>) -> Result<Self, Failure> {
        let path = path.filter(|path| *path != Path::new("-")).map(Path::to_path_buf);
        let bytes = match &path {
            Some(path) => read_file(path)?,
            None => read_stdin()?,
        };
        let name = name(path.as_deref());
        let text = String::from_utf8(bytes).map_err(|error| not_text(&name, &error))?;
        Ok(Self { path, text })
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> String {
        name(self.path.as_deref())
    }
}

fn name(path: Option<&Path>) -> String {
    path.map_or_else(|| "stdin".to_owned(), |path| path.display().to_string())
}

fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable = |error: io::Error| {
        Failure::cannot(format!("{}: cannot read: {}", path.display(), cause(&error)))
    };
    if path.is_dir() {
        let text = format!("{}: is a folder; name a file", path.display());
        return Err(Failure::CannotRun(text));
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let length = fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

fn read_stdin() -> Result<Vec<u8>, Failure> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        let text = "nothing to read: name a file, or pipe a text in, as in `cupel COMMAND < FILE`";
        return Err(Failure::cannot(text));
    }
    let mut bytes = Vec::new();
    stdin
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::cannot(format!("stdin: cannot read: {}", cause(&error))))?;
    Ok(bytes)
}

/// Names the first byte that is not UTF-8, by line, as an editor would find it.
fn not_text(name: &str, error: &std::string::FromUtf8Error) -> Failure {
    let offset = error.utf8_error().valid_up_to();
    let line = error.as_bytes()[..offset].split(|byte| *byte == b'\n').count();
    let byte = error.as_bytes().get(offset).copied().unwrap_or_default();
    Failure::cannot(format!(
        "{name}:{line}: byte {offset} (0x{byte:02x}) is not UTF-8; only text can be read, convert it first"
    ))
}
