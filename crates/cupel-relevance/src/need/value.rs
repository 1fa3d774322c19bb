//! Values that later calls may need: ids, paths, names.

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
        let value = &text[run.clone()];
        if !is_value(value) {
            return;
        }
        while keys.next_if(|key| key.end <= run.start).is_some() {}
        let is_in_key = keys.peek().is_some_and(|key| key.start <= run.start);
        if !is_in_key {
            emit(value);
        }
    });
}

/// Returns true if a value, in lower case, is a number and nothing else.
pub(super) fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
}

fn is_value(run: &str) -> bool {
    if !(SHORTEST..=LONGEST).contains(&run.len()) {
        return false;
    }
    let kinds = run.bytes().fold(0, |kinds, byte| kinds | KINDS[usize::from(byte)]);
    if kinds & WIDE != 0 && run.chars().take(SHORTEST).count() < SHORTEST {
        return false;
    }
    if kinds & MARK != 0 {
        return true;
    }
    let inner = &run[run.chars().next().map_or(0, char::len_utf8)..];
    let before_last = &inner[..inner.len() - inner.chars().next_back().map_or(0, char::len_utf8)];
    before_last.bytes().any(|byte| matches!(byte, b'.' | b':'))
        || inner.chars().any(char::is_uppercase)
}

/// Returns true if a JSON string reads like a name or an id.
fn is_name(string: &str) -> bool {
    (2..=LONGEST_STRING).contains(&string.len())
        && string.bytes().filter(|byte| *byte == b' ').count() <= MOST_SPACES
        && string.chars().any(char::is_alphanumeric)
}

/// Class of a byte in a value: part of a plain word,
const PLAIN: u8 = 1;
/// what makes a value of any word,
const MARK: u8 = 2;
/// what does within a word,
const JOINT: u8 = 4;
/// a capital,
const CAPITAL: u8 = 8;
/// or part of a character beyond ASCII.
const WIDE: u8 = 16;

/// The kind of each byte; 0 for those that part values.
static KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < kinds.len() {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'-' => PLAIN,
            b'0'..=b'9' | b'_' | b'/' | b'@' => MARK,
            b'.' | b':' => JOINT,
            b'A'..=b'Z' => CAPITAL,
            128.. => WIDE,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

/// Calls `emit` for every run of characters of which values are made, but for plain words: most runs
/// are, and none is a value.
fn for_each_run(text: &str, mut emit: impl FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let is_edge = |byte: &u8| matches!(byte, b'.' | b':' | b'-' | b'/');
    let mut at = 0;
    while at < bytes.len() {
        let (end, kinds) = end_of_run(text, at);
        if kinds & !PLAIN != 0 {
            let run = &bytes[at..end];
            if let Some(start) = run.iter().position(|byte| !is_edge(byte)) {
                let after = run.iter().rev().take_while(|byte| is_edge(byte)).count();
                emit(at + start..end - after);
            }
        }
        at = next_run(text, end);
    }
}

/// The end of the run that begins here, if one does, and the kinds of its bytes.
fn end_of_run(text: &str, start: usize) -> (usize, u8) {
    let bytes = text.as_bytes();
    let (mut at, mut kinds) = (start, 0);
    loop {
        for byte in &bytes[at..] {
            let kind = KINDS[usize::from(*byte)];
            if matches!(kind, 0 | WIDE) {
                break;
            }
            kinds |= kind;
            at += 1;
        }
        if bytes.get(at).is_none_or(u8::is_ascii) {
            return (at, kinds);
        }
        match text[at..].chars().next() {
            Some(wide) if wide.is_alphanumeric() => at += wide.len_utf8(),
            _ => return (at, kinds),
        }
        kinds |= WIDE;
    }
}

/// Where the next run may begin, behind what parts it from one that ends here. In a JSON string a line
/// break is written `\n`, and the word after it begins at once.
fn next_run(text: &str, end: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = end;
    while bytes.get(at).is_some_and(|byte| KINDS[usize::from(*byte)] == 0) {
        let is_break = bytes[at] == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b't' | b'r'));
        at += if is_break { 2 } else { 1 };
    }
    if at > end || at == bytes.len() {
        return at;
    }
    at + text[at..].chars().next().map_or(0, char::len_utf8)
}

/// Calls `emit` for every short JSON string of a text: where its content stands, and whether it is a
/// key. Strings that are neither key nor value, such as quoted words of prose, are passed over.
fn for_each_string(text: &str, mut emit: impl FnMut(Range<usize>, bool)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = text[at..].find('"') {
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
    fn a_string_of_forty_bytes_is_a_name_and_a_longer_one_is_none() {
        let (name, longer) = ("ab ".repeat(3) + &"c".repeat(31), "ab ".repeat(3) + &"c".repeat(32));
        assert_eq!(name.len(), 40);
        assert_eq!(values(&format!("[\"{name}\"]")), [name.as_str()]);
        assert!(values(&format!("[\"{longer}\"]")).is_empty());
    }

    #[test]
    fn what_stands_between_two_strings_is_none() {
        assert_eq!(values(r#"["ab", ",cd"]"#), ["ab", ",cd"]);
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

    #[test]
    fn marks_at_the_ends_of_a_run_are_not_part_of_its_value() {
        assert_eq!(values("see ./src/lib.rs. or -:10:30:-"), ["src/lib.rs", "10:30"]);
        assert_eq!(values("x.éééé"), ["x.éééé"]);
    }

    #[test]
    fn a_value_has_three_characters_however_many_bytes_they_are() {
        assert_eq!(values("é1 ÉÉ"), [""; 0]);
        assert_eq!(values("é12 ÉÉÉ"), ["é12", "ÉÉÉ"]);
    }

    #[test]
    fn a_json_string_is_a_name_if_it_has_few_words_and_a_letter() {
        let text = r#"{"a": "x", "b": "--", "c": "a b c d e", "d": "a b c d", "e": "ok"}"#;
        assert_eq!(values(text), ["a b c d", "ok"]);
    }

    #[test]
    fn signs_part_values_and_letters_do_not_whatever_stands_before_them() {
        assert_eq!(values("a_1\u{2014}b_2"), ["a_1", "b_2"]);
        assert_eq!(values("the name_1, (rest_2) [top_3]"), ["name_1", "rest_2", "top_3"]);
    }
}
