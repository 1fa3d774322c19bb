//! Counts the tokens of one piece.

use super::vocabulary::Vocabulary;

/// Working memory, used again for each piece.
#[derive(Debug, Default)]
pub(super) struct Counter {
    tokens: Vec<u32>,
    /// One bit for each place of the piece: whether no way leads on from there.
    dead_ends: Vec<u64>,
}

impl Counter {
    /// The tokens of a piece.
    ///
    /// Takes the longest token that goes with the one before, from left to right; where none does,
    /// takes back the last one and tries the next shorter. A place where that failed is not tried
    /// again, so that time grows with the length of the piece, whatever is in it.
    pub(super) fn count(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> usize {
        let Some(first) = vocabulary.longest(piece) else { return 0 };
        if vocabulary.length(first) == piece.len() {
            return 1;
        }
        self.tokens.clear();
        self.dead_ends.clear();
        self.dead_ends.resize(piece.len() / 64 + 1, 0);
        let (mut at, mut candidate) = (0, Some(first));
        while let Some(token) = candidate {
            let end = at + vocabulary.length(token);
            if self.fits(vocabulary, token, end) {
                self.tokens.push(token);
                at = end;
                candidate = vocabulary.longest(&piece[at..]);
            } else if let Some(shorter) = vocabulary.prefix(token) {
                candidate = Some(shorter);
            } else {
                self.dead_ends[at / 64] |= 1 << (at % 64);
                let Some(last) = self.tokens.pop() else { break };
                at -= vocabulary.length(last);
                candidate = Some(last);
            }
        }
        self.tokens.len()
    }

    fn fits(&self, vocabulary: &Vocabulary, token: u32, end: usize) -> bool {
        self.dead_ends[end / 64] >> (end % 64) & 1 == 0
            && self.tokens.last().is_none_or(|&last| vocabulary.stay_apart(last, token))
    }
}
