//! A walk through text that is known to be JSON: it looks for where values end, and at nothing else.

/// Within a list or an object, before one of its values.
///
/// ```
/// use cupel_renderings::walk::Walk;
///
/// let mut walk = Walk::inside(r#"[1, "]"]"#, b'[').expect("it begins with one");
/// assert_eq!((walk.value(), walk.value()), (Some("1"), Some(r#""]""#)));
/// assert!(walk.is_at(b']'));
/// ```
#[derive(Debug)]
pub struct Walk<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Walk<'t> {
    /// Begins behind the bracket that `text` begins with; `None` if it begins with another.
    #[must_use]
    pub fn inside(text: &'t str, bracket: u8) -> Option<Self> {
        (text.as_bytes().first() == Some(&bracket)).then_some(Self { text, at: 1 })
    }

    /// Moves to what comes next, and says whether it is this bracket.
    pub fn is_at(&mut self, bracket: u8) -> bool {
        let is_between = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b',' | b':');
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|byte| !is_between(byte)).unwrap_or(rest.len());
        self.text.as_bytes().get(self.at) == Some(&bracket)
    }

    /// The next value, as it is written. `None` where the text ends, which JSON does not.
    pub fn value(&mut self) -> Option<&'t str> {
        self.is_at(0);
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at = match *bytes.get(start)? {
            b'"' => end_of_string(bytes, start)?,
            b'[' | b'{' => end_of_nested(bytes, start)?,
            _ => end_of_word(bytes, start),
        };
        self.text.get(start..self.at).filter(|value| !value.is_empty())
    }
}

/// The end of the string that begins here.
#[must_use]
pub fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at = next_quote_or_escape(bytes, at)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Where the next quote or backslash is, eight bytes at a time.
fn next_quote_or_escape(bytes: &[u8], from: usize) -> Option<usize> {
    let mut rest = bytes.get(from..)?;
    while let Some((eight, after)) = rest.split_first_chunk() {
        let eight = u64::from_le_bytes(*eight);
        let found = zeros(eight ^ QUOTES) | zeros(eight ^ BACKSLASHES);
        if found != 0 {
            return Some(bytes.len() - rest.len() + found.trailing_zeros() as usize / 8);
        }
        rest = after;
    }
    let offset = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(bytes.len() - rest.len() + offset)
}

/// A one in each byte.
const EACH: u64 = u64::MAX / 0xff;
const QUOTES: u64 = EACH * b'"' as u64;
const BACKSLASHES: u64 = EACH * b'\\' as u64;

/// The highest bit of each byte that is zero. Bytes above the first of them may be marked by mistake.
const fn zeros(eight: u64) -> u64 {
    eight.wrapping_sub(EACH) & !eight & (EACH << 7)
}

/// The end of the list or object that begins here, whatever is in it.
pub(crate) fn end_of_nested(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = end_of_string(bytes, at)?;
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The end of the number, `true`, `false` or `null` that begins here.
fn end_of_word(bytes: &[u8], start: usize) -> usize {
    let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
    let rest = bytes[start..].iter();
    rest.clone().position(is_end).map_or(bytes.len(), |length| start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str, bracket: u8) -> Vec<&str> {
        let mut walk = Walk::inside(text, bracket).unwrap();
        std::iter::from_fn(|| if walk.is_at(bracket + 2) { None } else { walk.value() }).collect()
    }

    #[test]
    fn values_end_where_json_says() {
        let text = "[ 1.5e3 ,\"a]\\\\\\\"\", [[\"]\"],{}] ,{\"b\":[1]}\n,null]";
        let expected = ["1.5e3", "\"a]\\\\\\\"\"", "[[\"]\"],{}]", "{\"b\":[1]}", "null"];
        assert_eq!(values(text, b'['), expected);
        assert_eq!(values("{\"k\" : true}", b'{'), ["\"k\"", "true"]);
        assert_eq!((values("[]", b'['), values("{ }", b'{')), (vec![], vec![]));
    }

    #[test]
    fn what_is_no_json_ends_somewhere() {
        for text in ["[", "[\"", "[\"\\", "[[", "[1", "[]]", "[}", "[:"] {
            values(text, b'[');
        }
        assert!(Walk::inside("", b'[').is_none() && Walk::inside("{}", b'[').is_none());
    }
}
