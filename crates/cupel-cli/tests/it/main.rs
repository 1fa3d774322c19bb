//! The command as people use it: the real binary, its output, its exit codes.

mod bad_input;
mod batch;
mod commands;
mod eval;
mod eval_agents;
mod generated;
mod help;
mod hostile;
mod import;
mod query;
mod readme;
#[cfg(feature = "replay")]
mod replay;
mod rules;
mod schemas;
#[cfg(unix)]
mod session;
mod settings;
mod shorten;
mod support;
mod terminal;
mod told;
mod tools;
mod view;
#[cfg(all(feature = "gateway", unix))]
mod wrap;
#[cfg(unix)]
mod writing;
