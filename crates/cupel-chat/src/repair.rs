//! Makes a broken request whole: by moving and by pairing again, and by leaving out only where the caller says so.
//! Nothing is invented but ids that pair a call with its result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use std::ops::Range;

use crate::Request;
use crate::message::{Content, IdPlace, Message, Piece, Role};
use crate::render::Splice;
use crate::text::Text;
use crate::validate::{Finding, Fix};

/// Extent of a repair.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RepairMode {
    /// Nothing is lost: results move behind their calls, calls and results without an id are paired by
    /// order and name, and what says nothing goes.
    #[default]
    Keep,
    /// Messages that cannot be kept are dropped.
    Drop,
}

/// Something that was done to a request, to repair it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// Where, in the request as it was: `messages[3]`.
    pub path: String,
    /// Change, as in `dropped messages[3]`.
    pub action: String,
    /// The rule that asked for it, as in [`Violation::rule`](crate::Violation::rule).
    pub rule: &'static str,
    /// Why, in the words of the violation.
    pub reason: String,
    /// True if something that was said, called or answered is gone.
    pub is_loss: bool,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.action, self.reason)
    }
}

/// Least number of times that the request is looked at again. Each round repairs all that is found; what it
/// brings to light, as the results of a call that it dropped, is for the next one. In a long turn
/// without its beginning that goes on from step to step.
const ROUNDS: usize = 12;

pub(crate) fn repair(request: &Request, mode: RepairMode) -> (String, Vec<Repair>) {
    let mut text = request.text().to_owned();
    let mut repairs = Vec::new();
    // Which message of the request as it was each message is.
    let mut origins: Vec<usize> = (0..request.message_count()).collect();
    for _ in 0..ROUNDS.max(request.message_count()) {
        let Ok(current) = Request::parse(text.as_str(), Some(request.format())) else { break };
        let mut plan = Plan { mode, ..Plan::default() };
        let path = |at: usize| request.conversation().path(origins[at]);
        for finding in current.findings() {
            repairs.extend(plan.take_up(&current, finding, path));
        }
        if plan.is_empty() {
            break;
        }
        let order = plan.order(current.message_count());
        let repaired = plan.apply(&current, &order);
        origins = order.into_iter().map(|at| origins[at]).collect();
        text = repaired;
    }
    (text, repairs)
}

/// Changes of one round.
#[derive(Default)]
struct Plan {
    mode: RepairMode,
    dropped: BTreeSet<usize>,
    /// From each message that moves to the one that it moves behind.
    moved: BTreeMap<usize, usize>,
    /// The blocks that go from a message.
    cut: BTreeMap<usize, BTreeSet<usize>>,
    /// The order in which the blocks of a message come.
    reordered: BTreeMap<usize, Vec<usize>>,
    /// Ids that are written into a message: where in its text, and how.
    written: BTreeMap<usize, Vec<(Range<usize>, String)>>,
}

