//! Pools of candidates, and queries whose evidence is known.
//!
//! The format is one JSON object a line, one line a pool; `examples/eval/README.md` has all fields.

mod pool;
mod query;

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

pub use pool::Pool;
pub use query::{PoolQuery, Weigh};

use crate::error::{DataError, Problem};
use crate::lines::JsonLines;
use cupel::ContextItem;

/// Options for a reader of data files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Sets whose evidence is weighed by tokens where neither pool nor query says how.
    ///
    /// By default `qmsum`: its evidence is whole stretches of talk, of very short and very long
    /// turns.
    pub by_tokens: Vec<String>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { by_tokens: vec!["qmsum".to_owned()] }
    }
}

/// Pools with their queries, from one file or several.
///
/// # Example
///
/// ```
/// use cupel_eval::{DataSet, ReadOptions};
///
/// let line = r#"{"pool": "talk/1",
///     "items": [{"content": "Ann: the key is under the mat", "tokens": 9},
///               {"content": "Bob: nice weather", "tokens": 5}],
///     "queries": [{"id": "q1", "query": "Where is the key?", "evidence": [0]}]}"#;
/// let data = DataSet::read("talk.jsonl", line.replace('\n', "").as_bytes(), &ReadOptions::default())?;
/// assert_eq!(data.query_count(), 1);
/// assert_eq!(data.pools()[0].set(), "talk");
/// # Ok::<(), cupel_eval::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct DataSet {
    pools: Vec<Pool>,
}

impl DataSet {
    /// Reads files, plain or gzip.
    ///
    /// # Errors
    ///
    /// Whatever is wrong first, by file, line and path: a file that cannot be read, a line that is
    /// not JSON or breaks a rule of the format, a pool's name that is there twice, a file without
    /// pools, no query at all.
    pub fn read_files<P: AsRef<Path>>(
        paths: &[P],
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let mut reader = PoolReader::new(options);
        for path in paths {
            reader.take(JsonLines::open(path.as_ref())?)?;
        }
        reader.finish()
    }

    /// Reads whatever can be read, plain or gzip. Errors call it by the name.
    ///
    /// # Errors
    ///
    /// As [`read_files`](Self::read_files).
    pub fn read(name: &str, source: impl Read, options: &ReadOptions) -> Result<Self, DataError> {
        let mut reader = PoolReader::new(options);
        reader.take(JsonLines::new(name, source)?)?;
        reader.finish()
    }

    /// The pools, in the order of the files.
    pub fn pools(&self) -> &[Pool] {
        &self.pools
    }

    /// Number of items there are in all pools.
    pub fn item_count(&self) -> usize {
        self.pools.iter().map(|pool| pool.items().len()).sum()
    }

    /// Number of queries there are in all pools.
    pub fn query_count(&self) -> usize {
        self.pools.iter().map(|pool| pool.queries().len()).sum()
    }

    /// Every query with its pool, in the order of the files.
    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        self.pools
            .iter()
            .flat_map(|pool| pool.queries().iter().map(move |query| Case { pool, query }))
    }

    /// The names of the sets, each once, in the order of the files.
    pub fn sets(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.pools.iter().map(Pool::set).filter(|set| seen.insert(*set)).collect()
    }
}

/// One query and its pool: what a selector is asked.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Case<'d> {
    /// Where the candidates are.
    pub pool: &'d Pool,
    /// The question.
    pub query: &'d PoolQuery,
}

impl<'d> Case<'d> {
    /// The items that may be selected: those below the query's `before`, without pinned ones.
    pub fn candidates(&self) -> &'d [ContextItem] {
        &self.pool.candidates()[..self.candidate_count()]
    }

    /// The index in the pool of each candidate.
    pub fn candidate_indices(&self) -> &'d [usize] {
        &self.pool.candidate_indices()[..self.candidate_count()]
    }

    /// Tokens of all candidates together.
    pub fn candidate_tokens(&self) -> i64 {
        let sum = self.candidates().iter().map(|item| i128::from(item.tokens())).sum::<i128>();
        i64::try_from(sum).unwrap_or(i64::MAX)
    }

    fn candidate_count(&self) -> usize {
        let end = self.query.before().unwrap_or(usize::MAX);
        self.pool.candidate_indices().partition_point(|index| *index < end)
    }
}

/// Takes in files, one after the other.
struct PoolReader<'o> {
    options: &'o ReadOptions,
    pools: Vec<Pool>,
    names: HashSet<String>,
    last_file: String,
}

impl<'o> PoolReader<'o> {
    fn new(options: &'o ReadOptions) -> Self {
        Self { options, pools: Vec::new(), names: HashSet::new(), last_file: "data".to_owned() }
    }

    fn take(&mut self, mut lines: JsonLines<'_>) -> Result<(), DataError> {
        let before = self.pools.len();
        while let Some(value) = lines.next() {
            let pool = Pool::read(value?, self.options).map_err(|problem| lines.blame(problem))?;
            if !self.names.insert(pool.name().to_owned()) {
                let rule = format!("`{}` is there twice; give each pool its own name", pool.name());
                return Err(lines.blame(Problem::at("pool", rule)));
            }
            self.pools.push(pool);
        }
        lines.name().clone_into(&mut self.last_file);
        if self.pools.len() == before {
            let rule = "is empty; a data file has one pool a line, as a JSON object";
            return Err(DataError::in_file(lines.name(), rule));
        }
        Ok(())
    }

    fn finish(self) -> Result<DataSet, DataError> {
        let data = DataSet { pools: self.pools };
        if data.query_count() == 0 {
            let rule = "no pool has a query, so there is nothing to measure";
            return Err(DataError::in_file(&self.last_file, rule));
        }
        Ok(data)
    }
}
