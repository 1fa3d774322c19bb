//! Tools by how near they are to a question.

use cupel::{ContextItem, ContextItemBuilder, ItemList, Scorer};
use cupel_chat::Tool;
use cupel_relevance::{Analysis, Bm25Parameters, Bm25Scorer, Index, Query};

/// So many tools at most are near a question.
const MOST: usize = 4;

/// A tool by how near it is to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Near {
    /// Its place among the tools of the request.
    pub(crate) tool: usize,
    /// So near that the question may well be about it.
    pub(crate) is_near: bool,
}

/// All tools, the nearest first: by their names, descriptions and parameters.
pub(crate) fn ranked(tools: &[Tool], question: &str) -> Vec<Near> {
    let scores = scores(tools, question);
    let mut order: Vec<usize> = (0..tools.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let near =
        |(rank, tool): (usize, usize)| Near { tool, is_near: rank < MOST && scores[tool] > 0.0 };
    order.into_iter().enumerate().map(near).collect()
}

fn scores(tools: &[Tool], question: &str) -> Vec<f64> {
    let items: Option<Vec<ContextItem>> = tools.iter().map(item).collect();
    let parameters = Bm25Parameters { like_words: 0.5, ..Bm25Parameters::default() };
    let query = Query::with_analysis(question, Analysis::default());
    let scorer = Bm25Scorer::with_parameters(query, Index::default(), parameters);
    match (items, scorer) {
        (Some(items), Ok(scorer)) => {
            let mut scores = vec![0.0; items.len()];
            scorer.score_all(&ItemList::new(&items), &mut scores);
            scores
        }
        _ => vec![0.0; tools.len()],
    }
}

/// The words of a tool; its name speaks twice.
fn item(tool: &Tool) -> Option<ContextItem> {
    let words = format!("{}\n{}", tool.name(), tool.words());
    ContextItemBuilder::new(words, 1).build().ok()
}
