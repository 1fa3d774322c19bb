//! A report as text or data that is the same for the same selection.

use std::fmt;

use cupel::{ContextItem, CountRequirementShortfall, SelectionReport, compare_scores};

/// A report without what changes from run to run.
///
/// See [`ReportSnapshot`].
///
/// # Example
///
/// ```
/// use cupel_testing::{item, report, snapshot};
///
/// let report = report()
///     .included(item("be brief", 5).kind("SystemPrompt").pinned())
///     .over_budget(item("a whole book", 9_000).kind("Document").score(0.7), 95)
///     .build();
/// assert_eq!(
///     snapshot(&report).to_string(),
///     r#"candidates=2 tokens=9005
/// included: 1
///   SystemPrompt "be brief" tokens=5 score=1 reason=Pinned
/// excluded: 1
///   Document "a whole book" tokens=9000 score=0.7 reason=BudgetExceeded: 9000 tokens requested, 95 available"#,
/// );
/// ```
#[must_use]
pub fn snapshot(report: &SelectionReport) -> ReportSnapshot {
    let included = report.included.iter().map(|included| Entry {
        item: included.item.clone(),
        score: included.score,
        reason: included.reason.to_string(),
    });
    let excluded = report.excluded.iter().map(|excluded| Entry {
        item: excluded.item.clone(),
        score: excluded.score,
        reason: excluded.reason.to_string(),
    });
    // An event with a message is about one item, and the lists tell that already.
    let stages = report.events.iter().filter(|event| event.message.is_none()).map(|event| Stage {
        stage: event.unknown_stage.clone().unwrap_or_else(|| event.stage.to_string()),
        item_count: event.item_count,
    });
    ReportSnapshot {
        total_candidates: report.total_candidates,
        total_tokens_considered: report.total_tokens_considered,
        stages: stages.collect(),
        included: included.collect(),
        excluded: excluded.collect(),
        count_requirement_shortfalls: report
            .count_requirement_shortfalls
            .iter()
            .map(Shortfall::from)
            .collect(),
        tokens_over_budget: report.overflow.as_ref().map(|overflow| overflow.tokens_over_budget),
    }
}

/// A report without what changes from run to run, to be compared with an earlier one.
///
/// It holds the totals, how many items left each stage, both lists with kind, text, tokens, score
/// and reason of each item, shortfalls and overflow. It does not hold durations or the events of
/// single items, so it does not depend on the level of detail at which the run was recorded.
///
/// - [`Display`](fmt::Display) gives one line per item; of long texts, only the beginning.
/// - With the feature `serde` it is `Serialize`, with whole texts. Scores that are not finite are
///   written as `"NaN"`, `"Infinity"` and `"-Infinity"`.
///
/// Both work with the macros of `insta`.
///
/// # Order
///
/// Items stand as they stand in the report: included ones as placed; excluded ones by score, and
/// among equal scores first by the stage that left them out, then as the candidates were given.
/// A report does not hold the list of candidates; hand it to
/// [`ties_in_order_of`](Self::ties_in_order_of) and equal scores stand in that order whatever the
/// stage.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ReportSnapshot {
    total_candidates: usize,
    total_tokens_considered: i64,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    stages: Vec<Stage>,
    included: Vec<Entry>,
    excluded: Vec<Entry>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    count_requirement_shortfalls: Vec<Shortfall>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    tokens_over_budget: Option<i64>,
}

impl ReportSnapshot {
    /// Rounds all scores, for scorers whose last digits depend on the machine's mathematics.
    ///
    /// Details within a reason stay as they are.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::{item, report, snapshot};
    ///
    /// let report = report().included(item("a", 1).score(2.0 / 3.0)).build();
    /// assert!(snapshot(&report).rounded_to(3).to_string().contains("score=0.667"));
    /// ```
    #[must_use]
    pub fn rounded_to(mut self, decimals: usize) -> Self {
        for entry in self.included.iter_mut().chain(&mut self.excluded) {
            entry.score = rounded(entry.score, decimals);
        }
        self
    }

