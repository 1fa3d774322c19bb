//! Vocabularies in the program: tables that the build made.

#[cfg(feature = "compact")]
use std::sync::LazyLock;

#[cfg(feature = "compact")]
use super::pairs;
use super::vocabulary::Vocabulary;
#[cfg(feature = "compact")]
use super::vocabulary::parts_in;
use crate::Encoding;

/// The tables that the build made of `data/{name}.merges`.
macro_rules! vocabulary {
    ($name:literal) => {
        Vocabulary {
            steps: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".steps")),
            tokens: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".tokens")),
            parts: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".parts")),
            #[cfg(not(feature = "compact"))]
            pairs: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".pairs")),
            #[cfg(not(feature = "compact"))]
            filter: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".filter")),
            #[cfg(feature = "compact")]
            pairs: LazyLock::new(|| {
                let parts =
                    parts_in(include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".parts")));
                pairs::table(&parts).into_iter().flat_map(u64::to_le_bytes).collect()
            }),
            #[cfg(feature = "compact")]
            filter: LazyLock::new(|| {
                pairs::filter(&parts_in(include_bytes!(concat!(
                    env!("OUT_DIR"),
                    "/",
                    $name,
                    ".parts"
                ))))
            }),
        }
    };
}

static O200K_BASE: Vocabulary = vocabulary!("o200k_base");
static CL100K_BASE: Vocabulary = vocabulary!("cl100k_base");

/// The tables of an encoding.
#[expect(clippy::unnecessary_wraps, reason = "a program without vocabularies may have none")]
pub(super) fn vocabulary_of(encoding: Encoding) -> Option<&'static Vocabulary> {
    Some(match encoding {
        Encoding::O200kBase => &O200K_BASE,
        Encoding::Cl100kBase => &CL100K_BASE,
    })
}
