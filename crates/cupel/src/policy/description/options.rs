//! The options of strategies that are not built in.

use std::sync::Arc;

use super::CustomStrategy;
use super::environment::Environment;
use super::nested::{Inner, Nested};
use super::scorer::{self, WeightedScorers};
use crate::wire::{Fields, Problem, Read};
use crate::{Scorer, Slicer, TimeProvider};

/// The options of a strategy, taken one by one. Names are in snake case; camel case is read too.
pub struct Options<'a> {
    fields: Fields<'a>,
    nested: &'a Nested,
    environment: Environment<'a>,
}

impl<'a> Options<'a> {
    pub(super) fn new(custom: &'a CustomStrategy, environment: Environment<'a>) -> Self {
        Self { fields: custom.fields(), nested: custom.nested(), environment }
    }

    /// What a strategy inside of this one was read as, now or before; `None` if it is absent.
    fn inner<T: Read>(
        &mut self,
        name: &'static str,
        inner: fn(T) -> Inner,
    ) -> Result<Option<Arc<Inner>>, Problem> {
        if let Some(known) = self.nested.get(name) {
            self.fields.know(name);
            return Ok(Some(known));
        }
        let read = self.fields.optional(name)?;
        Ok(read.map(|description| self.nested.keep(name, inner(description))))
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
        match self.inner(name, Inner::Scorer)?.as_deref() {
            Some(Inner::Scorer(scorer)) => scorer.build(self.environment),
            _ => Err(Problem::new("is required")),
        }
        .map_err(|problem| problem.in_field(name))
    }

    /// Scorers inside of this strategy, each with its weight; at least one.
    ///
    /// # Errors
    ///
    /// If they are absent or none, or anything is wrong with one.
    pub fn scorers(&mut self, name: &'static str) -> Result<WeightedScorers, Problem> {
        match self.inner(name, Inner::Scorers)?.as_deref() {
            Some(Inner::Scorers(scorers)) if scorers.is_empty() => {
                Err(Problem::new("at least one scorer is required"))
            }
            Some(Inner::Scorers(scorers)) => scorer::build_all(scorers, self.environment),
            _ => Err(Problem::new("is required")),
        }
        .map_err(|problem| problem.in_field(name))
    }

    /// A slicer inside of this strategy; `None` if it is absent.
    ///
    /// # Errors
    ///
    /// If anything is wrong with it.
    pub fn slicer(&mut self, name: &'static str) -> Result<Option<Box<dyn Slicer>>, Problem> {
        let inner = self.inner(name, Inner::Slicer)?;
        let Some(Inner::Slicer(slicer)) = inner.as_deref() else { return Ok(None) };
        slicer.build(self.environment).map(Some).map_err(|problem| problem.in_field(name))
    }

    /// The clock that the policy is built with.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn TimeProvider> {
        self.environment.clock.clone()
    }
}

/// What an option can be: a number, a whole number, a truth value, a text, an instant, a list of
/// those, or a map from names to those.
pub trait OptionType: Read {}

impl<T: Read> OptionType for T {}
