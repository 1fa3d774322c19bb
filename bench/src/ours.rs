//! The library of this repository.

pub use cupel as lib;

#[path = "engine.rs"]
mod engine;
pub use engine::*;
