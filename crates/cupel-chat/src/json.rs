//! A view of JSON text that never leaves it: every value knows the bytes that it was written with.
//!
//! Values are read one level at a time, when somebody asks. What nobody asks for is checked once for
//! syntax and otherwise left alone, however deep it is nested.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use cupel_renderings::walk::Walk;
use serde_json::value::RawValue;

use crate::text::{Text, range_in};

/// A value, as it is written.
#[derive(Clone, Copy)]
pub(crate) struct Json<'t> {
    /// The text that it is a slice of, where that is shared.
    source: Option<&'t Arc<str>>,
    raw: &'t str,
}

impl<'t> Json<'t> {
    /// Checks the syntax of a text that nobody shares: what is kept of it is copied.
    pub(crate) fn parse(text: &'t str) -> Result<Self, serde_json::Error> {
        Self::parse_part(None, text)
    }

    /// Checks the syntax of a part of a text.
    pub(crate) fn parse_part(
        source: Option<&'t Arc<str>>,
        part: &'t str,
    ) -> Result<Self, serde_json::Error> {
        serde_json::from_str(part).map(|raw: &RawValue| Self::known(source, raw.get()))
    }

    /// A part of a text that is known to be a value.
    pub(crate) fn known(source: Option<&'t Arc<str>>, raw: &'t str) -> Self {
        Self { source, raw }
    }

    /// The bytes of the value, without white space around them.
    pub(crate) fn raw(self) -> &'t str {
        self.raw
    }

    /// The same, to hold on to.
    pub(crate) fn raw_text(self) -> Text {
        Text::of(self.source, Cow::Borrowed(self.raw))
    }

    /// Where the value stands in the text that it was parsed from.
    pub(crate) fn span_in(self, text: &str) -> Range<usize> {
        range_in(text, self.raw).unwrap_or_default()
    }

    pub(crate) fn is_null(self) -> bool {
        self.raw() == "null"
    }

    pub(crate) fn is_text(self) -> bool {
        self.raw().starts_with('"')
    }

    pub(crate) fn is_list(self) -> bool {
        self.raw().starts_with('[')
    }

    pub(crate) fn is_object(self) -> bool {
        self.raw().starts_with('{')
    }

    /// A text. One that no Unicode text can be, since it has half a surrogate pair, is taken as it
    /// is written.
    pub(crate) fn str(self) -> Option<Cow<'t, str>> {
        let inner = self.raw().strip_prefix('"')?.strip_suffix('"')?;
        if !inner.contains('\\') {
            return Some(Cow::Borrowed(inner));
        }
        let decoded = serde_json::from_str(self.raw());
        Some(decoded.map_or(Cow::Borrowed(inner), Cow::<'t, str>::Owned))
    }

    /// A text, to hold on to.
    pub(crate) fn text(self) -> Option<Text> {
        self.str().map(|text| Text::of(self.source, text))
    }

    pub(crate) fn number(self) -> Option<f64> {
        serde_json::from_str(self.raw()).ok()
    }

    pub(crate) fn whole_number(self) -> Option<i64> {
        serde_json::from_str(self.raw()).ok()
    }

    /// The elements of a list.
    pub(crate) fn list(self) -> Option<Vec<Self>> {
        let mut walk = Walk::inside(self.raw, b'[')?;
        let mut list = Vec::new();
        while !walk.is_at(b']') {
            list.push(Self::known(self.source, walk.value()?));
        }
        Some(list)
    }

    /// The fields of an object.
    pub(crate) fn object(self) -> Option<Object<'t>> {
        let mut walk = Walk::inside(self.raw, b'{')?;
        let mut fields = Vec::new();
        while !walk.is_at(b'}') {
            let name = Self::known(None, walk.value()?).str().unwrap_or_default();
            fields.push((name, Self::known(self.source, walk.value()?)));
        }
        Some(Object(fields))
    }

    /// A field of an object, by a path with dots.
    pub(crate) fn at_path(self, path: &str) -> Option<Self> {
        path.split('.').try_fold(self, |json, name| json.object()?.get(name))
    }

    /// Description of the value for a message: the value itself if it is short, else its type.
    pub(crate) fn describe(self) -> String {
        const LONGEST: usize = 40;
        match self.raw() {
            raw if raw.len() <= LONGEST && !raw.contains('\n') => raw.to_owned(),
            raw if raw.starts_with('"') => {
                let start: String = raw.chars().take(LONGEST).collect();
                format!("{start}…\"")
            }
            raw if raw.starts_with('[') => "a list".to_owned(),
            raw if raw.starts_with('{') => "an object".to_owned(),
            raw => format!("{}…", &raw[..LONGEST]),
        }
    }
}

