//! The published crate, release 1.2.0, driven by the very same calls.

pub use cupel_published as lib;

#[path = "engine.rs"]
mod engine;
pub use engine::*;
