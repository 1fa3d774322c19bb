//! Words that mean nearly the same as those of a query, by the table of `cupel-words`.
//!
//! All sums over components are sums of whole numbers, or of floats in a fixed order, so that the same list and query have the
//! same bits on every platform.

use std::sync::{Arc, MutexGuard, PoisonError};

use cupel_words::{COMPONENTS, LENGTH, Vector};

use super::list::ListView;
use super::store::Posting;
use crate::text::lexicon::TermId;
use crate::{Language, Query};

/// The number of query terms in the list at which like words count nothing: a long question finds what it needs by its own
/// words, and what is like one of many words leads astray. Chosen on LoCoMo and QMSum: without it QMSum loses one to two points.
const LONG_QUERY: f64 = 8.0;

/// The number of terms over which they fade. Chosen with [`LONG_QUERY`].
const FADE: f64 = 4.0;

/// The cosine from which two words are alike, once the mean of the list's words is taken off both. Chosen on LoCoMo with the weight of
/// like words, not by itself.
const LEAST_COSINE: f64 = 0.45;

/// The fixed point of means: eighths of a component.
const EIGHTHS: i32 = 8;

/// A word of the list that means nearly the same as a word of the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LikeTerm {
    pub(crate) term: TermId,
    /// The part of an occurrence that counts, above 0 and at most 1.
    pub(crate) affinity: f64,
}

/// The like words of a query in a list.
#[derive(Debug, Default)]
pub(crate) struct LikeTerms {
    /// For each term of the query, in its order.
    of_query: Vec<Vec<LikeTerm>>,
}

impl LikeTerms {
    /// The words that are like a term of the query, by its place; none beyond the query.
    pub(crate) fn of(&self, place: usize) -> &[LikeTerm] {
        self.of_query.get(place).map_or(&[], Vec::as_slice)
    }
}

/// The vectors of the index's terms, and the answers that several scorers of one run ask for.
#[derive(Default)]
pub(super) struct LikeCache {
    /// For each term that was looked up.
    vectors: Vec<Option<Vector>>,
    like_terms: Option<Answer<LikeTerms>>,
    lengths: Option<Answer<Vec<f64>>>,
}

/// An answer, and the list and query that it is for. The text of the query is empty where it does not matter.
struct Answer<T> {
    query: String,
    numbers: Vec<u32>,
    found: Arc<T>,
}

impl<T> Answer<T> {
    fn get(known: Option<&Self>, query: &str, numbers: &[u32]) -> Option<Arc<T>> {
        let known = known?;
        (known.query == query && known.numbers == numbers).then(|| known.found.clone())
    }
}

