//! Judgement on one request by itself: everything that needs no other request of its conversation.

use std::sync::Arc;

use cupel_chat::{Candidates, Request, Tool};
use cupel_engine::{EngineError, ErrorCode, Prepared, Window};
use cupel_eval::Baseline;

use crate::baseline;
use crate::cost::Tariff;
use crate::outcome::{Coverage, ProblemKind, RequestOutcome, RowProblem, ToolSeen, WindowOutcome};
use crate::place::Place;
use crate::read::{Answer, LoggedRequest};
use crate::settings::{Settings, Way};
use crate::used::{Held, Used, UsedValue, fingerprint};

/// So much of an answer is shown beside what was lost of it.
const LONGEST_ANSWER: usize = 20_000;

/// Layout of a window, as far as the next one of its conversation needs to know.
#[derive(Debug, Clone, Default)]
pub(crate) struct WindowLayout {
    /// Hash of the text before all messages.
    pub(crate) head: u64,
    /// Its messages, in the order written.
    pub(crate) prints: Vec<u64>,
    /// Tokens of its parts, and the number of messages behind which each ends.
    parts: Vec<(i64, usize)>,
    /// The messages that are as they were, rising.
    pub(crate) whole: Vec<u32>,
    /// The texts of the others, in small letters.
    pub(crate) rewritten: Vec<String>,
}

impl WindowLayout {
    /// A request as it was logged.
    fn whole(candidates: &Candidates, head: u64, prints: &[u64]) -> Self {
        let items = candidates.items().iter().zip(candidates.bundles());
        let end = |messages: &[usize]| messages.iter().max().map_or(0, |at| at + 1);
        let parts =
            items.map(|(item, bundle)| (item.tokens().max(0), end(bundle.message_indices())));
        Self { head, prints: prints.to_vec(), parts: parts.collect(), ..Self::default() }
    }

    /// A window of it.
    fn window(candidates: &Candidates, head: u64, prints: &[u64], window: &Window) -> Self {
        let mut laid = Self::of_messages(head, prints, &window.kept_messages, &window.rewritten);
        let mut place = vec![0; prints.len()];
        for (at, message) in window.kept_messages.iter().enumerate() {
            place[*message] = at + 1;
        }
        laid.parts = window
            .kept
            .iter()
            .map(|position| {
                let shorter = window.shortened.iter().find(|shorter| shorter.position == *position);
                let tokens = shorter
                    .map_or_else(|| candidates.items()[*position].tokens(), |form| form.tokens);
                let messages = candidates.bundle(*position).message_indices();
                (tokens.max(0), messages.iter().map(|message| place[*message]).max().unwrap_or(0))
            })
            .collect();
        laid
    }

    /// These messages of a request, some of them written anew.
    pub(crate) fn of_messages(
        head: u64,
        prints: &[u64],
        kept: &[usize],
        rewritten: &[(usize, String)],
    ) -> Self {
        let anew = |message: usize| rewritten.iter().find(|(at, _)| *at == message);
        let print = |message: &usize| {
            anew(*message).map_or(prints[*message], |(_, json)| fingerprint(json))
        };
        let mut whole: Vec<u32> =
            kept.iter().filter(|at| anew(**at).is_none()).map(|at| *at as u32).collect();
        whole.sort_unstable();
        Self {
            head,
            prints: kept.iter().map(print).collect(),
            parts: Vec::new(),
            whole,
            rewritten: rewritten.iter().map(|(_, json)| texts_of(json)).collect(),
        }
    }

