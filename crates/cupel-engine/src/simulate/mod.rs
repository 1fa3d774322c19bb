//! Windows at other budgets.

mod curve;
mod marginal;
mod min_budget;
mod windows;

pub use curve::{Curve, CurvePoint, CurveRange};
pub use marginal::Marginal;
pub use min_budget::MinBudget;
pub use windows::{ShortenedPosition, Window, Windows};
