//! Cupel as WebAssembly: texts in, JSON out, by five functions that `lib/wasm.cjs` calls.
//!
//! There is one buffer for what comes in and what goes out. JavaScript asks for room with `input`, writes there, calls, and reads
//! `length` bytes from `output`. Nothing is imported: no clock, no chance, no file.

mod data;
mod engines;
pub mod exports;
mod view;
