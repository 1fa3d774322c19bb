#![doc = include_str!("../README.md")]

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// The stems, in the order of their bytes, and a row for each.
struct Table {
    stems: Vec<&'static str>,
    rows: &'static [u8],
}

static TABLE: OnceLock<Table> = OnceLock::new();

/// Whether a word was asked for before the table was there.
static IS_MISSED: AtomicBool = AtomicBool::new(false);

#[cfg(feature = "english")]
#[expect(clippy::unnecessary_wraps, reason = "a program without the table has none at first")]
fn table() -> Option<&'static Table> {
    static STEMS: &str = include_str!("english.stems");
    static VECTORS: &[u8] = include_bytes!("english.vectors");
    Some(TABLE.get_or_init(|| Table { stems: STEMS.lines().collect(), rows: VECTORS }))
}

#[cfg(not(feature = "english"))]
fn table() -> Option<&'static Table> {
    let table = TABLE.get();
    if table.is_none() {
        IS_MISSED.store(true, Ordering::Relaxed);
    }
    table
}

/// Returns the vector of an English word by its stem, in lower case; `None` for a word that the table does not have.
///
/// **Cost:** a binary search; the first call also reads the list of stems once, in some 50 µs.
#[must_use]
pub fn english(stem: &str) -> Option<Vector> {
    let table = table()?;
    let row = table.stems.binary_search(&stem).ok()?;
    let (_, rows) = table.rows.split_at_checked(row * COMPONENTS)?;
    rows.first_chunk().map(Vector)
}

/// Returns whether a word was asked for while there was no table: in a program without the feature `english`, before
/// [`supply_english`].
#[must_use]
pub fn is_english_missed() -> bool {
    IS_MISSED.load(Ordering::Relaxed) && TABLE.get().is_none()
}

/// Hands in the table, in a program without the feature `english`: the files `english.stems` and `english.vectors` of this crate
/// with a zero byte between them. It stays for as long as the program runs; a second one changes nothing.
///
/// # Errors
///
/// If these are other bytes.
pub fn supply_english(table: Vec<u8>) -> Result<(), OtherTable> {
    if sum(&table) != SUM {
        return Err(OtherTable);
    }
    let table: &'static [u8] = table.leak();
    let end = table.iter().position(|byte| *byte == 0).ok_or(OtherTable)?;
    let stems = std::str::from_utf8(&table[..end]).map_err(|_| OtherTable)?;
    let _ = TABLE.set(Table { stems: stems.lines().collect(), rows: &table[end + 1..] });
    Ok(())
}

/// Bytes that are not the table of this version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherTable;

impl fmt::Display for OtherTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("these bytes are not the table of English words of this version")
    }
}

impl std::error::Error for OtherTable {}

/// The [`sum`] of the table.
const SUM: u64 = 0x2826_2091_13ff_fc80;

/// A number that tells bytes from others.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEMS: &str = include_str!("english.stems");
    const VECTORS: &[u8] = include_bytes!("english.vectors");

    #[test]
    fn the_table_is_taken_as_bytes_and_no_others_are() {
        let mut table = [STEMS.as_bytes(), &[0], VECTORS].concat();
        assert_eq!(supply_english(table.clone()), Ok(()));
        assert_eq!(supply_english(table.clone()), Ok(()), "a second time too");
        table[STEMS.len() + 7] ^= 1;
        assert_eq!(supply_english(table), Err(OtherTable));
        assert_eq!(supply_english(Vec::new()), Err(OtherTable));
        assert!(!is_english_missed());
    }

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
