use std::sync::{Arc, PoisonError, RwLock};

use cupel::ContextItem;

use super::store::Store;

/// The values that items mention, found once and kept.
///
/// Items that it meets for the first time are read on the way. It changes how long an answer takes,
/// never the answer. A clone is another handle to the same store. It keeps a handle of every item, so
/// drop what is no longer needed with [`retain`](Self::retain).
///
/// # Example
///
/// ```
/// use cupel::ContextItemBuilder;
/// use cupel_relevance::need::{Mentions, Need, NeedParameters};
///
/// let item = |text: &str| ContextItemBuilder::new(text, 10).build();
/// let items = [item("see src/lib.rs")?, item("and order_77")?];
/// let mentions = Mentions::default();
/// let need = Need::of(&items, &mentions, &NeedParameters::default());
/// assert_eq!(mentions.len(), 2);
/// assert!(need.of_item(1) > need.of_item(0), "need fades");
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Clone, Default)]
pub struct Mentions(Arc<RwLock<Store>>);

impl Mentions {
    /// Number of items it has read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns true if it has read none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops all items but these, and reads those of them that it had not met.
    pub fn retain(&self, items: &[ContextItem]) {
        let mut store = Store::default();
        store.extend(items);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = store;
    }

    /// Looks at a list of items: the store, and the number of each item in it.
    pub(super) fn look<R>(
        &self,
        items: &[ContextItem],
        look: impl FnOnce(&Store, &[u32]) -> R,
    ) -> R {
        let numbers =
            |store: &Store| items.iter().map(|item| store.number(item)).collect::<Option<Vec<_>>>();
        let store = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(numbers) = numbers(&store) {
            return look(&store, &numbers);
        }
        drop(store);
        let mut store = self.0.write().unwrap_or_else(PoisonError::into_inner);
        store.extend(items);
        let numbers = numbers(&store).expect("all items were just added");
        look(&store, &numbers)
    }
}

impl std::fmt::Debug for Mentions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mentions").field("items", &self.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, item};

    #[test]
    fn an_item_mentions_a_value_once_whatever_its_case_and_in_which_message() {
        let tags = vec!["tool:get".into()];
        let items = build([item("Order HAT001\nget {\"id\": \"hat001\"}\nhat001 A1b").tags(tags)]);
        Mentions::default().look(&items, |store, numbers| {
            assert_eq!(store.all(numbers[0]), [0, 1]);
            assert_eq!(store.called(numbers[0]), [0]);
            assert_eq!(store.messages(numbers[0]), [&[0][..], &[0], &[0, 1]]);
            assert_eq!(store.value_count(), 2);
        });
    }

    #[test]
    fn what_is_not_retained_is_gone() {
        let items = build([item("a_1"), item("b_2")]);
        let mentions = Mentions::default();
        assert_eq!((mentions.len(), mentions.is_empty()), (0, true));
        mentions.look(&items, |_, numbers| assert_eq!(numbers, [0, 1]));
        assert_eq!(mentions.len(), 2);
        mentions.retain(&items[1..]);
        assert_eq!(mentions.len(), 1);
        mentions.look(&items, |_, numbers| assert_eq!(numbers, [1, 0]));
        assert!(!mentions.is_empty());
    }
}
