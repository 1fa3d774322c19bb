//! The front door.

use std::fmt;
use std::sync::Arc;

use cupel::{ContextItem, Renderer, SelectionReport};
use cupel_chat::{Format, Pin, RepairMode, Request, Rule, Shortenable};
use cupel_renderings::Shorten;
use cupel_tokens::Model;

use crate::memo::SessionMemory;
use crate::model::Named;
use crate::prepare::Purpose;
use crate::tokenizer::Counter;
use crate::{
    Comparison, CompiledPolicy, Count, Curve, CurveRange, EngineBuilder, EngineError, Explanation,
    ItemSelection, Limits, Marginal, MinBudget, NamedPolicy, Options, Prepared, Progress, Repaired,
    RequestInput, Selection, Superseded, ToolList, ToolMode, Validation, Windows, compare, count,
    items, validate,
};

/// Fits requests into a window: built once, used for many requests on many threads.
///
/// A clone is a handle to the same engine. Every answer is owned data that can be written as JSON
/// ([`Schema`](crate::Schema)); the same input gives the same bytes.
///
/// ```
/// use cupel_engine::Engine;
///
/// let engine = Engine::builder().max_tokens(40).tokenizer("estimate").build()?;
/// let text = r#"{"messages": [
///     {"role": "user", "content": "The deploy key is on the blue card."},
///     {"role": "assistant", "content": "Noted."},
///     {"role": "user", "content": "Lunch is at noon, soup again, and the printer is out of paper."},
///     {"role": "user", "content": "Where is the deploy key?"}
/// ]}"#;
/// let selection = engine.select(text)?;
/// assert!(selection.text.contains("blue card") && !selection.text.contains("printer"));
/// assert_eq!(selection.kept_messages, [0, 1, 3]);
/// assert!(selection.summary.tokens_after <= 40);
/// # Ok::<(), cupel_engine::EngineError>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    settings: Arc<Settings>,
    /// The policy, built once for all requests: what differs between them comes with the run.
    compiled: CompiledPolicy,
    /// The policy for what fits as a whole.
    uncapped: CompiledPolicy,
}

/// Settings that all requests of an engine share.
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub(crate) struct Settings {
    pub(crate) policy: NamedPolicy,
    /// The name of the model of all requests, as the caller gave it.
    pub(crate) model: Option<Arc<str>>,
    pub(crate) counter: Option<Counter>,
    pub(crate) limits: Limits,
    pub(crate) pins: Vec<Pin>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) superseded: Superseded,
    /// `None` where only what would not fit otherwise is shortened.
    pub(crate) shorten: Option<Shorten>,
    pub(crate) tools: Option<ToolMode>,
    pub(crate) renderer: Option<Arc<dyn Renderer>>,
    pub(crate) repair: Option<RepairMode>,
    pub(crate) keep_caps: bool,
    pub(crate) alternate: bool,
    pub(crate) lacks_thinking: bool,
    pub(crate) handles: bool,
    pub(crate) turns: Turns,
    pub(crate) format: Option<Format>,
    pub(crate) progress: Option<Arc<dyn Progress>>,
}

impl Settings {
    /// The model of all requests, if the caller gave one.
    pub(crate) fn named(&self) -> Named<'_> {
        let name = self.model.as_deref();
        Named { name, model: name.and_then(|name| Model::find(name).ok()) }
    }
}

/// The unit of a turn that is in or out as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Turns {
    /// Each step, where the format knows steps.
    #[default]
    Steps,
    /// All of it, but for the last turn.
    Whole,
}

impl Engine {
    /// Collects what an engine is made of.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    pub(crate) fn of(settings: Settings) -> Result<Self, EngineError> {
        let compiled = settings.policy.compile()?;
        let uncapped = compiled.without_caps()?;
        Ok(Self { settings: Arc::new(settings), compiled, uncapped })
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    pub(crate) fn compiled(&self) -> &CompiledPolicy {
        &self.compiled
    }

    pub(crate) fn uncapped(&self) -> &CompiledPolicy {
        &self.uncapped
    }

    /// The policy that it selects by.
    #[must_use]
    pub fn policy(&self) -> &NamedPolicy {
        &self.settings.policy
    }

