//! One candidate for the context window.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{ContextKind, ContextSource, Part};
use crate::{CupelError, Rendering};

/// One candidate for the context window: a text with its token count, and what is known about it.
///
/// An item is a handle. Cloning it copies a pointer, never the text, and the clone is still the
/// same item ([`is_same_item`](Self::is_same_item)). `==` compares the fields instead. Items
/// cannot be changed; build them with a [`ContextItemBuilder`].
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, ContextKind};
///
/// let item = ContextItemBuilder::new("The deploy failed at step 3.", 8)
///     .kind(ContextKind::tool_output())
///     .tags(vec!["deploy".into()])
///     .build()?;
/// assert_eq!(item.tokens(), 8);
/// assert!(item.clone().is_same_item(&item));
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct ContextItem(Arc<Fields>);

/// In the order in which a run reads them: what every run reads lies together, so that looking at an
/// item fetches as little memory as possible.
#[derive(Debug, Clone, Default, PartialEq)]
#[repr(C)]
struct Fields {
    content: String,
    tokens: i64,
    timestamp: Option<DateTime<Utc>>,
    pinned: bool,
    future_relevance_hint: Option<f64>,
    priority: Option<i64>,
    kind: ContextKind,
    tags: Vec<String>,
    metadata: HashMap<String, String>,
    source: ContextSource,
    original_tokens: Option<i64>,
    /// Boxed, since few items have any.
    shorter: Option<Box<Shorter>>,
    parts: Parts,
}

/// Typed parts are knowledge about the text, not part of an item's value: any two are equal.
#[derive(Debug, Clone, Default)]
struct Parts(Box<[Part]>);

impl PartialEq for Parts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Fields of items that can be, or were, shortened.
#[derive(Debug, Clone, Default, PartialEq)]
struct Shorter {
    renderings: Vec<Rendering>,
    rendered_as: Option<String>,
}

impl ContextItem {
    /// The text; never empty.
    pub fn content(&self) -> &str {
        &self.0.content
    }

    /// The token count that the caller gave. Items with a negative count are excluded by the
    /// pipeline.
    pub fn tokens(&self) -> i64 {
        self.0.tokens
    }

    /// Kind of the item.
    pub fn kind(&self) -> &ContextKind {
        &self.0.kind
    }

    /// Where the item came from.
    pub fn source(&self) -> &ContextSource {
        &self.0.source
    }

    /// The caller's priority; higher is more important.
    pub fn priority(&self) -> Option<i64> {
        self.0.priority
    }

    /// Descriptive tags, in the order given.
    pub fn tags(&self) -> &[String] {
        &self.0.tags
    }

    /// The caller's own data. No stage reads it; a scorer may.
    pub fn metadata(&self) -> &HashMap<String, String> {
        &self.0.metadata
    }

    /// When the item was made or observed.
    pub fn timestamp(&self) -> Option<DateTime<Utc>> {
        self.0.timestamp
    }

    /// The caller's guess of how relevant the item will be, conventionally within 0.0 and 1.0.
    pub fn future_relevance_hint(&self) -> Option<f64> {
        self.0.future_relevance_hint
    }

    /// Returns true if the item is always included, whatever its score and the budget.
    pub fn pinned(&self) -> bool {
        self.0.pinned
    }

    /// The token count before the caller summarised or cut the text. No stage reads it.
    pub fn original_tokens(&self) -> Option<i64> {
        self.0.original_tokens
    }

    /// Its shorter forms, in the order given; see [`Rendering`].
    pub fn renderings(&self) -> &[Rendering] {
        self.0.shorter.as_ref().map_or(&[], |shorter| &shorter.renderings)
    }

    /// Returns the typed parts of its text, in the order of the text; none where nobody said.
    pub fn parts(&self) -> &[Part] {
        &self.0.parts.0
    }

    /// Name of the shorter form that this item is [rendered](Self::rendered) in; `None` if it
    /// is whole.
    pub fn rendered_as(&self) -> Option<&str> {
        self.0.shorter.as_ref().and_then(|shorter| shorter.rendered_as.as_deref())
    }

