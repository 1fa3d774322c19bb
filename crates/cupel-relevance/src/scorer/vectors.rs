use std::sync::Arc;

use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};

use crate::identity::ItemNumbers;
use crate::parameter;

/// Where items carry their vectors, if they do.
const METADATA_KEY: &str = "vector";

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
    numbers: ItemNumbers,
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
        parameter::at_least_one("dimension", dimension)?;
        Ok(Self { dimension, numbers: ItemNumbers::default(), components: Vec::new() })
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

    /// The vectors that items carry in their metadata: under the key `vector`, as the text of a list
    /// of numbers. `None` if no item has one.
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// use cupel::ContextItemBuilder;
    /// use cupel_relevance::ItemVectors;
    ///
    /// let metadata = HashMap::from([("vector".to_owned(), "[0.6, 0.8]".to_owned())]);
    /// let item = ContextItemBuilder::new("cats purr", 3).metadata(metadata).build()?;
    /// let vectors = ItemVectors::from_metadata(&[item.clone()])?.expect("an item has one");
    /// assert_eq!(vectors.vector_of(&item), Some(&[0.6, 0.8][..]));
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if a text is no list of numbers, or as for
    /// [`extend`](Self::extend). It names the item.
    pub fn from_metadata(items: &[ContextItem]) -> Result<Option<Self>, CupelError> {
        let mut vectors: Option<Self> = None;
        for (at, item) in items.iter().enumerate() {
            let Some(text) = item.metadata().get(METADATA_KEY) else { continue };
            let field = format!("items[{at}].metadata.{METADATA_KEY}");
            let numbers: Vec<f32> = serde_json::from_str(text).map_err(|error| {
                CupelError::ScorerConfig(format!("{field}: must be a list of numbers: {error}"))
            })?;
            if vectors.is_none() {
                vectors = Some(Self::new(numbers.len().max(1))?);
            }
            if let Some(vectors) = &mut vectors {
                vectors.set(&field, item, &numbers)?;
            }
        }
        Ok(vectors)
    }

    /// Gives an item a vector that an error calls by a name.
    pub(crate) fn set(
        &mut self,
        name: &str,
        item: &ContextItem,
        vector: &[f32],
    ) -> Result<(), CupelError> {
        let unit = unit_vector(name, vector, self.dimension)?;
        self.insert(item, &unit);
        Ok(())
    }

    fn insert(&mut self, item: &ContextItem, vector: &[f32]) {
        if let Some(number) = self.numbers.get(item) {
            let start = number as usize * self.dimension;
            self.components[start..][..self.dimension].copy_from_slice(vector);
        } else {
            self.numbers.enter(item);
            self.components.extend_from_slice(vector);
        }
    }

    /// Number of components a vector has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The vector of an item, at length 1.
    pub fn vector_of(&self, item: &ContextItem) -> Option<&[f32]> {
        let start = self.numbers.get(item)? as usize * self.dimension;
        Some(&self.components[start..][..self.dimension])
    }
}

/// The vector at length 1.
pub(crate) fn unit_vector(
    field: &str,
    vector: &[f32],
    dimension: usize,
) -> Result<Vec<f32>, CupelError> {
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
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

/// Scores an item by the cosine of its vector with the query's.
///
/// **When to choose it:** you have an embedding model, and questions that use other words than the
/// answers. Vectors and words err differently, so let them add to each other, as
/// [`auto`](crate::auto) does. Nothing is computed or fetched by a model here.
///
/// **Steps:** the score is the cosine. [Sharpened](Self::sharpened) it is
/// `max(0, cosine − floor)^exponent`: everything is a little like everything, and only what is much
/// alike should count.
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
    sharpening: Option<Sharpening>,
}

/// The part of a likeness above a floor, raised to a power.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sharpening {
    floor: f64,
    exponent: f64,
}

impl Sharpening {
    pub(super) fn new(floor: f64, exponent: f64) -> Result<Self, CupelError> {
        parameter::unit("floor", floor)?;
        parameter::positive("exponent", exponent)?;
        Ok(Self { floor, exponent })
    }

    pub(super) fn apply(self, likeness: f64) -> f64 {
        (likeness - self.floor).max(0.0).powf(self.exponent)
    }
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
        Ok(Self { vectors, query, sharpening: None })
    }

    /// With what is above a floor, raised to a power.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the floor is not within 0 and 1, or the exponent is not
    /// positive and finite; it names which.
    pub fn sharpened(mut self, floor: f64, exponent: f64) -> Result<Self, CupelError> {
        self.sharpening = Some(Sharpening::new(floor, exponent)?);
        Ok(self)
    }

    fn likeness(&self, vector: &[f32]) -> f64 {
        let cosine = cosine(vector, &self.query);
        match self.sharpening {
            None => cosine,
            Some(sharpening) => sharpening.apply(cosine),
        }
    }
}

impl Scorer for VectorScorer {
    fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
        self.vectors.vector_of(item).map_or(0.0, |vector| self.likeness(vector))
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
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

    #[test]
    fn sharpened_likeness_counts_only_above_the_floor() {
        let items = texts(&["a", "b", "c", "d"]);
        let vectors =
            vectors(&items[..3], &[[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]]).map(Arc::new).unwrap();
        let plain = VectorScorer::new(vectors, &[1.0, 0.0]).unwrap();
        let scorer = plain.clone().sharpened(0.1, 2.0).unwrap();
        let actual = scores(&scorer, &items);
        let near: Vec<f64> = actual.iter().map(|score| (score * 1e6).round() / 1e6).collect();
        assert_eq!(near, [0.81, 0.25, 0.0, 0.0]);
        let error = plain.clone().sharpened(1.5, 2.0).unwrap_err();
        assert_eq!(error.to_string(), "floor: must be within 0 and 1, got 1.5");
        let error = plain.sharpened(0.1, 0.0).unwrap_err();
        assert_eq!(error.to_string(), "exponent: must be positive and finite, got 0");
    }

    #[test]
    fn vectors_in_metadata_are_read_and_broken_ones_named() {
        let carrying = |text: &str| {
            let metadata = [("vector".to_owned(), text.to_owned())].into();
            crate::testing::item("x").metadata(metadata)
        };
        let read = |texts: &[&str]| {
            let mut items = crate::testing::build(texts.iter().map(|text| carrying(text)));
            items.push(crate::testing::item("none").build().unwrap());
            let vectors = ItemVectors::from_metadata(&items).map_err(|error| error.to_string())?;
            let vectors = vectors.map(|vectors| {
                let of = |item| vectors.vector_of(item).map(<[f32]>::to_vec);
                items.iter().map(of).collect::<Vec<_>>()
            });
            Ok::<_, String>(vectors)
        };
        assert_eq!(read(&[]), Ok(None));
        let expected = vec![Some(vec![1.0, 0.0]), Some(vec![0.0, -1.0]), None];
        assert_eq!(read(&["[2, 0]", "[0.0, -5e-1]"]), Ok(Some(expected)));
        let text = "items[1].metadata.vector: must have 2 components, got 1";
        assert_eq!(read(&["[2, 0]", "[1]"]).unwrap_err(), text);
        let text = "items[0].metadata.vector: must have 1 components, got 0";
        assert_eq!(read(&["[]"]).unwrap_err(), text);
        let text = read(&["0.5, 0.5"]).unwrap_err();
        assert!(
            text.starts_with("items[0].metadata.vector: must be a list of numbers: "),
            "{text}"
        );
    }
}
