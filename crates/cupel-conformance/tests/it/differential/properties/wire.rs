//! Promises about the wire form: what is written can be read, and is what was written.

use cupel::{
    ContextItem, ContextKind, CountRequirementShortfall, DiagnosticTraceCollector, ExclusionReason,
    FieldValue, OverflowStrategy, PipelineStage, QuotaEntry, ScoredItem, SelectionReport,
    TraceDetailLevel, TraceEvent,
};
use cupel_conformance::random::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::differential::case::{self, Case};
use crate::differential::compare::{Verdict, ensure, same, same_fields};
use crate::differential::sweep::{sweep, sweep_seeds};

/// Context item: it is fully described by its fields, so its wire form gives all of them back.
#[test]
fn items_round_trip() {
    sweep(40, Case::with_raw_scores, |case| {
        case.problem.items.iter().try_for_each(|item| {
            let item = case::item(item);
            same_fields(&item, &round_trip(&item)?)?;
            let score = item.future_relevance_hint().unwrap_or(-0.0);
            let scored = ScoredItem { item, score };
            let read = round_trip(&scored)?;
            same_fields(&scored.item, &read.item)?;
            same_number(scored.score, read.score)
        })
    });
}

/// Context budget: it is fully described by its fields.
#[test]
fn budgets_round_trip() {
    sweep(5, Case::plain, |case| {
        let budget = case.library().budget;
        same("the budget", &budget, &round_trip(&budget)?)
    });
}

/// Quota entries: kind and percentages, as configured.
#[test]
fn quota_entries_round_trip() {
    sweep_seeds(10, |rng| {
        let require = number_below(rng, 50.0);
        let cap = require + number_below(rng, 50.0);
        let name = rng.pick(&["Message", "MEMORY", "Äther", " \" \\ \n"]);
        let kind = ContextKind::new(name).expect("a kind that is not blank");
        let entry = QuotaEntry::new(kind, require, cap).expect("a valid share");
        let read = round_trip(&entry)?;
        same("the entry", &entry, &read)?;
        same("the kind's spelling", &entry.kind().as_str(), &read.kind().as_str())
    });
}

/// Selection report: a report that was stored says later what it said at first. Items are compared
/// by field, since identity does not survive the trip.
#[test]
fn reports_round_trip() {
    sweep(40, Case::plain, check_report);
}

/// The same where scores are infinite or no numbers.
#[test]
fn reports_with_infinite_and_nan_scores_round_trip() {
    sweep(40, Case::with_raw_scores, check_report);
}

/// Exclusion reasons: every variant carries its name and its fields, reserved ones too, and a
/// reason that a later version invents keeps both.
#[test]
fn reasons_round_trip() {
    sweep_seeds(5, |rng| {
        let reason = reason(rng);
        let read = round_trip(&reason)?;
        // Compared as text, because a score of NaN differs from itself.
        same("the reason", &format!("{reason:?}"), &format!("{read:?}"))
    });
}

/// Trace events: stage, duration, count and message, and the name of a stage that this version does
/// not know.
#[test]
fn events_round_trip() {
    sweep_seeds(5, |rng| {
        let event = event(rng);
        same("the event", &format!("{event:?}"), &format!("{:?}", round_trip(&event)?))
    });
}

/// The named choices and the small records of a report.
#[test]
fn choices_and_shortfalls_round_trip() {
    let choices = || -> Verdict {
        for strategy in
            [OverflowStrategy::Throw, OverflowStrategy::Truncate, OverflowStrategy::Proceed]
        {
            same("the strategy", &strategy, &round_trip(&strategy)?)?;
        }
        for level in [TraceDetailLevel::Stage, TraceDetailLevel::Item] {
            same("the level", &level, &round_trip(&level)?)?;
        }
        for stage in STAGES {
            same("the stage", &stage, &round_trip(&stage)?)?;
        }
        let shortfall = CountRequirementShortfall::new("Äther", usize::MAX, 0);
        same("the shortfall", &shortfall, &round_trip(&shortfall)?)
    };
    choices().expect("choices round-trip");
}