impl Plan {
    /// Notes what a finding asks for. Tells what will be done, unless it is planned already or
    /// nothing can be done.
    fn take_up(
        &mut self,
        request: &Request,
        finding: Finding,
        path: impl Fn(usize) -> String,
    ) -> Option<Repair> {
        let conversation = request.conversation();
        let fix = match finding.fix {
            Fix::NameCall(at, call) if conversation.pairing().answer_of(at, call).is_none() => {
                Fix::remove(at, conversation.messages[at].calls[call].block)
            }
            Fix::NameAnswer(at, answer) if conversation.pairing().call_of(at, answer).is_none() => {
                Fix::remove(at, conversation.messages[at].answers[answer].block)
            }
            fix => fix,
        };
        let is_loss = loses(&conversation.messages, &fix);
        if is_loss && self.mode == RepairMode::Keep {
            return None;
        }
        let (message, action, is_new) = match fix {
            Fix::ByHand => return None,
            Fix::NameCall(at, call) => self.name_call(request, at, call, &path(at))?,
            Fix::NameAnswer(at, answer) => self.name_answer(request, at, answer, &path(at))?,
            Fix::Drop(message) => {
                (message, format!("dropped {}", path(message)), self.dropped.insert(message))
            }
            Fix::DropAll(messages) => {
                let before = self.dropped.len();
                let paths: Vec<String> = messages.iter().map(|message| path(*message)).collect();
                self.dropped.extend(&messages);
                let first = messages.first().copied().unwrap_or_default();
                (first, format!("dropped {}", paths.join(", ")), self.dropped.len() > before)
            }
            // The ranges of ids would no longer hold: the next round sees to it.
            Fix::DropBlocks(message, _) | Fix::ReorderBlocks(message, _)
                if self.written.contains_key(&message) =>
            {
                return None;
            }
            Fix::DropBlocks(message, blocks) => {
                let all = request.conversation().messages[message].blocks.len();
                let cut = self.cut.entry(message).or_default();
                let before = cut.len();
                cut.extend(blocks);
                let is_new = cut.len() > before;
                if cut.len() >= all {
                    self.dropped.insert(message);
                    (message, format!("dropped {}", path(message)), is_new)
                } else {
                    (message, format!("dropped a part of {}", path(message)), is_new)
                }
            }
            Fix::ReorderBlocks(message, order) => {
                let is_new = self.reordered.insert(message, order).is_none();
                (message, format!("reordered {}", path(message)), is_new)
            }
            Fix::MoveBehind { message, target } => {
                let is_free =
                    !self.moved.contains_key(&message) && !self.moved.contains_key(&target);
                if is_free {
                    self.moved.insert(message, target);
                }
                (message, format!("moved {} behind {}", path(message), path(target)), is_free)
            }
        };
        let (rule, reason) = (finding.violation.rule, finding.violation.text);
        is_new.then(|| Repair { path: path(message), action, rule, reason, is_loss })
    }

    /// Gives a call and its answer an id: that of the answer, or a new one.
    fn name_call(
        &mut self,
        request: &Request,
        at: usize,
        call: usize,
        path: &str,
    ) -> Option<(usize, String, bool)> {
        let messages = &request.conversation().messages;
        let (home, index) = request.conversation().pairing().answer_of(at, call)?;
        let answer = &messages[home].answers[index];
        let id = match answer.id.as_str() {
            "" => new_id(messages, at, call),
            id => id.to_owned(),
        };
        self.write(messages, at, messages[at].calls[call].id_place.as_ref()?, &id)?;
        if answer.id.is_empty() {
            self.write(messages, home, answer.id_place.as_ref()?, &id)?;
        }
        Some((at, format!("gave a call of {path} and its result the id `{id}`"), true))
    }

    /// Gives an answer the id of its call, if that has one already.
    fn name_answer(
        &mut self,
        request: &Request,
        at: usize,
        answer: usize,
        path: &str,
    ) -> Option<(usize, String, bool)> {
        let messages = &request.conversation().messages;
        let (home, index) = request.conversation().pairing().call_of(at, answer)?;
        let id = messages[home].calls[index].id.as_str();
        if id.is_empty() {
            return None;
        }
        self.write(messages, at, messages[at].answers[answer].id_place.as_ref()?, id)?;
        Some((at, format!("gave a result in {path} the id `{id}` of its call"), true))
    }

    /// Notes an id that is written into a message, unless its blocks change in this round.
    fn write(&mut self, messages: &[Message], at: usize, place: &IdPlace, id: &str) -> Option<()> {
        if self.cut.contains_key(&at) || self.reordered.contains_key(&at) {
            return None;
        }
        let edit = id_edit(place, messages[at].json.view().raw(), id);
        let edits = self.written.entry(at).or_default();
        if !edits.contains(&edit) {
            edits.push(edit);
        }
        Some(())
    }

    fn is_empty(&self) -> bool {
        self.dropped.is_empty()
            && self.written.is_empty()
            && self.moved.is_empty()
            && self.cut.is_empty()
            && self.reordered.is_empty()
    }

    /// The messages that stay, in their new order.
    fn order(&self, count: usize) -> Vec<usize> {
        let stays = |at: &usize| !self.dropped.contains(at);
        // What moves behind a message that is gone stays where it is.
        let moves = |at: &usize| self.moved.get(at).is_some_and(stays);
        let mut followers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (message, target) in self.moved.iter().filter(|(at, _)| stays(at) && moves(at)) {
            followers.entry(*target).or_default().push(*message);
        }
        let mut order = Vec::with_capacity(count);
        for at in (0..count).filter(|at| stays(at) && !moves(at)) {
            order.push(at);
            order.extend(followers.remove(&at).unwrap_or_default());
        }
        order
    }

