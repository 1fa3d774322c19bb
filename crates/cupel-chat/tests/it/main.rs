//! Invariants of every request, every budget and every policy, checked by code that shares nothing
//! with the crate.

mod attached;
mod broken;
mod checker;
mod corpus;
mod counted;
mod every_budget;
mod free;
mod generate;
mod mutated;
mod pipelines;
mod random;
mod round_trip;
mod shortened;
mod sound;
mod trial;
