//! Decay curves as data.

use chrono::Duration;
use serde::Serialize;

use super::duration::{self, Span};
use super::table::{self, strategies};
use crate::DecayCurve;
use crate::wire::{Fields, Problem, Read, Value};

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

strategies! {
    CurveDescription;
    Exponential = "exponential": |fields| {
        Ok(Self::Exponential { half_life: fields.required::<Span>("half_life")?.0 })
    },
    Window = "window": |fields| Ok(Self::Window { max_age: fields.required::<Span>("max_age")?.0 }),
    Step = "step": |fields| Ok(Self::Step { windows: fields.required("windows")? }),
}

impl CurveDescription {
    pub(super) fn curve(&self) -> DecayCurve {
        match self {
            Self::Exponential { half_life } => DecayCurve::Exponential(*half_life),
            Self::Window { max_age } => DecayCurve::Window(*max_age),
            Self::Step { windows } => {
                DecayCurve::Step(windows.iter().map(|step| (step.max_age, step.score)).collect())
            }
        }
    }
}

impl Read for CurveDescription {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        table::read("curve", Self::TABLE, value)
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
