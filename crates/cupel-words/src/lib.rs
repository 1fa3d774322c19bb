#![doc = include_str!("../README.md")]

use std::fmt;
use std::sync::OnceLock;

/// The number of components of a [`Vector`].
pub const COMPONENTS: usize = 256;

/// The length of every vector, but for the rounding of its components.
pub const LENGTH: i32 = 254;

/// The vector of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Vector(&'static [u8; COMPONENTS]);

impl Vector {
    /// The components, from the one that varies most among words to the one that varies least.
    pub fn components(self) -> impl ExactSizeIterator<Item = i8> {
        self.0.iter().map(|byte| i8::from_ne_bytes([*byte]))
    }

    /// The sum of the products of the components; the square of [`LENGTH`] for two words that mean the same.
    #[must_use]
    pub fn dot(self, other: Self) -> i32 {
        self.components().zip(other.components()).map(|(a, b)| i32::from(a) * i32::from(b)).sum()
    }

    /// The same for a vector of other numbers, such as a sum or a mean of vectors.
    ///
    /// Any numbers will do: 256 products of a byte and 16 bits fit into the sum.
    #[must_use]
    pub fn dot_wide(self, other: &[i16; COMPONENTS]) -> i32 {
        self.components().zip(other).map(|(a, b)| i32::from(a) * i32::from(*b)).sum()
    }
}

impl fmt::Debug for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.components()).finish()
    }
}

/// One a line, in the order of their bytes.
const STEMS: &str = include_str!("english.stems");

/// A row for each stem.
const VECTORS: &[u8] = include_bytes!("english.vectors");

/// Returns the vector of an English word by its stem, in lower case; `None` for a word that the table does not have.
///
/// **Cost:** a binary search; the first call also reads the list of stems once, in some 50 µs.
#[must_use]
pub fn english(stem: &str) -> Option<Vector> {
    static TABLE: OnceLock<Vec<&'static str>> = OnceLock::new();
    let stems = TABLE.get_or_init(|| STEMS.lines().collect());
    let row = stems.binary_search(&stem).ok()?;
    let (_, rows) = VECTORS.split_at_checked(row * COMPONENTS)?;
    rows.first_chunk().map(Vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_sorted_and_each_has_a_row() {
        let stems: Vec<&str> = STEMS.lines().collect();
        assert!(stems.is_sorted_by(|a, b| a < b));
        assert_eq!((stems.len(), VECTORS.len()), (14_120, 14_120 * COMPONENTS));
        assert!(stems.iter().all(|stem| english(stem).is_some()));
    }

    #[test]
    fn every_row_has_the_same_length() {
        for stem in STEMS.lines() {
            let square = english(stem).unwrap().dot(english(stem).unwrap());
            assert!((f64::from(square).sqrt() - f64::from(LENGTH)).abs() < 9.0, "{stem}: {square}");
        }
    }

    #[test]
    fn words_that_are_not_there_have_no_vector() {
        for word in ["", "zzyzx", "Walk", "walking", "\n", "walk\n", "é"] {
            assert!(english(word).is_none(), "{word}");
        }
    }

    #[test]
    fn alike_words_are_nearer_than_others() {
        let dot = |a: &str, b: &str| english(a).unwrap().dot(english(b).unwrap());
        for (word, like, other) in
            [("hike", "walk", "tax"), ("doctor", "physician", "tax"), ("kid", "child", "tax")]
        {
            assert!(dot(word, like) > dot(word, other) + 10_000, "{word}, {like}, {other}");
        }
    }

    #[test]
    fn the_sample_has_these_bits() {
        let first = |stem: &str| english(stem).unwrap().components().take(4).collect::<Vec<_>>();
        assert_eq!([first("walk"), first("hike")], [[32, -7, 43, 9], [-1, 40, 65, 17]]);
        assert_eq!(english("walk").unwrap().dot(english("hike").unwrap()), 37322);
    }

    #[test]
    fn sums_of_the_largest_numbers_do_not_overflow() {
        let largest = [i16::MIN; COMPONENTS];
        let walk = english("walk").unwrap();
        let expected: i32 = walk.components().map(|part| i32::from(part) * -32_768).sum();
        assert_eq!(walk.dot_wide(&largest), expected);
    }
}
