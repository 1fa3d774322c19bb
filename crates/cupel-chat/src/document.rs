//! The text of a request, parsed as far as every format needs it.

use crate::ChatError;
use crate::json::{Json, Object};

/// The text of a request: one JSON value, or one on each line.
pub(crate) struct Document<'t> {
    text: &'t str,
    pub(crate) body: Body<'t>,
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
    /// What stands beside it.
    pub(crate) top: Object<'t>,
}

impl<'t> Document<'t> {
    pub(crate) fn parse(text: &'t str) -> Result<Self, ChatError> {
        let content = text.strip_prefix('\u{feff}').unwrap_or(text);
        if content.trim().is_empty() {
            let problem = "there is nothing in it";
            return Err(malformed(text, 0, String::new(), problem, "give a request as JSON"));
        }
        match Json::parse(content) {
            Ok(json) => Ok(Self { text, body: Body::One(json) }),
            Err(error) if begins_with_a_line_of_json(content) => {
                let lines = parse_lines(text, content, &error)?;
                Ok(Self { text, body: Body::Lines(lines) })
            }
            Err(error) => Err(syntax_error(text, content, &error)),
        }
    }

    /// What is wrong with a value, and where it is.
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
        if let Some(elements) = json.list() {
            return Ok(Listing { path: "", elements, top: Object::default() });
        }
        let name = names.first().copied().unwrap_or_default();
        let Some(top) = json.object() else {
            let problem =
                format!("must be an object with `{name}` or a list, got {}", json.describe());
            return Err(self.malformed(json, "", &problem, "give a request as JSON"));
        };
        let Some((path, list)) = top.any_of(names) else {
            let remedy = "add it, or name the right format";
            return Err(self.malformed(json, name, "is required", remedy));
        };
        let Some(elements) = list.list() else {
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
    text: &str,
    content: &'t str,
    whole: &serde_json::Error,
) -> Result<Vec<Json<'t>>, ChatError> {
    // A line that is no JSON says more about what is wrong than the whole does, which ends after
    // the first line.
    let parse = |line: &'t str| Json::parse(line).map_err(|error| syntax_error(text, line, &error));
    let lines = content.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<Json<'t>> = lines.map(parse).collect::<Result<_, _>>()?;
    if lines.len() < 2 {
        return Err(syntax_error(text, content, whole));
    }
    Ok(lines)
}

/// A syntax error within `part`, which is a slice of `text`.
fn syntax_error(text: &str, part: &str, error: &serde_json::Error) -> ChatError {
    let base = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    let line_start: usize =
        part.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let offset = base + line_start + error.column().saturating_sub(1);
    let problem = error.to_string();
    let problem = problem.split(" at line ").next().unwrap_or(&problem).to_lowercase();
    let (problem, remedy) = if error.is_eof() {
        ("the text ends too early", "give the whole of it")
    } else {
        (problem.as_str(), "correct the JSON at this place")
    };
    let path = path_before(&text[base..floor_char_boundary(text, offset).max(base)]);
    malformed(text, offset, path, problem, remedy)
}

fn malformed(text: &str, offset: usize, path: String, problem: &str, remedy: &str) -> ChatError {
    let before = &text[..floor_char_boundary(text, offset)];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    ChatError::Malformed {
        line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
        column: before[line_start..].trim_start_matches('\u{feff}').chars().count() + 1,
        path,
        problem: problem.to_owned(),
        remedy: remedy.to_owned(),
    }
}

fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The JSON path of the end of a text that is right up to there, as in `messages[4].content`.
fn path_before(text: &str) -> String {
    enum Level<'t> {
        Object(&'t str),
        List(usize),
    }
    let mut levels: Vec<Level<'_>> = Vec::new();
    let mut last_text = "";
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (byte, levels.last_mut()) {
            (b'"', _) => last_text = &text[at + 1..skip_text(&mut bytes).unwrap_or(text.len())],
            (b'{', _) => levels.push(Level::Object("")),
            (b'[', _) => levels.push(Level::List(0)),
            (b'}' | b']', _) => drop(levels.pop()),
            (b':', Some(Level::Object(key))) => *key = last_text,
            (b',', Some(Level::Object(key))) => *key = "",
            (b',', Some(Level::List(index))) => *index += 1,
            _ => {}
        }
    }
    /// How much of the path is worth showing.
    const DEEPEST: usize = 8;
    let mut path = String::new();
    for level in levels.iter().take(DEEPEST) {
        match level {
            Level::Object("") => break,
            Level::Object(key) if path.is_empty() => path.push_str(key),
            Level::Object(key) => path.extend([".", key]),
            Level::List(index) => path.extend(["[", &index.to_string(), "]"]),
        }
    }
    path
}

/// Goes on behind the end of a text. Returns where that is, if it is there.
fn skip_text(bytes: &mut impl Iterator<Item = (usize, u8)>) -> Option<usize> {
    loop {
        match bytes.next()? {
            (_, b'\\') => drop(bytes.next()),
            (end, b'"') => return Some(end),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn error(text: &str) -> String {
        Document::parse(text).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn syntax_errors_name_line_column_and_path() {
        assert_eq!(
            error("{\"messages\": [\n  {\"role\": \"user\"},\n  {\"role\" \"user\"}]}"),
            "line 3, column 11: messages[1]: expected `:`; correct the JSON at this place"
        );
    }

    #[test]
    fn a_text_that_ends_too_early_says_so() {
        assert_eq!(
            error("{\"messages\": [{\"content\": \"é"),
            "line 1, column 28: messages[0].content: the text ends too early; give the whole of it"
        );
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