    /// The best request that fits.
    ///
    /// # Errors
    ///
    /// If the request cannot be read, breaks a rule of its provider, or does not fit; see
    /// [`ErrorCode`](crate::ErrorCode).
    pub fn select(&self, request: impl Into<RequestInput>) -> Result<Selection, EngineError> {
        self.select_with(request, &Options::default())
    }

    /// The best request that fits, with other settings for this call.
    ///
    /// # Errors
    ///
    /// As [`select`](Self::select), and if the options name what is not known.
    pub fn select_with(
        &self,
        request: impl Into<RequestInput>,
        options: &Options,
    ) -> Result<Selection, EngineError> {
        self.prepare(request, options)?.select()
    }

    /// The best of candidates that are no chat request, each with its tokens.
    ///
    /// # Errors
    ///
    /// If nothing says how much fits, or what is pinned does not fit.
    pub fn select_items(
        &self,
        candidates: &[ContextItem],
        options: &Options,
    ) -> Result<ItemSelection, EngineError> {
        items::select(self, candidates, options)
    }

    /// Reads, checks and counts a request once, to ask it several questions.
    ///
    /// # Errors
    ///
    /// If the request cannot be read or breaks a rule of its provider. Whether it fits is asked
    /// later.
    pub fn prepare(
        &self,
        request: impl Into<RequestInput>,
        options: &Options,
    ) -> Result<Prepared, EngineError> {
        Prepared::new(self.clone(), request.into(), options, Purpose::Window)
    }

    /// The same for a step of a session: every turn is taken apart, as [`Session`](crate::Session)
    /// does, so that parts are those that a [`Step`](crate::Step) tells of.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Self::prepare).
    pub fn prepare_step(
        &self,
        request: impl Into<RequestInput>,
        options: &Options,
    ) -> Result<Prepared, EngineError> {
        let memory = SessionMemory::default();
        let purpose = Purpose::Session { memory: &memory, before: None };
        Prepared::new(self.clone(), request.into(), options, purpose)
    }

    /// Explains what is in the window, what is not, and why.
    ///
    /// # Errors
    ///
    /// As [`select_with`](Self::select_with).
    pub fn explain(
        &self,
        request: impl Into<RequestInput>,
        options: &Options,
    ) -> Result<Explanation, EngineError> {
        self.prepare(request, options)?.explain(usize::MAX)
    }

    /// The report of the specification.
    ///
    /// # Errors
    ///
    /// As [`select_with`](Self::select_with).
    pub fn report(
        &self,
        request: impl Into<RequestInput>,
        options: &Options,
    ) -> Result<SelectionReport, EngineError> {
        self.prepare(request, options)?.report()
    }

    /// The windows of many budgets, from one ranking.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Self::prepare). A budget that is too small is an answer, not an error.
    pub fn windows(
        &self,
        request: impl Into<RequestInput>,
        budgets: &[i64],
        options: &Options,
    ) -> Result<Windows, EngineError> {
        self.prepare(request, options)?.windows(budgets)
    }

    /// Windows at budgets from the pinned messages to everything.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Self::prepare), and if the range is empty.
    pub fn curve(
        &self,
        request: impl Into<RequestInput>,
        range: CurveRange,
        options: &Options,
    ) -> Result<Curve, EngineError> {
        self.prepare(request, options)?.curve(range)
    }

    /// Messages that the last tokens of the budget buy.
    ///
    /// # Errors
    ///
    /// As [`select_with`](Self::select_with).
    pub fn marginal(
        &self,
        request: impl Into<RequestInput>,
        slack_tokens: i64,
        options: &Options,
    ) -> Result<Marginal, EngineError> {
        self.prepare(request, options)?.marginal(slack_tokens)
    }

    /// The smallest budget that keeps a message.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Self::prepare), and if there is no such message.
    pub fn min_budget(
        &self,
        request: impl Into<RequestInput>,
        message: usize,
        options: &Options,
    ) -> Result<MinBudget, EngineError> {
        self.prepare(request, options)?.min_budget(message)
    }

    /// Messages that two or more policies keep differently.
    ///
    /// # Errors
    ///
    /// As [`select_with`](Self::select_with), and if there are fewer than two policies.
    pub fn compare(
        &self,
        request: impl Into<RequestInput>,
        policies: &[NamedPolicy],
        options: &Options,
    ) -> Result<Comparison, EngineError> {
        compare::compare(self, request.into(), policies, options)
    }

