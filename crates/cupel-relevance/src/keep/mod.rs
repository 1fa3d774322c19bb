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
//! Text that an agent's program writes in the user's name is not the user's, and neither is talk of named people among
//! each other.
//!
//! The rule needs to know who speaks: items without roles have no part in it. Of a pool, a list whose question
//! stands outside of it, it keeps rules and corrections alone.

mod names;
mod pattern;
mod spoken;
mod standing;
mod talk;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use cupel::{ContextItem, CupelError, PartKind, Speaker};

use names::Names;
use spoken::spoken;
pub use standing::{StandingRule, standing_rules};
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
    /// The share that rules and corrections have before that, together with what the reply leaves of its own: a
    /// short conversation may have seven of them.
    pub reserve_for_rules: f64,
    /// The reserve in a large room: so many tokens times a power of the room.
    pub reserve_factor: f64,
    /// That power. A short conversation has 144 tokens of 240 for what the user said, a long one 592 of 4,000. From 8 to
    /// 16 times that power the cases of what nobody would drop rise by half a point.
    pub reserve_exponent: f64,
}

impl Default for KeepParameters {
    fn default() -> Self {
        Self {
            reply: [0.2, 0.35, 0.5],
            reply_with_calls: [0.0, 0.15, 0.3],
            task: 0.12,
            task_with_calls: 0.06,
            reserve_with_calls: 0.1,
            words_with_calls: 0.04,
            reserve_in_pools: 0.1,
            reserve: 0.6,
            reserve_for_rules: 0.2,
            reserve_factor: 12.0,
            reserve_exponent: 0.47,
        }
    }
}

impl KeepParameters {
    /// The constants by the names of their options in policies.
    pub(crate) fn named(&mut self) -> [(&'static str, &mut f64); 15] {
        let [reply, leaning, lying] = &mut self.reply;
        let [with_calls, leaning_with_calls, lying_with_calls] = &mut self.reply_with_calls;
        [
            ("reply", reply),
            ("reply_leaning", leaning),
            ("reply_lying", lying),
            ("reply_with_calls", with_calls),
            ("reply_leaning_with_calls", leaning_with_calls),
            ("reply_lying_with_calls", lying_with_calls),
            ("task", &mut self.task),
            ("task_with_calls", &mut self.task_with_calls),
            ("reserve", &mut self.reserve),
            ("reserve_with_calls", &mut self.reserve_with_calls),
            ("words_with_calls", &mut self.words_with_calls),
            ("reserve_in_pools", &mut self.reserve_in_pools),
            ("reserve_for_rules", &mut self.reserve_for_rules),
            ("reserve_factor", &mut self.reserve_factor),
            ("reserve_exponent", &mut self.reserve_exponent),
        ]
    }

    pub(crate) fn check(mut self) -> Result<(), CupelError> {
        for (name, value) in self.named() {
            match name {
                "reserve_factor" => parameter::not_negative(name, *value)?,
                _ => parameter::unit(name, *value)?,
            }
        }
        Ok(())
    }
}

/// The tokens that each part of the rule may take of a room. All of them grow with the room, and together they are
/// never more than it.
struct Shares {
    reply: i64,
    task: i64,
    /// For what corrects the task, without which it cannot be in.
    task_corrections: i64,
    /// For rules and corrections; without calls, for all that the user said.
    standing: i64,
    /// For rules and corrections before that, without calls.
    rules: i64,
    /// For the user's other words, where they have a reserve of their own.
    words: i64,
}

impl Shares {
    /// A reply that a last message cannot be understood without may take more of a room than its share, up to
    /// so many tokens: in 100 tokens a third holds no reply.
    const SMALL_REPLY: f64 = 64.0;
    /// The most of the room that it takes then.
    const OF_SMALL_ROOM: f64 = 0.6;
    /// The same for a task where there are no calls, which need the room more.
    const SMALL_TASK: f64 = 48.0;
    const TASK_OF_SMALL_ROOM: f64 = 0.25;
    /// The same for rules and corrections where there are calls: a task that states rules, and what corrects it. From
    /// 56 to 120 nothing of what agents need changes by more than 0.1 points.
    const SMALL_RESERVE: f64 = 120.0;
    const RESERVE_OF_SMALL_ROOM: f64 = 0.35;

