//! Checks of the repository as a whole, and of no crate alone: its pages and its packages.

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The examples of the recipes.
#[cfg(doctest)]
#[doc = include_str!("../../CONTRIBUTING.md")]
struct Contributing;
