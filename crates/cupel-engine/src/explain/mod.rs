//! Explanations of a window: what is in, what is not, and why.

mod room;
mod shortfall;
mod why;

use cupel::{
    ContextBudget, ExcludedItem, ExclusionReason, IncludedItem, InclusionReason, Pipeline, Ranking,
    SelectionReport,
};
use cupel::{SliceExplanation, SliceSignal};
use cupel_relevance::Highlights;
use serde::{Deserialize, Serialize};

pub use shortfall::ToGetIn;
pub use why::Why;

use crate::scan::Scan;
use crate::select::of_report;
use crate::{
    EngineError, FittedTool, Outdated, Part, Prepared, RepairDone, Schema, ShortenedText, Summary,
    UnusedRendering,
};
use room::Room;
use shortfall::Shortfalls;
pub(crate) use shortfall::{pinned, plain_room, slots, window};
pub(crate) use why::Reasons;

/// Explanation of a window: what is in, what is not, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Explanation {
    /// `cupel/1`.
    pub schema: Schema,
    /// Sizes before and after, and what they were measured with.
    pub summary: Summary,
    /// Query that the window is for.
    pub query: String,
    /// The language whose stems and stop words were taken; absent where none was sure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Signals of the request as a whole that the policy went by, if it tells them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Signal>,
    /// Messages in the window, in the order in which they are written.
    pub kept: Vec<Kept>,
    /// Messages that were left out, best first.
    pub left_out: Vec<LeftOut>,
    /// Number of messages that were left out and are not listed.
    pub hidden: usize,
    /// Fate of each tool, in the order of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<FittedTool>,
    /// Shorter forms that were given and are of no use, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused_renderings: Vec<UnusedRendering>,
    /// Repairs before the selection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<RepairDone>,
    /// Messages that did not compete, since something newer makes them superfluous.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<Outdated>,
}

/// Something about the request as a whole that the policy went by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Signal {
    /// A stable name.
    pub name: String,
    /// Strength of the signal.
    #[serde(with = "crate::finite")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub value: f64,
    /// Meaning of the signal.
    pub text: String,
}

impl From<SliceSignal> for Signal {
    fn from(SliceSignal { name, value, text }: SliceSignal) -> Self {
        Self { name: name.to_owned(), value, text }
    }
}

/// Something in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Kept {
    /// Message, or bundle of messages.
    pub part: Part,
    /// Score by the policy; 1 if it is pinned; `null` if that is not a finite number.
    #[serde(with = "crate::finite")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub score: f64,
    /// Gain of the window by it, beside the others, in the policy's own measure, if it tells that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// Why it is in.
    pub reason: KeptReason,
    /// The rule that keeps it before the rest competes, in a few words: `a rule of the user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_for: Option<String>,
    /// The positions of what else is in and could not be without it, unless it is always in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needed_by: Vec<usize>,
    /// Shorter form in which it is sent, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortened: Option<ShortenedPart>,
    /// Reasons for its score.
    pub earned_by: EarnedBy,
}

/// Shorter form of something in the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ShortenedPart {
    /// Name of the form, as in `json 18 %`.
    pub name: String,
    /// Tokens of the form.
    pub tokens: i64,
    /// The texts that are shorter, in the order of the request.
    pub texts: Vec<ShortenedText>,
    /// The smallest larger budget, with nothing set aside, whose window has it whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_at: Option<i64>,
}

/// Why something is in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum KeptReason {
    /// Its score earned it a place.
    Scored,
    /// It is always in; its part says why.
    Pinned,
    /// It costs nothing.
    ZeroToken,
    /// A rule of the policy keeps it before the rest competes; `kept_for` says which.
    KeptFirst,
    /// Its score earned it a place, in a shorter form.
    Shortened,
}

/// Something that was left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LeftOut {
    /// Message, or bundle of messages.
    pub part: Part,
    /// Score by the policy; `null` if that is not a finite number.
    #[serde(with = "crate::finite")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub score: f64,
    /// Gain that the window would have by it, beside the others, in the policy's own measure, if it tells that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// Why it is out.
    pub why: Why,
    /// A note of the policy on it, in a few words: `small talk`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Tokens or budget with which it would get in.
    pub to_get_in: ToGetIn,
    /// The positions of the kept candidates that have its room: the lowest scored ones that
    /// together are as large, the lowest first.
    pub room_taken_by: Vec<usize>,
    /// Reasons for its score.
    pub earned_by: EarnedBy,
}

