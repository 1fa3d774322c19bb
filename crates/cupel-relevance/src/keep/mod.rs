//! The part of a conversation that nobody would drop.
//!
//! Relevance to the question and need of values say nothing about "never touch migrations/" or about the list
//! that "the second one please" answers. A rule that goes before the contest keeps them, bounded by shares of
//! the room that pinned items leave:
//!
//! 1. **The reply** that the last turn answers: the assistant's words right before it. Its share grows with how far
//!    the last message leans on it: one that says nothing by itself cannot be understood without. Once an agent is
//!    at work on the last turn, the reply has been answered.
//! 2. **The task**: the user's first message.
//! 3. **A reserve for the user's words**: rules and corrections before statements before questions, short ones
//!    before long ones. Courtesies have no part in it.
//! 4. **Corrections** come before what they correct, and what was corrected is in only with its correction.
//!
//! The order of the reserve depends on neither budget nor age: so a session's window stays what it is, and
//! **what the rule keeps at a budget it keeps at every larger one**.
//!
//! The rule needs to know who speaks: items without roles have no part in it. Of a pool, a list whose question
//! stands outside of it, it keeps rules and corrections alone.

mod pattern;
mod talk;

use std::collections::{BTreeMap, HashMap};

use cupel::{ContextItem, CupelError, PartKind, Speaker};

pub(crate) use talk::Lean;
pub use talk::{Ear, Talk};

use crate::grouping::in_time;
use crate::parameter;

/// The constants of the rule. Shares are of the room that pinned items leave.
///
/// Chosen on cases of coding sessions, assistants and an agent in which the messages that must stay are known, beside
/// what an agent's next call needs: the shares with calls are smaller than those without because each of them takes
/// room from values there (see docs/quality.md).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeepParameters {
    /// The most that the reply may take where the last message stands by itself, leans on it, or says nothing
    /// without it.
    pub reply: [f64; 3],
    /// The same where the conversation has tool calls: their results need room, and only what leans is worth it.
    pub reply_with_calls: [f64; 3],
    /// The most that the task may take.
    pub task: f64,
    /// The same where the conversation has tool calls.
    pub task_with_calls: f64,
    /// The reserve for rules and corrections where the conversation has tool calls.
    pub reserve_with_calls: f64,
    /// The reserve for the user's other words there: what an agent needs of them its values tell.
    pub words_with_calls: f64,
    /// The reserve for rules and corrections of a pool, whose question stands outside of it.
    pub reserve_in_pools: f64,
    /// The reserve elsewhere, at most: in a small room a tenth holds no rule.
    pub reserve: f64,
    /// The reserve in a large room: so many tokens times a power of the room.
    pub reserve_factor: f64,
    /// That power.
    pub reserve_exponent: f64,
}

impl Default for KeepParameters {
    fn default() -> Self {
        Self {
            reply: [0.2, 0.35, 0.5],
            reply_with_calls: [0.0, 0.15, 0.3],
            task: 0.12,
            task_with_calls: 0.1,
            reserve_with_calls: 0.1,
            words_with_calls: 0.05,
            reserve_in_pools: 0.1,
            reserve: 0.35,
            reserve_factor: 3.0,
            reserve_exponent: 0.6,
        }
    }
}

impl KeepParameters {
    pub(crate) fn check(&self) -> Result<(), CupelError> {
        let reply = self.reply.iter().chain(&self.reply_with_calls).map(|share| ("reply", *share));
        let others = [
            ("task", self.task),
            ("task_with_calls", self.task_with_calls),
            ("reserve_with_calls", self.reserve_with_calls),
            ("words_with_calls", self.words_with_calls),
            ("reserve_in_pools", self.reserve_in_pools),
            ("reserve", self.reserve),
            ("reserve_exponent", self.reserve_exponent),
        ];
        for (name, share) in reply.chain(others) {
            parameter::unit(name, share)?;
        }
        parameter::not_negative("reserve_factor", self.reserve_factor)
    }

