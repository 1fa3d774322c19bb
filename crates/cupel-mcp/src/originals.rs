//! Whole texts on disk, by the handles that their shorter forms name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cupel_engine::handle;

/// What a handle begins with.
const PREFIX: &str = "cupel:";
const DIGITS: usize = 16;

/// The most bytes of a folder: what was kept longest ago goes first.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// A folder of whole texts, each in a file that is named by its handle.
///
/// Writers need no lock: a file appears as a whole, and the same handle is the same text. The folder and its files are
/// for their owner alone. It is kept below 256 MB; what was kept longest ago goes first.
#[derive(Debug, Clone)]
pub struct Originals {
    folder: PathBuf,
    most_bytes: u64,
}

impl Originals {
    /// The folder; it is made when the first text is kept.
    #[must_use]
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), most_bytes: MOST_BYTES }
    }

    /// Keeps a text, and says the handle by which it is found.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written.
    pub fn keep(&self, text: &str) -> io::Result<String> {
        let handle = handle(text);
        let path = self.folder.join(digits(&handle).unwrap_or(&handle));
        if self.find(&handle)?.is_some() {
            return Ok(handle);
        }
        make_folder(&self.folder)?;
        self.make_room(text.len() as u64)?;
        // The process in the name: two hooks may keep the same text at once.
        let draft =
            self.folder.join(format!(".{}.{}", std::process::id(), digits(&handle).unwrap_or("")));
        let written = private(&draft).and_then(|mut file| file.write_all(text.as_bytes()));
        let moved = written.and_then(|()| fs::rename(&draft, &path));
        if moved.is_err() {
            let _ = fs::remove_file(&draft);
        }
        moved.map(|()| handle)
    }

    /// The text of a handle; `None` if there is none, or what is there is not that text.
    ///
    /// # Errors
    ///
    /// If the file is there and cannot be read.
    pub fn find(&self, name: &str) -> io::Result<Option<String>> {
        let Some(digits) = digits(name) else { return Ok(None) };
        match fs::read_to_string(self.folder.join(digits)) {
            Ok(text) => Ok((handle(&text) == name).then_some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the oldest texts until so many bytes more fit.
    fn make_room(&self, bytes: u64) -> io::Result<()> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let Ok(metadata) = entry.metadata() else { continue };
            files.push((metadata.modified()?, metadata.len(), entry.path()));
        }
        files.sort();
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, size, path) in files {
            if total.saturating_add(bytes) <= self.most_bytes {
                break;
            }
            // Somebody else may have removed it.
            let _ = fs::remove_file(path);
            total = total.saturating_sub(size);
        }
        Ok(())
    }
}

/// The part of a handle that names a file; `None` if it is no handle, so that no argument leads out of the folder.
pub(crate) fn digits(handle: &str) -> Option<&str> {
    let digits = handle.strip_prefix(PREFIX)?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (digits.len() == DIGITS && digits.bytes().all(is_digit)).then_some(digits)
}

/// Makes a folder that only its owner may look into.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("cupel-originals-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_text_is_found_by_its_handle_and_nothing_by_what_is_none() {
        let originals = Originals::in_folder(folder("found"));
        let text = "one\r\ntwo\n";
        let handle = originals.keep(text).unwrap();
        assert_eq!(originals.keep(text).unwrap(), handle);
        assert_eq!(originals.find(&handle).unwrap().as_deref(), Some(text));
        for none in ["", "cupel:", "cupel:../../etc/passwd", "cupel:0000000000000000", &handle[6..]]
        {
            assert_eq!(originals.find(none).unwrap(), None, "{none}");
        }
        fs::remove_dir_all(&originals.folder).unwrap();
    }

    #[test]
    fn a_text_that_was_changed_is_not_given_back() {
        let originals = Originals::in_folder(folder("changed"));
        let handle = originals.keep("the whole").unwrap();
        fs::write(originals.folder.join(digits(&handle).unwrap()), "something else").unwrap();
        assert_eq!(originals.find(&handle).unwrap(), None);
        fs::remove_dir_all(&originals.folder).unwrap();
    }

    #[test]
    fn what_was_kept_longest_ago_makes_room() {
        let originals = Originals { most_bytes: 250, ..Originals::in_folder(folder("room")) };
        let kept: Vec<String> = (0..4)
            .map(|number: u64| {
                let handle = originals.keep(&format!("{number:0100}")).unwrap();
                let file = File::options()
                    .append(true)
                    .open(originals.folder.join(digits(&handle).unwrap()));
                let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number);
                file.unwrap().set_modified(time).unwrap();
                handle
            })
            .collect();
        let is_there: Vec<bool> =
            kept.iter().map(|handle| originals.find(handle).unwrap().is_some()).collect();
        assert_eq!(is_there, [false, false, true, true]);
        fs::remove_dir_all(&originals.folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read() {
        use std::os::unix::fs::PermissionsExt;

        let originals = Originals::in_folder(folder("private"));
        let handle = originals.keep("a secret").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&originals.folder), 0o700);
        assert_eq!(mode(&originals.folder.join(digits(&handle).unwrap())), 0o600);
        fs::remove_dir_all(&originals.folder).unwrap();
    }
}
