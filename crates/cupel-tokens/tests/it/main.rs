//! Tests through the public interface.

mod cutting;
mod estimates;
#[cfg(feature = "huggingface")]
mod huggingface;
mod known_counts;
mod peer;
mod random;
mod threads;
