#![doc = include_str!("../README.md")]

mod api;
mod app;
mod ask;
mod attempt;
mod body;
mod cap;
pub mod config;
mod encoding;
mod fit;
mod glob;
mod guard;
mod hash;
mod history;
mod learnt;
mod limit;
mod log;
mod metrics;
mod otel;
mod page;
mod passage;
mod path;
mod proxy;
mod record;
mod refuse;
mod serve;
mod setup;
mod store;
mod sure;
mod too_long;
mod unfit;
mod upstream;
mod work;

pub use config::{Config, ConfigError, Overrides, Source};
pub use serve::{Gateway, Handle, run};
