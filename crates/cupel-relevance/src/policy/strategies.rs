use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cupel::policy::DescriptionError;
use cupel::{ContextItem, CupelError, RunContext};

use super::detected::DetectedLanguages;
use crate::keep::{Ear, Told};
use crate::need::Mentions;
use crate::scorer::unit_vector;
use crate::{Analysis, Field, Index, ItemVectors, Language, LanguageChoice, Query};

/// The strategies of this crate for [`PolicyDescription`](cupel::PolicyDescription), with the query
/// that they are for.
///
/// Names and options are those of the scorers and slicers, in kebab case without the suffix:
/// `bm25`, `widened`, `neighbours`, `group-lift`, `sum`, `product`, `max-norm`, `when`, `constant`,
/// `live-values`, `class-norm`, `length-norm`, `speaker`, `addressed`, `dates`, `echo`, `vectors`,
/// `with-vectors`; `best-first`, `coverage`.
///
/// Strategies that analyse texts take a `language` and `fields`, the tags whose words count too
/// (`{ symbol = 2, path = 1 }` by default). The language is one by name, `none` for no stems and no
/// stop words, or `auto`, the default: the one that the items [are in](Self::language_of).
/// Those that look at groups take `group_by`, the name of a tag, and `gap_seconds`, the longest pause
/// within a group; if both are given, the pause counts where no item has the tag.
///
/// Everything that was built from one value, or from others that it was [asked](Self::ask), shares
/// its indexes. A policy that was built once serves other queries too: a run whose
/// [context](cupel::RunContext) has strategies uses those instead of the ones that it was built with.
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
    pub(super) indexes: Arc<Mutex<Vec<Index>>>,
    /// The values that items mention.
    pub(crate) mentions: Mentions,
    told: Arc<Mutex<LastTold>>,
}

/// A list, and how it is heard.
type LastTold = Option<(Vec<ContextItem>, Arc<Told>)>;

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
            mentions: Mentions::default(),
            told: Arc::default(),
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
            mentions: self.mentions.clone(),
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
    pub fn with_language(self, language: impl Into<LanguageChoice>) -> Self {
        Self { language: language.into(), told: Arc::default(), ..self }
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
        self.language_chosen(None, items)
    }

    /// The same for a strategy that may name a language itself.
    pub(super) fn language_chosen(
        &self,
        named: Option<LanguageChoice>,
        items: &[ContextItem],
    ) -> Option<Language> {
        match named.unwrap_or(self.language) {
            LanguageChoice::Detected => self.detected_language_of(items),
            LanguageChoice::None => None,
            LanguageChoice::Fixed(language) => Some(language),
        }
    }

    fn detected_language_of(&self, items: &[ContextItem]) -> Option<Language> {
        let of_query = || *self.text_language.get_or_init(|| Language::detect([&*self.text]));
        self.detected.of(items).or_else(of_query)
    }

    /// With vectors for the items and for the query, for the scorers `vectors` and `with-vectors`,
    /// of which [`auto`](crate::auto) has one.
    ///
    /// # Errors
    ///
    /// If the vector of the query is not one of the items' dimension, of numbers that are not all 0.
    pub fn with_vectors(
        mut self,
        items: Arc<ItemVectors>,
        query: Vec<f32>,
    ) -> Result<Self, CupelError> {
        unit_vector("query_vector", &query, items.dimension())?;
        self.vectors = Some((items, query.into()));
        Ok(self)
    }

    /// The strategies of a run, or these where it brings none.
    pub(crate) fn in_run<'s>(&'s self, context: &'s RunContext) -> &'s Self {
        context.get().unwrap_or(self)
    }

    /// A list as the rule of [`KeepSlice`](crate::KeepSlice) hears it; the last one is remembered, since
    /// a run asks more than once.
    pub(crate) fn told(&self, list: &[ContextItem]) -> Arc<Told> {
        let is_same = |known: &[ContextItem]| {
            known.len() == list.len() && known.iter().zip(list).all(|(a, b)| a.is_same_item(b))
        };
        let mut last = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, told)) = last.as_ref().filter(|(known, _)| is_same(known)) {
            return Arc::clone(told);
        }
        let told = Arc::new(Told::of(list, &Ear::for_language(self.language_of(list))));
        *last = Some((list.to_vec(), Arc::clone(&told)));
        told
    }

    /// Drops all items but these from the indexes.
    pub fn retain(&self, items: &[ContextItem]) {
        self.detected.clear();
        for index in self.indexes.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            index.retain_with(items, self.detected.reader());
        }
        if !self.mentions.is_empty() {
            self.mentions.retain(items);
        }
    }

    pub(super) fn query(&self, analysis: &Analysis) -> Query {
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
        let reader = self.detected.reader();
        let index = Index::with_reader(analysis.clone(), fields.to_vec(), reader)?;
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

    pub(super) fn supplied_vectors(
        &self,
    ) -> Result<&(Arc<ItemVectors>, Arc<[f32]>), DescriptionError> {
        self.vectors.as_ref().ok_or_else(|| {
            DescriptionError::new(
                "needs vectors, and none were supplied; hand them in, or use words",
            )
        })
    }
}
