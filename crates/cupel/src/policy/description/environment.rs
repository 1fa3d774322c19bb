//! Environment that strategies are built in.

use std::sync::Arc;

use super::{
    CustomStrategy, Options, ScorerDescription, SlicerDescription, StrategyProvider, table,
};
use crate::wire::Problem;
use crate::{Scorer, Slicer, TimeProvider};

/// Environment that strategies are built in.
#[derive(Clone, Copy)]
pub(super) struct Environment<'a> {
    pub(super) clock: &'a Arc<dyn TimeProvider>,
    pub(super) strategies: &'a dyn StrategyProvider,
}

impl Environment<'_> {
    pub(super) fn scorer(&self, custom: &CustomStrategy) -> Result<Box<dyn Scorer>, Problem> {
        let names = [&ScorerDescription::names(), self.strategies.scorer_names()];
        self.build("scorer", custom, names, |options| {
            self.strategies.scorer(custom.name(), options)
        })
    }

    pub(super) fn slicer(&self, custom: &CustomStrategy) -> Result<Box<dyn Slicer>, Problem> {
        let names = [&SlicerDescription::names(), self.strategies.slicer_names()];
        self.build("slicer", custom, names, |options| {
            self.strategies.slicer(custom.name(), options)
        })
    }

    fn build<T>(
        &self,
        what: &str,
        custom: &CustomStrategy,
        [built_in, names]: [&[&str]; 2],
        build: impl FnOnce(&mut Options<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if !names.contains(&custom.name()) {
            return Err(table::unknown(what, custom.name(), [built_in, names].concat()));
        }
        let mut options = Options::new(custom, *self);
        let strategy = build(&mut options)?;
        options.finish()?;
        Ok(strategy)
    }
}
