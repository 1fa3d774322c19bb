use std::sync::Arc;

use cupel::{ContextItem, CupelError, ScoreExplanation, Scorer};

use crate::identity::{ByItem, key};

/// Vectors that an embedding model of your choice made, one for each item.
///
/// Vectors belong to items, not to positions: a pipeline scores only part of a list, and items come
/// and go. A handle of each item is kept. Vectors are brought to length 1.
///
/// # Example
///
/// ```
/// use cupel::ContextItemBuilder;
/// use cupel_relevance::ItemVectors;
///
/// let items = [
///     ContextItemBuilder::new("cats purr", 3).build()?,
///     ContextItemBuilder::new("stocks fell", 3).build()?,
/// ];
/// let mut vectors = ItemVectors::new(2)?;
/// vectors.extend(&items, &[vec![1.0, 0.1], vec![0.0, 1.0]])?;
///
/// let error = vectors.extend(&items, &[vec![1.0, f32::NAN], vec![0.0, 1.0]]).unwrap_err();
/// assert_eq!(error.to_string(), "vectors[0][1]: must be finite, got NaN");
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ItemVectors {
    dimension: usize,
    numbers: ByItem<usize>,
    handles: Vec<ContextItem>,
    /// Vectors of length 1, end to end.
    components: Vec<f32>,
}

impl ItemVectors {
    /// No vectors yet, of a dimension.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the dimension is 0.
    pub fn new(dimension: usize) -> Result<Self, CupelError> {
        crate::parameter::at_least_one("dimension", dimension)?;
        let (handles, components) = (Vec::new(), Vec::new());
        Ok(Self { dimension, numbers: ByItem::default(), handles, components })
    }

    /// Adds the vectors of items, in the same order; an item that has one already gets the new one.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if there are not as many vectors as items, or a vector has
    /// another dimension, a component that is not finite, or nothing but zeros. It names the vector;
    /// nothing is added then.
    pub fn extend(
        &mut self,
        items: &[ContextItem],
        vectors: &[Vec<f32>],
    ) -> Result<(), CupelError> {
        if items.len() != vectors.len() {
            let text = format!(
                "vectors: must be as many as the items, got {} for {} items",
                vectors.len(),
                items.len()
            );
            return Err(CupelError::ScorerConfig(text));
        }
        let unit = |(at, vector): (usize, &Vec<f32>)| {
            unit_vector(&format!("vectors[{at}]"), vector, self.dimension)
        };
        let units: Vec<Vec<f32>> =
            vectors.iter().enumerate().map(unit).collect::<Result<_, _>>()?;
        for (item, vector) in items.iter().zip(units) {
            self.insert(item, &vector);
        }
        Ok(())
    }

    fn insert(&mut self, item: &ContextItem, vector: &[f32]) {
        let next = self.handles.len();
        let number = *self.numbers.entry(key(item)).or_insert(next);
        if number == next {
            self.handles.push(item.clone());
            self.components.extend_from_slice(vector);
        } else {
            self.components[number * self.dimension..][..self.dimension].copy_from_slice(vector);
        }
    }

    /// How many components a vector has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    pub(crate) fn get(&self, item: &ContextItem) -> Option<&[f32]> {
        let number = *self.numbers.get(&key(item))?;
        Some(&self.components[number * self.dimension..][..self.dimension])
    }
}

/// The vector at length 1.
fn unit_vector(field: &str, vector: &[f32], dimension: usize) -> Result<Vec<f32>, CupelError> {
    let refuse = |text: String| Err(CupelError::ScorerConfig(text));
    if vector.len() != dimension {
        let got = vector.len();
        return refuse(format!("{field}: must have {dimension} components, got {got}"));
    }
    if let Some(at) = vector.iter().position(|component| !component.is_finite()) {
        return refuse(format!("{field}[{at}]: must be finite, got {}", vector[at]));
    }
    let squares = vector.iter().map(|component| f64::from(*component).powi(2));
    let length = squares.sum::<f64>().sqrt();
    if length == 0.0 {
        return refuse(format!("{field}: must have a component other than 0"));
    }
    Ok(vector.iter().map(|component| (f64::from(*component) / length) as f32).collect())
}

/// The cosine of two vectors of length 1.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

