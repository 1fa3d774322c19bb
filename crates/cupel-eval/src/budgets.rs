//! The budgets to measure at.

use std::str::FromStr;

use serde::Serialize;

/// The budgets to measure at, in tokens: rising, each once, all above 0.
///
/// ```
/// use cupel_eval::Budgets;
///
/// let budgets: Budgets = "4000, 1000,1000".parse()?;
/// assert_eq!(budgets.tokens(), [1_000, 4_000]);
/// # Ok::<(), cupel_eval::InvalidBudgets>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Budgets(Vec<i64>);

/// A budget that nothing can be measured at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a budget must be a whole number of tokens above 0, got `{0}`; give some as in 1000,2000")]
pub struct InvalidBudgets(String);

impl InvalidBudgets {
    /// A stable, language-neutral name of the error.
    pub fn code(&self) -> &'static str {
        "invalid-budgets"
    }
}

impl Budgets {
    /// Sorts the budgets and drops doubles.
    ///
    /// # Errors
    ///
    /// If there is none, or one is not above 0.
    pub fn new(tokens: impl IntoIterator<Item = i64>) -> Result<Self, InvalidBudgets> {
        let mut tokens: Vec<i64> = tokens.into_iter().collect();
        tokens.sort_unstable();
        tokens.dedup();
        match tokens.first() {
            None => Err(InvalidBudgets(String::new())),
            Some(least) if *least <= 0 => Err(InvalidBudgets(least.to_string())),
            Some(_) => Ok(Self(tokens)),
        }
    }

    /// The budgets in tokens, rising.
    pub fn tokens(&self) -> &[i64] {
        &self.0
    }
}

impl Default for Budgets {
    /// 1,000, 2,000 and 4,000 tokens.
    fn default() -> Self {
        Self(vec![1_000, 2_000, 4_000])
    }
}

impl FromStr for Budgets {
    type Err = InvalidBudgets;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |part: &str| part.parse().map_err(|_| InvalidBudgets(part.to_owned()));
        let tokens: Result<Vec<i64>, _> = text.split(',').map(str::trim).map(number).collect();
        Self::new(tokens?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_budget_is_refused_by_value() {
        for wrong in ["", "0", "-5", "1e3", "99999999999999999999"] {
            assert_eq!(wrong.parse::<Budgets>(), Err(InvalidBudgets(wrong.to_owned())));
        }
        assert_eq!("5,x".parse::<Budgets>(), Err(InvalidBudgets("x".to_owned())));
        assert!(Budgets::new([]).is_err());
    }
}
