#![doc = include_str!("../README.md")]

mod collector;
mod metrics;
pub mod names;
mod reason;
mod run;
mod spans;
mod verbosity;

use opentelemetry::InstrumentationScope;

pub use collector::CupelOtelTraceCollector;
pub use metrics::CupelMetrics;
pub use reason::exclusion_reason_name;
pub use verbosity::CupelVerbosity;

/// The name of the source: of the instrumentation scope that spans and metrics belong to.
pub const SOURCE_NAME: &str = "cupel";

/// The scope of the global tracer and meter.
fn scope() -> InstrumentationScope {
    InstrumentationScope::builder(SOURCE_NAME).with_version(env!("CARGO_PKG_VERSION")).build()
}
