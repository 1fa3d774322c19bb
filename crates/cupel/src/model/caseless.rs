//! Text compared by ASCII case folding, without allocating.

use std::hash::{Hash, Hasher};

/// A borrowed text whose equality and hash ignore ASCII case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caseless<'a>(pub(crate) &'a str);

impl PartialEq for Caseless<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(other.0)
    }
}

impl Eq for Caseless<'_> {}

impl Hash for Caseless<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Folding into a small buffer lets the hasher take whole words.
        let mut buffer = [0_u8; 32];
        for chunk in self.0.as_bytes().chunks(buffer.len()) {
            let folded = &mut buffer[..chunk.len()];
            folded.copy_from_slice(chunk);
            folded.make_ascii_lowercase();
            state.write(folded);
        }
        state.write_u8(0xff);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn equal_texts_of_any_case_hash_alike_also_beyond_one_chunk() {
        let long = "Segment/".repeat(9);
        let set: HashSet<Caseless<'_>> = [Caseless(&long), Caseless("ab")].into();
        assert!(set.contains(&Caseless(&long.to_uppercase())));
        assert!(set.contains(&Caseless("AB")));
        assert!(!set.contains(&Caseless("abc")));
    }

    #[test]
    fn only_ascii_is_folded() {
        assert_ne!(Caseless("É"), Caseless("é"));
    }
}
