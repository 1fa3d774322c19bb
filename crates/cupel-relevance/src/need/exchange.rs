//! What an item is to an agent: talk, or a call with what came back.

use cupel::ContextItem;

use crate::grouping::tag_value;

fn has(item: &ContextItem, tag: &str) -> bool {
    item.tags().iter().any(|own| own == tag)
}

/// Whether an item is a call together with its results: the assistant and a tool speak in it.
pub(crate) fn is_exchange(item: &ContextItem) -> bool {
    has(item, "role:tool") && has(item, "role:assistant")
}

/// Whether the user speaks in an item, and nobody else.
pub(crate) fn is_user_turn(item: &ContextItem) -> bool {
    has(item, "role:user") && !has(item, "role:tool")
}

/// Whether an item is the system prompt or defines tools.
pub(crate) fn is_instruction(item: &ContextItem) -> bool {
    matches!(tag_value(item, "role"), Some("system" | "tools"))
        || item.kind() == &cupel::ContextKind::system_prompt()
}

/// An item's text, message by message: what is said, what is called, what came back.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Passages<'t> {
    pub(super) said: Vec<&'t str>,
    pub(super) called: Vec<&'t str>,
    pub(super) returned: Vec<&'t str>,
}

impl<'t> Passages<'t> {
    /// A call is a line that begins with the name of a tool of the item, a tag `tool:…`, and goes on
    /// with its arguments; those may be an object of several lines. What follows the first call and
    /// is none is what came back.
    pub(super) fn of(item: &'t ContextItem) -> Self {
        Self::of_form(item, item.content())
    }

    /// The same for a shorter form of the item's text.
    pub(super) fn of_form(item: &'t ContextItem, text: &'t str) -> Self {
        let tools: Vec<&str> =
            item.tags().iter().filter_map(|tag| tag.strip_prefix("tool:")).collect();
        let mut passages = Self::default();
        if tools.is_empty() {
            passages.said.push(text);
            return passages;
        }
        let mut objects_close = true;
        let mut rest = text;
        while !rest.is_empty() {
            let line_end = rest.find('\n').unwrap_or(rest.len());
            let name_end = rest[..line_end].find(' ').unwrap_or(line_end);
            let is_call = tools.contains(&&rest[..name_end]);
            let mut end = line_end;
            if is_call && objects_close {
                let arguments = rest[name_end..].trim_start_matches(' ');
                if arguments.starts_with('{') {
                    let closing = end_of_object(arguments);
                    // One that never closes would be looked for by every call after it.
                    objects_close = closing.is_some();
                    end = closing.map_or(end, |closing| rest.len() - arguments.len() + closing);
                }
            }
            let passage = &rest[..end];
            match is_call {
                true => passages.called.push(passage),
                false if passages.called.is_empty() => passages.said.push(passage),
                false => passages.returned.push(passage),
            }
            rest = rest[end..].strip_prefix('\n').unwrap_or(&rest[end..]);
        }
        passages
    }
}

/// Where the JSON object ends that a text begins with.
fn end_of_object(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, item};

    fn passages(text: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
        let items = build([item(text).tags(vec!["tool:ls".into(), "tool:cat".into()])]);
        let Passages { said, called, returned } = Passages::of(&items[0]);
        let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect();
        (owned(said), owned(called), owned(returned))
    }

    #[test]
    fn what_is_said_called_and_returned_is_told_apart() {
        let (said, called, returned) =
            passages("I look.\nlsx is none\nls {\"a\": 1}\ncat {\n \"b\": \"}\"\n}\nfile one\nls");
        assert_eq!(said, ["I look.", "lsx is none"]);
        assert_eq!(called, ["ls {\"a\": 1}", "cat {\n \"b\": \"}\"\n}", "ls"]);
        assert_eq!(returned, ["file one"]);
    }

    #[test]
    fn arguments_that_never_close_end_with_their_line() {
        let (_, called, returned) = passages("ls {\"a\nls {}\nout");
        assert_eq!(called, ["ls {\"a", "ls {}"]);
        assert_eq!(returned, ["out"]);
    }

    #[test]
    fn without_tools_everything_is_said() {
        let items = build([item("ls {}\nout")]);
        assert_eq!(Passages::of(&items[0]).said, ["ls {}\nout"]);
    }

    #[test]
    fn an_exchange_has_both_voices_and_a_user_turn_only_one() {
        let tagged = |tags: &[&str]| {
            build([item("x").tags(tags.iter().map(|tag| (*tag).to_owned()).collect())]).remove(0)
        };
        assert!(is_exchange(&tagged(&["role:assistant", "tool:f", "role:tool"])));
        assert!(!is_exchange(&tagged(&["role:tool"])), "a loose result");
        assert!(!is_exchange(&tagged(&["role:assistant", "tool:f"])), "a loose call");
        assert!(is_user_turn(&tagged(&["role:user"])));
        assert!(!is_user_turn(&tagged(&["role:user", "role:tool"])));
        assert!(is_instruction(&tagged(&["role:tools"])));
        assert!(!is_instruction(&tagged(&["role:user"])));
    }
}
