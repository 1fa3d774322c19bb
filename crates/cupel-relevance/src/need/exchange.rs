//! Meaning of an item for an agent: talk, or a call with its result.

use cupel::{ContextItem, Part, PartKind};

use crate::grouping::tag_value;
use crate::parts::{has_tag, is_call, is_result};

/// Returns true if an item is a call together with its results. Without parts, the assistant and a tool speak
/// in it.
pub(crate) fn is_exchange(item: &ContextItem) -> bool {
    match item.parts() {
        [] => has_tag(item, "role:tool") && has_tag(item, "role:assistant"),
        parts => parts.iter().any(is_call) && parts.iter().any(is_result),
    }
}

/// Returns true if the user speaks in an item, and no tool.
pub(crate) fn is_user_turn(item: &ContextItem) -> bool {
    let has_results = match item.parts() {
        [] => has_tag(item, "role:tool"),
        parts => parts.iter().any(is_result),
    };
    has_tag(item, "role:user") && !has_results
}

/// Returns true if an item is the system prompt or defines tools.
pub(crate) fn is_instruction(item: &ContextItem) -> bool {
    matches!(tag_value(item, "role"), Some("system" | "tools"))
        || item.kind() == &cupel::ContextKind::system_prompt()
}

/// An item's text by who speaks: what is said, what is called, what came back.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Passages<'t> {
    pub(super) said: Vec<&'t str>,
    pub(super) called: Vec<&'t str>,
    pub(super) returned: Vec<&'t str>,
}

impl<'t> Passages<'t> {
    /// Where there are calls or results, their lines stand for themselves, and so do those of what is
    /// said beside them.
    pub(super) fn of(text: &'t str, parts: &[Part]) -> Self {
        let has_lines = parts.iter().any(|part| is_call(part) || is_result(part));
        let mut passages = Self::default();
        for part in parts {
            let passage = part.of(text);
            let passages = match part.kind {
                PartKind::Called { .. } => {
                    passages.called.push(passage);
                    continue;
                }
                PartKind::Returned { .. } => &mut passages.returned,
                _ => &mut passages.said,
            };
            if has_lines {
                passages.extend(passage.split('\n'));
            } else {
                passages.push(passage);
            }
        }
        passages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, item};

    #[test]
    fn a_result_that_looks_like_a_call_is_what_came_back() {
        let text = "On it.\nls {}\nls {\"a\": 1}\nb";
        let part = |range, kind| Part { range, kind };
        let called = PartKind::Called { tool: 7..9, id: "1".into(), arguments: 10..12 };
        let parts = [
            part(0..6, PartKind::Thought),
            part(7..12, called),
            part(13..text.len(), PartKind::Returned { call: "1".into(), is_error: false }),
        ];
        let Passages { said, called, returned } = Passages::of(text, &parts);
        assert_eq!((said, called), (vec!["On it."], vec!["ls {}"]));
        assert_eq!(returned, ["ls {\"a\": 1}", "b"]);
        assert_eq!(Passages::of(text, &parts[..1]).said, ["On it."]);
    }

    #[test]
    fn a_call_without_its_result_is_no_exchange() {
        let part = |range, kind| Part { range, kind };
        let called = PartKind::Called { tool: 0..2, id: "1".into(), arguments: 3..5 };
        let returned = PartKind::Returned { call: "1".into(), is_error: false };
        let parts = [part(0..5, called), part(6..7, returned)];
        let has = |parts: &[Part]| is_exchange(&build([item("ls {} b").parts(parts.to_vec())])[0]);
        assert!(has(&parts));
        assert!(!has(&parts[..1]) && !has(&parts[1..]));
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
