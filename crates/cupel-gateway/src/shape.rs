//! The shape of a body, told in one pass and without memory, before anything is made of it: a few bytes of
//! JSON become many times as many in memory if they are many small values.

use crate::unfit::Unfit;

/// Objects in a request for each message that it may have: parts, calls, schemas of tools.
const OBJECTS_OF_A_MESSAGE: usize = 20;

/// The number of messages and tools in a body. Refuses one with more than so many of them, or many times as
/// many objects.
pub(crate) fn messages(body: &[u8], most: usize) -> Result<usize, Unfit> {
    let Shape { elements, objects } = Shape::of(body);
    let many = |what: &str, count: usize, most: usize| {
        let text =
            format!("the request has {count} {what}, {most} are allowed; see server.messages");
        Err(Unfit::new("too-many-messages", text))
    };
    if elements > most {
        return many("messages and tools", elements, most);
    }
    let most_objects = most.saturating_mul(OBJECTS_OF_A_MESSAGE);
    if objects > most_objects {
        return many("objects", objects, most_objects);
    }
    Ok(elements)
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
}

impl Shape {
    fn of(body: &[u8]) -> Self {
        let mut shape = Self::default();
        let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
        for byte in body {
            if is_text {
                (is_text, is_escaped) = match byte {
                    _ if is_escaped => (true, false),
                    b'\\' => (true, true),
                    b'"' => (false, false),
                    _ => (true, false),
                };
                continue;
            }
            match byte {
                b'"' => is_text = true,
                b'{' => {
                    shape.objects += 1;
                    shape.elements += usize::from(depth == 2);
                    depth += 1;
                }
                b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_objects_are_counted_outside_of_texts() {
        let body =
            br#"{"messages":[{"a":"{[\\\"{"},{"content":[{},{}]}],"tools":[{}],"x":{"y":[1]}}"#;
        assert_eq!(Shape::of(body), Shape { elements: 3, objects: 7 });
        assert_eq!(Shape::of(b"]]}{"), Shape { elements: 0, objects: 1 });
    }

    #[test]
    fn too_many_are_refused_with_their_number() {
        let body = br#"{"messages":[{},{},{}]}"#;
        assert_eq!(messages(body, 3), Ok(3));
        let unfit = messages(body, 2).unwrap_err();
        assert_eq!(unfit.code, "too-many-messages");
        assert!(unfit.detail.starts_with("the request has 3 messages and tools, 2 are allowed"));
        let parts = format!(r#"{{"messages":[{{"content":[{}{{}}]}}]}}"#, "{},".repeat(40));
        assert!(messages(parts.as_bytes(), 2).unwrap_err().detail.contains("43 objects"));
    }
}
