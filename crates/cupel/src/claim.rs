//! Finds positions again for handles that a user's strategy returned.

use crate::{Candidate, ContextItem};

/// The positions of a list, each to be claimed once by a handle of the item that stands there.
pub(crate) struct Claims {
    /// Identity and position, sorted.
    positions: Vec<(usize, usize)>,
    /// For the first entry of each identity: how many of its positions are claimed.
    claimed: Vec<usize>,
}

impl Claims {
    pub(crate) fn new(candidates: &[Candidate<'_>]) -> Self {
        let mut positions: Vec<(usize, usize)> =
            candidates.iter().enumerate().map(|(at, c)| (c.item().id(), at)).collect();
        positions.sort_unstable();
        let claimed = vec![0; positions.len()];
        Self { positions, claimed }
    }

    /// The first position of this item that nobody claimed yet.
    pub(crate) fn claim(&mut self, item: &ContextItem) -> Option<usize> {
        let first = self.positions.partition_point(|(id, _)| *id < item.id());
        let claimed = self.claimed.get_mut(first)?;
        let (id, position) = *self.positions.get(first + *claimed)?;
        if id != item.id() {
            return None;
        }
        *claimed += 1;
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContextItemBuilder;

    #[test]
    fn a_handle_claims_the_first_free_position_of_its_item() {
        let item = |text| ContextItemBuilder::new(text, 1).build().unwrap();
        let (a, b, stranger) = (item("a"), item("b"), item("a"));
        let list = [&a, &b, &a].map(|item| Candidate::new(item, 0.0));
        let mut claims = Claims::new(&list);
        assert_eq!(claims.claim(&a), Some(0));
        assert_eq!(claims.claim(&stranger), None);
        assert_eq!(claims.claim(&a.clone()), Some(2));
        assert_eq!(claims.claim(&a), None);
        assert_eq!(claims.claim(&b), Some(1));
        assert_eq!(claims.claim(&b), None);
        assert_eq!(Claims::new(&[]).claim(&a), None);
    }
}
