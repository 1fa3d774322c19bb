#![doc = include_str!("../README.md")]

mod excerpt;
mod nearest;
mod unknown;

pub use excerpt::{excerpt, letters};
pub use nearest::nearest_name;
pub use unknown::UnknownName;
