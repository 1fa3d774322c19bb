//! The program that the library keeps to prove that old programs still run: the published crate
//! must accept it as well, or it would prove nothing.

extern crate cupel_published as cupel;

#[path = "../../crates/cupel/tests/it/published_program.rs"]
mod program;
