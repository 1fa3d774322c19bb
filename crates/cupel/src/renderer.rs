//! Shorter forms of texts.

use crate::{ContextItem, CupelError, Rendering};

/// A text that a [`Renderer`] is to shorten.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Original<'t> {
    /// The text, whole.
    pub text: &'t str,
    /// Tokens of the text.
    pub tokens: i64,
    /// Origin of the text, as the name of a tool; empty if unknown.
    pub name: &'t str,
}

impl<'t> Original<'t> {
    /// A text with what it costs.
    #[must_use]
    pub fn new(text: &'t str, tokens: i64) -> Self {
        Self { text, tokens, name: "" }
    }

    /// The same, from a tool of this name.
    #[must_use]
    pub fn from_tool(mut self, name: &'t str) -> Self {
        self.name = name;
        self
    }
}

/// A shorter text that nobody has counted yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Name of the form, as `json 18 %`.
    pub name: String,
    /// The text.
    pub content: String,
    /// The share of the original's value that it keeps, within 0 and 1.
    pub share: f64,
    /// See [`Rendering::only_above`].
    pub only_above: Option<f64>,
}

impl Draft {
    /// A draft.
    #[must_use]
    pub fn new(name: impl Into<String>, content: impl Into<String>, share: f64) -> Self {
        Self { name: name.into(), content: content.into(), share, only_above: None }
    }

    /// The same, to be offered only where the whole is larger than this share of the budget.
    #[must_use]
    pub fn only_above(mut self, share_of_budget: f64) -> Self {
        self.only_above = Some(share_of_budget);
        self
    }

    /// The draft, counted.
    ///
    /// # Errors
    ///
    /// As [`Rendering::new`] and [`Rendering::with_share`].
    pub fn counted(self, tokens: i64) -> Result<Rendering, CupelError> {
        let rendering = Rendering::new(self.name, self.content, tokens)?.with_share(self.share)?;
        match self.only_above {
            Some(share) => rendering.only_above(share),
            None => Ok(rendering),
        }
    }
}

/// Makes shorter forms of a text.
///
/// # Contract
///
/// A pure function of the text, its tokens and its name: the same today and tomorrow, so that what
/// was sent once can be sent again as it was. An empty list if there is nothing to shorten.
///
/// # Your own renderer
///
/// ```
/// use cupel::{ContextItemBuilder, Draft, Original, Renderer};
///
/// /// The first line, if there are more.
/// struct FirstLine;
///
/// impl Renderer for FirstLine {
///     fn render(&self, original: &Original<'_>) -> Vec<Draft> {
///         match original.text.split_once('\n') {
///             Some((first, rest)) if !first.is_empty() && !rest.is_empty() => {
///                 let share = first.len() as f64 / original.text.len() as f64;
///                 vec![Draft::new("first line", first, share)]
///             }
///             _ => Vec::new(),
///         }
///     }
/// }
///
/// let count = |text: &str| text.split_whitespace().count() as i64;
/// let item = ContextItemBuilder::new("all is well\nbut for the rain", 7).build()?;
/// let item = FirstLine.render_item(&item, &count)?;
/// assert_eq!(item.renderings()[0].content(), "all is well");
/// assert_eq!(item.renderings()[0].tokens(), 3);
/// # Ok::<(), cupel::CupelError>(())
/// ```
pub trait Renderer: Send + Sync {
    /// Shorter forms of a text, in any order.
    fn render(&self, original: &Original<'_>) -> Vec<Draft>;

    /// The item with these forms beside those that it has. Those that are not shorter are left out.
    ///
    /// # Errors
    ///
    /// As [`Draft::counted`], if the renderer or `count` breaks a rule.
    fn render_item(
        &self,
        item: &ContextItem,
        count: &dyn Fn(&str) -> i64,
    ) -> Result<ContextItem, CupelError> {
        let mut renderings = item.renderings().to_vec();
        for draft in self.render(&Original::new(item.content(), item.tokens())) {
            let tokens = count(&draft.content);
            if tokens < item.tokens() {
                renderings.push(draft.counted(tokens)?);
            }
        }
        Ok(item.with_renderings(renderings))
    }
}
