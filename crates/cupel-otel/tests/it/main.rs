//! One module per behaviour. Each test has a provider and an exporter of its own, but for the one in
//! `global`; `otlp` looks at what arrives at the other end of a connection.

mod errors;
mod event_limit;
mod forwarding;
mod global;
mod interest;
mod metrics;
mod otlp;
mod parent;
mod reuse;
mod secrets;
mod seen;
mod situation;
mod tiers;
mod timestamps;
