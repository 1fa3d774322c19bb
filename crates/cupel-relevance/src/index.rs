//! The words of many items, kept between queries.

use std::sync::{Arc, PoisonError, RwLock};

use cupel::{ContextItem, CupelError};

use crate::Query;
use crate::identity::{ByItem, key};
use crate::parameter;
use crate::text::lexicon::{Lexicon, TermId};
use crate::text::{Analysis, Values};

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
/// **Cost:** about as much memory as three times the texts; a pass over the text of each new item.
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
        Self::of(analysis, Vec::new())
    }

    /// An empty index in which the words of some tags count too.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if a weight is not positive and finite; it names the tag.
    pub fn with_fields(analysis: Analysis, fields: Vec<Field>) -> Result<Self, CupelError> {
        for field in &fields {
            parameter::positive(&format!("fields.{}", field.tag), field.weight)?;
        }
        Ok(Self::of(analysis, fields))
    }

    fn of(analysis: Analysis, fields: Vec<Field>) -> Self {
        let fields: Arc<[Field]> = fields.into();
        let store = Store::new(&analysis, fields.clone());
        Self { analysis: Arc::new(analysis), fields, store: Arc::new(RwLock::new(store)) }
    }

    /// How its texts were analysed.
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
        self.write(|store| {
            *store = Store::new(&self.analysis, self.fields.clone());
            store.extend(items);
        });
    }

    /// How many items it holds.
    pub fn len(&self) -> usize {
        self.read(|store| store.keys.len())
    }

    /// Whether it holds no items.
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
    /// What `look` does must not use the index itself.
    pub(crate) fn list<R>(
        &self,
        items: &[ContextItem],
        look: impl FnOnce(&ListView<'_>) -> R,
    ) -> R {
        self.look(items, false, look)
    }

    /// The same with the values of the items.
    pub(crate) fn list_with_values<R>(
        &self,
        items: &[ContextItem],
        look: impl FnOnce(&ListView<'_>) -> R,
    ) -> R {
        self.look(items, true, look)
    }

    fn look<R>(
        &self,
        items: &[ContextItem],
        with_values: bool,
        look: impl FnOnce(&ListView<'_>) -> R,
    ) -> R {
        let mut look = Some(look);
        let seen = self.read(|store| {
            if with_values && store.lacks_values() {
                return None;
            }
            let view = ListView::new(store, items)?;
            look.take().map(|look| look(&view))
        });
        seen.unwrap_or_else(|| {
            self.write(|store| {
                store.extend(items);
                if with_values {
                    store.find_values();
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

/// That a term occurs in an item.
///
/// The postings of an item lie side by side, in the order in which its terms first occur; those of a
/// term are chained, from the newest item to the oldest. So one list serves both ways, and adding an
/// item appends to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) term: TermId,
    /// The item's number in the index.
    item: u32,
    /// How often, weighted by field.
    pub(crate) count: f32,
    /// Number of the term's next older posting plus one; 0 if there is none.
    older: u32,
}

/// Where the postings of a term begin.
#[derive(Debug, Clone, Copy, Default)]
struct Chain {
    /// Number of the newest posting plus one; 0 if there is none.
    newest: u32,
    /// The item of the newest posting.
    item: u32,
    length: u32,
}

struct Store {
    fields: Arc<[Field]>,
    lexicon: Lexicon,
    postings: Vec<Posting>,
    /// For each term.
    chains: Vec<Chain>,
    /// For each item its identity.
    keys: Vec<usize>,
    /// Kept so that no identity is given away.
    handles: Vec<ContextItem>,
    numbers: ByItem<u32>,
    /// For each item how many terms it has, weighted by field.
    lengths: Vec<f64>,
    /// For each item where its postings end.
    ends: Vec<u32>,
    /// Those of the first items, or of all: nobody may ask for them.
    values: Values,
}

impl Store {
    fn new(analysis: &Analysis, fields: Arc<[Field]>) -> Self {
        Self {
            fields,
            lexicon: Lexicon::new(analysis),
            postings: Vec::new(),
            chains: Vec::new(),
            keys: Vec::new(),
            handles: Vec::new(),
            numbers: ByItem::default(),
            lengths: Vec::new(),
            ends: Vec::new(),
            values: Values::new(),
        }
    }

    fn lacks_values(&self) -> bool {
        self.values.len() < self.keys.len()
    }

    fn find_values(&mut self) {
        for item in &self.handles[self.values.len()..] {
            self.values.add(item.content());
        }
    }

    fn extend(&mut self, items: &[ContextItem]) {
        for item in items {
            let number = self.keys.len() as u32;
            if *self.numbers.entry(key(item)).or_insert(number) == number {
                self.keys.push(key(item));
                self.handles.push(item.clone());
                self.add(item, number);
            }
        }
    }

    fn add(&mut self, item: &ContextItem, number: u32) {
        let mut length = self.add_text(item.content(), number, 1.0);
        let fields = self.fields.clone();
        for tag in item.tags() {
            for field in fields.iter() {
                if let Some(value) = field.value(tag) {
                    length += self.add_text(value, number, field.weight);
                }
            }
        }
        self.lengths.push(length);
        self.ends.push(self.postings.len() as u32);
    }

    /// Adds the words of a text to those of an item, and returns how many terms they have.
    fn add_text(&mut self, text: &str, item: u32, weight: f64) -> f64 {
        let Self { lexicon, postings, chains, .. } = self;
        let mut terms = 0_u32;
        lexicon.for_each_term(text, |term| {
            terms += 1;
            count_term(postings, chains, term, item, weight as f32);
        });
        f64::from(terms) * weight
    }
}

fn count_term(
    postings: &mut Vec<Posting>,
    chains: &mut Vec<Chain>,
    term: TermId,
    item: u32,
    weight: f32,
) {
    if term as usize >= chains.len() {
        chains.resize(term as usize + 1, Chain::default());
    }
    let chain = &mut chains[term as usize];
    if chain.newest != 0 && chain.item == item {
        postings[chain.newest as usize - 1].count += weight;
    } else {
        postings.push(Posting { term, item, count: weight, older: chain.newest });
        *chain = Chain { newest: postings.len() as u32, item, length: chain.length + 1 };
    }
}

/// A list of items as the index sees it.
pub(crate) struct ListView<'s> {
    store: &'s Store,
    /// For each item of the list its number in the index.
    numbers: Vec<u32>,
    /// For each item of the index how often the list has it; absent if the list is the whole index
    /// in its order.
    occurrences: Option<Vec<u32>>,
}

impl<'s> ListView<'s> {
    /// `None` if the index lacks one of the items.
    fn new(store: &'s Store, items: &[ContextItem]) -> Option<Self> {
        let mut numbers = Vec::with_capacity(items.len());
        let mut expected = 0_u32;
        for item in items {
            let key = key(item);
            // Items mostly come in the order in which they were added.
            let number = match store.keys.get(expected as usize) {
                Some(known) if *known == key => expected,
                _ => *store.numbers.get(&key)?,
            };
            numbers.push(number);
            expected = number + 1;
        }
        let is_whole = numbers.len() == store.keys.len()
            && numbers.iter().copied().eq(0..numbers.len() as u32);
        let occurrences = (!is_whole).then(|| {
            let mut occurrences = vec![0; store.keys.len()];
            for number in &numbers {
                occurrences[*number as usize] += 1;
            }
            occurrences
        });
        Some(Self { store, numbers, occurrences })
    }

    /// How many items the list has.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// A term by its text, if the index has it.
    pub(crate) fn find(&self, term: &str) -> Option<TermId> {
        self.store.lexicon.find(term)
    }

    /// How many terms all terms are numbered below.
    pub(crate) fn term_count(&self) -> usize {
        self.store.lexicon.term_count()
    }

    /// In how many items of the list a term occurs.
    pub(crate) fn frequency(&self, term: TermId) -> usize {
        let chain = self.store.chains[term as usize];
        match &self.occurrences {
            None => chain.length as usize,
            Some(occurrences) => {
                self.chain(term).map(|posting| occurrences[posting.item as usize] as usize).sum()
            }
        }
    }

    /// How many terms an item of the list has.
    pub(crate) fn length(&self, position: usize) -> f64 {
        self.store.lengths[self.numbers[position] as usize]
    }

    /// The mean number of terms of an item; 1 if there are none at all.
    pub(crate) fn mean_length(&self) -> f64 {
        let total: f64 = (0..self.len()).map(|position| self.length(position)).sum();
        if total > 0.0 { total / self.len() as f64 } else { 1.0 }
    }

    /// The distinct terms of an item of the list, in the order in which they first occur.
    pub(crate) fn terms(&self, position: usize) -> &'s [Posting] {
        let number = self.numbers[position] as usize;
        let start = if number == 0 { 0 } else { self.store.ends[number - 1] };
        &self.store.postings[start as usize..self.store.ends[number] as usize]
    }

    /// The numbers of the values of an item of the list, each once. Only in a list with values.
    pub(crate) fn values(&self, position: usize) -> &'s [u32] {
        self.store.values.of(self.numbers[position] as usize)
    }

    /// How many values all values are numbered below.
    pub(crate) fn value_count(&self) -> usize {
        self.store.values.count()
    }

    /// Lets `add` sum something up for every item of the index, and hands it to the items of the
    /// list.
    pub(crate) fn sum_up(&self, sums: &mut [f64], add: impl FnOnce(&mut [f64])) {
        if self.occurrences.is_none() {
            sums.fill(0.0);
            return add(sums);
        }
        let mut all = vec![0.0; self.store.keys.len()];
        add(&mut all);
        for (sum, number) in sums.iter_mut().zip(&self.numbers) {
            *sum = all[*number as usize];
        }
    }

    /// Calls `hit` for every item of the index with a term: its number, how often it has the term,
    /// and how many terms it has in all. Items that the list lacks are among them.
    pub(crate) fn for_each_hit(&self, term: TermId, mut hit: impl FnMut(usize, f64, f64)) {
        for posting in self.chain(term) {
            let item = posting.item as usize;
            hit(item, f64::from(posting.count), self.store.lengths[item]);
        }
    }

    fn chain(&self, term: TermId) -> impl Iterator<Item = &'s Posting> {
        let postings = &self.store.postings;
        let newest = self.store.chains[term as usize].newest;
        let posting = |number: u32| postings.get((number as usize).checked_sub(1)?);
        std::iter::successors(posting(newest), move |previous| posting(previous.older))
    }
}
