//! One check per target. Each takes any bytes, and panics if what it checks does not hold.

mod budget;
mod cost;
mod item;
mod pipeline_equals_oracle;
mod policy;
mod problem;
mod round_trip;
mod vector;

pub use budget::budget;
pub use item::item;
pub use pipeline_equals_oracle::pipeline_equals_oracle;
pub use policy::policy;
pub use vector::vector;
