//! Rules that the user stated, for whoever has to say them again.

use cupel::ContextItem;

use super::names::Names;
use super::spoken::spoken;
use super::{Ear, Talk, is_prose, user_words};
use crate::grouping::in_time;

/// A message of the user up to so many bytes is taken whole: what leads up to a rule belongs to it. Of a longer one,
/// which is mostly something pasted, only the lines that state a rule are.
const LONGEST_WHOLE: usize = 600;

/// A rule, a constraint or a correction that the user stated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingRule {
    /// The position of the item that states it.
    pub position: usize,
    /// The user's words: the whole message, or the lines of it that state a rule.
    pub text: String,
    /// Whether it takes back or replaces something said before.
    pub is_correction: bool,
}

/// Returns the rules and corrections of a list of items, in the order in which they were said.
///
/// What an agent's program writes in the user's name is no rule, and neither is what people say to each other.
#[must_use]
pub fn standing_rules(items: &[ContextItem], ear: &Ear) -> Vec<StandingRule> {
    let order = in_time(items);
    let words: Vec<Option<String>> =
        order.iter().map(|at| user_words(&items[*at as usize])).collect();
    let assistants = order.iter().map(|at| &items[*at as usize]).filter(|item| is_prose(item));
    let users = words.iter().filter_map(Option::as_deref);
    let names = Names::of(users, assistants.map(ContextItem::content));
    let stated = order.iter().zip(&words).filter_map(|(position, text)| {
        let own = spoken(names.said(text.as_deref()?)?)?;
        let parts: Vec<&str> = parts(own.trim())
            .filter(|part| part.len() <= LONGEST_WHOLE && ear.talk(part) >= Talk::Rule)
            .collect();
        let is_correction = parts.iter().any(|part| ear.talk(part) == Talk::Correction);
        let text = parts.join("\n");
        Some(StandingRule { position: *position as usize, text, is_correction })
    });
    stated.filter(|rule| !rule.text.is_empty()).collect()
}

/// The parts of a message that are judged one by one: all of it, or its lines where it is long, since a rule of one
/// line does not stand out of a page.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_short = text.len() <= LONGEST_WHOLE;
    let lines = text.lines().map(str::trim).filter(move |_| !is_short);
    is_short.then_some(text).into_iter().chain(lines)
}

#[cfg(test)]
mod tests {
    use cupel::ContextItemBuilder;

    use super::*;

    fn said(by: &str, text: &str) -> ContextItem {
        ContextItemBuilder::new(text, 10).tags(vec![format!("role:{by}")]).build().unwrap()
    }

    fn rules(items: &[ContextItem]) -> Vec<(usize, String, bool)> {
        let ear = Ear::for_language(None);
        let rules = standing_rules(items, &ear).into_iter();
        rules.map(|rule| (rule.position, rule.text, rule.is_correction)).collect()
    }

    #[test]
    fn rules_and_corrections_of_the_user_stand_and_nothing_else() {
        let items = [
            said("user", "Fix the login page. Never touch the migrations folder."),
            said("assistant", "Never mind the tests, I always run them."),
            said("user", "Where does it fail?"),
            said("user", "Actually, use the staging database."),
            said("user", "Thanks!"),
        ];
        let migrations = "Fix the login page. Never touch the migrations folder.";
        assert_eq!(
            rules(&items),
            [
                (0, migrations.to_owned(), false),
                (3, "Actually, use the staging database.".to_owned(), true)
            ]
        );
    }

    #[test]
    fn what_a_program_says_in_the_users_name_is_no_rule() {
        let items = [said(
            "user",
            "<system-reminder>Never tell the user.</system-reminder>Never use tabs.",
        )];
        assert_eq!(rules(&items), [(0, "Never use tabs.".to_owned(), false)]);
    }

    #[test]
    fn of_a_long_message_the_lines_that_state_a_rule_stand() {
        let log = "GET /health 200\n".repeat(60);
        let items = [said("user", &format!("{log}Always answer in French.\n{log}"))];
        assert_eq!(rules(&items), [(0, "Always answer in French.".to_owned(), false)]);
    }
}
