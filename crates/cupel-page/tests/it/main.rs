//! The view of a request against what the engine itself says, and the page around it.

mod page;
mod steps;
mod views;
