//! Check that policies still decide as they did when a record was made.

use std::collections::{HashMap, HashSet, VecDeque};

use cupel_chat::Rule;
use cupel_eval::PriceRule;

use crate::outcome::{RequestOutcome, WindowOutcome};
use crate::record::{Record, RecordedRequest, RecordedWindow, indices, mark, ranges};
use crate::settings::Way;

/// Tolerances of a check.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tolerances {
    /// The share of the windows that may be others.
    pub windows: f64,
    /// By how much coverage may fall, of the mean: a share.
    pub coverage: f64,
    /// By how much cost may rise: a share of what it was.
    pub cost: f64,
    /// Number of requests that may lose a value that they had.
    pub losses: usize,
}

/// Differences in one way.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WayCheck {
    /// The way.
    pub way: Way,
    /// Windows that were compared.
    pub windows: usize,
    /// Those of them that are others.
    pub changed: usize,
    /// Those of them that lost a value that was there.
    pub worse: usize,
    /// The mean coverage, then and now; `None` without any.
    pub coverage: Option<(f64, f64)>,
    /// The cost in tokens at full price, by each request's model and its provider's cache; then and now.
    pub cost: (i64, i64),
    /// The tolerances that were exceeded, in words.
    pub failures: Vec<String>,
}

/// A window that is another.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Moved {
    /// Where the request is.
    pub place: String,
    /// Which way it is, by position.
    pub way: usize,
    /// Window in the record; `None` where nothing fitted.
    pub before: Option<RecordedWindow>,
    /// Window now.
    pub after: Option<RecordedWindow>,
    /// Values that are lost now and were there then.
    pub lost: Vec<String>,
}

impl Moved {
    /// Returns true if it has less of what was used than it had.
    pub fn is_worse(&self) -> bool {
        if !self.lost.is_empty() {
            return true;
        }
        let found = |window: &Option<RecordedWindow>| {
            window.as_ref().map_or(Some([0, 0]), |window| window.found)
        };
        match (found(&self.before), found(&self.after)) {
            (Some([before, _]), Some([after, _])) => after < before,
            _ => false,
        }
    }

    /// Differences, in words.
    pub fn words(&self, ways: &[Way]) -> String {
        let lost = match &self.lost[..] {
            [] => String::new(),
            lost => {
                let more = lost.len().saturating_sub(NAMED);
                let named = lost.iter().take(NAMED).map(|value| format!("`{value}`"));
                let named = named.collect::<Vec<_>>().join(", ");
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("lost {named}{more}; ")
            }
        };
        let (place, way) = (&self.place, at_budget(&ways[self.way]));
        format!("{place}: {way}: {lost}{}", difference(self.before.as_ref(), self.after.as_ref()))
    }
}

/// So many of the values that were lost are named.
const NAMED: usize = 8;

/// Difference between two windows, as in `messages +8-9 −6-7, 388 → 268 tokens, 2 → 1 of 2 used values`.
fn difference(before: Option<&RecordedWindow>, after: Option<&RecordedWindow>) -> String {
    let (before, after) = match (before, after) {
        (Some(before), Some(after)) => (before, after),
        (None, Some(after)) => return format!("fits now, with {} tokens", after.tokens),
        (_, None) => return "nothing fits any more".to_owned(),
    };
    let (then, now) = (indices(&before.kept), indices(&after.kept));
    let only = |some: &[u32], others: &[u32], sign: &str| {
        let own: Vec<u32> = some.iter().copied().filter(|at| !others.contains(at)).collect();
        if own.is_empty() { String::new() } else { format!(" {sign}{}", ranges(&own)) }
    };
    let (came, went) = (only(&now, &then, "+"), only(&then, &now, "−"));
    let mut parts = Vec::new();
    if !came.is_empty() || !went.is_empty() {
        parts.push(format!("messages{came}{went}"));
    } else if before.kept != after.kept {
        parts.push("messages in another order".to_owned());
    }
    if before.tokens != after.tokens {
        parts.push(format!("{} → {} tokens", before.tokens, after.tokens));
    }
    if let (Some([then, _]), Some([now, used])) = (before.found, after.found)
        && then != now
    {
        parts.push(format!("{then} → {now} of {used} used values"));
    }
    if parts.is_empty() { "other values are there".to_owned() } else { parts.join(", ") }
}

/// A message that states a rule, and that a window lost.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostRule {
    /// Where the request is.
    pub place: String,
    /// Which way it is, by position.
    pub way: usize,
    /// The rule.
    pub rule: Rule,
    /// The message, by its path in the request.
    pub path: String,
}

impl LostRule {
    /// The loss in words.
    pub fn words(&self, ways: &[Way]) -> String {
        let Self { place, way, rule, path } = self;
        format!("{place}: {}: lost the rule `{rule}` in {path}", at_budget(&ways[*way]))
    }
}

