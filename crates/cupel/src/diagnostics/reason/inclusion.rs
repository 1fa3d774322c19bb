//! Why an item is in.

use std::fmt;

/// Why an item was included.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InclusionReason {
    /// Its score won it a place.
    Scored,
    /// It is pinned.
    Pinned,
    /// It costs nothing.
    ZeroToken,
    /// Its score won it a place, in one of its shorter forms.
    Shortened,
}

impl InclusionReason {
    /// All of them.
    pub const ALL: &'static [Self] =
        &[Self::Scored, Self::Pinned, Self::ZeroToken, Self::Shortened];

    /// The name of the variant.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scored => "Scored",
            Self::Pinned => "Pinned",
            Self::ZeroToken => "ZeroToken",
            Self::Shortened => "Shortened",
        }
    }
}

impl fmt::Display for InclusionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_in_the_list() {
        // Whoever adds a reason is told here, and extends the list above.
        let position = |reason: &InclusionReason| match reason {
            InclusionReason::Scored => 0,
            InclusionReason::Pinned => 1,
            InclusionReason::ZeroToken => 2,
            InclusionReason::Shortened => 3,
        };
        assert!(InclusionReason::ALL.iter().map(position).eq(0..InclusionReason::ALL.len()));
    }
}
