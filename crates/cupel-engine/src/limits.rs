//! Limits of a window, and their origin.

use std::collections::HashMap;

use cupel::{ContextBudget, ContextKind, CupelError};
use cupel_tokens::{Count, Model};

use crate::EngineError;
use crate::explain::plain_room;

/// Tokens that are kept free for the answer where neither the caller nor the request sets them.
const DEFAULT_RESERVE: i64 = 4_096;

/// Limits of a window, as far as the caller sets them. Absent ones come from the model or the policy.
///
/// ```
/// use cupel_engine::Limits;
///
/// let limits = Limits::of(8_000).with_reserve(1_000);
/// assert_eq!(Limits::default(), Limits::from_model());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Limits {
    /// The window in tokens.
    pub max: Option<i64>,
    /// Tokens to aim for; all but the reserve if absent.
    pub target: Option<i64>,
    /// Tokens to keep free for the answer.
    pub reserve: Option<i64>,
    /// Possible error of counts, in percent: so much of the window stays free.
    pub margin_percent: Option<f64>,
}

impl Limits {
    /// A window of so many tokens.
    #[must_use]
    pub fn of(max_tokens: i64) -> Self {
        Self { max: Some(max_tokens), ..Self::default() }
    }

    /// The window of the model, or else of the policy.
    #[must_use]
    pub fn from_model() -> Self {
        Self::default()
    }

    /// Aims for less than what fits.
    #[must_use]
    pub fn with_target(mut self, tokens: i64) -> Self {
        self.target = Some(tokens);
        self
    }

    /// Keeps so many tokens free for the answer.
    #[must_use]
    pub fn with_reserve(mut self, tokens: i64) -> Self {
        self.reserve = Some(tokens);
        self
    }

    /// Keeps a share of the window free, since counts may be off.
    #[must_use]
    pub fn with_margin_percent(mut self, percent: f64) -> Self {
        self.margin_percent = Some(percent);
        self
    }

    /// These limits where they say something, and the others where they do not.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            max: self.max.or(others.max),
            target: self.target.or(others.target),
            reserve: self.reserve.or(others.reserve),
            margin_percent: self.margin_percent.or(others.margin_percent),
        }
    }
}

/// Where a budget can come from, besides the caller.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sources<'a> {
    /// The model that the caller or the request names.
    pub(crate) model: Option<&'a Model>,
    /// The output limit that the request sets itself.
    pub(crate) output_limit: Option<i64>,
    /// The budget of the policy.
    pub(crate) policy: Option<&'a ContextBudget>,
    /// Possible error of counts, where they are estimates of a tokenizer that is not public.
    pub(crate) doubt: Option<Doubt>,
}

/// Possible error of counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Doubt {
    /// The texts of all candidates, and what they are at most in 95 of 100 requests.
    pub(crate) texts: Count,
    /// The tokens that are pinned, and may be off as well.
    pub(crate) pinned: i64,
}

impl Doubt {
    /// The margin for what competes in a window, in percent, such that all that is kept fits even
    /// if it is as much larger as it may be.
    fn margin_percent(self, window: i64) -> f64 {
        let safe = window as f64 / (1.0 + self.texts.margin_percent_of(window) / 100.0);
        let competing = (window.saturating_sub(self.pinned)) as f64;
        if competing <= 0.0 {
            return 0.0;
        }
        let margin = 100.0 * (1.0 - (safe - self.pinned as f64) / competing);
        // So fine that a window of a token more never leaves less room, and short to write.
        ((margin * 1e4).ceil() / 1e4).clamp(0.0, 100.0)
    }
}

/// The budget: the window of the caller, of the model or of the policy, whichever comes first, with
/// target, reserve and margin as the caller says. `None` if there is no window.
pub(crate) fn decide(
    limits: Limits,
    sources: Sources<'_>,
) -> Result<Option<ContextBudget>, EngineError> {
    let margin = |window: i64| match (limits.margin_percent, sources.doubt) {
        (Some(percent), _) => percent,
        (None, Some(doubt)) => doubt.margin_percent(window),
        (None, None) => 0.0,
    };
    let build = |max: i64, reserve: i64| {
        let target = limits.target.unwrap_or(max.saturating_sub(reserve));
        build(max, reserve, limits.target, margin(target.min(max.saturating_sub(reserve))))
    };
    let budget = match (limits.max, sources.model, sources.policy) {
        (Some(max), _, _) => build(max, limits.reserve.unwrap_or(0)),
        (None, Some(model), _) => {
            let implied = sources.output_limit.unwrap_or(DEFAULT_RESERVE.min(model.max_output));
            build(model.context_window, limits.reserve.unwrap_or(implied))
        }
        (None, None, Some(policy)) => adjust(policy, limits),
        (None, None, None) => return Ok(None),
    };
    Ok(Some(budget?))
}

