#![doc = include_str!("../README.md")]

mod nearest;
mod unknown;

pub use nearest::nearest_name;
pub use unknown::UnknownName;
