#![doc = include_str!("../README.md")]

mod error;
pub mod hook;
mod originals;
mod remembered;
mod serve;
mod server;
mod source;
mod tool;

pub use error::ToolError;
pub use originals::Originals;
pub use serve::{ServeError, serve_http, serve_stdio};
pub use server::Settings;
pub use source::{Roots, RootsError};
