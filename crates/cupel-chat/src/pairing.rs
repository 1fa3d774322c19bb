//! Which answer belongs to which call.

use std::collections::{BTreeMap, HashMap, VecDeque};

use foldhash::quality::RandomState;

use crate::conversation::Conversation;
use crate::message::{Answer, Call, Message, Role};
use crate::validate::{Finding, Fix};

/// Calls and answers of a conversation, matched by id.
///
/// An answer belongs to the latest call before it that has its id and no answer yet; if there is
/// none, to the first one after it. Ids may be used again by later calls.
///
/// Where a call or an answer has no id, the answer belongs to the first open call of its name in the
/// latest message with calls, or, without a name, to the first open call there.
pub(crate) struct Pairing {
    /// For each message and each of its calls, the answer: its message, and its place there.
    answered_in: Vec<Vec<Option<(usize, usize)>>>,
    /// For each message, what each of its answers belongs to.
    links: Vec<Vec<Link>>,
    /// Answers of no call, each with the call that lacks one and that it must be of: as many calls of
    /// one message lack an answer as answers of no call follow it.
    adopted: BTreeMap<(usize, usize), (usize, usize)>,
}

/// Calls by id, each as its message and its place there.
type Open<'m> = HashMap<&'m str, VecDeque<(usize, usize)>, RandomState>;

/// Call that an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// A call in this message.
    Call(usize),
    /// A call that has an answer already.
    Answered,
    /// No call at all.
    Nothing,
}

impl Pairing {
    pub(crate) fn of(messages: &[Message]) -> Self {
        let mut pairing = Self {
            answered_in: messages.iter().map(|m| vec![None; m.calls.len()]).collect(),
            links: messages.iter().map(|m| vec![Link::Nothing; m.answers.len()]).collect(),
            adopted: BTreeMap::new(),
        };
        let mut open = pairing.look_back(messages);
        pairing.look_ahead(messages, &mut open);
        pairing.adopt(messages);
        pairing
    }

