//! How a command ends.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// What a command that could run found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Done.
    Yes,
    /// It was asked something, and the answer is no.
    No,
}

impl Answer {
    /// `Yes` if the condition holds.
    pub(crate) fn of(is_yes: bool) -> Self {
        if is_yes { Self::Yes } else { Self::No }
    }
}

/// Why a command has no result to show.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The answer is no: it does not fit, or it is invalid.
    Refused(String),
    /// The command could not run.
    CannotRun(String),
    /// Whoever reads the output has seen enough.
    ClosedPipe,
}

impl Failure {
    /// The command could not run, for this reason.
    pub(crate) fn cannot(reason: impl fmt::Display) -> Self {
        Self::CannotRun(reason.to_string())
    }

    /// What a failed write to `place` means.
    pub(crate) fn writing(place: impl fmt::Display, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::CannotRun(format!("{place}: cannot write: {}", cause(error)))
    }
}

/// What the system says, in the manner of our own messages.
pub(crate) fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => "unknown reason".to_owned(),
    }
}

/// Tells the user on stderr what went wrong, and the shell by the exit code.
pub(crate) fn finish(result: Result<Answer, Failure>) -> ExitCode {
    match result {
        Ok(Answer::Yes) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(Failure::Refused(text)) => complain(&text, 1),
        Err(Failure::CannotRun(text)) => complain(&text, 2),
    }
}

fn complain(text: &str, code: u8) -> ExitCode {
    crate::output::say(&format!("cupel: {text}"));
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_not_an_error() {
        let closed = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(Failure::writing("stdout", &closed), Failure::ClosedPipe);
    }

    #[test]
    fn the_systems_words_begin_small_and_carry_no_number() {
        assert_eq!(cause(&io::Error::from_raw_os_error(28)), "no space left on device");
    }
}
