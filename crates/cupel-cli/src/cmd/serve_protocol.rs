//! `cupel serve-protocol`: the library as a program that a conformance suite can judge.

use std::io;

use cupel_conformance::{LibraryImplementation, serve};

use crate::error::{Answer, Failure};

pub(crate) fn run() -> Result<Answer, Failure> {
    let served = serve(&mut LibraryImplementation, io::stdin().lock(), io::stdout().lock());
    served.map_err(|error| Failure::writing("protocol", &error))?;
    Ok(Answer::Yes)
}