    /// Some parts, each with its tokens and its messages, in the order written. Of the messages that are
    /// `gone` something else stands there.
    pub(crate) fn of_parts(
        head: u64,
        prints: &[u64],
        messages: &[usize],
        parts: &[(i64, Vec<usize>)],
        gone: &[usize],
    ) -> Self {
        let mut place = vec![0; prints.len()];
        for (at, message) in messages.iter().enumerate() {
            place[*message] = at + 1;
        }
        let end = |own: &[usize]| own.iter().map(|message| place[*message]).max().unwrap_or(0);
        let is_gone = |message: &usize| gone.contains(message);
        let mut whole: Vec<u32> =
            messages.iter().filter(|at| !is_gone(at)).map(|at| *at as u32).collect();
        whole.sort_unstable();
        Self {
            head,
            prints: messages
                .iter()
                .map(|at| if is_gone(at) { !prints[*at] } else { prints[*at] })
                .collect(),
            parts: parts.iter().map(|(tokens, own)| (*tokens, end(own))).collect(),
            whole,
            rewritten: Vec::new(),
        }
    }

    /// Tokens of it that are not in the cache if this was sent before: a part that is not there as a whole
    /// counts in full.
    pub(crate) fn uncached_tokens(&self, before: Option<(u64, &[u64])>) -> i64 {
        let before = before.filter(|(head, _)| *head == self.head).map(|(_, prints)| prints);
        let shared = before.map(|prints| {
            prints.iter().zip(&self.prints).take_while(|(old, new)| old == new).count()
        });
        let is_cached = |end: &usize| shared.is_some_and(|shared| *end <= shared);
        let uncached = self.parts.iter().filter(|(_, end)| !is_cached(end));
        uncached.fold(0, |sum, (tokens, _)| sum.saturating_add(*tokens))
    }

    pub(crate) fn held(&self) -> Held<'_> {
        Held { whole: &self.whole, rewritten: &self.rewritten }
    }
}

/// Hashes of each beginning of a request, the shortest first, the whole last.
pub(crate) fn beginnings(head: u64, prints: &[u64]) -> impl Iterator<Item = u64> {
    prints.iter().scan(head, |hash, print| {
        *hash = (hash.rotate_left(17) ^ print).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Some(*hash)
    })
}

/// All texts of a message that was written anew, in small letters.
fn texts_of(json: &str) -> String {
    fn walk(json: &serde_json::Value, text: &mut String) {
        match json {
            serde_json::Value::String(said) => {
                text.push_str(&said.to_lowercase());
                text.push('\n');
            }
            serde_json::Value::Array(list) => list.iter().for_each(|json| walk(json, text)),
            serde_json::Value::Object(fields) => fields.values().for_each(|json| walk(json, text)),
            _ => {}
        }
    }
    let mut text = String::new();
    if let Ok(json) = serde_json::from_str(json) {
        walk(&json, &mut text);
    }
    text
}

/// Share of the used values that a window has.
pub(crate) fn coverage(values: &[UsedValue], window: &Held<'_>) -> Option<Coverage> {
    if values.is_empty() {
        return None;
    }
    let lost: Vec<&UsedValue> = values.iter().filter(|value| !value.is_in(window)).collect();
    let found = values.len() - lost.len();
    Some(Coverage {
        share: found as f64 / values.len() as f64,
        used: values.len(),
        found,
        lost: lost.iter().map(|lost| lost.value.clone()).collect(),
    })
}

/// A request that was judged by itself.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) outcome: RequestOutcome,
    /// The request, for sessions.
    pub(crate) text: Arc<str>,
    pub(crate) head: u64,
    pub(crate) prints: Vec<u64>,
    pub(crate) logged: WindowLayout,
    /// For each way that is no session and has a window.
    pub(crate) laid: Vec<Option<WindowLayout>>,
    /// Values that the answer used; or, where there is none, those that the newest turn in the request used of the
    /// request before.
    pub(crate) used: Option<Used>,
    pub(crate) late: Option<Used>,
    /// True if it was left before all ways were tried, since somebody stopped it.
    pub(crate) is_left: bool,
    /// True if its provider's cache has forgotten its conversation.
    pub(crate) is_cold: bool,
}

