//! Form in which an item goes in.

use crate::ContextItem;

/// Whole, or in one of its shorter forms. As small as a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape(u32);

impl Shape {
    pub(super) const WHOLE: Self = Self(u32::MAX);

    /// A rendering, or the whole. No item has as many renderings as the number of the whole.
    pub(super) fn of(rendering: Option<usize>) -> Self {
        rendering.and_then(|at| u32::try_from(at).ok()).map_or(Self::WHOLE, Self)
    }

    pub(super) fn rendering(self) -> Option<usize> {
        (self != Self::WHOLE).then_some(self.0 as usize)
    }

    /// Tokens of the item in this form.
    pub(super) fn tokens(self, item: &ContextItem) -> i64 {
        let rendering = self.rendering().and_then(|at| item.renderings().get(at));
        rendering.map_or_else(|| item.tokens(), crate::Rendering::tokens)
    }

    /// The item as it goes in: the same handle if it is whole.
    pub(super) fn apply(self, item: &ContextItem) -> ContextItem {
        let shorter = self.rendering().and_then(|at| item.rendered(at));
        shorter.unwrap_or_else(|| item.clone())
    }
}
