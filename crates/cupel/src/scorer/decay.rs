use std::fmt;

use chrono::{DateTime, Duration, Utc};

use super::{Scorer, weight};
use crate::clock::TimeProvider;
use crate::{ContextItem, CupelError, ItemList};

/// Curve by which a score falls with age.
///
/// The variants are public, so a curve can be made without its checks; [`DecayScorer::new`]
/// makes up for that.
#[derive(Debug, Clone, PartialEq)]
pub enum DecayCurve {
    /// Halves with every half-life: `2^(−age / half-life)`.
    Exponential(Duration),
    /// 1.0 while younger than the given age, 0.0 from then on.
    Window(Duration),
    /// The score of the first window that is longer than the age; that of the last, if none is.
    Step(Vec<(Duration, f64)>),
}

impl DecayCurve {
    /// Halves with every `half_life`.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if `half_life` is zero or negative.
    pub fn exponential(half_life: Duration) -> Result<Self, CupelError> {
        Self::Exponential(half_life).checked()
    }

    /// 1.0 while younger than `max_age`, 0.0 from then on.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if `max_age` is zero or negative.
    pub fn window(max_age: Duration) -> Result<Self, CupelError> {
        Self::Window(max_age).checked()
    }

    /// Steps from youngest to oldest, each with its greatest age and its score.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if there is no window, if ages are not positive and strictly
    /// ascending, or if a score is not within 0.0 and 1.0.
    pub fn step(windows: Vec<(Duration, f64)>) -> Result<Self, CupelError> {
        Self::Step(windows).checked()
    }

    fn checked(self) -> Result<Self, CupelError> {
        match &self {
            Self::Exponential(half_life) => require_positive("halfLife", *half_life)?,
            Self::Window(max_age) => require_positive("maxAge", *max_age)?,
            Self::Step(windows) => check_windows(windows)?,
        }
        Ok(self)
    }

    /// The score at an age that is not negative.
    fn at(&self, age: Duration) -> f64 {
        match self {
            Self::Exponential(half_life) => 2.0_f64.powf(-seconds(age) / seconds(*half_life)),
            Self::Window(max_age) => f64::from(u8::from(age < *max_age)),
            Self::Step(windows) => {
                // Ages ascend, so the first window that is longer is found by bisection.
                let longer = windows.partition_point(|(max_age, _)| *max_age <= age);
                windows.get(longer).or(windows.last()).map_or(0.0, |(_, score)| *score)
            }
        }
    }
}

fn require_positive(field: impl fmt::Display, duration: Duration) -> Result<(), CupelError> {
    if duration > Duration::zero() {
        return Ok(());
    }
    Err(CupelError::ScorerConfig(format!("{field}: must be positive, got {duration}")))
}

fn check_windows(windows: &[(Duration, f64)]) -> Result<(), CupelError> {
    if windows.is_empty() {
        return Err(CupelError::ScorerConfig("windows: at least one window is required".into()));
    }
    for (index, (max_age, score)) in windows.iter().enumerate() {
        require_positive(format_args!("windows[{index}].maxAge"), *max_age)?;
        weight::require_unit(format_args!("windows[{index}].score"), *score)?;
        if index > 0 && windows[index - 1].0 >= *max_age {
            return Err(CupelError::ScorerConfig(format!(
                "windows[{index}].maxAge: must be greater than the one before, got {max_age} \
                 after {}",
                windows[index - 1].0
            )));
        }
    }
    Ok(())
}

fn seconds(duration: Duration) -> f64 {
    duration.num_seconds() as f64 + f64::from(duration.subsec_nanos()) / 1e9
}

/// Prefers fresh items by how long ago they were made, measured by a clock that you hand in.
///
/// **When to choose it:** age itself matters: yesterday's stock price is worth half of today's.
/// For mere order, use [`RecencyScorer`](crate::RecencyScorer).
///
/// **Steps:** age is the time from the item's timestamp to the clock's now, at least zero; the
/// [`DecayCurve`] turns it into a score.
///
/// **Ties and edge cases:** an item dated in the future counts as brand-new. An item without a
/// timestamp gets the score that you choose for it (0.5 is neutral). An age exactly at the end of
/// a window is outside it. Durations keep their full precision.
///
/// **Cost:** one pass; the clock is read once for a whole list.
///
/// # Example
///
/// ```
/// use chrono::Duration;
/// use cupel::{ContextItemBuilder, DecayCurve, DecayScorer, FixedClock, Scorer};
///
/// let clock = FixedClock("2025-01-02T12:00:00Z".parse().unwrap());
/// let curve = DecayCurve::exponential(Duration::hours(24))?;
/// let scorer = DecayScorer::new(Box::new(clock), curve, 0.5)?;
/// let item = ContextItemBuilder::new("a day old", 3)
///     .timestamp("2025-01-01T12:00:00Z".parse().unwrap())
///     .build()?;
/// assert_eq!(scorer.score(&item, &[]), 0.5);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Scorers, `DecayScorer`.
pub struct DecayScorer {
    provider: Box<dyn TimeProvider + Send + Sync>,
    curve: DecayCurve,
    null_timestamp_score: f64,
    follows_run: bool,
}

