//! Classes of values, and the weight of each.

/// Class of a value or a key, by its look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Letters and digits without a blank, as `NO6JO3`; or six digits and more.
    Reference,
    /// A day, with or without a time.
    Date,
    /// A few letters, no digit.
    Word,
    /// Any other text.
    Text,
    /// A number of two digits and more.
    Number,
    /// A smaller one.
    SmallNumber,
    /// `true`, `false`, `null` and what is empty.
    Trifle,
}

/// Weight of a value that stood in the text before.
pub(super) const REPEAT: u8 = 2;

const SHORTEST_REFERENCE: usize = 4;
const SHORTEST_DIGITS: usize = 6;
/// A longer text is data, not a name for something.
const LONGEST_REFERENCE: usize = 128;
/// Names of fields have a digit or two, as `address1` and `x86`.
const LEAST_KEY_DIGITS: usize = 3;
const LONGEST_WORD: usize = 24;

impl Class {
    /// The class of a JSON value that is no container, as it is written.
    pub(super) fn of(json: &str) -> Self {
        match json.as_bytes() {
            [b'"', inner @ .., b'"'] => Self::of_string(inner),
            [b'-' | b'0'..=b'9', ..] => Self::of_number(json),
            _ => Self::Trifle,
        }
    }

    /// The class of an object's key with its quotes, if it is more than the name of a field.
    pub(super) fn of_key(key: &str) -> Option<Self> {
        let has_enough_digits =
            || key.bytes().filter(u8::is_ascii_digit).count() >= LEAST_KEY_DIGITS;
        match Self::of(key) {
            class @ (Self::Reference | Self::Date) if has_enough_digits() => Some(class),
            _ => None,
        }
    }

    /// The weight in hundredths.
    pub(super) fn weight(self) -> u8 {
        match self {
            Self::Reference => 100,
            Self::Date => 50,
            Self::Word => 30,
            Self::Text => 15,
            Self::Number => 12,
            Self::SmallNumber => 5,
            Self::Trifle => 3,
        }
    }

    fn of_number(json: &str) -> Self {
        // Nearly all numbers are written so, and need no parsing.
        if json.len() == 1 {
            return Self::SmallNumber;
        }
        match json.parse::<f64>() {
            Ok(number) if number >= 10.0 => Self::Number,
            _ => Self::SmallNumber,
        }
    }

    /// The class of a string, escapes as they are written.
    fn of_string(inner: &[u8]) -> Self {
        if inner.is_empty() {
            return Self::Trifle;
        }
        // Each character has at most six bytes: an escape of four digits.
        if inner.len() > 6 * LONGEST_REFERENCE {
            return Self::Text;
        }
        if is_date(inner) {
            return Self::Date;
        }
        Census::of(inner).class()
    }
}

/// Characters of a text by sort.
#[derive(Debug, Default)]
struct Census {
    letters: usize,
    digits: usize,
    blanks: usize,
    others: usize,
}

impl Census {
    fn of(mut text: &[u8]) -> Self {
        let mut census = Self::default();
        loop {
            text = match text {
                [] => return census,
                [b'\\', b'u', _, _, _, _, rest @ ..] => {
                    census.letters += 1;
                    rest
                }
                [b'\\', b'n' | b't' | b'r' | b'b' | b'f', rest @ ..] => {
                    census.blanks += 1;
                    rest
                }
                [b'\\', _, rest @ ..] => {
                    census.others += 1;
                    rest
                }
                [byte, rest @ ..] => {
                    census.add(*byte);
                    rest
                }
            };
        }
    }

    fn add(&mut self, byte: u8) {
        match byte {
            b'0'..=b'9' => self.digits += 1,
            b'a'..=b'z' | b'A'..=b'Z' | 0xC0.. => self.letters += 1,
            b' ' => self.blanks += 1,
            // Within a character that was counted at its first byte.
            0x80..0xC0 => {}
            _ => self.others += 1,
        }
    }

    fn class(&self) -> Class {
        let Self { letters, digits, blanks, others } = *self;
        let all = letters + digits + blanks + others;
        let is_mixed = letters > 0 && digits > 0 && all >= SHORTEST_REFERENCE;
        let is_number = digits == all && all >= SHORTEST_DIGITS;
        if blanks == 0 && all <= LONGEST_REFERENCE && (is_mixed || is_number) {
            Class::Reference
        } else if digits == 0 && all <= LONGEST_WORD {
            Class::Word
        } else {
            Class::Text
        }
    }
}

/// Returns true if a text begins with a day, as `2024-05-16` or `16.05.2024`, and is no longer than a time
/// behind it would make it.
fn is_date(text: &[u8]) -> bool {
    const LONGEST: usize = 40;
    let digits = |range: &[u8]| range.iter().all(u8::is_ascii_digit);
    let is_mark = |byte: u8| matches!(byte, b'-' | b'/' | b'.');
    text.len() <= LONGEST
        && text.get(..10).is_some_and(|day| {
            let year_first = digits(&day[..4])
                && is_mark(day[4])
                && digits(&day[5..7])
                && day[7] == day[4]
                && digits(&day[8..]);
            let year_last = digits(&day[..2])
                && is_mark(day[2])
                && digits(&day[3..5])
                && day[5] == day[2]
                && digits(&day[6..]);
            year_first || year_last
        })
        && !text.get(10).is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::Class::{self, Date, Number, Reference, SmallNumber, Text, Trifle, Word};

    #[test]
    fn every_value_has_its_class() {
        for (json, class) in [
            ("\"NO6JO3\"", Reference),
            ("\"mia_li_3668\"", Reference),
            ("\"mia.li3818@example.com\"", Reference),
            ("\"1008292230\"", Reference),
            ("\"A1b\"", Text),
            ("\"Suite 217\"", Text),
            ("\"78750\"", Text),
            ("\"06:00:00\"", Text),
            ("\"2024-05-16\"", Date),
            ("\"2024-05-16T06:00:00Z\"", Date),
            ("\"16.05.2024\"", Date),
            ("\"2024-05-161\"", Text),
            ("\"2024-05.16\"", Text),
            ("\"JFK\"", Word),
            ("\"Sunset Drive\"", Word),
            ("\"Jos\\u00e9\"", Word),
            ("\"日本語\"", Word),
            ("\"abcdefghijklmnopqrstuvwxyz\"", Text),
            ("10", Number),
            ("1e1", Number),
            ("9.99", SmallNumber),
            ("-50", SmallNumber),
            ("true", Trifle),
            ("null", Trifle),
            ("\"\"", Trifle),
        ] {
            assert_eq!(Class::of(json), class, "{json}");
        }
    }

    #[test]
    fn a_key_counts_if_it_is_no_name_of_a_field() {
        assert_eq!(Class::of_key("\"credit_card_4421486\""), Some(Reference));
        assert_eq!(Class::of_key("\"2024-05-16\""), Some(Date));
        for key in ["\"address1\"", "\"ipv4\"", "\"name\"", "\"12\""] {
            assert_eq!(Class::of_key(key), None, "{key}");
        }
    }

    #[test]
    fn a_blob_is_no_reference() {
        let of_length = |length: usize| Class::of(&format!("\"{}\"", "a1".repeat(length / 2)));
        assert_eq!(of_length(128), Reference);
        assert_eq!(of_length(130), Text);
        assert_eq!(of_length(100_000), Text);
    }
}