    /// Gives answers to calls before them. Returns the calls that are still open, by id.
    fn look_back<'m>(&mut self, messages: &'m [Message]) -> Open<'m> {
        let mut open = Open::default();
        let mut latest = None;
        for (at, message) in messages.iter().enumerate() {
            for (index, answer) in message.answers.iter().enumerate() {
                let calls = open.get_mut(answer.id.as_str()).filter(|_| !answer.id.is_empty());
                if let Some(call) = calls.and_then(VecDeque::pop_back) {
                    self.join(call, (at, index));
                } else if let Some(call) = latest.and_then(|of| self.by_order(messages, of, answer))
                {
                    let calls = open.get_mut(messages[call.0].calls[call.1].id.as_str());
                    if let Some(calls) = calls {
                        calls.retain(|open| *open != call);
                    }
                    self.join(call, (at, index));
                } else if open.contains_key(answer.id.as_str()) {
                    self.links[at][index] = Link::Answered;
                }
            }
            for (index, call) in message.calls.iter().enumerate() {
                open.entry(&call.id).or_default().push_back((at, index));
            }
            if !message.calls.is_empty() {
                latest = Some(at);
            }
        }
        open
    }

    /// The call of a message that an answer belongs to by its order and name, where one of them has no
    /// id.
    fn by_order(
        &self,
        messages: &[Message],
        calling: usize,
        answer: &Answer,
    ) -> Option<(usize, usize)> {
        let calls = messages[calling].calls.iter().enumerate();
        let mut open = calls.filter(|(index, call)| {
            let is_open = self.answered_in[calling][*index].is_none();
            is_open && (call.id.is_empty() || answer.id.is_empty()) && may_answer(answer, call)
        });
        open.next().map(|(index, _)| (calling, index))
    }

    /// Finds answers of no call that can only be of calls without an answer.
    fn adopt(&mut self, messages: &[Message]) {
        for (at, message) in messages.iter().enumerate() {
            let calls = message.calls.iter().enumerate().filter(|(index, call)| {
                call.needs_answer && !call.id.is_empty() && self.answered_in[at][*index].is_none()
            });
            let calls: Vec<usize> = calls.map(|(index, _)| index).collect();
            if calls.is_empty() {
                continue;
            }
            let behind = messages.iter().enumerate().skip(at + 1);
            let behind = behind.take_while(|(_, message)| !message.answers.is_empty());
            let answers = behind
                .flat_map(|(at, message)| (0..message.answers.len()).map(move |index| (at, index)));
            let is_lost = |(at, index): &(usize, usize)| {
                let has_place = messages[*at].answers[*index].id_place.is_some();
                has_place && self.links[*at][*index] == Link::Nothing
            };
            let answers: Vec<(usize, usize)> = answers.filter(is_lost).collect();
            let pairs = || calls.iter().zip(&answers);
            let is_sure = calls.len() == answers.len()
                && pairs().all(|(call, answer)| {
                    may_answer(&messages[answer.0].answers[answer.1], &message.calls[*call])
                });
            if is_sure {
                let adopted = pairs().map(|(call, answer)| (*answer, (at, *call)));
                self.adopted.extend(adopted.collect::<Vec<_>>());
            }
        }
    }

    /// The answer of a call, both by their message and their place there.
    pub(crate) fn answer_of(&self, message: usize, call: usize) -> Option<(usize, usize)> {
        self.answered_in[message][call]
    }

    /// The call that an answer belongs to, or must belong to.
    pub(crate) fn call_of(&self, message: usize, answer: usize) -> Option<(usize, usize)> {
        let adopted = self.adopted.get(&(message, answer)).copied();
        let Link::Call(at) = self.links[message][answer] else { return adopted };
        let calls = self.answered_in[at].iter();
        let mut calls = calls.enumerate().filter(|(_, of)| **of == Some((message, answer)));
        calls.next().map(|(index, _)| (at, index))
    }

    /// Gives answers that are left to open calls after them.
    fn look_ahead(&mut self, messages: &[Message], open: &mut Open<'_>) {
        for (at, message) in messages.iter().enumerate() {
            for (index, answer) in message.answers.iter().enumerate() {
                if matches!(self.links[at][index], Link::Call(_)) || answer.id.is_empty() {
                    continue;
                }
                let Some(calls) = open.get_mut(answer.id.as_str()) else { continue };
                while calls.front().is_some_and(|call| call.0 <= at) {
                    calls.pop_front();
                }
                if let Some(call) = calls.pop_front() {
                    self.join(call, (at, index));
                }
            }
        }
    }

    fn join(&mut self, call: (usize, usize), answer: (usize, usize)) {
        self.answered_in[call.0][call.1] = Some(answer);
        self.links[answer.0][answer.1] = Link::Call(call.0);
    }

    /// The messages that answer calls of this one, in the order of the calls.
    pub(crate) fn answering(&self, message: usize) -> impl Iterator<Item = usize> {
        self.answered_in[message].iter().filter_map(|answer| Some((*answer)?.0))
    }

    /// Calls that the answers of a message belong to.
    pub(crate) fn links(&self, message: usize) -> &[Link] {
        &self.links[message]
    }

    /// Finds what is wrong with calls and answers. With `adjacent`, answers must follow their call
    /// directly.
    pub(crate) fn check(
        &self,
        conversation: &Conversation,
        adjacent: bool,
        findings: &mut Vec<Finding>,
    ) {
        let mut follows = None;
        for (at, message) in conversation.messages.iter().enumerate() {
            self.check_answers(conversation, at, follows.filter(|_| adjacent), findings);
            self.check_calls(conversation, at, findings);
            if !is_answer(message) {
                follows = Some(at);
            }
        }
    }

    fn check_answers(
        &self,
        conversation: &Conversation,
        at: usize,
        follows: Option<usize>,
        findings: &mut Vec<Finding>,
    ) {
        let answers = &conversation.messages[at].answers;
        for (index, (answer, link)) in answers.iter().zip(&self.links[at]).enumerate() {
            let id = &answer.id;
            let drop = match self.adopted.get(&(at, index)) {
                Some(_) => Fix::NameAnswer(at, index),
                _ => Fix::remove(at, answer.block),
            };
            let found = |rule, text: String, remedy: &str| {
                Finding::new(conversation.path(at), rule, text, remedy)
            };
            findings.push(match *link {
                Link::Nothing if conversation.has_stored_messages => continue,
                // That it has no id is said already.
                Link::Nothing if id.is_empty() && answer.id_place.is_some() => continue,
                Link::Nothing => found(
                    "orphan-result",
                    format!("the result of `{id}` has no call before it"),
                    "remove it, or put its call back",
                )
                .fixed_by(drop),
                Link::Answered => found(
                    "duplicate-result",
                    format!("the call `{id}` has a result already"),
                    "keep one result of each call",
                )
                .fixed_by(drop),
                Link::Call(call) if call > at => found(
                    "result-before-call",
                    format!("the result of `{id}` comes before its call"),
                    "move it behind its call",
                )
                .fixed_by(self.move_behind(at, call, drop)),
                Link::Call(call) if follows.is_some_and(|before| before != call) => found(
                    "result-not-adjacent",
                    format!("the result of `{id}` does not directly follow its call"),
                    "move it behind its call",
                )
                .fixed_by(self.move_behind(at, call, drop)),
                Link::Call(_) => continue,
            });
        }
    }

    /// Moves a message behind the call that it answers; but not one that answers others too.
    fn move_behind(&self, message: usize, call: usize, otherwise: Fix) -> Fix {
        if self.links[message].iter().all(|link| *link == Link::Call(call)) {
            return Fix::MoveBehind { message, target: call };
        }
        otherwise
    }

    fn check_calls(&self, conversation: &Conversation, at: usize, findings: &mut Vec<Finding>) {
        let calls = &conversation.messages[at].calls;
        for (index, (call, answer)) in calls.iter().zip(&self.answered_in[at]).enumerate() {
            if answer.is_some() || !call.needs_answer {
                continue;
            }
            let text = match call.id.as_str() {
                "" => format!("a call of {} has no result", call.name),
                id => format!("the call `{id}` of {} has no result", call.name),
            };
            let finding = Finding::new(
                conversation.path(at),
                "unanswered-call",
                text,
                "add its result, or remove the call",
            );
            // An answer that is adopted will have its id in the next round.
            let is_adopted = self.adopted.values().any(|adopted| *adopted == (at, index));
            let fix = if is_adopted { Fix::ByHand } else { Fix::remove(at, call.block) };
            findings.push(finding.fixed_by(fix));
        }
    }
}