fn build(
    max: i64,
    reserve: i64,
    target: Option<i64>,
    margin: f64,
) -> Result<ContextBudget, CupelError> {
    let mut budget = ContextBudget::builder(max).output_reserve(reserve);
    if let Some(target) = target {
        budget = budget.target_tokens(target);
    }
    budget.estimation_safety_margin_percent(margin).build()
}

/// The policy's budget with what the caller changes. A new reserve moves the target, unless the
/// caller sets that too.
fn adjust(policy: &ContextBudget, limits: Limits) -> Result<ContextBudget, CupelError> {
    let max = policy.max_tokens();
    let reserve = limits.reserve.unwrap_or(policy.output_reserve());
    let target = policy.target_tokens().min(max.saturating_sub(reserve).max(0));
    ContextBudget::new(
        max,
        limits.target.unwrap_or(target),
        reserve,
        policy.reserved_slots().clone(),
        limits.margin_percent.unwrap_or(policy.estimation_safety_margin_percent()),
    )
}

/// Number of tokens around a window that may leave as much room, since percentages are rounded.
const ROUNDING: i64 = 8;

/// Function from the size of a window to its budget, with the reserved tokens staying as they are.
#[derive(Debug, Clone)]
pub(crate) struct Scale {
    reserve: i64,
    slots: HashMap<ContextKind, i64>,
    /// Given by somebody; else it follows from the doubt.
    margin_percent: Option<f64>,
    doubt: Option<Doubt>,
}

impl Scale {
    /// As a budget that was decided, if there is one, and else as limits say.
    pub(crate) fn of(budget: Option<&ContextBudget>, limits: Limits, doubt: Option<Doubt>) -> Self {
        let reserve = budget.map(ContextBudget::output_reserve);
        let of_budget = budget.map(ContextBudget::estimation_safety_margin_percent);
        Self {
            reserve: reserve.or(limits.reserve).unwrap_or(0),
            slots: budget.map(|budget| budget.reserved_slots().clone()).unwrap_or_default(),
            margin_percent: limits.margin_percent.or(of_budget.filter(|_| doubt.is_none())),
            doubt,
        }
    }

    /// The budget of a window of this size, which aims for all that is not reserved.
    pub(crate) fn budget(&self, max: i64) -> Result<ContextBudget, CupelError> {
        let target = max.saturating_sub(self.reserve);
        let margin = self.margin_percent(target);
        ContextBudget::new(max, target, self.reserve, self.slots.clone(), margin)
    }

    /// The same with nothing set aside but the margin.
    pub(crate) fn with_margin_alone(&self) -> Self {
        Self { reserve: 0, slots: HashMap::new(), ..self.clone() }
    }

    /// The margin of a window of this size, in percent.
    pub(crate) fn margin_percent(&self, window: i64) -> f64 {
        match (self.margin_percent, self.doubt) {
            (Some(percent), _) => percent,
            (None, Some(doubt)) => doubt.margin_percent(window),
            (None, None) => 0.0,
        }
    }

    /// The smallest window that leaves as much room as a budget of `plain` tokens with nothing set
    /// aside, where what is pinned costs so much; `None` if no window does.
    pub(crate) fn window_for(&self, plain: i64, pinned: i64) -> Option<i64> {
        let room = |max: i64| self.budget(max).map_or(0, |budget| plain_room(pinned, &budget));
        // Room hardly ever shrinks as the window grows.
        let (mut low, mut high) = (plain, plain.max(1));
        while room(high) < plain {
            low = high;
            high = high.checked_mul(2)?;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if room(middle) < plain { low = middle + 1 } else { high = middle }
        }
        // The percentage is rounded up, which may cost a token here and not there.
        let smaller =
            (low.saturating_sub(ROUNDING).max(plain)..low).find(|max| room(*max) >= plain);
        Some(smaller.unwrap_or(low))
    }

    /// Reserved tokens, margins apart.
    pub(crate) fn reserved(&self) -> i64 {
        self.slots.values().fold(self.reserve, |sum, slot| sum.saturating_add(*slot))
    }
}

