//! JSON without white space.

use cupel::{Draft, Original, Renderer};

use crate::json::Document;

/// JSON without the white space between its parts.
///
/// # What it does
///
/// A JSON object or list, or one on each line, is written without white space. Strings and numbers
/// stay as they were written, to the byte: nothing is parsed and printed again.
///
/// # When to choose it
///
/// Always, for JSON: all of the value for fewer tokens.
///
/// # Edge cases
///
/// Nothing is offered for what is no JSON object or list, or is minified already. A byte order mark
/// is left out.
///
/// # Cost
///
/// Two passes over the text.
///
/// # Example
///
/// ```
/// use cupel::{Original, Renderer};
/// use cupel_renderings::MinifiedJson;
///
/// let drafts = MinifiedJson.render(&Original::new(r#"{ "price": 1.50 }"#, 9));
/// assert_eq!(drafts[0].name, "json minified");
/// assert_eq!(drafts[0].content, r#"{"price":1.50}"#);
/// assert_eq!(drafts[0].share, 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MinifiedJson;

impl Renderer for MinifiedJson {
    fn render(&self, original: &Original<'_>) -> Vec<Draft> {
        Document::read(original.text)
            .and_then(|document| draft(&document, original))
            .into_iter()
            .collect()
    }
}

/// The document minified, if that is shorter.
pub(crate) fn draft(document: &Document<'_>, original: &Original<'_>) -> Option<Draft> {
    let content = document.minified();
    (content.len() < original.text.len()).then(|| Draft::new("json minified", content, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minified(text: &str) -> Option<String> {
        let drafts = MinifiedJson.render(&Original::new(text, 1));
        assert!(drafts.len() <= 1);
        drafts.into_iter().next().map(|draft| draft.content)
    }

    #[test]
    fn strings_and_numbers_stay_as_they_were_written() {
        let spaced = "\u{feff} {\n\t\"a b\" : [ 1.50 , 1E+2, -0 , \"x \\\" \\\\\" , \"\\ud800 é \" ],\r\n \"n\" : null }\n";
        let tight = r#"{"a b":[1.50,1E+2,-0,"x \" \\","\ud800 é "],"n":null}"#;
        assert_eq!(minified(spaced).as_deref(), Some(tight));
        assert_eq!(minified(tight), None);
    }

    #[test]
    fn nothing_else_is_touched() {
        for text in [
            "",
            " ",
            "1 ",
            "\"a\" ",
            "true ",
            "[1, 2",
            "{\"a\": }",
            "{'a': 1}",
            "[1] [2]",
            "[1]\nx",
            "see [1, 2]",
        ] {
            assert_eq!(minified(text), None, "{text}");
        }
    }

    #[test]
    fn lines_stay_lines() {
        let text = "{\"a\": 1}\r\n\n[ 2 ]\n{\"b\": \"\\n\"} \n";
        assert_eq!(minified(text).as_deref(), Some("{\"a\":1}\n[2]\n{\"b\":\"\\n\"}"));
    }

    #[test]
    fn depth_does_not_matter() {
        let deep = format!("{}{}", "[ ".repeat(200_000), "]".repeat(200_000));
        assert_eq!(minified(&deep).map(|text| text.len()), Some(400_000));
    }
}
