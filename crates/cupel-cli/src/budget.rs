//! From flags, model and policy to a budget.

use cupel::{ContextBudget, CupelError};
use cupel_tokens::Model;

use crate::cli::BudgetArguments;
use crate::error::Failure;

/// What is kept free for the answer where neither the flags nor the request say it.
const DEFAULT_RESERVE: i64 = 4_096;

/// Where a budget can come from, besides the flags.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sources<'a> {
    /// The model that the flags or the request name.
    pub(crate) model: Option<&'a Model>,
    /// The output limit that the request sets itself.
    pub(crate) output_limit: Option<i64>,
    /// The budget of the policy.
    pub(crate) policy: Option<&'a ContextBudget>,
}

/// The budget: the window of `--max`, of the model or of the policy, whichever comes first, with
/// target and reserve as the flags say. `None` if there is no window.
pub(crate) fn decide(
    flags: &BudgetArguments,
    sources: Sources<'_>,
) -> Result<Option<ContextBudget>, Failure> {
    let budget = match (flags.max, sources.model, sources.policy) {
        (Some(max), _, _) => build(max, flags.reserve.unwrap_or(0), flags.target),
        (None, Some(model), _) => {
            let implied = sources.output_limit.unwrap_or(DEFAULT_RESERVE.min(model.max_output));
            build(model.context_window, flags.reserve.unwrap_or(implied), flags.target)
        }
        (None, None, Some(policy)) => adjust(policy, flags),
        (None, None, None) => return Ok(None),
    };
    budget.map(Some).map_err(|error| Failure::cannot(format!("budget: {error}")))
}

fn build(max: i64, reserve: i64, target: Option<i64>) -> Result<ContextBudget, CupelError> {
    let mut budget = ContextBudget::builder(max).output_reserve(reserve);
    if let Some(target) = target {
        budget = budget.target_tokens(target);
    }
    budget.build()
}

/// The policy's budget with what the flags change. A new reserve moves the target, unless the flags
/// set that too.
fn adjust(policy: &ContextBudget, flags: &BudgetArguments) -> Result<ContextBudget, CupelError> {
    let max = policy.max_tokens();
    let reserve = flags.reserve.unwrap_or(policy.output_reserve());
    let target = policy.target_tokens().min(max.saturating_sub(reserve).max(0));
    ContextBudget::new(
        max,
        flags.target.unwrap_or(target),
        reserve,
        policy.reserved_slots().clone(),
        policy.estimation_safety_margin_percent(),
    )
}

/// Reads a number of tokens: `8000`, `8_000`, `8,000`, `8k` or `1m`.
pub(crate) fn parse_tokens(text: &str) -> Result<i64, String> {
    let wrong = || "not a number of tokens; write it as 8000 or 8k".to_owned();
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        _ => (text, 1),
    };
    let digits: String = digits.chars().filter(|char| !matches!(char, '_' | ',')).collect();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let number = digits.parse::<i64>().ok().and_then(|number| number.checked_mul(unit));
    number.ok_or_else(|| "too many tokens".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(max: Option<i64>, target: Option<i64>, reserve: Option<i64>) -> BudgetArguments {
        BudgetArguments { max, target, reserve }
    }

    fn decided(flags: &BudgetArguments, sources: Sources<'_>) -> (i64, i64, i64) {
        let budget = decide(flags, sources).unwrap().unwrap();
        (budget.max_tokens(), budget.target_tokens(), budget.output_reserve())
    }

    #[test]
    fn numbers_of_tokens_are_read_as_people_write_them() {
        for text in ["8000", "8_000", "8,000", "8k", "8K"] {
            assert_eq!(parse_tokens(text), Ok(8_000));
        }
        for text in ["", "k", "-1", "8.5k", "many", "99999999999999999999", "9999999999999999m"] {
            assert!(parse_tokens(text).is_err(), "{text}");
        }
    }

    #[test]
    fn max_wins_over_the_model_and_the_model_over_the_policy() {
        let model = Model::find("gpt-4o").unwrap();
        let policy = ContextBudget::builder(500).output_reserve(100).build().unwrap();
        let all = Sources { model: Some(model), output_limit: None, policy: Some(&policy) };
        assert_eq!(decided(&flags(Some(90), None, None), all), (90, 90, 0));
        let (max, target, reserve) = decided(&flags(None, None, None), all);
        assert_eq!((max, reserve), (model.context_window, 4_096));
        assert_eq!(target, max - reserve);
        let only_policy = Sources { policy: Some(&policy), ..Sources::default() };
        assert_eq!(decided(&flags(None, None, None), only_policy), (500, 400, 100));
        assert_eq!(decided(&flags(None, Some(50), Some(200)), only_policy), (500, 50, 200));
        assert_eq!(decided(&flags(None, None, Some(200)), only_policy), (500, 300, 200));
        assert!(decide(&flags(None, None, None), Sources::default()).unwrap().is_none());
    }

    #[test]
    fn the_requests_own_limit_is_what_a_model_reserves() {
        let model = Model::find("gpt-4o").unwrap();
        let sources = Sources { model: Some(model), output_limit: Some(700), policy: None };
        assert_eq!(decided(&flags(None, None, None), sources).2, 700);
        assert_eq!(decided(&flags(None, None, Some(9)), sources).2, 9);
    }
}
