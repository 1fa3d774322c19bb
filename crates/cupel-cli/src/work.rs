//! What every command that selects begins with: the request, its candidates, a budget.

use cupel::{ContextBudget, CupelError, Pipeline};
use cupel_chat::{CandidateOptions, Candidates, ChatError, Format, Request};
use cupel_relevance::supersede::{Superseded, Supersession};
use cupel_tokens::{Model, Overheads, Provider, TokenCounter};

use crate::budget::{self, Sources};
use crate::cli::{BudgetArguments, Outdated, QueryArguments, RequestArguments};
use crate::error::Failure;
use crate::input::Input;
use crate::output;
use crate::policy::NamedPolicy;
use crate::render::number::{counted, grouped, grouped_count};
use crate::render::text;
use crate::tokenizer::{self, Hints, Watched};

/// No screen is wide enough for more of a text.
const LONGEST_EXCERPT: usize = 400;

/// Reads the request, and repairs it if asked to.
pub(crate) fn open(arguments: &RequestArguments) -> Result<Input, Failure> {
    let mut input = Input::read(arguments.file.as_deref())?;
    if arguments.repair {
        let repaired = parse(&input, arguments.format)?.repair();
        for repair in &repaired.1 {
            output::say(&format!("{}: {repair}", input.name()));
        }
        input.text = repaired.0;
    }
    Ok(input)
}

/// Reads the request in its format.
pub(crate) fn parse(input: &Input, format: Option<Format>) -> Result<Request<'_>, Failure> {
    Request::parse(&input.text, format).map_err(|error| malformed(input, &error))
}

fn malformed(input: &Input, error: &ChatError) -> Failure {
    let place = error.location().map(|(line, column)| format!(":{line}:{column}"));
    let place = place.unwrap_or_default();
    Failure::cannot(format!("{}{place}: {}", input.name(), error.message()))
}

/// A request that is ready for selection.
pub(crate) struct Work<'r> {
    /// What messages call the input.
    pub(crate) name: String,
    /// The request.
    pub(crate) request: &'r Request<'r>,
    /// What can be selected.
    pub(crate) candidates: Candidates<'r>,
    /// The model that the flags or the request name, if the table knows it.
    pub(crate) model: Option<&'static Model>,
    /// What counts its tokens.
    pub(crate) tokenizer: String,
    /// What the window is for.
    query: String,
}

impl<'r> Work<'r> {
    /// Checks the request and counts its tokens.
    pub(crate) fn new(
        request: &'r Request<'r>,
        input: &Input,
        arguments: &RequestArguments,
    ) -> Result<Self, Failure> {
        let model = model(arguments, request)?;
        let hints = Hints {
            tokenizer: arguments.tokenizer.as_deref(),
            model,
            format: Some(request.format()),
        };
        let counter = Watched::new(tokenizer::choose(hints)?, input.text.len());
        let options = CandidateOptions {
            pins: arguments.pin.clone(),
            overheads: model.and_then(|model| overheads(model, request.format())),
        };
        let candidates = request.candidates(&counter, &options).map_err(|error| {
            let remedy = if arguments.repair { "correct it by hand" } else { "try --repair" };
            refused(input, &error, remedy)
        })?;
        let tokenizer = counter.name().to_owned();
        let query = request.query().unwrap_or_default();
        Ok(Self { name: input.name(), request, candidates, model, tokenizer, query })
    }

    /// Takes the query from the flag if it is given, and drops what is superseded if that is asked
    /// for.
    pub(crate) fn asked(mut self, arguments: &QueryArguments) -> Self {
        if let Some(query) = &arguments.query {
            self.query.clone_from(query);
        }
        if arguments.superseded == Outdated::Drop {
            self.drop_superseded();
        }
        self
    }

    fn drop_superseded(&mut self) {
        let found = Supersession::default().find(self.candidates.items());
        for Superseded { older, newer, why } in &found {
            let [older, newer] = [older, newer].map(|at| self.candidates.bundle(*at).label());
            output::say(&format!("{}: dropped {older}: {why} in {newer}", self.name));
        }
        let older: Vec<usize> = found.iter().map(|superseded| superseded.older).collect();
        self.candidates.remove(&older);
    }

    /// A policy at work on this request's query.
    pub(crate) fn pipeline(&self, policy: &NamedPolicy) -> Result<Pipeline, Failure> {
        policy.build(&self.query).map(Pipeline::from)
    }

    /// The budget that the flags, the model or the policy give.
    pub(crate) fn budget(
        &self,
        flags: &BudgetArguments,
        policy: &NamedPolicy,
    ) -> Result<ContextBudget, Failure> {
        let sources = Sources {
            model: self.model,
            output_limit: self.request.output_limit(),
            policy: policy.description.budget.as_ref(),
        };
        budget::decide(flags, sources)?.ok_or_else(|| Failure::CannotRun(self.no_budget()))
    }