    /// The tokens that the reply may take.
    fn reply_tokens(&self, told: &Told, room: i64) -> i64 {
        let shares = if told.has_calls { self.reply_with_calls } else { self.reply };
        part_of(room, shares[told.lean as usize])
    }

    /// The tokens of the reserve where there are no calls.
    fn reserve_tokens(&self, room: i64) -> i64 {
        let large = self.reserve_factor * (room.max(0) as f64).powf(self.reserve_exponent);
        part_of(room, self.reserve).min(large.floor() as i64)
    }
}

fn part_of(room: i64, share: f64) -> i64 {
    (room.max(0) as f64 * share).floor() as i64
}

/// Returns the positions that have to come in with the item at a position, beside what is there already; `None` if it cannot be had.
pub(crate) type NeedsOf<'n> = dyn Fn(usize, &dyn Fn(usize) -> bool) -> Option<Vec<usize>> + 'n;

/// The reason for which the rule keeps an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    Reply,
    Task,
    Words(Talk),
    /// It corrects the item at this position.
    Corrects(usize),
    /// The item at this position cannot stand without it.
    NeededBy(usize),
}

/// An item that the rule keeps, in one of its forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keep {
    pub(crate) position: usize,
    pub(crate) rendering: Option<usize>,
    pub(crate) tokens: i64,
    pub(crate) why: Why,
}

/// A list as the rule sees it: all that does not depend on the budget. Positions are those of the list.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The assistant's words right before the last turn, the newest first.
    reply: Vec<usize>,
    lean: Lean,
    pub(crate) task: Option<usize>,
    /// The user's messages, the weightiest first.
    said: Vec<Said>,
    /// Pairs of a corrected message and its correction.
    pub(crate) corrections: Vec<(usize, usize)>,
    /// Messages that say nothing beyond politeness, of the user and of the assistant.
    pub(crate) courtesies: Vec<usize>,
    has_calls: bool,
    /// Whether the last that the user said is pinned: else it is a pool, and what is asked stands outside of it.
    is_request: bool,
}

/// A message of the user, as the reserve weighs it.
#[derive(Debug)]
struct Said {
    position: usize,
    tokens: i64,
    talk: Talk,
    key: f64,
    /// Which in time it is.
    number: usize,
}

impl Told {
    /// Reads a list; nothing of it takes part where nobody is known to be the user.
    pub(crate) fn of(items: &[ContextItem], ear: &Ear) -> Self {
        let order: Vec<usize> = in_time(items).into_iter().map(|at| at as usize).collect();
        let words: Vec<Option<String>> = order.iter().map(|at| user_words(&items[*at])).collect();
        let Some(last) = words.iter().rposition(Option::is_some) else { return Self::default() };
        let first = words.iter().position(Option::is_some).unwrap_or(last);
        let has_calls = items.iter().any(is_exchange);
        let is_request = items[order[last]].pinned();
        let mut told = Self { has_calls, is_request, ..Self::default() };
        let is_answered = order[last + 1..].iter().any(|at| is_exchange(&items[*at]));
        if let Some(text) = words[last].as_deref().filter(|_| is_request && !is_answered) {
            told.lean = ear.lean(text);
            let before = order[..last].iter().rev().copied();
            told.reply = before.take_while(|at| is_prose(&items[*at])).collect();
        }
        told.task = Some(order[first]).filter(|at| is_request && !items[*at].pinned());
        let mut said = Vec::new();
        for (number, at) in order.iter().enumerate() {
            let Some(text) = &words[number] else { continue };
            let talk = ear.talk(text);
            if talk == Talk::Courtesy && is_request && !items[*at].pinned() {
                told.courtesies.push(*at);
            }
            let tokens = items[*at].tokens().max(0);
            said.push(Said { position: *at, tokens, talk, key: key(talk, tokens), number });
        }
        let is_free = |at: &&usize| is_request && !items[**at].pinned() && is_prose(&items[**at]);
        for at in order.iter().filter(is_free) {
            // What the last turn answers is never small talk.
            if !told.reply.contains(at) && ear.talk(items[*at].content()) == Talk::Courtesy {
                told.courtesies.push(*at);
            }
        }
        told.corrections = correct(&mut said, &words, ear, order[first]);
        said.retain(|message| {
            // The task is among them: where its own share does not hold it, it may still state a rule.
            !items[message.position].pinned() && message.talk > Talk::Courtesy
        });
        said.sort_by(|a, b| b.key.total_cmp(&a.key).then(b.number.cmp(&a.number)));
        told.said = said;
        told
    }

