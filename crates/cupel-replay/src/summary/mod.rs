//! Sums over many requests, added up one by one: memory does not grow with the log.

mod clusters;
mod compared;
mod figures;
mod paired;
mod recommend;
mod splits;
mod worst;

use std::collections::BTreeMap;

use serde::Serialize;

pub use compared::CountedTokens;
pub use figures::{Dollars, Share, WaySummary};
pub use paired::Comparison;
pub use recommend::{NoRecommendation, Promise, Recommendation};
pub use splits::{SplitCost, Splits};
pub use worst::{Worst, WorstText};

use crate::outcome::{Coverage, ProblemKind, RequestOutcome, RowOutcome, RowProblem, ToolSeen};
use crate::replay::Outcomes;
use crate::settings::Way;
use compared::Ratios;
use figures::WayTally;
use paired::Pairs;
use recommend::Needs;
use splits::SplitTally;
use worst::WorstList;

/// The version of the form of the summary; it changes when a reader would have to.
const SCHEMA: &str = "cupel/1";
/// So many problems of each kind are named; the others are counted.
const NAMED_PROBLEMS: usize = 20;
/// So many reasons to skip a row are told apart.
const MOST_REASONS: usize = 50;
/// So many tools are told apart; of further ones nothing is said.
const MOST_TOOLS: usize = 1_000;

/// Sums over many requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(title = "ReplayReport"))]
#[non_exhaustive]
pub struct Summary {
    /// `cupel/1`.
    pub schema: &'static str,
    /// True if all of the log was replayed; `false` if someone stopped it.
    pub is_complete: bool,
    /// Kinds of the rows.
    pub rows: Rows,
    /// The kinds of rows that were read, by name.
    pub kinds: Vec<Counted>,
    /// Rows that were skipped since they call no model, by kind.
    pub skipped: Vec<Counted>,
    /// Cost of the requests as they were logged.
    pub logged: Dollars,
    /// Our counts beside those of the providers, where the log has them.
    pub counted: Option<CountedTokens>,
    /// Calls that the log shows a second time.
    pub repeated_calls: usize,
    /// Those of them whose first making was no longer in the request.
    pub repeated_after_loss: usize,
    /// Number of conversations that were forgotten before the end.
    pub forgotten_conversations: usize,
    /// By policy, anew and in a session, by budget.
    pub ways: Vec<WaySummary>,
    /// Every other policy beside the first, at the same budget.
    pub comparisons: Vec<Comparison>,
    /// Cost of requests by model, route, user and day.
    pub splits: Splits,
    /// The tools that requests define, those that were never used first.
    pub tools: Vec<ToolUse>,
    /// Rows that were not in the order of their times, and were put there.
    pub reordered_rows: usize,
    /// Recommendation, where one was asked for.
    pub recommendation: Option<Recommendation>,
    /// Why nothing is, where that was asked.
    pub no_recommendation: Option<NoRecommendation>,
    /// The first problems of each kind, by place.
    pub problems: Vec<Problem>,
}

/// Kinds of the rows of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Rows {
    /// Requests that were replayed.
    pub requests: usize,
    /// Requests that their provider refuses as they stand in the log. They count for nothing else.
    pub invalid_in_log: usize,
    /// Rows that cannot be read as requests.
    pub broken: usize,
    /// Files, or ends of files, that cannot be read.
    pub unreadable: usize,
    /// Rows that are no call of a model.
    pub others: usize,
}

/// Number of rows of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counted {
    /// Kind.
    pub what: String,
    /// Number of rows.
    pub count: usize,
}

/// Uses of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolUse {
    /// Its name.
    pub name: String,
    /// Number of requests that define it.
    pub requests: usize,
    /// Number of those in which a message or the answer calls it.
    pub used: usize,
}

/// A row that could not be replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// Where it is.
    pub place: String,
    /// Kind of the problem.
    pub kind: ProblemKind,
    /// The rule that is broken, and what to do.
    pub rule: String,
}

