use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, ScorePart, Scorer};

use super::score_in_list;
use crate::index::ListView;
use crate::parameter;
use crate::text::lexicon::TermId;
use crate::{Index, Query};

/// The constants of a [`Bm25Scorer`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25Parameters {
    /// Saturation of repeated terms: 0 counts only the first occurrence, large values count each nearly in full.
    pub k1: f64,
    /// Penalty on longer texts: 0 is none, 1 is in full.
    pub b: f64,
    /// The power to which the rarity of a term is raised: above 1, rare terms weigh even more.
    pub idf_exponent: f64,
    /// Number of terms of the query that count: the heaviest.
    pub max_terms: usize,
    /// Weight of words that only ask, such as `summarize` or `mention`: 1 is as much as others.
    pub asking_weight: f64,
    /// Weight of a word that means nearly the same as a word of the query, beside that word itself: 0 is nothing. Needs the feature
    /// `like-words`, and counts for short questions about English texts alone.
    pub like_words: f64,
}

impl Default for Bm25Parameters {
    fn default() -> Self {
        Self {
            k1: 1.5,
            b: 0.75,
            idf_exponent: 1.2,
            max_terms: 60,
            asking_weight: 1.0,
            like_words: 0.0,
        }
    }
}

impl Bm25Parameters {
    pub(super) fn check(&self) -> Result<(), CupelError> {
        parameter::not_negative("k1", self.k1)?;
        parameter::unit("b", self.b)?;
        parameter::not_negative("idf_exponent", self.idf_exponent)?;
        parameter::at_least_one("max_terms", self.max_terms)?;
        parameter::not_negative("asking_weight", self.asking_weight)?;
        parameter::unit("like_words", self.like_words)
    }
}

/// Scores an item by the words that it shares with the query: BM25.
///
/// **When to choose it:** always, as the base of everything else. It needs no model, finds names,
/// ids and rare words where vectors blur them, and can say which words earned a score.
///
/// **Steps:**
/// 1. A term weighs `idf^e · (1 + ln n)`, with n its occurrences in the query, e the exponent and
///    `idf = ln(1 + (N − df + 0.5) / (df + 0.5))` over the list; times `asking_weight` if it only
///    asks. The heaviest `max_terms` stay.
/// 2. An item with the term f times and a length of l terms, where the mean is L, earns
///    `weight · f · (k1 + 1) / (f + k1 · (1 − b + b · l / L))`.
/// 3. The score is the sum over the terms.
///
/// **Ties and edge cases:** no shared term is 0, so a query without terms scores everything 0.
/// Among equal weights the term that comes first in the query stays. Words of tags count if the
/// index has [`Field`](crate::Field)s.
///
/// **Cost:** with an index that knows the items, a pass over the list and over the occurrences of
/// the query's terms. Items that it does not know are analysed first.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::{Bm25Scorer, Index, Query};
///
/// let item = |text: &str| ContextItemBuilder::new(text, 10).build();
/// let items = [item("We deployed on Monday.")?, item("The deploy failed: no disk space.")?];
/// let scorer = Bm25Scorer::new(Query::new("why did the deploy fail?"), Index::default())?;
/// assert!(scorer.score(&items[1], &items) > scorer.score(&items[0], &items));
///
/// let words: Vec<String> =
///     scorer.contributions(&items, 1).into_iter().map(|part| part.term).collect();
/// assert_eq!(words, ["fail", "deploy"]);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bm25Scorer {
    query: Query,
    index: Index,
    parameters: Bm25Parameters,
}

/// Score of an item by one term of the query.
#[derive(Debug, Clone, PartialEq)]
pub struct TermContribution {
    /// The term, as it was stemmed.
    pub term: String,
    /// Occurrences in the item, weighted by field; words that are like it count a part.
    pub count: f64,
    /// Score of the term.
    pub score: f64,
    /// Where the item does not have it, the words that are like it, as they were stemmed, those that count most first.
    pub like: Vec<String>,
}

/// A term of the query that an item of the list has, or a word like it.
#[derive(Debug, Clone)]
pub(super) struct WeightedTerm<'q> {
    pub(super) text: &'q str,
    id: Option<TermId>,
    pub(super) weight: f64,
    /// Words that are like it, and what each of their occurrences counts.
    like: Vec<(TermId, f64)>,
}

