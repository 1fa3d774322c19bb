//! In which order? Invoked by the Place stage with everything that was selected.
//!
//! | placer | order | for |
//! |---|---|---|
//! | [`ChronologicalPlacer`] | oldest first, undated items last | conversations |
//! | [`UShapedPlacer`] | best at both ends, weakest in the middle | documents and tool outputs |

mod chronological;
mod u_shaped;

use std::sync::Arc;

use crate::claim::Claims;
use crate::{Candidate, ContextItem, CupelError, ScoredItem};

pub use chronological::ChronologicalPlacer;
pub use u_shaped::UShapedPlacer;

/// Puts the selected items into their final order.
///
/// # Contract
///
/// A placer returns exactly the items that it was given, in any order, and the same order for the
/// same items. Pinned items come first in its input, with a score of 1.0; the others follow in
/// order of score.
///
/// # Your own placer
///
/// ```
/// use cupel::{ContextItem, Placer, ScoredItem};
///
/// /// Leaves everything as it is: pinned first, then by score.
/// struct ByScore;
///
/// impl Placer for ByScore {
///     fn place(&self, items: &[ScoredItem]) -> Vec<ContextItem> {
///         items.iter().map(|scored| scored.item.clone()).collect()
///     }
/// }
/// ```
pub trait Placer: Send + Sync {
    /// The items in their final order.
    fn place(&self, items: &[ScoredItem]) -> Vec<ContextItem>;

    /// The same by position. The pipeline calls this one.
    ///
    /// The default calls [`place`](Self::place) and finds the positions again: each returned
    /// handle claims the first unclaimed position of that item.
    ///
    /// # Errors
    ///
    /// [`CupelError::PipelineConfig`] if items were added, dropped or duplicated.
    fn arrange(&self, candidates: &[Candidate<'_>]) -> Result<Vec<usize>, CupelError> {
        let items: Vec<ScoredItem> = candidates.iter().map(Candidate::to_scored_item).collect();
        let placed = self.place(&items);
        let mut claims = Claims::new(candidates);
        let positions = placed.iter().map(|item| claims.claim(item)).collect::<Option<Vec<_>>>();
        positions.filter(|positions| positions.len() == candidates.len()).ok_or_else(|| {
            CupelError::PipelineConfig(format!(
                "the placer must return the {} items that it was given, each once; it returned \
                 {} and added, dropped or duplicated some",
                candidates.len(),
                placed.len()
            ))
        })
    }
}

/// Implements [`Placer::place`] for every built-in placer.
fn place_by_arranging(
    items: &[ScoredItem],
    arrange: impl FnOnce(&[Candidate<'_>]) -> Vec<usize>,
) -> Vec<ContextItem> {
    let candidates: Vec<Candidate<'_>> = items.iter().map(Candidate::from).collect();
    arrange(&candidates).into_iter().map(|at| items[at].item.clone()).collect()
}

macro_rules! forward_placer {
    ($($pointer:ident),*) => {$(
        impl<T: Placer + ?Sized> Placer for $pointer<T> {
            fn place(&self, items: &[ScoredItem]) -> Vec<ContextItem> {
                (**self).place(items)
            }

            fn arrange(&self, candidates: &[Candidate<'_>]) -> Result<Vec<usize>, CupelError> {
                (**self).arrange(candidates)
            }
        }
    )*};
}

forward_placer!(Box, Arc);

#[cfg(test)]
mod testing {
    use super::*;

    /// Asserts the order that a placer makes of the items, by both of its methods.
    #[track_caller]
    pub(super) fn assert_placed(placer: &dyn Placer, items: &[ScoredItem], expected: &[&str]) {
        let placed = placer.place(items);
        assert_eq!(placed.iter().map(ContextItem::content).collect::<Vec<_>>(), expected);
        let candidates: Vec<Candidate<'_>> = items.iter().map(Candidate::from).collect();
        let arranged = placer.arrange(&candidates).unwrap();
        let contents: Vec<&str> = arranged.iter().map(|at| items[*at].item.content()).collect();
        assert_eq!(contents, expected);
    }

    struct Returns(Vec<ContextItem>);

    impl Placer for Returns {
        fn place(&self, _: &[ScoredItem]) -> Vec<ContextItem> {
            self.0.clone()
        }
    }

    #[test]
    fn a_placer_that_adds_drops_or_duplicates_is_an_error() {
        let item = |text| crate::ContextItemBuilder::new(text, 1).build().unwrap();
        let (a, b, stranger) = (item("a"), item("b"), item("a"));
        let candidates = [&a, &b].map(|item| Candidate::new(item, 0.5));
        let arrange = |items: &[&ContextItem]| {
            Returns(items.iter().map(|item| (*item).clone()).collect()).arrange(&candidates)
        };
        assert_eq!(arrange(&[&b, &a]), Ok(vec![1, 0]));
        for bad in [&[&a][..], &[&a, &a], &[&a, &b, &a], &[&b, &stranger], &[]] {
            assert!(matches!(arrange(bad), Err(CupelError::PipelineConfig(_))));
        }
    }
}