    fn apply(&self, request: &Request, order: &[usize]) -> String {
        let messages = &request.conversation().messages;
        request.splice().compose(order.iter().copied(), |at, element, out| {
            if self.cut.contains_key(&at) || self.reordered.contains_key(&at) {
                let blocks = self.blocks_of(at, &messages[at]);
                out.push_str(&with_blocks(&messages[at], element, blocks));
            } else if let Some(edits) = self.written.get(&at) {
                out.push_str(&with_edits(element, edits));
            } else {
                out.push_str(element);
            }
        })
    }

    /// The blocks that stay in a message, in their new order.
    fn blocks_of(&self, at: usize, message: &Message) -> Vec<usize> {
        let order = self.reordered.get(&at).cloned();
        let mut order = order.unwrap_or_else(|| (0..message.blocks.len()).collect());
        if let Some(cut) = self.cut.get(&at) {
            order.retain(|block| !cut.contains(block));
        }
        order
    }
}

/// A message with nothing but these blocks.
fn with_blocks(message: &Message, text: &str, order: Vec<usize>) -> String {
    let spans = message.blocks.iter().map(|block| block.range_in(text)).collect();
    Splice::new(text, spans).keep(order)
}

/// A text with these edits, which do not overlap.
fn with_edits(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|(range, _)| range.start);
    let mut edited = text.to_owned();
    for (range, replacement) in edits.into_iter().rev() {
        edited.replace_range(range, &replacement);
    }
    edited
}

/// Edit that writes an id where it belongs: instead of the old one, or as the first field.
fn id_edit(place: &IdPlace, text: &str, id: &str) -> (Range<usize>, String) {
    let value = serde_json::Value::from(id).to_string();
    let holder = place.holder.view();
    let object = holder.object().unwrap_or_default();
    let there = object.fields().filter(|(name, _)| *name == place.field).last();
    if let Some((_, old)) = there {
        return (old.span_in(text), value);
    }
    let start = holder.span_in(text).start + 1;
    let comma = if object.fields().next().is_some() { "," } else { "" };
    (start..start, format!("\"{}\":{value}{comma}", place.field))
}

/// An id that no call and no answer has.
fn new_id(messages: &[Message], at: usize, call: usize) -> String {
    let calls = messages.iter().flat_map(|message| &message.calls).map(|call| &call.id);
    let answers = messages.iter().flat_map(|message| &message.answers).map(|answer| &answer.id);
    let taken: BTreeSet<&str> = calls.chain(answers).map(Text::as_str).collect();
    let mut id = format!("call_{at}_{call}");
    while taken.contains(id.as_str()) {
        id.push('_');
    }
    id
}

/// Returns true if a fix takes away something that was said, called or answered.
fn loses(messages: &[Message], fix: &Fix) -> bool {
    match fix {
        Fix::Drop(at) => has_substance(&messages[*at]),
        Fix::DropAll(all) => all.iter().any(|at| has_substance(&messages[*at])),
        Fix::DropBlocks(at, blocks) => blocks.iter().any(|block| has_block(&messages[*at], *block)),
        _ => false,
    }
}

fn has_substance(message: &Message) -> bool {
    let is_nothing = message.role == Role::Unknown && message.json.view().is_null();
    let says = message.pieces.iter().any(says_something);
    !is_nothing
        && (says
            || message.role == Role::Unknown
            || !message.calls.is_empty()
            || !message.answers.is_empty())
}

fn has_block(message: &Message, block: usize) -> bool {
    let is_in = |of: Option<usize>| of == Some(block);
    message.pieces.iter().any(|piece| is_in(piece.block) && says_something(piece))
        || message.calls.iter().any(|call| is_in(call.block))
        || message.answers.iter().any(|answer| is_in(answer.block))
}

