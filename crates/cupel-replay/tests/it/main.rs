//! Logs as people have them: real files, read and replayed.

mod bad_input;
mod conversations;
mod formats;
mod order;
mod recognition;
mod support;
