//! One step of a session.

use std::collections::{HashMap, HashSet};

use cupel::slicer::Form;
use cupel::{ContextBudget, Pipeline, Worth};
use cupel_chat::{Bundle, PinReason};
use cupel_renderings::handle;
use serde::{Deserialize, Serialize};

use super::history::{Continuation, NewAccount, Setting};
use super::plan::{Plan, Situation, Unit, is_first, plan};
use super::state::{Account, Fingerprint, SentShorter, SessionState, Totals, Usage};
use super::{SessionSchema, SessionSettings};
use crate::prepare::{Chosen, positions};
use crate::{
    EngineError, ModelPrices, Outdated, Part, Prepared, RepairDone, Schema, ShortenedPosition,
    ShortenedText, Summary, UnusedRendering,
};

/// The window of a step, and what it does to the prompt cache.
///
/// As JSON it has everything but the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Step {
    /// `cupel/1`.
    pub schema: Schema,
    /// Sizes before and after, and what they were measured with.
    pub summary: Summary,
    /// The indices of the messages that stay, in the request's own list, in the order written.
    pub kept_messages: Vec<usize>,
    /// What is in the window shorter than it was, in the order of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<ShortenedText>,
    /// Shorter forms that were given and are of no use, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused_renderings: Vec<UnusedRendering>,
    /// What was repaired before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<RepairDone>,
    /// What is not sent again, since something newer makes it superfluous.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<Outdated>,
    /// What becomes of the cache.
    pub session: SessionStep,
    /// The messages that are not what they were, as JSON, by their indices.
    #[serde(skip)]
    pub rewritten: Vec<(usize, String)>,
    /// The request without what was left out; every message that stays is its original text, but for
    /// what is listed as shortened.
    #[serde(skip)]
    pub text: String,
}

/// What a step does to the prompt cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SessionStep {
    /// Which step it is, from 1.
    pub number: u64,
    /// Why the account begins anew with it, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_account: Option<NewAccount>,
    /// The first message that is not what it was, where the history was edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<usize>,
    /// How many messages at the beginning are those of the window before.
    pub unchanged_messages: usize,
    /// What the provider has in its cache, the head included.
    pub cached_tokens: i64,
    /// What it has not.
    pub uncached_tokens: i64,
    /// What arrived since the last step.
    pub arrived_tokens: i64,
    /// What is no longer in the window.
    pub cut: Vec<Part>,
    /// What was sent before and is sent again, and why that is worth it.
    pub again: Vec<SentAgain>,
    /// How many tokens may be sent again from now on.
    pub credit: i64,
    /// The messages behind which a mark for the provider's cache belongs, by index, at most three;
    /// the fourth belongs behind the head.
    pub breakpoints: Vec<usize>,
    /// Tokens since the account began.
    pub account: Account,
    /// Tokens of the whole session, this step included.
    pub totals: Totals,
    /// What they cost, where that is known: the caller's prices, or the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<ModelPrices>,
}

/// Something that was sent before and is sent again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SentAgain {
    /// What it is.
    pub part: Part,
    /// As what it is sent, if that is shorter than it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortened: Option<ShortenedPosition>,
    /// What a token of it is worth, by what it had to be; `None` if it must be in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_its_price: Option<f64>,
}

/// The next step, and the state that it leaves behind if it is accepted.
pub(super) fn next(
    prepared: &Prepared,
    messages: &[u64],
    settings: &SessionSettings,
    before: Option<&SessionState>,
    now: Option<u64>,
) -> Result<(Step, SessionState), EngineError> {
    let setting = Setting {
        format: prepared.request.format().name(),
        model: prepared.model.map(|model| model.name),
        head: prepared.request.head_fingerprint(),
        is_expired: is_expired(before, settings, now),
    };
    let found = Continuation::of(before, &setting, messages);
    let stage = Stage::new(prepared, settings, before, &found)?;
    let decided = stage.decide()?;
    let state = SessionState {
        schema: SessionSchema,
        format: setting.format.to_owned(),
        model: setting.model.map(str::to_owned),
        head: Fingerprint(setting.head),
        messages: messages.iter().copied().map(Fingerprint).collect(),
        window: decided.kept_messages.clone(),
        shortened: shortened(prepared, &decided.kept),
        sent_at: now,
        credit: decided.credit,
        steps: before.map_or(0, |before| before.steps).saturating_add(1),
        account: decided.account,
        totals: decided.totals,
    };
    Ok((stage.step(decided, &state)?, state))
}