/// A way and its budget.
fn at_budget(way: &Way) -> String {
    let budget = way.budget_tokens.map(|tokens| format!(" at {tokens}")).unwrap_or_default();
    format!("{}{budget}", way.title())
}

/// Compares outcomes with a record, one by one.
#[derive(Debug)]
pub struct Checking<'r> {
    recorded: HashMap<&'r str, &'r RecordedRequest>,
    /// Where each request was, for those that are elsewhere now.
    by_request: HashMap<&'r str, VecDeque<&'r str>>,
    /// Places at which another request is now.
    replaced: HashSet<&'r str>,
    ways: Vec<Way>,
    tallies: Vec<Tally>,
    moved: Vec<Moved>,
    others: Vec<String>,
    /// The rules that must be kept, and whether a request states each.
    rules: Vec<(Rule, bool)>,
    lost_rules: Vec<LostRule>,
    /// Number of requests the record has.
    all: usize,
}

#[derive(Debug, Clone, Default)]
struct Tally {
    windows: usize,
    changed: usize,
    worse: usize,
    before: Sums,
    after: Sums,
}

#[derive(Debug, Clone, Default)]
struct Sums {
    shares: f64,
    requests: usize,
    cost: f64,
}

impl Sums {
    fn add(&mut self, window: &RecordedWindow) {
        // Records of an earlier version have no cost: that of the usual rule, as it was then.
        let usual = || PriceRule::USUAL[0].cost(window.tokens, window.uncached) as f64;
        self.cost += window.cost.unwrap_or_else(usual);
        if let Some([found, used]) = window.found {
            self.shares += found as f64 / used.max(1) as f64;
            self.requests += 1;
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.shares / self.requests as f64)
    }

    fn cost(&self) -> i64 {
        self.cost.round() as i64
    }
}

/// Result of a check.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CheckReport {
    /// One for each way.
    pub ways: Vec<WayCheck>,
    /// The windows that are others, in the order of the log.
    pub moved: Vec<Moved>,
    /// Requests that are not those of the record, in words.
    pub others: Vec<String>,
    /// The rules that must be kept.
    pub rules: Vec<Rule>,
    /// Messages that state one of them and that a window lost, in the order of the log.
    pub lost_rules: Vec<LostRule>,
    /// Those of the rules that no request of the record states: nothing was checked of them.
    pub unstated_rules: Vec<Rule>,
    /// Number of requests the record has.
    pub requests: usize,
}

impl CheckReport {
    /// Returns true if everything is within the tolerances, and no window lost a rule.
    pub fn holds(&self) -> bool {
        self.others.is_empty()
            && self.lost_rules.is_empty()
            && self.ways.iter().all(|way| way.failures.is_empty())
    }
}

impl<'r> Checking<'r> {
    /// Compares with a record. The rules are those that the outcomes were [looked
    /// for](crate::Settings::rules) in.
    pub fn new(record: &'r Record, ways: &[Way], rules: &[Rule]) -> Self {
        let mut by_request: HashMap<&str, VecDeque<&str>> = HashMap::new();
        for request in &record.requests {
            by_request.entry(&request.request).or_default().push_back(&request.at);
        }
        Self {
            recorded: record.requests.iter().map(|request| (&*request.at, request)).collect(),
            by_request,
            replaced: HashSet::new(),
            ways: ways.to_vec(),
            tallies: vec![Tally::default(); ways.len()],
            moved: Vec::new(),
            others: Vec::new(),
            rules: rules.iter().map(|rule| (rule.clone(), false)).collect(),
            lost_rules: Vec::new(),
            all: record.requests.len(),
        }
    }

    /// Compares the next request.
    pub fn add(&mut self, request: &RequestOutcome) {
        let now = RecordedRequest::of(request);
        let Some(then) = self.then(&now) else {
            self.tell_other(&now.at);
            return;
        };
        self.look_for_rules(request);
        for (way, (before, after)) in then.windows.iter().zip(now.windows).enumerate() {
            let tally = &mut self.tallies[way];
            tally.windows += 1;
            if let Some(window) = before {
                tally.before.add(window);
            }
            if let Some(window) = &after {
                tally.after.add(window);
            }
            let kept = |window: &Option<RecordedWindow>| {
                window.as_ref().map(|w| (w.kept.clone(), w.tokens, w.found, w.lost.clone()))
            };
            if kept(before) != kept(&after) {
                tally.changed += 1;
                let mut moved = Moved {
                    place: now.at.clone(),
                    way,
                    before: before.clone(),
                    after,
                    lost: Vec::new(),
                };
                let lost = request.windows[way].coverage.iter().flat_map(|coverage| &coverage.lost);
                let before = moved.before.as_ref();
                let was_there =
                    |value: &&String| before.is_some_and(|then| !then.lost.contains(&mark(value)));
                // Without marks a record tells only how many there were.
                let is_marked = before.is_some_and(|then| {
                    then.found.is_none_or(|[found, used]| used - found == then.lost.len())
                });
                if is_marked || moved.is_worse() {
                    moved.lost = lost.filter(was_there).cloned().collect();
                }
                tally.worse += usize::from(moved.is_worse());
                self.moved.push(moved);
            }
        }
    }