/// The JSON Schema of the summary, by its name.
#[cfg(feature = "schema")]
pub fn json_schemas() -> Vec<(&'static str, serde_json::Value)> {
    // It is written, not read: fields that are always written are required.
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Summary>().to_value();
    schema["properties"]["schema"] = serde_json::json!({ "const": SCHEMA });
    vec![("ReplayReport", schema)]
}

/// Adds outcomes up.
#[derive(Debug)]
pub struct Summing {
    ways: Vec<Way>,
    tallies: Vec<WayTally>,
    worst: Vec<WorstList>,
    /// For each way the one of the first policy that it is compared with, and the pairs.
    pairs: Vec<Option<(usize, Pairs)>>,
    rows: Rows,
    kinds: BTreeMap<&'static str, usize>,
    skipped: BTreeMap<String, usize>,
    logged: Dollars,
    ratios: Ratios,
    splits: SplitTally,
    needs: Needs,
    /// By name, the requests that define a tool, and those that call it.
    tools: BTreeMap<String, (usize, usize)>,
    repeated_calls: usize,
    repeated_after_loss: usize,
    problems: Vec<Problem>,
}

impl Summing {
    /// Nothing yet. So many of the worst requests are kept.
    pub fn new(ways: &[Way], worst: usize) -> Self {
        let reference = |way: &Way| {
            let is_it = |other: &Way| {
                other.policy == 0 && !other.in_session && other.budget_tokens == way.budget_tokens
            };
            let is_first = way.policy == 0 && !way.in_session && way.baseline.is_none();
            ways.iter().position(is_it).filter(|_| !is_first)
        };
        Self {
            tallies: ways.iter().map(|_| WayTally::default()).collect(),
            worst: (0..ways.len()).map(|way| WorstList::new(way, worst)).collect(),
            pairs: ways.iter().map(|way| Some((reference(way)?, Pairs::default()))).collect(),
            ways: ways.to_vec(),
            rows: Rows::default(),
            kinds: BTreeMap::new(),
            skipped: BTreeMap::new(),
            logged: Dollars::default(),
            ratios: Ratios::default(),
            splits: SplitTally::new(ways.len()),
            needs: Needs::new(ways.len()),
            tools: BTreeMap::new(),
            repeated_calls: 0,
            repeated_after_loss: 0,
            problems: Vec::new(),
        }
    }

    /// Adds what became of a batch.
    pub fn add(&mut self, outcomes: &Outcomes) {
        self.rows.others += outcomes.skipped.len();
        for what in &outcomes.skipped {
            // A log may have a type of its own on every row.
            let is_known = self.skipped.contains_key(what) || self.skipped.len() < MOST_REASONS;
            let what = if is_known { what } else { "something else" };
            *self.skipped.entry(what.to_owned()).or_default() += 1;
        }
        for kind in &outcomes.kinds {
            *self.kinds.entry(kind).or_default() += 1;
        }
        for row in &outcomes.rows {
            match row {
                RowOutcome::Request(request) => self.add_request(request),
                RowOutcome::Problem(problem) => self.add_problem(problem),
            }
        }
    }

    /// Adds a row that could not be replayed.
    fn add_problem(&mut self, problem: &RowProblem) {
        match problem.kind {
            ProblemKind::Broken => self.rows.broken += 1,
            ProblemKind::InvalidInLog => self.rows.invalid_in_log += 1,
            ProblemKind::Unreadable => self.rows.unreadable += 1,
        }
        let alike = self.problems.iter().filter(|named| named.kind == problem.kind);
        if alike.count() < NAMED_PROBLEMS {
            let (place, rule) = (problem.place.to_string(), problem.rule.clone());
            self.problems.push(Problem { place, kind: problem.kind, rule });
        }
    }

