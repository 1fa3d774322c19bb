//! Builder of engines.

use std::sync::Arc;

use cupel::Renderer;
use cupel_chat::{Format, Pin, RepairMode, Rule};
use cupel_renderings::Shorten;
use cupel_tokens::TokenCounter;

use crate::engine::{Engine, Settings, Turns};
use crate::{
    DEFAULT_POLICY, EngineError, Limits, NamedPolicy, Progress, Superseded, ToolMode, model,
    tokenizer,
};

/// Collects what an [`Engine`] is made of.
///
/// Nothing has to be given: without a policy it is `auto`, without a model the one that each request
/// names, without limits that model's window.
///
/// ```
/// use cupel_engine::{Engine, Superseded};
///
/// let engine = Engine::builder()
///     .policy("chat")
///     .model("gpt-4o")
///     .tokenizer("estimate")
///     .max_tokens(8_000)
///     .superseded(Superseded::Drop)
///     .build()?;
/// # Ok::<(), cupel_engine::EngineError>(())
/// ```
#[derive(Clone, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct EngineBuilder {
    policy: Option<PolicySource>,
    model: Option<String>,
    tokenizer: Option<TokenizerSource>,
    pub(crate) limits: Limits,
    pins: Vec<Pin>,
    rules: Vec<Rule>,
    superseded: Superseded,
    shorten: Option<Shorten>,
    tools: Option<ToolMode>,
    renderer: Option<Arc<dyn Renderer>>,
    repair: Option<RepairMode>,
    keep_caps: bool,
    alternate: bool,
    lacks_thinking: bool,
    handles: bool,
    turns: Turns,
    format: Option<Format>,
    progress: Option<Arc<dyn Progress>>,
}

#[derive(Clone)]
enum PolicySource {
    Known(String),
    Given(NamedPolicy),
    Text { name: String, text: String },
}

#[derive(Clone)]
enum TokenizerSource {
    Known(String),
    Given(Arc<dyn TokenCounter>),
}

impl EngineBuilder {
    /// The policy that is known by this name; see [`policies`](crate::policies).
    #[must_use]
    pub fn policy(mut self, name: impl Into<String>) -> Self {
        self.policy = Some(PolicySource::Known(name.into()));
        self
    }

    /// A policy that was found or read before.
    #[must_use]
    pub fn named_policy(mut self, policy: NamedPolicy) -> Self {
        self.policy = Some(PolicySource::Given(policy));
        self
    }

