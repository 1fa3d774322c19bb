//! A list of candidates with the queries that are asked of it.

use std::collections::HashSet;

use cupel::ContextItem;
use serde_json::Value;

use super::ReadOptions;
use super::query::{PoolQuery, Weigh};
use crate::error::Problem;
use crate::record::{Record, each, text};

/// A list of candidates with the queries that are asked of it.
///
/// An item is known by its index. Items of equal text at two indices are two items.
#[derive(Debug, Clone)]
pub struct Pool {
    name: String,
    items: Vec<ContextItem>,
    queries: Vec<PoolQuery>,
    candidates: Vec<ContextItem>,
    candidate_indices: Vec<usize>,
}

impl Pool {
    /// Its name, as `set/id`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The part of the name before the first `/`, or all of it.
    pub fn set(&self) -> &str {
        set_of(&self.name)
    }

    /// All items, pinned ones among them.
    pub fn items(&self) -> &[ContextItem] {
        &self.items
    }

    /// Questions to the pool.
    pub fn queries(&self) -> &[PoolQuery] {
        &self.queries
    }

    /// All items that are not pinned.
    pub fn candidates(&self) -> &[ContextItem] {
        &self.candidates
    }

    /// The index of each candidate, rising.
    pub fn candidate_indices(&self) -> &[usize] {
        &self.candidate_indices
    }

    pub(super) fn read(value: Value, options: &ReadOptions) -> Result<Self, Problem> {
        let mut fields = Record::of(value, &["pool", "items", "queries", "weigh"])?;
        let name = fields.required("pool", text)?;
        let items = fields.required("items", each(item))?;
        let weigh = match fields.optional("weigh", Weigh::read)? {
            Some(weigh) => weigh,
            None if options.by_tokens.iter().any(|set| set == set_of(&name)) => Weigh::Tokens,
            None => Weigh::Items,
        };
        let queries =
            fields.required("queries", each(|query| PoolQuery::read(query, &items, weigh)))?;
        refuse_equal_ids(&queries)?;
        Ok(Self::new(name, items, queries))
    }

    fn new(name: String, items: Vec<ContextItem>, queries: Vec<PoolQuery>) -> Self {
        let is_candidate = |index: &usize| !items[*index].pinned();
        let candidate_indices: Vec<usize> = (0..items.len()).filter(is_candidate).collect();
        let candidates = candidate_indices.iter().map(|index| items[*index].clone()).collect();
        Self { name, items, queries, candidates, candidate_indices }
    }
}

fn set_of(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

fn item(value: Value) -> Result<ContextItem, Problem> {
    let fields = Record::of(value, &ContextItem::FIELDS)?.into_value();
    let item: ContextItem =
        cupel::wire::read(fields).map_err(|error| Problem::of_library(&error))?;
    if item.tokens() < 0 {
        let rule = format!("must not be negative, got {}", item.tokens());
        return Err(Problem::at("tokens", rule));
    }
    Ok(item)
}

fn refuse_equal_ids(queries: &[PoolQuery]) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    match queries.iter().position(|query| !seen.insert(query.id())) {
        None => Ok(()),
        Some(index) => {
            let id = queries[index].id();
            let rule = format!("`{id}` is there twice; give each query of a pool its own id");
            Err(Problem::at(format!("queries[{index}].id"), rule))
        }
    }
}
