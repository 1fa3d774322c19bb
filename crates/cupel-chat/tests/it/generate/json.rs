//! JSON that is written in odd ways: white space, escapes, key order, repeated keys, spelled numbers.

use std::fmt::Write;

use crate::random::Random;

/// A value together with what `serde_json::Value` would forget.
#[derive(Debug, Clone)]
pub(crate) enum Json {
    /// A number, `true`, `false` or `null`, exactly as it shall be spelled.
    Raw(&'static str),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<Json>> for Json {
    fn from(list: Vec<Json>) -> Self {
        Self::List(list)
    }
}

/// An object with these fields.
pub(crate) fn object<const N: usize>(fields: [(&'static str, Json); N]) -> Json {
    Json::Object(fields.into())
}

/// Fields that no provider knows, with everything that a careless rewrite would change.
fn strange_field(random: &mut Random) -> (&'static str, Json) {
    let (name, value) = random.pick(&[
        ("x_ratio", "1.0"),
        ("x_limit", "1e3"),
        ("x_tiny", "-0.0"),
        ("x_big", "123456789012345678901234567890"),
        ("x_flag", "true"),
        ("x_none", "null"),
        ("x_power", "6.02E+23"),
    ]);
    match random.below(4) {
        0 => ("x_path", Json::from("C:\\tmp\\ä\"\u{1F980}\u{7f}")),
        1 => {
            ("x_tree", Json::List(vec![object([]), Json::List(vec![]), object([("", "".into())])]))
        }
        _ => (name, Json::Raw(value)),
    }
}

impl Json {
    /// The object with one more field; anything else as it is.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Json>) -> Self {
        if let Self::Object(fields) = &mut self {
            fields.push((name, value.into()));
        }
        self
    }

    /// The object with strange fields here and there, at times the same one twice, and its fields in
    /// any order.
    pub(crate) fn decorated(mut self, random: &mut Random) -> Self {
        if let Self::Object(fields) = &mut self {
            while random.chance(25) {
                let field = strange_field(random);
                if random.chance(20) {
                    fields.push(field.clone());
                }
                fields.push(field);
            }
            if random.chance(40) {
                random.shuffle(fields);
            }
        }
        self
    }

    /// The value as text.
    pub(crate) fn write(&self, random: &mut Random) -> String {
        // One file, one hand: some are compact, some airy, some escape whatever they can.
        let style = Style { airy: random.pick(&[0, 0, 10, 60]), escapes: random.pick(&[0, 0, 30]) };
        let mut out = String::new();
        style.write(self, random, &mut out);
        out
    }

    /// The value on one line.
    pub(crate) fn write_line(&self, random: &mut Random) -> String {
        let style = Style { airy: 0, escapes: random.pick(&[0, 30]) };
        let mut out = String::new();
        style.write(self, random, &mut out);
        out
    }
}

struct Style {
    airy: usize,
    escapes: usize,
}

impl Style {
    fn write(&self, value: &Json, random: &mut Random, out: &mut String) {
        match value {
            Json::Raw(text) => out.push_str(text),
            Json::Text(text) => self.write_text(text, random, out),
            Json::List(list) => {
                out.push('[');
                for (position, value) in list.iter().enumerate() {
                    self.separate(position, random, out);
                    self.write(value, random, out);
                }
                self.air(random, out);
                out.push(']');
            }
            Json::Object(fields) => {
                out.push('{');
                for (position, (name, value)) in fields.iter().enumerate() {
                    self.separate(position, random, out);
                    self.write_text(name, random, out);
                    self.air(random, out);
                    out.push(':');
                    self.air(random, out);
                    self.write(value, random, out);
                }
                self.air(random, out);
                out.push('}');
            }
        }
    }

    fn separate(&self, position: usize, random: &mut Random, out: &mut String) {
        if position > 0 {
            self.air(random, out);
            out.push(',');
        }
        self.air(random, out);
    }

    fn air(&self, random: &mut Random, out: &mut String) {
        while random.chance(self.airy) {
            out.push_str(random.pick(&[" ", "\n", "\t", "\r\n", "  "]));
        }
    }

    fn write_text(&self, text: &str, random: &mut Random, out: &mut String) {
        out.push('"');
        for character in text.chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' if random.chance(50) => out.push_str("\\n"),
                '/' if random.chance(self.escapes) => out.push_str("\\/"),
                _ if character < ' ' || random.chance(self.escapes / 3) => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        write!(out, "\\u{unit:04x}").expect("a text takes whatever is written");
                    }
                }
                _ => out.push(character),
            }
        }
        out.push('"');
    }
}
