//! Where in a text something is wrong: line, column and JSON path.

use crate::ChatError;
use crate::text::range_in;

/// A syntax error within `part`, which is a slice of `text`.
pub(crate) fn syntax_error(text: &str, part: &str, error: &serde_json::Error) -> ChatError {
    let base = range_in(text, part).unwrap_or_default().start;
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

/// Error about a place of a text.
pub(crate) fn malformed(
    text: &str,
    offset: usize,
    path: String,
    problem: &str,
    remedy: &str,
) -> ChatError {
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
    /// Depth of a path that is shown.
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
    use crate::document::Document;

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
}
