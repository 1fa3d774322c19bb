//! Facts that the specification and our reading of it state about whole runs.

mod pipeline;
mod simulation;
