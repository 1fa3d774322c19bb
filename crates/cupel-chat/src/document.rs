//! The text of a request, parsed as far as every format needs it.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::ChatError;
use crate::again::Earlier;
use crate::json::{Json, Object};
use crate::place::{malformed, syntax_error};

/// Number of messages that are looked at to find out the format. What tells formats apart comes early.
pub(crate) const SAMPLE: usize = 64;

/// The text of a request: one JSON value, or one on each line.
pub(crate) struct Document<'t> {
    text: &'t str,
    pub(crate) body: Body<'t>,
    /// A request of the same format that may have messages in common with it.
    pub(crate) earlier: Option<Earlier<'t>>,
    /// Fields that were read already: detection of the format reads the fields that the format reads again.
    top: OnceCell<Option<Object<'t>>>,
    list: OnceCell<(Json<'t>, Option<Vec<Json<'t>>>)>,
    sample: OnceCell<Vec<(Json<'t>, Option<Object<'t>>)>>,
}

pub(crate) enum Body<'t> {
    One(Json<'t>),
    Lines(Vec<Json<'t>>),
}

/// The list that holds the messages.
pub(crate) struct Listing<'t> {
    /// The field that it is in; empty for a bare list.
    pub(crate) path: &'static str,
    pub(crate) elements: Vec<Json<'t>>,
    /// Fields beside it.
    pub(crate) top: Object<'t>,
}

impl<'t> Document<'t> {
    /// A text that is shared: whatever is kept of it is a part of it.
    pub(crate) fn parse_shared(text: &'t Arc<str>) -> Result<Self, ChatError> {
        Self::parse_from(Some(text), text)
    }

    /// A text that is only looked at.
    pub(crate) fn parse(text: &'t str) -> Result<Self, ChatError> {
        Self::parse_from(None, text)
    }

    fn parse_from(source: Option<&'t Arc<str>>, text: &'t str) -> Result<Self, ChatError> {
        let content = text.strip_prefix('\u{feff}').unwrap_or(text);
        if content.trim().is_empty() {
            let problem = "there is nothing in it";
            return Err(malformed(text, 0, String::new(), problem, "give a request as JSON"));
        }
        match Json::parse_part(source, content) {
            Ok(json) => Ok(Self::of(text, Body::One(json))),
            Err(error) if begins_with_a_line_of_json(content) => {
                let lines = parse_lines(source, text, content, &error)?;
                Ok(Self::of(text, Body::Lines(lines)))
            }
            Err(error) => Err(syntax_error(text, content, &error)),
        }
    }

    fn of(text: &'t str, body: Body<'t>) -> Self {
        let (top, list, sample) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { text, body, earlier: None, top, list, sample }
    }

    /// The fields of the one value that it is, if that is an object.
    pub(crate) fn top(&self) -> Option<Object<'t>> {
        let read = || match &self.body {
            Body::One(json) => json.object(),
            Body::Lines(_) => None,
        };
        self.top.get_or_init(read).clone()
    }

    /// The elements of a list within it.
    pub(crate) fn elements(&self, list: Json<'t>) -> Option<Vec<Json<'t>>> {
        let (known, elements) = self.list.get_or_init(|| (list, list.list()));
        if std::ptr::eq(known.raw(), list.raw()) { elements.clone() } else { list.list() }
    }

    /// The first elements of the list of messages, of those that are objects, each with its place.
    pub(crate) fn sample(
        &self,
        elements: &[Json<'t>],
    ) -> impl Iterator<Item = (usize, &Object<'t>)> {
        let read = || elements.iter().take(SAMPLE).map(|json| (*json, json.object())).collect();
        let sample: &Vec<_> = self.sample.get_or_init(read);
        sample.iter().enumerate().filter_map(|(at, (_, object))| Some((at, object.as_ref()?)))
    }

    /// An element of that list, if it is one of those.
    pub(crate) fn sampled(&self, at: usize, json: Json<'t>) -> Option<&Object<'t>> {
        let (known, object) = self.sample.get()?.get(at)?;
        object.as_ref().filter(|_| std::ptr::eq(known.raw(), json.raw()))
    }

    /// Error about a value, and its place.
    pub(crate) fn malformed(
        &self,
        json: Json<'_>,
        path: impl Into<String>,
        problem: &str,
        remedy: &str,
    ) -> ChatError {
        malformed(self.text, json.span_in(self.text).start, path.into(), problem, remedy)
    }

    /// The list of messages: bare, or in the first of these fields that is there.
    pub(crate) fn listing(&self, names: &[&'static str]) -> Result<Listing<'t>, ChatError> {
        let json = match &self.body {
            Body::One(json) => *json,
            Body::Lines(lines) => {
                let second = lines.get(1).or(lines.first()).copied();
                let start = second.map_or(0, |line| line.span_in(self.text).start);
                let problem = "a second JSON value begins here";
                let remedy =
                    "give one request; wrap messages that stand on lines of their own in a list";
                return Err(malformed(self.text, start, String::new(), problem, remedy));
            }
        };
        if json.is_list() {
            let elements = self.elements(json).unwrap_or_default();
            return Ok(Listing { path: "", elements, top: Object::default() });
        }
        let name = names.first().copied().unwrap_or_default();
        let Some(top) = self.top() else {
            let problem =
                format!("must be an object with `{name}` or a list, got {}", json.describe());
            return Err(self.malformed(json, "", &problem, "give a request as JSON"));
        };
        let there = |name: &&'static str| Some((*name, top.at_path(name)?));
        let Some((path, list)) = names.iter().find_map(there) else {
            let remedy = "add it, or name the right format";
            return Err(self.malformed(json, name, "is required", remedy));
        };
        let Some(elements) = self.elements(list) else {
            let problem = format!("must be a list, got {}", list.describe());
            return Err(self.malformed(list, path, &problem, "give the messages as a list"));
        };
        Ok(Listing { path, elements, top })
    }
}

fn begins_with_a_line_of_json(content: &str) -> bool {
    let first = content.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| Json::parse(line).is_ok_and(Json::is_object))
}

fn parse_lines<'t>(
    source: Option<&'t Arc<str>>,
    text: &str,
    content: &'t str,
    whole: &serde_json::Error,
) -> Result<Vec<Json<'t>>, ChatError> {
    // A line that is no JSON says more about what is wrong than the whole does, which ends after
    // the first line.
    let parse = |line: &'t str| {
        Json::parse_part(source, line).map_err(|error| syntax_error(text, line, &error))
    };
    let lines = content.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<Json<'t>> = lines.map(parse).collect::<Result<_, _>>()?;
    if lines.len() < 2 {
        return Err(syntax_error(text, content, whole));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn error(text: &str) -> String {
        Document::parse(text).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn nothing_at_all_says_so() {
        for text in ["", " \n", "\u{feff}"] {
            assert!(error(text).contains("there is nothing in it; give a request as JSON"));
        }
    }

    #[test]
    fn a_broken_line_among_lines_is_named() {
        let text = "{\"content\":\"a\"}\n\n{\"content\":}\n";
        assert_eq!(
            error(text),
            "line 3, column 12: content: expected value; correct the JSON at this place"
        );
    }

    #[test]
    fn lines_and_byte_order_marks_are_taken() {
        let document = Document::parse("\u{feff}{\"a\":1}\r\n\r\n{\"a\":2}\r\n").unwrap();
        let Body::Lines(lines) = document.body else { panic!("lines") };
        assert_eq!(lines.len(), 2);
        assert!(matches!(Document::parse("\u{feff}[]").unwrap().body, Body::One(_)));
    }
}
