//! Tools that judge an implementation of context selection without sharing any of its code.
//!
//! - [`vector`] reads the files of a conformance suite, and [`load`](mod@load) finds them.
//! - [`Implementation`] is what can be judged: [`OracleImplementation`], a [`Program`] in any
//!   language that speaks the [`protocol`], or, with the feature `library`, the library itself.
//! - [`run`](mod@run) asks the implementation and lets [`check`](mod@check) compare its answers
//!   with what the files expect.
//! - [`oracle`] follows the specification's pseudocode word for word, on the protocol's types: slow,
//!   plain, and therefore easy to check by reading.
//! - [`random`] makes small, troublesome problems from a seed and shrinks the ones that fail.
//!
//! ```
//! use cupel_conformance::{Options, OracleImplementation, load, run};
//! use std::path::Path;
//!
//! let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/required/placing");
//! let files = load(&[folder])?;
//! let summary = run(&files, &mut OracleImplementation, &Options::default());
//! assert!(summary.is_success(), "{summary}");
//! # Ok::<(), cupel_conformance::LoadError>(())
//! ```

pub mod check;
pub mod implementation;
#[cfg(feature = "library")]
pub mod library;
pub mod load;
pub mod oracle;
pub mod oracle_implementation;
pub mod program;
pub mod protocol;
pub mod random;
pub mod run;
pub mod vector;

pub use check::{Mismatch, check};
pub use implementation::{Implementation, Refusal, ask};
#[cfg(feature = "library")]
pub use library::LibraryImplementation;
pub use load::{Level, LoadError, VectorFile, load};
pub use oracle_implementation::OracleImplementation;
pub use program::Program;
pub use protocol::serve;
pub use run::{Options, Skip, Summary, Verdict, run, run_one};
pub use vector::{Vector, VectorError};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
