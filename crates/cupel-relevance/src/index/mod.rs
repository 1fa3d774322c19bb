//! The words of many items, kept between queries.

#[cfg(feature = "word-vectors")]
mod like;
mod list;
mod store;

use std::sync::{Arc, PoisonError, RwLock};

use cupel::{ContextItem, CupelError};

use self::store::Store;
use crate::text::{Analysis, SharedReader};
use crate::{Query, parameter};

#[cfg(feature = "word-vectors")]
pub(crate) use like::LikeTerm;
pub(crate) use list::ListView;

/// Tags of one name whose words count beside those of the text.
///
/// `Field::new("symbol", 1.0)` lets the words of a tag `symbol:parse_header` count once more, with
/// 2.0 twice more.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    tag: String,
    weight: f64,
}

impl Field {
    /// The tags `tag:…`, each of their words counting as `weight` words of the text.
    pub fn new(tag: impl Into<String>, weight: f64) -> Self {
        Self { tag: tag.into(), weight }
    }

    /// Refuses weights that are not positive and finite.
    pub(crate) fn require_weights(fields: &[Self]) -> Result<(), CupelError> {
        fields.iter().try_for_each(|Self { tag, weight }| {
            parameter::positive(format_args!("fields.{tag}"), *weight)
        })
    }

    fn value<'t>(&self, tag: &'t str) -> Option<&'t str> {
        tag.strip_prefix(self.tag.as_str())?.strip_prefix(':')
    }
}

/// The words of many items, analysed once and kept.
///
/// Scorers that share an index share its work. Items that a scorer meets for the first time are
/// added on the way; [`extend`](Self::extend) adds them ahead of time. An index changes how long a
/// score takes, never the score: statistics are those of the list that is being scored, whatever
/// else the index holds.
///
/// A clone is another handle to the same index. It keeps a handle of every item, so drop what is no
/// longer needed with [`retain`](Self::retain).
///
/// **Cost:** memory of one to four times the texts, most where items are short; a pass over the text
/// of each new item.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::{Bm25Scorer, Index, Query};
///
/// let index = Index::default();
/// let items = [
///     ContextItemBuilder::new("The deploy failed at step 3.", 8).build()?,
///     ContextItemBuilder::new("Lunch is at noon.", 5).build()?,
/// ];
/// index.extend(&items);
///
/// for text in ["why do deploys fail?", "when is lunch?"] {
///     let scorer = Bm25Scorer::new(Query::new(text), index.clone())?;
///     let scores = items.each_ref().map(|item| scorer.score(item, &items));
///     assert!(scores.iter().any(|score| *score > 0.0));
/// }
/// assert_eq!(index.len(), 2);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Clone)]
pub struct Index {
    analysis: Arc<Analysis>,
    fields: Arc<[Field]>,
    store: Arc<RwLock<Store>>,
}

impl Default for Index {
    /// English, and no fields.
    fn default() -> Self {
        Self::new(Analysis::default())
    }
}

impl Index {
    /// An empty index.
    #[must_use]
    pub fn new(analysis: Analysis) -> Self {
        Self::of(analysis, Vec::new(), SharedReader::default())
    }

    /// An empty index in which the words of some tags count too.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if a weight is not positive and finite; it names the tag.
    pub fn with_fields(analysis: Analysis, fields: Vec<Field>) -> Result<Self, CupelError> {
        Self::with_reader(analysis, fields, SharedReader::default())
    }

    /// The same, of words that others read too.
    pub(crate) fn with_reader(
        analysis: Analysis,
        fields: Vec<Field>,
        reader: SharedReader,
    ) -> Result<Self, CupelError> {
        Field::require_weights(&fields)?;
        Ok(Self::of(analysis, fields, reader))
    }

    fn of(analysis: Analysis, fields: Vec<Field>, reader: SharedReader) -> Self {
        let fields: Arc<[Field]> = fields.into();
        let store = Store::new(&analysis, fields.clone(), reader);
        Self { analysis: Arc::new(analysis), fields, store: Arc::new(RwLock::new(store)) }
    }

    /// Analysis of its texts.
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// The tags whose words count too.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Adds the items that are not in it yet.
    pub fn extend(&self, items: &[ContextItem]) {
        self.write(|store| store.extend(items));
    }

    /// Drops all items but these, and adds those of them that were not in it.
    pub fn retain(&self, items: &[ContextItem]) {
        self.retain_with(items, SharedReader::default());
    }

    /// The same, of words that others read too.
    pub(crate) fn retain_with(&self, items: &[ContextItem], reader: SharedReader) {
        self.write(|store| {
            *store = Store::new(&self.analysis, self.fields.clone(), reader);
            store.extend(items);
        });
    }

