//! Options of one call.

use std::sync::Arc;

use cupel_chat::{OwnRendering, Pin, Rule};
use cupel_relevance::VectorFile;
use cupel_renderings::Shorten;

use crate::{Cancel, Limits, ToolMode};

/// Changes of one call to its engine's settings; absent ones stay.
///
/// ```
/// use cupel_engine::{Engine, Limits, Options};
///
/// let engine = Engine::builder().max_tokens(8_000).build()?;
/// let options = Options::new().query("Which port?").limits(Limits::of(40));
/// let text = r#"[{"role": "user", "content": "Ports are 80 and 443."}]"#;
/// assert_eq!(engine.select_with(text, &options)?.summary.budget.max_tokens, 40);
/// # Ok::<(), cupel_engine::EngineError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub(crate) query: Option<Arc<str>>,
    pub(crate) limits: Limits,
    pub(crate) model: Option<Arc<str>>,
    pub(crate) usage: Option<i64>,
    pub(crate) pins: Vec<Pin>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) vectors: Option<Arc<VectorFile>>,
    pub(crate) shorten: Option<Shorten>,
    pub(crate) tools: Option<ToolMode>,
    pub(crate) renderings: Vec<OwnRendering>,
    pub(crate) cancel: Cancel,
}

impl Options {
    /// Changes nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the query that the window must answer, instead of the user's last words.
    #[must_use]
    pub fn query(mut self, query: impl Into<Arc<str>>) -> Self {
        self.query = Some(query.into());
        self
    }

    /// Sets the limits of the window, as far as they differ.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// A window of so many tokens.
    #[must_use]
    pub fn max_tokens(mut self, tokens: i64) -> Self {
        self.limits.max = Some(tokens);
        self
    }

    /// The model, for its tokenizer and window.
    #[must_use]
    pub fn model(mut self, name: impl Into<Arc<str>>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// The input tokens that the provider reported for the request before, which ended where the last
    /// message of the assistant begins. Counts are scaled by it, and a margin of 3 percent is enough.
    ///
    /// For a conversation that is sent whole.
    #[must_use]
    pub fn usage(mut self, input_tokens: i64) -> Self {
        self.usage = Some(input_tokens);
        self
    }

    /// Keeps this too, whatever it costs, beside what the engine pins.
    #[must_use]
    pub fn pin(mut self, pin: Pin) -> Self {
        self.pins.push(pin);
        self
    }

    /// Keeps every message that states one of these standing rules too, beside those of the engine.
    #[must_use]
    pub fn rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// Sets the texts that may be shortened, instead of those of the engine.
    #[must_use]
    pub fn shorten(mut self, what: Shorten) -> Self {
        self.shorten = Some(what);
        self
    }

    /// Lets tools make room in a request that does not fit, as this says and not the engine.
    #[must_use]
    pub fn tools(mut self, mode: ToolMode) -> Self {
        self.tools = Some(mode);
        self
    }

    /// Shorter forms that you made, as summaries by a model. They compete with the whole and with
    /// what the engine makes itself.
    #[must_use]
    pub fn renderings(mut self, renderings: impl IntoIterator<Item = OwnRendering>) -> Self {
        self.renderings.extend(renderings);
        self
    }

    /// Lets another thread end the call early.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Vectors of the messages and of the query, as an embedding model made them. A part has the
    /// mean of its messages; what has none is judged by its words.
    #[must_use]
    pub fn vectors(mut self, vectors: impl Into<Arc<VectorFile>>) -> Self {
        self.vectors = Some(vectors.into());
        self
    }
}
