//! JSON with comments and with commas before a closing bracket, as settings files have it.

use serde_json::Value;

/// The value of a text, if it is one.
pub(super) fn read(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&plain(text))).ok()
}

/// The text without what JSON does not have. What stands in strings stays.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match (letter, rest.peek()) {
            ('"', _) => {
                plain.push('"');
                while let Some(inner) = rest.next() {
                    plain.push(inner);
                    match inner {
                        '\\' => plain.extend(rest.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => while rest.next_if(|letter| *letter != '\n').is_some() {},
            ('/', Some('*')) => {
                let mut before = ' ';
                rest.next();
                for letter in rest.by_ref() {
                    if (before, letter) == ('*', '/') {
                        break;
                    }
                    before = letter;
                }
            }
            (']' | '}', _) => {
                let end = plain.trim_end().len();
                if plain[..end].ends_with(',') {
                    plain.truncate(end - 1);
                }
                plain.push(letter);
            }
            _ => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_commas_go_and_strings_stay() {
        let text = "{ /* a, } */ \"a\": \"// no \\\" comment, ]\", // b\n \"c\": [1, 2 , ], }";
        assert_eq!(read(text), Some(json!({ "a": "// no \" comment, ]", "c": [1, 2] })));
        for broken in ["", "{", "{\"a\": }", "/*", "\"\\"] {
            assert_eq!(read(broken), None, "{broken}");
        }
    }
}