impl WeightedTerm<'_> {
    /// Adds to the count of every item of the index how often it has the term or words like it.
    pub(super) fn add_counts(&self, view: &ListView<'_>, counts: &mut [f64]) {
        self.for_each_hit(view, |item, count, _| counts[item] += count);
    }

    /// Calls `hit` with the number of an item, what it counts and its length; for an item that also has like words more than once.
    fn for_each_hit(&self, view: &ListView<'_>, mut hit: impl FnMut(usize, f64, f64)) {
        if let Some(id) = self.id {
            view.for_each_hit(id, &mut hit);
        }
        for (id, part) in &self.like {
            view.for_each_hit(*id, |item, count, length| hit(item, part * count, length));
        }
    }

    /// Share of a term's occurrence that counts as this term.
    fn part_of(&self, term: TermId) -> Option<f64> {
        if self.id == Some(term) {
            return Some(1.0);
        }
        self.like.iter().find(|(like, _)| *like == term).map(|(_, part)| *part)
    }
}

impl Bm25Scorer {
    /// With the usual constants.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if query and index analyse texts differently.
    pub fn new(query: Query, index: Index) -> Result<Self, CupelError> {
        Self::with_parameters(query, index, Bm25Parameters::default())
    }

    /// With constants of your own.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and if a constant is out of its range; it names which.
    pub fn with_parameters(
        query: Query,
        index: Index,
        parameters: Bm25Parameters,
    ) -> Result<Self, CupelError> {
        parameters.check()?;
        index.require_same_analysis(&query)?;
        Ok(Self { query, index, parameters })
    }

    /// Scores of the item at a position by the terms of the query, most first. Nothing beyond the
    /// list.
    #[must_use]
    pub fn contributions(&self, items: &[ContextItem], position: usize) -> Vec<TermContribution> {
        if position >= items.len() {
            return Vec::new();
        }
        self.contributions_of(items, &[position]).pop().unwrap_or_default()
    }

    fn contributions_of(
        &self,
        items: &[ContextItem],
        positions: &[usize],
    ) -> Vec<Vec<TermContribution>> {
        self.index.list(items, |view| {
            let terms = self.weighted_terms(view);
            let saturation = Saturation::new(&self.parameters, view);
            let parts_of = |position: &usize| {
                let length = view.length(*position);
                let earned = |term: &WeightedTerm<'_>| {
                    let hits = view.terms(*position).iter();
                    let hits = hits.filter_map(|posting| {
                        let count = term.part_of(posting.term)? * f64::from(posting.count);
                        Some((posting.term, count))
                    });
                    let mut hits: Vec<(TermId, f64)> = hits.collect();
                    hits.sort_by(|a, b| cupel::compare_scores(a.1, b.1));
                    let count: f64 = hits.iter().map(|(_, count)| count).sum();
                    let is_there = hits.iter().any(|(id, _)| Some(*id) == term.id);
                    let like = if is_there { &[] } else { hits.as_slice() };
                    let like = like.iter().map(|(id, _)| view.text(*id).to_owned()).collect();
                    let score = saturation.score(term.weight, count, length);
                    let term = term.text.to_owned();
                    (count > 0.0).then_some(TermContribution { term, count, score, like })
                };
                let mut parts: Vec<_> = terms.iter().filter_map(earned).collect();
                parts.sort_by(|a, b| cupel::compare_scores(a.score, b.score));
                parts
            };
            positions.iter().map(parts_of).collect()
        })
    }

    /// The terms that count, heaviest first.
    fn weighted_terms<'q>(&'q self, view: &ListView<'_>) -> Vec<WeightedTerm<'q>> {
        weighted_terms(&self.query, view, &self.parameters)
    }
}

/// The terms of the query that count, heaviest first; among equals in the order of the query.
pub(super) fn weighted_terms<'q>(
    query: &'q Query,
    view: &ListView<'_>,
    parameters: &Bm25Parameters,
) -> Vec<WeightedTerm<'q>> {
    let mut likes = like_terms(query, view, parameters.like_words).into_iter();
    let weigh = |(text, occurrences, is_asking): (&'q str, u32, bool)| {
        let like = likes.next().unwrap_or_default();
        let id = view.find(text);
        let having = id.map_or(0, |id| view.frequency(id));
        let rarity = view.rarity(having);
        let mut weight = rarity.powf(parameters.idf_exponent) * (1.0 + f64::from(occurrences).ln());
        if is_asking {
            weight *= parameters.asking_weight;
        }
        (having > 0 || !like.is_empty()).then_some(WeightedTerm { text, id, weight, like })
    };
    let mut terms: Vec<WeightedTerm<'q>> = query.asked_terms().filter_map(weigh).collect();
    terms.sort_by(|a, b| cupel::compare_scores(a.weight, b.weight));
    terms.truncate(parameters.max_terms);
    terms
}

