//! Scorers whose query and index come with the run.

use cupel::policy::{DescriptionError, Options};
use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};

use super::Strategies;
use crate::{Analysis, Field, Index, LanguageChoice, Query};

type Build = Box<dyn Fn(Query, Index) -> Result<Box<dyn Scorer>, CupelError> + Send + Sync>;

/// Scores for the query of the run, in the language that is named or that the items are in.
struct ForQuery {
    /// Those that it was built with, for runs that bring none.
    strategies: Strategies,
    /// `None` where the strategies decide.
    language: Option<LanguageChoice>,
    fields: Vec<Field>,
    build: Build,
}

impl ForQuery {
    /// Tries to build one, so that wrong constants are refused now. Constants are all that can be refused.
    fn checked(self) -> Result<Self, CupelError> {
        let trial = Index::with_fields(Analysis::plain(), self.fields.clone())?;
        (self.build)(Query::with_analysis("", Analysis::plain()), trial)?;
        Ok(self)
    }

    fn scorer(&self, items: &ItemList<'_>) -> Box<dyn Scorer> {
        let strategies = self.strategies.in_run(items.context());
        let language = strategies.language_chosen(self.language, items);
        let texts = strategies.texts_in(language, &self.fields);
        let (query, index) = texts.expect("the weights of fields were checked before");
        (self.build)(query, index).expect("what is refused was refused before, in any language")
    }
}

impl Scorer for ForQuery {
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

impl Strategies {
    /// A scorer that analyses texts and their fields; the options decide on the language.
    pub(super) fn text_scorer<S: Scorer + 'static>(
        &self,
        options: &mut Options<'_>,
        build: impl Fn(Query, Index) -> Result<S, CupelError> + Send + Sync + 'static,
    ) -> Result<Box<dyn Scorer>, DescriptionError> {
        let fields = super::options::fields(options)?;
        let language = language_named(options)?;
        self.scorer_for_query(language, fields, build)
    }

    /// A scorer that looks at the words of the query alone; the options decide on the language.
    pub(super) fn query_scorer<S: Scorer + 'static>(
        &self,
        options: &mut Options<'_>,
        build: impl Fn(Query) -> Result<S, CupelError> + Send + Sync + 'static,
    ) -> Result<Box<dyn Scorer>, DescriptionError> {
        let language = language_named(options)?;
        self.scorer_for_query(language, Vec::new(), move |query, _| build(query))
    }

    /// A scorer in a language, or in the one that the strategies of the run decide on.
    pub(super) fn scorer_for_query<S: Scorer + 'static>(
        &self,
        language: Option<LanguageChoice>,
        fields: Vec<Field>,
        build: impl Fn(Query, Index) -> Result<S, CupelError> + Send + Sync + 'static,
    ) -> Result<Box<dyn Scorer>, DescriptionError> {
        let build: Build = Box::new(move |query, index| Ok(Box::new(build(query, index)?)));
        let scorer = ForQuery { strategies: self.clone(), language, fields, build };
        Ok(Box::new(scorer.checked()?))
    }
}

fn language_named(options: &mut Options<'_>) -> Result<Option<LanguageChoice>, DescriptionError> {
    let name: Option<String> = options.optional("language")?;
    let refuse = |error: crate::UnknownLanguage| {
        DescriptionError::new(format!("{error}, and auto and none")).in_field("language")
    };
    name.map(|name| name.parse().map_err(refuse)).transpose()
}