impl DecayScorer {
    /// Decays by `curve` from the moment that `provider` names. Items without a timestamp get
    /// `null_timestamp_score`.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the curve breaks its rules or `null_timestamp_score` is
    /// not within 0.0 and 1.0.
    pub fn new(
        provider: Box<dyn TimeProvider + Send + Sync>,
        curve: DecayCurve,
        null_timestamp_score: f64,
    ) -> Result<Self, CupelError> {
        weight::require_unit("nullTimestampScore", null_timestamp_score)?;
        let curve = curve.checked()?;
        Ok(Self { provider, curve, null_timestamp_score, follows_run: false })
    }

    /// Measures ages from the time of the [run](crate::RunContext::at), where it has one.
    #[must_use]
    pub fn following_run(mut self) -> Self {
        self.follows_run = true;
        self
    }

    fn score_at(&self, now: DateTime<Utc>, item: &ContextItem) -> f64 {
        match item.timestamp() {
            Some(timestamp) => {
                let age = now.signed_duration_since(timestamp);
                self.curve.at(age.max(Duration::zero()))
            }
            None => self.null_timestamp_score,
        }
    }
}

impl Scorer for DecayScorer {
    fn score(&self, item: &ContextItem, _all_items: &[ContextItem]) -> f64 {
        self.score_at(self.provider.now(), item)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        let of_run = items.context().now().filter(|_| self.follows_run);
        let now = of_run.unwrap_or_else(|| self.provider.now());
        for (item, score) in items.iter().zip(scores) {
            *score = self.score_at(now, item);
        }
    }
}

