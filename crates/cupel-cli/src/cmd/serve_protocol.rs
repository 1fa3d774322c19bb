//! `cupel serve-protocol`: the library as a program that a conformance suite can judge.

use std::io;

use clap::Args;
use cupel_conformance::{LibraryImplementation, serve};

use super::Context;
use crate::error::{Answer, Failure, cause};

/// Answers the requests of a conformance suite
///
/// Reads one JSON request per line from stdin and writes one JSON answer per line to stdout, until
/// the input ends.
#[derive(Debug, Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments, _: &Context) -> Result<Answer, Failure> {
    let served = serve(&mut LibraryImplementation, io::stdin().lock(), io::stdout().lock());
    match served {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::cannot(format!("serve-protocol: {}", cause(&error))))
        }
        _ => Ok(Answer::Yes),
    }
}