    fn no_budget(&self) -> String {
        let reason = match self.request.model() {
            Some(model) => format!("the request names the model `{model}`, which is not known"),
            None => "the request names no model".to_owned(),
        };
        format!(
            "{}: how much fits? {reason}; give --max TOKENS or --model NAME (see `cupel models`)",
            self.name
        )
    }

    /// What a failed run means for the user.
    pub(crate) fn failed(&self, error: CupelError) -> Failure {
        match error {
            CupelError::PinnedExceedsBudget { pinned_tokens, available } => {
                Failure::Refused(self.does_not_fit(pinned_tokens, available))
            }
            CupelError::Overflow { merged_tokens, target_tokens } => {
                Failure::Refused(self.does_not_fit(merged_tokens, target_tokens))
            }
            error => Failure::cannot(format!("{}: {error}", self.name)),
        }
    }

    /// Lists what is pinned, largest first.
    fn does_not_fit(&self, tokens: i64, available: i64) -> String {
        let items = self.candidates.items();
        let mut pinned: Vec<usize> = (0..items.len()).filter(|at| items[*at].pinned()).collect();
        pinned.sort_by_key(|at| std::cmp::Reverse(items[*at].tokens()));
        let heading = format!(
            "{}: does not fit: what must be kept takes {} tokens, {} are there; raise --max, lower \
             --reserve or pin less",
            self.name,
            grouped(tokens),
            grouped(available),
        );
        let line = |at: usize| {
            let bundle = self.candidates.bundle(at);
            let reason = bundle.pin_reason().map(|reason| format!(" ({})", reason.text()));
            let (tokens, label) = (grouped(items[at].tokens()), bundle.label());
            format!("\n  {tokens:>10}  {label}{}", reason.unwrap_or_default())
        };
        pinned.into_iter().map(line).fold(heading, |text, line| text + &line)
    }

    /// `kept 41 of 212 messages, 7,934 of 8,000 tokens, from 61,203`.
    pub(crate) fn summary(&self, kept: &[usize], budget: &ContextBudget) -> String {
        let what = match self.request.format() {
            Format::Items | Format::ItemLines => "item",
            _ => "message",
        };
        format!(
            "kept {} of {}, {} of {} tokens, from {}{}",
            grouped_count(self.candidates.message_count_of(kept)),
            counted(self.request.message_count(), what),
            grouped(self.tokens_of(kept)),
            grouped(budget.target_tokens()),
            grouped(self.candidates.total_tokens()),
            if self.candidates.is_estimate() { " (estimated)" } else { "" },
        )
    }

    /// Where a candidate is in the request, and how it begins.
    pub(crate) fn what(&self, position: usize) -> String {
        let label = self.candidates.bundle(position).label();
        let content = self.candidates.items()[position].content();
        format!("{label} · {}", text::excerpt(content, LONGEST_EXCERPT))
    }

    /// The tokens of candidates.
    pub(crate) fn tokens_of(&self, positions: &[usize]) -> i64 {
        let items = self.candidates.items();
        positions.iter().fold(0, |sum, at| items[*at].tokens().saturating_add(sum))
    }

    /// Runs a policy; what it keeps, as positions in placed order.
    pub(crate) fn select(
        &self,
        policy: &NamedPolicy,
        budget: &ContextBudget,
    ) -> Result<Vec<usize>, Failure> {
        let window = self.pipeline(policy)?.run(self.candidates.items(), budget);
        Ok(self.candidates.positions(&window.map_err(|error| self.failed(error))?))
    }
}

/// The model of the flag, which must be known, or that of the request, if it is.
fn model(
    arguments: &RequestArguments,
    request: &Request<'_>,
) -> Result<Option<&'static Model>, Failure> {
    match &arguments.model {
        Some(name) => tokenizer::model(name).map(Some),
        None => Ok(request.model().and_then(|name| Model::find(name).ok())),
    }
}

/// What the model's provider adds to texts; `None` where the format itself knows better.
fn overheads(model: &Model, format: Format) -> Option<Overheads> {
    match (format, model.provider) {
        // Items are counted as they are.
        (Format::Items | Format::ItemLines, _) => None,
        (Format::OpenAiResponses, Provider::OpenAi) => {
            let mut overheads = model.overheads();
            overheads.per_tool_result = Overheads::openai_responses().per_tool_result;
            Some(overheads)
        }
        _ => Some(model.overheads()),
    }
}

/// Why there are no candidates.
fn refused(input: &Input, error: &ChatError, remedy: &str) -> Failure {
    let ChatError::Invalid { violations } = error else {
        return malformed(input, error);
    };
    let heading = format!(
        "{}: its provider would refuse this request: {}; {remedy}",
        input.name(),
        counted(violations.len(), "problem"),
    );
    let lines = violations.iter().map(|violation| format!("\n  {violation}"));
    Failure::Refused(lines.fold(heading, |text, line| text + &line))
}
