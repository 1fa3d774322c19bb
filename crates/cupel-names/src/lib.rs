#![doc = include_str!("../README.md")]

mod excerpt;
mod nearest;
mod readable;
mod unknown;

pub use excerpt::{excerpt, letters};
pub use nearest::nearest_name;
pub use readable::{is_hidden, readable, readable_json};
pub use unknown::UnknownName;
