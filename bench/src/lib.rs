//! Times cupel beside a floor that nobody can go below, the published crate of
//! the same name, and a peer; see the README for what is measured and how.

#![forbid(unsafe_code)]

pub mod contest;
pub mod data;
pub mod floor;
pub mod frequency;
pub mod measure;
pub mod memory;
pub mod options;
pub mod ours;
pub mod package;
pub mod published;
pub mod relevance;
pub mod report;
pub mod rig;
pub mod telemetry;
pub mod workload;
