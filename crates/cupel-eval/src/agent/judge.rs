//! Quality of one window of an agent's request.

use std::ops::Range;

use serde::Serialize;

use super::message::{AgentMessage, Pairing};
use super::run::{AgentRun, AgentStep};

/// Providers count a little more than texts, and counts of others may differ by as much.
const TOLERANCE: f64 = 1.02;

/// By how much of its beginning a message is known again, in characters: it may be shortened.
const BEGINNING: usize = 40;

/// Quality of one window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepMeasures {
    /// The share of the values that the next call needed that are in the window, in any message but
    /// system messages; of the evidence messages where the step has no values; `None` where it has
    /// neither.
    pub coverage: Option<f64>,
    /// True if a provider refuses it: a result without its call, or a call without its result.
    pub is_invalid: bool,
    /// True if the newest message is not its last.
    pub is_stale: bool,
    /// True if it is above the budget by more than 2 %.
    pub is_over: bool,
    /// Its tokens.
    pub tokens: i64,
    /// Its tokens behind the common beginning with the window before it.
    pub uncached_tokens: i64,
}

/// A window with what its messages count for, and the window before it.
pub(super) struct Judgement<'j> {
    pub(super) run: &'j AgentRun,
    pub(super) step: &'j AgentStep,
    pub(super) max_tokens: i64,
    pub(super) window: &'j [&'j AgentMessage],
    pub(super) tokens: &'j [i64],
    pub(super) before: &'j [&'j AgentMessage],
}

impl Judgement<'_> {
    pub(super) fn measures(&self) -> StepMeasures {
        let mut pairing = Pairing::default();
        for message in self.window {
            pairing.add(message);
        }
        let tokens: i64 = self.tokens.iter().sum();
        let pairs = self.before.iter().zip(self.window);
        let shared = pairs.take_while(|(before, now)| is_same(before, now)).count();
        StepMeasures {
            coverage: self.coverage(),
            is_invalid: !pairing.is_valid(),
            is_stale: !self.has_newest(),
            is_over: tokens as f64 > TOLERANCE * self.max_tokens as f64,
            tokens,
            uncached_tokens: self.tokens[shared..].iter().sum(),
        }
    }

    fn coverage(&self) -> Option<f64> {
        let (values, evidence) = (self.step.values(), self.step.evidence());
        if !values.is_empty() {
            let said = self.window.iter().filter(|message| message.role() != "system");
            let body: Vec<&str> = said.map(|message| message.lowered()).collect();
            let body = body.join("\n");
            let found = values.iter().filter(|value| has(&body, &value.to_lowercase())).count();
            return Some(found as f64 / values.len() as f64);
        }
        let is_kept = |index: &&usize| {
            let needed = self.run.messages()[**index].content();
            self.window.iter().any(|message| message.content() == needed)
        };
        let found = evidence.iter().filter(is_kept).count();
        (!evidence.is_empty()).then(|| found as f64 / evidence.len() as f64)
    }

    /// Returns true if the last message is the newest one, or a shortened form of it.
    fn has_newest(&self) -> bool {
        let newest = self.run.messages()[..self.step.at()].last();
        let (Some(newest), Some(last)) = (newest, self.window.last()) else { return false };
        let start = |message: &AgentMessage| -> String {
            message.content().chars().take(BEGINNING).collect()
        };
        last.role() == newest.role()
            && match newest.answers() {
                Some(id) => last.answers() == Some(id),
                None => start(last) == start(newest),
            }
    }
}

fn is_same(a: &AgentMessage, b: &AgentMessage) -> bool {
    std::ptr::eq(a, b) || a.json() == b.json()
}

/// Returns true if a text has a value as a word of its own; both in small letters.
fn has(text: &str, value: &str) -> bool {
    let mut from = 0;
    while let Some(found) = text[from..].find(value) {
        let (start, end) = (from + found, from + found + value.len());
        if stands_apart(text, start..end) {
            return true;
        }
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// Returns true if a part of a text in small letters is a word of its own: no letter, digit or underscore
/// goes on before or behind it.
///
/// ```
/// assert!(cupel_eval::stands_apart("gate 12.", 5..7));
/// assert!(!cupel_eval::stands_apart("gate 123.", 5..7));
/// ```
///
/// # Panics
///
/// If the range is no part of the text.
pub fn stands_apart(text: &str, range: Range<usize>) -> bool {
    let is_apart = |letter: Option<char>| !letter.is_some_and(is_of_word);
    is_apart(text[..range.start].chars().next_back()) && is_apart(text[range.end..].chars().next())
}

fn is_of_word(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::has;

    #[test]
    fn a_value_is_found_as_a_word_of_its_own() {
        assert!(has("the id is px-7.", "px-7"));
        assert!(has("px-70 and px-7", "px-7"));
        assert!(has("aaa aa", "aa"));
        assert!(has("ünder_x ü", "ü"));
        assert!(!has("px-70", "px-7"));
        assert!(!has("my_px-7", "px-7"));
        assert!(!has("", "px-7"));
    }
}
