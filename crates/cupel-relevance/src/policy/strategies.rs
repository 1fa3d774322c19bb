use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use chrono::TimeDelta;
use cupel::policy::{DescriptionError, Options, StrategyProvider};
use cupel::{ContextItem, ContextKind, CupelError, Scorer, Slicer};

#[cfg(feature = "schema")]
use super::catalogue;
use super::detected::DetectedLanguages;
use crate::{
    AddressedScorer, Analysis, BestFirstSlice, Bm25Parameters, Bm25Scorer, ClassNormScorer,
    Condition, ConstantScorer, DateScorer, EchoScorer, Field, FreshnessScorer, FusionScorer,
    GroupLiftScorer, Grouping, Index, ItemVectors, Kernel, Language, LanguageChoice,
    LengthNormScorer, LiveValuesScorer, MaxNormScorer, MmrSlice, NeighbourParameters,
    NeighbourScorer, ProductScorer, Query, Similarity, SpeakerScorer, SumScorer, VectorScorer,
    WhenScorer, WidenedScorer,
};

/// The strategies of this crate for [`PolicyDescription`](cupel::PolicyDescription), with the query
/// that they are for.
///
/// Names and options are those of the scorers and slicers, in kebab case without the suffix:
/// `bm25`, `widened`, `neighbours`, `group-lift`, `fusion`, `sum`, `product`, `max-norm`, `when`,
/// `constant`, `live-values`, `class-norm`, `length-norm`, `speaker`, `addressed`, `dates`, `freshness`, `echo`,
/// `vectors`, `with-vectors`; `best-first`, `mmr`.
///
/// Strategies that analyse texts take a `language` and `fields`, the tags whose words count too
/// (`{ symbol = 2, path = 1 }` by default). The language is one by name, `none` for no stems and no
/// stop words, or `auto`, the default: the one that the items [are in](Self::language_of).
/// Those that look at groups take `group_by`, the name of a tag, and `gap_seconds`, the longest pause
/// within a group; if both are given, the pause counts where no item has the tag.
///
/// Everything that was built from one value, or from others that it was [asked](Self::ask), shares
/// its indexes.
///
/// # Example
///
/// ```
/// use cupel::{ContextBudget, ContextItemBuilder, Pipeline, PolicyDescription, SystemTimeProvider};
/// use cupel_relevance::Strategies;
///
/// let text = r#"
///     slicer = "best-first"
///     [[scorers]]
///     type = "neighbours"
///     group_by = "session"
///     scorer = { type = "bm25", k1 = 1.2 }
/// "#;
/// let strategies = Strategies::new("why did the deploy fail?");
/// let parsed = toml::Deserializer::parse(text)?;
/// let description = PolicyDescription::deserialize_with(parsed, &strategies)?;
/// let pipeline = Pipeline::from(description.build_with(&strategies, SystemTimeProvider)?);
///
/// let items = [
///     ContextItemBuilder::new("The deploy failed: no space on disk.", 9).build()?,
///     ContextItemBuilder::new("Lunch is at noon.", 6).tags(vec!["session:2".into()]).build()?,
/// ];
/// let window = pipeline.run(&items, &ContextBudget::builder(10).build()?)?;
/// assert_eq!(window[0].content(), "The deploy failed: no space on disk.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Strategies {
    text: Arc<str>,
    pub(super) language: LanguageChoice,
    /// The language of the query.
    text_language: Arc<OnceLock<Option<Language>>>,
    detected: Arc<DetectedLanguages>,
    pub(super) vectors: Option<(Arc<ItemVectors>, Arc<[f32]>)>,
    /// The query, for each way of analysing it.
    queries: Arc<Mutex<Vec<Query>>>,
    /// One for each way of analysing texts.
    indexes: Arc<Mutex<Vec<Index>>>,
}