/// The fields of an object in the order written, duplicates included.
#[derive(Clone, Default)]
pub(crate) struct Object<'t>(Vec<(Cow<'t, str>, Json<'t>)>);

impl<'t> Object<'t> {
    /// The value of a field that is there and not null; of duplicates the last, as in most readers.
    pub(crate) fn get(&self, name: &str) -> Option<Json<'t>> {
        self.0
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| *value)
            .filter(|value| !value.is_null())
    }

    /// A field, or one within another by a path with dots.
    pub(crate) fn at_path(&self, path: &str) -> Option<Json<'t>> {
        match path.split_once('.') {
            None => self.get(path),
            Some((name, rest)) => self.get(name)?.at_path(rest).filter(|value| !value.is_null()),
        }
    }

    /// The first of several spellings that is there.
    pub(crate) fn any_of(&self, names: &[&'static str]) -> Option<(&'static str, Json<'t>)> {
        names.iter().find_map(|name| Some((*name, self.get(name)?)))
    }

    /// Returns true if a field is there, null or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// The text of a field, to hold on to.
    pub(crate) fn text(&self, name: &str) -> Option<Text> {
        self.get(name)?.text()
    }

    /// The text of a field.
    pub(crate) fn str(&self, name: &str) -> Option<Cow<'t, str>> {
        self.get(name)?.str()
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, Json<'t>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_slices_of_the_text() {
        let text = r#" {"a": [1.0, {"b":"x\ny"}], "a2":1e3} "#;
        let top = Json::parse(text).unwrap();
        let list = top.object().unwrap().get("a").unwrap().list().unwrap();
        assert_eq!(&text[list[0].span_in(text)], "1.0");
        assert_eq!(&text[list[1].span_in(text)], r#"{"b":"x\ny"}"#);
        assert_eq!(top.at_path("a2").unwrap().number(), Some(1000.0));
        assert_eq!(list[1].at_path("b").unwrap().text().unwrap(), "x\ny");
    }

    #[test]
    fn of_duplicate_fields_the_last_counts_and_null_is_absent() {
        let object = Json::parse(r#"{"a":1,"a":2,"n":null}"#).unwrap().object().unwrap();
        assert_eq!(object.get("a").unwrap().raw(), "2");
        assert!(object.get("n").is_none() && object.has("n"));
    }

    #[test]
    fn keys_may_be_written_with_escapes() {
        let object = Json::parse("{\"r\\u006fle\":\"user\"}").unwrap().object().unwrap();
        assert_eq!(object.text("role").unwrap(), "user");
    }

    #[test]
    fn half_a_surrogate_pair_is_taken_as_written() {
        let json = Json::parse(r#""cut \ud83d""#).unwrap();
        assert_eq!(json.text().unwrap(), r"cut \ud83d");
    }

    #[test]
    fn nesting_has_no_limit_where_nobody_looks() {
        let text = format!("{{\"deep\":{}{},\"a\":1}}", "[".repeat(100_000), "]".repeat(100_000));
        let object = Json::parse(&text).unwrap().object().unwrap();
        assert_eq!(object.get("a").unwrap().whole_number(), Some(1));
    }

    #[test]
    fn long_values_are_described_by_their_beginning() {
        let text = format!("\"{}\"", "é".repeat(60));
        let description = Json::parse(&text).unwrap().describe();
        assert!(description.ends_with("é…\"") && description.chars().count() == 42);
        assert_eq!(Json::parse("[1,\n2]").unwrap().describe(), "a list");
        let digits = "1".repeat(50);
        assert_eq!(Json::parse(&digits).unwrap().describe(), format!("{}…", "1".repeat(40)));
    }
}