    /// The text of a policy's file, TOML or JSON, and what reports call it.
    #[must_use]
    pub fn policy_text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.policy = Some(PolicySource::Text { name: name.into(), text: text.into() });
        self
    }

    /// The model of all requests, for tokenizer and window, whatever they name themselves.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Sets how tokens are counted, whatever the model: `o200k_base`, `cl100k_base`, `estimate`, or the
    /// path of a `tokenizer.json` (feature `huggingface`).
    #[must_use]
    pub fn tokenizer(mut self, name: impl Into<String>) -> Self {
        self.tokenizer = Some(TokenizerSource::Known(name.into()));
        self
    }

    /// Counts tokens with a counter of one's own.
    #[must_use]
    pub fn counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.tokenizer = Some(TokenizerSource::Given(counter));
        self
    }

    /// Sets the limits of the window.
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

    /// Keeps this in every request, whatever it costs.
    #[must_use]
    pub fn pin(mut self, pin: Pin) -> Self {
        self.pins.push(pin);
        self
    }

    /// Keeps every message of the system or the user that states one of these standing rules. Nobody has
    /// to state them.
    ///
    /// ```
    /// use cupel_engine::{Engine, Rule};
    ///
    /// let rules = Rule::lines("never use tabs\nno new dependencies");
    /// let engine = Engine::builder().tokenizer("estimate").max_tokens(30).rules(rules).build()?;
    /// let text = r#"[{"role": "user", "content": "Never use tabs!"},
    ///     {"role": "user", "content": "Lunch is at noon, and the printer is out of paper again."},
    ///     {"role": "user", "content": "Please format the file."}]"#;
    /// assert_eq!(engine.select(text)?.kept_messages, [0, 2]);
    /// # Ok::<(), cupel_engine::EngineError>(())
    /// ```
    #[must_use]
    pub fn rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// Sets the treatment of messages that something newer makes superfluous.
    #[must_use]
    pub fn superseded(mut self, superseded: Superseded) -> Self {
        self.superseded = superseded;
        self
    }

    /// Sets the texts that may be shortened: results of tools that are JSON, or all
    /// results of tools. Without it nothing is, unless what must be kept does not fit otherwise: then
    /// its JSON results are.
    #[must_use]
    pub fn shorten(mut self, what: Shorten) -> Self {
        self.shorten = Some(what);
        self
    }

    /// Lets tools make room in a request that does not fit, where they take more than a quarter of the window: their
    /// definitions say less ([`Shorten`](ToolMode::Shorten)), and those that nothing asks for are left out
    /// ([`Choose`](ToolMode::Choose)).
    ///
    /// ```
    /// use cupel_engine::{Engine, ToolFate, ToolMode};
    ///
    /// let tool = |name: &str, what: &str| format!(r#"{{"type": "function", "function": {{"name": "{name}",
    ///     "description": "{what} Takes a while. {}", "parameters": {{"type": "object"}}}}}}"#, "Be patient. ".repeat(9));
    /// let tools = [tool("tides", "Looks up the tides."), tool("soup", "Orders soup.")].join(",");
    /// let said = r#"{"role": "user", "content": "When is high tide?"}"#;
    /// let request = format!(r#"{{"tools": [{tools}], "messages": [{said}, {said}]}}"#);
    /// let engine = Engine::builder().tokenizer("estimate").max_tokens(80).tools(ToolMode::Choose);
    /// let selection = engine.build()?.select(request.as_str())?;
    /// assert_eq!(selection.tools[0].fate, ToolFate::Shortened);
    /// assert_eq!(selection.tools[1].name, "soup");
    /// # Ok::<(), cupel_engine::EngineError>(())
    /// ```
    #[must_use]
    pub fn tools(mut self, mode: ToolMode) -> Self {
        self.tools = Some(mode);
        self
    }

    /// Makes shorter forms of what tools answered, beside what [`shorten`](Self::shorten) makes: a
    /// renderer of one's own, or one that looks up what a model made of a text.
    ///
    /// A store of summaries by [handle](crate::handle) never gives the summary of a text that was
    /// edited since:
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use std::sync::Arc;
    ///
    /// use cupel_engine::{Draft, Engine, Original, Renderer, handle};
    ///
    /// struct Summaries(HashMap<String, String>);
    ///
    /// impl Renderer for Summaries {
    ///     fn render(&self, original: &Original<'_>) -> Vec<Draft> {
    ///         let summary = self.0.get(&handle(original.text));
    ///         summary.map(|text| Draft::new("summary", text, 0.7)).into_iter().collect()
    ///     }
    /// }
    ///
    /// let engine = Engine::builder().renderer(Arc::new(Summaries(HashMap::new()))).build()?;
    /// # Ok::<(), cupel_engine::EngineError>(())
    /// ```
    #[must_use]
    pub fn renderer(mut self, renderer: Arc<dyn Renderer>) -> Self {
        self.renderer = Some(renderer);
        self
    }

    /// Repairs requests that their provider would refuse, instead of refusing them.
    #[must_use]
    pub fn repair(self, repair: bool) -> Self {
        self.repair_by(repair.then_some(RepairMode::Keep))
    }

    /// Repairs requests as far as the mode allows; `None` repairs nothing.
    #[must_use]
    pub fn repair_by(mut self, mode: Option<RepairMode>) -> Self {
        self.repair = mode;
        self
    }

    /// Lets a policy leave things out of a request that fits whole, because of its caps and quotas.
    #[must_use]
    pub fn keep_caps(mut self, keep_caps: bool) -> Self {
        self.keep_caps = keep_caps;
        self
    }

    /// Never lets the user speak twice in a row in what is left, as the chat templates of many open
    /// models want it. Then whole turns are in or out, but for the last one.
    #[must_use]
    pub fn alternate(mut self, alternate: bool) -> Self {
        self.alternate = alternate;
        self
    }

    /// Takes requests that enable thinking and have none in their last turn. Anthropic refuses them; servers of other models that
    /// have its interface never think, and never ask for it.
    #[must_use]
    pub fn lacks_thinking(mut self, lacks_thinking: bool) -> Self {
        self.lacks_thinking = lacks_thinking;
        self
    }

    /// Ends every text that is shorter than it was with the [handle](crate::handle) of its original, as
    /// `[whole: cupel:0366a61f7fbd4ca4]`, so that the model can ask for it with a tool that calls
    /// [`Engine::original`]. Forms that lose nothing, and those that the caller made, stay as they are.
    #[must_use]
    pub fn handles(mut self, handles: bool) -> Self {
        self.handles = handles;
        self
    }

    /// Keeps or drops whole turns, but for the last one, in the formats in which a step needs the message
    /// that opens its turn. Otherwise each step is in or out by itself.
    #[must_use]
    pub fn whole_turns(mut self, whole_turns: bool) -> Self {
        self.turns = if whole_turns { Turns::Whole } else { Turns::Steps };
        self
    }

    /// The format of all requests, which is detected otherwise.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets the observer of long work.
    #[must_use]
    pub fn progress(mut self, progress: Arc<dyn Progress>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// The engine.
    ///
    /// # Errors
    ///
    /// If policy, model or tokenizer are not known or cannot be read. No vocabulary is read yet.
    pub fn build(self) -> Result<Engine, EngineError> {
        let policy = match self.policy {
            None => NamedPolicy::find(DEFAULT_POLICY)?,
            Some(PolicySource::Known(name)) => NamedPolicy::find(&name)?,
            Some(PolicySource::Given(policy)) => policy,
            Some(PolicySource::Text { name, text }) => NamedPolicy::read(&name, &text)?,
        };
        // A name that says nothing is found now, not at the first request.
        self.model.as_deref().map(model::by_name).transpose()?;
        let counter = match self.tokenizer {
            None => None,
            Some(TokenizerSource::Known(name)) => Some(tokenizer::counter(&name)?),
            Some(TokenizerSource::Given(counter)) => Some(counter),
        };
        Engine::of(Settings {
            policy,
            model: self.model.map(Arc::from),
            counter,
            limits: self.limits,
            pins: self.pins,
            rules: self.rules,
            superseded: self.superseded,
            shorten: self.shorten,
            tools: self.tools,
            renderer: self.renderer,
            repair: self.repair,
            keep_caps: self.keep_caps,
            alternate: self.alternate,
            lacks_thinking: self.lacks_thinking,
            handles: self.handles,
            turns: self.turns,
            format: self.format,
            progress: self.progress,
        })
    }
}