impl Strategies {
    /// Strategies for a query, with indexes of their own.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            text: query.into().into(),
            language: LanguageChoice::Detected,
            text_language: Arc::default(),
            detected: Arc::default(),
            vectors: None,
            queries: Arc::default(),
            indexes: Arc::default(),
        }
    }

    /// Strategies for another query with the same indexes: what was analysed stays so. Vectors must
    /// be supplied again.
    #[must_use]
    pub fn ask(&self, query: impl Into<String>) -> Self {
        Self {
            language: self.language,
            detected: self.detected.clone(),
            indexes: self.indexes.clone(),
            ..Self::new(query)
        }
    }

    /// With a language for all strategies that name none themselves. Without this it is detected.
    ///
    /// ```
    /// use cupel_relevance::{Language, Strategies};
    ///
    /// let strategies = Strategies::new("Wo ist der Schlüssel?").with_language(Language::German);
    /// assert_eq!(strategies.language_of(&[]), Some(Language::German));
    /// ```
    #[must_use]
    pub fn with_language(mut self, language: impl Into<LanguageChoice>) -> Self {
        self.language = language.into();
        self
    }

    /// The language in which the words of these items, and of the query about them, are taken.
    ///
    /// If it is to be detected, the items decide, whatever language the query is in: what is to be
    /// found stands in them. Where they do not tell (code, numbers, few words, several languages),
    /// the query does; where it does not either, it is none.
    ///
    /// ```
    /// use cupel::ContextItemBuilder;
    /// use cupel_relevance::{Language, Strategies};
    ///
    /// let said = |text: &str| ContextItemBuilder::new(text, 9).build();
    /// let strategies = Strategies::new("Where is the key?");
    /// let talk = [said("Wo ist der Schlüssel?")?, said("Er liegt unter dem Topf.")?];
    /// assert_eq!(strategies.language_of(&talk), Some(Language::German));
    /// assert_eq!(strategies.language_of(&[said("let x = 3;")?]), Some(Language::English));
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    #[must_use]
    pub fn language_of(&self, items: &[ContextItem]) -> Option<Language> {
        match self.language {
            LanguageChoice::Detected => self.detected_language_of(items),
            LanguageChoice::None => None,
            LanguageChoice::Fixed(language) => Some(language),
        }
    }

    pub(super) fn detected_language_of(&self, items: &[ContextItem]) -> Option<Language> {
        let of_query = || *self.text_language.get_or_init(|| Language::detect([&*self.text]));
        self.detected.of(items).or_else(of_query)
    }

    /// With vectors for the items and for the query, for the scorers `vectors` and `with-vectors`,
    /// of which [`auto`](crate::auto) has one, and for `mmr`.
    #[must_use]
    pub fn with_vectors(mut self, items: Arc<ItemVectors>, query: Vec<f32>) -> Self {
        self.vectors = Some((items, query.into()));
        self
    }

    /// Drops all items but these from the indexes.
    pub fn retain(&self, items: &[ContextItem]) {
        for index in self.indexes.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            index.retain(items);
        }
        self.detected.clear();
    }

    fn query(&self, analysis: &Analysis) -> Query {
        let mut queries = self.queries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = queries.iter().find(|query| query.analysis() == analysis) {
            return known.clone();
        }
        let query = Query::with_analysis(&*self.text, analysis.clone());
        queries.push(query.clone());
        query
    }

    fn index(&self, analysis: &Analysis, fields: &[Field]) -> Result<Index, CupelError> {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |index: &&Index| index.analysis() == analysis && index.fields() == fields;
        if let Some(known) = indexes.iter().find(is_meant) {
            return Ok(known.clone());
        }
        let index = Index::with_fields(analysis.clone(), fields.to_vec())?;
        indexes.push(index.clone());
        Ok(index)
    }

    /// The query and the index in a language, or in none.
    pub(super) fn texts_in(
        &self,
        language: Option<Language>,
        fields: &[Field],
    ) -> Result<(Query, Index), CupelError> {
        let analysis = Analysis::from(language);
        Ok((self.query(&analysis), self.index(&analysis, fields)?))
    }

    fn supplied_vectors(&self) -> Result<&(Arc<ItemVectors>, Arc<[f32]>), DescriptionError> {
        self.vectors.as_ref().ok_or_else(|| {
            DescriptionError::new(
                "needs vectors, and none were supplied; hand them in, or use words",
            )
        })
    }

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

/// The names of the scorers.
pub(super) const SCORERS: [&str; 20] = [
    "bm25",
    "widened",
    "neighbours",
    "group-lift",
    "fusion",
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
    "freshness",
    "echo",
    "vectors",
    "with-vectors",
];

