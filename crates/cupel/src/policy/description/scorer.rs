//! Scorers as data.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Duration, Utc};
use serde::Serialize;

use super::custom::{CustomStrategy, Environment};
use super::duration::{self, Span};
use super::read;
use crate::wire::{Fields, Problem, Read, Value};
use crate::{
    CompositeScorer, ContextKind, DecayCurve, DecayScorer, FixedClock, FrequencyScorer, KindScorer,
    MetadataKeyScorer, MetadataTrustScorer, PriorityScorer, RecencyScorer, ReflexiveScorer,
    ScaledScorer, Scorer, TagComparison, TagScorer, TimeProvider,
};

/// A scorer with its weight among others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = super::schema::scorer_names)
)]
#[serde(deny_unknown_fields)]
pub struct WeightedScorer {
    /// How much it counts, relative to the others; 1 by default.
    #[cfg_attr(feature = "schema", schemars(default = "super::schema::default_weight"))]
    pub weight: f64,
    /// The scorer.
    #[serde(flatten)]
    pub scorer: ScorerDescription,
}

impl WeightedScorer {
    /// A scorer with a weight.
    #[must_use]
    pub fn new(scorer: ScorerDescription, weight: f64) -> Self {
        Self { weight, scorer }
    }
}

/// A scorer as data: its `type` in kebab case, and its options.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = super::schema::scorer_names)
)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ScorerDescription {
    /// [`RecencyScorer`].
    Recency,
    /// [`PriorityScorer`].
    Priority,
    /// [`KindScorer`].
    Kind {
        /// Weights by kind; the default weights if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        weights: Option<BTreeMap<String, f64>>,
    },
    /// [`TagScorer`].
    Tag {
        /// Weights by tag.
        weights: BTreeMap<String, f64>,
        /// Whether ASCII case is ignored.
        #[cfg_attr(feature = "schema", schemars(default))]
        caseless: bool,
    },
    /// [`FrequencyScorer`].
    Frequency,
    /// [`ReflexiveScorer`].
    Reflexive,
    /// [`CompositeScorer`].
    Composite {
        /// What is averaged.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        scorers: Vec<WeightedScorer>,
    },
    /// [`ScaledScorer`].
    Scaled {
        /// What is stretched.
        scorer: Box<ScorerDescription>,
    },
    /// [`MetadataTrustScorer`].
    MetadataTrust {
        /// For items without a usable trust; 0.5 by default.
        #[cfg_attr(feature = "schema", schemars(default = "super::schema::default_half"))]
        default_score: f64,
    },
    /// [`MetadataKeyScorer`].
    MetadataKey {
        /// The metadata key.
        key: String,
        /// The value that is boosted.
        value: String,
        /// What a match scores.
        boost: f64,
    },
    /// [`DecayScorer`].
    Decay {
        /// How the score falls with age.
        curve: CurveDescription,
        /// For items without a timestamp; 0.5 by default.
        #[cfg_attr(feature = "schema", schemars(default = "super::schema::default_half"))]
        null_timestamp_score: f64,
        /// What counts as now; the clock's time if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<super::schema::Instant>"))]
        reference_time: Option<DateTime<Utc>>,
    },
    /// A scorer that a [`StrategyProvider`](super::StrategyProvider) knows.
    #[serde(untagged)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Custom(CustomStrategy),
}

/// A decay curve as data. Durations are written as `"24h"`, `"1d 12h"` or `"500us"`; a bare
/// number is seconds.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CurveDescription {
    /// [`DecayCurve::Exponential`].
    Exponential {
        /// After which the score has halved.
        #[serde(serialize_with = "duration::serialize")]
        #[cfg_attr(feature = "schema", schemars(with = "super::schema::SpanSchema"))]
        half_life: Duration,
    },
    /// [`DecayCurve::Window`].
    Window {
        /// From which on the score is 0.
        #[serde(serialize_with = "duration::serialize")]
        #[cfg_attr(feature = "schema", schemars(with = "super::schema::SpanSchema"))]
        max_age: Duration,
    },
    /// [`DecayCurve::Step`].
    Step {
        /// From youngest to oldest.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        windows: Vec<StepWindow>,
    },
}

