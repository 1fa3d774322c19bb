//! The command as people use it: the real binary, its output, its exit codes.

mod bad_input;
mod commands;
mod generated;
mod help;
mod support;
mod terminal;
mod writing;