impl ListView<'_> {
    /// The part that like words play for a query, from 0 to 1: all of it for short questions in English.
    pub(crate) fn like_share(&self, query: &Query) -> f64 {
        if query.analysis().stemming() != Some(Language::English) {
            return 0.0;
        }
        let is_there =
            |(term, _): &(&str, u32)| self.find(term).is_some_and(|term| self.frequency(term) > 0);
        let there = query.terms().filter(is_there).count() as f64;
        ((LONG_QUERY - there) / FADE).clamp(0.0, 1.0)
    }

    /// The words of the list that are like those of a query.
    pub(crate) fn like_terms(&self, query: &Query) -> Arc<LikeTerms> {
        let mut cache = self.like_cache();
        let known = Answer::get(cache.like_terms.as_ref(), query.text(), self.numbers());
        known.unwrap_or_else(|| {
            let answer = Arc::new(self.find_like_terms(query, &cache.vectors));
            cache.like_terms = Some(Answer {
                query: query.text().to_owned(),
                numbers: self.numbers().to_vec(),
                found: answer.clone(),
            });
            answer
        })
    }

    fn find_like_terms(&self, query: &Query, vectors: &[Option<Vector>]) -> LikeTerms {
        let frequencies = self.frequencies();
        let words: Vec<(TermId, Vector)> = (0..)
            .zip(vectors)
            .filter(|(term, _)| frequencies[*term as usize] > 0)
            .filter_map(|(term, vector)| Some((term, (*vector)?)))
            .collect();
        let centre = centre(&words);
        let centred_length = |vector: Vector| {
            let square = i64::from(EIGHTHS * EIGHTHS) * i64::from(vector.dot(vector))
                - 2 * i64::from(EIGHTHS) * i64::from(vector.dot_wide(&centre))
                + dot(&centre, &centre);
            (square.max(1) as f64).sqrt()
        };
        let lengths: Vec<f64> = words.iter().map(|(_, vector)| centred_length(*vector)).collect();
        let rarity = |term: Option<TermId>| {
            self.rarity(term.map_or(0, |term| frequencies[term as usize] as usize))
        };
        let like = |text: &str| -> Vec<LikeTerm> {
            let Some(vector) = vector(text) else { return Vec::new() };
            let own = self.find(text);
            let wanted = rarity(own);
            let asked = centred(vector, &centre);
            let (length, offset) = (centred_length(vector), dot(&asked, &centre));
            let affinity = |(term, vector): &(TermId, Vector), other: f64| {
                let product = i64::from(EIGHTHS) * i64::from(vector.dot_wide(&asked)) - offset;
                let cosine = product as f64 / (length * other);
                let affinity = (cosine - LEAST_COSINE) / (1.0 - LEAST_COSINE);
                // A common word that is like a rare one says less.
                let affinity = affinity.min(1.0) * (rarity(Some(*term)) / wanted).min(1.0);
                (affinity > 0.0).then_some(LikeTerm { term: *term, affinity })
            };
            let others = words.iter().zip(&lengths).filter(|((term, _), _)| Some(*term) != own);
            others.filter_map(|(word, length)| affinity(word, *length)).collect()
        };
        LikeTerms { of_query: query.terms().map(|(text, _)| like(text)).collect() }
    }

    /// Likeness of each item of the list and the query as whole texts: the cosine of their pooled words, rarer ones weighing more.
    ///
    /// Short texts are held to a quarter of the usual length, so that a single like word does not make a text alike.
    pub(crate) fn like_texts(&self, query: &Query, asking_weight: f64, likeness: &mut [f64]) {
        likeness.fill(0.0);
        let mut cache = self.like_cache();
        let frequencies = self.frequencies();
        let lengths = self.pooled_lengths(&mut cache, &frequencies);
        let Some(asked) = self.pooled_query(query, asking_weight) else { return };
        let asked_length = (dot(&asked, &asked) as f64).sqrt() * f64::from(LENGTH);
        let along = |vector: &Option<Vector>| {
            vector.map_or(0.0, |vector| f64::from(vector.dot_wide(&asked)) / asked_length)
        };
        // What a word has of the query is asked once for each word, not for each occurrence.
        let along: Vec<f64> = cache.vectors.iter().map(along).collect();
        let weights: Vec<f64> =
            frequencies.iter().map(|having| self.rarity(*having as usize)).collect();
        let floor = 0.25 * median(&lengths);
        for (position, like) in likeness.iter_mut().enumerate() {
            let part = |posting: &Posting| {
                let term = posting.term as usize;
                weights[term] * f64::from(posting.count) * along[term]
            };
            let product: f64 = self.terms(position).iter().map(part).sum();
            let length = lengths[position] + floor;
            if length > 0.0 {
                *like = product / length;
            }
        }
    }

    /// The words of the query as one vector, as long as 16 bits hold; `None` if the table has none of them.
    fn pooled_query(&self, query: &Query, asking_weight: f64) -> Option<[i16; COMPONENTS]> {
        let mut pooled = [0.0_f64; COMPONENTS];
        for (text, count, is_asking) in query.asked_terms() {
            let Some(vector) = vector(text) else { continue };
            let having = self.find(text).map_or(0, |term| self.frequency(term));
            let asking = if is_asking { asking_weight } else { 1.0 };
            let weight = self.rarity(having) * (1.0 + f64::from(count).ln()) * asking;
            for (sum, part) in pooled.iter_mut().zip(vector.components()) {
                *sum += weight * f64::from(part);
            }
        }
        let largest = pooled.iter().fold(0.0_f64, |largest, part| largest.max(part.abs()));
        (largest > 0.0).then(|| pooled.map(|part| (part / largest * 16_384.0).round() as i16))
    }

    /// For each item the length of the sum of its words' vectors.
    fn pooled_lengths(&self, cache: &mut LikeCache, frequencies: &[u32]) -> Arc<Vec<f64>> {
        if let Some(known) = Answer::get(cache.lengths.as_ref(), "", self.numbers()) {
            return known;
        }
        let weights: Vec<f32> =
            frequencies.iter().map(|having| self.rarity(*having as usize) as f32).collect();
        let length = |position: usize| {
            let mut pooled = [0.0_f32; COMPONENTS];
            for posting in self.terms(position) {
                if let Some(vector) = cache.vectors[posting.term as usize] {
                    let weight = weights[posting.term as usize] * posting.count;
                    for (sum, part) in pooled.iter_mut().zip(vector.components()) {
                        *sum += weight * f32::from(part);
                    }
                }
            }
            let square: f64 = pooled.iter().map(|part| f64::from(*part) * f64::from(*part)).sum();
            square.sqrt() / f64::from(LENGTH)
        };
        let lengths = Arc::new((0..self.len()).map(length).collect::<Vec<f64>>());
        let numbers = self.numbers().to_vec();
        cache.lengths = Some(Answer { query: String::new(), numbers, found: lengths.clone() });
        lengths
    }

    /// The cache, with the vectors of all terms of the index.
    fn like_cache(&self) -> MutexGuard<'_, LikeCache> {
        let mut cache = self.cache().lock().unwrap_or_else(PoisonError::into_inner);
        for term in cache.vectors.len()..self.term_count() {
            cache.vectors.push(vector(self.text(term as TermId)));
        }
        cache
    }
}

