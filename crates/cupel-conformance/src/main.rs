//! Runs conformance vectors against the oracle, a program or the library.

mod arguments;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use arguments::{Action, Arguments, Judged};
use cupel_conformance::{Implementation, OracleImplementation, load, run, serve};

fn main() -> ExitCode {
    match arguments::parse(std::env::args().skip(1)) {
        Ok(Action::Help) => {
            print!("{}", arguments::HELP);
            ExitCode::SUCCESS
        }
        Ok(Action::Run(arguments)) => match act(arguments) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::from(1),
            Err(error) => could_not(&error),
        },
        Err(text) => could_not(&text),
    }
}

fn could_not(reason: &impl std::fmt::Display) -> ExitCode {
    eprintln!("cupel-conformance: {reason}");
    ExitCode::from(2)
}

/// Returns true if everything passed.
fn act(arguments: Arguments) -> Result<bool, Box<dyn Error>> {
    let mut implementation = implementation(arguments.judged);
    if arguments.serve {
        serve(&mut *implementation, io::stdin().lock(), io::stdout().lock())?;
        return Ok(true);
    }
    let files = load(&arguments.paths)?;
    let summary = run(&files, &mut *implementation, &arguments.options);
    write!(io::stdout().lock(), "{summary}")?;
    Ok(summary.is_success())
}

fn implementation(judged: Judged) -> Box<dyn Implementation> {
    match judged {
        Judged::Oracle => Box::new(OracleImplementation),
        Judged::Program(program) => program,
        #[cfg(feature = "library")]
        Judged::Library => Box::new(cupel_conformance::LibraryImplementation),
    }
}
