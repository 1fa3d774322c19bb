//! A shorter form of an item.

use super::Part;
use crate::CupelError;

/// A shorter form of an item: another text that says less in fewer tokens.
///
/// A summary by a model, a result without its details, a line that says that something was here.
/// An item may carry [several](crate::ContextItemBuilder::renderings); which of them goes into the
/// window, or the whole, is decided like everything else, by what it is worth and costs.
///
/// # Example
///
/// ```
/// use cupel::Rendering;
///
/// let summary = Rendering::new("summary", "Paris: mild, some rain", 6)?.with_share(0.7)?;
/// assert_eq!((summary.name(), summary.tokens(), summary.share()), ("summary", 6, Some(0.7)));
/// assert!(Rendering::new("summary", "", 0).is_err());
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rendering {
    name: String,
    content: String,
    tokens: i64,
    share: Option<f64>,
    only_above: Option<f64>,
    parts: Box<[Part]>,
}

/// As with items, typed parts are no part of the value.
impl PartialEq for Rendering {
    fn eq(&self, other: &Self) -> bool {
        let fields = |form: &Self| (form.tokens, form.share, form.only_above);
        fields(self) == fields(other) && self.name == other.name && self.content == other.content
    }
}

impl Rendering {
    /// A form by this name, with its text and what that costs.
    ///
    /// # Errors
    ///
    /// [`CupelError::EmptyContent`] if the text is empty, [`CupelError::Rendering`] if the name is
    /// blank or the token count negative.
    pub fn new(
        name: impl Into<String>,
        content: impl Into<String>,
        tokens: i64,
    ) -> Result<Self, CupelError> {
        let (name, content) = (name.into(), content.into());
        if content.is_empty() {
            return Err(CupelError::EmptyContent);
        }
        if name.trim().is_empty() {
            return Err(CupelError::Rendering("name must not be empty or blank".to_owned()));
        }
        if tokens < 0 {
            let text = format!("tokens of `{name}` must not be negative, got {tokens}");
            return Err(CupelError::Rendering(text));
        }
        Ok(Self { name, content, tokens, share: None, only_above: None, parts: Box::default() })
    }

    /// The same, with the share of the item's value that it keeps.
    ///
    /// # Errors
    ///
    /// [`CupelError::Rendering`] if that is not within 0 and 1.
    pub fn with_share(mut self, share: f64) -> Result<Self, CupelError> {
        if !(0.0..=1.0).contains(&share) {
            let text = format!("share of `{}` must be within 0 and 1, got {share}", self.name);
            return Err(CupelError::Rendering(text));
        }
        self.share = Some(share);
        Ok(self)
    }

    /// The same, to be offered only where the whole item is larger than this share of the budget:
    /// for forms that are worse than they look, and better than nothing.
    ///
    /// # Errors
    ///
    /// [`CupelError::Rendering`] if that is not within 0 and 1.
    pub fn only_above(mut self, share_of_budget: f64) -> Result<Self, CupelError> {
        if !(0.0..=1.0).contains(&share_of_budget) {
            let text = format!(
                "only_above of `{}` must be within 0 and 1, got {share_of_budget}",
                self.name
            );
            return Err(CupelError::Rendering(text));
        }
        self.only_above = Some(share_of_budget);
        Ok(self)
    }

    /// The same, with the typed parts of its text.
    #[must_use]
    pub fn with_parts(mut self, parts: Vec<Part>) -> Self {
        self.parts = parts.into();
        self
    }

    /// Returns the typed parts of its text, in the order of the text; none where nobody said.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Name, as `summary` or `json 18 %`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its text; never empty.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Tokens; never negative.
    pub fn tokens(&self) -> i64 {
        self.tokens
    }

    /// The share of the item's value that it keeps, if somebody said so.
    pub fn share(&self) -> Option<f64> {
        self.share
    }

    /// The share of the budget that the whole item must exceed for this form to be offered.
    pub fn least_share_of_budget(&self) -> Option<f64> {
        self.only_above
    }

    /// Returns true if it is offered for an item of so many tokens at this budget.
    #[must_use]
    pub fn is_offered(&self, whole_tokens: i64, target_tokens: i64) -> bool {
        let least = self.only_above.map(|share| share * target_tokens as f64);
        self.tokens < whole_tokens && least.is_none_or(|least| whole_tokens as f64 > least)
    }

    /// The share that it keeps of an item of so many tokens. Where nobody said, the root of its
    /// share of the tokens: what is said first says most.
    #[must_use]
    pub fn share_of(&self, whole_tokens: i64) -> f64 {
        match self.share {
            Some(share) => share,
            None if whole_tokens <= 0 => 1.0,
            None => (self.tokens as f64 / whole_tokens as f64).sqrt().min(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        let text = |result: Result<Rendering, CupelError>| result.unwrap_err().to_string();
        assert_eq!(text(Rendering::new("a", "", 1)), "content must be non-empty");
        assert_eq!(text(Rendering::new(" ", "x", 1)), "rendering: name must not be empty or blank");
        assert_eq!(
            text(Rendering::new("a", "x", -1)),
            "rendering: tokens of `a` must not be negative, got -1"
        );
        for share in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            let refused = Rendering::new("a", "x", 1).and_then(|form| form.with_share(share));
            assert_eq!(
                text(refused),
                format!("rendering: share of `a` must be within 0 and 1, got {share}")
            );
        }
    }

    #[test]
    fn a_form_may_be_for_large_items_alone() {
        let form = Rendering::new("a", "x", 25).unwrap();
        assert!(form.is_offered(26, i64::MAX) && !form.is_offered(25, 1));
        let form = form.only_above(0.5).unwrap();
        assert!(form.is_offered(51, 100) && !form.is_offered(50, 100));
        assert!(form.only_above(f64::NAN).is_err());
    }

    #[test]
    fn without_a_share_the_root_of_the_tokens_counts() {
        let form = Rendering::new("a", "x", 25).unwrap();
        assert_eq!(form.share_of(100), 0.5);
        assert_eq!(form.share_of(9), 1.0);
        assert_eq!(form.share_of(0), 1.0);
        assert_eq!(form.with_share(0.2).unwrap().share_of(100), 0.2);
    }
}
