//! The runner and the oracle; with the feature `library`, the library beside the oracle.

mod command_line;
#[cfg(feature = "library")]
mod differential;
mod judgement;
mod programs;
mod readme;
