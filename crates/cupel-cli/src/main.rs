//! The command `cupel`.

use std::process::ExitCode;

/// Logs are millions of small requests, each of thousands of small pieces.
#[cfg(feature = "replay")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cupel_cli::run(std::env::args_os())
}
