//! Names before what was said, as in `Ann: see you at eight`.

use std::collections::{HashMap, HashSet};

/// So many messages begin with a name before it counts as one: a single `Note: …` is none.
const LEAST_MESSAGES: usize = 3;
/// A name has no more words and bytes than this.
const MOST_WORDS: usize = 3;
const LONGEST: usize = 40;

/// The names with which messages of a conversation begin.
///
/// Where the assistant's messages have names as well, people talk with each other: the one whose side is recorded as
/// the user's gives no rules to an assistant. So it is with an agent whose steps are texts (`Thought: …`,
/// `Observation: …`). In a channel in which several people talk to an assistant only theirs have names, and they are
/// left aside to understand what was said.
#[derive(Default)]
pub(super) struct Names<'t> {
    names: HashSet<&'t str>,
    is_among_people: bool,
}

impl<'t> Names<'t> {
    /// Finds the names in the texts of users and of assistants.
    pub(super) fn of(
        users: impl Iterator<Item = &'t str>,
        assistants: impl Iterator<Item = &'t str>,
    ) -> Self {
        let mut names = frequent(users);
        if names.is_empty() {
            return Self::default();
        }
        let others = frequent(assistants);
        let is_among_people = others.iter().any(|name| !names.contains(name));
        names.extend(others);
        Self { names, is_among_people }
    }

    /// Returns what was said without the name before it; `None` if it was not said to an assistant.
    pub(super) fn said<'a>(&self, text: &'a str) -> Option<&'a str> {
        match split(text).filter(|(name, _)| self.names.contains(name)) {
            Some(_) if self.is_among_people => None,
            Some((_, said)) => Some(said),
            None => Some(text),
        }
    }
}

fn frequent<'t>(texts: impl Iterator<Item = &'t str>) -> HashSet<&'t str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (name, _) in texts.filter_map(split) {
        *counts.entry(name).or_default() += 1;
    }
    counts.retain(|_, count| *count >= LEAST_MESSAGES);
    counts.into_keys().collect()
}

/// Splits a text into the name that it begins with and the rest.
fn split(text: &str) -> Option<(&str, &str)> {
    let colon = text.bytes().take(LONGEST + 1).position(|byte| byte == b':')?;
    let (name, rest) = (&text[..colon], &text[colon + 1..]);
    let is_upper = name.chars().next().is_some_and(|c| c.is_alphabetic() && !c.is_lowercase());
    let is_plain = name.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '.' | '-' | '\''));
    let is_name = is_upper && is_plain && name.split(' ').count() <= MOST_WORDS;
    (is_name && rest.starts_with([' ', '\n'])).then(|| (name, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: [&str; 3] = ["Ann: hi", "Ann: never again", "Ann: bye"];
    const BOB: [&str; 3] = ["Bob: hi", "Bob: why?", "Bob: bye"];

    #[test]
    fn talk_among_people_is_not_said_to_an_assistant() {
        let names = Names::of(ANN.into_iter(), BOB.into_iter());
        assert_eq!(names.said("Ann: never again"), None);
        assert_eq!(names.said("When was Ann here?"), Some("When was Ann here?"));
        assert_eq!(names.said("Task: find it"), Some("Task: find it"));
    }

    #[test]
    fn people_who_talk_to_an_assistant_are_heard_without_their_names() {
        let plain = ["Hello Ann.", "Because.", "Bye"];
        let names = Names::of(ANN.into_iter().chain(BOB), plain.into_iter());
        assert_eq!(names.said("Bob: no tabs"), Some("no tabs"));
        assert_eq!(names.said("Note: no tabs"), Some("Note: no tabs"));
    }

    #[test]
    fn names_are_short_and_stand_before_a_space() {
        assert_eq!(split("Mary Ann O'Neil: yes"), Some(("Mary Ann O'Neil", "yes")));
        assert_eq!(split("安娜: 好"), Some(("安娜", "好")));
        for text in ["std::io", "https://x.y", "a: b", "", ":", "One two three four: x", "X2: y"] {
            assert_eq!(split(text), None, "{text}");
        }
    }
}
