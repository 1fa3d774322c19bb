//! Scoring a query against items by words: ours, the `bm25` crate and `tantivy` on the same texts,
//! each from nothing and with an index that is kept between queries.

use cupel::{ContextItem, ContextItemBuilder, Scorer};
use cupel_relevance::{Bm25Scorer, Index, Query};
use serde::Serialize;

use crate::contest::{Bound, Ratio};
use crate::data::{self, USUAL_TAGS};
use crate::floor::floor;
use crate::measure::{Contestant, Timing, interleaved, once};
use crate::options::Options;

/// A kind of text, and how so many of them are made.
type Texts = (&'static str, fn(usize) -> Vec<String>);

/// Words as people use them, and letters at random, of which almost every word is new.
const TEXTS: [Texts; 2] = [
    ("words", |items| data::prose(items, BYTES)),
    ("random letters", |items| data::rows(items, USUAL_TAGS).map(|row| row.text).collect()),
];
const ITEMS: usize = 10_000;
const BYTES: usize = 400;
const QUERY_WORDS: usize = 10;

/// What was asked for: from nothing, and with an index that is kept.
const FRESH_AT_MOST: f64 = 40.0;
const KEPT_AT_MOST: f64 = 3.0;

#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub workload: String,
    pub items: usize,
    pub floor: Timing,
    pub fresh: Timing,
    pub fresh_to_floor: Ratio,
    pub kept: Timing,
    pub kept_to_floor: Ratio,
}

/// Someone who can score: from nothing, and with what it kept.
struct Entrant<'a> {
    name: &'static str,
    bounded: bool,
    fresh: Box<dyn FnMut() -> usize + 'a>,
    kept: Box<dyn FnMut() -> usize + 'a>,
}

pub fn run(options: &Options) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (name, texts) in TEXTS {
        let name = format!("relevance, {name}");
        if options.wants(&name, ITEMS) {
            let items = options.size(ITEMS);
            eprintln!("measuring {name}, {items} items");
            outcomes.extend(compete(&name, &texts(items), options));
        }
    }
    outcomes
}

fn compete(workload: &str, texts: &[String], options: &Options) -> Vec<Outcome> {
    // Words of the middle text, so that there is something to find.
    let words = texts[texts.len() / 2].split_whitespace().filter(|word| word.len() > 3);
    let query = words.take(QUERY_WORDS).collect::<Vec<_>>().join(" ");
    let list: Vec<ContextItem> = texts
        .iter()
        .map(|text| {
            ContextItemBuilder::new(text.clone(), 100).build().expect("texts are not empty")
        })
        .collect();
    let entrants = [ours(&list, &query), peer_bm25(texts, &query), tantivy(texts, &query)];
    measure(workload, &list, entrants.into(), options)
}

fn measure(
    workload: &str,
    list: &[ContextItem],
    entrants: Vec<Entrant<'_>>,
    options: &Options,
) -> Vec<Outcome> {
    let names: Vec<_> = entrants.iter().map(|one| (one.name, one.bounded)).collect();
    let (_, first) = once(|| floor(list));
    let mut contestants = vec![Contestant::new(first, || floor(list))];
    for Entrant { name, mut fresh, mut kept, .. } in entrants {
        let (best_fresh, first_fresh) = once(&mut fresh);
        let (best_kept, first_kept) = once(&mut kept);
        assert_eq!(best_fresh, best_kept, "{name}: an index that is kept changes nothing");
        contestants.push(Contestant::new(first_fresh, fresh));
        contestants.push(Contestant::new(first_kept, kept));
    }
    let timings = interleaved(contestants, options.effort());
    let floor = timings[0];
    let ratio = |timing: Timing, at_most: f64, bounded: bool| {
        let bound = Some(Bound::AtMost(at_most)).filter(|_| bounded && !options.quick);
        Ratio::new(timing.best_seconds / floor.best_seconds, bound)
    };
    let pairs = timings[1..].chunks_exact(2);
    let outcome = |(&(name, bounded), pair): (&(_, bool), &[Timing])| Outcome {
        workload: format!("{workload}: {name}"),
        items: list.len(),
        floor,
        fresh: pair[0],
        fresh_to_floor: ratio(pair[0], FRESH_AT_MOST, bounded),
        kept: pair[1],
        kept_to_floor: ratio(pair[1], KEPT_AT_MOST, bounded),
    };
    names.iter().zip(pairs).map(outcome).collect()
}

