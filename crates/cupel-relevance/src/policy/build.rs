//! From a name and its options to a strategy.

use cupel::policy::{DescriptionError, Options, StrategyProvider};
use cupel::{Scorer, Slicer};

#[cfg(feature = "schema")]
use super::catalogue;
use super::options::{
    bm25_parameters, condition, coverage_parameters, grouping, keep_parameters, kernel, kernel_or,
    neighbour_parameters, number,
};
use super::strategies::Strategies;
use crate::scorer::{STRETCH_KERNEL, STRETCH_WEIGHT};
use crate::{
    AddressedScorer, BestFirstSlice, Bm25Scorer, ClassNormScorer, ConstantScorer, CoverageSlice,
    DateScorer, EchoScorer, GroupLiftScorer, KeepSlice, Language, LanguageChoice, LengthNormScorer,
    LiveValuesScorer, MaxNormScorer, NeighbourScorer, ProductScorer, SpeakerScorer, StretchScorer,
    SumScorer, VectorScorer, WhenScorer, WidenedScorer,
};

/// The names of the scorers.
pub(super) const SCORERS: &[&str] = &[
    "bm25",
    "widened",
    "neighbours",
    "stretch",
    "group-lift",
    "sum",
    "product",
    "max-norm",
    "when",
    "constant",
    "live-values",
    "class-norm",
    "length-norm",
    "speaker",
    "addressed",
    "dates",
    "echo",
    "vectors",
    "with-vectors",
];

/// The names of the slicers.
pub(super) const SLICERS: &[&str] = &["best-first", "coverage", "keep"];

type Built<T> = Result<Box<T>, DescriptionError>;

impl StrategyProvider for Strategies {
    fn scorer_names(&self) -> &[&'static str] {
        SCORERS
    }

    fn slicer_names(&self) -> &[&'static str] {
        SLICERS
    }

    fn scorer(&self, name: &str, options: &mut Options<'_>) -> Built<dyn Scorer> {
        Ok(match name {
            "bm25" => self.bm25(options)?,
            "widened" => self.widened(options)?,
            "neighbours" => Box::new(neighbours(options)?),
            "stretch" => {
                let (grouping, kernel) =
                    (grouping(options, "session")?, kernel_or(options, STRETCH_KERNEL)?);
                let weight = number(options, "stretch_weight", STRETCH_WEIGHT)?;
                let inner = options.scorer("scorer")?;
                Box::new(StretchScorer::with_parameters(inner, grouping, weight, kernel)?)
            }
            "group-lift" => {
                let (grouping, share) =
                    (grouping(options, "path")?, number(options, "share", 0.5)?);
                Box::new(GroupLiftScorer::new(options.scorer("scorer")?, grouping, share)?)
            }
            "sum" => Box::new(SumScorer::new(options.scorers("scorers")?)?),
            "product" => Box::new(ProductScorer::new(options.scorers("scorers")?)?),
            "max-norm" => Box::new(MaxNormScorer::new(options.scorer("scorer")?)),
            "when" => {
                let condition = condition(options)?;
                let (then, otherwise) = (options.scorer("then")?, options.scorer("otherwise")?);
                Box::new(WhenScorer::new(condition, then, otherwise))
            }
            "constant" => Box::new(ConstantScorer(options.required("score")?)),
            "live-values" => {
                self.text_scorer(options, |_, index| Ok(LiveValuesScorer::new(index)))?
            }
            "class-norm" => Box::new(ClassNormScorer::new(options.required("exponent")?)?),
            "length-norm" => Box::new(LengthNormScorer::new(options.required("exponent")?)?),
            "speaker" => {
                let factor = options.required("factor")?;
                // Names have no language.
                let language = Some(LanguageChoice::Fixed(Language::English));
                self.scorer_for_query(language, Vec::new(), move |query, _| {
                    SpeakerScorer::new(query, factor)
                })?
            }
            "addressed" => {
                let factor = options.required("factor")?;
                self.query_scorer(options, move |query| AddressedScorer::new(&query, factor))?
            }
            "dates" => {
                let (month, day) =
                    (options.required("month_factor")?, options.required("day_factor")?);
                self.query_scorer(options, move |query| DateScorer::new(&query, month, day))?
            }
            "echo" => {
                let strength = options.required("strength")?;
                self.text_scorer(options, move |query, index| {
                    EchoScorer::new(query, index, strength)
                })?
            }
            "vectors" => {
                let (items, query) = self.supplied_vectors()?;
                Box::new(VectorScorer::new(items.clone(), query)?)
            }
            "with-vectors" => self.with_vectors_beside(options)?,
            _ => return Err(unknown("scorer", name)),
        })
    }

