//! Requests that can be read in two ways. Where limits are enforced (`fail = "closed"`), one that a server
//! may read otherwise than it was counted is refused.

use std::collections::HashSet;
use std::fmt;

use cupel_chat::COUNTED_SETTINGS;
use hyper::header::{self, HeaderMap};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::unfit::Unfit;

/// Fields that hold messages, system prompts and tools.
const READ: [&str; 6] =
    ["messages", "contents", "input", "systemInstruction", "system_instruction", "toolConfig"];

/// Fields that name content which the provider has and nobody else can count.
const ELSEWHERE: [&str; 3] = ["previous_response_id", "cachedContent", "cached_content"];

/// Most fields of one object: none has reason to have more, and all are remembered.
const MOST_FIELDS: usize = 10_000;

/// Refuses a body that could be read otherwise than it is counted.
pub(crate) fn check(headers: &HeaderMap, body: &[u8]) -> Result<(), Unfit> {
    for kind in headers.get_all(header::CONTENT_TYPE) {
        let kind = String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase();
        let charset = kind.split("charset=").nth(1).map(|name| name.trim_matches(['"', ' ']));
        if charset.is_some_and(|name| !name.starts_with("utf-8") && !name.starts_with("utf8")) {
            return Err(refused("its Content-Type names another charset than UTF-8"));
        }
    }
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    let mut reader = serde_json::Deserializer::from_slice(body);
    Strict { is_top: true }.deserialize(&mut reader).map_err(|error| {
        // Whatever is no JSON is told by whoever reads it.
        refused(&error.to_string())
    })
}

fn refused(why: &str) -> Unfit {
    Unfit::new("ambiguous-request", format!("a server may read the request in two ways: {why}"))
}

/// A name as servers compare it that do not heed case, as Go's do: it folds two letters beyond ASCII.
fn folded(name: &str) -> String {
    let plain = |letter| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        letter => letter,
    };
    name.chars().map(plain).flat_map(char::to_lowercase).collect()
}

/// Goes through a value, and keeps nothing of it but the names of the objects that it is in.
struct Strict {
    is_top: bool,
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Self { is_top: false })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            let plain = folded(&name);
            if self.is_top && is_misspelt(&name, &plain) {
                return Err(Error::custom("a field that counts has capitals where it has none"));
            }
            if self.is_top && ELSEWHERE.iter().any(|it| folded(it) == plain) {
                fields.next_value::<IgnoredAny>()?;
                return Err(Error::custom(format!(
                    "`{name}` stands for content that cannot be counted here"
                )));
            }
            if names.len() >= MOST_FIELDS {
                return Err(Error::custom("an object has more fields than are looked at"));
            }
            if !names.insert(plain) {
                return Err(Error::custom("an object has a field twice"));
            }
            fields.next_value_seed(Self { is_top: false })?;
        }
        Ok(())
    }
}

/// Returns true if a server that does not heed case would read a field which is not counted by this name.
fn is_misspelt(name: &str, plain: &str) -> bool {
    let mut known = READ.iter().chain(&COUNTED_SETTINGS);
    let is_like = |it: &str| folded(it) == plain;
    known.clone().any(|it| is_like(it)) && !known.any(|it| *it == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(body: &str) -> Option<String> {
        check(&HeaderMap::new(), body.as_bytes()).err().map(|unfit| unfit.detail)
    }

    #[test]
    fn what_has_one_meaning_passes() {
        for body in [
            r#"{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}],"x":null}"#,
            r#"{"contents":[],"systemInstruction":{},"toolConfig":{},"generationConfig":{"a":1.5}}"#,
            "\u{feff}{\"input\":[true,-1,\"x\"]}",
        ] {
            assert_eq!(why(body), None, "{body}");
        }
    }

    #[test]
    fn what_has_two_is_refused_wherever_it_is() {
        for body in [
            r#"{"messages":[],"messages":[]}"#,
            r#"{"messages":[],"m\u0065ssages":[]}"#,
            r#"{"messages":[],"Messages":[]}"#,
            r#"{"messages":[],"meſſages":[]}"#,
            r#"{"messages":[],"System":"x"}"#,
            r#"{"messages":[{"content":"a","Content":"b"}]}"#,
            r#"{"messages":[{"content":[{"text":"a","text":"b"}]}]}"#,
            r#"{"input":[],"previous_response_id":"x"}"#,
            r#"{"contents":[],"cachedContent":"x"}"#,
            "{",
        ] {
            assert!(why(body).is_some(), "{body}");
        }
    }

    #[test]
    fn another_charset_is_refused() {
        for (kind, is_plain) in [
            ("application/json", true),
            ("application/json; charset=utf-8", true),
            ("application/json; Charset=\"UTF-8\"", true),
            ("application/json; charset=utf-7", false),
            ("application/json;charset=UTF-16", false),
        ] {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, kind.parse().unwrap())]);
            assert_eq!(check(&headers, b"{}").is_ok(), is_plain, "{kind}");
        }
    }
}