    /// The item in one of its shorter forms: another item, with that text and its tokens, and the
    /// tokens that it had before. `None` if it has no such form.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel::{ContextItemBuilder, Rendering};
    ///
    /// let item = ContextItemBuilder::new("a long report", 100)
    ///     .renderings(vec![Rendering::new("summary", "all is well", 4)?])
    ///     .build()?;
    /// let short = item.rendered(0).unwrap();
    /// assert_eq!((short.content(), short.tokens()), ("all is well", 4));
    /// assert_eq!((short.rendered_as(), short.original_tokens()), (Some("summary"), Some(100)));
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    #[must_use]
    pub fn rendered(&self, rendering: usize) -> Option<Self> {
        let form = self.renderings().get(rendering)?;
        let shorter = Shorter { renderings: Vec::new(), rendered_as: Some(form.name().to_owned()) };
        Some(Self(Arc::new(Fields {
            content: form.content().to_owned(),
            tokens: form.tokens(),
            kind: self.0.kind.clone(),
            tags: self.0.tags.clone(),
            metadata: self.0.metadata.clone(),
            source: self.0.source.clone(),
            original_tokens: self.original_tokens().or(Some(self.tokens())),
            shorter: Some(Box::new(shorter)),
            parts: Parts(form.parts().into()),
            ..*self.0
        })))
    }

    /// The same with other shorter forms: another item.
    #[must_use]
    pub fn with_renderings(&self, renderings: Vec<Rendering>) -> Self {
        let mut fields = Fields::clone(&self.0);
        set_renderings(&mut fields, renderings);
        Self(Arc::new(fields))
    }

    /// Returns true if two handles are the same item: one is a clone of the other.
    ///
    /// Two items that were built apart are different items, even if all their fields are equal.
    pub fn is_same_item(&self, other: &Self) -> bool {
        self.id() == other.id()
    }

    /// Identity for comparisons: the address of the fields. Never shown to a user, never ordered into
    /// a result.
    pub(crate) fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl fmt::Debug for ContextItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("ContextItem");
        fields
            .field("content", &self.content())
            .field("tokens", &self.tokens())
            .field("kind", self.kind())
            .field("source", self.source())
            .field("priority", &self.priority())
            .field("tags", &self.tags())
            // Sorted, so that equal items look alike.
            .field("metadata", &self.metadata().iter().collect::<BTreeMap<_, _>>())
            .field("timestamp", &self.timestamp())
            .field("future_relevance_hint", &self.future_relevance_hint())
            .field("pinned", &self.pinned())
            .field("original_tokens", &self.original_tokens());
        if let Some(shorter) = &self.0.shorter {
            fields.field("renderings", &shorter.renderings);
            fields.field("rendered_as", &shorter.rendered_as);
        }
        fields.finish()
    }
}

fn set_renderings(fields: &mut Fields, renderings: Vec<Rendering>) {
    if !renderings.is_empty() || fields.shorter.is_some() {
        fields.shorter.get_or_insert_default().renderings = renderings;
    }
}

/// Builds a [`ContextItem`]. Only text and token count are required.
#[derive(Debug)]
#[must_use]
pub struct ContextItemBuilder(Fields);

impl ContextItemBuilder {
    /// Starts an item with its text and token count.
    pub fn new(content: impl Into<String>, tokens: i64) -> Self {
        Self(Fields { content: content.into(), tokens, ..Fields::default() })
    }

