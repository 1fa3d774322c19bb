//! Factors that make short and long items comparable.

use std::collections::HashMap;

use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};
use foldhash::fast::RandomState;

use super::{score_in_list, scores_of};
use crate::grouping::tag_value;
use crate::parameter;

/// Class of an item for the norms: its role if a tag names one, else its kind.
fn class(item: &ContextItem) -> &str {
    tag_value(item, "role").unwrap_or_else(|| item.kind().as_str())
}

fn log_tokens(item: &ContextItem) -> f64 {
    (item.tokens().max(1) as f64).ln()
}

/// Dependence of the lengths of a list on the classes of its items.
struct Classes {
    /// For each item the number of its class.
    of_items: Vec<u32>,
    /// For each class the mean of the logarithms of its items' tokens.
    means: Vec<f64>,
    /// For each item the logarithm of its tokens.
    logs: Vec<f64>,
    /// For each class how many items it has.
    counts: Vec<f64>,
}

impl Classes {
    fn of(items: &[ContextItem]) -> Self {
        let of_items = class_numbers(items);
        let logs: Vec<f64> = items.iter().map(log_tokens).collect();
        let classes = of_items.iter().max().map_or(0, |most| *most as usize + 1);
        let (mut sums, mut counts) = (vec![0.0; classes], vec![0.0; classes]);
        for (class, log) in of_items.iter().zip(&logs) {
            sums[*class as usize] += log;
            counts[*class as usize] += 1.0;
        }
        let means = sums.iter().zip(&counts).map(|(sum, count)| sum / count).collect();
        Self { of_items, means, logs, counts }
    }

    /// η²: the share of the variance of the logarithms that lies between the classes.
    fn explained(&self) -> f64 {
        if self.means.len() < 2 {
            return 0.0;
        }
        let mean = self.logs.iter().sum::<f64>() / self.logs.len() as f64;
        let whole: f64 = self.logs.iter().map(|log| (log - mean).powi(2)).sum();
        let classes = self.means.iter().zip(&self.counts);
        let between: f64 = classes.map(|(own, count)| count * (own - mean).powi(2)).sum();
        if whole > 0.0 { (between / whole).min(1.0) } else { 0.0 }
    }
}

/// For each item the number of its class, in the order in which classes first occur.
fn class_numbers(items: &[ContextItem]) -> Vec<u32> {
    let mut known: HashMap<&str, u32, RandomState> = HashMap::default();
    let mut previous: Option<(&str, u32)> = None;
    let number_of = |item| {
        let class = class(item);
        if let Some((same, number)) = previous {
            if same == class {
                return number;
            }
        }
        let next = known.len() as u32;
        let number = *known.entry(class).or_insert(next);
        previous = Some((class, number));
        number
    };
    items.iter().map(number_of).collect()
}

fn explain_factor(
    scorer: &dyn Scorer,
    what: &str,
    items: &ItemList<'_>,
    positions: &[usize],
) -> Vec<ScoreExplanation> {
    let scores = scores_of(scorer, items);
    positions.iter().map(|at| ScoreExplanation::new(what, scores[*at])).collect()
}

/// A factor that evens out classes of different length: who says more must say more that matters.
///
/// The class of an item is its role (a tag `role:…`), or else its kind. The factor is
/// `(m / s)^−exponent`, with m the geometric mean of the tokens of the item's class and s that of
/// the shortest class. It adapts: where all classes are alike it is 1 for everyone.
///
/// **When to choose it:** as a factor in a [`ProductScorer`](crate::ProductScorer) over
/// conversations where an assistant's long replies would drown what the user said.
///
/// **Cost:** a pass.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::ClassNormScorer;
///
/// let said = |role: &str, tokens| {
///     ContextItemBuilder::new("x", tokens).tags(vec![format!("role:{role}")]).build()
/// };
/// let items = [said("user", 10)?, said("assistant", 160)?];
/// let norm = ClassNormScorer::new(0.5)?;
/// assert_eq!(norm.score(&items[0], &items), 1.0);
/// assert!((norm.score(&items[1], &items) - 0.25).abs() < 1e-12);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassNormScorer {
    exponent: f64,
}

impl ClassNormScorer {
    /// With an exponent: 0 for no effect, 1 for the full ratio.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the exponent is negative or not finite.
    pub fn new(exponent: f64) -> Result<Self, CupelError> {
        parameter::not_negative("exponent", exponent)?;
        Ok(Self { exponent })
    }
}

impl Scorer for ClassNormScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        let classes = Classes::of(items);
        let shortest = classes.means.iter().copied().fold(f64::INFINITY, f64::min);
        let factor = |mean: &f64| (-self.exponent * (mean - shortest)).exp();
        let factors: Vec<f64> = classes.means.iter().map(factor).collect();
        for (score, class) in scores.iter_mut().zip(&classes.of_items) {
            *score = factors[*class as usize];
        }
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        explain_factor(self, "norm of its class", items, positions)
    }
}