/// Stems of words that are alike whatever is asked: courtesies, and words that count or point.
const EMPTY: &[&str] = &[
    "bye", "first", "four", "hello", "hey", "hi", "last", "next", "no", "ok", "okay", "one",
    "pleas", "second", "sorri", "sure", "thank", "third", "three", "two", "welcom", "yes",
];

/// The vector of a word that has a subject.
fn vector(stem: &str) -> Option<Vector> {
    if EMPTY.binary_search(&stem).is_ok() { None } else { cupel_words::english(stem) }
}

/// The number of words at which half of the mean is taken off: the few words of a short list are no background, they are the
/// subject, and without this `walk` and `hike` in a list of five words would be opposites.
const BACKGROUND: usize = 32;

/// The mean of some vectors in eighths, less of it for few; zeros if there are none.
fn centre(words: &[(TermId, Vector)]) -> [i16; COMPONENTS] {
    let mut sums = [0_i32; COMPONENTS];
    for (_, vector) in words {
        for (sum, part) in sums.iter_mut().zip(vector.components()) {
            *sum += i32::from(part);
        }
    }
    let count = (words.len() + BACKGROUND) as f64;
    sums.map(|sum| (f64::from(EIGHTHS) * f64::from(sum) / count).round() as i16)
}

/// Eighths of a vector, without the centre.
fn centred(vector: Vector, centre: &[i16; COMPONENTS]) -> [i16; COMPONENTS] {
    let mut centred = *centre;
    for (part, whole) in centred.iter_mut().zip(vector.components()) {
        // Both are below 1,024 by their size.
        *part = i16::from(whole) * EIGHTHS as i16 - *part;
    }
    centred
}

fn dot(a: &[i16; COMPONENTS], b: &[i16; COMPONENTS]) -> i64 {
    a.iter().zip(b).map(|(a, b)| i64::from(*a) * i64::from(*b)).sum()
}