    /// The tokens of a request, part by part.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Self::prepare).
    pub fn count(
        &self,
        request: impl Into<RequestInput>,
        options: &Options,
    ) -> Result<Count, EngineError> {
        Ok(self.prepare(request, &options.clone().tools(ToolMode::Keep))?.count())
    }

    /// The tools of a request, one by one: what they cost, and how often they are called.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Self::prepare).
    pub fn tools(
        &self,
        request: impl Into<RequestInput>,
        options: &Options,
    ) -> Result<ToolList, EngineError> {
        Ok(self.prepare(request, &options.clone().tools(ToolMode::Keep))?.tools())
    }

    /// The tokens of plain texts, each by its name.
    #[must_use]
    pub fn count_texts(&self, texts: &[(&str, &str)]) -> Count {
        count::texts(&self.settings, texts)
    }

    /// The rules of its provider that a request breaks.
    ///
    /// # Errors
    ///
    /// If the request cannot be read.
    pub fn validate(&self, request: impl Into<RequestInput>) -> Result<Validation, EngineError> {
        Ok(validate::validate(&self.read(request)?))
    }

    /// The request, repaired as far as it can be, and what was done to it. Nothing is lost, unless the engine
    /// [drops](crate::EngineBuilder::repair_by) what cannot be kept; [`Repaired::losses`] says what that would be.
    ///
    /// # Errors
    ///
    /// If the request cannot be read.
    pub fn repair(&self, request: impl Into<RequestInput>) -> Result<Repaired, EngineError> {
        self.repair_by(request, self.settings().repair.unwrap_or_default())
    }

    /// The same, as far as the mode allows.
    ///
    /// # Errors
    ///
    /// As [`repair`](Self::repair).
    pub fn repair_by(
        &self,
        request: impl Into<RequestInput>,
        mode: RepairMode,
    ) -> Result<Repaired, EngineError> {
        validate::repair(&self.read(request)?, mode)
    }

    /// The whole text that a window has a shorter form of, by the handle that its stub names: for
    /// an application that offers it to the model as a tool.
    ///
    /// ```
    /// use cupel_engine::{Engine, Options, Shorten};
    ///
    /// let rows: Vec<String> = (0..40).map(|at| format!(r#"{{"id": "order-{at}"}}"#)).collect();
    /// let result = serde_json::Value::from(format!("[{}]", rows.join(", ")));
    /// let request = format!(r#"{{"messages": [
    ///     {{"role": "user", "content": "List the orders."}},
    ///     {{"role": "assistant", "content": null, "tool_calls": [
    ///         {{"id": "c1", "type": "function", "function": {{"name": "list", "arguments": "{{}}"}}}}]}},
    ///     {{"role": "tool", "tool_call_id": "c1", "content": {result}}},
    ///     {{"role": "user", "content": "Which is the first?"}}]}}"#);
    /// let engine = Engine::builder().tokenizer("estimate").max_tokens(150).shorten(Shorten::Json);
    /// let engine = engine.build()?;
    /// let selection = engine.select(request.as_str())?;
    /// let shortened = &selection.shortened[0];
    /// assert!(shortened.tokens_after < shortened.tokens_before);
    /// let original = engine.original(request.as_str(), &shortened.handle)?;
    /// assert!(original.is_some_and(|text| text.contains("order-39")));
    /// # Ok::<(), cupel_engine::EngineError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the request cannot be read.
    pub fn original(
        &self,
        request: impl Into<RequestInput>,
        handle: &str,
    ) -> Result<Option<String>, EngineError> {
        Ok(self.read(request)?.original(handle))
    }

    /// The texts of a request that may be shortened, with their handles.
    ///
    /// # Errors
    ///
    /// If the request cannot be read.
    pub fn shortenable(
        &self,
        request: impl Into<RequestInput>,
    ) -> Result<Vec<Shortenable>, EngineError> {
        Ok(self.read(request)?.shortenable())
    }

    fn read(&self, request: impl Into<RequestInput>) -> Result<Request, EngineError> {
        request.into().read(self.settings.format, Request::parse)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { policy, model, limits, pins, rules, .. } = &*self.settings;
        f.debug_struct("Engine")
            .field("policy", &policy.name())
            .field("model", model)
            .field("limits", limits)
            .field("pins", pins)
            .field("rules", rules)
            .finish_non_exhaustive()
    }
}