    /// Puts excluded items of equal score in the order in which the candidates were given.
    ///
    /// Call it after [`rounded_to`](Self::rounded_to): what rounding made equal is then ordered
    /// too. An item that is not among the candidates comes after those that are.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::{item, report, snapshot};
    ///
    /// let candidates = [item("a", 80).build(), item("b", 90).build()];
    /// let scored = candidates.clone().map(|item| cupel::ScoredItem { item, score: 0.5 });
    /// let [a, b] = scored;
    /// let report = report().over_budget(b, 40).over_budget(a, 40).build();
    /// let text = snapshot(&report).ties_in_order_of(&candidates).to_string();
    /// assert!(text.find("\"a\"") < text.find("\"b\""));
    /// ```
    #[must_use]
    pub fn ties_in_order_of(mut self, candidates: &[ContextItem]) -> Self {
        let position = |entry: &Entry| {
            let found = candidates.iter().position(|item| item.is_same_item(&entry.item));
            found.unwrap_or(candidates.len())
        };
        for tied in self.excluded.chunk_by_mut(|a, b| compare_scores(a.score, b.score).is_eq()) {
            if tied.len() > 1 {
                tied.sort_by_cached_key(position);
            }
        }
        self
    }
}

/// Rounded as it would be printed; never a negative zero.
fn rounded(score: f64, decimals: usize) -> f64 {
    let printed = format!("{score:.decimals$}");
    printed.parse().unwrap_or(score) + 0.0
}

impl fmt::Display for ReportSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { total_candidates, total_tokens_considered, .. } = self;
        write!(f, "candidates={total_candidates} tokens={total_tokens_considered}")?;
        if !self.stages.is_empty() {
            f.write_str("\nstages:")?;
            for Stage { stage, item_count } in &self.stages {
                write!(f, " {stage}={item_count}")?;
            }
        }
        for (name, entries) in [("included", &self.included), ("excluded", &self.excluded)] {
            write!(f, "\n{name}: {}", entries.len())?;
            for entry in entries {
                write!(f, "\n  {entry}")?;
            }
        }
        if !self.count_requirement_shortfalls.is_empty() {
            write!(f, "\nshortfalls: {}", self.count_requirement_shortfalls.len())?;
            for Shortfall { kind, required_count, satisfied_count } in
                &self.count_requirement_shortfalls
            {
                write!(f, "\n  {kind} required={required_count} satisfied={satisfied_count}")?;
            }
        }
        if let Some(tokens) = self.tokens_over_budget {
            write!(f, "\nover budget: {tokens}")?;
        }
        Ok(())
    }
}

/// Number of items that left a stage.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
struct Stage {
    stage: String,
    item_count: usize,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
struct Shortfall {
    kind: String,
    required_count: usize,
    satisfied_count: usize,
}

impl From<&CountRequirementShortfall> for Shortfall {
    fn from(shortfall: &CountRequirementShortfall) -> Self {
        Self {
            kind: shortfall.kind.clone(),
            required_count: shortfall.required_count,
            satisfied_count: shortfall.satisfied_count,
        }
    }
}

/// An item, in or out.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    item: ContextItem,
    score: f64,
    reason: String,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { item, score, reason } = self;
        let text = excerpt(item.content());
        write!(f, "{} {text:?} tokens={} score={score} reason={reason}", item.kind(), item.tokens())
    }
}