    fn of(room: i64, told: &Told, parameters: &KeepParameters) -> Self {
        let room = room.max(0) as f64;
        let lean = told.lean as usize;
        let mut rules = 0.0;
        let (reply, task, standing, words) = if !told.is_request {
            (0.0, 0.0, room * parameters.reserve_in_pools, 0.0)
        } else if told.has_calls {
            let share = room * parameters.reply_with_calls[lean];
            let small = Self::SMALL_REPLY.min(room * Self::OF_SMALL_ROOM);
            let is_bare = told.lean == Lean::Lying && share > 0.0;
            let reply = if is_bare { share.max(small) } else { share };
            let task = room * parameters.task_with_calls;
            let small = Self::SMALL_RESERVE.min(room * Self::RESERVE_OF_SMALL_ROOM);
            let standing = room * parameters.reserve_with_calls;
            let standing = if standing > 0.0 { standing.max(small) } else { standing };
            (reply, task, standing, room * parameters.words_with_calls)
        } else {
            let (reply, task) = (room * parameters.reply[lean], room * parameters.task);
            let large = parameters.reserve_factor * room.powf(parameters.reserve_exponent);
            let reserve = large.min(room * parameters.reserve).min(room - reply - task);
            let small = Self::SMALL_TASK.min(room * Self::TASK_OF_SMALL_ROOM);
            // Rules go before a task that is more than its share.
            let small = small.min(room - reply - reserve);
            rules = large.min(room * parameters.reserve_for_rules);
            (reply, if task > 0.0 { task.max(small) } else { task }, reserve, 0.0)
        };
        // Shares that are more than the whole together give way from the last on.
        let task = task.min(room - reply).max(0.0);
        let standing = standing.min(room - reply - task).max(0.0);
        let words = words.min(room - reply - task - standing).max(0.0);
        let rules = rules.min(room - reply - task - standing - words).max(0.0);
        let task_corrections = (room - reply - task - standing - words - rules).max(0.0);
        let whole = |tokens: f64| tokens.floor() as i64;
        Self {
            reply: whole(reply.min(room)),
            task: whole(task),
            task_corrections: whole(task_corrections),
            standing: whole(standing),
            rules: whole(rules),
            words: whole(words),
        }
    }
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
    /// Pairs of a corrected message and its correction: the first is in only with the second.
    pub(crate) corrections: Pairs,
    /// Those of them that are surely about the same: what was corrected gives way to the rest.
    pub(crate) replacements: Pairs,
    /// Messages that say nothing beyond politeness, of the user and of the assistant.
    pub(crate) courtesies: Vec<usize>,
    has_calls: bool,
    /// True if the last that the user said is pinned: else it is a pool, and what is asked stands outside of it.
    is_request: bool,
}

/// Positions of corrected messages, each with that of its correction.
type Pairs = Vec<(usize, usize)>;

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
        let assistants = order.iter().map(|at| &items[*at]).filter(|item| is_prose(item));
        let users = words.iter().filter_map(Option::as_deref);
        let names = Names::of(users, assistants.map(ContextItem::content));
        // A tool that speaks in the user's name is none of the user's words; but its message may be the last turn.
        let own_words: Vec<Option<Cow<'_, str>>> =
            words.iter().map(|text| spoken(names.said(text.as_deref()?)?)).collect();
        let words_of = |number: usize| own_words[number].as_deref();
        let first = (0..=last).find(|number| words_of(*number).is_some());
        let has_calls = items.iter().any(is_exchange);
        let is_request = items[order[last]].pinned();
        let mut told = Self { has_calls, is_request, ..Self::default() };
        let is_answered = order[last + 1..].iter().any(|at| is_exchange(&items[*at]));
        if let Some(text) = words[last].as_deref().filter(|_| is_request && !is_answered) {
            told.lean = ear.lean(text);
            let before = order[..last].iter().rev().copied();
            // Where people talk with each other, none of them replies to whoever asks about it.
            let replies =
                |item: &ContextItem| is_prose(item) && names.said(item.content()).is_some();
            told.reply = before.take_while(|at| replies(&items[*at])).collect();
        }
        let task = first.map(|first| order[first]);
        told.task = task.filter(|at| is_request && !items[*at].pinned());
        let mut said = Vec::new();
        for (number, at) in order.iter().enumerate() {
            let Some(text) = words_of(number) else { continue };
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
        (told.corrections, told.replacements) = correct(&mut said, &own_words, ear);
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
        let shares = Shares::of(room, self, parameters);
        let mut left = shares.reply;
        let mut is_whole = true;
        for (number, at) in self.reply.iter().enumerate() {
            let taken = keeper.take(*at, left, Why::Reply).or_else(|| {
                is_whole = false;
                // A message in a row before the last is in whole or not at all.
                let may_be_shorter = number == 0 && (!self.has_calls || self.lean == Lean::Lying);
                if may_be_shorter { keeper.take_shorter(*at, left) } else { None }
            });
            let Some(tokens) = taken else { break };
            left -= tokens;
        }
        // What a reply that is in leaves of its share it leaves at every larger budget: rules may have it.
        let unused_reply = if is_whole && parameters.reserve_for_rules > 0.0 { left } else { 0 };
        self.keep_task(&mut keeper, &shares);
        if self.is_request && !self.has_calls {
            let rules = shares.rules.saturating_add(unused_reply);
            self.keep_words(&mut keeper, rules, |talk| talk >= Talk::Rule);
            self.keep_words(&mut keeper, shares.standing, |_| true);
        } else {
            self.keep_words(&mut keeper, shares.standing, |talk| talk >= Talk::Rule);
            self.keep_words(&mut keeper, shares.words, |talk| talk < Talk::Rule);
        }
        // Its corrections may be in by now.
        self.keep_task(&mut keeper, &shares);
        keeper.kept
    }