    /// Returns what the rule keeps where pinned items leave so much room. `needs` says what has to come with an item.
    pub(crate) fn keeps(
        &self,
        items: &[ContextItem],
        room: i64,
        parameters: &KeepParameters,
        needs: &NeedsOf<'_>,
    ) -> Vec<Keep> {
        let mut keeper =
            Keeper { items, needs, is_kept: vec![false; items.len()], kept: Vec::new() };
        let mut left = parameters.reply_tokens(self, room);
        for (number, at) in self.reply.iter().enumerate() {
            let taken = keeper.take(*at, left, Why::Reply).or_else(|| {
                // A message in a row before the last is in whole or not at all.
                let may_be_shorter = number == 0 && (!self.has_calls || self.lean == Lean::Lying);
                if may_be_shorter { keeper.take_shorter(*at, left) } else { None }
            });
            let Some(tokens) = taken else { break };
            left -= tokens;
        }
        if let Some(task) = self.task {
            let share = if self.has_calls { parameters.task_with_calls } else { parameters.task };
            keeper.take(task, part_of(room, share), Why::Task);
        }
        if self.has_calls || !self.is_request {
            let standing = |talk: Talk| talk >= Talk::Rule;
            let share = if self.is_request {
                parameters.reserve_with_calls
            } else {
                parameters.reserve_in_pools
            };
            self.keep_words(&mut keeper, part_of(room, share), standing);
            if self.is_request {
                let reserve = part_of(room, parameters.words_with_calls);
                self.keep_words(&mut keeper, reserve, |talk| !standing(talk));
            }
        } else {
            self.keep_words(&mut keeper, parameters.reserve_tokens(room), |_| true);
        }
        keeper.kept
    }

    /// Keeps the user's words of some nature until a reserve is spent.
    fn keep_words(&self, keeper: &mut Keeper<'_>, reserve: i64, is_meant: impl Fn(Talk) -> bool) {
        let mut left = reserve;
        let meant: Vec<&Said> = self.said.iter().filter(|said| is_meant(said.talk)).collect();
        for message in InOrderOfReserve::of(&meant) {
            let at = message.position;
            let corrected = self.corrections.iter().find(|(_, correction)| *correction == at);
            let why = corrected.map_or(Why::Words(message.talk), |pair| Why::Corrects(pair.0));
            // Whoever skips what does not fit keeps less of it in a larger room.
            let Some(tokens) = keeper.take(at, left, why) else { break };
            left -= tokens;
        }
    }
}

struct Keeper<'k> {
    items: &'k [ContextItem],
    needs: &'k NeedsOf<'k>,
    is_kept: Vec<bool>,
    kept: Vec<Keep>,
}

