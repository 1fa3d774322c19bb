//! The user's standing rules, for whoever has to say them again.

use cupel_relevance::Ear;
use cupel_relevance::keep::standing_rules;
use serde::{Deserialize, Serialize};

use crate::Prepared;

/// A rule, a constraint or a correction that the user stated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StandingRule {
    /// The path of the message that states it, as in `messages[3]`.
    pub path: String,
    /// The user's words: the whole message, or, of a long one, the lines that state a rule.
    pub text: String,
    /// Whether it takes back or replaces something said before.
    pub is_correction: bool,
}

impl Prepared {
    /// The rules and corrections that the user stated, in the order in which they were said: what an agent has to be told
    /// again when its history is cut or summed up. Told by cues of the conversation's language, as the policy `auto`
    /// tells them.
    #[must_use]
    pub fn standing_rules(&self) -> Vec<StandingRule> {
        let ear = Ear::for_language(self.language());
        let rules = standing_rules(self.items(), &ear).into_iter();
        rules
            .map(|rule| StandingRule {
                path: self.candidates().bundle(rule.position).path().to_owned(),
                text: rule.text,
                is_correction: rule.is_correction,
            })
            .collect()
    }
}
