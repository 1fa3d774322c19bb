//! Queries.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use cupel::ContextItem;

use crate::Language;
use crate::need::is_user_turn;
use crate::text::{Analysis, Vocabulary, for_each_word};

/// A query, analysed once.
///
/// A clone is another handle to the same query.
///
/// **Words that only ask**, such as `summarize`, can count less than what is asked about. They are
/// known in Chinese, Dutch, English, French, German, Italian, Japanese, Portuguese, Russian and
/// Spanish; so are months and verbs of saying. Elsewhere every word counts the same.
///
/// **An empty query**, or one of stop words only, has no terms: everything scores 0, and the order
/// falls to the slicer's rule for ties. [`BestFirstSlice`](crate::BestFirstSlice) then takes the
/// newest.
///
/// # Example
///
/// ```
/// use cupel_relevance::Query;
///
/// let query = Query::new("Why did the deploy of the billing service fail? Was it the deploy key?");
/// let terms: Vec<(&str, u32)> = query.terms().collect();
/// assert_eq!(
///     terms,
///     [("deploy", 2), ("bill", 1), ("servic", 1), ("fail", 1), ("key", 1)]
/// );
/// assert!(Query::new("What was it?").is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct Query(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    text: String,
    analysis: Analysis,
    /// Distinct terms in the order in which they first occur, with their counts.
    terms: Vec<(String, u32)>,
    /// For each term whether it only says that something is asked.
    is_asking: Vec<bool>,
    /// The words as they stand in the text, in lower case.
    words: HashSet<String>,
}

impl Query {
    /// A text in English.
    pub fn new(text: impl Into<String>) -> Self {
        Self::with_analysis(text, Analysis::default())
    }

    /// A text in another language. It must be analysed like the index that it is used with.
    pub fn with_analysis(text: impl Into<String>, analysis: Analysis) -> Self {
        let text = text.into();
        let terms = count(analysis.terms(&text));
        let mut words = HashSet::new();
        for_each_word(&text, |word| _ = words.insert(word.to_lowercase()));
        let is_asking = are_asking(&terms, &analysis);
        Self(Arc::new(Inner { text, analysis, terms, is_asking, words }))
    }

    /// Query of a conversation: the last words of the user, however far back they are. Results of tools
    /// since then do not speak for the user. `None` if the user never spoke.
    ///
    /// The user's turns are tagged `role:user`; items in which a tool answers as well count only
    /// where there are no others.
    ///
    /// ```
    /// use cupel::ContextItemBuilder;
    /// use cupel_relevance::Query;
    ///
    /// let said = |role: &str, text: &str| {
    ///     ContextItemBuilder::new(text, 5).tags(vec![format!("role:{role}")]).build()
    /// };
    /// let items = [
    ///     said("user", "Hello!")?,
    ///     said("assistant", "Hi.")?,
    ///     said("user", "Where is order 77?")?,
    ///     said("tool", "order 77: shipped")?,
    /// ];
    /// assert_eq!(Query::text_of(&items).as_deref(), Some("Where is order 77?"));
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    #[must_use]
    pub fn text_of(items: &[ContextItem]) -> Option<String> {
        let speaks = |item: &&ContextItem| item.tags().iter().any(|tag| tag == "role:user");
        let turn = items.iter().rfind(|item| is_user_turn(item));
        let last = turn.or_else(|| items.iter().rfind(speaks))?;
        Some(last.content().to_owned())
    }

    /// The query of a conversation by [`text_of`](Self::text_of), in English.
    #[must_use]
    pub fn from_items(items: &[ContextItem]) -> Option<Self> {
        Self::text_of(items).map(Self::new)
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Analysis of the text.
    pub fn analysis(&self) -> &Analysis {
        &self.0.analysis
    }

    /// The distinct terms in the order in which they first occur, each with its number of
    /// occurrences.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = (&str, u32)> {
        self.0.terms.iter().map(|(term, count)| (term.as_str(), *count))
    }

    /// The same with whether a term only says that something is asked.
    pub(crate) fn asked_terms(&self) -> impl Iterator<Item = (&str, u32, bool)> {
        self.terms()
            .zip(&self.0.is_asking)
            .map(|((term, count), is_asking)| (term, count, *is_asking))
    }

    /// For each term the first word of the text that it comes from, in lower case.
    pub(crate) fn written_words(&self) -> HashMap<String, String> {
        let mut written = HashMap::new();
        for_each_word(&self.0.text, |word| {
            for term in self.0.analysis.terms(word) {
                written.entry(term).or_insert_with(|| word.to_lowercase());
            }
        });
        written
    }

    /// Returns true if a word, in lower case, stands in the text.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.0.words.contains(word)
    }

    /// Returns true if no term is left to look for.
    pub fn is_empty(&self) -> bool {
        self.0.terms.is_empty()
    }
}

/// For each term whether it only says that something is asked.
fn are_asking(terms: &[(String, u32)], analysis: &Analysis) -> Vec<bool> {
    static KNOWN: [OnceLock<HashSet<String>>; Language::COUNT + 1] =
        [const { OnceLock::new() }; Language::COUNT + 1];
    let language = analysis.language();
    let collect = || -> HashSet<String> {
        let vocabulary = Vocabulary::of(language);
        let asking = vocabulary.map_or("", |vocabulary| vocabulary.asking);
        analysis.terms(asking).into_iter().collect()
    };
    let tell = |asking: &HashSet<String>| -> Vec<bool> {
        terms.iter().map(|(term, _)| asking.contains(term)).collect()
    };
    // All but those who mix two languages ask for the same words again and again.
    if *analysis == Analysis::from(language) {
        let place = language.map_or(Language::COUNT, |language| language as usize);
        tell(KNOWN[place].get_or_init(collect))
    } else {
        tell(&collect())
    }
}

fn count(terms: Vec<String>) -> Vec<(String, u32)> {
    let mut counted: Vec<(String, u32)> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    for term in terms {
        if let Some(at) = positions.get(&term) {
            counted[*at].1 = counted[*at].1.saturating_add(1);
        } else {
            positions.insert(term.clone(), counted.len());
            counted.push((term, 1));
        }
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use cupel::ContextItemBuilder;

    #[test]
    fn an_empty_query_and_stop_words_have_no_terms() {
        for text in ["", "  \n", "What was it, and who is he?", "?!"] {
            assert!(Query::new(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_conversation_without_a_user_asks_nothing() {
        let item = ContextItemBuilder::new("x", 1).build().unwrap();
        assert_eq!(Query::text_of(&[item]), None);
        assert!(Query::from_items(&[]).is_none());
    }

    #[test]
    fn a_query_in_a_script_without_spaces_has_terms() {
        assert_eq!(Query::new("部署失败").terms().len(), 3);
    }
}
