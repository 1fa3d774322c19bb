//! The engine as a binding uses it.

mod answers;
mod errors;
mod estimated;
mod examples;
mod fitted_tools;
mod keeps;
mod min_budget;
mod more_budget;
#[cfg(feature = "schema")]
mod schemas;
mod session;
mod session_costs;
mod shorten;
mod steps;
mod talk;
mod tools;
mod whole;
