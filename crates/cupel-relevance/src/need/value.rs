//! What later calls may need: ids, paths, names.

use std::ops::Range;

/// Shorter runs tell little apart, longer ones are data.
const SHORTEST: usize = 3;
const LONGEST: usize = 128;
/// JSON strings within these bounds are names rather than prose.
const LONGEST_STRING: usize = 40;
const MOST_SPACES: usize = 3;

/// Calls `emit` for every value of a text, as it stands there.
///
/// A value is a run of letters, digits and `_ / @ . : -`, without `. : - /` at its ends, of at least
/// three characters, that has a digit, `_`, `/` or `@` anywhere, a dot or a colon inside, or a
/// capital after its beginning; or a JSON string of up to 40 bytes that is no key. What stands in a
/// key is none.
pub fn for_each_value<'t>(text: &'t str, mut emit: impl FnMut(&'t str)) {
    let mut keys = Vec::new();
    for_each_string(text, |string, is_key| {
        let content = &text[string.clone()];
        if is_key {
            keys.push(string);
        } else if is_name(content) {
            emit(content);
        }
    });
    let mut keys = keys.into_iter().peekable();
    for_each_run(text, |run| {
        while keys.next_if(|key| key.end <= run.start).is_some() {}
        let is_in_key = keys.peek().is_some_and(|key| key.start <= run.start);
        let value = &text[run];
        if !is_in_key && is_value(value) {
            emit(value);
        }
    });
}

/// Whether a value, in lower case, is a number and nothing else.
pub(super) fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
}

fn is_value(run: &str) -> bool {
    if run.len() > LONGEST || run.chars().take(SHORTEST).count() < SHORTEST {
        return false;
    }
    let is_mark = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'_' | b'/' | b'@');
    if run.bytes().any(is_mark) {
        return true;
    }
    let inner = &run[run.chars().next().map_or(0, char::len_utf8)..];
    let before_last = &inner[..inner.len() - inner.chars().next_back().map_or(0, char::len_utf8)];
    before_last.bytes().any(|byte| matches!(byte, b'.' | b':'))
        || inner.chars().any(char::is_uppercase)
}

/// Whether a JSON string reads like a name or an id.
fn is_name(string: &str) -> bool {
    (2..=LONGEST_STRING).contains(&string.len())
        && string.bytes().filter(|byte| *byte == b' ').count() <= MOST_SPACES
        && string.chars().any(char::is_alphanumeric)
}

/// Calls `emit` for every run of characters of which values are made.
fn for_each_run(text: &str, mut emit: impl FnMut(Range<usize>)) {
    let is_inside = |character: char| {
        character.is_alphanumeric() || matches!(character, '_' | '/' | '@' | '.' | ':' | '-')
    };
    let is_edge = |character: char| matches!(character, '.' | ':' | '-' | '/');
    let mut finish = |start: usize, end: usize| {
        let run = &text[start..end];
        let start = end - run.trim_start_matches(is_edge).len();
        let end = start + text[start..end].trim_end_matches(is_edge).len();
        emit(start..end);
    };
    let mut start = None;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        if is_inside(character) {
            start.get_or_insert(at);
            continue;
        }
        if let Some(start) = start.take() {
            finish(start, at);
        }
        if character == '\\' {
            // In a JSON string a line break is written `\n`, and the word after it begins at once.
            let rest = characters.as_str();
            if rest.starts_with(['n', 't', 'r']) {
                characters.next();
            }
        }
    }
    if let Some(start) = start {
        finish(start, text.len());
    }
}

/// Calls `emit` for every short JSON string of a text: where its content stands, and whether it is a
/// key. Strings that are neither key nor value, such as quoted words of prose, are passed over.
fn for_each_string(text: &str, mut emit: impl FnMut(Range<usize>, bool)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(|byte| *byte == b'"') {
        let start = at + offset + 1;
        let Some(end) = end_of_string(bytes, start) else {
            at = start;
            continue;
        };
        let next = bytes[end + 1..].iter().find(|byte| **byte != b' ');
        let is_key = next == Some(&b':');
        let is_closed = matches!(next, None | Some(b',' | b'}' | b']'));
        if is_closed || is_key && !bytes[start..end].contains(&b' ') {
            emit(start..end, is_key);
        }
        at = end + 1;
    }
}

/// Where a string that begins here ends, if it is short and on one line.
fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while at < bytes.len() && at - start <= LONGEST_STRING {
        match bytes[at] {
            b'"' => return Some(at),
            b'\n' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<&str> {
        let mut values = Vec::new();
        for_each_value(text, |value| values.push(value));
        values
    }

    #[test]
    fn ids_paths_and_names_are_values_and_words_are_not() {
        let text = "Look at src/lib.rs: `parse_header` calls User.objects of BooleanField (B-77120-K) \
                    and writes to ann@example.org, at 10:30. Then stop.";
        assert_eq!(
            values(text),
            [
                "src/lib.rs",
                "parse_header",
                "User.objects",
                "BooleanField",
                "B-77120-K",
                "ann@example.org",
                "10:30"
            ]
        );
    }

    #[test]
    fn short_json_strings_are_values_and_keys_are_not() {
        let text = r#"{"user_id": "ann", "city": "New York", "note": "a long remark, in several words, of no use", "n": 42}"#;
        assert_eq!(values(text), ["ann", "New York"]);
        assert_eq!(values(r#"{"flight_number": "HAT001"}"#), ["HAT001", "HAT001"], "as both");
        assert_eq!(values(r#"she said "well" and left"#), [""; 0]);
    }

    #[test]
    fn escaped_line_breaks_part_words() {
        assert_eq!(values(r"import os\nfrom_x\tto_y"), ["from_x", "to_y"]);
    }

    #[test]
    fn what_is_too_short_or_too_long_is_no_value() {
        assert_eq!(values("a1 _ 12 ... :: x/"), [""; 0]);
        assert_eq!(values(&format!("x{}", "1".repeat(200))), [""; 0]);
    }

    #[test]
    fn any_text_is_taken() {
        for text in
            ["", "\"", "\\", "\"\\", "\"a\\\"", "é_ü", "\"é\"", "名前_1", "\\n", ".", "\":\""]
        {
            values(text);
        }
        assert_eq!(values("é_ü Straßen-Nr.7"), ["é_ü", "Straßen-Nr.7"]);
    }

    #[test]
    fn numbers_are_told_from_ids() {
        assert!(is_number("1,200.50") && is_number("2024"));
        assert!(!is_number("2024-05-15") && !is_number("7a"));
    }
}
