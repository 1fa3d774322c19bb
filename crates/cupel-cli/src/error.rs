//! Exit codes and errors of commands.

use std::fmt;
use std::io;

use cupel_engine::{EngineError, ErrorCode};

use crate::render::number::grouped;

/// Remedy for a session that cannot be continued.
pub(crate) const BEGIN_ANEW: &str = "remove the file, or begin anew with --restart-unreadable";

/// Result of a command that could run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Done.
    Yes,
    /// It was asked something, and the answer is no.
    No,
    /// A program that it ran ended with this code.
    #[cfg(feature = "gateway")]
    Code(u8),
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

    /// Failure by an error of the engine, for the caller that gave this input.
    pub(crate) fn of(input: &str, error: &EngineError) -> Self {
        let place = error.location().map(|(line, column)| format!(":{line}:{column}"));
        let place = place.unwrap_or_default();
        Self::saying(error, &format!("{input}{place}: {}", words(error)))
    }

    /// Failure by an error of the engine, for the caller that set its flags.
    pub(crate) fn of_settings(error: &EngineError) -> Self {
        Self::saying(error, &words(error))
    }

    fn saying(error: &EngineError, line: &str) -> Self {
        let violations = error.violations().iter().map(|violation| format!("\n  {violation}"));
        let parts = error.parts().iter().map(|part| {
            let reason = part.pinned.as_deref().map(|reason| format!(" ({reason})"));
            let (tokens, label) = (grouped(part.tokens), part.label());
            format!("\n  {tokens:>10}  {label}{}", reason.unwrap_or_default())
        });
        let text = violations.chain(parts).fold(line.to_owned(), |text, line| text + &line);
        if error.is_refusal() { Self::Refused(text) } else { Self::CannotRun(text) }
    }

    /// Failure of a write to `place`.
    pub(crate) fn writing(place: impl fmt::Display, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::CannotRun(format!("{place}: cannot write: {}", cause(error)))
    }
}

/// Path, rule and remedy, in the words of the command: flags, not fields.
fn words(error: &EngineError) -> String {
    let path = error.path().map(|path| format!("{path}: ")).unwrap_or_default();
    let remedy = remedy(error).map(|remedy| format!("; {remedy}")).unwrap_or_default();
    format!("{path}{}{remedy}", rule(error))
}

fn rule(error: &EngineError) -> String {
    const FLAGS: [(&str, &str); 4] = [
        ("max_tokens", "--max"),
        ("target_tokens", "--target"),
        ("output_reserve", "--reserve"),
        ("estimation_safety_margin_percent", "--margin"),
    ];
    let rule = error.rule().to_owned();
    match error.code() {
        ErrorCode::InvalidBudget => {
            FLAGS.iter().fold(rule, |rule, (field, flag)| rule.replace(field, flag))
        }
        ErrorCode::DoesNotFit => format!("does not fit: {rule}"),
        ErrorCode::UnknownModel => format!("--model: {rule}"),
        _ => rule,
    }
}

fn remedy(error: &EngineError) -> Option<String> {
    let remedy = error.remedy().map(ToOwned::to_owned);
    match error.code() {
        ErrorCode::DoesNotFit => Some("raise --max, lower --reserve or pin less".to_owned()),
        ErrorCode::NoBudget => {
            Some("give --max TOKENS or --model NAME (see `cupel models`)".to_owned())
        }
        ErrorCode::InvalidState => Some(BEGIN_ANEW.to_owned()),
        ErrorCode::InvalidRequest => remedy.map(|remedy| match remedy.as_str() {
            "repair it" => "try --repair".to_owned(),
            "repair it, and drop what cannot be kept" => {
                "see what would be lost with `cupel validate --repair=show`, then try --repair=drop"
                    .to_owned()
            }
            _ => remedy,
        }),
        ErrorCode::UnknownModel => {
            let near = remedy.map(|near| format!("{near} ")).unwrap_or_default();
            Some(format!("{near}see `cupel models`"))
        }
        _ => remedy,
    }
}

/// Message of the system, in the manner of our own messages.
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
pub(crate) fn finish(result: Result<Answer, Failure>) -> u8 {
    match result {
        Ok(Answer::Yes) | Err(Failure::ClosedPipe) => 0,
        Ok(Answer::No) => 1,
        #[cfg(feature = "gateway")]
        Ok(Answer::Code(code)) => code,
        Err(Failure::Refused(text)) => complain(&text, 1),
        Err(Failure::CannotRun(text)) => complain(&text, 2),
    }
}

fn complain(text: &str, code: u8) -> u8 {
    crate::output::say(&format!("cupel: {text}"));
    code
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
