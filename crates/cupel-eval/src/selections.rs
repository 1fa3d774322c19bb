//! Selections as files, so that any program's can be measured, and ours by any program.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::data::{Case, DataSet, PoolQuery};
use crate::error::{DataError, Problem};
use crate::lines::JsonLines;
use crate::record::{Record, each, index, positive, text};
use crate::run::Evaluation;
use crate::selector::{Selector, SelectorError};

/// Selections that were read from a file: JSON lines, one for each query and budget, plain or gzip.
///
/// ```json
/// {"pool": "talk/1", "query": "q1", "budget": 1000, "selected": [2, 17]}
/// ```
///
/// `selected` has indices of the pool's items, in any order.
#[derive(Debug, Clone)]
pub struct RecordedSelections<'d> {
    rows: HashMap<(&'d str, &'d str, i64), Vec<usize>>,
    skipped: usize,
}

impl<'d> RecordedSelections<'d> {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and if the file cannot be read.
    pub fn read_file(path: impl AsRef<Path>, data: &'d DataSet) -> Result<Self, DataError> {
        Self::take(JsonLines::open(path.as_ref())?, data)
    }

    /// Reads whatever can be read. Errors call it by the name.
    ///
    /// # Errors
    ///
    /// By file, line and path: a line that is not JSON, a field that is missing or of the wrong
    /// type, a query that its pool does not have, a second selection for a query and budget, no
    /// selection for any pool of the data.
    pub fn read(name: &str, source: impl Read, data: &'d DataSet) -> Result<Self, DataError> {
        Self::take(JsonLines::new(name, source)?, data)
    }

    /// The budgets that the file has selections for, rising.
    pub fn budgets(&self) -> Vec<i64> {
        let budgets: BTreeSet<i64> = self.rows.keys().map(|(_, _, budget)| *budget).collect();
        budgets.into_iter().collect()
    }

    /// Number of lines that were for pools that are not in the data.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    fn take(mut lines: JsonLines<'_>, data: &'d DataSet) -> Result<Self, DataError> {
        let pools = data.pools().iter().map(|pool| {
            let ids: HashSet<&str> = pool.queries().iter().map(PoolQuery::id).collect();
            (pool.name(), ids)
        });
        let known: HashMap<&str, HashSet<&str>> = pools.collect();
        let mut read = Self { rows: HashMap::new(), skipped: 0 };
        while let Some(value) = lines.next() {
            let row = Row::read(value?).map_err(|problem| lines.blame(problem))?;
            match known.get_key_value(row.pool.as_str()) {
                None => read.skipped += 1,
                Some((pool, queries)) => {
                    read.add(pool, queries, row).map_err(|problem| lines.blame(problem))?;
                }
            }
        }
        if read.rows.is_empty() {
            let rule =
                "has no selection for a pool of the data; each line needs the name of a pool";
            return Err(DataError::in_file(lines.name(), rule));
        }
        Ok(read)
    }

    fn add(
        &mut self,
        pool: &'d str,
        queries: &HashSet<&'d str>,
        row: Row<String, Vec<usize>>,
    ) -> Result<(), Problem> {
        let Some(query) = queries.get(row.query.as_str()) else {
            let rule = format!("pool `{pool}` has no query `{}`", row.query);
            return Err(Problem::at("query", rule));
        };
        if self.rows.insert((pool, query, row.budget), row.selected).is_some() {
            return Err(Problem::new(format!(
                "second selection for query `{query}` of pool `{pool}` at budget {}; keep one",
                row.budget
            )));
        }
        Ok(())
    }
}

impl Selector for RecordedSelections<'_> {
    fn select(
        &self,
        case: Case<'_>,
        budgets: &[i64],
    ) -> Result<Vec<Option<Vec<usize>>>, SelectorError> {
        let row =
            |tokens: &i64| self.rows.get(&(case.pool.name(), case.query.id(), *tokens)).cloned();
        Ok(budgets.iter().map(row).collect())
    }
}

/// One line of the file.
#[derive(Serialize)]
struct Row<Text, Indices> {
    pool: Text,
    query: Text,
    budget: i64,
    selected: Indices,
}

impl Row<String, Vec<usize>> {
    fn read(value: Value) -> Result<Self, Problem> {
        let mut fields = Record::of(value, &["pool", "query", "budget", "selected"])?;
        Ok(Self {
            pool: fields.required("pool", text)?,
            query: fields.required("query", text)?,
            budget: fields.required("budget", positive)?,
            selected: fields.required("selected", each(index))?,
        })
    }
}

/// Writes the selections of a method, by its position among the methods, in the form that
/// [`RecordedSelections`] reads. What is missing has no line, and neither has a method that is not
/// there.
///
/// # Errors
///
/// If the output cannot be written.
pub fn write_selections(
    evaluation: &Evaluation<'_>,
    method: usize,
    mut output: impl Write,
) -> io::Result<()> {
    for (at, case) in evaluation.cases().iter().enumerate() {
        let answers = evaluation.answers(method, at);
        for (budget, answer) in evaluation.budgets().tokens().iter().zip(answers) {
            let Some(selected) = &answer.selected else { continue };
            let (pool, query) = (case.pool.name(), case.query.id());
            serde_json::to_writer(&mut output, &Row { pool, query, budget: *budget, selected })?;
            output.write_all(b"\n")?;
        }
    }
    output.flush()
}