/// The middle one, or the lower of two; 0 for none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, scores, texts};
    use crate::{Bm25Parameters, Bm25Scorer, Index};
    use cupel::{ContextItem, ItemList, Scorer};

    const TALK: [&str; 5] = [
        "We went hiking on Sunday.",
        "She is a physician in town.",
        "The tax form is late.",
        "A walk would be nice.",
        "Soup again?",
    ];

    fn like(query: &str, items: &[ContextItem]) -> Vec<Vec<(String, f64)>> {
        let (query, index) = (Query::new(query), Index::default());
        index.list(items, |view| {
            let found = view.like_terms(&query);
            let named = |like: &LikeTerm| (view.text(like.term).to_owned(), like.affinity);
            (0..query.terms().len()).map(|at| found.of(at).iter().map(named).collect()).collect()
        })
    }

    fn words_like(query: &str) -> Vec<Vec<String>> {
        let items = texts(&TALK);
        let names = |likes: Vec<(String, f64)>| likes.into_iter().map(|(name, _)| name).collect();
        like(query, &items).into_iter().map(names).collect()
    }

    #[test]
    fn words_that_mean_nearly_the_same_are_found_and_others_are_not() {
        assert_eq!(words_like("doctor"), [["physician"]]);
        assert_eq!(words_like("hike tax zzyzx"), [vec!["walk"], vec![], vec![]]);
        assert_eq!(words_like("the"), [[""; 0]; 0]);
        let polite = texts(&["Thanks a lot!", "Two of them.", "The tax form."]);
        assert_eq!(like("Please, which one?", &polite), [[], []]);
    }

    #[test]
    fn a_common_word_that_is_like_a_rare_one_counts_less() {
        let part = |items: &[ContextItem]| like("doctor", items)[0][0].1;
        let rare = part(&texts(&TALK));
        let mut talk = TALK.to_vec();
        talk.extend(["One physician came.", "That physician left.", "Which physician?"]);
        let common = part(&texts(&talk));
        assert!(0.0 < common && common < 0.6 * rare && rare <= 1.0, "{common} {rare}");
    }

    fn bm25(query: &str, like_words: f64) -> Bm25Scorer {
        let parameters = Bm25Parameters { like_words, ..Bm25Parameters::default() };
        Bm25Scorer::with_parameters(Query::new(query), Index::default(), parameters).unwrap()
    }

    #[test]
    fn an_occurrence_of_a_like_word_counts_its_part() {
        let items = texts(&TALK);
        let affinity = like("doctor", &items)[0][0].1;
        let contribution = &bm25("doctor", 0.5).contributions(&items, 1)[0];
        assert_close(&[contribution.count], &[0.5 * affinity]);
        assert_eq!(
            (contribution.term.as_str(), &*contribution.like),
            ("doctor", &["physician".to_owned()][..])
        );
        let found = scores(&bm25("doctor", 0.5), &items);
        assert_close(&found, &[0.0, contribution.score, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_word_and_one_like_it_saturate_as_one_word() {
        let items = texts(&["a walk and a hike", "the tax form", "soup"]);
        let contribution = &bm25("walking", 0.7).contributions(&items, 0)[0];
        let affinity = like("walking", &items)[0][0].1;
        assert_close(&[contribution.count], &[1.0 + 0.7 * affinity]);
        assert_close(&scores(&bm25("walking", 0.7), &items)[..1], &[contribution.score]);
    }

    #[test]
    fn an_explanation_names_the_like_word() {
        let items = texts(&TALK);
        let text = bm25("Which doctor?", 0.7).explain(&ItemList::new(&items), &[1])[0].to_string();
        assert!(text.contains("word `doctor ~ physician`"), "{text}");
    }

    #[test]
    fn without_them_and_for_long_questions_nothing_changes_to_the_bit() {
        let mut talk = TALK.to_vec();
        talk.push("red blue green black white brown pink grey doctor");
        let items = texts(&talk);
        let bits = |scorer: &Bm25Scorer| -> Vec<u64> {
            scores(scorer, &items).into_iter().map(f64::to_bits).collect()
        };
        let long = talk[5];
        assert_eq!(bits(&bm25(long, 0.7)), bits(&bm25(long, 0.0)));
        assert_ne!(bits(&bm25("red doctor", 0.7)), bits(&bm25("red doctor", 0.0)));
    }

    #[test]
    fn a_list_without_known_words_has_no_centre_and_no_like_words() {
        assert_eq!(like("doctor", &texts(&["zzyzx", "12 34"])), [[]]);
        assert_eq!(like("doctor", &[]), [[]]);
    }

    #[test]
    fn words_without_a_subject_are_sorted_stems() {
        assert!(EMPTY.is_sorted());
        let written = "bye first four hello hey hi last next no ok okay one please second sorry sure thanks \
                       third three two welcome yes";
        let stems = crate::Analysis::of(Language::English).with_stop_words(None).terms(written);
        assert_eq!(EMPTY, stems);
    }

    #[test]
    fn the_median_is_the_lower_middle() {
        assert_eq!(
            [median(&[]), median(&[3.0]), median(&[4.0, 1.0]), median(&[5.0, 1.0, 2.0])],
            [0.0, 3.0, 1.0, 2.0]
        );
    }
}