/// Judges a request in all ways that are no session.
pub(crate) fn judge(
    settings: &Settings,
    ways: &[Way],
    place: Place,
    logged: LoggedRequest,
) -> Result<Judged, RowProblem> {
    let failed = |error: EngineError| {
        let kind = match error.code() {
            ErrorCode::InvalidRequest => ProblemKind::InvalidInLog,
            _ => ProblemKind::Broken,
        };
        let mut rule = error.message();
        if let Some(violation) = error.violations().first() {
            rule = format!("{rule}: {violation}");
        }
        RowProblem { place: place.clone(), kind, rule }
    };
    let Some(first) = ways.first() else {
        return Err(RowProblem {
            place,
            kind: ProblemKind::Broken,
            rule: "no policy is given".to_owned(),
        });
    };
    let text = &logged.request;
    let mut prepared = prepare(settings, first, text).map_err(failed)?;
    let mut budget = first.budget_tokens;
    let candidates = prepared.candidates();
    let request = candidates.request().clone();
    let (head, prints) = (request.head_fingerprint(), request.fingerprints());
    let used = logged.answer.as_ref().map(|answer| Used::by_answer(answer, &request));
    let late = if used.is_none() { Used::by_newest_turn(&request) } else { None };
    let all = WindowLayout::whole(candidates, head, &prints);
    let mut outcome = RequestOutcome {
        // However a log is laid out, the same request is the same.
        fingerprint: beginnings(head, &prints).last().unwrap_or(head),
        conversation: logged.conversation,
        model: request.model().map(str::to_owned).or(logged.model),
        time: logged.time,
        route: logged.route,
        user: logged.user,
        set: None,
        messages: prints.len(),
        logged: crate::Sent { tokens: candidates.total_tokens(), ..crate::Sent::default() },
        counted_tokens: logged.counted_tokens,
        tariff: Tariff::of(&request, prepared.prices().as_ref(), &settings.prices),
        cluster: 0,
        used_values: used.as_ref().map(|used| used.values.len()),
        repeated_calls: 0,
        repeated_after_loss: 0,
        tools: tools_seen(&request, logged.answer.as_ref()),
        statements: request.statements(&settings.rules),
        windows: vec![WindowOutcome::default(); ways.len()],
        late: Vec::new(),
        text: (text.len() <= settings.worst_text_bytes).then(|| text.clone()),
        answer: logged
            .answer
            .as_ref()
            .filter(|_| settings.worst_text_bytes > 0)
            .map(|answer| answer.words(LONGEST_ANSWER).into()),
        text_before: late
            .as_ref()
            .filter(|_| text.len() <= settings.worst_text_bytes)
            .and_then(|late| beginning(candidates, late.messages)),
        place: place.clone(),
    };
    let mut laid: Vec<Option<WindowLayout>> = ways.iter().map(|_| None).collect();
    // A request is read and counted once for each budget, whatever the policies.
    let mut anew: Vec<usize> = (0..ways.len()).filter(|at| !ways[*at].in_session).collect();
    anew.sort_by_key(|at| ways[*at].budget_tokens);
    for at in anew {
        let way = &ways[at];
        if way.budget_tokens != budget {
            budget = way.budget_tokens;
            prepared = prepare(settings, way, text).map_err(failed)?;
        }
        let judged = if let Some(baseline) = way.baseline {
            Ok(baseline_window(
                settings,
                &prepared,
                (baseline, way.budget_tokens),
                head,
                &prints,
                used.as_ref(),
            ))
        } else if way.policy == first.policy {
            window(settings, &prepared, head, &prints, used.as_ref())
        } else {
            let engine = settings.policies[way.policy].engine.clone();
            let prepared = prepared.judged_by(engine);
            window(settings, &prepared, head, &prints, used.as_ref())
        };
        (outcome.windows[at], laid[at]) = judged.map_err(failed)?;
    }
    Ok(Judged {
        outcome,
        text: text.clone(),
        head,
        prints,
        logged: all,
        laid,
        used,
        late,
        is_left: false,
        is_cold: false,
    })
}