    /// A window has lost a rule if a message that states it is not in it. Where nothing fits there is no
    /// window.
    fn look_for_rules(&mut self, request: &RequestOutcome) {
        for statement in &request.statements {
            let Some((rule, is_stated)) = self.rules.get_mut(statement.rule) else { continue };
            *is_stated = true;
            let Some(message) = statement.message else { continue };
            let is_lost = |window: &WindowOutcome| {
                window.fits && !window.kept.iter().any(|kept| *kept as usize == message)
            };
            let windows = request.windows.iter().enumerate();
            self.lost_rules.extend(windows.filter(|(_, window)| is_lost(window)).map(
                |(way, _)| LostRule {
                    place: request.place.to_string(),
                    way,
                    rule: rule.clone(),
                    path: statement.path.clone(),
                },
            ));
        }
    }

    /// The same request in the record: at the same place, or where it was if the log was moved or has
    /// other rows before it.
    fn then(&mut self, now: &RecordedRequest) -> Option<&'r RecordedRequest> {
        let is_same = |then: &RecordedRequest| {
            then.request == now.request && then.windows.len() == now.windows.len()
        };
        if self.recorded.get(&*now.at).is_some_and(|then| is_same(then)) {
            return self.recorded.remove(&*now.at);
        }
        let places = self.by_request.get_mut(&*now.request)?;
        while let Some(at) = places.pop_front() {
            if self.recorded.get(at).is_some_and(|then| is_same(then)) {
                return self.recorded.remove(at);
            }
        }
        None
    }

    fn tell_other(&mut self, at: &str) {
        let what = if let Some((at, _)) = self.recorded.get_key_value(at) {
            self.replaced.insert(at);
            "is another request than the one that was recorded"
        } else {
            "is not in the record"
        };
        self.others.push(format!("{at}: {what}"));
    }

    /// Result of the check.
    pub fn finish(mut self, tolerances: Tolerances) -> CheckReport {
        let gone = |at: &&&str| !self.replaced.contains(**at);
        let mut missing: Vec<&str> = self.recorded.keys().filter(gone).copied().collect();
        missing.sort_unstable();
        self.others.extend(
            missing.iter().map(|at| format!("{at}: is in the record and no longer in the logs")),
        );
        let ways =
            self.ways.iter().zip(&self.tallies).map(|(way, tally)| check(way, tally, tolerances));
        CheckReport {
            ways: ways.collect(),
            moved: self.moved,
            others: self.others,
            unstated_rules: self
                .rules
                .iter()
                .filter(|(_, is_stated)| !is_stated)
                .map(|(rule, _)| rule.clone())
                .collect(),
            rules: self.rules.into_iter().map(|(rule, _)| rule).collect(),
            lost_rules: self.lost_rules,
            requests: self.all,
        }
    }
}

fn check(way: &Way, tally: &Tally, tolerances: Tolerances) -> WayCheck {
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let mut failures = Vec::new();
    let share = tally.changed as f64 / tally.windows.max(1) as f64;
    if share > tolerances.windows {
        failures.push(format!(
            "{} of {} windows are others ({}), {} may be",
            tally.changed,
            tally.windows,
            percent(share),
            percent(tolerances.windows)
        ));
    }
    let coverage = tally.before.mean().zip(tally.after.mean());
    if let Some((before, after)) =
        coverage.filter(|(before, after)| before - after > tolerances.coverage + 1e-12)
    {
        failures.push(format!(
            "coverage fell from {} to {}, by {} it may",
            percent(before),
            percent(after),
            percent(tolerances.coverage)
        ));
    }
    if tally.worse > tolerances.losses {
        failures.push(format!(
            "{} of {} requests lost a value that was there, {} may",
            tally.worse, tally.windows, tolerances.losses
        ));
    }
    let cost = (tally.before.cost(), tally.after.cost());
    if cost.1 as f64 > cost.0 as f64 * (1.0 + tolerances.cost) {
        failures.push(format!(
            "cost rose from {} to {} full-price tokens, by {} it may",
            cost.0,
            cost.1,
            percent(tolerances.cost)
        ));
    }
    WayCheck {
        way: way.clone(),
        windows: tally.windows,
        changed: tally.changed,
        worse: tally.worse,
        coverage,
        cost,
        failures,
    }
}
