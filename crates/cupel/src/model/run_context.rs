//! Context of a run beside its items and its budget.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::ContextItem;

/// Context of a run beside its items and its budget: the time, and one value for strategies of
/// other crates, as the query that they score for.
///
/// A policy is built once and asked about many requests; whatever differs between them is an
/// argument of the run. Without a context, strategies use what they were built with.
///
/// ```
/// use cupel::{
///     ChronologicalPlacer, ContextBudget, ContextItem, ContextItemBuilder, GreedySlice, ItemList,
///     Pipeline, RunContext, Scorer,
/// };
///
/// /// One point for the word that the run is about.
/// struct Mentions;
///
/// struct Word(&'static str);
///
/// impl Scorer for Mentions {
///     fn score(&self, _: &ContextItem, _: &[ContextItem]) -> f64 {
///         0.0 // No run, no word.
///     }
///
///     fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
///         for (item, score) in items.iter().zip(scores) {
///             let word = items.context().get::<Word>();
///             *score = f64::from(u8::from(word.is_some_and(|word| item.content().contains(word.0))));
///         }
///     }
/// }
///
/// let pipeline = Pipeline::builder()
///     .scorer(Mentions).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
/// let items = [
///     ContextItemBuilder::new("the key", 2).build()?,
///     ContextItemBuilder::new("the door", 2).build()?,
/// ];
/// let budget = ContextBudget::builder(2).build()?;
/// for word in ["key", "door"] {
///     let asked = pipeline.clone().with_context(RunContext::new().with(Word(word)));
///     assert!(asked.run(&items, &budget)?[0].content().ends_with(word));
/// }
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Clone, Default)]
pub struct RunContext {
    now: Option<DateTime<Utc>>,
    value: Option<Arc<dyn Any + Send + Sync>>,
}

/// The context of runs that are told nothing.
static NOTHING: RunContext = RunContext { now: None, value: None };

impl RunContext {
    /// Tells nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With the time from which ages are measured, instead of the clock that the policy was built
    /// with. A policy that names a reference time keeps it.
    #[must_use]
    pub fn at(mut self, now: DateTime<Utc>) -> Self {
        self.now = Some(now);
        self
    }

    /// With a value for strategies that look for its type.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.value = Some(Arc::new(value));
        self
    }

    /// The time from which ages are measured, if the run has one.
    pub fn now(&self) -> Option<DateTime<Utc>> {
        self.now
    }

    /// The value of the run, if it is of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.value.as_ref()?.downcast_ref()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.now.is_none() && self.value.is_none()
    }

    pub(crate) fn nothing() -> &'static Self {
        &NOTHING
    }
}

impl fmt::Debug for RunContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("RunContext");
        fields.field("now", &self.now).field("has_value", &self.value.is_some()).finish()
    }
}

/// The items that a run scores, and what it is told beside them: a slice of items in all but name.
#[derive(Debug, Clone, Copy)]
pub struct ItemList<'a> {
    items: &'a [ContextItem],
    context: &'a RunContext,
}

impl<'a> ItemList<'a> {
    /// Items of a run that is told nothing.
    #[must_use]
    pub fn new(items: &'a [ContextItem]) -> Self {
        Self { items, context: RunContext::nothing() }
    }

    /// The same items in a run that is told something.
    #[must_use]
    pub fn in_context(self, context: &'a RunContext) -> Self {
        Self { context, ..self }
    }

    /// Context of the run.
    #[must_use]
    pub fn context(&self) -> &'a RunContext {
        self.context
    }
}

impl Deref for ItemList<'_> {
    type Target = [ContextItem];

    fn deref(&self) -> &[ContextItem] {
        self.items
    }
}