impl Keeper<'_> {
    /// Keeps an item whole, with all that it needs, and says what that took; `None` if it does not fit.
    fn take(&mut self, at: usize, left: i64, why: Why) -> Option<i64> {
        if self.is_kept[at] {
            return Some(0);
        }
        let missing = (self.needs)(at, &|other| self.is_kept[other])?;
        let all = || missing.iter().copied().chain([at]);
        let tokens =
            all().fold(0_i64, |sum, at| sum.saturating_add(self.items[at].tokens().max(0)));
        if tokens > left {
            return None;
        }
        for position in all() {
            self.is_kept[position] = true;
            let tokens = self.items[position].tokens();
            let why = if position == at { why } else { Why::NeededBy(at) };
            self.kept.push(Keep { position, rendering: None, tokens, why });
        }
        Some(tokens)
    }

    /// Keeps an item in its largest shorter form that fits.
    fn take_shorter(&mut self, at: usize, left: i64) -> Option<i64> {
        let missing = (self.needs)(at, &|other| self.is_kept[other])?;
        let needed = missing.iter().map(|at| self.items[*at].tokens().max(0));
        let left = left.saturating_sub(needed.clone().fold(0, i64::saturating_add));
        let forms = self.items[at].renderings().iter().enumerate();
        let fitting =
            forms.filter(|(_, form)| form.tokens() <= left && form.tokens() >= LEAST_REPLY);
        let (rendering, form) = fitting.max_by_key(|(_, form)| form.tokens())?;
        let taken = needed.fold(form.tokens(), i64::saturating_add);
        for position in missing {
            self.is_kept[position] = true;
            let tokens = self.items[position].tokens();
            self.kept.push(Keep { position, rendering: None, tokens, why: Why::NeededBy(at) });
        }
        self.is_kept[at] = true;
        let (rendering, tokens) = (Some(rendering), form.tokens());
        self.kept.push(Keep { position: at, rendering, tokens, why: Why::Reply });
        Some(taken)
    }
}

/// The least of a reply that is worth its tokens.
pub(crate) const LEAST_REPLY: i64 = 40;

/// Returns the weight of a message in the reserve: by its nature, short before long.
fn key(talk: Talk, tokens: i64) -> f64 {
    let weight = match talk {
        Talk::Courtesy => 0.0,
        Talk::Question => 0.3,
        Talk::Statement => 1.0,
        Talk::Rule | Talk::Correction => 2.0,
    };
    weight / (tokens.max(12) as f64 / 30.0).powf(0.4)
}

/// Finds what corrections correct, the user's earlier message with which each shares most, and lets them go before
/// it.
fn correct(
    said: &mut [Said],
    words: &[Option<String>],
    ear: &Ear,
    first: usize,
) -> Vec<(usize, usize)> {
    /// Of the messages with a word so many are looked at, the newest: a word that many have tells little, and a
    /// long conversation must not be compared with itself.
    const LOOKED_AT: usize = 64;
    let mut pairs = Vec::new();
    if said.iter().all(|message| message.talk != Talk::Correction) {
        return pairs;
    }
    let mut having: HashMap<String, Vec<usize>> = HashMap::new();
    for at in 0..said.len() {
        let subjects = ear.subjects(words[said[at].number].as_deref().unwrap_or_default());
        if said[at].talk == Talk::Correction {
            let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
            let known = subjects.iter().filter_map(|subject| having.get(subject));
            for other in known.flat_map(|known| known.iter().rev().take(LOOKED_AT)) {
                *shared.entry(*other).or_default() += 1;
            }
            let most = shared.into_iter().max_by_key(|(other, count)| (*count, *other));
            if let Some((corrected, _)) = most {
                let bonus = if said[corrected].position == first { 10.0 } else { 0.0 };
                said[at].key = said[at].key.max(said[corrected].key) + bonus;
                said[corrected].key *= 0.3;
                pairs.push((said[corrected].position, said[at].position));
            }
        }
        if said[at].talk > Talk::Courtesy {
            for subject in subjects {
                having.entry(subject).or_default().push(at);
            }
        }
    }
    pairs
}

/// The order in which the reserve takes messages: by key, but for large ones, which wait until as much has been
/// taken. So a beginning of it is a good choice for every reserve, and a larger reserve keeps all that a smaller
/// one does.
struct InOrderOfReserve<'s> {
    said: &'s [&'s Said],
    is_taken: Vec<bool>,
    /// Everything before is taken.
    first: usize,
    taken_tokens: i64,
}