    fn slicer(&self, name: &str, options: &mut Options<'_>) -> Built<dyn Slicer> {
        Ok(match name {
            "best-first" => Box::new(BestFirstSlice),
            "coverage" => {
                let parameters = coverage_parameters(options)?;
                Box::new(CoverageSlice::sharing(self.mentions.clone(), parameters)?)
            }
            "keep" => {
                let parameters = keep_parameters(options)?;
                let inner = options.slicer("slicer")?.unwrap_or_else(|| Box::new(BestFirstSlice));
                Box::new(KeepSlice::with_strategies(inner, parameters, self.clone())?)
            }
            _ => return Err(unknown("slicer", name)),
        })
    }

    #[cfg(feature = "schema")]
    fn option_schemas(&self, name: &str) -> serde_json::Map<String, serde_json::Value> {
        catalogue::schemas(name)
    }
}

impl Strategies {
    fn bm25(&self, options: &mut Options<'_>) -> Built<dyn Scorer> {
        let parameters = bm25_parameters(options)?;
        self.text_scorer(options, move |query, index| {
            Bm25Scorer::with_parameters(query, index, parameters)
        })
    }

    fn widened(&self, options: &mut Options<'_>) -> Built<dyn Scorer> {
        let grouping = grouping(options, "session")?;
        let (parameters, kernel) = (bm25_parameters(options)?, kernel(options)?);
        self.text_scorer(options, move |query, index| {
            WidenedScorer::with_parameters(query, index, grouping.clone(), parameters, kernel)
        })
    }
}

fn unknown(what: &str, name: &str) -> DescriptionError {
    DescriptionError::new(format!("unknown {what} `{name}`"))
}