    fn add_request(&mut self, request: &RequestOutcome) {
        self.rows.requests += 1;
        self.logged.add(request.logged, &request.tariff);
        self.splits.add(request);
        self.add_tools(&request.tools);
        if let Some(tokens) = request.counted_tokens {
            self.ratios.add(request.logged.tokens, tokens);
        }
        self.repeated_calls += request.repeated_calls;
        self.repeated_after_loss += request.repeated_after_loss;
        for (at, window) in request.windows.iter().enumerate() {
            self.tallies[at].add(window, &request.tariff);
            let cost = if window.fits { window.sent.cost } else { request.logged.cost };
            self.needs.add_cost(request.cluster, at, cost);
            if let Some(coverage) = &window.coverage {
                self.cover(at, coverage, request, false);
            } else if let Some(used) = request.used_values.filter(|_| !window.fits) {
                // What has no window keeps nothing of what was used.
                self.needs.add(request.cluster, at, 0, used);
            }
            if let Some(Some(coverage)) = request.late.get(at) {
                self.cover(at, coverage, request, true);
            }
        }
        for at in 0..request.windows.len() {
            if let Some((reference, pairs)) = &mut self.pairs[at] {
                let of = |way: usize| {
                    request.windows[way].coverage.as_ref().map(|coverage| coverage.share)
                };
                let late =
                    |way: usize| request.late.get(way)?.as_ref().map(|coverage| coverage.share);
                pairs.add(of(at).zip(of(*reference)), request.cluster);
                pairs.add(late(at).zip(late(*reference)), request.cluster);
            }
        }
    }

    fn add_tools(&mut self, tools: &[ToolSeen]) {
        for tool in tools {
            // A log may have tools of its own on every row.
            if self.tools.contains_key(&tool.name) || self.tools.len() < MOST_TOOLS {
                let (requests, used) = self.tools.entry(tool.name.clone()).or_default();
                *requests += 1;
                *used += usize::from(tool.is_used);
            }
        }
    }

    fn tools(&self) -> Vec<ToolUse> {
        let uses = self.tools.iter().map(|(name, (requests, used))| ToolUse {
            name: name.clone(),
            requests: *requests,
            used: *used,
        });
        let mut uses: Vec<ToolUse> = uses.collect();
        uses.sort_by_key(|tool| tool.used > 0);
        uses
    }

    fn cover(&mut self, way: usize, coverage: &Coverage, request: &RequestOutcome, is_late: bool) {
        self.tallies[way].coverage.add(coverage, request.cluster);
        self.needs.add(request.cluster, way, coverage.found, coverage.used);
        self.worst[way].offer(coverage, request, is_late);
    }

    /// The worst requests of a way, the worst first, with their texts where those were kept.
    pub fn worst(&self, way: usize) -> impl Iterator<Item = (&Worst, Option<&WorstText>)> {
        self.worst[way].iter()
    }

    /// Finds the smallest window that keeps a promise, of the budgets that were tried.
    ///
    /// # Errors
    ///
    /// If too few conversations tell what was used, or no budget is large enough.
    pub fn recommend(&self, promise: Promise) -> Result<Recommendation, NoRecommendation> {
        self.needs.recommend(&self.ways, promise)
    }

    /// Summary of everything that has been added so far.
    pub fn summary(&self, is_complete: bool, forgotten_conversations: usize) -> Summary {
        let ways = self.ways.iter().zip(&self.tallies).zip(&self.worst);
        let comparisons = self.pairs.iter().enumerate().filter_map(|(at, pairs)| {
            let (reference, pairs) = pairs.as_ref()?;
            pairs.comparison(&self.ways[at], &self.ways[*reference])
        });
        Summary {
            schema: SCHEMA,
            is_complete,
            rows: self.rows,
            kinds: counted(&self.kinds),
            skipped: counted(&self.skipped),
            logged: self.logged,
            counted: self.ratios.counted(),
            repeated_calls: self.repeated_calls,
            repeated_after_loss: self.repeated_after_loss,
            forgotten_conversations,
            ways: ways.map(|((way, tally), worst)| tally.summary(way, worst)).collect(),
            comparisons: comparisons.collect(),
            splits: self.splits.splits(),
            tools: self.tools(),
            reordered_rows: 0,
            recommendation: None,
            no_recommendation: None,
            problems: self.problems.clone(),
        }
    }
}

fn counted<K: ToString>(counts: &BTreeMap<K, usize>) -> Vec<Counted> {
    counts.iter().map(|(what, count)| Counted { what: what.to_string(), count: *count }).collect()
}