/// Returns true if an answer can be that of a call, as far as their names say it.
fn may_answer(answer: &Answer, call: &Call) -> bool {
    let name = answer.name.as_deref().unwrap_or_default();
    name.is_empty() || call.name.is_empty() || name == call.name.as_str()
}

/// Returns true if a message only answers, so that the answers of one call may stand side by side.
fn is_answer(message: &Message) -> bool {
    message.role == Role::Tool || !message.answers.is_empty()
}

/// Finds ids that several calls have, where the provider wants each to be its own.
pub(crate) fn check_unique_ids(
    conversation: &Conversation,
    scope: IdScope,
    findings: &mut Vec<Finding>,
) {
    let mut seen: HashMap<&str, usize, RandomState> = HashMap::default();
    for (at, message) in conversation.messages.iter().enumerate() {
        for call in message.calls.iter().filter(|call| !call.id.is_empty()) {
            let before = seen.insert(&call.id, at);
            let is_again = match scope {
                IdScope::Message => before == Some(at),
                IdScope::Request => before.is_some(),
            };
            if is_again {
                let finding = Finding::new(
                    conversation.path(at),
                    "duplicate-call-id",
                    format!("the id `{}` is used by more than one call", call.id),
                    "give each call an id of its own",
                );
                findings.push(finding.fixed_by(Fix::remove(at, call.block)));
            }
        }
    }
}