fn is_expired(before: Option<&SessionState>, settings: &SessionSettings, now: Option<u64>) -> bool {
    let sent_at = before.and_then(|before| before.sent_at);
    let passed = now.zip(sent_at).map(|(now, sent_at)| now.saturating_sub(sent_at));
    passed.is_some_and(|seconds| seconds >= settings.cache_lifetime.as_secs())
}

/// A request that a session goes on with.
struct Stage<'s> {
    prepared: &'s Prepared,
    settings: &'s SessionSettings,
    before: Option<&'s SessionState>,
    found: &'s Continuation,
    budget: &'s ContextBudget,
    units: Vec<Unit>,
    /// The units of the window before that stand.
    window: Vec<usize>,
    arrived_tokens: i64,
    /// What may be sent again in this step.
    credit: i64,
}

/// What is decided, and what it comes to.
struct Decision {
    plan: Plan,
    /// What things are worth, if that had to be asked.
    worth: Option<Worth>,
    kept: Vec<Chosen>,
    kept_messages: Vec<usize>,
    unchanged_messages: usize,
    usage: Usage,
    credit: i64,
    account: Account,
    totals: Totals,
}

impl<'s> Stage<'s> {
    fn new(
        prepared: &'s Prepared,
        settings: &'s SessionSettings,
        before: Option<&'s SessionState>,
        found: &'s Continuation,
    ) -> Result<Self, EngineError> {
        let budget = prepared.budget()?;
        let (mut units, window) = units(prepared, before, found, budget)?;
        for at in &prepared.outdated {
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
        })
    }

    fn decide(&self) -> Result<Decision, EngineError> {
        let failed = |error| self.prepared.failed(error);
        let items = self.prepared.items();
        let room = Pipeline::competing_tokens(items, self.budget).map_err(failed)?;
        if let Some(plan) = self.whole(room) {
            return Ok(self.decision(plan, None));
        }
        let ranking = self.prepared.pipeline()?.rank(items).map_err(failed)?;
        let worth = if is_first(&self.units, &self.window) {
            ranking.worth(self.budget)
        } else {
            ranking.worth_going_on(self.budget)
        };
        let worth = worth.map_err(failed)?;
        let plan = plan(&Situation {
            units: &self.units,
            worth: &worth,
            window: &self.window,
            room,
            credit: self.credit.max(0),
            threshold: self.settings.threshold,
            size_exponent: self.settings.size_exponent,
        });
        let plan = plan.ok_or_else(|| self.cannot_be_had(room))?;
        Ok(self.decision(plan, Some(worth)))
    }

    /// The window before and all that is new, if that fits.
    fn whole(&self, room: i64) -> Option<Plan> {
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
        let stands = |unit: &Unit| unit.needs.is_none_or(|needed| is_kept[needed]);
        let can_stand = self.units.iter().zip(&is_kept).all(|(unit, kept)| !kept || stands(unit));
        let fits = tokens <= room && holds_pins && is_in_order && can_stand;
        fits.then_some(Plan { prefix: self.window.len(), behind, again_tokens: 0, price: 0.0 })
    }

    fn cannot_be_had(&self, room: i64) -> EngineError {
        let needed = self.prepared.items().iter().filter(|item| item.pinned());
        let needed = crate::prepare::tokens_of(needed);
        let pinned = (0..self.units.len()).filter(|at| self.units[*at].is_pinned);
        let parts = pinned.map(|at| Part::of(&self.prepared.candidates, at)).collect();
        EngineError::does_not_fit(needed, room, parts)
    }

    fn decision(&self, plan: Plan, worth: Option<Worth>) -> Decision {
        let kept = plan.window(&self.window, &self.units);
        let candidates = &self.prepared.candidates;
        let kept_messages = candidates.kept_messages(&positions(&kept));
        // What is sent again may be shorter or longer than it was.
        let again: HashSet<usize> = plan
            .behind
            .iter()
            .flat_map(|(at, _)| candidates.bundle(*at).message_indices())
            .copied()
            .collect();
        let pairs = self.found.standing.iter().zip(&kept_messages);
        let unchanged_messages =
            pairs.take_while(|(old, new)| old == new && !again.contains(new)).count();
        let usage = self.usage(&kept, &kept_messages[..unchanged_messages]);
        let account = self.account(&plan, usage);
        let credit = match self.found.new_account {
            None => self.credit.saturating_sub(plan.again_tokens),
            Some(_) => share(self.settings, account.arrived_tokens),
        };
        let totals = self.totals(usage);
        Decision {
            plan,
            worth,
            kept,
            kept_messages,
            unchanged_messages,
            usage,
            credit,
            account,
            totals,
        }
    }

    fn is_cold(&self) -> bool {
        self.found.new_account.is_some_and(NewAccount::is_cold)
    }

    /// What of a window is in the cache, and what is not.
    fn usage(&self, kept: &[Chosen], unchanged: &[usize]) -> Usage {
        let unchanged: HashSet<&usize> = unchanged.iter().collect();
        let mut usage = Usage::default();
        for chosen in kept {
            let bundle = self.prepared.candidates.bundle(chosen.0);
            let is_cached = !self.is_cold()
                && bundle.message_indices().iter().all(|message| unchanged.contains(message));
            let tokens = self.prepared.tokens_as(*chosen);
            usage.add(if is_cached { Usage::new(tokens, 0) } else { Usage::new(0, tokens) });
        }
        usage
    }

    fn account(&self, plan: &Plan, usage: Usage) -> Account {
        let Some(before) = self.before.filter(|_| self.found.new_account.is_none()) else {
            let head_tokens = self.head_tokens();
            let arrived_tokens = if self.is_cold() {
                usage.uncached_tokens.saturating_sub(head_tokens)
            } else {
                usage.uncached_tokens
            };
            let uncached_tokens = usage.uncached_tokens;
            return Account { head_tokens, arrived_tokens, uncached_tokens, overdrawn_tokens: 0 };
        };
        let mut account = before.account;
        account.arrived_tokens = account.arrived_tokens.saturating_add(self.arrived_tokens);
        account.uncached_tokens = account.uncached_tokens.saturating_add(usage.uncached_tokens);
        let overdrawn = plan.again_tokens.saturating_sub(self.credit.max(0)).max(0);
        account.overdrawn_tokens = account.overdrawn_tokens.saturating_add(overdrawn);
        account
    }

    /// What stands before all messages.
    fn head_tokens(&self) -> i64 {
        let is_head = |bundle: &&Bundle| {
            bundle.is_fixed() || bundle.pin_reason() == Some(PinReason::SystemPrompt)
        };
        let head = self.prepared.candidates.bundles().iter().take_while(is_head);
        sum(head.map(Bundle::tokens))
    }

    fn totals(&self, usage: Usage) -> Totals {
        let mut totals = self.before.map_or_else(Totals::default, |before| before.totals);
        totals.sent.add(usage);
        let all = self.prepared.candidates.total_tokens();
        let fresh = if self.is_cold() { all } else { self.arrived_tokens.min(all) };
        totals.everything.add(Usage::new(all.saturating_sub(fresh), fresh));
        self.add_newest_first(&mut totals);
        totals
    }

    /// What it would have come to if the newest messages that fit had been sent.
    fn add_newest_first(&self, totals: &mut Totals) {
        let room = self.budget.target_tokens();
        let head = self.units.iter().take_while(|unit| unit.is_pinned).count();
        let tokens = |at: usize| self.units[at].tokens;
        let head_tokens = sum((0..head).map(tokens));
        let (mut first, mut sent) = (self.units.len(), head_tokens);
        while first > head && sent.saturating_add(tokens(first - 1)) <= room {
            first -= 1;
            sent = sent.saturating_add(tokens(first));
        }
        let cached = if self.is_cold() {
            0
        } else if first == totals.newest_from {
            let fresh = (first..self.units.len()).filter(|at| self.units[*at].is_new).map(tokens);
            sent.saturating_sub(sum(fresh))
        } else {
            head_tokens
        };
        totals.newest_from = first;
        totals.newest_first.add(Usage::new(cached, sent.saturating_sub(cached)));
    }

    fn prices(&self) -> Option<ModelPrices> {
        let of_model = self.prepared.model.and_then(|model| model.prices);
        self.settings.prices.or(of_model).map(ModelPrices::from)
    }

    fn sent_again(&self, chosen: Chosen, worth: Option<&Worth>, price: f64) -> SentAgain {
        let (at, rendering) = chosen;
        let tokens = self.prepared.tokens_as(chosen);
        let times_its_price = worth.filter(|_| !self.units[at].is_pinned).and_then(|worth| {
            let per_token = worth.gain(at, rendering, 0.0, |_| true) / tokens.max(1) as f64;
            Some(per_token / price).filter(|times| times.is_finite())
        });
        SentAgain {
            part: Part::of(&self.prepared.candidates, at),
            shortened: self.prepared.shortened_positions(&[chosen]).pop(),
            times_its_price,
        }
    }

    fn step(&self, decided: Decision, state: &SessionState) -> Result<Step, EngineError> {
        let prepared = self.prepared;
        let Decision { plan, worth, kept, kept_messages, unchanged_messages, usage, .. } = decided;
        let cut = self.window[plan.prefix..].iter().filter(|at| !plan.is_behind(**at));
        let again = plan.behind.iter().filter(|(at, _)| !self.units[*at].is_new);
        let again = again.map(|chosen| self.sent_again(*chosen, worth.as_ref(), plan.price));
        let breakpoints = breakpoints(&kept_messages, unchanged_messages, self.found.known);
        let text = if self.settings.cache_marks {
            prepared.candidates.render_marked(&kept, &breakpoints)
        } else {
            prepared.candidates.render_forms(&kept)
        };
        Ok(Step {
            schema: Schema,
            summary: prepared.summary(&kept)?,
            shortened: prepared.shortened(&kept),
            rewritten: prepared.candidates.rewritten(&kept),
            unused_renderings: prepared.unused.clone(),
            repairs: prepared.repairs.clone(),
            superseded: prepared.superseded.clone(),
            session: SessionStep {
                number: state.steps,
                new_account: self.found.new_account,
                edited_at: self.found.edited_at,
                unchanged_messages,
                cached_tokens: usage.cached_tokens,
                uncached_tokens: usage.uncached_tokens,
                arrived_tokens: self.arrived_tokens,
                cut: cut.map(|at| Part::of(&prepared.candidates, *at)).collect(),
                again: again.collect(),
                credit: state.credit,
                breakpoints,
                account: state.account,
                totals: state.totals,
                prices: self.prices(),
            },
            text,
            kept_messages,
        })
    }
}

