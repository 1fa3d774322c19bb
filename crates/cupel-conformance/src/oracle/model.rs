//! Values that stages hand on to each other, and rules that several of them share.

/// The part of a budget that a slicer sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Hard ceiling.
    pub max_tokens: i64,
    /// Budget that the slicer fills.
    pub target_tokens: i64,
}

/// An item, by index, and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Index in the caller's list.
    pub index: usize,
    /// Its score.
    pub score: f64,
}

/// Returns true if two kinds are the same kind.
pub fn same_kind(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// Sum of token counts, wide enough never to overflow.
pub fn sum_tokens(tokens: impl IntoIterator<Item = i64>) -> i128 {
    tokens.into_iter().map(i128::from).sum()
}

/// The nearest 64-bit token count.
pub fn clamp_tokens(tokens: i128) -> i64 {
    tokens.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}
