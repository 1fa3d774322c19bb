//! Where results go: words for people to stdout or stderr, data to stdout or a file.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::error::Failure;
use crate::style;

/// Writes words for people, or JSON of our own, to the standard output: nothing in them acts on a terminal.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write_stdout(&style::for_people(text))
}

/// Writes data to the standard output: byte for byte into a pipe or a file, as it can be read on a terminal.
pub(crate) fn print_data(text: &str, readable: fn(&str) -> Cow<'_, str>) -> Result<(), Failure> {
    if io::stdout().is_terminal() { write_stdout(&readable(text)) } else { write_stdout(text) }
}

fn write_stdout(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::writing("stdout", &error))
}

/// Tells people something. Nobody may be there to hear it, which is not an error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", style::for_people(text));
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

    /// Writes the whole result, which is JSON if it goes to stdout.
    pub(crate) fn write(&self, text: &str) -> Result<(), Failure> {
        match self {
            Self::Stdout => print_data(text, cupel_names::readable_json),
            Self::File(path) => {
                replace(path, text).map_err(|error| Failure::writing(path.display(), &error))
            }
        }
    }
}

/// Fails where a file could not be written later, after the work is done.
#[cfg(feature = "replay")]
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    let real = resolved(path);
    let tried = match fs::metadata(&real) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => Ok(()),
        _ => Draft::create(&real).map(drop),
    };
    tried.map_err(|error| Failure::writing(path.display(), &error))
}

/// The path with links followed, also that of a file that is still to be made.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    }
}

/// Returns true if two paths lead to one file, be it there or not.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    resolved(a) == resolved(b)
}

/// Replaces a file in one step: readers see the old text or the new one, never a part of it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link: what it points to is replaced.
    let path = &resolved(path);
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        // A device or a pipe cannot be replaced, only written to.
        return OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes());
    }
    Replacement::new(path, text, Draft::create(path)?)?.publish()
}

/// The new text of a file, written down beside it. It is forgotten unless it is published.
pub(crate) struct Replacement {
    draft: Draft,
    path: PathBuf,
}

impl Replacement {
    /// For whoever keeps everyone else from replacing this file.
    pub(crate) fn under_lock(path: &Path, text: &str) -> io::Result<Self> {
        Self::new(path, text, Draft::create_under_lock(path)?)
    }

    fn new(path: &Path, text: &str, draft: Draft) -> io::Result<Self> {
        draft.fill(text)?;
        if let Ok(existing) = fs::metadata(path) {
            fs::set_permissions(&draft.path, existing.permissions())?;
        }
        Ok(Self { draft, path: path.to_path_buf() })
    }

    /// Puts the new text into the place of the old one, in one step.
    pub(crate) fn publish(self) -> io::Result<()> {
        self.draft.publish(&self.path)
    }
}

/// A file beside the one that it will replace. It is removed unless it is published.
struct Draft {
    path: PathBuf,
    is_published: bool,
}

impl Draft {
    fn create(beside: &Path) -> io::Result<Self> {
        Self::named(draft_path(beside, &format!(".{}.tmp", process::id()))?, beside)
    }

    /// Always under the same name: what a killed process left behind makes room.
    fn create_under_lock(beside: &Path) -> io::Result<Self> {
        let path = draft_path(beside, ".tmp")?;
        let _ = fs::remove_file(&path);
        Self::named(path, beside)
    }

    fn named(path: PathBuf, beside: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // What it replaces may be for its owner alone: nobody else may open it before it has those
        // permissions.
        #[cfg(unix)]
        if beside.exists() {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = beside;
        options.open(&path)?;
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
        sync_folder(path);
        Ok(())
    }
}

/// Makes sure that a power cut does not bring the old file back. The new one is in place: a system
/// that cannot sync a folder is no reason to say otherwise.
fn sync_folder(of: &Path) {
    let folder = of.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
}

/// A hidden name in the same folder, since files are renamed in one step within a folder only.
fn draft_path(beside: &Path, ending: &str) -> io::Result<PathBuf> {
    let Some(name) = beside.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"));
    };
    let mut draft_name = std::ffi::OsString::from(".");
    draft_name.push(name);
    draft_name.push(ending);
    Ok(beside.with_file_name(draft_name))
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_published {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_draft_is_for_its_owner_alone_before_it_has_the_permissions_of_what_it_replaces() {
        let path = std::env::temp_dir().join(format!("cupel-draft-{}", process::id()));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        File::create(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let draft = Draft::create(&path).unwrap();
        assert_eq!(mode(&draft.path), 0o600);
        Replacement::new(&path, "x", draft).unwrap().publish().unwrap();
        assert_eq!(mode(&path), 0o640);
        fs::remove_file(&path).unwrap();
    }
}