/// Tokens together, however many.
fn sum(tokens: impl Iterator<Item = i64>) -> i64 {
    tokens.fold(0, i64::saturating_add)
}

fn share(settings: &SessionSettings, tokens: i64) -> i64 {
    (tokens.max(0) as f64 * settings.resend_share).floor() as i64
}

/// What of a window is not as the caller wrote it.
fn shortened(prepared: &Prepared, kept: &[Chosen]) -> Vec<SentShorter> {
    let rewritten = prepared.candidates.rewritten(kept).into_iter();
    rewritten.map(|(message, json)| SentShorter { message, hash: handle(&json) }).collect()
}

/// A unit as it was sent; `None` if nobody could send it so again.
fn sent_as(prepared: &Prepared, before: &SessionState, at: usize) -> Option<Chosen> {
    let messages = prepared.candidates.bundle(at).message_indices();
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
    let (candidates, items) = (&prepared.candidates, prepared.items());
    let mut unit_of = vec![None; prepared.request.message_count()];
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
    if !is_cold {
        window.extend((0..items.len()).take_while(|at| candidates.bundle(*at).is_fixed()));
    }
    for unit in found.standing.iter().filter_map(|message| unit_of[*message]) {
        if window.last().is_some_and(|last| *last >= unit) {
            continue;
        }
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
        needs: candidates.bundle(at).needs().and_then(|message| unit_of[message]),
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

/// The messages behind which a mark belongs: the last that stays, the last before the newest, and
/// the newest.
fn breakpoints(kept: &[usize], unchanged: usize, known: usize) -> Vec<usize> {
    let newest = kept.partition_point(|message| *message < known);
    let ends = [unchanged, newest, kept.len()];
    let mut marks: Vec<usize> =
        ends.into_iter().filter_map(|end| kept.get(end.checked_sub(1)?).copied()).collect();
    marks.sort_unstable();
    marks.dedup();
    marks
}
