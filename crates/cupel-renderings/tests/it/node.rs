//! JSON in a second reading, which shares no code with the crate.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A value, with keys that occur twice.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Number(String),
    Text(String),
    /// `true`, `false` or `null`.
    Word(&'static str),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// The entries of a container that are no marks, and how many more the marks tell of.
struct Entries<'n> {
    entries: Vec<(&'n str, &'n Node)>,
    left_out: u128,
}

impl Node {
    /// A document, or the documents on its lines as a list; nothing if this reader refuses it, as
    /// it does what is nested deeply and half of a character.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let nodes: Result<Vec<Self>, _> =
            serde_json::Deserializer::from_str(text).into_iter().collect();
        let mut nodes = nodes.ok()?;
        if nodes.len() == 1 { nodes.pop() } else { Some(Self::List(nodes)) }
    }

    /// Returns true if this is what remains of `whole` when entries are left out, in the same order, and
    /// marks tell in each container how many; or texts are cut, with a gap.
    pub(crate) fn is_part_of(&self, whole: &Self) -> bool {
        if let (Self::Text(mine), Self::Text(all)) = (self, whole) {
            return mine == all || is_cut(mine, all);
        }
        let (Some(mine), Some(all)) = (self.entries(), whole.entries()) else {
            return self == whole;
        };
        if matches!(self, Self::List(_)) != matches!(whole, Self::List(_)) {
            return false;
        }
        if mine.entries.len() as u128 + mine.left_out != all.entries.len() as u128 + all.left_out {
            return false;
        }
        let mut candidates = all.entries.iter();
        mine.entries.iter().all(|(key, node)| {
            candidates.any(|(name, value)| name == key && node.is_part_of(value))
        })
    }

    fn entries(&self) -> Option<Entries<'_>> {
        match self {
            Self::List(nodes) => {
                let marked = nodes.last().and_then(Self::mark_of_list);
                let entries = &nodes[..nodes.len() - usize::from(marked.is_some())];
                let entries = entries.iter().map(|node| ("", node)).collect();
                Some(Entries { entries, left_out: marked.unwrap_or(0) })
            }
            Self::Object(fields) => {
                let mark = |(key, node): &(String, Node)| node.mark_of_object(key);
                let left_out = fields.iter().filter_map(mark).sum();
                let entries = fields.iter().filter(|field| mark(field).is_none());
                let entries = entries.map(|(key, node)| (key.as_str(), node)).collect();
                Some(Entries { entries, left_out })
            }
            _ => None,
        }
    }

    fn mark_of_list(&self) -> Option<u128> {
        let Self::Text(text) = self else { return None };
        count(text.strip_prefix("… ")?.strip_suffix(" more")?)
    }

    fn mark_of_object(&self, key: &str) -> Option<u128> {
        let Self::Number(number) = self else { return None };
        let is_dots = !key.is_empty() && key.chars().all(|letter| letter == '…');
        if is_dots { count(number) } else { None }
    }
}

/// Returns true if a text is the beginning and the end of another, longer one.
fn is_cut(cut: &str, whole: &str) -> bool {
    // Gaps of the text itself may overlap with ours.
    let mut gaps = cut
        .match_indices(" […")
        .filter_map(|(at, _)| cut[at..].strip_prefix(" […] ").map(|tail| (&cut[..at], tail)));
    cut.len() < whole.len()
        && gaps.any(|(head, tail)| whole.starts_with(head) && whole.ends_with(tail))
}

fn count(digits: &str) -> Option<u128> {
    let number: u128 = digits.parse().ok()?;
    let is_plain = number.to_string() == digits;
    (is_plain && (1..10_u128.pow(15)).contains(&number)).then_some(number)
}

impl<'d> Deserialize<'d> for Node {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodeVisitor;

        impl<'d> Visitor<'d> for NodeVisitor {
            type Value = Node;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
                Ok(Node::Word(if value { "true" } else { "false" }))
            }

            fn visit_unit<E: Error>(self) -> Result<Node, E> {
                Ok(Node::Word("null"))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
                Ok(Node::Number(value.to_string()))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
                Ok(Node::Number(value.to_string()))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
                Ok(Node::Number(format!("{value:?}")))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
                Ok(Node::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'d>>(self, mut list: A) -> Result<Node, A::Error> {
                let mut nodes = Vec::new();
                while let Some(node) = list.next_element()? {
                    nodes.push(node);
                }
                Ok(Node::List(nodes))
            }

            fn visit_map<A: MapAccess<'d>>(self, mut object: A) -> Result<Node, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = object.next_entry()? {
                    fields.push(field);
                }
                Ok(Node::Object(fields))
            }
        }

        deserializer.deserialize_any(NodeVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::Node;

    #[track_caller]
    fn part(part: &str, whole: &str) -> bool {
        Node::read(part).unwrap().is_part_of(&Node::read(whole).unwrap())
    }

    #[test]
    fn parts_are_told_from_what_is_no_part() {
        let whole = r#"{"a": [1, {"b": "x", "c": 2}], "a": 3, "d": null}"#;
        for kept in [
            whole,
            r#"{"a":3,"…":2}"#,
            r#"{"a":["… 2 more"],"…":2}"#,
            r#"{"a":[{"c":2,"…":1},"… 1 more"],"d":null,"…":1}"#,
        ] {
            assert!(part(kept, whole), "{kept}");
        }
        for other in [
            r#"{"a":3}"#,
            r#"{"a":3,"…":1}"#,
            r#"{"a":4,"…":2}"#,
            r#"{"d":null,"a":3,"…":1}"#,
            r#"{"a":["… 1 more"],"…":2}"#,
            "[]",
        ] {
            assert!(!part(other, whole), "{other}");
        }
        assert!(part(r#"{"a":3,"…":2}"#, r#"{"a":3,"b":4,"…":1}"#));
        assert!(part(r#"["ab […] yz"]"#, r#"["abcdefghijklmnopqrstuvwxyz"]"#));
        assert!(!part(r#"["ab […] xz"]"#, r#"["abcdefghijklmnopqrstuvwxyz"]"#));
        assert!(part("[1]\n\"… 2 more\"", "[1]\n[2]\n{}"));
    }
}
