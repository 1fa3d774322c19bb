//! The file of a session: what is remembered from one call to the next.
//!
//! Readers need no lock, since the file is replaced in one step. Whoever means to replace it holds
//! the lock from reading to replacing, so that of two calls the second goes on from the first.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use cupel_engine::{Engine, Options, Session, SessionState, Step};
use fs4::{FileExt, TryLockError};

use crate::error::{BEGIN_ANEW, Failure, cause};
use crate::input::Input;
use crate::output::{self, Replacement};

/// How long to wait for whoever is at the same session. A step takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to look whether the lock is free.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Whether the request is a step of a session, and of which.
#[derive(Debug, Args)]
pub(crate) struct SessionArguments {
    /// Keep the provider's prompt cache: the request is the next step of the session in this file
    ///
    /// The window changes at its end only, and what is sent again is paid for by a share of what
    /// arrived. The file is small and has no texts; it is made by the first step. FILE.lock beside it
    /// keeps two calls apart, and may stay.
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,

    /// Begin a new session if the file cannot be read as one, instead of refusing
    #[arg(long, requires = "session")]
    pub(crate) restart_unreadable: bool,

    /// The time of the step in seconds since 1970, instead of the clock's
    ///
    /// Five minutes after the last step the provider has forgotten it.
    #[arg(long, value_name = "SECONDS", requires = "session")]
    pub(crate) at: Option<u64>,
}

impl SessionArguments {
    /// The file of the session, which must be no other file of the call.
    pub(crate) fn file(&self, others: &[Option<&Path>]) -> Result<Option<SessionFile>, Failure> {
        let Some(named) = &self.session else { return Ok(None) };
        if others.iter().flatten().any(|other| output::is_same_file(named, other)) {
            let text = "is read or written otherwise; give the session a file of its own";
            return Err(Failure::cannot(format!("{}: {text}", named.display())));
        }
        let file = SessionFile::new(named);
        if fs::metadata(&file.path).is_ok_and(|metadata| !metadata.is_file()) {
            let text = "is no file; name one for --session";
            return Err(Failure::cannot(format!("{}: {text}", named.display())));
        }
        Ok(Some(file))
    }

    /// The session as the file has it; a new one if there is no file.
    pub(crate) fn load(&self, file: &SessionFile, engine: &Engine) -> Result<Session, Failure> {
        match file.read() {
            Ok(Some(state)) => Ok(engine.resume(state)),
            Ok(None) => Ok(engine.session()),
            Err(Unreadable { rule: Some(rule), .. }) if self.restart_unreadable => {
                output::say(&format!("{}: not the state of a session: {rule}", file.name));
                Ok(engine.session())
            }
            Err(Unreadable { failure, .. }) => Err(failure),
        }
    }

    /// Proposes the step that the request is.
    pub(crate) fn propose(
        &self,
        session: &mut Session,
        input: &Input,
        options: &Options,
    ) -> Result<Step, Failure> {
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let now = self.at.unwrap_or_else(clock);
        let step = session.next_with(input.text.as_str(), options, Some(now));
        step.map_err(|error| Failure::of(&input.name(), &error))
    }
}

/// The file of a session.
#[derive(Debug)]
pub(crate) struct SessionFile {
    /// What messages call it.
    name: String,
    /// Where it is, links followed: whoever comes by a link must meet the same lock.
    path: PathBuf,
}

/// Why there is no state.
struct Unreadable {
    /// What is wrong with the text, if there is one.
    rule: Option<String>,
    failure: Failure,
}

impl SessionFile {
    fn new(named: &Path) -> Self {
        Self { name: named.display().to_string(), path: output::resolved(named) }
    }

    /// The same file as messages call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn read(&self) -> Result<Option<SessionState>, Unreadable> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let text = format!("{}: cannot read: {}", self.name, cause(&error));
                return Err(Unreadable { rule: None, failure: Failure::CannotRun(text) });
            }
        };
        // What is not UTF-8 is no JSON either, and is told by line and column as such.
        let text = String::from_utf8_lossy(&bytes);
        if text.trim().is_empty() {
            let rule = "there is nothing in it";
            let failure = Failure::cannot(format!("{}: {rule}; {BEGIN_ANEW}", self.name));
            return Err(Unreadable { rule: Some(rule.to_owned()), failure });
        }
        SessionState::from_json(&text).map(Some).map_err(|error| Unreadable {
            rule: Some(error.rule().to_owned()),
            failure: Failure::of(&self.name, &error),
        })
    }

    /// Waits until nobody else is at this session.
    pub(crate) fn lock(&self) -> Result<SessionLock<'_>, Failure> {
        self.lock_within(PATIENCE)
    }

    fn lock_within(&self, patience: Duration) -> Result<SessionLock<'_>, Failure> {
        let path = beside(&self.path, ".lock");
        let unusable = |error: &io::Error| Failure::writing(path.display(), error);
        if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            // Opening a pipe would wait for somebody at its other end.
            let text = "is no file, and stands where the session's lock would; remove it";
            return Err(Failure::cannot(format!("{}: {text}", path.display())));
        }
        let opened = File::options().write(true).create(true).truncate(false).open(&path);
        let handle = opened.map_err(|error| unusable(&error))?;
        let begin = Instant::now();
        loop {
            match FileExt::try_lock(&handle) {
                Ok(()) => return Ok(SessionLock { file: self, _handle: handle }),
                Err(TryLockError::Error(error)) => return Err(unusable(&error)),
                Err(TryLockError::WouldBlock) if begin.elapsed() >= patience => {
                    return Err(self.is_busy(patience));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(LOOK_AGAIN),
            }
        }
    }

    fn is_busy(&self, patience: Duration) -> Failure {
        Failure::cannot(format!(
            "{}: another process has been at this session for {} seconds; try again, or give each \
             conversation a file of its own",
            self.name,
            patience.as_secs()
        ))
    }
}

/// The right to replace the file of a session. The system takes it back when the process ends,
/// however it ends.
///
/// It is on a file beside it: whoever waited for a lock on the file itself would get one on the text
/// that has been replaced meanwhile.
#[derive(Debug)]
pub(crate) struct SessionLock<'a> {
    file: &'a SessionFile,
    _handle: File,
}

impl SessionLock<'_> {
    /// Writes the state down beside the file, which stays as it is until the replacement is
    /// published: a full disk must show before the step is handed out.
    pub(crate) fn prepare(&self, state: &SessionState) -> Result<Replacement, Failure> {
        let text = state.to_json() + "\n";
        Replacement::under_lock(&self.file.path, &text).map_err(|error| self.unwritable(&error))
    }

    /// Replaces the state: the step counts.
    pub(crate) fn publish(&self, replacement: Replacement) -> Result<(), Failure> {
        replacement.publish().map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        Failure::writing(&self.file.name, error)
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_too_long_is_told_so_and_a_lock_ends_with_its_holder() {
        let name = format!("cupel-session-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = SessionFile::new(&path);
        let held = file.lock().expect("nobody has it");
        let refused = file.lock_within(Duration::from_millis(30)).expect_err("somebody has it");
        let Failure::CannotRun(text) = refused else { panic!("{refused:?}") };
        assert!(text.contains("another process has been at this session for 0 seconds"), "{text}");
        drop(held);
        assert!(file.lock_within(Duration::ZERO).is_ok());
        fs::remove_file(beside(&file.path, ".lock")).expect("it was made");
    }
}