    /// Keeps the task, if its share holds it and what is left of the room what corrects it.
    fn keep_task(&self, keeper: &mut Keeper<'_>, shares: &Shares) {
        let tokens_of = |at: usize| keeper.items[at].tokens().max(0);
        if let Some(task) = self.task.filter(|at| tokens_of(*at) <= shares.task) {
            let most = tokens_of(task).saturating_add(shares.task_corrections);
            keeper.take(task, most, Why::Task);
        }
    }

    /// Keeps the user's words of some nature until a reserve is spent.
    fn keep_words(&self, keeper: &mut Keeper<'_>, reserve: i64, is_meant: impl Fn(Talk) -> bool) {
        let mut left = reserve;
        let meant: Vec<&Said> = self.said.iter().filter(|said| is_meant(said.talk)).collect();
        for message in InOrderOfReserve::of(&meant) {
            let at = message.position;
            let corrected = self.corrections.iter().find(|(_, correction)| *correction == at);
            let why = match corrected {
                Some(pair) => Why::Corrects(pair.0),
                None if self.task == Some(at) => Why::Task,
                None => Why::Words(message.talk),
            };
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
/// it. Words that few messages have tell more than those that many have: else a long message, as a task is, would
/// be what everything corrects.
///
/// Returns all pairs, and those of them in which nothing of what was corrected stands: they share more than one word, as
/// one may be a coincidence, and nothing else was said there.
fn correct(said: &mut [Said], words: &[Option<Cow<'_, str>>], ear: &Ear) -> (Pairs, Pairs) {
    /// Of the messages with a word so many are looked at, the newest: a word that many have tells little, and a
    /// long conversation must not be compared with itself.
    const LOOKED_AT: usize = 64;
    /// Where words do not tell which of several messages is meant, so many are in only with the correction.
    const MOST_TARGETS: usize = 3;
    /// A correction that shares no word with anything is about one of so many messages before it, if it is short: a long
    /// one says what it is about.
    const LOOKED_BACK: usize = 3;
    const SHORT: i64 = 40;
    let (mut pairs, mut sure) = (Vec::new(), Vec::new());
    if said.iter().all(|message| message.talk != Talk::Correction) {
        return (pairs, sure);
    }
    let mut having: HashMap<String, Vec<usize>> = HashMap::new();
    for at in 0..said.len() {
        let text = words[said[at].number].as_deref().unwrap_or_default();
        if said[at].talk == Talk::Correction {
            let mut shared: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
            let subjects = ear.correcting_subjects(text);
            for known in subjects.iter().filter_map(|it| having.get(it)) {
                for other in known.iter().rev().take(LOOKED_AT) {
                    let (weight, count) = shared.entry(*other).or_default();
                    *weight += 1.0 / known.len() as f64;
                    *count += 1;
                }
            }
            let mut most: Vec<(usize, (f64, usize))> = shared.into_iter().collect();
            most.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then(b.0.cmp(&a.0)));
            if most.is_empty() && said[at].tokens <= SHORT {
                // "No, Thursday." is about what was said last.
                let mut last = (0..at).rev().take(LOOKED_BACK);
                let last = last.find(|other| said[*other].talk >= Talk::Statement);
                most.extend(last.map(|other| (other, (0.0, 0))));
            }
            let best = most.first().copied();
            let most_weight = best.map_or(0.0, |(_, (weight, _))| weight);
            let alike = most.iter().take_while(|(_, (weight, _))| *weight >= most_weight);
            for (corrected, _) in alike.take(MOST_TARGETS) {
                pairs.push((said[*corrected].position, said[at].position));
            }
            if let Some((corrected, (_, count))) = best {
                said[at].key = said[at].key.max(said[corrected].key);
                let before = words[said[corrected].number].as_deref().unwrap_or_default();
                if count > 1 && ear.says_only(before, &subjects) {
                    said[corrected].key *= 0.3;
                    sure.push((said[corrected].position, said[at].position));
                }
            }
        }
        if said[at].talk > Talk::Courtesy {
            for subject in ear.subjects(text) {
                having.entry(subject).or_default().push(at);
            }
        }
    }
    (pairs, sure)
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

/// Returns true if the assistant speaks in an item and does nothing else.
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
