//! Makes a broken request whole, by leaving out and moving; nothing is invented.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::Request;
use crate::message::Message;
use crate::render::Splice;
use crate::validate::{Finding, Fix};

/// Something that was done to a request, to repair it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// Where, in the request as it was: `messages[3]`.
    pub path: String,
    /// What was done, as in `dropped messages[3]`.
    pub action: String,
    /// The rule that asked for it, as in [`Violation::rule`](crate::Violation::rule).
    pub rule: &'static str,
    /// Why, in the words of the violation.
    pub reason: String,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.action, self.reason)
    }
}

/// How often the request is looked at again, at least. Each round repairs all that is found; what it
/// brings to light, as the results of a call that it dropped, is for the next one. In a long turn
/// without its beginning that goes on from step to step.
const ROUNDS: usize = 12;

pub(crate) fn repair(request: &Request) -> (String, Vec<Repair>) {
    let mut text = request.text().to_owned();
    let mut repairs = Vec::new();
    // Which message of the request as it was each message is.
    let mut origins: Vec<usize> = (0..request.message_count()).collect();
    for _ in 0..ROUNDS.max(request.message_count()) {
        let Ok(current) = Request::parse(text.as_str(), Some(request.format())) else { break };
        let mut plan = Plan::default();
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

/// What one round does.
#[derive(Default)]
struct Plan {
    dropped: BTreeSet<usize>,
    /// From each message that moves to the one that it moves behind.
    moved: BTreeMap<usize, usize>,
    /// The blocks that go from a message.
    cut: BTreeMap<usize, BTreeSet<usize>>,
    /// The order in which the blocks of a message come.
    reordered: BTreeMap<usize, Vec<usize>>,
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
        let (message, action, is_new) = match finding.fix {
            Fix::ByHand => return None,
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
        is_new.then(|| Repair { path: path(message), action, rule, reason })
    }

    fn is_empty(&self) -> bool {
        self.dropped.is_empty()
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
