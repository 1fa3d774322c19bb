//! Vectors of the pools that are measured.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cupel::CupelError;
use cupel_eval::{Case, DataSet};
use cupel_relevance::{ItemVectors, Strategies, VectorFile};

use super::methods;
use crate::error::Failure;
use crate::input::Input;

/// The vectors of each pool by its name.
#[derive(Default)]
pub(super) struct PoolVectors(BTreeMap<String, OfPool>);

struct OfPool {
    items: Arc<ItemVectors>,
    file: VectorFile,
}

impl PoolVectors {
    /// Reads a file and gives its vectors to the items of the pools that it names.
    pub(super) fn read(path: &Path, data: &DataSet) -> Result<Self, Failure> {
        let input = Input::read(Some(path))?;
        let mut files = VectorFile::parse_pools(&input.text).map_err(|error| {
            Failure::cannot(format!("{}:{}: {}", input.name(), error.line, error.problem))
        })?;
        let mut vectors = BTreeMap::new();
        for pool in data.pools() {
            let Some(file) = files.remove(pool.name()) else { continue };
            let items = file.for_items(pool.items()).map_err(|error| {
                Failure::cannot(format!("{}: pool `{}`: {error}", input.name(), pool.name()))
            })?;
            vectors.insert(pool.name().to_owned(), OfPool { items: Arc::new(items), file });
        }
        methods::tell_skipped(&input.name(), files.len(), "pools");
        Ok(Self(vectors))
    }

    /// Strategies for the question of a case, with its vectors if it has any.
    pub(super) fn ask(&self, strategies: &Strategies, case: Case<'_>) -> Result<Strategies, CupelError> {
        let asked = strategies.ask(case.query.text());
        let found = self.0.get(case.pool.name()).and_then(|of_pool| {
            let query = of_pool.file.query_named(case.query.id())?;
            Some((Arc::clone(&of_pool.items), query.to_vec()))
        });
        match found {
            Some((items, query)) => asked.with_vectors(items, query),
            None => Ok(asked),
        }
    }
}
