//! Scorers that are built once the language of the texts is known.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cupel::policy::{DescriptionError, Options};
use cupel::{ContextItem, CupelError, ScoreExplanation, Scorer};

use super::Strategies;
use crate::{Analysis, Field, Index, Language, LanguageChoice, Query};

/// Builds a scorer from a query and an index of one language.
type Build = Box<dyn Fn(Query, Index) -> Result<Box<dyn Scorer>, CupelError> + Send + Sync>;

/// A language, or none, and the scorer for it.
type InLanguage = (Option<Language>, Arc<dyn Scorer>);

/// A scorer for each language that was met.
struct PerLanguage {
    strategies: Strategies,
    fields: Vec<Field>,
    build: Build,
    built: Mutex<Vec<InLanguage>>,
}

impl PerLanguage {
    /// Refuses what the scorer would refuse in any language.
    fn new(strategies: Strategies, fields: Vec<Field>, build: Build) -> Result<Self, CupelError> {
        // To try with, and never asked anything.
        static TRIAL: OnceLock<(Query, Index)> = OnceLock::new();
        let (query, index) = TRIAL.get_or_init(|| {
            (Query::with_analysis("", Analysis::plain()), Index::new(Analysis::plain()))
        });
        Field::require_weights(&fields)?;
        build(query.clone(), index.clone())?;
        Ok(Self { strategies, fields, build, built: Mutex::default() })
    }

    fn for_items(&self, items: &[ContextItem]) -> Arc<dyn Scorer> {
        let language = self.strategies.detected_language_of(items);
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = built.iter().find(|(known, _)| *known == language) {
            return known.clone();
        }
        let scorer: Arc<dyn Scorer> = self.for_language(language).into();
        built.push((language, scorer.clone()));
        scorer
    }

    fn for_language(&self, language: Option<Language>) -> Box<dyn Scorer> {
        let texts = self.strategies.texts_in(language, &self.fields);
        let (query, index) = texts.expect("the weights of fields were checked before");
        (self.build)(query, index).expect("what is refused was refused before, in any language")
    }
}

impl Scorer for PerLanguage {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        self.for_items(all_items).score(item, all_items)
    }

    fn score_all(&self, items: &[ContextItem], scores: &mut [f64]) {
        self.for_items(items).score_all(items, scores);
    }

    fn explain(&self, items: &[ContextItem], positions: &[usize]) -> Vec<ScoreExplanation> {
        self.for_items(items).explain(items, positions)
    }
}

impl Strategies {
    /// A scorer over the words of texts, by the options `language` and `fields`.
    pub(super) fn text_scorer<S: Scorer + 'static>(
        &self,
        options: &mut Options<'_>,
        build: impl Fn(Query, Index) -> Result<S, CupelError> + Send + Sync + 'static,
    ) -> Result<Box<dyn Scorer>, DescriptionError> {
        let fields = super::options::fields(options)?;
        self.scorer_with_fields(options, fields, build)
    }

    /// A scorer over the words of the query alone, by the option `language`.
    pub(super) fn query_scorer<S: Scorer + 'static>(
        &self,
        options: &mut Options<'_>,
        build: impl Fn(Query) -> Result<S, CupelError> + Send + Sync + 'static,
    ) -> Result<Box<dyn Scorer>, DescriptionError> {
        self.scorer_with_fields(options, Vec::new(), move |query, _| build(query))
    }

    fn scorer_with_fields<S: Scorer + 'static>(
        &self,
        options: &mut Options<'_>,
        fields: Vec<Field>,
        build: impl Fn(Query, Index) -> Result<S, CupelError> + Send + Sync + 'static,
    ) -> Result<Box<dyn Scorer>, DescriptionError> {
        let choice = self.language_choice(options)?;
        let boxed = move |query, index| -> Result<Box<dyn Scorer>, CupelError> {
            Ok(Box::new(build(query, index)?))
        };
        let language = match choice {
            LanguageChoice::Detected => {
                return Ok(Box::new(PerLanguage::new(self.clone(), fields, Box::new(boxed))?));
            }
            LanguageChoice::None => None,
            LanguageChoice::Fixed(language) => Some(language),
        };
        let (query, index) = self.texts_in(language, &fields)?;
        Ok(boxed(query, index)?)
    }

    /// The language that the options name, or the one of all strategies.
    fn language_choice(
        &self,
        options: &mut Options<'_>,
    ) -> Result<LanguageChoice, DescriptionError> {
        let name: Option<String> = options.optional("language")?;
        let refuse = |error: crate::UnknownLanguage| {
            DescriptionError::new(format!("{error}, and auto and none")).in_field("language")
        };
        let named = name.map(|name| name.parse().map_err(refuse)).transpose()?;
        Ok(named.unwrap_or(self.language))
    }
}
