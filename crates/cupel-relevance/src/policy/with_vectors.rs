//! Vectors beside another scorer, where there are any.

use std::sync::Arc;

use cupel::policy::{DescriptionError, Options};
use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};

use super::Strategies;
#[cfg(feature = "word-vectors")]
use super::options::usual_fields;
use super::options::{grouping, kernel, number};
#[cfg(feature = "word-vectors")]
use crate::Condition;
use crate::{
    ConstantScorer, Grouping, ItemVectors, MaxNormScorer, NeighbourParameters, NeighbourScorer,
    SumScorer, VectorScorer, parameter,
};

/// A scorer, and vectors beside it in runs that bring some.
struct WithVectors {
    /// Those that it was built with, for runs that bring none.
    strategies: Strategies,
    inner: Arc<dyn Scorer>,
    beside: Beside,
}

/// Combination of vectors with another scorer.
struct Beside {
    grouping: Grouping,
    /// Weight beside the other scorer.
    weight: f64,
    /// Weight of whole texts by the table of words, in runs that bring no vectors.
    text_weight: f64,
    floor: f64,
    exponent: f64,
    around: NeighbourParameters,
}

impl Strategies {
    /// The scorer in the option `scorer`, as it is; or, where vectors were supplied, divided by its
    /// largest score, plus what the vectors say, divided likewise.
    pub(super) fn with_vectors_beside(
        &self,
        options: &mut Options<'_>,
    ) -> Result<Box<dyn Scorer>, DescriptionError> {
        let beside = Beside {
            grouping: grouping(options, "session")?,
            weight: number(options, "vector_weight", 0.7)?,
            text_weight: number(options, "text_weight", 0.0)?,
            floor: number(options, "floor", 0.1)?,
            exponent: number(options, "exponent", 2.0)?,
            around: NeighbourParameters {
                kernel: kernel(options)?,
                share: number(options, "share", 0.3)?,
                // Vectors of short and long texts are alike in size.
                own_exponent: 0.0,
            },
        };
        let inner = Arc::from(options.scorer("scorer")?);
        // Wrong constants are refused now: a run cannot refuse anything.
        parameter::not_negative("text_weight", beside.text_weight)?;
        let alike = beside.alike(Arc::new(ItemVectors::new(1)?), &[1.0])?;
        beside.join(Arc::new(ConstantScorer(0.0)), alike, beside.weight)?;
        Ok(Box::new(WithVectors { strategies: self.clone(), inner, beside }))
    }
}

impl WithVectors {
    fn scorer(&self, items: &ItemList<'_>) -> Arc<dyn Scorer> {
        let inner = self.inner.clone();
        let strategies = self.strategies.in_run(items.context());
        let checked = "constants and the vector of the query were checked before";
        if let Some((vectors, query)) = &strategies.vectors {
            let alike = self.beside.alike(vectors.clone(), query).expect(checked);
            return Arc::new(self.beside.join(inner, alike, self.beside.weight).expect(checked));
        }
        #[cfg(feature = "word-vectors")]
        if let Some((alike, weight)) = self.like_texts(strategies, items) {
            return Arc::new(self.beside.join(inner, alike, weight).expect(checked));
        }
        inner
    }

    /// Likeness of texts as a whole, and its weight; `None` where the weight is zero.
    #[cfg(feature = "word-vectors")]
    fn like_texts(
        &self,
        strategies: &Strategies,
        items: &ItemList<'_>,
    ) -> Option<(crate::LikeTextScorer, f64)> {
        let Beside { text_weight, floor, exponent, .. } = self.beside;
        // Where calls stand with their results, what will be needed decides, and texts that are merely alike displace it: τ-bench at
        // 1,000 tokens loses half a point, and nothing gains.
        if text_weight == 0.0 || Condition::Exchanges.holds(items) {
            return None;
        }
        let language = strategies.language_of(items);
        let (query, index) = strategies.texts_in(language, &usual_fields()).ok()?;
        let alike = crate::LikeTextScorer::new(query, index, floor, exponent).ok()?;
        let weight = text_weight * alike.share(items);
        (weight > 0.0).then_some((alike, weight))
    }
}

impl Scorer for WithVectors {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        self.scorer(&ItemList::new(all_items)).score(item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        self.scorer(items).score_all(items, scores);
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        self.scorer(items).explain(items, positions)
    }
}

impl Beside {
    fn alike(&self, items: Arc<ItemVectors>, query: &[f32]) -> Result<VectorScorer, CupelError> {
        VectorScorer::new(items, query)?.sharpened(self.floor, self.exponent)
    }

