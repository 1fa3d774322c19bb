//! The window of a step: what stands, what is new, what the policy reserves, and the plan that comes of it.

use std::collections::HashMap;

use cupel::slicer::{Form, Reserved};
use cupel::{ContextBudget, Pipeline, Worth};

use super::SessionSettings;
use super::accounting::{share, sum};
use super::cache::{CutCost, MarkedCache};
use super::history::{Continuation, NewAccount};
use super::plan::{Plan, Situation, Unit, is_first, plan};
use super::state::{SentShorter, SessionState};
use super::step::shortened;
use crate::prepare::Chosen;
use crate::{EngineError, Part, Prepared};

/// A request that a session goes on with.
pub(super) struct Stage<'s> {
    pub(super) prepared: &'s Prepared,
    pub(super) settings: &'s SessionSettings,
    pub(super) before: Option<&'s SessionState>,
    pub(super) found: &'s Continuation,
    pub(super) budget: &'s ContextBudget,
    pub(super) units: Vec<Unit>,
    /// The units of the window before that stand.
    pub(super) window: Vec<usize>,
    pub(super) arrived_tokens: i64,
    /// Tokens that may be sent again in this step.
    pub(super) credit: i64,
    /// The provider's cache, where it goes by marks.
    pub(super) marked: Option<MarkedCache>,
}

impl<'s> Stage<'s> {
    pub(super) fn new(
        prepared: &'s Prepared,
        settings: &'s SessionSettings,
        before: Option<&'s SessionState>,
        found: &'s Continuation,
        now: Option<u64>,
    ) -> Result<Self, EngineError> {
        let budget = prepared.budget()?;
        let (mut units, window) = units(prepared, before, found, budget)?;
        let marked = MarkedCache::new(
            settings,
            prepared.request(),
            before,
            found.new_account.is_some_and(NewAccount::is_cold),
            now,
        );
        if let Some(cache) = &marked {
            for (at, unit) in units.iter_mut().enumerate() {
                unit.blocks = cache.blocks_of(prepared.candidates().bundle(at).message_indices());
            }
        }
        for at in &prepared.read.outdated {
            units[*at].competes = false;
        }
        let arrived = units.iter().filter(|unit| unit.is_new);
        let arrived_tokens = sum(arrived.map(|unit| unit.tokens));
        let credit = match (before, found.new_account) {
            (Some(before), None) => before.credit.saturating_add(share(settings, arrived_tokens)),
            _ => 0,
        };
        Ok(Self {
            prepared,
            settings,
            before,
            found,
            budget,
            units,
            window,
            arrived_tokens,
            credit,
            marked,
        })
    }

    /// Cost of a cut behind each unit of the window, where the cache goes by marks.
    fn cuts(&self) -> Vec<CutCost> {
        let Some(cache) = &self.marked else { return Vec::new() };
        let messages = |at: usize| self.prepared.candidates().bundle(at).message_indices();
        let unit = |at: &usize| {
            let tokens = self.prepared.tokens_as((*at, self.units[*at].stands_as));
            (messages(*at), tokens)
        };
        let window: Vec<(&[usize], i64)> = self.window.iter().map(unit).collect();
        let new = (0..self.units.len()).filter(|at| self.units[*at].is_new);
        let new: Vec<usize> = new.flat_map(messages).copied().collect();
        cache.cuts(&window, &new)
    }

    /// The window, and what things are worth if that had to be asked.
    pub(super) fn decide(&mut self) -> Result<(Plan, Option<Worth>), EngineError> {
        let prepared = self.prepared;
        let failed = |error| prepared.failed(error);
        let items = prepared.items();
        let room = Pipeline::competing_tokens(items, self.budget).map_err(failed)?;
        if let Some(plan) = self.everything(room)? {
            return Ok((plan, None));
        }
        for (corrected, correction) in prepared.pipeline().needs_in(items) {
            self.units[corrected].needs.push(correction);
        }
        if let Some(plan) = self.standing_and_new(room) {
            return Ok((plan, None));
        }
        prepared.cancel.check()?;
        let ranking = prepared.pipeline().rank(items).map_err(failed)?;
        prepared.cancel.check()?;
        let worth = if is_first(&self.units, &self.window) {
            ranking.worth(self.budget)
        } else {
            ranking.worth_going_on(self.budget)
        };
        let worth = worth.map_err(failed)?;
        prepared.cancel.check()?;
        let room = self.require(&ranking.reserve(self.budget).map_err(failed)?, room);
        let plan = plan(&Situation {
            units: &self.units,
            worth: &worth,
            window: &self.window,
            room,
            credit: self.credit.max(0),
            threshold: self.settings.threshold,
            size_exponent: self.settings.size_exponent,
            cuts: &self.cuts(),
        });
        let plan = plan.ok_or_else(|| self.cannot_be_had(room))?;
        Ok((plan, Some(worth)))
    }

