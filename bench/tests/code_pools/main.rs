//! On pools of thousands of functions, with what their doc comments say as queries, the policy `auto`
//! finds what is described at least as often as plain BM25.
//!
//! The pools are the sources of crates that are dependencies anyway, read from where cargo unpacked
//! them. Most of what `auto` gains here comes from the tags `symbol:…` and `path:…`, which plain BM25
//! does not read; without tags the two differ by noise.
//!
//! `cargo test --manifest-path bench/Cargo.toml --release --test code_pools -- --nocapture` shows the
//! figures.

mod functions;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use cupel::policy::CustomStrategy;
use cupel::{
    ContextBudget, ContextItem, ContextItemBuilder, ContextKind, FieldValue, Pipeline,
    PolicyDescription, SystemTimeProvider, WeightedScorer,
};
use cupel_bench::package;
use cupel_relevance::{Strategies, auto};

const CRATES: [&str; 3] = ["tantivy", "regex-automata", "rig-core"];
const BUDGETS: [i64; 4] = [1000, 2000, 4000, 8000];
/// So many queries a pool, spread over it.
const QUERIES: usize = 200;
/// A shorter doc comment describes too little to be a query.
const LEAST_WORDS: usize = 8;

struct Pool {
    name: &'static str,
    items: Vec<ContextItem>,
    /// What is asked for, and the position of the function that it describes.
    queries: Vec<(String, usize)>,
}

/// The Rust files below a folder, by name.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let below = |path: PathBuf| match path.extension() {
        _ if path.is_dir() => sources(&path),
        Some(extension) if extension == "rs" => vec![path],
        _ => Vec::new(),
    };
    paths.into_iter().flat_map(below).collect()
}

impl Pool {
    fn read(name: &'static str, folder: &Path) -> Self {
        let mut items = Vec::new();
        let mut described = Vec::new();
        for path in sources(&folder.join("src")) {
            let source = fs::read_to_string(&path).expect("a source in UTF-8");
            let relative = path.strip_prefix(folder).expect("it is below").display();
            for function in functions::functions(&source) {
                described.push((function.description, items.len()));
                let tokens = i64::try_from(function.text.len().div_ceil(4)).expect("short");
                let tags = vec![format!("path:{relative}"), format!("symbol:{}", function.name)];
                let item = ContextItemBuilder::new(function.text, tokens)
                    .kind(ContextKind::document())
                    .tags(tags);
                items.push(item.build().expect("a function is not empty"));
            }
        }
        Self { name, items, queries: sample(described) }
    }

    /// For each budget, whether each query's window holds the function that is described.
    fn found(&self, policy: &PolicyDescription) -> [Vec<bool>; BUDGETS.len()] {
        let budgets = BUDGETS.map(|tokens| ContextBudget::builder(tokens).build().expect("valid"));
        let mut found = [const { Vec::new() }; BUDGETS.len()];
        let indexes = Strategies::new("");
        for (query, evidence) in &self.queries {
            let built = policy.build_with(&indexes.ask(query), SystemTimeProvider);
            let pipeline = Pipeline::from(built.expect("a valid policy"));
            let ranking = pipeline.rank(&self.items).expect("few items");
            for (found, budget) in found.iter_mut().zip(&budgets) {
                let window = ranking.window(budget).expect("nothing is pinned");
                found.push(window.iter().any(|placed| placed.position == *evidence));
            }
        }
        found
    }
}

/// Descriptions that are long enough and fit one function only, evenly spread.
fn sample(described: Vec<(String, usize)>) -> Vec<(String, usize)> {
    let mut uses: HashMap<String, usize> = HashMap::new();
    for (description, _) in &described {
        *uses.entry(description.clone()).or_default() += 1;
    }
    let is_query = |(description, _): &(String, usize)| {
        uses[description] == 1 && description.split_whitespace().count() >= LEAST_WORDS
    };
    let queries: Vec<_> = described.into_iter().filter(is_query).collect();
    let step = queries.len().div_ceil(QUERIES).max(1);
    queries.into_iter().step_by(step).collect()
}

/// The textbook's formula on the texts alone; words are made as for `auto`.
fn plain_bm25() -> PolicyDescription {
    let scorer = CustomStrategy::new("bm25")
        .with("k1", 1.5)
        .with("b", 0.75)
        .with("idf_exponent", 1.0)
        .with("max_terms", i64::from(u32::MAX))
        .with("fields", FieldValue::Map(Vec::new()));
    let mut description = PolicyDescription::new(vec![WeightedScorer::new(scorer.into(), 1.0)]);
    description.slicer = CustomStrategy::new("best-first").into();
    description.deduplication = false;
    description
}

/// How often each policy found what was described, and how often only one of them did.
#[derive(Default, Clone, Copy)]
struct Tally {
    queries: usize,
    plain: usize,
    auto: usize,
    only_plain: usize,
    only_auto: usize,
}

impl Tally {
    fn of(plain: &[bool], auto: &[bool]) -> Self {
        let mut tally = Self::default();
        for (plain, auto) in plain.iter().zip(auto) {
            tally.queries += 1;
            tally.plain += usize::from(*plain);
            tally.auto += usize::from(*auto);
            tally.only_plain += usize::from(*plain && !auto);
            tally.only_auto += usize::from(*auto && !plain);
        }
        tally
    }

    fn print(self, pool: &str, budget: i64) {
        let percent = |count: usize| 100.0 * count as f64 / self.queries as f64;
        let (plain, auto) = (percent(self.plain), percent(self.auto));
        let Self { only_plain, only_auto, .. } = self;
        println!("{pool:15} {budget:6} {plain:9.1} % {auto:5.1} % {only_plain:10} {only_auto:9}");
    }
}

#[test]
fn auto_finds_described_functions_at_least_as_often_as_plain_bm25() {
    let pools = CRATES.map(|name| Pool::read(name, &package::folder(name, None)));
    for Pool { name, items, queries } in &pools {
        println!("{name}: {} functions, {} queries", items.len(), queries.len());
        assert!(items.len() >= 1000, "{name} has become small: take another crate");
        assert!(queries.len() >= 100, "{name} is hardly described: take another crate");
    }
    println!("pool            budget  plain BM25    auto only plain only auto");
    let mut worse = Vec::new();
    for pool in &pools {
        let (plain, auto) = (pool.found(&plain_bm25()), pool.found(&auto()));
        for ((plain, auto), budget) in plain.iter().zip(&auto).zip(BUDGETS) {
            let tally = Tally::of(plain, auto);
            tally.print(pool.name, budget);
            if tally.auto < tally.plain {
                worse.push(format!("{} at {budget} tokens", pool.name));
            }
        }
    }
    assert!(worse.is_empty(), "auto finds less than plain BM25: {}", worse.join(", "));
}
