//! Temporary files, and what comes from standard input.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A file that is removed when nobody needs it any more.
#[derive(Debug)]
pub(super) struct TemporaryFile(pub(super) PathBuf);

impl TemporaryFile {
    /// A new file that nobody else can read.
    pub(super) fn create() -> io::Result<(Self, File)> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("cupel-{}-{number}", std::process::id()));
            match options.open(&path) {
                Ok(file) => return Ok((Self(path), file)),
                // Left by a process that had the same id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The name that means standard input.
const STDIN: &str = "-";

/// Standard input as a file, which can be read more than once.
pub(super) fn copy_of_stdin() -> io::Result<TemporaryFile> {
    let (copy, mut file) = TemporaryFile::create()?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    Ok(copy)
}

/// Returns true if a path means standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}
