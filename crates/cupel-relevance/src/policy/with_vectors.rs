//! Vectors beside another scorer, where there are any.

use std::sync::Arc;

use cupel::policy::{DescriptionError, Options};
use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};

use super::Strategies;
use super::options::{grouping, kernel, number};
use crate::{
    ConstantScorer, Grouping, ItemVectors, MaxNormScorer, NeighbourParameters, NeighbourScorer,
    SumScorer, VectorScorer,
};

/// A scorer, and vectors beside it in runs that bring some.
struct WithVectors {
    /// Those that it was built with, for runs that bring none.
    strategies: Strategies,
    inner: Arc<dyn Scorer>,
    beside: Beside,
}

/// How vectors join another scorer.
struct Beside {
    grouping: Grouping,
    /// What they count beside the other scorer.
    weight: f64,
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
        beside.join(Arc::new(ConstantScorer(0.0)), Arc::new(ItemVectors::new(1)?), &[1.0])?;
        Ok(Box::new(WithVectors { strategies: self.clone(), inner, beside }))
    }
}

impl WithVectors {
    fn scorer(&self, items: &ItemList<'_>) -> Arc<dyn Scorer> {
        let inner = self.inner.clone();
        match &self.strategies.in_run(items.context()).vectors {
            Some((vectors, query)) => {
                let joined = self.beside.join(inner, vectors.clone(), query);
                Arc::new(joined.expect("constants and the vector of the query were checked before"))
            }
            None => inner,
        }
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
    fn join(
        &self,
        inner: Arc<dyn Scorer>,
        items: Arc<ItemVectors>,
        query: &[f32],
    ) -> Result<SumScorer, CupelError> {
        let alike = VectorScorer::new(items, query)?.sharpened(self.floor, self.exponent)?;
        let around = NeighbourScorer::with_parameters(alike, self.grouping.clone(), self.around)?;
        SumScorer::new(vec![
            (Box::new(MaxNormScorer::new(inner)), 1.0),
            (Box::new(MaxNormScorer::new(around)), self.weight),
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
        let mut plain = toml::Value::try_from(auto()).unwrap();
        unwrap_vectors(&mut plain);
        assert!(!plain.to_string().contains("with-vectors"));
        let strategies = Strategies::new("Whose cat sleeps?");
        let plain = PolicyDescription::deserialize_with(plain, &strategies).unwrap();
        let policy = plain.build_with(&strategies, SystemTimeProvider).unwrap();
        let bits = |scores: Vec<f64>| scores.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        let expected = bits(scores(policy.scorer(), &items));
        assert_eq!(bits(auto_scores(&strategies, &items)), expected);
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
