//! Names of the fields of an item.

use super::read::is_spelling;
use crate::ContextItem;

impl ContextItem {
    /// The fields of an item in JSON, in the order in which they are written (feature `serde`).
    ///
    /// For whoever reads items out of objects that hold more than that.
    pub const FIELDS: [&'static str; 13] = [
        "content",
        "tokens",
        "kind",
        "source",
        "priority",
        "tags",
        "metadata",
        "timestamp",
        "future_relevance_hint",
        "pinned",
        "original_tokens",
        "renderings",
        "rendered_as",
    ];

    /// Returns true if an item has a field of this name, in snake or in camel case (feature `serde`).
    ///
    /// # Example
    ///
    /// ```
    /// use cupel::ContextItem;
    ///
    /// assert!(ContextItem::is_field("original_tokens"));
    /// assert!(ContextItem::is_field("originalTokens"));
    /// assert!(!ContextItem::is_field("note"));
    /// ```
    #[must_use]
    pub fn is_field(name: &str) -> bool {
        Self::FIELDS.into_iter().any(|field| is_spelling(name, field))
    }
}

#[cfg(test)]
mod tests {
    use crate::{ContextItem, ContextItemBuilder, Rendering};

    #[test]
    fn the_list_is_what_is_written() {
        let item = ContextItemBuilder::new("a", 1)
            .priority(1)
            .timestamp(chrono::DateTime::UNIX_EPOCH)
            .future_relevance_hint(0.5)
            .original_tokens(2)
            .renderings(vec![Rendering::new("summary", "b", 1).unwrap()])
            .rendered_as("head")
            .build()
            .unwrap();
        let text = serde_json::to_string(&item).unwrap();
        let places: Vec<usize> = ContextItem::FIELDS
            .into_iter()
            .map(|field| text.find(&format!("\"{field}\":")).unwrap_or_else(|| panic!("{field}")))
            .collect();
        assert!(places.is_sorted(), "{text}");
        let written: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(written.as_object().map(serde_json::Map::len), Some(ContextItem::FIELDS.len()));
    }
}