/// The beginning of a text.
fn excerpt(text: &str) -> String {
    const LIMIT: usize = 60;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Entry {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;

        let mut entry = serializer.serialize_struct("Entry", 5)?;
        entry.serialize_field("kind", self.item.kind().as_str())?;
        entry.serialize_field("content", self.item.content())?;
        entry.serialize_field("tokens", &self.item.tokens())?;
        match self.score {
            score if score.is_finite() => entry.serialize_field("score", &score)?,
            score if score.is_nan() => entry.serialize_field("score", "NaN")?,
            f64::INFINITY => entry.serialize_field("score", "Infinity")?,
            _ => entry.serialize_field("score", "-Infinity")?,
        }
        entry.serialize_field("reason", &self.reason)?;
        entry.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{budget, item, report};
    use cupel::{
        ChronologicalPlacer, DiagnosticTraceCollector, GreedySlice, Pipeline, PipelineStage,
        ReflexiveScorer, ScoredItem, TraceDetailLevel, TraceEvent,
    };

    fn traced(level: TraceDetailLevel) -> SelectionReport {
        let pipeline = Pipeline::builder()
            .scorer(ReflexiveScorer)
            .slicer(GreedySlice)
            .placer(ChronologicalPlacer)
            .build()
            .unwrap();
        let items = [item("a", 10).score(0.9).build(), item("b", 95).score(0.5).build()];
        let mut collector = DiagnosticTraceCollector::new(level);
        pipeline.run_traced(&items, &budget(100), &mut collector).unwrap();
        collector.into_report()
    }

    #[test]
    fn neither_durations_nor_the_level_of_detail_show() {
        let report = traced(TraceDetailLevel::Stage);
        let mut slower = traced(TraceDetailLevel::Item);
        for event in &mut slower.events {
            event.duration_ms += 1_000.0;
        }
        let (first, second) = (snapshot(&report), snapshot(&slower));
        assert_eq!(first.to_string(), second.to_string());
        assert_eq!(first.stages, second.stages);
    }

    #[test]
    fn a_stage_that_the_library_does_not_know_keeps_its_name() {
        let mut report = report().build();
        let mut event = TraceEvent::stage(PipelineStage::Unknown, 1.5, 3);
        event.unknown_stage = Some("Rerank".into());
        report.events = vec![TraceEvent::stage(PipelineStage::Score, 0.5, 4), event];
        assert!(snapshot(&report).to_string().contains("\nstages: Score=4 Rerank=3\n"));
    }

    #[test]
    fn ties_follow_the_candidates_and_better_scores_stay_ahead() {
        let candidates = ["a", "b", "c", "d"].map(|text| item(text, 9).build());
        let scored = |at: usize, score| ScoredItem { item: candidates[at].clone(), score };
        let report = report()
            .over_budget(scored(3, 0.9), 0)
            .over_budget(item("stranger", 9).score(0.5), 0)
            .over_budget(scored(2, 0.5), 0)
            .over_budget(scored(0, 0.5), 0)
            .over_budget(scored(1, 0.5 - 1e-12), 0)
            .build();
        let texts = |snapshot: &ReportSnapshot| -> Vec<String> {
            snapshot.excluded.iter().map(|entry| entry.item.content().to_owned()).collect()
        };
        let plain = snapshot(&report);
        assert_eq!(texts(&plain), ["d", "stranger", "c", "a", "b"]);
        let ordered = plain.clone().ties_in_order_of(&candidates);
        assert_eq!(texts(&ordered), ["d", "a", "c", "stranger", "b"]);
        let ordered = plain.rounded_to(6).ties_in_order_of(&candidates);
        assert_eq!(texts(&ordered), ["d", "a", "b", "c", "stranger"]);
    }

    #[test]
    fn items_of_equal_text_keep_their_own_places() {
        let candidates = [item("same", 1).build(), item("same", 2).build()];
        let report = report()
            .over_budget(ScoredItem { item: candidates[1].clone(), score: 0.0 }, 0)
            .over_budget(ScoredItem { item: candidates[0].clone(), score: 0.0 }, 0)
            .build();
        let ordered = snapshot(&report).ties_in_order_of(&candidates);
        let tokens: Vec<_> = ordered.excluded.iter().map(|entry| entry.item.tokens()).collect();
        assert_eq!(tokens, [1, 2]);
    }

    #[test]
    fn rounding_leaves_no_negative_zero_and_keeps_what_is_not_finite() {
        assert_eq!(rounded(2.0 / 3.0, 4), 0.6667);
        assert!(rounded(-0.000_1, 2).is_sign_positive());
        assert!(rounded(f64::NAN, 2).is_nan());
        assert_eq!(rounded(f64::NEG_INFINITY, 2), f64::NEG_INFINITY);
    }

    #[test]
    fn long_texts_are_cut_between_characters_and_stay_on_one_line() {
        let text = format!("é\n\"{}", "é".repeat(100));
        let report = report().included(item(text, 1)).build();
        let shown = snapshot(&report).to_string();
        assert!(shown.contains(&format!(r#""é\n\"{}…" tokens=1"#, "é".repeat(57))), "{shown}");
        assert_eq!(shown.lines().count(), 4);
    }
}