    /// Lets what the policy reserves be required, and returns the room that this leaves.
    ///
    /// Messages that were cut before do not come back by this: they would have to be paid for with all that stands behind
    /// their place. They compete, like everything else. Where nothing stands behind their place, because the text that
    /// was sent there cannot be sent so again, they cost no more than themselves.
    fn require(&mut self, reserved: &[Reserved], room: i64) -> i64 {
        let is_first = is_first(&self.units, &self.window);
        let last_standing = self.window.last().copied();
        let mut left = room;
        for Reserved { position, rendering, .. } in reserved {
            let stands = self.window.contains(position);
            let is_behind = last_standing.is_none_or(|last| last < *position);
            let unit = &mut self.units[*position];
            if unit.is_pinned || !stands && !is_behind && !unit.is_new && !is_first {
                continue;
            }
            if !stands && rendering.is_some() {
                let tokens = self.prepared.tokens_as((*position, *rendering));
                unit.forms = vec![Form { rendering: *rendering, tokens, share: 1.0 }];
                unit.stands_as = *rendering;
            }
            let tokens = unit.standing().tokens.max(0);
            if tokens <= left {
                left -= tokens;
                unit.is_pinned = true;
            }
        }
        left
    }

    /// All that there is, if it fits whole: then the request goes out as it came, whatever was cut out of
    /// the conversation before. What is outdated and was cut stays out.
    fn everything(&self, room: i64) -> Result<Option<Plan>, EngineError> {
        let items = self.prepared.items();
        let is_in_window = |at: usize| self.window.binary_search(&at).is_ok();
        let all: Vec<usize> = (0..self.units.len())
            .filter(|at| self.units[*at].competes || self.units[*at].is_new || is_in_window(*at))
            .collect();
        let free = all.iter().filter(|at| !self.units[**at].is_pinned);
        let is_odd = items.iter().any(|item| item.tokens() < 0);
        if is_odd || sum(free.map(|at| self.units[*at].tokens)) > room {
            return Ok(None);
        }
        let pins = Pipeline::shortened_pins(items, self.budget);
        let pins = pins.map_err(|error| self.prepared.failed(error))?;
        let is_kept = |at: usize| all.binary_search(&at).is_ok();
        if !pins.is_empty() || !self.prepared.needs().are_met(is_kept) {
            return Ok(None);
        }
        let stands =
            |(at, wanted): &(&usize, &usize)| at == wanted && self.units[**at].stands_as.is_none();
        let prefix = self.window.iter().zip(&all).take_while(stands).count();
        let behind: Vec<Chosen> = all[prefix..].iter().map(|at| (*at, None)).collect();
        let again = behind.iter().filter(|(at, _)| !self.units[*at].is_new);
        let again_tokens = sum(again.map(|(at, _)| self.units[*at].tokens));
        Ok(Some(Plan { prefix, behind, again_tokens, price: 0.0 }))
    }

    /// The window before, if all of it stands, and all that is new, if that fits.
    fn standing_and_new(&self, room: i64) -> Option<Plan> {
        let is_new = (0..self.units.len()).filter(|at| self.units[*at].is_new);
        let behind: Vec<Chosen> = is_new.map(|at| (at, self.units[at].stands_as)).collect();
        let stands = self.window.iter().map(|at| (*at, self.units[*at].stands_as));
        let mut is_kept = vec![false; self.units.len()];
        let mut tokens: i64 = 0;
        for chosen in stands.chain(behind.iter().copied()) {
            is_kept[chosen.0] = true;
            if !self.units[chosen.0].is_pinned {
                tokens = tokens.saturating_add(self.prepared.tokens_as(chosen));
            }
        }
        let holds_pins =
            self.units.iter().zip(&is_kept).all(|(unit, kept)| *kept || !unit.is_pinned);
        let last = self.window.last().copied();
        let is_in_order =
            behind.first().is_none_or(|(first, _)| last.is_none_or(|last| last < *first));
        let stands = |unit: &Unit| unit.needs.iter().all(|needed| is_kept[*needed]);
        let can_stand = self.units.iter().zip(&is_kept).all(|(unit, kept)| !kept || stands(unit));
        // Behind what cannot be sent as it was, the window before has to be chosen again.
        let was_sent = |message: &usize| self.found.standing.binary_search(message).is_ok();
        let is_lost = |at: usize| {
            !is_kept[at]
                && self.prepared.candidates().bundle(at).message_indices().iter().any(was_sent)
        };
        let is_whole = !(last.map_or(0, |last| last + 1)..self.units.len()).any(is_lost);
        let fits = tokens <= room && holds_pins && is_in_order && can_stand && is_whole;
        fits.then_some(Plan { prefix: self.window.len(), behind, again_tokens: 0, price: 0.0 })
    }

