//! The command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cupel_conformance::{Options, Program, Skip};

/// Text that `--help` prints.
pub(crate) const HELP: &str = "\
Runs conformance vectors and compares the answers with what the files expect.

usage: cupel-conformance [options] <folder or file>...

  --oracle               judge the naive oracle (default)
  --library              judge the library, in process
  --program \"CMD ARG..\"  judge a program that speaks the JSON protocol
  --timeout SECONDS      how long a program may think about one answer (default 10)
  --strict               unknown fields and broken rules of the suite are failures
  --filter TEXT          only vectors whose name contains the text (repeatable)
  --skip NAME=REASON     do not run this vector (repeatable)
  --skip-list FILE       the same from a file, one per line
  --no-skips             a vector that is not run, for whatever reason, is a failure
  --serve                speak the protocol on stdin and stdout instead
  --help                 this text

example: cupel-conformance --program \"python3 conformance/program.py\" conformance

exit code: 0 nothing failed, 1 something failed, 2 could not run
";

/// Action that the command line asks for.
#[derive(Debug)]
pub(crate) enum Action {
    Help,
    Run(Arguments),
}

/// Arguments of a run.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) judged: Judged,
    pub(crate) options: Options,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) serve: bool,
}

/// Implementation that is judged.
#[derive(Debug)]
pub(crate) enum Judged {
    Oracle,
    #[cfg(feature = "library")]
    Library,
    Program(Box<Program>),
}

/// Reads the arguments after the program's name.
pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Action, String> {
    let mut judged = Judged::Oracle;
    let mut program = None;
    let mut options = Options::default();
    let mut paths = Vec::new();
    let mut serve = false;
    let mut patience = Duration::from_secs(10);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--help" | "-h" => return Ok(Action::Help),
            "--oracle" => judged = Judged::Oracle,
            #[cfg(feature = "library")]
            "--library" => judged = Judged::Library,
            #[cfg(not(feature = "library"))]
            "--library" => return Err("--library needs the feature `library`".to_owned()),
            "--program" => program = Some(value()?),
            "--timeout" => {
                let text = value()?;
                let parsed = Program::parse_timeout(&text);
                patience = parsed.map_err(|rule| format!("--timeout `{text}` is {rule}"))?;
            }
            "--strict" => options.strict = true,
            "--filter" => options.filters.push(value()?),
            "--skip" => options.skips.push(skip(&value()?)?),
            "--skip-list" => options.skips.extend(skip_list(Path::new(&value()?))?),
            "--no-skips" => options.no_skips = true,
            "--serve" => serve = true,
            option if option.starts_with('-') => return Err(format!("unknown option {option}")),
            _ => paths.push(PathBuf::from(word)),
        }
    }
    if let Some(program) = program {
        judged = Judged::Program(Box::new(Program::parse(&program, patience)?));
    }
    if paths.is_empty() && !serve {
        return Err("no folder or file was named; see --help".to_owned());
    }
    Ok(Action::Run(Arguments { judged, options, paths, serve }))
}

fn skip(text: &str) -> Result<Skip, String> {
    let parts = text.split_once('=').map(|(name, reason)| (name.trim(), reason.trim()));
    match parts {
        Some((name, reason)) if !name.is_empty() && !reason.is_empty() => {
            Ok(Skip { name: name.to_owned(), reason: reason.to_owned() })
        }
        _ => Err(format!("`{text}` is not NAME=REASON")),
    }
}

fn skip_list(path: &Path) -> Result<Vec<Skip>, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(skip).collect()
}
