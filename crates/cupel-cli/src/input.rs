//! Input of the command: a file, or the standard input.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use cupel_engine::{Format, Pick, TranscriptError, TranscriptKind};

use crate::error::{Failure, cause};
use crate::output;

/// A text and where it came from.
#[derive(Debug)]
pub(crate) struct Input {
    /// The file; `None` for the standard input.
    pub(crate) path: Option<PathBuf>,
    /// All of it; of a file that is no request, its last request.
    pub(crate) text: String,
    /// Kind of the file, if it is no request.
    pub(crate) transcript: Option<TranscriptKind>,
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
        Ok(Self { path, text, transcript: None })
    }

    /// Reads a request, or the last request of a transcript, an export or a batch, and says so. What is of
    /// a named format is taken as it is.
    pub(crate) fn read_request(
        path: Option<&Path>,
        format: Option<Format>,
    ) -> Result<Self, Failure> {
        let input = Self::read(path)?;
        let kind = if format.is_none() { TranscriptKind::detect(&input.text) } else { None };
        let Some(kind) = kind else { return Ok(input) };
        let what = match kind {
            TranscriptKind::McpResources => "each is an item",
            _ => "this is about its last request",
        };
        let header = format!("{}; {what}", kind.called());
        input.imported(kind, &Pick::Last, Some(&header))
    }

    /// The request that a conversation of the file is; says what is not in it, below a header.
    pub(crate) fn imported(
        self,
        kind: TranscriptKind,
        pick: &Pick,
        header: Option<&str>,
    ) -> Result<Self, Failure> {
        let name = self.name();
        let imported = kind.import(&self.text, pick);
        let imported = imported.map_err(|error| unread(&name, &error))?;
        let notes = imported.notes.iter().map(String::as_str);
        for line in header.into_iter().chain(notes) {
            output::say(&format!("{name}: {line}"));
        }
        Ok(Self { path: self.path, text: imported.text, transcript: Some(kind) })
    }

    /// Name in messages.
    pub(crate) fn name(&self) -> String {
        name(self.path.as_deref())
    }

    /// Name of the file without its folder, for pages that may be sent to somebody.
    pub(crate) fn file_name(&self) -> String {
        name(self.path.as_deref().and_then(Path::file_name).map(Path::new))
    }
}

/// Why a file that is no request has none either.
pub(crate) fn unread(name: &str, error: &TranscriptError) -> Failure {
    let place = error.line().map(|line| format!(":{line}")).unwrap_or_default();
    let remedy = match error.remedy() {
        "choose one by its number, id or title" => {
            "`cupel import FILE --list` lists them, and --pick chooses one"
        }
        remedy => remedy,
    };
    Failure::cannot(format!("{name}{place}: {}; {remedy}", error.problem()))
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
