//! Promises of the specification about every run, one promise per test.

mod deduplication;
mod determinism;
mod minimum_budget;
mod placing;
mod reporting;
mod scoring;
mod selection;
mod wire;