    fn cannot_be_had(&self, room: i64) -> EngineError {
        let items = self.prepared.items();
        let needed = crate::prepare::tokens_of(items.iter().filter(|item| item.pinned()));
        let pinned = (0..items.len()).filter(|at| items[*at].pinned());
        let parts = pinned.map(|at| Part::of(self.prepared.candidates(), at)).collect();
        EngineError::does_not_fit(needed, room, parts)
    }
}

/// A unit as it was sent; `None` if nobody could send it so again.
fn sent_as(prepared: &Prepared, before: &SessionState, at: usize) -> Option<Chosen> {
    let messages = prepared.candidates().bundle(at).message_indices();
    let of_unit = |sent: &&SentShorter| messages.binary_search(&sent.message).is_ok();
    let sent: Vec<SentShorter> = before.shortened.iter().filter(of_unit).cloned().collect();
    if sent.is_empty() {
        return Some((at, None));
    }
    let forms = 0..prepared.items()[at].renderings().len();
    forms.map(|form| (at, Some(form))).find(|chosen| shortened(prepared, &[*chosen]) == sent)
}

/// The units of a request, and those of the window before that stand, in order.
fn units(
    prepared: &Prepared,
    before: Option<&SessionState>,
    found: &Continuation,
    budget: &ContextBudget,
) -> Result<(Vec<Unit>, Vec<usize>), EngineError> {
    let (candidates, items) = (prepared.candidates(), prepared.items());
    let mut unit_of = vec![None; prepared.request().message_count()];
    for (at, bundle) in candidates.bundles().iter().enumerate() {
        for message in bundle.message_indices() {
            unit_of[*message] = Some(at);
        }
    }
    let is_cold = found.new_account.is_some_and(NewAccount::is_cold);
    let mut standing = vec![0; items.len()];
    for unit in found.standing.iter().filter_map(|message| unit_of[*message]) {
        standing[unit] += 1;
    }
    let pins = Pipeline::shortened_pins(items, budget).map_err(|error| prepared.failed(error))?;
    let pins: HashMap<usize, usize> = pins.into_iter().collect();
    let mut stands_as: HashMap<usize, Option<usize>> = HashMap::new();
    let mut window: Vec<usize> = Vec::new();
    let count = |at: usize| candidates.bundle(at).message_indices().len();
    // The head is no message, and so it is not among those that stand.
    if !is_cold {
        window.extend((0..items.len()).take_while(|at| candidates.bundle(*at).is_fixed()));
    }
    for unit in found.standing.iter().filter_map(|message| unit_of[*message]) {
        if window.last().is_some_and(|last| *last >= unit) {
            continue;
        }
        // Where one message of a unit is another now, the cache ends before the unit, whatever follows.
        if standing[unit] < count(unit) {
            break;
        }
        // What must be shorter now, or cannot be sent as it was, does not stand.
        let Some(sent) = before.and_then(|before| sent_as(prepared, before, unit)) else { break };
        let most = pins.get(&unit).map(|pin| prepared.tokens_as((unit, Some(*pin))));
        if most.is_some_and(|most| prepared.tokens_as(sent) > most) {
            break;
        }
        stands_as.insert(unit, sent.1);
        window.push(unit);
    }
    let mut stands = vec![false; items.len()];
    for at in &window {
        stands[*at] = true;
    }
    // Of a new account nothing was paid for yet: whatever does not stand arrives with it.
    let is_new = |at: usize| {
        let is_known = |message: &usize| *message < found.known;
        match found.new_account {
            None => !candidates.bundle(at).message_indices().iter().all(is_known),
            Some(_) => !stands[at],
        }
    };
    let unit = |at: usize| Unit {
        tokens: items[at].tokens(),
        forms: forms(prepared, at, budget),
        stands_as: stands_as.get(&at).copied().unwrap_or_else(|| pins.get(&at).copied()),
        is_pinned: items[at].pinned(),
        is_new: is_new(at),
        competes: items[at].tokens() >= 0,
        needs: prepared.needs().of(at).to_vec(),
        blocks: 1,
    };
    Ok(((0..items.len()).map(unit).collect(), window))
}

/// As what a unit could be sent, if it has more than one form.
fn forms(prepared: &Prepared, at: usize, budget: &ContextBudget) -> Vec<Form> {
    let item = &prepared.items()[at];
    if item.renderings().is_empty() {
        return Vec::new();
    }
    Form::all(item, budget.target_tokens())
}
