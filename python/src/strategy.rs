//! Scorers, slicers and placers.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::TimeDelta;
use cupel::{
    Candidate, ChronologicalPlacer, CompositeScorer, ContextItem, ContextKind,
    CountConstrainedKnapsackSlice, CountQuotaEntry, CountQuotaSlice, CupelError, DecayCurve,
    DecayScorer, ExclusionReason, FixedClock, FrequencyScorer, GreedySlice, ItemList, KindScorer,
    KnapsackSlice, MetadataKeyScorer, MetadataTrustScorer, PriorityScorer, QuotaEntry, QuotaSlice,
    RecencyScorer, ReflexiveScorer, ScaledScorer, ScarcityBehavior, ScoredItem, SliceRequest,
    SystemTimeProvider, TagComparison, TagScorer, TimeProvider, UShapedPlacer,
};
use pyo3::prelude::*;

use crate::model::{Budget, Item, moment};
use crate::work::Abandoned;
use crate::{errors, fork, work};

/// Says how good items are.
#[pyclass(frozen, module = "cupel_context._native")]
#[derive(Clone)]
pub(crate) struct Scorer(pub(crate) Arc<dyn cupel::Scorer>);

fn scorer(strategy: impl cupel::Scorer + 'static) -> Scorer {
    Scorer(Arc::new(strategy))
}

fn failed(py: Python<'_>) -> impl Fn(CupelError) -> PyErr {
    move |error| errors::of_library(py, &error)
}

#[pymethods]
impl Scorer {
    #[staticmethod]
    fn recency() -> Self {
        scorer(RecencyScorer)
    }

    #[staticmethod]
    fn priority() -> Self {
        scorer(PriorityScorer)
    }

    #[staticmethod]
    fn frequency() -> Self {
        scorer(FrequencyScorer)
    }

    #[staticmethod]
    fn reflexive() -> Self {
        scorer(ReflexiveScorer)
    }

    #[staticmethod]
    #[pyo3(signature = (weights=None))]
    fn kind(py: Python<'_>, weights: Option<HashMap<String, f64>>) -> PyResult<Self> {
        let Some(weights) = weights else { return Ok(scorer(KindScorer::with_default_weights())) };
        let weights =
            weights.into_iter().map(|(kind, weight)| Ok((ContextKind::new(kind)?, weight)));
        let built = weights.collect::<Result<_, _>>().and_then(KindScorer::new);
        built.map(scorer).map_err(failed(py))
    }

    #[staticmethod]
    #[pyo3(signature = (weights, *, caseless=false))]
    fn tag(py: Python<'_>, weights: HashMap<String, f64>, caseless: bool) -> PyResult<Self> {
        let comparison = if caseless { TagComparison::AsciiCaseless } else { TagComparison::Exact };
        TagScorer::with_comparison(weights, comparison).map(scorer).map_err(failed(py))
    }

    #[staticmethod]
    fn composite(py: Python<'_>, scorers: Vec<(PyRef<'_, Self>, f64)>) -> PyResult<Self> {
        let parts = scorers.iter().map(|(scorer, weight)| {
            (Box::new(scorer.0.clone()) as Box<dyn cupel::Scorer>, *weight)
        });
        CompositeScorer::new(parts.collect()).map(scorer).map_err(failed(py))
    }

    #[staticmethod]
    fn scaled(inner: PyRef<'_, Self>) -> Self {
        scorer(ScaledScorer::new(Box::new(inner.0.clone())))
    }

    #[staticmethod]
    #[pyo3(signature = (default_score=0.5))]
    fn metadata_trust(py: Python<'_>, default_score: f64) -> PyResult<Self> {
        MetadataTrustScorer::new(default_score).map(scorer).map_err(failed(py))
    }

    #[staticmethod]
    fn metadata_key(py: Python<'_>, key: &str, value: &str, boost: f64) -> PyResult<Self> {
        MetadataKeyScorer::new(key, value, boost).map(scorer).map_err(failed(py))
    }

    /// A curve with its seconds, as `("exponential", [(seconds, 0.0)])`.
    #[staticmethod]
    #[pyo3(signature = (curve, steps, *, reference_time=None, null_timestamp_score=0.5))]
    fn decay(
        py: Python<'_>,
        curve: &str,
        steps: Vec<(f64, f64)>,
        reference_time: Option<Bound<'_, PyAny>>,
        null_timestamp_score: f64,
    ) -> PyResult<Self> {
        let steps = steps
            .into_iter()
            .map(|(seconds, score)| Ok((duration(py, seconds)?, score)))
            .collect::<PyResult<Vec<_>>>()?;
        let first = steps.first().map_or(TimeDelta::zero(), |(age, _)| *age);
        let curve = match curve {
            "exponential" => DecayCurve::exponential(first),
            "window" => DecayCurve::window(first),
            _ => DecayCurve::step(steps),
        };
        let clock: Box<dyn TimeProvider + Send + Sync> = match reference_time {
            Some(time) => Box::new(FixedClock(moment("reference_time", &time)?)),
            None => Box::new(SystemTimeProvider),
        };
        let built = curve.and_then(|curve| DecayScorer::new(clock, curve, null_timestamp_score));
        built.map(scorer).map_err(failed(py))
    }

    /// A scorer that is written in Python: from an item and all items to a number.
    #[staticmethod]
    #[pyo3(signature = (function, *, allow_nan=false))]
    fn custom(function: Py<PyAny>, allow_nan: bool) -> Self {
        scorer(CustomScorer { function, allow_nan })
    }

    /// The scores of items, judged together.
    fn score(&self, py: Python<'_>, items: Vec<PyRef<'_, Item>>) -> PyResult<Vec<f64>> {
        let items: Vec<ContextItem> = items.iter().map(|item| item.0.clone()).collect();
        let strategy = self.0.clone();
        work::run(py, true, move || {
            let mut scores = vec![f64::NAN; items.len()];
            strategy.score_all(&ItemList::new(&items), &mut scores);
            scores
        })
    }
}

