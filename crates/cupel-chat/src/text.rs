//! A text that a request holds on to, without a copy where that can be.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::again::Home;
use crate::json::Json;

/// A piece of the request's own text, or, where JSON wrote it with escapes, what it says.
#[derive(Clone)]
pub(crate) enum Text {
    /// A part of the text that all pieces share.
    Shared { source: Arc<str>, range: Range<usize> },
    /// A text of its own.
    Own(Arc<str>),
    /// A name that formats have in common.
    Name(&'static str),
}

impl Text {
    /// `part` of `source`, shared if it is a slice of it.
    pub(crate) fn of(source: Option<&Arc<str>>, part: Cow<'_, str>) -> Self {
        match (source, part) {
            (Some(source), Cow::Borrowed(part)) => match range_in(source, part) {
                Some(range) => Self::Shared { source: Arc::clone(source), range },
                None => Self::Own(part.into()),
            },
            (_, part) => Self::Own(part.into()),
        }
    }

    /// The same text where all that it is a part of stands elsewhere.
    pub(crate) fn moved(&self, home: Home<'_>) -> Self {
        match self {
            Self::Shared { range, .. } => {
                let place = |at: usize| at.saturating_sub(home.old).saturating_add(home.new);
                let range = place(range.start)..place(range.end);
                Self::Shared { source: Arc::clone(home.text), range }
            }
            other => other.clone(),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Shared { source, range } => &source[range.clone()],
            Self::Own(text) => text,
            Self::Name(name) => name,
        }
    }
}

/// Where a slice of a text is in it; `None` if it is none of it.
pub(crate) fn range_in(text: &str, part: &str) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let range = start..start.checked_add(part.len())?;
    (range.end <= text.len() && text.is_char_boundary(start)).then_some(range)
}

impl Default for Text {
    fn default() -> Self {
        Self::Name("")
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Own(text.into())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// A JSON value that a request holds on to, as it is written.
#[derive(Clone)]
pub(crate) struct JsonText(Text);

impl JsonText {
    /// The value, to be looked into.
    pub(crate) fn view(&self) -> Json<'_> {
        match &self.0 {
            Text::Shared { source, range } => Json::known(Some(source), &source[range.clone()]),
            Text::Own(_) | Text::Name(_) => Json::known(None, &self.0),
        }
    }

    /// The same value where all that it is a part of stands elsewhere.
    pub(crate) fn moved(&self, home: Home<'_>) -> Self {
        Self(self.0.moved(home))
    }

    /// Where the value stands in `text`, which it is a part of.
    pub(crate) fn range_in(&self, text: &str) -> Range<usize> {
        range_in(text, &self.0).unwrap_or_default()
    }
}

impl From<Json<'_>> for JsonText {
    fn from(json: Json<'_>) -> Self {
        Self(json.raw_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_shared_and_other_texts_are_not() {
        let source: Arc<str> = Arc::from("one two");
        let shared = Text::of(Some(&source), Cow::Borrowed(&source[4..]));
        assert_eq!((&shared, Arc::strong_count(&source)), (&Text::from("two".to_owned()), 2));
        assert!(matches!(&shared, Text::Shared { range, .. } if *range == (4..7)));
        let other = "two".to_owned();
        assert!(matches!(Text::of(Some(&source), Cow::Borrowed(&other)), Text::Own(_)));
    }

    #[test]
    fn a_value_that_is_kept_can_be_looked_into() {
        let source: Arc<str> = Arc::from(r#"[{"a":"b"}]"#);
        let list = Json::parse_part(Some(&source), &source).unwrap().list().unwrap();
        let kept = JsonText::from(list[0]);
        assert_eq!(kept.view().at_path("a").unwrap().text().unwrap(), "b");
        assert_eq!(kept.range_in(&source), 1..10);
    }

    impl PartialEq for Text {
        fn eq(&self, other: &Self) -> bool {
            self.as_str() == other.as_str()
        }
    }

    impl fmt::Debug for Text {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            fmt::Debug::fmt(self.as_str(), f)
        }
    }
}
