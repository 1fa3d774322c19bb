//! JSON as it is written: what it is, what it holds, and how a part of it is written again.

mod class;
mod cost;
mod cut;
mod document;
mod elision;
mod selection;
mod tree;
mod write;

pub(crate) use document::Document;
pub(crate) use selection::Selection;
pub(crate) use tree::Tree;

/// Number of values a JSON object or list holds, or one on each line: texts, numbers, `true`,
/// `false`, `null` and empty containers, at any depth. Marks of what was left out are none.
/// Nothing if it is no such text.
///
/// ```
/// use cupel_renderings::value_count;
///
/// assert_eq!(value_count(r#"{"id": "NO6JO3", "legs": ["JFK", "SEA"]}"#), Some(3));
/// assert_eq!(value_count(r#"{"id":"NO6JO3","…":1}"#), Some(1));
/// assert_eq!(value_count("NO6JO3"), None);
/// ```
#[must_use]
pub fn value_count(text: &str) -> Option<usize> {
    Some(Tree::read(&Document::read(text)?)?.value_count())
}
