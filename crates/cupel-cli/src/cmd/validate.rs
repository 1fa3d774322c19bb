//! `cupel validate`: would the provider accept this request?

use std::path::PathBuf;

use clap::Args;
use cupel_chat::{Format, Violation};
use serde::Serialize;

use crate::error::{Answer, Failure};
use crate::input::Input;
use crate::render::json;
use crate::render::number::counted;
use crate::{output, work};

const EXAMPLES: &str = "\
Examples:
  cupel validate request.json
  cupel validate --repair request.json > repaired.json";

/// Checks a request against the rules of its provider
///
/// Names each message, the rule that it breaks, and what to do. Exits with 1 if there is any.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The request; stdin if it is `-` or absent
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// The format of the request; detected if absent
    #[arg(long, value_name = "NAME")]
    format: Option<Format>,

    /// Print what is wrong as JSON
    #[arg(long, conflicts_with = "repair")]
    json: bool,

    /// Print the repaired request, and on stderr what was done
    #[arg(long)]
    repair: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let input = Input::read(arguments.file.as_deref())?;
    if arguments.repair {
        return repair(&input, arguments.format);
    }
    let request = work::parse(&input, arguments.format)?;
    let violations = request.validate();
    let text = if arguments.json {
        json::pretty(&Report::of(request.format(), &violations))?
    } else {
        words(&input.name(), request.format(), &violations)
    };
    output::print(&text)?;
    Ok(Answer::of(violations.is_empty()))
}

/// Prints the repaired request; what could not be repaired goes to stderr, and the answer is no.
fn repair(input: &Input, format: Option<Format>) -> Result<Answer, Failure> {
    let request = work::parse(input, format)?;
    let (text, repairs) = request.repair();
    for repair in &repairs {
        output::say(&format!("{}: {repair}", input.name()));
    }
    let repaired = Input { path: input.path.clone(), text };
    let left = work::parse(&repaired, Some(request.format()))?.validate();
    for violation in &left {
        output::say(&format!("{}: still wrong: {violation}", input.name()));
    }
    output::print(&repaired.text)?;
    Ok(Answer::of(left.is_empty()))
}

fn words(name: &str, format: Format, violations: &[Violation]) -> String {
    if violations.is_empty() {
        return format!("{name}: a valid {} request\n", format.name());
    }
    let count = counted(violations.len(), "problem");
    let total = format!("{name}: {count} in this {} request\n", format.name());
    let lines = violations.iter().map(|violation| format!("{name}: {violation}\n"));
    lines.chain([total]).collect()
}

#[derive(Serialize)]
struct Report<'a> {
    format: &'static str,
    is_valid: bool,
    violations: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    path: &'a str,
    rule: &'a str,
    text: &'a str,
    remedy: &'a str,
}

impl<'a> Report<'a> {
    fn of(format: Format, violations: &'a [Violation]) -> Self {
        let row = |violation: &'a Violation| Row {
            path: &violation.path,
            rule: violation.rule,
            text: &violation.text,
            remedy: &violation.remedy,
        };
        Self {
            format: format.name(),
            is_valid: violations.is_empty(),
            violations: violations.iter().map(row).collect(),
        }
    }
}
