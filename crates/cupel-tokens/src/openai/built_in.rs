//! Vocabularies in the program: tables that the build made, or the order of merges that they are made of.

#[cfg(feature = "compact")]
use std::sync::LazyLock;

#[cfg(feature = "compact")]
use super::supplied;
use super::vocabulary::Vocabulary;
use crate::Encoding;

/// The tables that the build made of `data/{name}.merges`.
#[cfg(not(feature = "compact"))]
macro_rules! vocabulary {
    ($name:literal) => {
        Some(Vocabulary {
            steps: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".steps")),
            tokens: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".tokens")),
            parts: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".parts")),
            pairs: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".pairs")),
            filter: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".filter")),
        })
    };
}

/// The tables, made of `data/{name}.merges` at the first count.
#[cfg(feature = "compact")]
macro_rules! vocabulary {
    ($name:literal) => {
        LazyLock::new(|| supplied::made(include_bytes!(concat!("../../data/", $name, ".merges"))))
    };
}

#[cfg(not(feature = "compact"))]
type Tables = Option<Vocabulary>;
#[cfg(feature = "compact")]
type Tables = LazyLock<Option<Vocabulary>>;

static O200K_BASE: Tables = vocabulary!("o200k_base");
static CL100K_BASE: Tables = vocabulary!("cl100k_base");

/// The tables of an encoding.
pub(super) fn vocabulary_of(encoding: Encoding) -> Option<&'static Vocabulary> {
    match encoding {
        Encoding::O200kBase => O200K_BASE.as_ref(),
        Encoding::Cl100kBase => CL100K_BASE.as_ref(),
    }
}