    /// Sets the kind; `Message` by default.
    pub fn kind(mut self, kind: ContextKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Where it came from; `Chat` by default.
    pub fn source(mut self, source: ContextSource) -> Self {
        self.0.source = source;
        self
    }

    /// Sets the priority; higher is more important.
    pub fn priority(mut self, priority: i64) -> Self {
        self.0.priority = Some(priority);
        self
    }

    /// Descriptive tags.
    pub fn tags(mut self, tags: Vec<String>) -> Self {
        self.0.tags = tags;
        self
    }

    /// Your own data. Keys that begin with `cupel:` are reserved for documented conventions.
    pub fn metadata(mut self, metadata: HashMap<String, String>) -> Self {
        self.0.metadata = metadata;
        self
    }

    /// When it was made or observed.
    pub fn timestamp(mut self, timestamp: DateTime<Utc>) -> Self {
        self.0.timestamp = Some(timestamp);
        self
    }

    /// Sets the relevance that you expect, conventionally within 0.0 and 1.0.
    pub fn future_relevance_hint(mut self, hint: f64) -> Self {
        self.0.future_relevance_hint = Some(hint);
        self
    }

    /// Sets that the item is always included.
    pub fn pinned(mut self, pinned: bool) -> Self {
        self.0.pinned = pinned;
        self
    }

    /// The token count before you summarised or cut the text.
    pub fn original_tokens(mut self, tokens: i64) -> Self {
        self.0.original_tokens = Some(tokens);
        self
    }

    /// Shorter forms, any of which may go into the window instead of the whole.
    pub fn renderings(mut self, renderings: Vec<Rendering>) -> Self {
        set_renderings(&mut self.0, renderings);
        self
    }

    /// Typed parts of the text, in the order of the text.
    pub fn parts(mut self, parts: Vec<Part>) -> Self {
        self.0.parts = Parts(parts.into());
        self
    }

    /// Says that the text is a shorter form of this name. For whoever reads items that were
    /// written; a run does it by itself.
    pub fn rendered_as(mut self, name: impl Into<String>) -> Self {
        self.0.shorter.get_or_insert_default().rendered_as = Some(name.into());
        self
    }

    /// Finishes the item.
    ///
    /// # Errors
    ///
    /// [`CupelError::EmptyContent`] if the text is empty.
    pub fn build(self) -> Result<ContextItem, CupelError> {
        if self.0.content.is_empty() {
            return Err(CupelError::EmptyContent);
        }
        Ok(ContextItem(Arc::new(self.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_specification() {
        let item = ContextItemBuilder::new("a", 1).build().unwrap();
        assert_eq!(item.kind(), &ContextKind::message());
        assert_eq!(item.source(), &ContextSource::default());
        assert_eq!(item.priority(), None);
        assert!(item.tags().is_empty() && item.metadata().is_empty());
        assert_eq!(item.timestamp(), None);
        assert_eq!(item.future_relevance_hint(), None);
        assert_eq!(item.original_tokens(), None);
        assert!(!item.pinned());
    }

    #[test]
    fn empty_content_is_refused_and_white_space_is_content() {
        assert_eq!(ContextItemBuilder::new("", 1).build(), Err(CupelError::EmptyContent));
        assert!(ContextItemBuilder::new(" ", 1).build().is_ok());
    }

    #[test]
    fn cloning_copies_no_text_and_keeps_identity() {
        let item = ContextItemBuilder::new("text", 1).build().unwrap();
        let clone = item.clone();
        assert!(std::ptr::eq(item.content(), clone.content()));
        assert!(item.is_same_item(&clone));
    }

    #[test]
    fn items_built_apart_are_equal_but_not_the_same() {
        let build = || ContextItemBuilder::new("text", 1).build().unwrap();
        assert_eq!(build(), build());
        assert!(!build().is_same_item(&build()));
    }

    #[test]
    fn debug_shows_metadata_in_the_order_of_its_keys() {
        let metadata: HashMap<String, String> =
            (0..9).map(|i| (format!("key{i}"), "v".to_owned())).collect();
        let item = ContextItemBuilder::new("a", 1).metadata(metadata).build().unwrap();
        let text = format!("{item:?}");
        let keys: Vec<usize> = (0..9).filter_map(|i| text.find(&format!("key{i}"))).collect();
        assert!(keys.len() == 9 && keys.is_sorted(), "{text}");
    }

    #[test]
    fn parts_are_no_part_of_equality_and_stay_with_clones() {
        let part = Part { range: 0..4, kind: crate::PartKind::Attached };
        let plain = ContextItemBuilder::new("text", 1).build().unwrap();
        let typed = ContextItemBuilder::new("text", 1).parts(vec![part.clone()]).build().unwrap();
        assert_eq!(plain, typed);
        assert_eq!(typed.clone().parts(), [part]);
        assert_eq!(typed.parts()[0].of("tex"), "", "a range of another text");
    }

    #[test]
    fn a_form_has_its_own_parts() {
        let part = |range| Part { range, kind: crate::PartKind::Attached };
        let form = Rendering::new("head", "te", 1).unwrap().with_parts(vec![part(0..2)]);
        let item = ContextItemBuilder::new("text", 2).parts(vec![part(0..4)]);
        let item = item.renderings(vec![form]).build().unwrap();
        assert_eq!(item.rendered(0).unwrap().parts(), [part(0..2)]);
    }

    #[test]
    fn any_token_count_is_accepted() {
        for tokens in [i64::MIN, -1, 0, i64::MAX] {
            assert_eq!(ContextItemBuilder::new("a", tokens).build().unwrap().tokens(), tokens);
        }
    }
}
