//! Tests through the public interface.

mod calibrated;
mod cutting;
mod estimates;
mod hard;
#[cfg(feature = "huggingface")]
mod huggingface;
mod known_counts;
mod names;
mod peer;
mod random;
mod threads;
mod vocabulary;
