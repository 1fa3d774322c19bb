//! Windows in which the user never speaks twice in a row, as strict chat templates want it.
//!
//! Between two messages of the user there must be an answer, whatever is left out. So what the user
//! said and all that came before the user's next message go together; of the last turn, which is always
//! in, steps may still go by themselves.

use crate::ChatError;
use crate::conversation::Conversation;
use crate::grouping::{Group, ascending};
use crate::message::{Message, Role};
use crate::validate::Finding;

/// Joins what belongs to one turn of the user.
///
/// # Errors
///
/// If the user speaks twice in a row in the request itself: nothing that is left out can mend that.
pub(crate) fn join_turns(
    conversation: &Conversation,
    groups: Vec<Group>,
) -> Result<Vec<Group>, ChatError> {
    check(conversation)?;
    let turns = turn_of_each(conversation);
    let mut same = Joined::new(turns.len());
    for group in &groups {
        let mut members = group.messages.iter().filter_map(|at| turns[*at]);
        if let Some(first) = members.next() {
            members.for_each(|turn| same.join(first, turn));
        }
    }
    let mut joined: Vec<Group> = Vec::with_capacity(groups.len());
    // The group that holds each turn.
    let mut home: Vec<Option<usize>> = vec![None; turns.len()];
    for group in groups {
        let turn = group.messages.iter().find_map(|at| turns[*at]).map(|turn| same.first(turn));
        if let Some(at) = turn.and_then(|turn| home[turn]) {
            joined[at].take_in(group);
            continue;
        }
        if let Some(turn) = turn {
            home[turn] = Some(joined.len());
        }
        joined.push(group);
    }
    for group in &mut joined {
        group.messages = ascending(std::mem::take(&mut group.messages));
    }
    Ok(joined)
}

/// Which turns are one, since something belongs to both.
struct Joined(Vec<usize>);

impl Joined {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The turn that stands for all that are one with this one.
    fn first(&mut self, mut turn: usize) -> usize {
        while self.0[turn] != turn {
            self.0[turn] = self.0[self.0[turn]];
            turn = self.0[turn];
        }
        turn
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        self.0[one.max(other)] = one.min(other);
    }
}

/// The turn that each message is in, from one of the user to the next; `None` for system prompts,
/// for what comes before the user, and for the last turn.
fn turn_of_each(conversation: &Conversation) -> Vec<Option<usize>> {
    let messages = &conversation.messages;
    let last = messages.iter().rposition(Message::opens_turn);
    let mut turn = None;
    let each = messages.iter().enumerate().map(|(at, message)| {
        if message.opens_turn() {
            turn = Some(at);
        }
        turn.filter(|turn| Some(*turn) != last && message.role != Role::System)
    });
    each.collect()
}

fn check(conversation: &Conversation) -> Result<(), ChatError> {
    let spoken = conversation.messages.iter().enumerate();
    let mut before: Option<&Message> = None;
    let mut violations = Vec::new();
    for (at, message) in spoken.filter(|(_, message)| message.role != Role::System) {
        let is_again = before.is_some_and(|before| before.role == Role::User);
        if is_again && message.role == Role::User && message.item.is_none() {
            let finding = Finding::new(
                conversation.path(at),
                "consecutive-user",
                "the user speaks twice in a row",
                "join the two messages, or do without alternation",
            );
            violations.push(finding.violation);
        }
        before = Some(message);
    }
    if violations.is_empty() { Ok(()) } else { Err(ChatError::Invalid { violations }) }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Words, read};
    use crate::{Bundle, CandidateOptions, Format};

    fn labels(text: &str, format: Format) -> Vec<String> {
        let options = CandidateOptions { alternate: true, ..Default::default() };
        let candidates = read(text, format).candidates(&Words, &options).unwrap();
        candidates.bundles().iter().map(Bundle::label).collect()
    }

    #[test]
    fn a_question_and_its_answer_go_together() {
        let text = r#"[{"role":"system","content":"s"},{"role":"user","content":"a"},
            {"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]},
            {"role":"tool","tool_call_id":"1","content":"x"},{"role":"assistant","content":"b"},
            {"role":"user","content":"c"},{"role":"assistant","content":"d"},
            {"role":"user","content":"e"},
            {"role":"assistant","tool_calls":[{"id":"2","function":{"name":"f"}}]},
            {"role":"tool","tool_call_id":"2","content":"x"}]"#;
        assert_eq!(
            labels(text, Format::OpenAiChat),
            [
                "[0]: system",
                "[1..5]: user, 2 × assistant, tool result",
                "[5..7]: user, assistant",
                "[7]: user",
                "[8..10]: assistant, tool result",
            ]
        );
    }

    #[test]
    fn outputs_that_come_late_join_the_turns_between() {
        let text = r#"[{"role":"user","content":"a"},
            {"type":"function_call","call_id":"1","name":"f","arguments":"{}"},
            {"role":"assistant","content":"wait"},{"role":"user","content":"b"},
            {"type":"function_call_output","call_id":"1","output":"x"},
            {"role":"assistant","content":"c"},{"role":"user","content":"d"}]"#;
        let labels = labels(text, Format::OpenAiResponses);
        assert_eq!(labels.len(), 2, "{labels:?}");
    }

    #[test]
    fn a_user_who_speaks_twice_in_a_row_is_refused() {
        let text = r#"[{"role":"user","content":"a"},{"role":"user","content":"b"}]"#;
        let request = read(text, Format::OpenAiChat);
        let options = CandidateOptions { alternate: true, ..Default::default() };
        let error = request.candidates(&Words, &options).unwrap_err();
        assert_eq!((error.rule(), error.path()), (Some("consecutive-user"), Some("[1]")));
        assert!(request.candidates(&Words, &CandidateOptions::default()).is_ok());
    }
}
