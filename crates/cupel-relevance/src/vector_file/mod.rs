//! Vectors as they come in a file beside a request.

mod read;

use std::collections::BTreeMap;

use cupel::{ContextItem, CupelError};
use thiserror::Error;

use crate::ItemVectors;

/// Vectors for a request and its question, as an embedding model of your choice made them.
///
/// The file is JSON, one object or several (JSON lines), which count together:
///
/// | field | |
/// |---|---|
/// | `query` | the vector of the question |
/// | `items`, or `messages` | vectors by position from 0: a list, with `null` for none, or `{"0": […], "7": […]}` |
/// | `item`, or `message`, and `vector` | the position of one, and its vector |
/// | `queries` | vectors of several questions by name, for evaluations |
/// | `pool` | whose vectors they are, for evaluations |
/// | `model` | a note |
///
/// All vectors have the same dimension, finite components, and one at least that is not 0. They need
/// not have length 1: only their direction counts. Items without a vector are judged by their words.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
///
/// use cupel::ContextItemBuilder;
/// use cupel_relevance::{Strategies, VectorFile};
///
/// let items = [
///     ContextItemBuilder::new("cats purr", 3).build()?,
///     ContextItemBuilder::new("stocks fell", 3).build()?,
/// ];
/// let file = VectorFile::parse(r#"{"query": [0.9, 0.1], "items": [[1, 0], [0, 1]]}"#)?;
/// let query = file.query().expect("the file has it").to_vec();
/// let strategies =
///     Strategies::new("kittens").with_vectors(Arc::new(file.for_items(&items)?), query)?;
/// # let _ = strategies;
///
/// let error = VectorFile::parse("{\"query\": [1, 0]}\n{\"item\": 3, \"vector\": [1]}").unwrap_err();
/// assert_eq!(error.to_string(), "line 2: items[3]: must have 2 components, got 1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VectorFile {
    /// Number of components every vector has; 0 before the first.
    dimension: usize,
    query: Option<Vec<f32>>,
    queries: BTreeMap<String, Vec<f32>>,
    /// By position.
    items: BTreeMap<usize, Vec<f32>>,
}

/// Problem of a file of vectors, and its place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct VectorFileError {
    /// The line, counted from 1.
    pub line: usize,
    /// Problem at that place.
    pub problem: String,
}

impl VectorFileError {
    /// A stable name for programs: `invalid-vectors`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "invalid-vectors"
    }
}

impl VectorFile {
    /// Reads the vectors of one request.
    ///
    /// # Errors
    ///
    /// If the text is no JSON of this form, a vector breaks a rule, two are for the same thing, or
    /// there is none at all.
    pub fn parse(text: &str) -> Result<Self, VectorFileError> {
        read::request(text)
    }

    /// Reads the vectors of several pools, each by its name.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse), and if an object names no `pool`.
    pub fn parse_pools(text: &str) -> Result<BTreeMap<String, Self>, VectorFileError> {
        read::pools(text)
    }

    /// Number of components every vector has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The vector of the question, at length 1.
    pub fn query(&self) -> Option<&[f32]> {
        self.query.as_deref()
    }

    /// The vector of a question by name, at length 1.
    pub fn query_named(&self, name: &str) -> Option<&[f32]> {
        self.queries.get(name).map(Vec::as_slice)
    }

    /// The vector at a position, at length 1.
    pub fn vector(&self, position: usize) -> Option<&[f32]> {
        self.items.get(&position).map(Vec::as_slice)
    }

    /// The last position that has a vector.
    pub fn last_position(&self) -> Option<usize> {
        self.items.last_key_value().map(|(position, _)| *position)
    }

    /// Gives every item the vector at its position.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if there is a vector beyond the last item, as happens where a
    /// file belongs to another request.
    pub fn for_items(&self, items: &[ContextItem]) -> Result<ItemVectors, CupelError> {
        if let Some(last) = self.last_position().filter(|last| *last >= items.len()) {
            let count = items.len();
            let text = format!("items[{last}]: must be one of the {count} items of the request");
            return Err(CupelError::ScorerConfig(text));
        }
        self.for_parts(items, |position| [position])
    }

    /// Gives every item the mean of the vectors at the positions of its parts: of the messages that
    /// make up a bundle, for example.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if there is no vector at all.
    pub fn for_parts<P: IntoIterator<Item = usize>>(
        &self,
        items: &[ContextItem],
        parts_of: impl Fn(usize) -> P,
    ) -> Result<ItemVectors, CupelError> {
        let mut vectors = ItemVectors::new(self.dimension)?;
        for (position, item) in items.iter().enumerate() {
            let parts = parts_of(position).into_iter().filter_map(|part| self.vector(part));
            // Opposites leave nothing to go by.
            if let Some(sum) = sum(parts).filter(|sum| sum.iter().any(|number| *number != 0.0)) {
                vectors.set(&format!("items[{position}]"), item, &sum)?;
            }
        }
        Ok(vectors)
    }
}

/// The direction of the mean.
fn sum<'v>(mut vectors: impl Iterator<Item = &'v [f32]>) -> Option<Vec<f32>> {
    let mut sum = vectors.next()?.to_vec();
    for vector in vectors {
        for (total, number) in sum.iter_mut().zip(vector) {
            *total += number;
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::texts;

    #[test]
    fn a_bundle_has_the_mean_of_its_messages() {
        let file = VectorFile::parse(r#"{"messages": {"0": [1, 0], "1": [0, 9], "3": [-2, 0]}}"#);
        let file = file.unwrap();
        let items = texts(&["a and b", "c", "opposites"]);
        let parts = [vec![0, 1], vec![2], vec![0, 3]];
        let vectors = file.for_parts(&items, |position| parts[position].clone()).unwrap();
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let first = vectors.vector_of(&items[0]).unwrap();
        assert!(first.iter().all(|number| (number - half).abs() < 1e-6), "{first:?}");
        assert_eq!(vectors.vector_of(&items[1]), None);
        assert_eq!(vectors.vector_of(&items[2]), None);
    }

    #[test]
    fn a_vector_beyond_the_last_item_is_refused() {
        let file = VectorFile::parse(r#"{"items": [[1], null, [1]]}"#).unwrap();
        assert!(file.for_items(&texts(&["a", "b", "c"])).is_ok());
        let error = file.for_items(&texts(&["a", "b"])).unwrap_err().to_string();
        assert_eq!(error, "items[2]: must be one of the 2 items of the request");
        assert_eq!(VectorFile::parse("[]").unwrap_err().code(), "invalid-vectors");
    }
}
