//! Levels of detail.

use std::fmt;

/// Level of detail of the spans of a run.
///
/// | | spans | events | for |
/// |---|---|---|---|
/// | [`StageOnly`](Self::StageOnly) | root and five stages | none | production |
/// | [`StageAndExclusions`](Self::StageAndExclusions) | the same, with a count of exclusions | one for each item left out | staging |
/// | [`Full`](Self::Full) | the same | also one for each item in the window | development |
///
/// Each tier tells all that the ones before it tell, and they are ordered that way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CupelVerbosity {
    /// Stages with their item counts. The pipeline hands out no item for it.
    #[default]
    StageOnly,
    /// Also each item that was left out, with the reason.
    StageAndExclusions,
    /// Also each item that is in the window, with its score.
    Full,
}

impl CupelVerbosity {
    /// The name of the tier, as it stands on the root span.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::StageOnly => "StageOnly",
            Self::StageAndExclusions => "StageAndExclusions",
            Self::Full => "Full",
        }
    }
}

impl fmt::Display for CupelVerbosity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::CupelVerbosity::{Full, StageAndExclusions, StageOnly};

    #[test]
    fn tiers_are_ordered_and_named_as_they_are_spelled() {
        assert!(StageOnly < StageAndExclusions && StageAndExclusions < Full);
        for tier in [StageOnly, StageAndExclusions, Full] {
            assert_eq!(tier.to_string(), format!("{tier:?}"));
        }
    }
}
