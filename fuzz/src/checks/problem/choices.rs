//! Bytes as a sequence of choices.

/// The bytes that are left.
pub(super) struct Choices<'a> {
    left: &'a [u8],
}

impl<'a> Choices<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    /// The next byte; 0 where there is none.
    pub(super) fn byte(&mut self) -> u8 {
        let Some((&byte, left)) = self.left.split_first() else { return 0 };
        self.left = left;
        byte
    }

    /// The next eight bytes.
    fn eight_bytes(&mut self) -> [u8; 8] {
        std::array::from_fn(|_| self.byte())
    }

    /// A number below `bound`, which is at most 256.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    /// Yes or no; no where nothing is left.
    pub(super) fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    /// One of a few.
    pub(super) fn pick<T: Clone>(&mut self, few: &[T]) -> T {
        few[self.below(few.len())].clone()
    }

    /// Nothing, or something.
    pub(super) fn maybe<T>(&mut self, some: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.flag() { Some(some(self)) } else { None }
    }

    /// At most `most` of something; none where nothing is left.
    pub(super) fn list<T>(&mut self, most: usize, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut list = Vec::new();
        while list.len() < most && self.below(4) != 0 {
            list.push(one(self));
        }
        list
    }

    /// Mostly small, sometimes at an edge, sometimes anything.
    pub(super) fn integer(&mut self) -> i64 {
        const EDGES: [i64; 10] = [
            -1,
            i64::MIN,
            i64::MIN + 1,
            i64::MAX,
            i64::MAX - 1,
            i64::MAX / 2,
            1 << 53,
            (1 << 53) + 1,
            u32::MAX as i64,
            100,
        ];
        match self.below(8) {
            0..=4 => i64::from(self.byte()),
            5 => i64::from(self.byte()) * 256 + i64::from(self.byte()),
            6 => self.pick(&EDGES),
            _ => i64::from_le_bytes(self.eight_bytes()),
        }
    }

    /// Mostly a simple fraction, sometimes an edge, sometimes any bits at all.
    pub(super) fn float(&mut self) -> f64 {
        const EDGES: [f64; 14] = [
            -0.0,
            1.0,
            0.1,
            0.3,
            1.0 + f64::EPSILON,
            1.0 - f64::EPSILON / 2.0,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            0.000_1,
        ];
        match self.below(4) {
            0 | 1 => f64::from(self.byte()) / 128.0,
            2 => self.pick(&EDGES),
            _ => f64::from_le_bytes(self.eight_bytes()),
        }
    }

    /// A float that is finite and not negative, and small enough that a few of them add up.
    pub(super) fn weight(&mut self) -> f64 {
        let float = self.float().abs();
        if float < 1e300 { float } else { 1.0 }
    }

    /// A float within 0 and 1.
    pub(super) fn unit(&mut self) -> f64 {
        let float = self.float();
        if (0.0..=1.0).contains(&float) { float } else { 0.5 }
    }
}