/// A function of Python's that scores.
struct CustomScorer {
    function: Py<PyAny>,
    allow_nan: bool,
}

impl cupel::Scorer for CustomScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        let mut score = [f64::NAN];
        fork::in_python(|py| {
            let asked = Self::handles(py, all_items)
                .and_then(|handles| self.ask(py, &Py::new(py, Item(item.clone()))?, &handles));
            take(asked, &mut score[0]);
        });
        score[0]
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        fork::in_python(|py| {
            let handles = match Self::handles(py, items) {
                Ok(handles) => handles,
                Err(error) => return work::keep_raised(error),
            };
            let abandoned = Abandoned::here();
            for (handle, score) in handles.iter().zip(scores) {
                if abandoned.is_so() || !take(self.ask(py, handle, &handles), score) {
                    return;
                }
            }
        });
    }
}

impl CustomScorer {
    /// The items as Python's function sees them.
    fn handles(py: Python<'_>, items: &[ContextItem]) -> PyResult<Vec<Py<Item>>> {
        items.iter().map(|item| Py::new(py, Item(item.clone()))).collect()
    }

    fn ask(&self, py: Python<'_>, item: &Py<Item>, all_items: &[Py<Item>]) -> PyResult<f64> {
        let all_items = pyo3::types::PyTuple::new(py, all_items)?;
        let score: f64 = self.function.call1(py, (item, all_items))?.extract(py)?;
        if score.is_nan() && !self.allow_nan {
            let name = item.get().0.content().chars().take(40).collect::<String>();
            let rule = format!("the scorer returned NaN for the item {name:?}");
            return Err(errors::Problem::new("not-a-number", rule)
                .remedy("return a number, or allow NaN, which ranks last")
                .raise(py));
        }
        Ok(score)
    }
}

/// Takes a score, or keeps what was raised; `false` if there is no need to go on.
fn take(asked: PyResult<f64>, score: &mut f64) -> bool {
    match asked {
        Ok(number) => *score = number,
        Err(error) => {
            work::keep_raised(error);
            return false;
        }
    }
    true
}

/// Says which items fit.
#[pyclass(frozen, module = "cupel_context._native")]
#[derive(Clone)]
pub(crate) struct Slicer(pub(crate) Arc<dyn cupel::Slicer>);

/// Choice of a slicer: positions, those left out because of caps, and shortfalls.
type Sliced = (Vec<usize>, Vec<usize>, Vec<(String, usize, usize)>);

#[pymethods]
impl Slicer {
    #[staticmethod]
    fn greedy() -> Self {
        Self(Arc::new(GreedySlice))
    }

    #[staticmethod]
    #[pyo3(signature = (bucket_size=100))]
    fn knapsack(py: Python<'_>, bucket_size: i64) -> PyResult<Self> {
        KnapsackSlice::new(bucket_size).map(|slice| Self(Arc::new(slice))).map_err(failed(py))
    }

    /// Shares of the budget for kinds, in percent: `(kind, require, cap)`.
    #[staticmethod]
    #[pyo3(signature = (quotas, inner=None))]
    fn quota(
        py: Python<'_>,
        quotas: Vec<(String, f64, f64)>,
        inner: Option<PyRef<'_, Self>>,
    ) -> PyResult<Self> {
        let entries = quotas
            .into_iter()
            .map(|(kind, require, cap)| QuotaEntry::new(ContextKind::new(kind)?, require, cap));
        let entries = entries.collect::<Result<Vec<_>, _>>();
        let built = entries.and_then(|entries| QuotaSlice::new(entries, boxed(inner.as_deref())));
        built.map(|slice| Self(Arc::new(slice))).map_err(failed(py))
    }

    /// Numbers of items for kinds: `(kind, require, cap)`.
    #[staticmethod]
    #[pyo3(signature = (entries, inner=None, *, scarcity="degrade"))]
    fn count_quota(
        py: Python<'_>,
        entries: Vec<(String, usize, usize)>,
        inner: Option<PyRef<'_, Self>>,
        scarcity: &str,
    ) -> PyResult<Self> {
        let scarcity = self::scarcity(py, scarcity)?;
        let built = count_entries(entries)
            .and_then(|entries| CountQuotaSlice::new(entries, boxed(inner.as_deref()), scarcity));
        built.map(|slice| Self(Arc::new(slice))).map_err(failed(py))
    }