/// One step of a [`CurveDescription::Step`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StepWindow {
    /// Up to which age, exclusively.
    #[serde(serialize_with = "duration::serialize")]
    #[cfg_attr(feature = "schema", schemars(with = "super::schema::SpanSchema"))]
    pub max_age: Duration,
    /// The score until then.
    pub score: f64,
}

/// The scorer for a list of weighted ones.
pub(super) fn combine(
    scorers: &[WeightedScorer],
    environment: Environment<'_>,
) -> Result<Box<dyn Scorer>, Problem> {
    let entries = build_all(scorers, environment).map_err(|problem| problem.in_field("scorers"))?;
    // Its messages name the position and the weight.
    Ok(CompositeScorer::new(entries)?.simplified())
}

/// Scorers, each with its weight.
pub type WeightedScorers = Vec<(Box<dyn Scorer>, f64)>;

/// Scorers with their weights, which are not checked here.
pub(super) fn build_all(
    scorers: &[WeightedScorer],
    environment: Environment<'_>,
) -> Result<WeightedScorers, Problem> {
    let entries = scorers.iter().enumerate().map(|(index, weighted)| {
        let built = weighted.scorer.build(environment);
        let scorer = built.map_err(|problem| problem.in_list(index))?;
        Ok((scorer, weighted.weight))
    });
    entries.collect()
}

impl ScorerDescription {
    /// The name of the scorer.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Recency => "recency",
            Self::Priority => "priority",
            Self::Kind { .. } => "kind",
            Self::Tag { .. } => "tag",
            Self::Frequency => "frequency",
            Self::Reflexive => "reflexive",
            Self::Composite { .. } => "composite",
            Self::Scaled { .. } => "scaled",
            Self::MetadataTrust { .. } => "metadata-trust",
            Self::MetadataKey { .. } => "metadata-key",
            Self::Decay { .. } => "decay",
            Self::Custom(custom) => custom.name(),
        }
    }

    /// The scorer itself, and the path to what is wrong with it otherwise.
    pub(super) fn build(&self, environment: Environment<'_>) -> Result<Box<dyn Scorer>, Problem> {
        Ok(match self {
            Self::Recency => Box::new(RecencyScorer),
            Self::Priority => Box::new(PriorityScorer),
            Self::Kind { weights: None } => Box::new(KindScorer::with_default_weights()),
            Self::Kind { weights: Some(weights) } => Box::new(kind_scorer(weights)?),
            Self::Tag { weights, caseless } => {
                let comparison =
                    if *caseless { TagComparison::AsciiCaseless } else { TagComparison::Exact };
                let weights = weights.iter().map(|(tag, weight)| (tag.clone(), *weight)).collect();
                Box::new(TagScorer::with_comparison(weights, comparison)?)
            }
            Self::Frequency => Box::new(FrequencyScorer),
            Self::Reflexive => Box::new(ReflexiveScorer),
            Self::Composite { scorers } => combine(scorers, environment)?,
            Self::Scaled { scorer } => {
                let inner = scorer.build(environment);
                let inner = inner.map_err(|problem| problem.in_field("scorer"))?;
                Box::new(ScaledScorer::new(inner))
            }
            Self::MetadataTrust { default_score } => {
                Box::new(MetadataTrustScorer::new(*default_score)?)
            }
            Self::MetadataKey { key, value, boost } => {
                Box::new(MetadataKeyScorer::new(key, value, *boost)?)
            }
            Self::Decay { curve, null_timestamp_score, reference_time } => {
                let clock: Box<dyn TimeProvider> = match reference_time {
                    Some(now) => Box::new(FixedClock(*now)),
                    None => Box::new(environment.clock.clone()),
                };
                Box::new(DecayScorer::new(clock, curve.curve(), *null_timestamp_score)?)
            }
            Self::Custom(custom) => environment.scorer(custom)?,
        })
    }
}

