//! Layout of the tables of a vocabulary, which the build writes and a count reads.
//!
//! Each table is an array of numbers, in little-endian order.
//!
//! - **steps**, 64 bits each: the trie of all tokens. From the root a byte leads to a node, from there
//!   the next byte to another; nodes are numbers, and what byte `b` leads to from node `n` is entry
//!   `n ^ b`, if that is for this byte. No two nodes have the same number, so that the byte alone
//!   tells. An entry has the node that it leads to, the byte, and the token that ends there.
//! - **tokens**, 32 bits each: the longest other token that a token begins with (itself if there is
//!   none), and how many bytes it has.
//! - **parts**, 64 bits each: the left and the right token that a token from [`BYTES`] on is made of.
//! - **pairs**, 64 bits each: a hash table of tokens by their parts, with linear probing. An entry has
//!   left, right and the token that they make; [`slot`] says where to begin.
//! - **filter**, one bit each, the lowest of a byte first: set for every pair at its [`bit`]. Most
//!   tokens that touch make none, and this is small enough to stay near the processor.

/// Tokens below this one are single bytes.
pub(crate) const BYTES: u32 = 256;

/// The node that every token begins at.
pub(crate) const ROOT: u32 = 0;
/// The node that nothing follows.
pub(crate) const LEAF: u32 = 1;

/// Steps: where the byte is,
pub(crate) const STEP_BYTE: u32 = 32;
/// the bit that tells a step from an entry that is none,
pub(crate) const STEP_TAKEN: u64 = 1 << 40;
/// and where the node is. The token comes first.
pub(crate) const STEP_NODE: u32 = 41;
/// Steps: no token ends here.
pub(crate) const NO_TOKEN: u32 = u32::MAX;

/// Tokens: where the prefix is. The length comes first.
pub(crate) const TOKEN_PREFIX: u32 = 8;

/// Pairs: where the left part is,
pub(crate) const PAIR_LEFT: u32 = 42;
/// and the right one. The token comes first.
pub(crate) const PAIR_RIGHT: u32 = 21;
/// Pairs: no token.
pub(crate) const NO_PAIR: u64 = u64::MAX;

/// A number that spreads pairs of tokens.
fn mixed(left: u32, right: u32) -> u64 {
    let mixed = (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Where to look first for what two tokens make, among so many slots.
pub(crate) fn slot(left: u32, right: u32, slots: usize) -> usize {
    // The upper half, scaled: slots need not be a power of two.
    (((mixed(left, right) >> 32) * slots as u64) >> 32) as usize
}

/// The bit of a filter of so many bits that tells whether two tokens may make one.
pub(crate) fn bit(left: u32, right: u32, bits: usize) -> usize {
    // The lower half, so that it does not go with the slot.
    ((u64::from(mixed(left, right) as u32) * bits as u64) >> 32) as usize
}

/// A number that tells the file of a vocabulary from others.
pub(crate) fn sum(file: &[u8]) -> u64 {
    file.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