/// Reads a number of tokens as people write it: `8000`, `8_000`, `8,000`, `8k`, `1.5k` or `1m`.
///
/// # Errors
///
/// Error about the text, in words.
///
/// ```
/// assert_eq!(cupel_engine::parse_tokens("1.5k"), Ok(1_500));
/// assert!(cupel_engine::parse_tokens("lots").is_err());
/// ```
pub fn parse_tokens(text: &str) -> Result<i64, String> {
    let wrong = || "not a number of tokens; write it as 8000 or 8k".to_owned();
    let (number, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        _ => (text, 1),
    };
    let number: String = number.chars().filter(|char| !matches!(char, '_' | ',')).collect();
    let (whole, part) = number.split_once('.').unwrap_or((&number, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || number.ends_with('.') || !are_digits(whole) || !are_digits(part) {
        return Err(wrong());
    }
    let too_many = || "too many tokens".to_owned();
    let whole: i64 = whole.parse().map_err(|_| too_many())?;
    let whole = whole.checked_mul(unit).ok_or_else(too_many)?;
    let part = fraction(part, unit).ok_or_else(|| "not a whole number of tokens".to_owned())?;
    whole.checked_add(part).ok_or_else(too_many)
}

/// Digits behind the point, in tokens; `None` if that is no whole number.
fn fraction(digits: &str, unit: i64) -> Option<i64> {
    let mut place = unit;
    let mut tokens = 0;
    for digit in digits.trim_end_matches('0').bytes() {
        place = Some(place / 10).filter(|smaller| smaller * 10 == place && *smaller > 0)?;
        tokens += i64::from(digit - b'0') * place;
    }
    Some(tokens)
}

/// Reads a margin as people write it: `10%`, `10 %` or `10`.
///
/// # Errors
///
/// Error about the text, in words.
///
/// ```
/// assert_eq!(cupel_engine::parse_margin("12.5 %"), Ok(12.5));
/// assert!(cupel_engine::parse_margin("150%").is_err());
/// ```
pub fn parse_margin(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    let percent = number.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| "not a share from 0% to 100%; write it as 10%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(limits: Limits, sources: Sources<'_>) -> (i64, i64, i64) {
        let budget = decide(limits, sources).unwrap().unwrap();
        (budget.max_tokens(), budget.target_tokens(), budget.output_reserve())
    }

    #[test]
    fn numbers_of_tokens_are_read_as_people_write_them() {
        for text in ["8000", "8_000", "8,000", "8k", "8K", "8.0k", "0.008m"] {
            assert_eq!(parse_tokens(text), Ok(8_000), "{text}");
        }
        assert_eq!(parse_tokens("1.5k"), Ok(1_500));
        assert_eq!(parse_tokens("0.25m"), Ok(250_000));
        for text in ["", "k", "-1", ".5k", "1.k", "1.2.3k", "many", "1.5", "1.0005k"] {
            assert!(parse_tokens(text).is_err(), "{text}");
        }
        for text in ["99999999999999999999", "9999999999999999m"] {
            assert_eq!(parse_tokens(text).unwrap_err(), "too many tokens");
        }
    }

    #[test]
    fn max_wins_over_the_model_and_the_model_over_the_policy() {
        let model = Model::find("gpt-4o").unwrap();
        let policy = ContextBudget::builder(500).output_reserve(100).build().unwrap();
        let all = Sources { model: Some(model), policy: Some(&policy), ..Sources::default() };
        assert_eq!(decided(Limits::of(90), all), (90, 90, 0));
        let (max, target, reserve) = decided(Limits::default(), all);
        assert_eq!((max, reserve), (model.context_window, 4_096));
        assert_eq!(target, max - reserve);
        let only_policy = Sources { policy: Some(&policy), ..Sources::default() };
        assert_eq!(decided(Limits::default(), only_policy), (500, 400, 100));
        let both = Limits::default().with_target(50).with_reserve(200);
        assert_eq!(decided(both, only_policy), (500, 50, 200));
        assert_eq!(decided(Limits::default().with_reserve(200), only_policy), (500, 300, 200));
        assert!(decide(Limits::default(), Sources::default()).unwrap().is_none());
    }

    #[test]
    fn the_requests_own_limit_is_what_a_model_reserves() {
        let model = Model::find("gpt-4o").ok();
        let sources = Sources { model, output_limit: Some(700), ..Sources::default() };
        assert_eq!(decided(Limits::default(), sources).2, 700);
        assert_eq!(decided(Limits::default().with_reserve(9), sources).2, 9);
    }

    /// Counts that may be a quarter too low.
    fn quarter(pinned: i64) -> Doubt {
        Doubt { texts: Count::estimate(1_000, 1_250), pinned }
    }

    #[test]
    fn the_callers_margin_wins_over_the_implied_one() {
        let doubt = Some(quarter(0));
        let sources = Sources { doubt, ..Sources::default() };
        let margin =
            |limits| decide(limits, sources).unwrap().unwrap().estimation_safety_margin_percent();
        assert_eq!(margin(Limits::of(100)), 20.0);
        assert_eq!(margin(Limits::of(100).with_margin_percent(3.0)), 3.0);
    }

    #[test]
    fn what_is_pinned_may_be_off_as_well() {
        let doubt = quarter(60);
        // 20 competing tokens beside 60 pinned ones are 100 in the worst case.
        assert_eq!(doubt.margin_percent(100), 50.0);
        assert_eq!(quarter(90).margin_percent(100), 100.0);
        assert_eq!(quarter(100).margin_percent(100), 0.0);
    }
}