/// Reasons for a candidate's score, as far as the policy tells them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EarnedBy {
    /// Words of the query that it has too, those that earned most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Beginnings of the neighbours that share their score with it, those that gave most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<String>,
}

impl Prepared {
    /// Explains what is in the window, what is not, and why; of the messages that were left out at most so many.
    ///
    /// # Errors
    ///
    /// If nothing says how much fits, or what must be kept does not fit.
    pub fn explain(&self, most_left_out: usize) -> Result<Explanation, EngineError> {
        let budget = self.budget()?;
        self.judged_for(budget, |judge| self.explain_by(judge, budget, most_left_out))
    }

    fn explain_by(
        &self,
        pipeline: &Pipeline,
        budget: &ContextBudget,
        most_left_out: usize,
    ) -> Result<Explanation, EngineError> {
        let failed = |error| self.failed(error);
        let ranking = pipeline.rank(self.items()).map_err(failed)?;
        let report = ranking.report(budget).map_err(failed)?;
        let shown = most_left_out.min(report.excluded.len());
        let sliced = ranking.explain_slice(budget).map_err(failed)?;
        let view = View::new(self, &ranking, &report, shown, sliced.as_ref())?;
        let kept = of_report(&report);
        let mut rows: Vec<Kept> =
            report.included.iter().filter_map(|kept| view.kept(kept)).collect();
        if !self.request().format().has_free_order() {
            rows.sort_by_key(|kept| kept.part.position);
        }
        let language = sliced
            .as_ref()
            .and_then(|_| self.language())
            .map(|language| language.name().to_owned());
        let signals = sliced.iter().flat_map(|sliced| sliced.signals.iter().cloned());
        Ok(Explanation {
            schema: Schema,
            language,
            signals: signals.map(Signal::from).collect(),
            summary: self.summary(&kept)?,
            query: self.query().to_owned(),
            kept: rows,
            left_out: report
                .excluded
                .iter()
                .take(shown)
                .filter_map(|out| view.left_out(out))
                .collect(),
            hidden: report.excluded.len() - shown,
            tools: self.fitted_tools(),
            unused_renderings: self.read.unused.clone(),
            repairs: self.read.repairs.clone(),
            superseded: self.read.superseded.clone(),
        })
    }
}

/// Source of the rows.
struct View<'a> {
    prepared: &'a Prepared,
    earned_by: Vec<EarnedBy>,
    reasons: Reasons<'a>,
    room: Room,
    shortfalls: Option<Shortfalls>,
    sliced: Option<&'a SliceExplanation>,
    /// For each candidate what is in and needs it.
    needed_by: Vec<Vec<usize>>,
}

impl<'a> View<'a> {
    fn new(
        prepared: &'a Prepared,
        ranking: &Ranking<'_, '_>,
        report: &'a SelectionReport,
        shown: usize,
        sliced: Option<&'a SliceExplanation>,
    ) -> Result<Self, EngineError> {
        let budget = prepared.budget()?;
        let is_shortened = report.included.iter().any(|included| included.rendering.is_some());
        let shortfalls = if shown > 0 || is_shortened {
            let current = shortfall::plain(prepared.items(), budget);
            let asked = report.excluded.iter().take(shown).filter_map(|out| out.position);
            let scan = Scan::above(prepared, ranking, current, &asked.collect::<Vec<_>>())?;
            Some(Shortfalls::new(prepared, budget, scan))
        } else {
            None
        };
        Ok(Self {
            prepared,
            earned_by: earned_by(prepared, ranking, report, shown),
            reasons: Reasons::new(prepared, report, budget),
            room: Room::new(report, budget),
            shortfalls,
            sliced,
            needed_by: needed_by(prepared, report),
        })
    }

    /// Gain of the window by a candidate, if the policy tells it.
    fn gain(&self, position: usize) -> Option<f64> {
        self.sliced?.gain(position).filter(|gain| gain.is_finite())
    }

