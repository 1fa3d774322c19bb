//! Text compared by ASCII case folding, without allocating.

use std::hash::{Hash, Hasher};

/// A borrowed text whose equality and hash ignore ASCII case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caseless<'a>(pub(crate) &'a str);

impl PartialEq for Caseless<'_> {
    fn eq(&self, other: &Self) -> bool {
        // Most equal texts are spelled alike, and that is faster to see.
        self.0 == other.0 || self.0.eq_ignore_ascii_case(other.0)
    }
}

impl Eq for Caseless<'_> {}

impl Hash for Caseless<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let bytes = self.0.as_bytes();
        state.write_usize(bytes.len());
        let Some(last) = bytes.last_chunk() else {
            return state.write_u64(lowercase(short_word(bytes)));
        };
        // The last word, which may overlap the one before, and then all the others.
        state.write_u64(lowercase(u64::from_le_bytes(*last)));
        for chunk in bytes[..bytes.len() - 1].chunks_exact(8) {
            let word = chunk.try_into().map_or(0, u64::from_le_bytes);
            state.write_u64(lowercase(word));
        }
    }
}

/// Up to seven bytes in one word.
fn short_word(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ => bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// Eight bytes, each in lower case if it is an ASCII letter.
fn lowercase(word: u64) -> u64 {
    const EACH: u64 = u64::MAX / 0xff;
    let low = word & (0x7f * EACH);
    // The top bit of each byte tells whether its low bits reach this far.
    let reaches = |letter: u8| low + u64::from(0x80 - letter) * EACH;
    let is_upper = reaches(b'A') & !reaches(b'Z' + 1) & !word & (0x80 * EACH);
    word | is_upper >> 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    #[test]
    fn equal_texts_of_any_case_hash_alike_also_beyond_one_chunk() {
        let long = "Segment/".repeat(9);
        let set: HashSet<Caseless<'_>> = [Caseless(&long), Caseless("ab")].into();
        assert!(set.contains(&Caseless(&long.to_uppercase())));
        assert!(set.contains(&Caseless("AB")));
        assert!(!set.contains(&Caseless("abc")));
    }

    #[test]
    fn every_byte_of_a_word_is_folded_as_the_standard_library_does() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut bytes = [b'Q', 0xff, b'z', 0, b'@', b'[', 0x80, b'Z'];
                bytes[at] = byte;
                let expected = u64::from_le_bytes(bytes.map(|byte| byte.to_ascii_lowercase()));
                assert_eq!(lowercase(u64::from_le_bytes(bytes)), expected);
            }
        }
    }

    #[test]
    fn texts_of_every_length_differ_in_hash_where_one_letter_differs() {
        let state = foldhash::fast::RandomState::default();
        let hash = |text: &str| state.hash_one(Caseless(text));
        for len in 1..40 {
            let text = "aBcdEfgh".repeat(5)[..len].to_owned();
            assert_eq!(hash(&text), hash(&text.to_uppercase()));
            for at in 0..len {
                let mut other = text.clone();
                other.replace_range(at..=at, "x");
                assert_ne!(hash(&text), hash(&other), "{other}");
            }
        }
    }

    #[test]
    fn only_ascii_is_folded() {
        assert_ne!(Caseless("É"), Caseless("é"));
    }
}
