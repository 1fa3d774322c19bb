//! The commands: one verb a file, with its arguments and its `run`.

pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod conformance;
pub(crate) mod count;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod man;
pub(crate) mod models;
pub(crate) mod policy;
pub(crate) mod select;
pub(crate) mod serve_protocol;
pub(crate) mod simulate;
pub(crate) mod validate;