/// For each term of the query the words of the list that are like it, and what each of their occurrences counts.
#[cfg(feature = "word-vectors")]
fn like_terms(query: &Query, view: &ListView<'_>, like_words: f64) -> Vec<Vec<(TermId, f64)>> {
    let part = if like_words > 0.0 { like_words * view.like_share(query) } else { 0.0 };
    if part == 0.0 {
        return Vec::new();
    }
    let like = view.like_terms(query);
    let scaled = |place| {
        let terms: &[crate::index::LikeTerm] = like.of(place);
        terms.iter().map(|like| (like.term, part * like.affinity)).collect()
    };
    (0..query.terms().len()).map(scaled).collect()
}

/// None: the table of words is not in this program.
#[cfg(not(feature = "word-vectors"))]
fn like_terms(_: &Query, _: &ListView<'_>, _: f64) -> Vec<Vec<(TermId, f64)>> {
    Vec::new()
}

/// Worth of occurrences, given the length of a text.
pub(super) struct Saturation {
    k1: f64,
    base: f64,
    per_term: f64,
}

impl Saturation {
    fn new(parameters: &Bm25Parameters, view: &ListView<'_>) -> Self {
        Self::with_mean(parameters, view.mean_length())
    }

    pub(super) fn with_mean(parameters: &Bm25Parameters, mean_length: f64) -> Self {
        let Bm25Parameters { k1, b, .. } = *parameters;
        Self { k1, base: k1 * (1.0 - b), per_term: k1 * b / mean_length }
    }

    pub(super) fn score(&self, weight: f64, count: f64, length: f64) -> f64 {
        weight * count * (self.k1 + 1.0) / (count + (self.base + self.per_term * length))
    }
}

