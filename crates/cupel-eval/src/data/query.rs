//! A question, and the items that are needed to answer it.

use std::collections::HashSet;

use cupel::ContextItem;
use serde_json::Value;

use crate::error::Problem;
use crate::record::{Record, each, expected, index, text};

/// Weight of a piece of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weigh {
    /// Every item counts the same.
    Items,
    /// An item counts as much as it has tokens: for evidence that is whole stretches of items.
    Tokens,
}

impl Weigh {
    #[expect(clippy::needless_pass_by_value, reason = "it is handed to what passes values")]
    pub(super) fn read(value: Value) -> Result<Self, Problem> {
        match value.as_str() {
            Some("items") => Ok(Self::Items),
            Some("tokens") => Ok(Self::Tokens),
            _ => Err(expected("\"items\" or \"tokens\"", &value)),
        }
    }
}

/// A question, and the items that are needed to answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolQuery {
    id: String,
    text: String,
    category: Option<String>,
    evidence: Vec<usize>,
    before: Option<usize>,
    any_of: Option<Vec<Vec<usize>>>,
    weigh: Weigh,
}

impl PoolQuery {
    /// Its name within the pool.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Text of the question.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Category of the question.
    pub fn category(&self) -> Option<&str> {
        self.category.as_deref()
    }

    /// The items that are needed, by index; never empty.
    pub fn evidence(&self) -> &[usize] {
        &self.evidence
    }

    /// Only items below this index may be selected; all of them if `None`.
    pub fn before(&self) -> Option<usize> {
        self.before
    }

    /// For each fact that is needed, the items that state it. One of each group is enough.
    pub fn any_of(&self) -> Option<&[Vec<usize>]> {
        self.any_of.as_deref()
    }

    /// Weight of a piece of evidence.
    pub fn weigh(&self) -> Weigh {
        self.weigh
    }

    pub(super) fn read(value: Value, items: &[ContextItem], weigh: Weigh) -> Result<Self, Problem> {
        const KNOWN: [&str; 7] =
            ["id", "query", "category", "evidence", "before", "any_of", "weigh"];
        let mut fields = Record::of(value, &KNOWN)?;
        let query = Self {
            id: fields.required("id", text)?,
            text: fields.required("query", text)?,
            category: fields.optional("category", text)?,
            evidence: fields.required("evidence", each(index))?,
            before: fields.optional("before", index)?,
            any_of: fields.optional("any_of", each(|group| each(index)(group)))?,
            weigh: fields.optional("weigh", Weigh::read)?.unwrap_or(weigh),
        };
        query.check(items)?;
        Ok(query)
    }

    fn check(&self, items: &[ContextItem]) -> Result<(), Problem> {
        if let Some(before) = self.before.filter(|before| *before > items.len()) {
            let rule = format!("must not exceed the {} items, got {before}", items.len());
            return Err(Problem::at("before", rule));
        }
        self.check_indices("evidence", &self.evidence, items)?;
        if self.weigh == Weigh::Tokens && self.evidence.iter().all(|at| items[*at].tokens() == 0) {
            let rule = "has no tokens, so it cannot be weighed by tokens; set `weigh` to \"items\"";
            return Err(Problem::at("evidence", rule));
        }
        let Some(groups) = &self.any_of else { return Ok(()) };
        if groups.is_empty() {
            return Err(Problem::at("any_of", "must not be empty; leave it out"));
        }
        let mut groups = groups.iter().enumerate();
        groups
            .try_for_each(|(at, group)| self.check_indices(&format!("any_of[{at}]"), group, items))
    }

    /// Each index must be that of a candidate, and be there once.
    fn check_indices(
        &self,
        path: &str,
        indices: &[usize],
        items: &[ContextItem],
    ) -> Result<(), Problem> {
        if indices.is_empty() {
            return Err(Problem::at(path, "must name at least one item; leave the query out"));
        }
        let end = self.before.unwrap_or(items.len());
        let mut seen = HashSet::new();
        for (at, index) in indices.iter().enumerate() {
            let rule = if *index >= items.len() {
                format!("there is no item {index}; the pool has {} items", items.len())
            } else if *index >= end {
                format!("item {index} is no candidate; `before` allows items below {end}")
            } else if items[*index].pinned() {
                format!("item {index} is pinned, so it is in every window; it is never evidence")
            } else if !seen.insert(*index) {
                format!("item {index} is named twice; name it once")
            } else {
                continue;
            };
            return Err(Problem::at(format!("{path}[{at}]"), rule));
        }
        Ok(())
    }
}
