//! Cupel for Node: a thin layer on `cupel-engine`, which `lib/native.cjs` loads.
//!
//! Requests, options and answers cross as JSON text. A call runs where it was made, or on a thread of Node's
//! pool (`work.rs`). Names, types and documentation of the package are in `lib`.

mod engine;
mod errors;
mod session;
mod work;

use napi_derive::napi;

/// The version of the crates.
#[napi]
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The handle of a text, which names it for good.
#[napi]
pub fn handle(text: String) -> String {
    cupel_engine::handle(&text)
}
