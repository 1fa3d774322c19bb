//! Standing rules that the caller names, and the messages that state them.

use std::fmt;
use std::sync::Arc;

use crate::conversation::{Conversation, Fixed, FixedPart};
use crate::message::{Nature, texts_of};

/// A standing rule, in the words in which somebody states it. A message of the system or the user that
/// has these words states the rule, white space and case aside.
///
/// # Example
///
/// ```
/// use cupel_chat::{Request, Rule};
///
/// let rules = Rule::lines("# for all of us\nnever use tabs\n\nanswer in French");
/// let rules: Vec<Rule> = rules.collect();
/// assert_eq!(rules.len(), 2);
///
/// let text = r#"[{"role": "user", "content": "Hi! Never use\ntabs."}]"#;
/// let stated = Request::parse(text, None)?.statements(&rules);
/// assert_eq!((stated[0].rule, stated[0].path.as_str()), (0, "[0]"));
/// assert_eq!(stated.len(), 1);
/// # Ok::<(), cupel_chat::ChatError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rule(Arc<str>);

impl Rule {
    /// The rule that a line says; none if it is empty.
    pub fn new(line: &str) -> Option<Self> {
        let words = line.trim();
        (!words.is_empty()).then(|| Self(words.into()))
    }

    /// The rules that a text lists: one on each line that is not empty and does not begin with `#`.
    pub fn lines(text: &str) -> impl Iterator<Item = Self> {
        text.lines().filter(|line| !line.trim_start().starts_with('#')).filter_map(Self::new)
    }

    /// The rule as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A message, or a part of the request that is always in, that states a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Which of the rules it states.
    pub rule: usize,
    /// The index of the message; `None` for a part of the request that is always in.
    pub message: Option<usize>,
    /// Where it is in the request, as in `messages[3]` or `system`.
    pub path: String,
}

impl Conversation {
    /// The statements of the rules: parts that are always in first, then messages in their order.
    pub(crate) fn statements(&self, rules: &[Rule]) -> Vec<Statement> {
        let rules: Vec<String> = rules.iter().map(|rule| folded(rule.as_str())).collect();
        if rules.is_empty() {
            return Vec::new();
        }
        let stated = |text: &str| {
            let text = folded(text);
            let rules = rules.iter().enumerate().filter(|(_, rule)| text.contains(rule.as_str()));
            rules.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let fixed = self.instructions().flat_map(|(path, text)| {
            stated(&text).into_iter().map(move |rule| Statement {
                rule,
                message: None,
                path: path.to_owned(),
            })
        });
        let messages = self.messages.iter().enumerate().flat_map(|(at, message)| {
            let rules = message.instructing_words().map(|text| stated(&text)).unwrap_or_default();
            rules.into_iter().map(move |rule| Statement {
                rule,
                message: Some(at),
                path: self.path(at),
            })
        });
        fixed.chain(messages).collect()
    }

    /// System prompts that are no messages: where they are, and what they say.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = (&str, String)> {
        let is_said = |fixed: &&Fixed| fixed.part == FixedPart::Instructions;
        self.fixed
            .iter()
            .filter(is_said)
            .map(|fixed| (fixed.path.as_str(), texts_of(&fixed.pieces, Nature::Words)))
    }
}

/// Returns true if a text has these words, white space and case aside.
pub(crate) fn has_words(text: &str, words: &str) -> bool {
    folded(text).contains(&folded(words))
}

/// A text in small letters, with a single blank wherever it has white space.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.extend(word.chars().flat_map(char::to_lowercase));
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Words, read};
    use crate::{CandidateOptions, Format, PinReason};

    /// Which messages are pinned by these rules, each with the reason.
    fn pinned(text: &str, format: Format, rules: &str) -> Vec<String> {
        let rules = Rule::lines(rules).collect();
        let options = CandidateOptions { rules, ..Default::default() };
        let candidates = read(text, format).candidates(&Words, &options).unwrap();
        let pinned = candidates.pinned().into_iter().map(|bundle| {
            format!("{} {}", bundle.path(), bundle.pin_reason().map(PinReason::text).unwrap())
        });
        pinned.collect()
    }

    const TALK: &str = r#"[
        {"role":"user","content":"First: do NOT\n\ttouch  migrations/, please."},
        {"role":"assistant","content":"I do not touch migrations/."},
        {"role":"user","content":"Thanks."},
        {"role":"user","content":"Go on."}]"#;

    #[test]
    fn a_message_of_the_user_that_states_a_rule_is_pinned_whatever_its_case_and_white_space() {
        assert_eq!(
            pinned(TALK, Format::OpenAiChat, "Do not touch Migrations/"),
            ["[0] states a rule: `Do not touch Migrations/`", "[3] last user turn"]
        );
    }

    #[test]
    fn what_the_assistant_or_a_tool_says_sets_no_rule() {
        let text = r#"[{"role":"user","content":"Look."},
            {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"never use tabs"}]},
            {"role":"assistant","content":"never use tabs"},
            {"role":"user","content":"Go on."}]"#;
        assert_eq!(pinned(text, Format::Anthropic, "never use tabs"), ["[4] last user turn"]);
    }

    #[test]
    fn a_rule_that_nobody_states_pins_nothing() {
        assert_eq!(pinned(TALK, Format::OpenAiChat, "be brief"), ["[3] last user turn"]);
    }

    #[test]
    fn a_system_prompt_that_is_no_message_states_rules_too() {
        let text =
            r#"{"system":"Never use\ntabs.","messages":[{"role":"user","content":"Be brief."}]}"#;
        let rules: Vec<Rule> = Rule::lines("never use tabs\nbe brief").collect();
        let stated = read(text, Format::Anthropic).statements(&rules);
        let shown: Vec<_> =
            stated.iter().map(|stated| (stated.rule, stated.message, &*stated.path)).collect();
        assert_eq!(shown, [(0, None, "system"), (1, Some(0), "messages[0]")]);
    }

    #[test]
    fn items_that_say_who_speaks_state_rules() {
        let text = r#"[{"content":"Never use tabs","tokens":3,"tags":["role:user"]},
            {"content":"Never use tabs","tokens":3,"tags":["role:tool"]},
            {"content":"b","tokens":1}]"#;
        assert_eq!(
            pinned(text, Format::Items, "never use tabs"),
            ["[0] states a rule: `never use tabs`"]
        );
    }

    #[test]
    fn a_long_rule_is_named_by_its_beginning() {
        let long = "never ".repeat(40);
        let reason = PinReason::Rule(Rule::new(&long).unwrap()).text();
        assert!(reason.starts_with("states a rule: `never never "), "{reason}");
        assert!(reason.ends_with("…`") && reason.len() < 90, "{reason}");
    }

    #[test]
    fn empty_lines_and_remarks_are_no_rules() {
        let rules = Rule::lines("\n  \n# a remark\n  # another\n  a rule # 1  \r\nb");
        let rules: Vec<String> = rules.map(|rule| rule.to_string()).collect();
        assert_eq!(rules, ["a rule # 1", "b"]);
    }

    #[test]
    fn a_message_that_calls_itself_a_rule_is_kept() {
        let text = r#"[{"role":"user","content":"a","cupel":{"rule":true}},
            {"role":"user","content":"b","cupel":{"rule":false}},
            {"role":"user","content":"c"}]"#;
        assert_eq!(
            pinned(text, Format::OpenAiChat, ""),
            ["[0] marked as required", "[2] last user turn"]
        );
    }
}
