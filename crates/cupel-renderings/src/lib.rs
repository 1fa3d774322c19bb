#![doc = include_str!("../README.md")]

mod head_and_tail;
mod json;
mod json_leaves;
mod minified_json;
mod reply;
mod shorten;
mod shortened;
mod stub;
mod thousands;
pub mod walk;

pub use head_and_tail::HeadAndTail;
pub use json::value_count;
pub use json_leaves::JsonLeaves;
pub use minified_json::MinifiedJson;
pub use reply::Reply;
pub use shorten::{Shorten, UnknownShorten};
pub use shortened::Shortened;
pub use stub::{Stub, handle};
