//! A vocabulary as the crate keeps it, worked out from the tokens of another implementation.

use std::collections::HashMap;

use bpe_openai::Tokenizer;

/// The bytes of the first 256 tokens, then for each other token the two that it is made of.
pub(crate) fn file(tokenizer: &Tokenizer) -> Vec<u8> {
    let tokens: Vec<&[u8]> =
        (0..tokenizer.bpe.num_tokens() as u32).map(|id| tokenizer.bpe.token_bytes(id)).collect();
    let ranks: HashMap<&[u8], u32> = tokens.iter().copied().zip(0u32..).collect();
    let mut file = tokens[..256].concat();
    for token in &tokens[256..] {
        let [left, right] = last_merge(token, &ranks);
        for part in [left, right] {
            file.extend_from_slice(&part.to_le_bytes()[..3]);
        }
    }
    file
}

/// The two tokens that a token's bytes have become before the last merge makes it of them.
fn last_merge(token: &[u8], ranks: &HashMap<&[u8], u32>) -> [u32; 2] {
    let mut ends: Vec<usize> = (0..=token.len()).collect();
    while ends.len() > 3 {
        let joined = |i: usize| ranks.get(&token[ends[i]..ends[i + 2]]).copied();
        let first = (0..ends.len() - 2).min_by_key(|&i| joined(i).unwrap_or(u32::MAX)).unwrap_or(0);
        ends.remove(first + 1);
    }
    [&token[..ends[1]], &token[ends[1]..]].map(|part| ranks[part])
}
