//! Where results go: data to stdout or a file, words to stderr.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::error::Failure;

/// Writes data to the standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::writing("stdout", &error))
}

/// Tells people something. Nobody may be there to hear it, which is not an error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Where the result of a command goes.
#[derive(Debug)]
pub(crate) enum Destination {
    /// The standard output.
    Stdout,
    /// A file, which appears or changes as a whole or not at all.
    File(PathBuf),
}

impl Destination {
    /// A file if one is named, which must not be the input.
    pub(crate) fn new(output: Option<&Path>, input: Option<&Path>) -> Result<Self, Failure> {
        match output {
            None => Ok(Self::Stdout),
            Some(output) if input.is_some_and(|input| is_same_file(input, output)) => {
                let output = output.display();
                let text = format!(
                    "{output}: is the input; write to another file (`select` can replace it with --in-place)"
                );
                Err(Failure::CannotRun(text))
            }
            Some(output) => Ok(Self::File(output.to_path_buf())),
        }
    }

    /// Writes the whole result.
    pub(crate) fn write(&self, text: &str) -> Result<(), Failure> {
        match self {
            Self::Stdout => print(text),
            Self::File(path) => {
                replace(path, text).map_err(|error| Failure::writing(path.display(), &error))
            }
        }
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// Replaces a file in one step: readers see the old text or the new one, never a part of it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link: what it points to is replaced.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let existing = fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        // A device or a pipe cannot be replaced, only written to.
        return OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes());
    }
    let draft = Draft::create(path)?;
    draft.fill(text)?;
    if let Some(existing) = existing {
        fs::set_permissions(&draft.path, existing.permissions())?;
    }
    draft.publish(path)
}

/// A file beside the one that it will replace. It is removed unless it is published.
struct Draft {
    path: PathBuf,
    is_published: bool,
}

impl Draft {
    fn create(beside: &Path) -> io::Result<Self> {
        let Some(name) = beside.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"));
        };
        let mut draft_name = std::ffi::OsString::from(".");
        draft_name.push(name);
        draft_name.push(format!(".{}.tmp", process::id()));
        let path = beside.with_file_name(draft_name);
        File::create_new(&path)?;
        Ok(Self { path, is_published: false })
    }

    fn fill(&self, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(&self.path)?;
        file.write_all(text.as_bytes())?;
        // Without this a full disk may only show after the old file is gone.
        file.sync_all()
    }

    fn publish(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.is_published = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_published {
            let _ = fs::remove_file(&self.path);
        }
    }
}