    #[staticmethod]
    #[pyo3(signature = (entries, *, bucket_size=100, scarcity="degrade"))]
    fn count_constrained_knapsack(
        py: Python<'_>,
        entries: Vec<(String, usize, usize)>,
        bucket_size: i64,
        scarcity: &str,
    ) -> PyResult<Self> {
        let scarcity = self::scarcity(py, scarcity)?;
        let built = count_entries(entries).and_then(|entries| {
            CountConstrainedKnapsackSlice::new(entries, KnapsackSlice::new(bucket_size)?, scarcity)
        });
        built.map(|slice| Self(Arc::new(slice))).map_err(failed(py))
    }

    /// Which of these fit; best first, with their scores.
    fn slice(
        &self,
        py: Python<'_>,
        items: Vec<PyRef<'_, Item>>,
        scores: Vec<f64>,
        budget: PyRef<'_, Budget>,
    ) -> PyResult<Sliced> {
        let (sorted, budget) = (scored(py, &items, &scores)?, budget.0.clone());
        let slicer = self.0.clone();
        let selected = work::run(py, true, move || {
            let candidates: Vec<Candidate<'_>> = sorted.iter().map(Candidate::from).collect();
            slicer.select(&SliceRequest::new(&candidates, &budget))
        })?;
        let selection = selected.map_err(failed(py))?;
        let is_cap =
            |reason: &ExclusionReason| matches!(reason, ExclusionReason::CountCapExceeded { .. });
        let capped = selection.excluded.iter().filter(|(_, why)| is_cap(why)).map(|(at, _)| *at);
        let lacked = selection.shortfalls.iter().map(|shortfall| {
            (shortfall.kind.clone(), shortfall.required_count, shortfall.satisfied_count)
        });
        Ok((selection.selected, capped.collect(), lacked.collect()))
    }
}

/// Says in which order.
#[pyclass(frozen, module = "cupel_context._native")]
#[derive(Clone)]
pub(crate) struct Placer(pub(crate) Arc<dyn cupel::Placer>);

#[pymethods]
impl Placer {
    #[staticmethod]
    fn chronological() -> Self {
        Self(Arc::new(ChronologicalPlacer))
    }

    #[staticmethod]
    fn u_shaped() -> Self {
        Self(Arc::new(UShapedPlacer))
    }

    /// The order of these, by position.
    fn place(
        &self,
        py: Python<'_>,
        items: Vec<PyRef<'_, Item>>,
        scores: Vec<f64>,
    ) -> PyResult<Vec<usize>> {
        let merged = scored(py, &items, &scores)?;
        let placer = self.0.clone();
        let arranged = work::run(py, true, move || {
            let candidates: Vec<Candidate<'_>> = merged.iter().map(Candidate::from).collect();
            placer.arrange(&candidates)
        })?;
        arranged.map_err(failed(py))
    }
}

fn boxed(inner: Option<&Slicer>) -> Box<dyn cupel::Slicer> {
    match inner {
        Some(inner) => Box::new(inner.0.clone()),
        None => Box::new(GreedySlice),
    }
}

fn scarcity(py: Python<'_>, name: &str) -> PyResult<ScarcityBehavior> {
    match name {
        "degrade" => Ok(ScarcityBehavior::Degrade),
        "throw" => Ok(ScarcityBehavior::Throw),
        other => {
            let rule = format!("must be \"degrade\" or \"throw\", got {other:?}");
            Err(errors::invalid_argument(py, "scarcity", rule))
        }
    }
}

fn count_entries(entries: Vec<(String, usize, usize)>) -> Result<Vec<CountQuotaEntry>, CupelError> {
    let entry = |(kind, require, cap): (String, usize, usize)| {
        CountQuotaEntry::new(ContextKind::new(kind)?, require, cap)
    };
    entries.into_iter().map(entry).collect()
}

fn scored(py: Python<'_>, items: &[PyRef<'_, Item>], scores: &[f64]) -> PyResult<Vec<ScoredItem>> {
    if items.len() != scores.len() {
        let rule = format!("must be one for each item, got {} for {}", scores.len(), items.len());
        return Err(errors::invalid_argument(py, "scores", rule));
    }
    let pairs = items.iter().zip(scores);
    Ok(pairs.map(|(item, score)| ScoredItem { item: item.0.clone(), score: *score }).collect())
}

/// Seconds, exact to the nanosecond.
fn duration(py: Python<'_>, seconds: f64) -> PyResult<TimeDelta> {
    let whole = seconds.floor();
    let fraction = ((seconds - whole) * 1e9).round();
    let is_sane = whole.is_finite() && whole.abs() < i64::MAX as f64;
    let duration = is_sane.then(|| TimeDelta::new(whole as i64, 0)).flatten();
    let duration =
        duration.and_then(|whole| whole.checked_add(&TimeDelta::nanoseconds(fraction as i64)));
    duration.ok_or_else(|| {
        let error = CupelError::ScorerConfig(format!("no duration has {seconds} seconds"));
        errors::of_library(py, &error)
    })
}
