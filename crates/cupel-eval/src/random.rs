//! Random numbers that are the same everywhere, from a seed.

/// The generator `SplitMix64`: small, fast, and good enough to shuffle and to draw samples.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator of its own for each text.
    pub(crate) fn for_text(seed: u64, text: &str) -> Self {
        let mut random = Self(seed);
        for byte in text.bytes() {
            random.0 ^= u64::from(byte);
            random.0 = random.next();
        }
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which must not be 0. That some are likelier by one in 2⁶⁴ divided by
    /// `end` does not show.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_published_generator() {
        let mut random = Random::new(1_234_567);
        assert_eq!(
            [random.next(), random.next(), random.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn every_number_below_the_end_is_drawn_about_as_often() {
        let mut random = Random::new(7);
        let mut drawn = [0; 5];
        for _ in 0..10_000 {
            drawn[random.below(5)] += 1;
        }
        assert!(drawn.iter().all(|times| (1_850..2_150).contains(times)), "{drawn:?}");
    }

    #[test]
    fn a_shuffle_loses_nothing() {
        let mut list: Vec<u32> = (0..100).collect();
        Random::for_text(1, "pool").shuffle(&mut list);
        assert_ne!(list, (0..100).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..100).collect::<Vec<_>>());
    }
}