impl fmt::Debug for DecayScorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecayScorer")
            .field("curve", &self.curve)
            .field("null_timestamp_score", &self.null_timestamp_score)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::super::testing::{build, item, scores};
    use super::*;
    use crate::FixedClock;

    fn noon() -> DateTime<Utc> {
        "2025-01-01T12:00:00Z".parse().unwrap()
    }

    /// Scores of items of the given ages at the fixed reference time.
    fn at(curve: Result<DecayCurve, CupelError>, ages: &[Duration]) -> Vec<f64> {
        let scorer = DecayScorer::new(Box::new(FixedClock(noon())), curve.unwrap(), 0.5).unwrap();
        let items = ages.iter().map(|age| item("x").timestamp(noon() - *age));
        scores(&scorer, &build(items.collect()))
    }

    #[test]
    fn ages_are_measured_from_the_time_of_the_run_by_those_who_follow_it() {
        let window = || DecayCurve::Window(hours(2));
        let own = || DecayScorer::new(Box::new(FixedClock(noon())), window(), 0.5).unwrap();
        let items = build(vec![item("x").timestamp(noon() - hours(1))]);
        let later = crate::RunContext::new().at(noon() + hours(3));
        let in_run = ItemList::new(&items).in_context(&later);
        let score = |scorer: DecayScorer, items: &ItemList<'_>| {
            let mut scores = [f64::NAN];
            scorer.score_all(items, &mut scores);
            scores[0]
        };
        assert_eq!((score(own(), &in_run), score(own().following_run(), &in_run)), (1.0, 0.0));
        assert_eq!(score(own().following_run(), &ItemList::new(&items)), 1.0);
    }

    fn hours(hours: i64) -> Duration {
        Duration::hours(hours)
    }

    fn steps() -> Result<DecayCurve, CupelError> {
        DecayCurve::step(vec![(hours(1), 0.9), (hours(24), 0.5), (hours(72), 0.1)])
    }

    #[test]
    fn exponential_halves_with_every_half_life() {
        let ages = [hours(0), hours(24), hours(48)];
        assert_eq!(at(DecayCurve::exponential(hours(24)), &ages), [1.0, 0.5, 0.25]);
    }

    #[test]
    fn exponential_of_a_huge_age_approaches_zero_and_is_never_negative() {
        let score = at(DecayCurve::exponential(Duration::nanoseconds(1)), &[hours(1_000_000)]);
        assert_eq!(score, [0.0]);
    }

    #[test]
    fn a_future_item_is_as_fresh_as_can_be() {
        let future = [-hours(12)];
        assert_eq!(at(DecayCurve::exponential(hours(24)), &future), [1.0]);
        assert_eq!(at(steps(), &future), [0.9]);
        assert_eq!(at(DecayCurve::window(hours(1)), &future), [1.0]);
    }

    #[test]
    fn an_item_without_timestamp_gets_the_configured_score() {
        let clock = Box::new(FixedClock(noon()));
        let scorer = DecayScorer::new(clock, steps().unwrap(), 0.25).unwrap();
        assert_eq!(scores(&scorer, &build(vec![item("x")])), [0.25]);
    }

    #[test]
    fn a_step_ends_just_before_its_age_and_the_last_one_never() {
        let ages = [hours(0), hours(1), hours(6), hours(24), hours(72), hours(9_000)];
        assert_eq!(at(steps(), &ages), [0.9, 0.5, 0.5, 0.1, 0.1, 0.1]);
        let just_before = [hours(1) - Duration::nanoseconds(1)];
        assert_eq!(at(steps(), &just_before), [0.9]);
    }

    #[test]
    fn a_window_ends_just_before_its_age() {
        let ages = [hours(0), hours(6) - Duration::nanoseconds(1), hours(6), hours(7)];
        assert_eq!(at(DecayCurve::window(hours(6)), &ages), [1.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn half_lives_below_a_millisecond_keep_their_precision() {
        let half_life = Duration::microseconds(500);
        assert_eq!(at(DecayCurve::exponential(half_life), &[half_life]), [0.5]);
    }

    #[test]
    fn durations_that_are_not_positive_are_refused_by_name() {
        for bad in [Duration::zero(), -hours(1)] {
            let text = |curve: Result<_, CupelError>| curve.map(drop).unwrap_err().to_string();
            assert!(text(DecayCurve::exponential(bad)).starts_with("halfLife: must be positive"));
            assert!(text(DecayCurve::window(bad)).starts_with("maxAge: must be positive"));
            let step = text(DecayCurve::step(vec![(hours(1), 1.0), (bad, 0.5)]));
            assert!(step.starts_with("windows[1].maxAge: must be positive"));
        }
    }

    #[test]
    fn steps_must_exist_ascend_and_score_within_the_unit_range() {
        let text = |windows| DecayCurve::step(windows).unwrap_err().to_string();
        assert_eq!(text(vec![]), "windows: at least one window is required");
        for second in [hours(2), hours(1)] {
            let windows = vec![(hours(2), 0.5), (second, 0.1)];
            assert!(text(windows).starts_with("windows[1].maxAge: must be greater"));
        }
        for bad in [-0.1, 1.1, f64::NAN] {
            let message = text(vec![(hours(1), bad)]);
            assert_eq!(message, format!("windows[0].score: must be within 0 and 1, got {bad}"));
        }
    }

    #[test]
    fn the_scorer_checks_curves_that_were_made_without_checks() {
        let new = |curve| DecayScorer::new(Box::new(FixedClock(noon())), curve, 0.5);
        assert!(new(DecayCurve::Exponential(Duration::zero())).is_err());
        assert!(new(DecayCurve::Window(-hours(1))).is_err());
        assert!(new(DecayCurve::Step(vec![])).is_err());
        assert!(new(DecayCurve::Step(vec![(hours(2), 0.5), (hours(1), 0.5)])).is_err());
    }

    #[test]
    fn a_null_timestamp_score_outside_the_unit_range_is_refused() {
        for bad in [-0.5, 1.5, f64::NAN] {
            let error = DecayScorer::new(Box::new(FixedClock(noon())), steps().unwrap(), bad);
            let text = format!("nullTimestampScore: must be within 0 and 1, got {bad}");
            assert_eq!(error.unwrap_err(), CupelError::ScorerConfig(text));
        }
    }

    #[test]
    fn the_clock_is_read_once_for_a_whole_list() {
        struct Counting(Arc<AtomicI64>);
        impl TimeProvider for Counting {
            fn now(&self) -> DateTime<Utc> {
                noon() + Duration::hours(self.0.fetch_add(1, Ordering::Relaxed))
            }
        }
        let reads = Arc::new(AtomicI64::new(0));
        let scorer =
            DecayScorer::new(Box::new(Counting(reads.clone())), steps().unwrap(), 0.5).unwrap();
        let items = build((0..10).map(|_| item("x").timestamp(noon())).collect());
        scorer.score_all(&ItemList::new(&items), &mut [0.0; 10]);
        assert_eq!(reads.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn the_farthest_instants_neither_panic_nor_wrap() {
        let clock = Box::new(FixedClock(DateTime::<Utc>::MAX_UTC));
        let scorer = DecayScorer::new(clock, steps().unwrap(), 0.5).unwrap();
        let items = build(vec![item("x").timestamp(DateTime::<Utc>::MIN_UTC)]);
        assert_eq!(scores(&scorer, &items), [0.1]);
    }
}