/// The request with its first messages alone.
fn beginning(candidates: &Candidates, messages: usize) -> Option<Arc<str>> {
    let is_in = |at: &usize| {
        candidates.bundle(*at).message_indices().iter().all(|message| *message < messages)
    };
    let kept: Vec<usize> = (0..candidates.items().len()).filter(is_in).collect();
    (candidates.message_count_of(&kept) == messages).then(|| candidates.render(&kept).into())
}

fn prepare(settings: &Settings, way: &Way, text: &Arc<str>) -> Result<Prepared, EngineError> {
    let engine = &settings.policies[0].engine;
    engine.prepare(text.clone(), &way.options())
}

fn window(
    settings: &Settings,
    prepared: &Prepared,
    head: u64,
    prints: &[u64],
    used: Option<&Used>,
) -> Result<(WindowOutcome, Option<WindowLayout>), EngineError> {
    let window = prepared.window()?;
    if !window.fits {
        return Ok((WindowOutcome::default(), None));
    }
    let laid = WindowLayout::window(prepared.candidates(), head, prints, &window);
    let mut outcome = outcome(&laid, &window.kept_messages, prints.len(), used);
    outcome.sent.tokens = window.tokens;
    outcome.shortened = window.rewritten.len();
    if settings.details {
        add_details(prepared, &mut outcome)?;
    }
    Ok((outcome, Some(laid)))
}

fn baseline_window(
    settings: &Settings,
    prepared: &Prepared,
    (baseline, budget): (Baseline, Option<i64>),
    head: u64,
    prints: &[u64],
    used: Option<&Used>,
) -> (WindowOutcome, Option<WindowLayout>) {
    let candidates = prepared.candidates();
    let made = baseline::window(baseline, candidates, &*settings.counter, head, prints, budget);
    let Some(made) = made else { return (WindowOutcome::default(), None) };
    let mut outcome = outcome(&made.laid, &made.messages, prints.len(), used);
    outcome.sent.tokens = made.tokens;
    outcome.is_changed |= made.cleared > 0;
    outcome.shortened = made.cleared;
    (outcome, Some(made.laid))
}

/// Figures of a window, whoever made it.
pub(crate) fn outcome(
    laid: &WindowLayout,
    kept: &[usize],
    messages: usize,
    used: Option<&Used>,
) -> WindowOutcome {
    let held = laid.held();
    let lost_calls = |used: &Used| used.repeated.iter().filter(|call| !call.is_in(&held)).count();
    WindowOutcome {
        fits: true,
        is_changed: kept.len() != messages || !laid.rewritten.is_empty(),
        kept: kept.iter().map(|at| *at as u32).collect(),
        coverage: used.and_then(|used| coverage(&used.values, &held)),
        fetched_again: used.map_or(0, lost_calls),
        ..WindowOutcome::default()
    }
}

fn add_details(prepared: &Prepared, outcome: &mut WindowOutcome) -> Result<(), EngineError> {
    let report = prepared.report()?;
    let mut scores: Vec<(usize, f64)> = report
        .included
        .iter()
        .filter_map(|included| Some((included.position?, included.score)))
        .collect();
    scores.sort_by_key(|(position, _)| *position);
    outcome.scores = scores.into_iter().map(|(_, score)| score).collect();
    let reasons = report.excluded.iter().filter_map(|excluded| {
        let messages = prepared.candidates().bundle(excluded.position?).message_indices();
        Some((*messages.first()? as u32, excluded.reason.name().to_owned()))
    });
    outcome.reasons = reasons.collect();
    outcome.reasons.sort();
    Ok(())
}

/// The tools of a request, and whether it or its answer calls them.
fn tools_seen(request: &Request, answer: Option<&Answer>) -> Vec<ToolSeen> {
    let calls = answer.map_or(&[][..], |answer| &answer.calls);
    let seen = |tool: &Tool| ToolSeen {
        name: tool.name().to_owned(),
        is_used: tool.calls() > 0 || calls.iter().any(|call| call.name == tool.name()),
    };
    request.tools(&[]).iter().map(seen).collect()
}