fn kind_scorer(weights: &BTreeMap<String, f64>) -> Result<KindScorer, Problem> {
    let mut by_kind = HashMap::new();
    for (name, weight) in weights {
        let kind = ContextKind::new(name.clone())
            .map_err(|error| Problem::from(error).in_field("weights"))?;
        if by_kind.insert(kind, *weight).is_some() {
            let text = format!("kind `{name}` occurs more than once");
            return Err(Problem::new(text).in_field("weights"));
        }
    }
    Ok(KindScorer::new(by_kind)?)
}

impl CurveDescription {
    fn curve(&self) -> DecayCurve {
        match self {
            Self::Exponential { half_life } => DecayCurve::Exponential(*half_life),
            Self::Window { max_age } => DecayCurve::Window(*max_age),
            Self::Step { windows } => {
                DecayCurve::Step(windows.iter().map(|step| (step.max_age, step.score)).collect())
            }
        }
    }
}

pub(super) const SCORERS: [&str; 11] = [
    "recency",
    "priority",
    "kind",
    "tag",
    "frequency",
    "reflexive",
    "composite",
    "scaled",
    "metadata-trust",
    "metadata-key",
    "decay",
];

/// What a score is where none is given.
const NEUTRAL_SCORE: f64 = 0.5;

fn read_scorer(name: &str, fields: &mut Fields<'_>) -> Result<ScorerDescription, Problem> {
    Ok(match name {
        "recency" => ScorerDescription::Recency,
        "priority" => ScorerDescription::Priority,
        "kind" => ScorerDescription::Kind {
            weights: fields.optional::<HashMap<_, _>>("weights")?.map(|w| w.into_iter().collect()),
        },
        "tag" => ScorerDescription::Tag {
            weights: fields.required::<HashMap<_, _>>("weights")?.into_iter().collect(),
            caseless: fields.or_default("caseless")?,
        },
        "frequency" => ScorerDescription::Frequency,
        "reflexive" => ScorerDescription::Reflexive,
        "composite" => ScorerDescription::Composite { scorers: fields.required("scorers")? },
        "scaled" => ScorerDescription::Scaled { scorer: fields.required("scorer")? },
        "metadata-trust" => ScorerDescription::MetadataTrust {
            default_score: fields.optional("default_score")?.unwrap_or(NEUTRAL_SCORE),
        },
        "metadata-key" => ScorerDescription::MetadataKey {
            key: fields.required("key")?,
            value: fields.required("value")?,
            boost: fields.required("boost")?,
        },
        "decay" => ScorerDescription::Decay {
            curve: fields.required("curve")?,
            null_timestamp_score: fields.optional("null_timestamp_score")?.unwrap_or(NEUTRAL_SCORE),
            reference_time: fields.optional("reference_time")?,
        },
        _ => ScorerDescription::Custom(CustomStrategy::read(name, fields)),
    })
}

impl Read for ScorerDescription {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let (name, mut fields) = read::strategy(value)?;
        let scorer = read_scorer(&name, &mut fields)?;
        fields.deny_rest()?;
        Ok(scorer)
    }
}

impl Read for WeightedScorer {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let (name, mut fields) = read::strategy(value)?;
        let weight = fields.optional("weight")?.unwrap_or(1.0);
        let scorer = read_scorer(&name, &mut fields)?;
        fields.deny_rest()?;
        Ok(Self { weight, scorer })
    }
}

impl Read for CurveDescription {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let (name, mut fields) = read::strategy(value)?;
        let curve = match name.as_str() {
            "exponential" => {
                Self::Exponential { half_life: fields.required::<Span>("half_life")?.0 }
            }
            "window" => Self::Window { max_age: fields.required::<Span>("max_age")?.0 },
            "step" => Self::Step { windows: fields.required("windows")? },
            _ => return Err(read::unknown("curve", &name, &["exponential", "window", "step"])),
        };
        fields.deny_rest()?;
        Ok(curve)
    }
}

impl Read for StepWindow {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        let window = Self {
            max_age: fields.required::<Span>("max_age")?.0,
            score: fields.required("score")?,
        };
        fields.deny_rest()?;
        Ok(window)
    }
}