/// The position of the highest score; the first of several.
fn best(scores: impl IntoIterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (position, score) in scores.into_iter().enumerate() {
        if score > best.1 {
            best = (position, score);
        }
    }
    best.0
}

fn ours<'a>(list: &'a [ContextItem], query: &'a str) -> Entrant<'a> {
    let score = move |index: Index| {
        let scorer = Bm25Scorer::new(Query::new(query), index).expect("one analysis for both");
        let mut scores = vec![0.0; list.len()];
        scorer.score_all(&cupel::ItemList::new(list), &mut scores);
        best(scores)
    };
    let index = Index::default();
    index.extend(list);
    Entrant {
        name: "ours",
        bounded: true,
        fresh: Box::new(move || score(Index::default())),
        kept: Box::new(move || score(index.clone())),
    }
}

fn peer_bm25<'a>(texts: &'a [String], query: &'a str) -> Entrant<'a> {
    use bm25::{EmbedderBuilder, Language, Scorer};

    let build = move || {
        let corpus: Vec<&str> = texts.iter().map(String::as_str).collect();
        let embedder: bm25::Embedder =
            EmbedderBuilder::with_fit_to_corpus(Language::English, &corpus).build();
        let mut scorer = Scorer::<usize>::new();
        for (position, text) in texts.iter().enumerate() {
            scorer.upsert(&position, embedder.embed(text));
        }
        (embedder, scorer)
    };
    let score = move |(embedder, scorer): &(bm25::Embedder, Scorer<usize>)| {
        let query = embedder.embed(query);
        best((0..texts.len()).map(|at| scorer.score(&at, &query).map_or(0.0, f64::from)))
    };
    let built = build();
    Entrant {
        name: "bm25",
        bounded: false,
        fresh: Box::new(move || score(&build())),
        kept: Box::new(move || score(&built)),
    }
}

fn tantivy<'a>(texts: &'a [String], query: &'a str) -> Entrant<'a> {
    let build = move || TextIndex::new(texts);
    let built = build();
    Entrant {
        name: "tantivy",
        bounded: false,
        fresh: Box::new(move || build().best(query)),
        kept: Box::new(move || built.best(query)),
    }
}

/// An index of tantivy, in memory and with one thread.
struct TextIndex {
    searcher: tantivy::Searcher,
    parser: tantivy::query::QueryParser,
    count: usize,
}

impl TextIndex {
    const MEMORY: usize = 100_000_000;

    fn new(texts: &[String]) -> Self {
        use tantivy::schema::{IndexRecordOption, Schema, TextFieldIndexing, TextOptions};

        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("en_stem")
            .set_index_option(IndexRecordOption::WithFreqs);
        let text =
            schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
        let index = tantivy::Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, Self::MEMORY).expect("memory suffices");
        for content in texts {
            writer.add_document(tantivy::doc!(text => content.as_str())).expect("memory suffices");
        }
        writer.commit().expect("memory suffices");
        let searcher = index.reader().expect("it was committed").searcher();
        let parser = tantivy::query::QueryParser::for_index(&index, vec![text]);
        Self { searcher, parser, count: texts.len() }
    }

    /// Scores every document that has a word of the query, best first.
    fn best(&self, query: &str) -> usize {
        use tantivy::collector::TopDocs;

        let query = self.parser.parse_query(query).expect("words only");
        let all = TopDocs::with_limit(self.count).order_by_score();
        let found = self.searcher.search(&query, &all).expect("it is in memory");
        found.first().map_or(0, |(_, address)| address.doc_id as usize)
    }
}