/// Within what call ids must differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdScope {
    Message,
    Request,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format::OpenAiChat;
    use crate::testing::{read, repaired, violations};

    const USER: &str = r#"{"role":"user","content":"go"}"#;

    fn call(ids: &[&str]) -> String {
        let call = |id: &&str| {
            format!(
                r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#
            )
        };
        let calls: Vec<String> = ids.iter().map(call).collect();
        format!(r#"{{"role":"assistant","tool_calls":[{}]}}"#, calls.join(","))
    }

    fn result(id: &str) -> String {
        format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{id}"}}"#)
    }

    fn list(messages: &[&str]) -> String {
        format!("[{}]", messages.join(","))
    }

    /// For each message what its answers belong to.
    fn links(messages: &[&str]) -> Vec<Vec<Link>> {
        let request = read(&list(messages), OpenAiChat);
        let pairing = request.conversation().pairing();
        (0..messages.len()).map(|at| pairing.links(at).to_vec()).collect()
    }

    fn answering(messages: &[&str], at: usize) -> Vec<usize> {
        read(&list(messages), OpenAiChat).conversation().pairing().answering(at).collect()
    }

    #[test]
    fn an_answer_belongs_to_the_latest_open_call_of_its_id() {
        let (call, result) = (call(&["a"]), result("a"));
        let messages = [USER, &call, &call, &result, &result];
        let links = links(&messages);
        assert_eq!((&*links[3], &*links[4]), (&[Link::Call(2)][..], &[Link::Call(1)][..]));
        assert_eq!((answering(&messages, 1), answering(&messages, 2)), (vec![4], vec![3]));
    }

    #[test]
    fn an_answer_before_all_calls_of_its_id_belongs_to_the_first() {
        let (call, result) = (call(&["a"]), result("a"));
        let messages = [USER, &result, &call, &call];
        assert_eq!(links(&messages)[1], [Link::Call(2)]);
        assert_eq!((answering(&messages, 2), answering(&messages, 3)), (vec![1], vec![]));
    }

    #[test]
    fn a_call_after_its_id_was_answered_takes_the_answer_that_is_left() {
        let (call, result) = (call(&["a"]), result("a"));
        let messages = [&call, &result, &result, &call].map(String::as_str);
        assert_eq!(links(&messages)[1..3], [[Link::Call(0)], [Link::Call(3)]]);
    }

    #[test]
    fn answers_beyond_the_calls_are_told_from_answers_of_nothing() {
        let (calls, a, b, x) = (call(&["a", "b"]), result("a"), result("b"), result("x"));
        let messages = [USER, &calls, &b, &a, &a, &x];
        let links = links(&messages);
        assert_eq!(links[2..4], [[Link::Call(1)], [Link::Call(1)]]);
        assert_eq!(links[4..], [[Link::Answered], [Link::Nothing]]);
        assert_eq!(answering(&messages, 1), [3, 2], "in the order of the calls");
    }

    #[test]
    fn a_finding_says_what_is_wrong_with_an_answer() {
        let (a, b) = (call(&["a"]), call(&["b"]));
        let (of_a, of_b, of_x) = (result("a"), result("b"), result("x"));
        for (messages, expected) in [
            (
                vec![USER, &a, &of_a, &of_a],
                "[3]: the call `a` has a result already; keep one result of each call \
                 (duplicate-result)",
            ),
            (
                vec![USER, &of_x],
                "[1]: the result of `x` has no call before it; remove it, or put its call back \
                 (orphan-result)",
            ),
            (
                vec![USER, &of_a, &a],
                "[1]: the result of `a` comes before its call; move it behind its call \
                 (result-before-call)",
            ),
            (
                vec![USER, &a, USER, &of_a],
                "[3]: the result of `a` does not directly follow its call; move it behind its call \
                 (result-not-adjacent)",
            ),
            (
                vec![USER, &a, &of_a, &b],
                "[3]: the call `b` of f has no result; add its result, or remove the call \
                 (unanswered-call)",
            ),
        ] {
            assert_eq!(violations(&list(&messages), OpenAiChat), [expected]);
        }
        let fine = [USER, &a, &of_a, &b, &of_b];
        assert_eq!(violations(&list(&fine), OpenAiChat), [""; 0]);
    }

    #[test]
    fn a_result_that_stands_elsewhere_moves_behind_its_call() {
        let (a, of_a) = (call(&["a"]), result("a"));
        let expected = list(&[USER, &a, &of_a, USER]);
        assert_eq!(repaired(&list(&[USER, &a, USER, &of_a]), OpenAiChat).0, expected);
        assert_eq!(repaired(&list(&[USER, &of_a, &a, USER]), OpenAiChat).0, expected);
    }

    #[test]
    fn an_id_may_come_again_in_a_later_message_of_chat_completions_but_not_in_the_same() {
        let (one, two, result) = (call(&["a"]), call(&["a", "a"]), result("a"));
        let again = list(&[USER, &one, &result, &one, &result]);
        assert_eq!(violations(&again, OpenAiChat), [""; 0]);
        let twice = list(&[USER, &two, &result, &result]);
        assert_eq!(
            violations(&twice, OpenAiChat),
            ["[1]: the id `a` is used by more than one call; give each call an id of its own \
              (duplicate-call-id)"]
        );
    }

    #[test]
    fn without_ids_answers_belong_to_the_open_calls_in_their_order() {
        let (calls, result) = (call(&["", ""]), result(""));
        let messages = [USER, &calls, &result, &result, &result];
        assert_eq!(answering(&messages, 1), [2, 3]);
        assert_eq!(links(&messages)[4], [Link::Answered], "both have one");
    }

    #[test]
    fn one_side_without_an_id_is_enough_to_go_by_order() {
        let (a, none) = (call(&["a"]), call(&[""]));
        let (of_none, of_x) = (result(""), result("x"));
        assert_eq!(links(&[USER, &a, &of_none])[2], [Link::Call(1)]);
        assert_eq!(links(&[USER, &none, &of_x])[2], [Link::Call(1)]);
        assert_eq!(links(&[USER, &a, &of_x])[2], [Link::Nothing], "two ids that differ");
    }

    #[test]
    fn a_call_that_is_answered_by_order_is_no_longer_open_to_its_id() {
        let messages = [USER, &call(&["a"]), &result(""), &result("a")];
        assert_eq!(links(&messages)[2..], [[Link::Call(1)], [Link::Answered]]);
    }

    /// The calls that answers belong to, or must belong to.
    fn calls_of(messages: &[&str], answers: &[usize]) -> Vec<Option<(usize, usize)>> {
        let request = read(&list(messages), OpenAiChat);
        let pairing = request.conversation().pairing();
        answers.iter().map(|at| pairing.call_of(*at, 0)).collect()
    }

    #[test]
    fn answers_of_no_call_are_adopted_where_as_many_calls_before_them_lack_one() {
        let (calls, x, y) = (call(&["a", "b"]), result("x"), result("y"));
        let both = [USER, &calls, &x, &y];
        assert_eq!(calls_of(&both, &[2, 3]), [Some((1, 0)), Some((1, 1))]);
        let half = [USER, &calls, &result("a"), &y];
        assert_eq!(calls_of(&half, &[2, 3]), [Some((1, 0)), Some((1, 1))]);
        assert_eq!(calls_of(&[USER, &calls, &x], &[2]), [None], "it may be of either");
        assert_eq!(calls_of(&[USER, &calls, &x, USER, &y], &[2, 4]), [None, None], "not behind it");
    }

    #[test]
    fn an_answer_of_another_name_is_not_adopted() {
        let named = |id: &str, name: &str| {
            format!(r#"{{"role":"tool","tool_call_id":"{id}","name":"{name}","content":"c"}}"#)
        };
        let calls = call(&["a", "b"]);
        let of = |first: &str, second: &str| {
            calls_of(&[USER, &calls, &named("x", first), &named("y", second)], &[2, 3])
        };
        assert_eq!(of("f", "f"), [Some((1, 0)), Some((1, 1))]);
        assert_eq!(of("f", "g"), [None, None]);
    }

    #[test]
    fn an_answer_is_of_one_call_of_several() {
        let messages = [USER, &call(&["a", "b"]), &result("b"), &result("a")];
        assert_eq!(calls_of(&messages, &[2, 3]), [Some((1, 1)), Some((1, 0))]);
    }
}