fn neighbours(options: &mut Options<'_>) -> Result<NeighbourScorer, DescriptionError> {
    let parameters = neighbour_parameters(options)?;
    let grouping = grouping(options, "session")?;
    Ok(NeighbourScorer::with_parameters(options.scorer("scorer")?, grouping, parameters)?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{scores, texts};
    use crate::{Index, ItemVectors};
    use cupel::{ItemList, PolicyDescription, RunContext, SystemTimeProvider};

    fn read(text: &str) -> Result<PolicyDescription, String> {
        let parsed = toml::Deserializer::parse(text).map_err(|error| error.to_string())?;
        PolicyDescription::deserialize_with(parsed, &Strategies::new("deploy key"))
            .map_err(|error| error.to_string().trim().to_owned())
    }

    fn refused(scorer: &str) -> String {
        read(&format!("scorers = [{{ {scorer} }}]")).unwrap_err()
    }

    #[test]
    fn every_scorer_is_built_by_its_name() {
        for scorer in [
            "type = 'bm25'",
            "type = 'widened'",
            "type = 'neighbours', scorer = 'bm25'",
            "type = 'stretch', scorer = 'bm25'",
            "type = 'group-lift', scorer = 'bm25'",
            "type = 'sum', scorers = ['bm25', { type = 'recency', weight = 2 }]",
            "type = 'product', scorers = ['bm25', 'recency']",
            "type = 'max-norm', scorer = 'bm25'",
            "type = 'when', any_of = 'ToolOutput', then = 'bm25', otherwise = 'recency'",
            "type = 'when', holds = 'exchanges', then = 'bm25', otherwise = 'recency'",
            "type = 'constant', score = 1",
            "type = 'live-values'",
            "type = 'class-norm', exponent = 1",
            "type = 'length-norm', exponent = 1",
            "type = 'speaker', factor = 2",
            "type = 'addressed', factor = 2",
            "type = 'dates', month_factor = 2, day_factor = 3",
            "type = 'echo', strength = 0.5",
            "type = 'with-vectors', scorer = 'bm25'",
        ] {
            let result = read(&format!("slicer = 'best-first'\nscorers = [{{ {scorer} }}]"));
            assert!(result.is_ok(), "{scorer}: {result:?}");
        }
        assert!(read("slicer = 'coverage'\nscorers = ['bm25']").is_ok());
    }

    #[test]
    fn what_is_wrong_is_named_by_its_path() {
        let text = refused("type = 'bm25', k1 = -1");
        assert_eq!(text, "scorers[0].k1: must be finite and not negative, got -1");
        let text = refused("type = 'sum', scorers = ['bm25', { type = 'echo', strength = 2 }]");
        assert_eq!(text, "scorers[0].scorers[1].strength: must be within 0 and 1, got 2");
        let text = refused("type = 'bm25', fields = { symbol = 0 }");
        assert_eq!(text, "scorers[0].fields.symbol: must be positive and finite, got 0");
        let text = refused("type = 'bm25', language = 'latin'");
        assert!(text.starts_with("scorers[0].language: unknown language `latin`; known"), "{text}");
        let text = refused("type = 'widened', gap_seconds = 0");
        assert_eq!(text, "scorers[0].gap_seconds: must be positive and finite, got 0");
        let text = refused("type = 'when', then = 'bm25', otherwise = 'bm25'");
        let expected = "scorers[0]: one of `all_of` and `any_of`, with a kind, and \
                        `holds = \"exchanges\"` is required";
        assert_eq!(text, expected);
        let text = refused("type = 'when', holds = 'x', then = 'bm25', otherwise = 'bm25'");
        assert_eq!(text, "scorers[0].holds: must be `exchanges`, got `x`");
        let text = read("slicer = { type = 'coverage', gate_over = 0 }\nscorers = ['bm25']");
        assert_eq!(text.unwrap_err(), "slicer.gate_over: must be positive and finite, got 0");
        assert!(refused("type = 'bm25', k2 = 1").starts_with("scorers[0]"));
    }

    #[test]
    fn vectors_must_be_supplied() {
        let text = refused("type = 'vectors'");
        let expected =
            "scorers[0]: needs vectors, and none were supplied; hand them in, or use words";
        assert_eq!(text, expected);
        let items = texts(&["a"]);
        let mut vectors = ItemVectors::new(2).unwrap();
        vectors.extend(&items, &[vec![1.0, 0.0]]).unwrap();
        let strategies =
            Strategies::new("").with_vectors(Arc::new(vectors), vec![1.0, 0.0]).unwrap();
        let parsed = toml::Deserializer::parse("scorers = ['vectors']").unwrap();
        let description = PolicyDescription::deserialize_with(parsed, &strategies).unwrap();
        let policy = description.build_with(&strategies, SystemTimeProvider).unwrap();
        assert_eq!(scores(policy.scorer(), &items), [1.0]);
    }

    #[test]
    fn a_policy_that_was_built_once_scores_for_the_query_of_each_run() {
        let items = texts(&["The deploy key is on the blue card.", "Lunch is at noon.", "Deploy!"]);
        let build = |query: &str| {
            let policy = crate::auto().build_with(&Strategies::new(query), SystemTimeProvider);
            policy.unwrap()
        };
        let once = build("");
        for query in ["Where is the deploy key?", "When is lunch?", "Wo ist der Schlüssel?"] {
            let context = RunContext::new().with(Strategies::new(query));
            let list = ItemList::new(&items).in_context(&context);
            let mut told = vec![f64::NAN; items.len()];
            once.scorer().score_all(&list, &mut told);
            let own = build(query);
            let bits =
                |scores: &[f64]| scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&told), bits(&scores(own.scorer(), &items)), "{query}");
            let why = own.scorer().explain(&ItemList::new(&items), &[0, 1, 2]);
            assert_eq!(once.scorer().explain(&list, &[0, 1, 2]), why, "{query}");
        }
    }

    #[test]
    fn all_scorers_of_one_language_share_an_index_and_other_queries_too() {
        let strategies = Strategies::new("deploy");
        let parsed = toml::Deserializer::parse(
            "scorers = ['bm25', 'widened', { type = 'bm25', language = 'german' }]",
        );
        let description =
            PolicyDescription::deserialize_with(parsed.unwrap(), &strategies).unwrap();
        let items = texts(&["deploy key", "lunch"]);
        for asked in [strategies.clone(), strategies.ask("key")] {
            let policy = description.build_with(&asked, SystemTimeProvider).unwrap();
            assert!(scores(policy.scorer(), &items)[0] > 0.0);
        }
        assert_eq!(strategies.language_of(&items), None);
        let sizes = |strategies: &Strategies| -> Vec<usize> {
            strategies.indexes.lock().unwrap().iter().map(Index::len).collect()
        };
        assert_eq!(sizes(&strategies), [2, 2]);
        strategies.retain(&items[1..]);
        assert_eq!(sizes(&strategies), [1, 1]);
    }
}