const STAGES: [PipelineStage; 5] = [
    PipelineStage::Classify,
    PipelineStage::Score,
    PipelineStage::Deduplicate,
    PipelineStage::Slice,
    PipelineStage::Place,
];

fn check_report(case: &Case) -> Verdict {
    let library = case.library();
    let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Item);
    let window = library.pipeline.run_traced(&library.items, &library.budget, &mut collector);
    check_collector(window.is_ok(), collector)
}

/// A collector may be stored before its report is asked for, and after a run that failed.
fn check_collector(is_complete: bool, collector: DiagnosticTraceCollector) -> Verdict {
    let stored = write(&collector)?;
    let resumed: DiagnosticTraceCollector = read(&stored)?;
    same("the collector", &stored, &write(&resumed)?)?;
    let (report, resumed) = (collector.into_report(), resumed.into_report());
    same_report(&report, &resumed)?;
    if is_complete {
        same_report(&report, &round_trip(&report)?)?;
    }
    Ok(())
}

fn same_report(expected: &SelectionReport, actual: &SelectionReport) -> Verdict {
    same("the wire form", &write(expected)?, &write(actual)?)?;
    same("the events", &expected.events, &actual.events)?;
    let shortfalls = |report: &SelectionReport| report.count_requirement_shortfalls.clone();
    same("the shortfalls", &shortfalls(expected), &shortfalls(actual))?;
    let totals =
        |report: &SelectionReport| (report.total_candidates, report.total_tokens_considered);
    same("the totals", &totals(expected), &totals(actual))?;
    same("the number included", &expected.included.len(), &actual.included.len())?;
    for (expected, actual) in expected.included.iter().zip(&actual.included) {
        same_fields(&expected.item, &actual.item)?;
        same_number(expected.score, actual.score)?;
        same("the reason", &expected.reason, &actual.reason)?;
    }
    same("the number excluded", &expected.excluded.len(), &actual.excluded.len())?;
    for (expected, actual) in expected.excluded.iter().zip(&actual.excluded) {
        same_fields(&expected.item, &actual.item)?;
        same_number(expected.score, actual.score)?;
        same("the reason", &expected.reason, &actual.reason)?;
    }
    same_overflow(expected, actual)
}

fn same_overflow(expected: &SelectionReport, actual: &SelectionReport) -> Verdict {
    let (expected, actual) = match (&expected.overflow, &actual.overflow) {
        (None, None) => return Ok(()),
        (Some(expected), Some(actual)) => (expected, actual),
        _ => return Err("only one of the reports has an overflow event".to_owned()),
    };
    same("the tokens over budget", &expected.tokens_over_budget, &actual.tokens_over_budget)?;
    same("the budget", &expected.budget, &actual.budget)?;
    let (expected, actual): (&[ContextItem], &[ContextItem]) =
        (&expected.overflowing_items, &actual.overflowing_items);
    same("the number of overflowing items", &expected.len(), &actual.len())?;
    expected.iter().zip(actual).try_for_each(|(expected, actual)| same_fields(expected, actual))
}

fn same_number(expected: f64, actual: f64) -> Verdict {
    let is_same = expected.to_bits() == actual.to_bits() || (expected.is_nan() && actual.is_nan());
    ensure(is_same, || format!("{expected:?} became {actual:?}"))
}

/// The value as it is after it was written and read, by every way of reading.
fn round_trip<T: Serialize + DeserializeOwned>(value: &T) -> Result<T, String> {
    let text = write(value)?;
    let from_bytes: T = serde_json::from_reader(text.as_bytes()).map_err(|e| say(&e, &text))?;
    same("what is read from bytes", &text, &write(&from_bytes)?)?;
    // A tree does not keep the order of fields, so trees are compared with trees.
    let grow = |value: &T| serde_json::to_value(value).map_err(|error| say(&error, &text));
    let tree = grow(value)?;
    let from_tree: T = serde_json::from_value(tree.clone()).map_err(|error| say(&error, &text))?;
    same("what is read from a tree", &tree, &grow(&from_tree)?)?;
    let from_text: T = read(&text)?;
    same("what is read from a text", &text, &write(&from_text)?)?;
    Ok(from_text)
}