    /// Number of items it holds.
    pub fn len(&self) -> usize {
        self.read(Store::len)
    }

    /// Returns true if it holds no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Refuses a query whose terms are made in another way.
    pub(crate) fn require_same_analysis(&self, query: &Query) -> Result<(), CupelError> {
        if query.analysis() == self.analysis() {
            return Ok(());
        }
        Err(CupelError::ScorerConfig(format!(
            "query: must be analysed like the index, got {} for an index of {}",
            query.analysis(),
            self.analysis()
        )))
    }

    /// Looks at a list of items, adding those that are not in it yet.
    ///
    /// Calls `look`, which must not use the index itself.
    pub(crate) fn list<R>(
        &self,
        items: &[ContextItem],
        look: impl FnOnce(&ListView<'_>) -> R,
    ) -> R {
        self.look(items, false, look)
    }

    /// The same with the ids of the items.
    pub(crate) fn list_with_ids<R>(
        &self,
        items: &[ContextItem],
        look: impl FnOnce(&ListView<'_>) -> R,
    ) -> R {
        self.look(items, true, look)
    }

    fn look<R>(
        &self,
        items: &[ContextItem],
        with_ids: bool,
        look: impl FnOnce(&ListView<'_>) -> R,
    ) -> R {
        let mut look = Some(look);
        let seen = self.read(|store| {
            if with_ids && store.lacks_ids() {
                return None;
            }
            let view = ListView::new(store, items)?;
            look.take().map(|look| look(&view))
        });
        seen.unwrap_or_else(|| {
            self.write(|store| {
                store.extend(items);
                if with_ids {
                    store.find_ids();
                }
                let view = ListView::new(store, items).expect("all items were just added");
                look.take().expect("a view that was refused was not looked at")(&view)
            })
        })
    }

    fn read<R>(&self, look: impl FnOnce(&Store) -> R) -> R {
        look(&self.store.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<R>(&self, change: impl FnOnce(&mut Store) -> R) -> R {
        change(&mut self.store.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("analysis", &self.analysis)
            .field("items", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{scores, texts};
    use crate::{Bm25Scorer, Language};

    #[test]
    fn an_item_is_added_once_and_a_copy_of_it_is_another_item() {
        let index = Index::default();
        let items = texts(&["deploy", "deploy"]);
        index.extend(&items);
        index.extend(&[items[1].clone(), items[0].clone()]);
        assert_eq!(index.len(), 2);
        index.extend(&texts(&["deploy"]));
        assert_eq!(index.len(), 3);
    }

    #[test]
    fn clones_are_the_same_index() {
        let index = Index::default();
        assert!(index.is_empty());
        index.clone().extend(&texts(&["deploy"]));
        assert_eq!(index.len(), 1);
    }

    #[test]
    fn what_is_not_retained_is_gone_and_what_was_missing_is_added() {
        let index = Index::default();
        let items = texts(&["deploy", "lunch", "key"]);
        index.extend(&items[..2]);
        index.retain(&items[1..]);
        assert_eq!(index.len(), 2);
        let scorer = Bm25Scorer::new(Query::new("key"), index).unwrap();
        assert!(scores(&scorer, &items[1..])[1] > 0.0);
    }

    #[test]
    fn items_that_a_scorer_meets_are_added_on_the_way() {
        let index = Index::default();
        let scorer = Bm25Scorer::new(Query::new("key"), index.clone()).unwrap();
        scores(&scorer, &texts(&["deploy", "key"]));
        assert_eq!(index.len(), 2);
    }

    #[test]
    fn the_order_in_which_items_came_changes_no_bit() {
        let items =
            texts(&["deploy key", "key key lunch", "deploy", "noon", "the deploy of the key"]);
        let bits = |index: Index| -> Vec<u64> {
            let scorer = Bm25Scorer::new(Query::new("the key of the deploy"), index).unwrap();
            scores(&scorer, &items).into_iter().map(f64::to_bits).collect()
        };
        let fresh = bits(Index::default());
        let index = Index::default();
        for item in items.iter().rev() {
            index.extend(std::slice::from_ref(item));
        }
        assert_eq!(bits(index), fresh);
    }

    #[test]
    fn a_field_without_a_weight_is_refused() {
        let fields = vec![Field::new("symbol", 0.0)];
        let error = Index::with_fields(Analysis::default(), fields).unwrap_err();
        assert_eq!(error.to_string(), "fields.symbol: must be positive and finite, got 0");
    }

    #[test]
    fn debug_shows_no_texts() {
        let index = Index::new(Analysis::of(Language::German));
        index.extend(&texts(&["secret"]));
        let text = format!("{index:?}");
        assert!(text.contains("items: 1") && !text.contains("secret"), "{text}");
    }
}
