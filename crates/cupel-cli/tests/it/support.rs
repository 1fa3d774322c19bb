//! Runs the binary and compares what it says with files.

use std::fmt::Write;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The root of the repository, where every command runs, so that paths in messages are short.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The binary in a known environment.
pub(crate) fn cupel(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cupel"));
    command.current_dir(root()).args(arguments).stdin(Stdio::null());
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env("COLUMNS", "100");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CUPEL_")) {
            command.env_remove(name);
        }
    }
    command
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

pub(crate) fn run(arguments: &[&str]) -> Run {
    cupel(arguments).output().unwrap().into()
}

/// Runs with a text on the standard input.
pub(crate) fn run_with(arguments: &[&str], input: &str) -> Run {
    let mut command = cupel(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child: Child = command.spawn().unwrap();
    // A command that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

/// Runs, and expects the exit code 2 and this message.
#[track_caller]
pub(crate) fn assert_cannot_run(arguments: &[&str], message: &str) {
    let run = run(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:?}");
    assert_eq!(run.stderr, format!("cupel: {message}\n"));
}

/// Compares command, exit code and output with `tests/snapshots/NAME.txt`.
///
/// A missing file is a failure. `SNAPSHOTS=overwrite` writes what the command says now.
#[track_caller]
pub(crate) fn assert_snapshot(name: &str, arguments: &[&str]) {
    assert_text(name, transcript(arguments));
}

/// The same where files of a passing folder are named.
#[track_caller]
pub(crate) fn assert_snapshot_in(name: &str, folder: &Folder, arguments: &[&str]) {
    let folder = format!("{}/", folder.path().display());
    assert_text(name, transcript(arguments).replace(&folder, ""));
}

fn transcript(arguments: &[&str]) -> String {
    let run = run(arguments);
    let mut text = format!("$ cupel {}\n? {}\n", arguments.join(" "), run.code.unwrap());
    for (stream, output) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        if !output.is_empty() {
            write!(text, "---- {stream}\n{}", without_times(output)).unwrap();
        }
    }
    text
}

#[track_caller]
fn assert_text(name: &str, text: String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{name}.txt"));
    let expected = snapbox::Data::read_from(&path, Some(snapbox::data::DataFormat::Text)).raw();
    snapbox::Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV).eq(text, expected);
}

/// Removes durations of stages, which nobody promises.
fn without_times(text: &str) -> String {
    let is_time = |line: &str| line.trim_start().starts_with("\"duration_ms\"");
    text.split_inclusive('\n').filter(|line| !is_time(line)).collect()
}

/// A folder that is removed when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cupel-cli-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in the folder.
    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file and returns its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.0.join(name), content).unwrap();
        self.file(name)
    }

    /// The names of its files, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
