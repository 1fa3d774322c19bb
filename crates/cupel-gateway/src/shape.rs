//! The shape of a body, told in one pass and without memory, before anything is made of it: a few bytes of
//! JSON become many times as many in memory if they are many small values.

use memchr::memchr2;

use crate::unfit::Unfit;

/// Values in a request for each message that it may have: parts, calls, schemas of tools.
const VALUES_OF_A_MESSAGE: usize = 20;

/// The code of a request with more messages or values than are made to fit.
pub(crate) const TOO_MANY: &str = "too-many-messages";

/// The number of values in a body for which memory is taken: objects, and whatever else is in lists. Refuses a body
/// with more than so many messages and tools, or many times as many values.
pub(crate) fn values(body: &[u8], most: usize) -> Result<usize, Unfit> {
    let Shape { elements, objects, others } = Shape::of(body);
    let many = |what: &str, count: usize, most: usize| {
        let text =
            format!("the request has {count} {what}, {most} are allowed; see server.messages");
        Err(Unfit::new(TOO_MANY, text))
    };
    if elements > most {
        return many("messages and tools", elements, most);
    }
    let (values, most_values) = (objects + others, most.saturating_mul(VALUES_OF_A_MESSAGE));
    if values > most_values {
        return many("objects and elements of lists", values, most_values);
    }
    Ok(values)
}

/// The number of objects in a body.
pub(crate) fn objects(body: &[u8]) -> usize {
    Shape::of(body).objects
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Shape {
    /// Objects in lists that are fields of the whole: messages and tools.
    elements: usize,
    objects: usize,
    /// Elements of lists that are no objects: a few bytes each, and each may be something to complain of.
    others: usize,
}

/// The kinds of the containers that a place is in.
#[derive(Default)]
struct Containers {
    depth: usize,
    /// A bit for each of the outermost, set for lists.
    lists: u128,
}

impl Containers {
    fn open(&mut self, is_list: bool) {
        if self.depth < 128 {
            let bit = 1 << self.depth;
            self.lists = if is_list { self.lists | bit } else { self.lists & !bit };
        }
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Returns `true` if the innermost is a list; of those that are too deep all are taken for one.
    fn is_list(&self) -> bool {
        match self.depth {
            0 => false,
            1..=128 => self.lists >> (self.depth - 1) & 1 == 1,
            _ => true,
        }
    }
}

impl Shape {
    fn of(body: &[u8]) -> Self {
        let mut shape = Self::default();
        let mut within = Containers::default();
        let (mut at, mut is_element_next) = (0, false);
        while let Some(byte) = body.get(at) {
            at += 1;
            if is_element_next && !byte.is_ascii_whitespace() {
                shape.others += usize::from(!matches!(byte, b'{' | b']'));
                is_element_next = false;
            }
            match byte {
                b'"' => at = behind_text(body, at),
                b'{' => {
                    shape.objects += 1;
                    shape.elements += usize::from(within.depth == 2);
                    within.open(false);
                }
                b'[' => {
                    within.open(true);
                    is_element_next = true;
                }
                b',' => is_element_next = within.is_list(),
                b'}' | b']' => within.close(),
                _ => {}
            }
        }
        shape
    }
}

/// The end of the text that begins before this place.
fn behind_text(body: &[u8], mut at: usize) -> usize {
    while let Some(found) = body.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if body[at - 1] == b'"' {
            return at;
        }
        // Whatever is escaped ends nothing.
        at += 1;
    }
    body.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_objects_are_counted_outside_of_texts() {
        let body =
            br#"{"messages":[{"a":"{[\\\"{"},{"content":[{},{}]}],"tools":[{}],"x":{"y":[1]}}"#;
        assert_eq!(Shape::of(body), Shape { elements: 3, objects: 7, others: 1 });
        assert_eq!(Shape::of(b"]]}{"), Shape { elements: 0, objects: 1, others: 0 });
        for text in ["{\"", "{\"a", "{\"a\\", "{\"a\\\"", "{\"{\\\\"] {
            assert_eq!(Shape::of(text.as_bytes()).objects, 1, "{text} has no end");
        }
    }

    #[test]
    fn elements_of_lists_are_counted_whatever_they_are_and_however_deep() {
        for (list, others) in [
            ("[]", 0),
            ("[ ]", 0),
            ("[1 , 2]", 2),
            (r#"["a,b",null]"#, 2),
            ("[{},{}]", 0),
            (r#"[{"a":1,"b":2,"c":[3]}]"#, 1),
            ("[[],[ [ ] ]]", 3),
        ] {
            assert_eq!(Shape::of(list.as_bytes()).others, others, "{list}");
        }
        // The kind of an outer list is remembered beneath any number of inner ones.
        let deep = format!("[{}{},1,2,3]", "[".repeat(300), "]".repeat(300));
        assert_eq!(Shape::of(deep.as_bytes()).others, 303);
    }

    #[test]
    fn too_many_are_refused_with_their_number() {
        let body = br#"{"messages":[{},{},{}]}"#;
        assert_eq!(values(body, 3), Ok(4));
        let unfit = values(body, 2).unwrap_err();
        assert_eq!(unfit.code, "too-many-messages");
        assert!(unfit.detail.starts_with("the request has 3 messages and tools, 2 are allowed"));
        let parts = format!(r#"{{"messages":[{{"content":[{}{{}}]}}]}}"#, "{},".repeat(40));
        assert!(values(parts.as_bytes(), 2).unwrap_err().detail.contains("43 objects"));
        let numbers = format!(r#"{{"messages":[{{"content":[{}1]}}]}}"#, "1,".repeat(40));
        assert!(values(numbers.as_bytes(), 2).unwrap_err().detail.contains("43 objects"));
    }
}