/// Scores an item by the cosine of its vector with the query's.
///
/// **When to choose it:** you have an embedding model, and questions that use other words than the
/// answers. Vectors and words err differently: combine them with a
/// [`FusionScorer`](crate::FusionScorer). Nothing is computed or fetched by a model here.
///
/// **Ties and edge cases:** an item without a vector scores 0.
///
/// **Cost:** N × dimension.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
///
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::{ItemVectors, VectorScorer};
///
/// let item = ContextItemBuilder::new("cats purr", 3).build()?;
/// let mut vectors = ItemVectors::new(2)?;
/// vectors.extend(&[item.clone()], &[vec![3.0, 4.0]])?;
/// let scorer = VectorScorer::new(Arc::new(vectors), &[1.0, 0.0])?;
/// assert!((scorer.score(&item, &[]) - 0.6).abs() < 1e-6);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct VectorScorer {
    vectors: Arc<ItemVectors>,
    query: Vec<f32>,
}

impl VectorScorer {
    /// With the vectors of the items and that of the query.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the query's vector has another dimension, a component that is
    /// not finite, or nothing but zeros.
    pub fn new(vectors: Arc<ItemVectors>, query: &[f32]) -> Result<Self, CupelError> {
        let query = unit_vector("query_vector", query, vectors.dimension)?;
        Ok(Self { vectors, query })
    }
}

impl Scorer for VectorScorer {
    fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
        self.vectors.get(item).map_or(0.0, |vector| cosine(vector, &self.query))
    }

    fn explain(&self, items: &[ContextItem], positions: &[usize]) -> Vec<ScoreExplanation> {
        let explain = |at: &usize| {
            ScoreExplanation::new("likeness of vectors", self.score(&items[*at], items))
        };
        positions.iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, scores, texts};

    fn vectors(items: &[ContextItem], rows: &[[f32; 2]]) -> Result<ItemVectors, CupelError> {
        let mut vectors = ItemVectors::new(2)?;
        let rows: Vec<Vec<f32>> = rows.iter().map(|row| row.to_vec()).collect();
        vectors.extend(items, &rows)?;
        Ok(vectors)
    }

    fn refused(rows: &[[f32; 2]]) -> String {
        vectors(&texts(&["a", "b"]), rows).unwrap_err().to_string()
    }

    #[test]
    fn the_score_is_the_cosine_whatever_the_lengths() {
        let items = texts(&["a", "b", "c", "d"]);
        let vectors = vectors(&items[..3], &[[10.0, 0.0], [0.0, 0.5], [-1e30, 0.0]]).unwrap();
        let scorer = VectorScorer::new(Arc::new(vectors), &[2.0, 0.0]).unwrap();
        assert_close(&scores(&scorer, &items), &[1.0, 0.0, -1.0, 0.0]);
    }

    #[test]
    fn vectors_follow_their_items_into_other_lists() {
        let items = texts(&["a", "b"]);
        let vectors = vectors(&items, &[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let scorer = VectorScorer::new(Arc::new(vectors), &[1.0, 0.0]).unwrap();
        assert_eq!(scores(&scorer, &[items[1].clone(), items[0].clone()]), [0.0, 1.0]);
    }

    #[test]
    fn a_new_vector_replaces_the_old_one() {
        let items = texts(&["a"]);
        let mut vectors = vectors(&items, &[[1.0, 0.0]]).unwrap();
        vectors.extend(&items, &[vec![0.0, 1.0]]).unwrap();
        let scorer = VectorScorer::new(Arc::new(vectors), &[0.0, 3.0]).unwrap();
        assert_eq!(scores(&scorer, &items), [1.0]);
    }

    #[test]
    fn broken_vectors_are_refused_by_name() {
        let count = "vectors: must be as many as the items, got 1 for 2 items";
        assert_eq!(refused(&[[1.0, 0.0]]), count);
        let nan = "vectors[1][0]: must be finite, got NaN";
        assert_eq!(refused(&[[1.0, 0.0], [f32::NAN, 0.0]]), nan);
        let infinite = "vectors[0][1]: must be finite, got inf";
        assert_eq!(refused(&[[1.0, f32::INFINITY], [1.0, 0.0]]), infinite);
        let zero = "vectors[1]: must have a component other than 0";
        assert_eq!(refused(&[[1.0, 0.0], [0.0, -0.0]]), zero);
        assert!(ItemVectors::new(0).is_err());
    }

    #[test]
    fn another_dimension_is_refused() {
        let items = texts(&["a"]);
        let mut vectors = ItemVectors::new(3).unwrap();
        let error = vectors.extend(&items, &[vec![1.0, 2.0]]).unwrap_err();
        assert_eq!(error.to_string(), "vectors[0]: must have 3 components, got 2");
        let error = VectorScorer::new(Arc::new(vectors), &[1.0]).unwrap_err();
        assert_eq!(error.to_string(), "query_vector: must have 3 components, got 1");
    }
}
