//! Numbers that look random and are the same at every run.

/// A xorshift generator.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// A sequence of its own for each seed.
    pub(crate) fn new(seed: u64) -> Self {
        // Seeds are small numbers; a multiplication spreads them, and the state must not be zero.
        let mut random = Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // The first numbers of neighbouring seeds are alike.
        for _ in 0..4 {
            random.next();
        }
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`, which must not be zero.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 11) as usize % limit
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn within(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True `percent` times in a hundred.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for position in (1..list.len()).rev() {
            list.swap(position, self.below(position + 1));
        }
    }
}
