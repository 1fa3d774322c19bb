//! The output that a user's tests see: texts of failures, and snapshots.

mod messages;
mod snapshots;
