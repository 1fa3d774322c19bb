//! Reads a vocabulary.

use crate::layout::BYTES;

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
    pub(crate) fn read(file: &[u8]) -> Self {
        let (bytes, merges) = file.split_at(BYTES as usize);
        let mut spellings: Vec<Vec<u8>> = bytes.iter().map(|&byte| vec![byte]).collect();
        let mut parts = Vec::new();
        for merge in merges.chunks_exact(6) {
            let (left, right) = (number(&merge[..3]), number(&merge[3..]));
            spellings.push([&*spellings[left as usize], &*spellings[right as usize]].concat());
            parts.push((left, right));
        }
        Self { spellings, parts }
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}