fn write<T: Serialize>(value: &T) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| format!("cannot be written: {error}"))
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| say(&error, text))
}

fn say(error: &serde_json::Error, text: &str) -> String {
    format!("cannot be read: {error}\n{text}")
}

fn reason(rng: &mut Rng) -> ExclusionReason {
    match rng.below(11) {
        0 => ExclusionReason::BudgetExceeded {
            item_tokens: integer(rng),
            available_tokens: integer(rng),
        },
        1 => ExclusionReason::ScoredTooLow { score: number(rng), threshold: number(rng) },
        2 => ExclusionReason::Deduplicated { deduplicated_against: text(rng) },
        3 => ExclusionReason::QuotaCapExceeded {
            kind: text(rng),
            cap: integer(rng),
            actual: integer(rng),
        },
        4 => ExclusionReason::QuotaRequireDisplaced { displaced_by_kind: text(rng) },
        5 => ExclusionReason::NegativeTokens { tokens: integer(rng) },
        6 => ExclusionReason::PinnedOverride { displaced_by: text(rng) },
        7 => ExclusionReason::Filtered { filter_name: text(rng) },
        8 => ExclusionReason::CountCapExceeded {
            kind: text(rng),
            cap: rng.below(9),
            count: rng.below(9),
        },
        9 => ExclusionReason::CountRequireCandidatesExhausted { kind: text(rng) },
        _ => ExclusionReason::Unknown { name: "FromTheFuture".to_owned(), fields: fields(rng, 3) },
    }
}

fn event(rng: &mut Rng) -> TraceEvent {
    let stage = rng.pick(&STAGES);
    let mut event = TraceEvent::stage(stage, number(rng), rng.below(1_000));
    if rng.chance(30) {
        event.stage = PipelineStage::Unknown;
        event.unknown_stage = Some(format!("Stage {}", text(rng)));
    }
    if rng.chance(50) {
        event.message = Some(text(rng));
    }
    event
}

fn fields(rng: &mut Rng, depth: usize) -> Vec<(String, FieldValue)> {
    (0..rng.below(4)).map(|index| (format!("{}{index}", text(rng)), field(rng, depth))).collect()
}

fn field(rng: &mut Rng, depth: usize) -> FieldValue {
    match rng.below(if depth > 0 { 8 } else { 6 }) {
        0 => FieldValue::Null,
        1 => FieldValue::Bool(rng.chance(50)),
        2 => FieldValue::Integer(integer(rng)),
        3 => FieldValue::Unsigned(rng.pick(&[1 << 63, u64::MAX])),
        4 => FieldValue::Float(number_below(rng, 10.0)),
        5 => FieldValue::Text(text(rng)),
        6 => FieldValue::List((0..rng.below(4)).map(|_| field(rng, depth - 1)).collect()),
        _ => FieldValue::Map(fields(rng, depth - 1)),
    }
}

fn text(rng: &mut Rng) -> String {
    rng.pick(&["", "a", "Äther", "\"quoted\" \\ \n\t\u{0}", "\u{1f980}", "NaN", "null"]).to_owned()
}

fn integer(rng: &mut Rng) -> i64 {
    let small = i64::from(rng.next_u64() as u16);
    rng.pick(&[0, -1, small, -small, i64::MIN, i64::MAX, (1 << 53) + 1])
}

/// Any number at all.
fn number(rng: &mut Rng) -> f64 {
    let finite = number_below(rng, 1.0);
    let any = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, finite];
    rng.pick(&any)
}

/// A number with as many digits as it can have.
fn number_below(rng: &mut Rng, bound: f64) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 * bound
}