fn says_something(piece: &Piece) -> bool {
    match &piece.content {
        Content::Text(text) => !text.trim().is_empty(),
        Content::Image(..) | Content::File(..) | Content::Opaque(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::RepairMode;
    use crate::Format::{self, Anthropic, LangChain, OpenAiChat};
    use crate::testing::read;

    #[track_caller]
    fn kept(text: &str, format: Format) -> (String, Vec<String>) {
        let (repaired, repairs) = read(text, format).repair(RepairMode::Keep);
        assert!(repairs.iter().all(|repair| !repair.is_loss), "{repairs:?}");
        (repaired, repairs.iter().map(ToString::to_string).collect())
    }

    const CALLS: &str = r#"{"role":"assistant","tool_calls":[
        {"type":"function","function":{"name":"ls","arguments":"{}"}},
        {"id":null,"type":"function","function":{"name":"cat","arguments":"{}"}}]}"#;

    #[test]
    fn calls_and_results_without_ids_are_paired_by_name_and_order() {
        let text = format!(
            r#"[{{"role":"user","content":"go"}},{CALLS},
            {{"role":"tool","name":"cat","content":"two"}},{{"role":"tool","content":"one"}}]"#
        );
        let (repaired, done) = kept(&text, OpenAiChat);
        assert_eq!(
            done,
            [
                "gave a call of [1] and its result the id `call_1_0`: is required, as a text",
                "gave a call of [1] and its result the id `call_1_1`: is required, as a text",
            ]
        );
        assert!(repaired.contains(r#"{"tool_call_id":"call_1_1","role":"tool","name":"cat""#));
        assert!(repaired.contains(r#"{"tool_call_id":"call_1_0","role":"tool","content":"one"}"#));
        assert!(repaired.contains(r#"{"id":"call_1_0","type":"function","function":{"name":"ls""#));
        assert_eq!(read(&repaired, OpenAiChat).validate(), []);
    }

    #[test]
    fn a_result_without_an_id_gets_that_of_its_call_and_the_other_way_round() {
        for (call, result, format) in [
            (
                r#"{"type":"ai","content":"","tool_calls":[{"name":"f","args":{},"id":"a"}]}"#,
                r#"{"type":"tool","content":"1"}"#,
                LangChain,
            ),
            (
                r#"{"role":"assistant","content":[{"type":"tool_use","name":"f","input":{}}]}"#,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}"#,
                Anthropic,
            ),
        ] {
            let user = if format == LangChain {
                r#"{"type":"human","content":"go"}"#
            } else {
                r#"{"role":"user","content":"go"}"#
            };
            let (repaired, done) = kept(&format!("[{user},{call},{result}]"), format);
            assert_eq!(done.len(), 1, "{done:?}");
            assert_eq!(read(&repaired, format).validate(), [], "{repaired}");
            assert!(repaired.contains("\"1\""));
        }
    }

    #[test]
    fn results_with_ids_of_nobody_are_given_to_the_calls_before_them() {
        let text = r#"[{"role":"user","content":"go"},
            {"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"g"}}]},
            {"role":"tool","tool_call_id":"b","content":"2"},{"role":"tool","tool_call_id":"x","content":"1"}]"#;
        let (repaired, done) = kept(text, OpenAiChat);
        assert_eq!(
            done,
            [
                "gave a result in [3] the id `a` of its call: the result of `x` has no call before it"
            ]
        );
        assert_eq!(read(&repaired, OpenAiChat).validate(), [], "{repaired}");
    }

    #[test]
    fn what_cannot_be_kept_stays_unless_the_caller_drops_it() {
        let text = r#"[{"role":"user","content":"go"},{"role":"tool","tool_call_id":"x","content":"1"},
            {"role":"user"},{"role":"user","content":"on"}]"#;
        let request = read(text, OpenAiChat);
        let (repaired, done) = kept(text, OpenAiChat);
        assert_eq!(done, ["dropped [2]: is required"], "it said nothing");
        assert_eq!(read(&repaired, OpenAiChat).validate()[0].rule, "orphan-result");
        let (repaired, done) = request.repair(RepairMode::Drop);
        assert_eq!(read(&repaired, OpenAiChat).validate(), []);
        assert!(done[0].is_loss && !done[1].is_loss);
    }
}
