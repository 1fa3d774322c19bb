//! Strategies that are built once the language of the texts is known.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cupel::policy::{DescriptionError, Options};
use cupel::slicer::slice_by_selecting;
use cupel::{
    Candidate, ContextBudget, ContextItem, CupelError, ScoreExplanation, ScoredItem, Scorer,
    Selection, SliceRequest, Slicer,
};

use super::Strategies;
use crate::{Analysis, Field, Index, Language, LanguageChoice, Query};

/// Builds a strategy from a query and an index of one language.
type Build<T> = Box<dyn Fn(Query, Index) -> Result<Box<T>, CupelError> + Send + Sync>;

/// A strategy for each language that was met.
struct PerLanguage<T: ?Sized> {
    strategies: Strategies,
    fields: Vec<Field>,
    build: Build<T>,
    built: Mutex<Vec<(Option<Language>, Arc<T>)>>,
}

impl<T: ?Sized> PerLanguage<T> {
    /// Refuses what the strategy would refuse in any language.
    fn new(
        strategies: Strategies,
        fields: Vec<Field>,
        build: Build<T>,
    ) -> Result<Self, CupelError> {
        // To try with, and never asked anything.
        static TRIAL: OnceLock<(Query, Index)> = OnceLock::new();
        let (query, index) = TRIAL.get_or_init(|| {
            (Query::with_analysis("", Analysis::plain()), Index::new(Analysis::plain()))
        });
        Field::require_weights(&fields)?;
        build(query.clone(), index.clone())?;
        Ok(Self { strategies, fields, build, built: Mutex::default() })
    }

    fn for_items(&self, items: &[ContextItem]) -> Arc<T> {
        let language = self.strategies.detected_language_of(items);
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = built.iter().find(|(known, _)| *known == language) {
            return known.clone();
        }
        let strategy: Arc<T> = self.for_language(language).into();
        built.push((language, strategy.clone()));
        strategy
    }

    fn for_language(&self, language: Option<Language>) -> Box<T> {
        let texts = self.strategies.texts_in(language, &self.fields);
        let (query, index) = texts.expect("the weights of fields were checked before");
        (self.build)(query, index).expect("what is refused was refused before, in any language")
    }
}

impl Scorer for PerLanguage<dyn Scorer> {
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

impl Slicer for PerLanguage<dyn Slicer> {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        slice_by_selecting(self, sorted, budget)
    }

    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        let items: Vec<ContextItem> =
            request.candidates.iter().map(Candidate::item).cloned().collect();
        self.for_items(&items).select(request)
    }
}

/// A strategy for one language, or one that finds out which.
enum Ready<T: ?Sized> {
    Fixed(Box<T>),
    Detecting(PerLanguage<T>),
}

impl Strategies {
    fn in_language<T: ?Sized>(
        &self,
        choice: LanguageChoice,
        fields: Vec<Field>,
        build: Build<T>,
    ) -> Result<Ready<T>, CupelError> {
        let language = match choice {
            LanguageChoice::Detected => {
                return Ok(Ready::Detecting(PerLanguage::new(self.clone(), fields, build)?));
            }
            LanguageChoice::None => None,
            LanguageChoice::Fixed(language) => Some(language),
        };
        let (query, index) = self.texts_in(language, &fields)?;
        Ok(Ready::Fixed(build(query, index)?))
    }

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
        Ok(match self.in_language(choice, fields, Box::new(boxed))? {
            Ready::Fixed(scorer) => scorer,
            Ready::Detecting(scorers) => Box::new(scorers),
        })
    }

    /// A slicer over the words of texts, by the options `language` and `fields`.
    #[cfg(feature = "extra-strategies")]
    pub(super) fn text_slicer<S: Slicer + 'static>(
        &self,
        options: &mut Options<'_>,
        build: impl Fn(Index) -> Result<S, CupelError> + Send + Sync + 'static,
    ) -> Result<Box<dyn Slicer>, DescriptionError> {
        let fields = super::options::fields(options)?;
        let choice = self.language_choice(options)?;
        let boxed =
            move |_, index| -> Result<Box<dyn Slicer>, CupelError> { Ok(Box::new(build(index)?)) };
        Ok(match self.in_language(choice, fields, Box::new(boxed))? {
            Ready::Fixed(slicer) => slicer,
            Ready::Detecting(slicers) => Box::new(slicers),
        })
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
