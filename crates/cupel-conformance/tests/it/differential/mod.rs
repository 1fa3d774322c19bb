//! The library against the oracle, and against the specification's promises, on random problems.
//!
//! Every problem belongs to a seed. A problem that fails is shrunk, and printed with its seed and
//! with what was expected beside what came out. Two environment variables steer the search:
//!
//! - `CUPEL_PROBLEMS`: how many problems the main comparison takes (20000 unless given); the other
//!   searches take a fixed part of that number.
//! - `CUPEL_SEED`: the first seed (0 unless given). To see one failure again, give its seed and
//!   `CUPEL_PROBLEMS=1`.

mod case;
mod compare;
mod properties;
mod runs;
mod sensitivity;
mod simulation;
mod sweep;
mod witness;
