//! The user's own words in a message of the user.

use std::borrow::Cow;

/// So many angle brackets of a message are looked at: each may be looked for to the end of the text.
const MOST_ELEMENTS: usize = 256;

/// Returns the words of a message without what an agent's program wrote into it in the user's name; `None` if that
/// is all.
///
/// Coding agents report the output of commands, the end of tasks and reminders in messages of the user, each in an
/// element whose name has a hyphen (`<local-command-stdout>`, `<task-notification>`, `<system-reminder>`). Elements
/// that hold the user's request have names of one word or with underscores (`<task>`, `<user_query>`).
pub(super) fn spoken(text: &str) -> Option<Cow<'_, str>> {
    let mut rest = text;
    let mut own = String::new();
    let mut is_changed = false;
    for _ in 0..MOST_ELEMENTS {
        let Some(start) = rest.find('<') else { break };
        let (before, element) = rest.split_at(start);
        own.push_str(before);
        if let Some(end) = end_of_report(element) {
            is_changed = true;
            rest = &element[end..];
        } else {
            own.push('<');
            rest = &element[1..];
        }
    }
    own.push_str(rest);
    match is_changed {
        false => Some(Cow::Borrowed(text)),
        true if own.trim().is_empty() => None,
        true => Some(Cow::Owned(own)),
    }
}

/// Returns where an element that a text begins with ends, if a program wrote it.
fn end_of_report(element: &str) -> Option<usize> {
    let name_end = element[1..].find(|c: char| !c.is_ascii_lowercase() && c != '-')? + 1;
    let name = &element[1..name_end];
    if !name.trim_matches('-').contains('-') || !element[name_end..].starts_with(['>', ' ']) {
        return None;
    }
    let close = format!("</{name}>");
    element.find(&close).map(|at| at + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_programs_are_not_the_users_words() {
        let report =
            "<task-notification>\n<task-id>a5</task-id> done, never mind\n</task-notification>";
        assert_eq!(spoken(report), None);
        assert_eq!(spoken(&format!("{report}\n<bash-stdout a='b'></bash-stdout> ")), None);
        let both = format!("Fix it. {report} Never use tabs.");
        assert_eq!(spoken(&both).as_deref(), Some("Fix it.  Never use tabs."));
    }

    #[test]
    fn everything_else_in_angle_brackets_is() {
        for text in [
            "<task>Write a parser</task>",
            "<user_query>why?</user_query>",
            "a < b-c > d",
            "<not-closed> words",
            "<-> <a- >x</a- >",
            "Use <my-element> in HTML",
            "",
            "<",
        ] {
            assert_eq!(spoken(text).as_deref(), Some(text));
        }
    }
}