impl Scorer for Bm25Scorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        self.index.list(items, |view| {
            let saturation = Saturation::new(&self.parameters, view);
            view.sum_up(scores, |sums| {
                let mut counts = Vec::new();
                for term in self.weighted_terms(view) {
                    if term.like.is_empty() {
                        term.for_each_hit(view, |item, count, length| {
                            sums[item] += saturation.score(term.weight, count, length);
                        });
                        continue;
                    }
                    // Occurrences of the term and of words like it saturate together.
                    counts.clear();
                    counts.resize(sums.len(), 0.0);
                    term.add_counts(view, &mut counts);
                    term.for_each_hit(view, |item, _, length| {
                        let count = std::mem::take(&mut counts[item]);
                        sums[item] += saturation.score(term.weight, count, length);
                    });
                }
            });
        });
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        // People know the words that they wrote, not their stems.
        let written = self.query.written_words();
        let explain = |parts: Vec<TermContribution>| {
            let total = parts.iter().map(|part| part.score).sum();
            let word = |part: TermContribution| {
                let mut word = written.get(&part.term).unwrap_or(&part.term).clone();
                if let Some(like) = part.like.first() {
                    word = format!("{word} ~ {like}");
                }
                ScoreExplanation::new(ScorePart::Word(word), part.score)
            };
            ScoreExplanation::new("words", total).with_parts(parts.into_iter().map(word).collect())
        };
        self.contributions_of(items, positions).into_iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, assert_close, build, item, scores, texts};
    use crate::{Analysis, Field, Language};

    fn plain() -> Bm25Parameters {
        Bm25Parameters { idf_exponent: 1.0, ..Bm25Parameters::default() }
    }

    fn bm25(query: &str, parameters: Bm25Parameters) -> Bm25Scorer {
        Bm25Scorer::with_parameters(Query::new(query), Index::default(), parameters).unwrap()
    }

    #[test]
    fn the_score_is_that_of_the_formula() {
        // Lengths 2, 1 and 3, mean 2; `deploy` in two of three items, `key` in one.
        let items = texts(&["deploy deploy", "lunch", "deploy key rotation"]);
        let idf = |df: f64| (1.0 + (3.0 - df + 0.5) / (df + 0.5)).ln();
        let part = |idf: f64, f: f64, length: f64| {
            idf * f * 2.5 / (f + 1.5 * (0.25 + 0.75 * length / 2.0))
        };
        let expected =
            [part(idf(2.0), 2.0, 2.0), 0.0, part(idf(2.0), 1.0, 3.0) + part(idf(1.0), 1.0, 3.0)];
        assert_close(&scores(&bm25("deploy key", plain()), &items), &expected);
    }

    #[test]
    fn repetition_in_the_query_weighs_by_its_logarithm() {
        let items = texts(&["deploy", "lunch"]);
        let once = scores(&bm25("deploy", plain()), &items)[0];
        let thrice = scores(&bm25("deploy deploys deploying", plain()), &items)[0];
        assert_close(&[thrice], &[once * (1.0 + 3.0_f64.ln())]);
    }

    #[test]
    fn the_exponent_raises_the_rarity() {
        let items = texts(&["deploy", "lunch"]);
        let idf = 2.0_f64.ln();
        let squared = Bm25Parameters { idf_exponent: 2.0, ..plain() };
        assert_close(&scores(&bm25("deploy", squared), &items)[..1], &[idf * idf]);
    }

    #[test]
    fn only_the_heaviest_terms_count_and_the_first_of_equals() {
        let items = texts(&["common rare", "common lunch", "common"]);
        let one = Bm25Parameters { max_terms: 1, ..plain() };
        let hits = |query: &str| scores(&bm25(query, one), &items).map_positive();
        assert_eq!(hits("common rare"), [true, false, false]);
        assert_eq!(hits("lunch rare"), [false, true, false]);
    }

    trait MapPositive {
        fn map_positive(&self) -> Vec<bool>;
    }

    impl MapPositive for Vec<f64> {
        fn map_positive(&self) -> Vec<bool> {
            self.iter().map(|score| *score > 0.0).collect()
        }
    }

    #[test]
    fn words_that_only_ask_weigh_what_they_are_told() {
        let items = texts(&["deploy summary", "lunch"]);
        let asking = Bm25Parameters { asking_weight: 0.25, ..plain() };
        let full = scores(&bm25("summary", plain()), &items)[0];
        assert_close(&scores(&bm25("summarize the summary", asking), &items), &[full * 0.25, 0.0]);
    }

    #[test]
    fn without_terms_everything_scores_zero() {
        let items = texts(&["deploy", "the"]);
        for query in ["", "what is it?", "unheard"] {
            assert_eq!(scores(&bm25(query, plain()), &items), [0.0, 0.0], "{query}");
        }
        assert_eq!(scores(&bm25("deploy", plain()), &[]), [0.0; 0]);
    }

    #[test]
    fn a_query_of_a_hundred_thousand_words_is_answered() {
        let words: Vec<String> =
            (0..100_000).map(|number| format!("{}", 100_000 + number % 30_000)).collect();
        let items = texts(&[&words[..30].join(" "), "lunch", &words[40..70].join(" ")]);
        let found = scores(&bm25(&words.join(" "), plain()), &items);
        assert!(found[0] > 0.0 && found[1] == 0.0 && found[2] > 0.0);
    }

    #[test]
    fn scripts_without_spaces_are_found() {
        let items = texts(&["昨天部署失败了", "今天天气很好", "การติดตั้งล้มเหลว"]);
        let best = |query: &str| scores(&bm25(query, plain()), &items).map_positive();
        assert_eq!(best("部署为什么失败?"), [true, false, false]);
        assert_eq!(best("ล้มเหลว"), [false, false, true]);
    }

    #[test]
    fn words_of_a_field_count_by_its_weight() {
        let tagged = item("body").tags(vec!["symbol:parse_header".into(), "other:lunch".into()]);
        let items = build([tagged, item("body parse header")]);
        let fields = vec![Field::new("symbol", 2.0)];
        let index = Index::with_fields(Analysis::default(), fields).unwrap();
        let query = Query::new("header");
        let scorer = Bm25Scorer::with_parameters(query, index.clone(), plain()).unwrap();
        assert_eq!(scorer.contributions(&items, 0)[0].count, 2.0);
        assert_eq!(scorer.contributions(&items, 1)[0].count, 1.0);
        let lunch = Bm25Scorer::new(Query::new("lunch"), index).unwrap();
        assert_eq!(scores(&lunch, &items), [0.0, 0.0]);
    }

    #[test]
    fn an_index_that_holds_more_changes_no_bit() {
        let items = texts(&["deploy failed twice", "lunch", "deploy key", "the key of the deploy"]);
        let fresh = scores(&bm25("deploy key", plain()), &items[1..]);
        let index = Index::default();
        index.extend(&texts(&["key key", "deploy"]));
        index.extend(&items);
        let kept = Bm25Scorer::with_parameters(Query::new("deploy key"), index, plain()).unwrap();
        let kept = scores(&kept, &items[1..]);
        assert_eq!(kept, fresh);
    }

    #[test]
    fn an_item_that_is_listed_twice_counts_twice() {
        let once = texts(&["deploy key", "lunch"]);
        let twice = [once[0].clone(), once[1].clone(), once[0].clone()];
        let apart = texts(&["deploy key", "lunch", "deploy key"]);
        let scorer = bm25("key", plain());
        assert_eq!(scores(&scorer, &twice), scores(&scorer, &apart));
    }

    #[test]
    fn contributions_add_up_to_the_score_most_first() {
        let items = texts(&["deploy key", "deploy deploy lunch", "deploy"]);
        let scorer = bm25("deploy key", plain());
        let parts = scorer.contributions(&items, 0);
        assert_eq!(parts.iter().map(|part| &*part.term).collect::<Vec<_>>(), ["key", "deploy"]);
        let total = parts.iter().map(|part| part.score).sum::<f64>();
        assert_close(&[total], &scores(&scorer, &items)[..1]);
        let text = scorer.explain(&ItemList::new(&items), &[2])[0].to_string();
        assert!(text.starts_with("words 0.1") && text.contains("\n  word `deploy` 0.1"), "{text}");
        assert!(scorer.contributions(&items, 3).is_empty());
    }

    #[test]
    fn constants_out_of_range_and_foreign_queries_are_refused() {
        let text = |query, parameters| {
            Bm25Scorer::with_parameters(query, Index::default(), parameters)
                .unwrap_err()
                .to_string()
        };
        let usual = Bm25Parameters::default();
        let bad = Bm25Parameters { k1: f64::INFINITY, ..usual };
        assert_eq!(text(Query::new("x"), bad), "k1: must be finite and not negative, got inf");
        let bad = Bm25Parameters { b: 1.1, ..usual };
        assert_eq!(text(Query::new("x"), bad), "b: must be within 0 and 1, got 1.1");
        let bad = Bm25Parameters { max_terms: 0, ..usual };
        assert_eq!(text(Query::new("x"), bad), "max_terms: must be at least 1, got 0");
        let german = Query::with_analysis("x", Analysis::of(Language::German));
        assert_eq!(
            text(german, usual),
            "query: must be analysed like the index, got german stems and german stop words for an \
             index of english stems and english stop words"
        );
    }

    /// The formula, word by word and without an index.
    fn oracle(query: &[&str], texts: &[Vec<&str>], parameters: &Bm25Parameters) -> Vec<f64> {
        let total: usize = texts.iter().map(Vec::len).sum();
        let mean = total as f64 / texts.len() as f64;
        let count =
            |words: &[&str], word: &str| words.iter().filter(|w| **w == word).count() as f64;
        let mut scores = vec![0.0; texts.len()];
        let mut seen: Vec<&str> = Vec::new();
        for word in query {
            if seen.contains(word) {
                continue;
            }
            seen.push(word);
            let having = texts.iter().filter(|text| text.contains(word)).count() as f64;
            if having == 0.0 {
                continue;
            }
            let idf = (1.0 + (texts.len() as f64 - having + 0.5) / (having + 0.5)).ln();
            let weight = idf.powf(parameters.idf_exponent) * (1.0 + count(query, word).ln());
            for (score, text) in scores.iter_mut().zip(texts) {
                let f = count(text, word);
                let norm = 1.0 - parameters.b + parameters.b * text.len() as f64 / mean;
                *score += weight * f * (parameters.k1 + 1.0) / (f + parameters.k1 * norm);
            }
        }
        scores
    }

    #[test]
    fn random_lists_agree_with_the_oracle() {
        let vocabulary = ["amber", "birch", "cloud", "delta", "ember", "flint", "grove", "heath"];
        let mut random = Random(7);
        for _ in 0..300 {
            let mut words = |most: usize| -> Vec<&str> {
                (0..=random.below(most)).map(|_| vocabulary[random.below(8)]).collect()
            };
            let rows: Vec<Vec<&str>> = (0..=words(9).len()).map(|_| words(12)).collect();
            let query = words(6);
            let parameters = Bm25Parameters { k1: query.len() as f64 / 2.0, b: 0.4, ..plain() };
            let lines: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
            let items = texts(&lines.iter().map(String::as_str).collect::<Vec<_>>());
            let actual = scores(&bm25(&query.join(" "), parameters), &items);
            assert_close(&actual, &oracle(&query, &rows, &parameters));
        }
    }
}
