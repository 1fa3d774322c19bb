//! `cupel serve-protocol`: the library as a program that a conformance suite can judge.

use std::io;

use cupel_conformance::{LibraryImplementation, serve};

use crate::error::{Answer, Failure, cause};

pub(crate) fn run() -> Result<Answer, Failure> {
    let served = serve(&mut LibraryImplementation, io::stdin().lock(), io::stdout().lock());
    match served {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::cannot(format!("serve-protocol: {}", cause(&error))))
        }
        _ => Ok(Answer::Yes),
    }
}