/// The names of the slicers.
pub(super) const SLICERS: [&str; 2] = ["best-first", "mmr"];

type Built<T> = Result<Box<T>, DescriptionError>;

impl StrategyProvider for Strategies {
    fn scorer_names(&self) -> &[&'static str] {
        &SCORERS
    }

    fn slicer_names(&self) -> &[&'static str] {
        &SLICERS
    }

    fn scorer(&self, name: &str, options: &mut Options<'_>) -> Built<dyn Scorer> {
        Ok(match name {
            "bm25" => self.bm25(options)?,
            "widened" => self.widened(options)?,
            "neighbours" => Box::new(neighbours(options)?),
            "group-lift" => {
                let (grouping, share) =
                    (grouping(options, "path")?, number(options, "share", 0.5)?);
                Box::new(GroupLiftScorer::new(options.scorer("scorer")?, grouping, share)?)
            }
            "fusion" => {
                let k = number(options, "k", 60.0)?;
                Box::new(FusionScorer::with_k(options.scorers("scorers")?, k)?)
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
                let query = self.query(&Analysis::default());
                Box::new(SpeakerScorer::new(query, options.required("factor")?)?)
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
            "freshness" => {
                let gain = options.required("gain")?;
                Box::new(FreshnessScorer::new(gain, options.required("reach_tokens")?)?)
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
            "mmr" => {
                let similarity: Option<String> = options.optional("similarity")?;
                let balance = number(options, "balance", 0.7)?;
                match similarity.as_deref().unwrap_or("words") {
                    "words" => self.text_slicer(options, move |index| {
                        MmrSlice::new(balance, Similarity::Words(index))
                    })?,
                    "vectors" => {
                        let vectors = self.supplied_vectors()?.0.clone();
                        Box::new(MmrSlice::new(balance, Similarity::Vectors(vectors))?)
                    }
                    other => {
                        let text = format!("must be `words` or `vectors`, got `{other}`");
                        return Err(DescriptionError::new(text).in_field("similarity"));
                    }
                }
            }
            _ => return Err(unknown("slicer", name)),
        })
    }

    #[cfg(feature = "schema")]
    fn option_schemas(&self, name: &str) -> serde_json::Map<String, serde_json::Value> {
        catalogue::schemas(name)
    }
}

fn unknown(what: &str, name: &str) -> DescriptionError {
    DescriptionError::new(format!("unknown {what} `{name}`"))
}

pub(super) fn number(
    options: &mut Options<'_>,
    name: &'static str,
    usual: f64,
) -> Result<f64, DescriptionError> {
    Ok(options.optional(name)?.unwrap_or(usual))
}

/// The tags whose words count too where nothing else is said.
const FIELDS: [(&str, f64); 2] = [("symbol", 2.0), ("path", 1.0)];

pub(super) fn fields(options: &mut Options<'_>) -> Result<Vec<Field>, DescriptionError> {
    let given: Option<HashMap<String, f64>> = options.optional("fields")?;
    let Some(given) = given else {
        return Ok(FIELDS.map(|(tag, weight)| Field::new(tag, weight)).into());
    };
    let mut given: Vec<(String, f64)> = given.into_iter().collect();
    given.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(given.into_iter().map(|(tag, weight)| Field::new(tag, weight)).collect())
}

fn bm25_parameters(options: &mut Options<'_>) -> Result<Bm25Parameters, DescriptionError> {
    let usual = Bm25Parameters::default();
    Ok(Bm25Parameters {
        k1: number(options, "k1", usual.k1)?,
        b: number(options, "b", usual.b)?,
        idf_exponent: number(options, "idf_exponent", usual.idf_exponent)?,
        max_terms: options.optional("max_terms")?.unwrap_or(usual.max_terms),
        asking_weight: number(options, "asking_weight", usual.asking_weight)?,
    })
}

pub(super) fn kernel(options: &mut Options<'_>) -> Result<Kernel, DescriptionError> {
    let usual = Kernel::default();
    Ok(Kernel {
        reach_tokens: number(options, "reach_tokens", usual.reach_tokens)?,
        group_exponent: number(options, "group_exponent", usual.group_exponent)?,
        later: number(options, "later", usual.later)?,
    })
}

fn neighbours(options: &mut Options<'_>) -> Result<NeighbourScorer, DescriptionError> {
    let usual = NeighbourParameters::default();
    let parameters = NeighbourParameters {
        kernel: kernel(options)?,
        share: number(options, "share", usual.share)?,
        own_exponent: number(options, "own_exponent", usual.own_exponent)?,
    };
    let grouping = grouping(options, "session")?;
    Ok(NeighbourScorer::with_parameters(options.scorer("scorer")?, grouping, parameters)?)
}

/// The grouping that the options name, or by a tag.
pub(super) fn grouping(options: &mut Options<'_>, tag: &str) -> Result<Grouping, DescriptionError> {
    let by_tag: Option<String> = options.optional("group_by")?;
    let gap = options.optional("gap_seconds")?.map(longest_gap).transpose()?;
    Ok(match (by_tag, gap) {
        (None, None) => Grouping::tag(tag),
        (Some(tag), None) => Grouping::Tag(tag),
        (None, Some(gap)) => Grouping::Gap(gap),
        (Some(tag), Some(gap)) => Grouping::TagOrGap(tag, gap),
    })
}

fn longest_gap(seconds: f64) -> Result<TimeDelta, DescriptionError> {
    if !seconds.is_finite() || seconds <= 0.0 {
        let text = format!("must be positive and finite, got {seconds}");
        return Err(DescriptionError::new(text).in_field("gap_seconds"));
    }
    // A float beyond the range of an integer becomes the largest.
    Ok(TimeDelta::try_milliseconds((seconds * 1_000.0) as i64).unwrap_or(TimeDelta::MAX))
}

fn condition(options: &mut Options<'_>) -> Result<Condition, DescriptionError> {
    let all: Option<String> = options.optional("all_of")?;
    let any: Option<String> = options.optional("any_of")?;
    match (all, any) {
        (Some(kind), None) => Ok(Condition::All(ContextKind::new(kind)?)),
        (None, Some(kind)) => Ok(Condition::Any(ContextKind::new(kind)?)),
        _ => Err(DescriptionError::new("one of `all_of` and `any_of` is required, with a kind")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{scores, texts};
    use cupel::{PolicyDescription, SystemTimeProvider};

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
            "type = 'group-lift', scorer = 'bm25'",
            "type = 'fusion', scorers = ['bm25', 'recency']",
            "type = 'sum', scorers = ['bm25', { type = 'recency', weight = 2 }]",
            "type = 'product', scorers = ['bm25', 'recency']",
            "type = 'max-norm', scorer = 'bm25'",
            "type = 'when', any_of = 'ToolOutput', then = 'bm25', otherwise = 'recency'",
            "type = 'constant', score = 1",
            "type = 'live-values'",
            "type = 'class-norm', exponent = 1",
            "type = 'length-norm', exponent = 1",
            "type = 'speaker', factor = 2",
            "type = 'addressed', factor = 2",
            "type = 'dates', month_factor = 2, day_factor = 3",
            "type = 'freshness', gain = 1, reach_tokens = 9",
            "type = 'echo', strength = 0.5",
            "type = 'with-vectors', scorer = 'bm25'",
        ] {
            let result = read(&format!("slicer = 'best-first'\nscorers = [{{ {scorer} }}]"));
            assert!(result.is_ok(), "{scorer}: {result:?}");
        }
        assert!(read("slicer = 'mmr'\nscorers = ['bm25']").is_ok());
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
        assert_eq!(text, "scorers[0]: one of `all_of` and `any_of` is required, with a kind");
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
        let strategies = Strategies::new("").with_vectors(Arc::new(vectors), vec![1.0, 0.0]);
        let parsed = toml::Deserializer::parse("scorers = ['vectors']").unwrap();
        let description = PolicyDescription::deserialize_with(parsed, &strategies).unwrap();
        let policy = description.build_with(&strategies, SystemTimeProvider).unwrap();
        assert_eq!(scores(policy.scorer(), &items), [1.0]);
    }

    #[test]
    fn a_similarity_that_nobody_knows_is_refused() {
        let text = read("slicer = { type = 'mmr', similarity = 'x' }\nscorers = ['bm25']");
        let expected = "slicer.similarity: must be `words` or `vectors`, got `x`";
        assert_eq!(text.unwrap_err(), expected);
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
