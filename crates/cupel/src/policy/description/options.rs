//! The options of strategies that are not built in.

use std::sync::Arc;

use super::environment::Environment;
use super::scorer::{self, WeightedScorers};
use super::{CustomStrategy, ScorerDescription, SlicerDescription, WeightedScorer};
use crate::wire::{Fields, Problem, Read};
use crate::{Scorer, Slicer, TimeProvider};

/// The options of a strategy, taken one by one. Names are in snake case; camel case is read too.
pub struct Options<'a> {
    fields: Fields<'a>,
    environment: Environment<'a>,
}

impl<'a> Options<'a> {
    pub(super) fn new(custom: &'a CustomStrategy, environment: Environment<'a>) -> Self {
        Self { fields: custom.fields(), environment }
    }

    /// Refuses options that nobody took.
    pub(super) fn finish(self) -> Result<(), Problem> {
        self.fields.deny_rest()
    }

    /// An option that may be absent.
    ///
    /// # Errors
    ///
    /// If its value is of another type.
    pub fn optional<T: OptionType>(&mut self, name: &'static str) -> Result<Option<T>, Problem> {
        self.fields.optional(name)
    }

    /// An option that must be there.
    ///
    /// # Errors
    ///
    /// If it is absent, or its value is of another type.
    pub fn required<T: OptionType>(&mut self, name: &'static str) -> Result<T, Problem> {
        self.fields.required(name)
    }

    /// A scorer inside of this strategy.
    ///
    /// # Errors
    ///
    /// If it is absent, or anything is wrong with it.
    pub fn scorer(&mut self, name: &'static str) -> Result<Box<dyn Scorer>, Problem> {
        let scorer: ScorerDescription = self.fields.required(name)?;
        scorer.build(self.environment).map_err(|problem| problem.in_field(name))
    }

    /// Scorers inside of this strategy, each with its weight; at least one.
    ///
    /// # Errors
    ///
    /// If they are absent or none, or anything is wrong with one.
    pub fn scorers(&mut self, name: &'static str) -> Result<WeightedScorers, Problem> {
        let scorers: Vec<WeightedScorer> = self.fields.required(name)?;
        if scorers.is_empty() {
            return Err(Problem::new("at least one scorer is required").in_field(name));
        }
        scorer::build_all(&scorers, self.environment).map_err(|problem| problem.in_field(name))
    }

    /// A slicer inside of this strategy; `None` if it is absent.
    ///
    /// # Errors
    ///
    /// If anything is wrong with it.
    pub fn slicer(&mut self, name: &'static str) -> Result<Option<Box<dyn Slicer>>, Problem> {
        let Some(slicer) = self.fields.optional::<SlicerDescription>(name)? else {
            return Ok(None);
        };
        slicer.build(self.environment).map(Some).map_err(|problem| problem.in_field(name))
    }

    /// The clock that the policy is built with.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn TimeProvider> {
        self.environment.clock.clone()
    }
}

/// Types of options: a number, a whole number, a truth value, a text, an instant, a list of
/// those, or a map from names to those.
pub trait OptionType: Read {}

impl<T: Read> OptionType for T {}
