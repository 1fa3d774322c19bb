//! One step of a session.

use std::collections::HashSet;

use cupel::Worth;
use cupel_chat::{MovedMark, without_cache_marks};
use cupel_renderings::handle;
use serde::{Deserialize, Serialize};

use super::accounting::share;
use super::decide::Stage;
use super::history::{Continuation, NewAccount, Setting};
use super::plan::Plan;
use super::state::{Account, Fingerprint, SentShorter, SessionState, Totals, Usage};
use super::{MarkRule, SessionSchema, SessionSettings};
use crate::prepare::{Chosen, positions};
use crate::{
    EngineError, FittedTool, ModelPrices, Outdated, Part, Prepared, RepairDone, Schema,
    ShortenedPosition, ShortenedText, Summary, UnusedRendering,
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
    /// Texts in the window that are shorter than they were, in the order of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<ShortenedText>,
    /// Fate of each tool, in the order of the request; empty where all are as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<FittedTool>,
    /// Shorter forms that were given and are of no use, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused_renderings: Vec<UnusedRendering>,
    /// Repairs before the selection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<RepairDone>,
    /// Messages that are not sent again, since something newer makes them superfluous.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<Outdated>,
    /// Effect on the prompt cache.
    pub session: SessionStep,
    /// The messages that are not what they were, as JSON, by their indices.
    #[serde(skip)]
    pub rewritten: Vec<(usize, String)>,
    /// The request without what was left out; every message that stays is its original text, but for
    /// what is listed as shortened.
    #[serde(skip)]
    pub text: String,
}

/// Effect of a step on the prompt cache.
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
    /// Number of messages at the beginning that are those of the window before.
    pub unchanged_messages: usize,
    /// Tokens in the provider's cache, those before the messages included.
    pub cached_tokens: i64,
    /// Tokens not in the provider's cache.
    pub uncached_tokens: i64,
    /// Tokens that arrived since the last step.
    pub arrived_tokens: i64,
    /// Messages that are no longer in the window.
    pub cut: Vec<Part>,
    /// Messages that were sent before and are sent again, and the reason that it is worth it.
    pub again: Vec<SentAgain>,
    /// Tokens that may be sent again from now on.
    pub credit: i64,
    /// The messages behind which a mark for the provider's cache belongs, by index, at most three;
    /// the fourth belongs behind the head.
    pub breakpoints: Vec<usize>,
    /// Tokens since the account began.
    pub account: Account,
    /// Tokens of the whole session, this step included.
    pub totals: Totals,
    /// Prices of the tokens, where they are known: the caller's, or the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<ModelPrices>,
}

/// Something that was sent before and is sent again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SentAgain {
    /// Message, or bundle of messages.
    pub part: Part,
    /// As what it is sent, if that is shorter than it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortened: Option<ShortenedPosition>,
    /// Worth of a token of it as a multiple of its price; `None` if it must be in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_its_price: Option<f64>,
}

impl Step {
    /// Returns true if all of the request is in the window, as it is.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.summary.messages_after == self.summary.messages_before
            && self.shortened.is_empty()
            && self.tools.is_empty()
    }
}

/// Input of a step.
#[derive(Clone, Copy)]
pub(super) struct Begin<'s> {
    pub(super) before: Option<&'s SessionState>,
    pub(super) now: Option<u64>,
    /// True if the window is chosen anew, whatever stands.
    pub(super) is_anew: bool,
}

/// The next step, and the state that it leaves behind if it is accepted.
pub(super) fn next(
    prepared: &Prepared,
    messages: &[u64],
    settings: &SessionSettings,
    Begin { before, now, is_anew }: Begin<'_>,
) -> Result<(Step, SessionState), EngineError> {
    let setting = Setting {
        format: prepared.request().format().name(),
        model: prepared.model().map(|model| model.name),
        head: prepared.read.head,
        tools: &prepared.read.sent_tools,
        is_expired: is_expired(before, settings, now),
        is_anew,
    };
    let found = Continuation::of(before, &setting, messages);
    let mut stage = Stage::new(prepared, settings, before, &found, now)?;
    let (plan, worth) = stage.decide()?;
    let decided = stage.decision(plan, worth);
    let state = SessionState {
        schema: SessionSchema,
        format: setting.format.to_owned(),
        model: setting.model.map(str::to_owned),
        head: Fingerprint(setting.head),
        tools: setting.tools.to_vec(),
        messages: messages.iter().copied().map(Fingerprint).collect(),
        window: decided.kept_messages.clone(),
        shortened: shortened(prepared, &decided.kept),
        cache_entries: stage.marked.as_ref().map_or_else(Vec::new, |cache| {
            cache.entries_after(&decided.kept_messages, decided.unchanged_messages)
        }),
        sent_at: now,
        credit: decided.credit,
        steps: before.map_or(0, |before| before.steps).saturating_add(1),
        account: decided.account,
        totals: decided.totals,
    };
    Ok((stage.step(decided, &state)?, state))
}