    fn join(
        &self,
        inner: Arc<dyn Scorer>,
        alike: impl Scorer + 'static,
        weight: f64,
    ) -> Result<SumScorer, CupelError> {
        let around = NeighbourScorer::with_parameters(alike, self.grouping.clone(), self.around)?;
        SumScorer::new(vec![
            (Box::new(MaxNormScorer::new(inner)), 1.0),
            (Box::new(MaxNormScorer::new(around)), weight),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{scores, texts};
    use crate::{Query, VectorFile, auto};
    use cupel::{ContextItem, PolicyDescription, SystemTimeProvider};

    const TALK: [&str; 4] =
        ["My cat purrs all night.", "So does mine.", "Stocks fell again.", "A kitten sleeps here."];

    fn auto_scores(strategies: &Strategies, items: &[ContextItem]) -> Vec<f64> {
        let policy = auto().build_with(strategies, SystemTimeProvider).unwrap();
        scores(policy.scorer(), items)
    }

    fn with_vectors(query: &str, items: &[ContextItem], file: &str) -> Strategies {
        let file = VectorFile::parse(file).unwrap();
        let vectors = Arc::new(file.for_items(items).unwrap());
        Strategies::new(query).with_vectors(vectors, file.query().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn vectors_find_what_shares_no_word() {
        let items = texts(&TALK);
        let file = r#"{"query": [1, 0], "items": [[0.9, 0.1], null, [0, 1], [1, 0.1]]}"#;
        let best =
            |scores: Vec<f64>| (0..4).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
        assert_eq!(best(auto_scores(&with_vectors("felines", &items, file), &items)), 3);
        // The word that is there counts too.
        let asked = with_vectors("cat", &items, file);
        assert!(Query::new("cat").terms().len() == 1);
        assert_eq!(best(auto_scores(&asked, &items)), 0);
    }

    #[test]
    fn without_vectors_nothing_changes_to_the_last_bit() {
        let items = texts(&TALK);
        let strategies = Strategies::new("Whose cat sleeps?");
        let bits = |policy: toml::Value| -> Vec<u64> {
            let policy = PolicyDescription::deserialize_with(policy, &strategies).unwrap();
            let policy = policy.build_with(&strategies, SystemTimeProvider).unwrap();
            scores(policy.scorer(), &items).into_iter().map(f64::to_bits).collect()
        };
        // Whole texts by the table of words would take the vectors' place.
        let text =
            toml::to_string(&auto()).unwrap().replace("text_weight = 0.3", "text_weight = 0.0");
        let with: toml::Value = toml::from_str(&text).unwrap();
        let mut without = with.clone();
        unwrap_vectors(&mut without);
        assert!(!without.to_string().contains("with-vectors"));
        assert_eq!(bits(with), bits(without));
    }

    #[cfg(feature = "word-vectors")]
    #[test]
    fn vectors_take_the_place_of_whole_texts() {
        let items = texts(&TALK);
        let file = r#"{"query": [1, 0], "items": [[0.9, 0.1], null, [0, 1], [1, 0.1]]}"#;
        let asked = with_vectors("Which pets?", &items, file);
        let text = toml::to_string(&auto()).unwrap();
        let scores_of = |text: &str| {
            let policy = toml::Deserializer::parse(text).unwrap();
            let policy = PolicyDescription::deserialize_with(policy, &asked).unwrap();
            scores(policy.build_with(&asked, SystemTimeProvider).unwrap().scorer(), &items)
        };
        let without = text.replace("text_weight = 0.3", "text_weight = 0.0");
        assert_ne!(text, without);
        assert_eq!(scores_of(&text), scores_of(&without));
    }

    /// Puts the inner scorer in the place of each `with-vectors`.
    fn unwrap_vectors(value: &mut toml::Value) {
        if value.get("type").and_then(toml::Value::as_str) == Some("with-vectors") {
            *value = value["scorer"].clone();
        }
        match value {
            toml::Value::Table(table) => {
                table.iter_mut().for_each(|(_, value)| unwrap_vectors(value));
            }
            toml::Value::Array(list) => list.iter_mut().for_each(unwrap_vectors),
            _ => {}
        }
    }

    #[test]
    fn a_broken_vector_of_the_query_is_refused_with_its_path() {
        let items = texts(&TALK);
        let file = VectorFile::parse(r#"{"query": [1, 0], "items": [[1, 0]]}"#).unwrap();
        let vectors = Arc::new(file.for_items(&items).unwrap());
        let error = Strategies::new("x").with_vectors(vectors, vec![1.0]).unwrap_err().to_string();
        assert_eq!(error, "query_vector: must have 2 components, got 1");
    }
}
