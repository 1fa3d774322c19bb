//! Vocabularies that are handed in while the program runs.

use std::fmt;
#[cfg(not(feature = "vocabularies"))]
use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering},
};

use super::layout;
#[cfg(any(feature = "compact", not(feature = "vocabularies")))]
use super::{merges::Merges, pairs, steps, vocabulary::Vocabulary};
use crate::Encoding;

/// The place of an encoding whose tables are made while the program runs.
#[cfg(not(feature = "vocabularies"))]
struct Place {
    tables: OnceLock<Vocabulary>,
    /// Whether somebody counted before they were there.
    is_missed: AtomicBool,
}

#[cfg(not(feature = "vocabularies"))]
impl Place {
    const fn new() -> Self {
        Self { tables: OnceLock::new(), is_missed: AtomicBool::new(false) }
    }
}

#[cfg(not(feature = "vocabularies"))]
fn place(encoding: Encoding) -> &'static Place {
    static O200K_BASE: Place = Place::new();
    static CL100K_BASE: Place = Place::new();
    match encoding {
        Encoding::O200kBase => &O200K_BASE,
        Encoding::Cl100kBase => &CL100K_BASE,
    }
}

/// The tables of an encoding, if they have been supplied.
#[cfg(not(feature = "vocabularies"))]
pub(super) fn vocabulary_of(encoding: Encoding) -> Option<&'static Vocabulary> {
    let place = place(encoding);
    let tables = place.tables.get();
    if tables.is_none() {
        place.is_missed.store(true, Ordering::Relaxed);
    }
    tables
}

/// Whether somebody counted with this encoding before its vocabulary was there, so that the counts are
/// estimates: never in a program with the feature `vocabularies`.
pub fn is_vocabulary_missed(encoding: Encoding) -> bool {
    #[cfg(feature = "vocabularies")]
    let is_missed = |_| false;
    #[cfg(not(feature = "vocabularies"))]
    let is_missed = |encoding| {
        let place = place(encoding);
        place.is_missed.load(Ordering::Relaxed) && place.tables.get().is_none()
    };
    is_missed(encoding)
}

/// Hands in a vocabulary, in a program without the feature `vocabularies`: the file
/// `data/{name}.merges` of this crate. From here on counts with this encoding are exact. It stays for as
/// long as the program runs; a second one changes nothing.
///
/// # Errors
///
/// If these are other bytes.
pub fn supply_vocabulary(encoding: Encoding, file: &[u8]) -> Result<(), OtherVocabulary> {
    let expected = u64::from_le_bytes(*match encoding {
        Encoding::O200kBase => include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base.sum")),
        Encoding::Cl100kBase => include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base.sum")),
    });
    if layout::sum(file) != expected {
        return Err(OtherVocabulary { encoding });
    }
    #[cfg(not(feature = "vocabularies"))]
    {
        let merges = Merges::read(file).ok_or(OtherVocabulary { encoding })?;
        place(encoding).tables.get_or_init(|| tables(&merges));
    }
    Ok(())
}

/// The tables of a vocabulary by its file; `None` if a token in it is made of later ones.
#[cfg(feature = "compact")]
pub(super) fn made(file: &[u8]) -> Option<Vocabulary> {
    Merges::read(file).map(|merges| tables(&merges))
}

#[cfg(any(feature = "compact", not(feature = "vocabularies")))]
fn tables(merges: &Merges) -> Vocabulary {
    let (steps, tokens) = steps::tables(merges);
    let bytes = |numbers: Vec<u64>| -> &'static [u8] {
        numbers.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>().leak()
    };
    Vocabulary {
        steps: bytes(steps),
        tokens: tokens.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>().leak(),
        parts: bytes(merges.numbers()),
        pairs: bytes(pairs::table(&merges.parts)),
        filter: pairs::filter(&merges.parts).leak(),
    }
}

/// Bytes that are not the vocabulary that they were said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherVocabulary {
    /// The encoding whose vocabulary was expected.
    pub encoding: Encoding,
}

impl fmt::Display for OtherVocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "these bytes are not the vocabulary of {} of this version", self.encoding)
    }
}

impl std::error::Error for OtherVocabulary {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_an_encoding_is_taken_and_no_other_is() {
        let file = |name: &str| {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
            std::fs::read(folder.join(name).with_extension("merges")).unwrap()
        };
        let mut vocabulary = file("cl100k_base");
        let refused = Err(OtherVocabulary { encoding: Encoding::O200kBase });
        assert_eq!(supply_vocabulary(Encoding::O200kBase, &vocabulary), refused);
        assert_eq!(supply_vocabulary(Encoding::Cl100kBase, &vocabulary), Ok(()));
        vocabulary[1_000] ^= 1;
        assert!(supply_vocabulary(Encoding::Cl100kBase, &vocabulary).is_err());
        assert!(supply_vocabulary(Encoding::Cl100kBase, &[]).is_err());
        assert!(!is_vocabulary_missed(Encoding::Cl100kBase));
    }
}
