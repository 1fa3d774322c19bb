//! Reads a vocabulary.

use super::layout::BYTES;

/// A byte pair encoding: the order in which pairs of tokens become tokens.
///
/// In the file, first the bytes that the tokens below 256 stand for, then for each further token the
/// two that it is made of, each as three bytes, the lowest first.
pub(crate) struct Merges {
    /// Bytes of each token.
    pub(crate) spellings: Vec<Vec<u8>>,
    /// Left and right part of each token from 256 on.
    pub(crate) parts: Vec<(u32, u32)>,
}

impl Merges {
    /// What a file says; `None` if a token is made of one that comes later.
    pub(crate) fn read(file: &[u8]) -> Option<Self> {
        let (bytes, merges) = file.split_at_checked(BYTES as usize)?;
        let mut spellings: Vec<Vec<u8>> = bytes.iter().map(|&byte| vec![byte]).collect();
        let mut parts = Vec::new();
        for merge in merges.chunks_exact(6) {
            let (left, right) = (number(&merge[..3]), number(&merge[3..]));
            let spelling = [left, right].map(|part| spellings.get(part as usize));
            let [Some(first), Some(last)] = spelling else { return None };
            spellings.push([first.as_slice(), last].concat());
            parts.push((left, right));
        }
        Some(Self { spellings, parts })
    }

    /// The two parts of each token as one number.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.parts.iter().map(|&(left, right)| u64::from(left) << 32 | u64::from(right)).collect()
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}