pub(super) fn is_expired(
    before: Option<&SessionState>,
    settings: &SessionSettings,
    now: Option<u64>,
) -> bool {
    let sent_at = before.and_then(|before| before.sent_at);
    let passed = now.zip(sent_at).map(|(now, sent_at)| now.saturating_sub(sent_at));
    passed.is_some_and(|seconds| seconds >= settings.cache_lifetime.as_secs())
}

/// Decision, and its account.
struct Decision {
    plan: Plan,
    /// Worth of the units, if that had to be asked.
    worth: Option<Worth>,
    kept: Vec<Chosen>,
    kept_messages: Vec<usize>,
    unchanged_messages: usize,
    moved_mark: Option<MovedMark>,
    usage: Usage,
    credit: i64,
    account: Account,
    totals: Totals,
}

impl Stage<'_> {
    fn decision(&mut self, plan: Plan, worth: Option<Worth>) -> Decision {
        let kept = plan.window(&self.window, &self.units);
        let candidates = self.prepared.candidates();
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
        let moved_mark = self.moved_mark(&kept_messages, unchanged_messages);
        if let Some((cache, moved)) = self.marked.as_mut().zip(moved_mark) {
            cache.note(moved);
        }
        let usage = self.cached(&kept, &kept_messages, unchanged_messages);
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
            moved_mark,
            usage,
            credit,
            account,
            totals,
        }
    }

    /// The mark that goes where the provider has more of the window than the marks find.
    fn moved_mark(&self, window: &[usize], unchanged: usize) -> Option<MovedMark> {
        let behind = self.marked.as_ref()?.better_mark(window, unchanged)?;
        self.prepared.request().mark_behind(behind, window)
    }

    fn prices(&self) -> Option<ModelPrices> {
        let of_model = self.prepared.model().and_then(|model| model.prices);
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
            part: Part::of(self.prepared.candidates(), at),
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
        let candidates = prepared.candidates();
        let text = match (self.settings.cache_marks, decided.moved_mark) {
            (MarkRule::Write, _) => candidates.render_marked(&kept, &breakpoints),
            (MarkRule::Move, Some(moved)) => candidates.render_moved(&kept, moved),
            (MarkRule::Off, _) => without_cache_marks(&candidates.render_forms(&kept)),
            _ => candidates.render_forms(&kept),
        };
        Ok(Step {
            schema: Schema,
            summary: prepared.summary(&kept)?,
            shortened: prepared.shortened(&kept),
            rewritten: prepared.candidates().rewritten(&kept),
            tools: prepared.read.tools.clone(),
            unused_renderings: prepared.read.unused.clone(),
            repairs: prepared.read.repairs.clone(),
            superseded: prepared.read.superseded.clone(),
            session: SessionStep {
                number: state.steps,
                new_account: self.found.new_account,
                edited_at: self.found.edited_at,
                unchanged_messages,
                cached_tokens: usage.cached_tokens,
                uncached_tokens: usage.uncached_tokens,
                arrived_tokens: self.arrived_tokens,
                cut: cut.map(|at| Part::of(prepared.candidates(), *at)).collect(),
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

/// Texts of a window that are not as the caller wrote them.
pub(super) fn shortened(prepared: &Prepared, kept: &[Chosen]) -> Vec<SentShorter> {
    let rewritten = prepared.candidates().rewritten(kept).into_iter();
    rewritten.map(|(message, json)| SentShorter { message, hash: handle(&json) }).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Session};

    fn session(max_tokens: i64) -> Session {
        let engine = Engine::builder().max_tokens(max_tokens).tokenizer("estimate");
        engine.build().unwrap().session()
    }

    /// A session that finds items worth what their hints say.
    fn by_hint(max_tokens: i64) -> Session {
        let engine = Engine::builder().max_tokens(max_tokens).tokenizer("estimate");
        let policy = "scorers = [\"reflexive\"]\nslicer = \"greedy\"";
        engine.policy_text("by-hint", policy).build().unwrap().session()
    }

    /// Items of so many tokens and such a hint each.
    fn hinted(items: &[(i64, f64)]) -> String {
        let item = |(at, (tokens, hint)): (usize, &(i64, f64))| {
            format!(r#"{{"content":"item {at}","tokens":{tokens},"future_relevance_hint":{hint}}}"#)
        };
        let items: Vec<String> = items.iter().enumerate().map(item).collect();
        format!("[{}]", items.join(","))
    }

    /// Items of so many tokens each; the first of them is pinned.
    fn items(items: &[(&str, i64)]) -> String {
        let item = |(at, (name, tokens)): (usize, &(&str, i64))| {
            let pinned = at == 0;
            format!(r#"{{"content":"{name}","tokens":{tokens},"pinned":{pinned}}}"#)
        };
        let items: Vec<String> = items.iter().enumerate().map(item).collect();
        format!("[{}]", items.join(","))
    }

    fn accepted(session: &mut Session, of: &[(&str, i64)]) -> Step {
        let step = session.next(items(of)).unwrap();
        assert!(session.accept());
        step
    }

    #[test]
    fn a_cache_is_lost_when_its_lifetime_has_passed() {
        let settings = SessionSettings::default();
        let sent = |sent_at| SessionState { sent_at, ..SessionState::default() };
        let expired = |at: Option<u64>, now| is_expired(Some(&sent(at)), &settings, now);
        assert!(!expired(Some(1_000), Some(1_299)));
        assert!(expired(Some(1_000), Some(1_300)));
        assert!(!expired(Some(1_000), Some(900)), "a clock that was set back");
        assert!(!expired(None, Some(9_000)) && !expired(Some(1_000), None), "nobody knows");
        assert!(!is_expired(None, &settings, Some(9_000)));
    }

    #[test]
    fn marks_stand_behind_what_stays_before_the_newest_and_behind_the_newest() {
        assert_eq!(breakpoints(&[0, 2, 4, 5, 6], 2, 5), [2, 4, 6]);
        assert_eq!(breakpoints(&[0, 2, 4], 2, 4), [2, 4], "one mark for two ends");
        assert_eq!(breakpoints(&[3, 4], 0, 0), [4], "nothing stays and all is new");
        assert_eq!(breakpoints(&[], 0, 0), [0; 0]);
    }

    #[test]
    fn while_all_fits_a_step_pays_for_what_arrived() {
        let mut session = session(100);
        let first = accepted(&mut session, &[("a", 10), ("b", 20)]).session;
        assert_eq!((first.number, first.new_account), (1, Some(NewAccount::FirstStep)));
        assert_eq!((first.cached_tokens, first.uncached_tokens), (0, 30));
        assert_eq!((first.arrived_tokens, first.credit), (30, 9));
        assert_eq!((first.unchanged_messages, &*first.breakpoints), (0, &[1][..]));
        let account = Account { arrived_tokens: 30, uncached_tokens: 30, ..Account::default() };
        assert_eq!(first.account, account);

        let second = accepted(&mut session, &[("a", 10), ("b", 20), ("c", 35)]).session;
        assert_eq!((second.number, second.new_account), (2, None));
        assert_eq!((second.cached_tokens, second.uncached_tokens), (30, 35));
        assert_eq!((second.arrived_tokens, second.credit), (35, 19));
        assert_eq!((second.unchanged_messages, &*second.breakpoints), (2, &[1, 2][..]));
        assert!(second.cut.is_empty() && second.again.is_empty());
        let account = Account { arrived_tokens: 65, uncached_tokens: 65, ..Account::default() };
        assert_eq!(second.account, account);
        let all = Usage::new(30, 65);
        assert_eq!(
            second.totals,
            Totals { sent: all, everything: all, newest_first: all, newest_from: 1 }
        );
    }

    #[test]
    fn newest_first_loses_the_cache_whenever_its_window_moves() {
        let mut session = session(100);
        let mut all = vec![("a", 10), ("b", 20)];
        accepted(&mut session, &all);
        all.push(("c", 60));
        let fits = accepted(&mut session, &all).session.totals;
        assert_eq!((fits.newest_first, fits.newest_from), (Usage::new(30, 90), 1));
        all.push(("d", 30));
        let moved = accepted(&mut session, &all).session.totals;
        // Of a, c and d only the pinned beginning is cached.
        assert_eq!((moved.newest_first, moved.newest_from), (Usage::new(40, 180), 2));
        assert_eq!(moved.everything, Usage::new(120, 120));
        let again = accepted(&mut session, &all).session.totals;
        assert_eq!((again.newest_first, again.newest_from), (Usage::new(140, 180), 2));
        assert_eq!(again.everything, Usage::new(240, 120), "nothing arrived");
    }

    #[test]
    fn what_is_new_before_the_end_of_the_window_does_not_go_behind_it() {
        let mut session = session(30);
        let first = accepted(&mut session, &[("a", 10), ("b", 100), ("c", 10)]);
        assert_eq!(first.kept_messages, [0, 2], "b fits nowhere");
        // All of it would fit now; but the provider has c, and b belongs before it.
        let edited = accepted(&mut session, &[("a", 10), ("b, shorter", 5), ("c", 10), ("d", 5)]);
        assert_eq!(edited.session.new_account, Some(NewAccount::HistoryEdited));
        assert_eq!(edited.session.edited_at, Some(1));
        assert!(edited.kept_messages.is_sorted(), "{:?}", edited.kept_messages);
        assert!(edited.kept_messages.contains(&3), "the newest fits");
    }

    #[test]
    fn while_all_fits_nothing_is_cut_whatever_it_is_worth() {
        let mut session = by_hint(100);
        let mut all = vec![(200, 0.1), (60, 0.9), (20, 0.0)];
        let first = session.next(hinted(&all)).unwrap();
        assert!(session.accept());
        assert_eq!(first.kept_messages, [1, 2], "the first fits nowhere");
        all.push((20, 0.9));
        let step = session.next(hinted(&all)).unwrap();
        assert_eq!((step.kept_messages, step.session.unchanged_messages), (vec![1, 2, 3], 2));
        assert!(step.session.cut.is_empty());
        all[3].0 = 21;
        let over = session.next(hinted(&all)).unwrap();
        assert_eq!((over.kept_messages, over.session.unchanged_messages), (vec![1, 3], 1));
        assert_eq!((over.session.cached_tokens, over.session.uncached_tokens), (60, 21));
        assert_eq!(over.session.cut.len(), 1);
    }

    #[test]
    fn the_head_is_what_stands_before_all_messages() {
        let first = |text: &str| session(1_000).next(text).unwrap().session;
        let user = r#"{"role":"user","content":"go"}"#;
        let system = r#"{"role":"system","content":"Be kind, and brief."}"#;
        let bare = first(&format!(r#"{{"messages":[{user}]}}"#));
        let headed = first(&format!(r#"{{"messages":[{system},{user}]}}"#));
        assert_eq!(bare.account.head_tokens, 0);
        let head = headed.account.head_tokens;
        assert!(head > 0);
        assert_eq!(headed.uncached_tokens, bare.uncached_tokens + head);
        assert_eq!(headed.account.arrived_tokens, bare.account.arrived_tokens);
        let tools = r#""tools":[{"type":"function","function":{"name":"ls"}}]"#;
        let equipped = first(&format!(r#"{{{tools},"messages":[{system},{user}]}}"#));
        assert!(equipped.account.head_tokens > head, "tools stand before them too");
    }

    #[test]
    fn what_is_sent_again_is_worth_several_times_its_price() {
        let settings =
            SessionSettings { resend_share: 1.0, threshold: 0.2, ..SessionSettings::default() };
        let mut session = by_hint(100).with_settings(settings);
        let mut all = vec![(30, 0.0), (30, 0.3), (30, 0.3)];
        assert_eq!(session.next(hinted(&all)).unwrap().session.credit, 90);
        assert!(session.accept());
        all.push((40, 1.0));
        let step = session.next(hinted(&all)).unwrap();
        assert_eq!(step.kept_messages, [1, 2, 3], "the first goes, and the rest moves");
        let session = step.session;
        assert_eq!((session.cached_tokens, session.uncached_tokens), (0, 100));
        assert_eq!((session.cut.len(), session.again.len(), session.credit), (1, 2, 70));
        // 0.3 for 30 tokens, where a token must be worth a fifth of 1.6 for 100.
        for again in session.again {
            let times = again.times_its_price.unwrap();
            assert!((times - 3.125).abs() < 1e-9, "{times}");
        }
    }

    #[test]
    fn what_stands_before_all_messages_stays_in_the_cache() {
        let tools = r#""tools":[{"type":"function","function":{"name":"ls"}}]"#;
        let list = r#"{"role":"system","content":"Be kind."},{"role":"user","content":"go"}"#;
        let mut session = session(1_000);
        let first = session.next(format!(r#"{{{tools},"messages":[{list}]}}"#)).unwrap().session;
        assert!(session.accept());
        let said = r#"{"role":"assistant","content":"gone"}"#;
        let next = session.next(format!(r#"{{{tools},"messages":[{list},{said}]}}"#)).unwrap();
        assert_eq!(next.session.cached_tokens, first.uncached_tokens);
        assert_eq!(next.session.uncached_tokens, next.session.arrived_tokens);
        assert_eq!(next.kept_messages, [0, 1, 2]);
    }

    #[test]
    fn a_call_whose_result_was_edited_arrives_anew() {
        let call = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#;
        let request = |result: &str| {
            format!(
                r#"[{{"role":"user","content":"go"}},{call},{{"role":"tool","tool_call_id":"a","content":"{result}"}}]"#
            )
        };
        let mut session = session(1_000);
        session.next(request("one two three")).unwrap();
        assert!(session.accept());
        let step = session.next(request("one, two, three!")).unwrap();
        assert_eq!((step.session.edited_at, step.kept_messages), (Some(2), vec![0, 1, 2]));
        let SessionStep { arrived_tokens, uncached_tokens, unchanged_messages, .. } = step.session;
        assert!(arrived_tokens > 0 && arrived_tokens == uncached_tokens);
        assert_eq!(unchanged_messages, 1, "the call goes with its result");
    }

    #[test]
    fn prices_are_those_of_the_model_where_it_is_known() {
        let list = r#""messages":[{"role":"user","content":"go"}]"#;
        let prices = |text: String| session(1_000).next(text).unwrap().session.prices;
        assert!(prices(format!(r#"{{"model":"gpt-4o",{list}}}"#)).is_some());
        assert!(prices(format!(r#"{{"model":"eliza",{list}}}"#)).is_none());
    }

    #[test]
    fn what_must_be_shorter_now_does_not_stand_as_it_was_sent() {
        let text = r#"[{"content":"a report","tokens":80,"pinned":true,"renderings":[
            {"name":"summary","content":"in short","tokens":20}]},{"content":"b","tokens":10}]"#;
        let mut session = session(100);
        let mut step = |max_tokens| {
            let options = crate::Options::new().max_tokens(max_tokens);
            let step = session.next_with(text, &options, None).unwrap();
            assert!(session.accept());
            (step.summary.tokens_after, step.session.unchanged_messages)
        };
        assert_eq!(step(100), (90, 0));
        // What stands behind it is beyond the credit.
        assert_eq!(step(50), (20, 0), "the report must be shorter");
        assert_eq!(step(50), (20, 1), "it is short enough");
        assert_eq!(step(100), (90, 0), "what fits goes out whole");
    }

    #[test]
    fn what_was_edited_before_the_last_that_stands_is_not_put_behind_it() {
        let report = r#"{"content":"a report","tokens":80,"pinned":true,"renderings":[
            {"name":"summary","content":"in short","tokens":20}]}"#;
        let of = |edited: &str, tokens: i64| {
            let edited = format!(r#"{{"content":"{edited}","tokens":{tokens}}}"#);
            format!(r#"[{report},{edited},{{"content":"the last","tokens":10}}]"#)
        };
        let mut session = session(50);
        assert_eq!(session.next(of("too long", 60)).unwrap().kept_messages, [0, 2]);
        assert!(session.accept());
        let step = session.next(of("short", 15)).unwrap();
        assert_eq!((step.session.edited_at, &*step.kept_messages), (Some(1), &[0, 2][..]));
        assert_eq!(step.session.unchanged_messages, 2, "both stand as they were sent");
    }

    #[test]
    fn a_step_is_whole_if_nothing_is_left_out_and_nothing_shorter() {
        let mut session = session(100);
        assert!(accepted(&mut session, &[("a", 10), ("b", 20)]).is_whole());
        assert!(!accepted(&mut session, &[("a", 10), ("b", 20), ("c", 90)]).is_whole());
        let report = r#"[{"content":"a report","tokens":80,"pinned":true,"renderings":[
            {"name":"summary","content":"in short","tokens":20}]}]"#;
        let short = self::session(50).next(report).unwrap();
        assert_eq!((short.kept_messages.len(), short.is_whole()), (1, false));
    }
}
