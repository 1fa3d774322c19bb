use crate::{ContextKind, CupelError};

use super::{QuotaConstraint, QuotaConstraintMode};

/// Number of items of one kind a count quota requires and allows.
///
/// # Example
///
/// ```
/// use cupel::{ContextKind, CountQuotaEntry};
///
/// let entry = CountQuotaEntry::new(ContextKind::tool_output(), 2, 5)?;
/// assert_eq!((entry.require_count(), entry.cap_count()), (2, 5));
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountQuotaEntry {
    kind: ContextKind,
    require_count: usize,
    cap_count: usize,
}

impl CountQuotaEntry {
    /// At least `require_count` and at most `cap_count` items of `kind`.
    ///
    /// # Errors
    ///
    /// [`CupelError::SlicerConfig`] if `require_count` exceeds `cap_count`.
    pub fn new(
        kind: ContextKind,
        require_count: usize,
        cap_count: usize,
    ) -> Result<Self, CupelError> {
        if require_count > cap_count {
            return Err(CupelError::SlicerConfig(format!(
                "kind `{kind}`: require_count `{require_count}` must not exceed cap_count \
                 `{cap_count}`"
            )));
        }
        Ok(Self { kind, require_count, cap_count })
    }

    /// The kind.
    pub fn kind(&self) -> &ContextKind {
        &self.kind
    }

    /// At least so many.
    pub fn require_count(&self) -> usize {
        self.require_count
    }

    /// At most so many.
    pub fn cap_count(&self) -> usize {
        self.cap_count
    }

    pub(super) fn constraint(&self) -> QuotaConstraint {
        QuotaConstraint {
            kind: self.kind.clone(),
            mode: QuotaConstraintMode::Count,
            require: self.require_count as f64,
            cap: self.cap_count as f64,
        }
    }
}

/// Behaviour of a count quota when there are fewer candidates of a kind than it requires.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ScarcityBehavior {
    /// Take what there is, and report a shortfall: the default.
    #[default]
    Degrade,
    /// Fail.
    Throw,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_above_the_cap_is_refused() {
        let error = CountQuotaEntry::new(ContextKind::memory(), 3, 2).unwrap_err();
        let text = "kind `Memory`: require_count `3` must not exceed cap_count `2`";
        assert_eq!(error.to_string(), text);
        assert!(CountQuotaEntry::new(ContextKind::memory(), 1, 0).is_err());
    }

    #[test]
    fn zero_and_equal_counts_are_valid() {
        assert!(CountQuotaEntry::new(ContextKind::memory(), 0, 0).is_ok());
        assert!(CountQuotaEntry::new(ContextKind::memory(), 2, 2).is_ok());
    }
}
