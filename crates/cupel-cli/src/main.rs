//! The command `cupel`.

use std::process::ExitCode;

/// Requests by the million are many small pieces of memory: this takes a third of the time off that.
#[cfg(feature = "replay")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cupel_cli::run(std::env::args_os())
}
