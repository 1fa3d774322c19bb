//! Tests through the public interface, one module for each chapter of the specification.

mod auto_traits;
mod bad_input;
mod diagnostics;
mod example_of_the_specification;
#[cfg(feature = "serde")]
mod foreign_strategies;
mod needs;
mod pipeline;
#[cfg(feature = "serde")]
mod policies;
mod positions;
mod published_program;
#[cfg(feature = "serde")]
mod regressions;
mod renderings;
#[cfg(feature = "schema")]
mod schema;
mod sensitivity;
mod simulation;
#[cfg(feature = "stream")]
mod stream;
mod support;
#[cfg(feature = "serde")]
mod wire;