    /// The rule that keeps a candidate before the rest competes.
    fn kept_for(&self, position: usize) -> Option<String> {
        let kept = self.sliced?.reserved.iter().find(|kept| kept.position == position)?;
        Some(kept.why.clone())
    }

    /// Returns the policy's note on a candidate.
    fn note(&self, position: usize) -> Option<String> {
        let (_, note) = self.sliced?.notes.iter().find(|(at, _)| *at == position)?;
        Some(note.clone())
    }

    fn kept(&self, included: &IncludedItem) -> Option<Kept> {
        let position = included.position?;
        let kept_for = self.kept_for(position);
        Some(Kept {
            part: Part::of(self.prepared.candidates(), position),
            score: included.score,
            gain: self.gain(position),
            reason: match included.reason {
                InclusionReason::Pinned => KeptReason::Pinned,
                _ if kept_for.is_some() => KeptReason::KeptFirst,
                InclusionReason::ZeroToken => KeptReason::ZeroToken,
                InclusionReason::Shortened => KeptReason::Shortened,
                _ => KeptReason::Scored,
            },
            kept_for,
            needed_by: self.needed_by[position].clone(),
            shortened: self.shortened(position, included.rendering),
            earned_by: self.earned_by[position].clone(),
        })
    }

    fn shortened(&self, position: usize, rendering: Option<usize>) -> Option<ShortenedPart> {
        let form = self.prepared.items()[position].renderings().get(rendering?)?;
        Some(ShortenedPart {
            name: form.name().to_owned(),
            tokens: form.tokens(),
            texts: self.prepared.shortened(&[(position, rendering)]),
            whole_at: self.shortfalls.as_ref().and_then(|shortfalls| shortfalls.whole_at(position)),
        })
    }

    fn left_out(&self, excluded: &ExcludedItem) -> Option<LeftOut> {
        let position = excluded.position?;
        // With what it needs.
        let tokens = match excluded.reason {
            ExclusionReason::BudgetExceeded { item_tokens, .. } => item_tokens,
            _ => excluded.item.tokens(),
        };
        Some(LeftOut {
            part: Part::of(self.prepared.candidates(), position),
            score: excluded.score,
            gain: self.gain(position),
            why: self.reasons.of(excluded),
            note: self.note(position),
            to_get_in: self.shortfalls.as_ref()?.of(position),
            room_taken_by: self.room.taken_from(tokens),
            earned_by: self.earned_by[position].clone(),
        })
    }
}

/// For each candidate that is not always in what is in and needs it, ascending.
fn needed_by(prepared: &Prepared, report: &SelectionReport) -> Vec<Vec<usize>> {
    let mut needed_by = vec![Vec::new(); prepared.items().len()];
    let mut kept: Vec<usize> = report.included.iter().filter_map(|kept| kept.position).collect();
    kept.sort_unstable();
    for at in kept {
        let needed = prepared.needs().of(at).iter();
        for needed in needed.filter(|needed| !prepared.items()[**needed].pinned()) {
            needed_by[*needed].push(at);
        }
    }
    needed_by
}

/// The words and neighbours that earned candidates their scores; for those that are not shown,
/// nothing.
fn earned_by(
    prepared: &Prepared,
    ranking: &Ranking<'_, '_>,
    report: &SelectionReport,
    shown: usize,
) -> Vec<EarnedBy> {
    let kept = report.included.iter().filter_map(|kept| kept.position);
    let left_out = report.excluded.iter().take(shown).filter_map(|out| out.position);
    let asked: Vec<usize> = kept.chain(left_out).collect();
    earned_by_at(ranking, &asked, prepared.items().len())
}

/// The words and neighbours that earned these of so many candidates their scores.
pub(crate) fn earned_by_at(
    ranking: &Ranking<'_, '_>,
    asked: &[usize],
    count: usize,
) -> Vec<EarnedBy> {
    let mut earned = vec![EarnedBy::default(); count];
    for (position, explanation) in asked.iter().zip(ranking.explain(asked)) {
        if let Some(explanation) = explanation {
            let Highlights { words, neighbours, .. } = Highlights::of(&explanation);
            earned[*position] = EarnedBy { words, neighbours };
        }
    }
    earned
}