impl<'s> InOrderOfReserve<'s> {
    /// The tokens that the first message may have.
    const FIRST: i64 = 24;
    /// One that waits lets only those go before that weigh at least half as much.
    const COMPARABLE: f64 = 0.5;
    /// It lets no more than so many be looked at, so that many large ones cost no time.
    const LOOKED_AT: usize = 64;

    fn of(said: &'s [&'s Said]) -> Self {
        Self { said, is_taken: vec![false; said.len()], first: 0, taken_tokens: 0 }
    }
}

impl<'s> Iterator for InOrderOfReserve<'s> {
    type Item = &'s Said;

    fn next(&mut self) -> Option<&'s Said> {
        while *self.is_taken.get(self.first)? {
            self.first += 1;
        }
        let most = Self::FIRST.saturating_add(self.taken_tokens);
        let least_key = Self::COMPARABLE * self.said[self.first].key;
        let waiting = (self.first..self.said.len()).filter(|at| !self.is_taken[*at]);
        let comparable = waiting.take_while(|at| self.said[*at].key >= least_key);
        let small = comparable.take(Self::LOOKED_AT).find(|at| self.said[*at].tokens <= most);
        let next = small.unwrap_or(self.first);
        self.is_taken[next] = true;
        self.taken_tokens = self.taken_tokens.saturating_add(self.said[next].tokens);
        Some(self.said[next])
    }
}

/// Returns the position of the reply that the last turn of a list answers, if the rule may take it in a shorter
/// form: the assistant's words right before the last that the user said, unless an agent has been at work on that
/// since. With tool calls only a last message that says nothing by itself is worth it. `None` if there is none.
#[must_use]
pub fn reply_in(items: &[ContextItem], ear: &Ear) -> Option<usize> {
    let order = in_time(items);
    let says = |at: &u32| user_words(&items[*at as usize]).is_some();
    let last = order.iter().rposition(says).filter(|last| items[order[*last] as usize].pinned())?;
    let is_answered = order[last + 1..].iter().any(|at| is_exchange(&items[*at as usize]));
    let before = order[..last].last().map(|at| *at as usize)?;
    if is_answered || !is_prose(&items[before]) {
        return None;
    }
    let words = user_words(&items[order[last] as usize])?;
    let is_worth_it = !items.iter().any(is_exchange) || ear.lean(&words) == Lean::Lying;
    is_worth_it.then_some(before)
}

/// The user's own words in an item; `None` if the user has none there.
fn user_words(item: &ContextItem) -> Option<String> {
    let is_users = |kind: &PartKind| matches!(kind, PartKind::Said { by: Speaker::User });
    if item.parts().is_empty() {
        return crate::need::is_user_turn(item).then(|| item.content().to_owned());
    }
    let said = item.parts().iter().filter(|part| is_users(&part.kind));
    let said: Vec<&str> = said.map(|part| part.of(item.content())).collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

/// Whether the assistant speaks in an item and does nothing else.
fn is_prose(item: &ContextItem) -> bool {
    if item.parts().is_empty() {
        let has = |tag: &str| item.tags().iter().any(|own| own.starts_with(tag));
        return has("role:assistant") && !has("role:tool") && !has("role:user") && !has("tool:");
    }
    let says = |kind: &PartKind| matches!(kind, PartKind::Said { by: Speaker::Assistant });
    let may_be =
        |kind: &PartKind| says(kind) || matches!(kind, PartKind::Thought | PartKind::Beside);
    item.parts().iter().any(|part| says(&part.kind))
        && item.parts().iter().all(|part| may_be(&part.kind))
}

fn is_exchange(item: &ContextItem) -> bool {
    crate::need::is_exchange(item)
}