/// A factor that prefers short items, as far as lengths depend on classes.
///
/// The factor is `tokens^(−exponent · η²)`, with η² the share of the variance of log tokens that
/// the classes (roles, or else kinds) explain. Where lengths depend on who speaks, short messages
/// carry more per token; where they do not, as among functions of a program, dividing by length only
/// hurts, and the factor is 1.
///
/// **When to choose it:** as a factor in a [`ProductScorer`](crate::ProductScorer), beside
/// [`ClassNormScorer`].
///
/// **Cost:** two passes.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::LengthNormScorer;
///
/// let said = |role: &str, tokens| {
///     ContextItemBuilder::new("x", tokens).tags(vec![format!("role:{role}")]).build()
/// };
/// let norm = LengthNormScorer::new(0.5)?;
/// let by_role = [said("user", 16)?, said("assistant", 100)?];
/// assert!((norm.score(&by_role[0], &by_role) - 0.25).abs() < 1e-12, "roles explain everything");
/// let alike = [said("user", 16)?, said("user", 100)?];
/// assert_eq!(norm.score(&alike[0], &alike), 1.0, "roles explain nothing");
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LengthNormScorer {
    exponent: f64,
}

impl LengthNormScorer {
    /// With an exponent: 0 for no effect, 1 for tokens in full where classes explain everything.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the exponent is negative or not finite.
    pub fn new(exponent: f64) -> Result<Self, CupelError> {
        parameter::not_negative("exponent", exponent)?;
        Ok(Self { exponent })
    }
}

impl Scorer for LengthNormScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        let classes = Classes::of(items);
        let exponent = -self.exponent * classes.explained();
        if exponent == 0.0 {
            return scores.fill(1.0);
        }
        for (score, log) in scores.iter_mut().zip(&classes.logs) {
            *score = (exponent * log).exp();
        }
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        explain_factor(self, "norm of its length", items, positions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, build, scores};
    use cupel::{ContextItemBuilder, ContextKind};

    fn items(rows: &[(&str, i64)]) -> Vec<ContextItem> {
        build(rows.iter().map(|(role, tokens)| {
            ContextItemBuilder::new("x", *tokens).tags(vec![format!("role:{role}")])
        }))
    }

    #[test]
    fn a_class_is_divided_by_its_geometric_mean_over_that_of_the_shortest() {
        let items = items(&[("user", 4), ("user", 16), ("assistant", 32), ("assistant", 128)]);
        let norm = ClassNormScorer::new(1.0).unwrap();
        assert_close(&scores(&norm, &items), &[1.0, 1.0, 0.125, 0.125]);
    }

    #[test]
    fn the_kind_is_the_class_where_no_role_is_known() {
        let document = ContextItemBuilder::new("x", 80).kind(ContextKind::document());
        let items = build([ContextItemBuilder::new("x", 20), document]);
        assert_close(&scores(&ClassNormScorer::new(0.5).unwrap(), &items), &[1.0, 0.5]);
    }

    #[test]
    fn length_counts_as_far_as_classes_explain_it() {
        // Logarithms to the base 2 are 0, 2 and 4, 6: means 1 and 5, whole variance 20, between 16.
        let items = items(&[("a", 1), ("a", 4), ("b", 16), ("b", 64)]);
        let norm = LengthNormScorer::new(1.0).unwrap();
        let expected = [1.0, 4.0_f64.powf(-0.8), 16.0_f64.powf(-0.8), 64.0_f64.powf(-0.8)];
        assert_close(&scores(&norm, &items), &expected);
    }

    #[test]
    fn one_class_equal_lengths_and_no_items_change_nothing() {
        let norm = LengthNormScorer::new(1.0).unwrap();
        assert_eq!(scores(&norm, &items(&[("a", 3), ("a", 90)])), [1.0, 1.0]);
        assert_eq!(scores(&norm, &items(&[("a", 5), ("b", 5)])), [1.0, 1.0]);
        assert_eq!(scores(&norm, &[]), [0.0; 0]);
        assert_eq!(scores(&ClassNormScorer::new(1.0).unwrap(), &[]), [0.0; 0]);
    }

    #[test]
    fn tokens_of_zero_and_below_count_as_one() {
        let norm = ClassNormScorer::new(1.0).unwrap();
        let items = items(&[("a", 0), ("b", 1), ("c", i64::MIN)]);
        assert_eq!(scores(&norm, &items), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_negative_exponent_is_refused() {
        let text = "exponent: must be finite and not negative, got -1";
        assert_eq!(ClassNormScorer::new(-1.0).unwrap_err().to_string(), text);
        assert_eq!(LengthNormScorer::new(-1.0).unwrap_err().to_string(), text);
    }
}
