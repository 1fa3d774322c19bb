//! All shorter forms of a tool's result.

use cupel::{Draft, Original, Renderer};

use crate::json::Document;
use crate::{HeadAndTail, Shorten, Stub, json_leaves, minified_json};

/// All shorter forms of a tool's result that [`Shorten`] allows.
///
/// # What it does
///
/// | | JSON object or list, or one on each line | other text |
/// |---|---|---|
/// | [`Shorten::Off`] | – | – |
/// | [`Shorten::Json`] | [`MinifiedJson`](crate::MinifiedJson), [`JsonLeaves`](crate::JsonLeaves), [`Stub`] | – |
/// | [`Shorten::All`] | the same | [`HeadAndTail`], [`Stub`] |
///
/// # When to choose it
///
/// For results of tools. Words of people and models are better left whole.
///
/// # Cost
///
/// That of its parts; the text is read as JSON once.
///
/// # Example
///
/// ```
/// use cupel::{Original, Renderer};
/// use cupel_renderings::{Shorten, Shortened};
///
/// let log = "GET /health 200\n".repeat(100);
/// let original = Original::new(&log, 800).from_tool("logs");
/// assert!(Shortened::new(Shorten::Json).render(&original).is_empty());
/// let drafts = Shortened::new(Shorten::All).render(&original);
/// assert_eq!(drafts.first().unwrap().name, "head and tail 50 %");
/// assert_eq!(drafts.last().unwrap().name, "stub");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shortened {
    what: Shorten,
}

impl Shortened {
    /// Shortens what may be shortened.
    #[must_use]
    pub fn new(what: Shorten) -> Self {
        Self { what }
    }
}

impl Renderer for Shortened {
    fn render(&self, original: &Original<'_>) -> Vec<Draft> {
        if self.what == Shorten::Off {
            return Vec::new();
        }
        let mut drafts = match Document::read(original.text) {
            Some(document) => {
                let mut drafts = Vec::from_iter(minified_json::draft(&document, original));
                drafts.extend(json_leaves::drafts(&document, original));
                drafts
            }
            None if self.what == Shorten::All => HeadAndTail.render(original),
            None => return Vec::new(),
        };
        drafts.extend(Stub.render(original));
        drafts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JsonLeaves, MinifiedJson};

    fn names(what: Shorten, text: &str) -> Vec<String> {
        let drafts = Shortened::new(what).render(&Original::new(text, 1_000));
        drafts.into_iter().map(|draft| draft.name).collect()
    }

    fn records() -> String {
        let records: Vec<String> = (0..40)
            .map(|number| format!(r#"{{"id": "R{number:03}", "seats": {number}}}"#))
            .collect();
        format!("[{}]", records.join(", "))
    }

    #[test]
    fn json_has_all_its_forms_and_other_text_only_if_asked_for() {
        let json = ["json minified", "json 60 %", "json 35 %", "json 18 %", "json 8 %", "stub"];
        assert_eq!(names(Shorten::Json, &records()), json);
        assert_eq!(names(Shorten::All, &records()), json);
        assert!(names(Shorten::Off, &records()).is_empty());
        let text = "All is well.\n".repeat(300);
        assert!(names(Shorten::Off, &text).is_empty());
        assert!(names(Shorten::Json, &text).is_empty());
        assert_eq!(names(Shorten::All, &text).len(), 5);
    }

    #[test]
    fn the_forms_are_those_of_its_parts() {
        let text = records();
        let original = Original::new(&text, 1_000).from_tool("list");
        let parts: [&dyn Renderer; 3] = [&MinifiedJson, &JsonLeaves, &Stub];
        let drafts: Vec<Draft> = parts.iter().flat_map(|part| part.render(&original)).collect();
        assert_eq!(Shortened::new(Shorten::All).render(&original), drafts);
    }
}
