//! All that the page shows of one request.

use cupel_engine::{
    Engine, EngineError, ErrorCode, FittedTool, NamedPolicy, Options, PolicyRow, Prepared,
    RequestInput, Signal, Step, Survey, Why, policies,
};
use serde::{Deserialize, Serialize};

use crate::step::RunPoint;
use crate::{BesideView, StepView, Texts, ViewOptions, ViewPart, WindowTable};

/// All that the page shows of one request: its parts, and the windows of all budgets, so that nobody
/// has to be asked when a slider moves.
///
/// ```
/// use cupel_engine::{Engine, Options};
/// use cupel_page::{View, ViewOptions, single_file};
///
/// let engine = Engine::builder().tokenizer("estimate").max_tokens(40).build()?;
/// let text = r#"[
///     {"role": "user", "content": "The deploy key is on the blue card."},
///     {"role": "user", "content": "Lunch is at noon, soup again, and the printer is out of paper."},
///     {"role": "user", "content": "Where is the deploy key?"}
/// ]"#;
/// let view = View::of_request(&engine, text, &Options::new(), &ViewOptions::new())?;
/// let kept = view.windows.window(40).unwrap();
/// assert_eq!(kept.len(), 2);
/// assert!(view.parts[0].words.contains(&"deploy".to_owned()));
/// std::fs::write(std::env::temp_dir().join("window.html"), single_file(&view))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct View {
    /// `cupel-view/1`.
    pub schema: ViewSchema,
    /// Title above the page, as the name of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The format of the request, as in `openai-chat`.
    pub format: String,
    /// The model that counts are for, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Name of the tokenizer.
    pub tokenizer: String,
    /// True if counts are estimates.
    pub is_estimate: bool,
    /// The policy that chose.
    pub policy: String,
    /// Query that the window is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub query: String,
    /// The language whose stems and stop words were taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Signals of the request as a whole that the policy went by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Signal>,
    /// Number of messages there are.
    pub messages: usize,
    /// Tokens of all messages, with all that stands beside them.
    pub total_tokens: i64,
    /// Tokens of the messages that must be kept.
    pub pinned_tokens: i64,
    /// Where the slider stands at first.
    pub opening: Opening,
    /// True if texts may be shown.
    pub has_texts: bool,
    /// Every part, in the order in which the model sees them.
    pub parts: Vec<ViewPart>,
    /// The windows of all budgets.
    pub windows: WindowTable,
    /// Those of other policies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<BesideView>,
    /// The policies that are known by name, for whoever can ask for one more.
    pub policies: Vec<PolicyRow>,
    /// Effect on the prompt cache, if it is a step of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepView>,
    /// Fate of each tool, in the order of the request, if texts may be shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<FittedTool>,
    /// Changes of the request before the selection, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Where the slider stands at first, and why there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Opening {
    /// The size of the window.
    pub size: i64,
    /// Why that one.
    pub reason: OpeningReason,
    /// The window that the request has in truth, if anything says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Tokens that are kept free for the answer.
    pub output_reserve: i64,
}

/// Why the slider stands where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OpeningReason {
    /// It is the window that the request has.
    Given,
    /// The request fits whole; so that there is something to see, the window is smaller.
    Taste,
    /// Nothing says how much fits.
    Unknown,
}

/// The name of the form of a view, now `cupel-view/1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ViewSchema {
    /// The only one so far.
    #[default]
    #[serde(rename = "cupel-view/1")]
    V1,
}

impl View {
    /// A request by itself.
    ///
    /// # Errors
    ///
    /// If the request cannot be read or breaks a rule of its provider, and whatever a policy refuses.
    /// That nothing says how much fits, or that what must be kept does not fit, is shown.
    pub fn of_request(
        engine: &Engine,
        request: impl Into<RequestInput>,
        options: &Options,
        how: &ViewOptions,
    ) -> Result<Self, EngineError> {
        let request = request.into();
        let prepared = engine.prepare(request.clone(), options)?;
        let total = prepared.count().total_tokens;
        let (reason, limit) = match prepared.budget() {
            Ok(budget) if how.taste && prepared.size()? >= total && fits_whole(&prepared)? => {
                (OpeningReason::Taste, Some(budget.max_tokens()))
            }
            Ok(budget) => (OpeningReason::Given, Some(budget.max_tokens())),
            Err(error) if error.code() == ErrorCode::NoBudget => (OpeningReason::Unknown, None),
            Err(error) => return Err(error),
        };
        let prepared = match reason {
            OpeningReason::Given => prepared,
            _ => engine.prepare(request, &options.clone().max_tokens(fifth(total)))?,
        };
        Self::of(&prepared, reason, limit, how)
    }

    /// A step of a session as it was sent, with the steps of its run up to it. The engine and the
    /// options are those that the session had.
    ///
    /// # Errors
    ///
    /// As [`of_request`](Self::of_request).
    pub fn of_step(
        engine: &Engine,
        request: impl Into<RequestInput>,
        options: &Options,
        step: &Step,
        run: &[RunPoint],
        how: &ViewOptions,
    ) -> Result<Self, EngineError> {
        let prepared = engine.prepare_step(request, options)?;
        let limit = Some(step.summary.budget.max_tokens);
        let mut view = Self::of(&prepared, OpeningReason::Given, limit, how)?;
        let nearest = |position: usize, tokens: i64| {
            let forms = (0..).map_while(|form| Some((form, prepared.shown(position, Some(form))?)));
            forms.min_by_key(|(_, shown)| (shown.tokens - tokens).abs()).map(|(form, _)| form)
        };
        let of_step = StepView::of(step, run, &view.parts, &nearest);
        for entry in &of_step.sent {
            if let crate::Entry::Form(position, form) = *entry {
                view.parts[position].add_form(&prepared, (position, form), how.texts);
            }
        }
        view.step = Some(of_step);
        Ok(view)
    }

    fn of(
        prepared: &Prepared,
        reason: OpeningReason,
        limit: Option<i64>,
        how: &ViewOptions,
    ) -> Result<Self, EngineError> {
        let survey = prepared.survey(patience(prepared))?;
        let windows = WindowTable::of(&survey);
        let opening = Opening {
            size: opening_size(prepared, &survey, reason)?,
            reason,
            limit,
            output_reserve: if let Ok(budget) = prepared.budget() {
                budget.output_reserve()
            } else {
                0
            },
        };
        let beside = how.beside.iter().filter(|policy| policy.name() != survey.policy);
        let beside = beside.take(most_beside(prepared));
        let beside = beside.map(|policy| beside_view(prepared, policy));
        let beside = beside.collect::<Result<Vec<_>, _>>()?;
        let shows = how.texts != Texts::None;
        let parts = parts(prepared, &survey, &windows, how.texts);
        Ok(Self {
            schema: ViewSchema::V1,
            title: how.title.clone(),
            tools: if shows { prepared.fitted_tools() } else { Vec::new() },
            notes: notes(&survey, shows),
            format: survey.format,
            model: survey.model,
            tokenizer: survey.tokenizer,
            is_estimate: survey.is_estimate,
            policy: survey.policy,
            query: if shows { survey.query } else { String::new() },
            language: survey.language,
            signals: survey.signals,
            messages: prepared.message_count(),
            total_tokens: survey.total_tokens,
            pinned_tokens: survey.pinned_tokens,
            opening,
            has_texts: shows,
            parts,
            windows,
            beside,
            policies: policies().policies,
            step: None,
        })
    }

    /// As JSON, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Number of windows that are tried: fewer where each takes longer.
fn patience(prepared: &Prepared) -> usize {
    (2_000_000 / prepared.message_count().max(1)).clamp(200, 50_000)
}

/// Changes of the request before anything was chosen. Reasons may hold words of it.
fn notes(survey: &Survey, shows: bool) -> Vec<String> {
    let repairs = survey.repairs.iter().map(ToString::to_string);
    let outdated = survey.superseded.iter().map(ToString::to_string);
    if shows { repairs.chain(outdated).collect() } else { Vec::new() }
}

fn fits_whole(prepared: &Prepared) -> Result<bool, EngineError> {
    let summary = match prepared.select() {
        Ok(selection) => selection.summary,
        Err(error) if error.is_refusal() => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(summary.messages_after == summary.messages_before)
}

/// About a fifth, in round numbers.
fn fifth(tokens: i64) -> i64 {
    let fifth = (tokens / 5).max(1);
    rounded_up(fifth)
}

/// The next number with two digits and nothing but zeros behind them.
fn rounded_up(tokens: i64) -> i64 {
    let unit = 10_i64.pow(tokens.max(1).ilog10().saturating_sub(1));
    (tokens.saturating_add(unit - 1) / unit).saturating_mul(unit)
}

/// Where the slider stands at first: what must be kept fits, and something more.
fn opening_size(
    prepared: &Prepared,
    survey: &Survey,
    reason: OpeningReason,
) -> Result<i64, EngineError> {
    let size = prepared.size()?;
    if reason == OpeningReason::Given {
        return Ok(size);
    }
    let some_room = survey.pinned_tokens + (survey.total_tokens - survey.pinned_tokens) / 10;
    let first = survey.changes.iter().find(|change| change.room >= some_room);
    Ok(first.map_or(size, |change| size.max(rounded_up(change.max_tokens))))
}

/// Number of policies that stand beside: those of a very long request take long, and fill the page.
fn most_beside(prepared: &Prepared) -> usize {
    if prepared.message_count() > 2_000 { 2 } else { usize::MAX }
}

fn beside_view(prepared: &Prepared, policy: &NamedPolicy) -> Result<BesideView, EngineError> {
    let survey = prepared.with_policy(policy)?.survey(patience(prepared) / 2)?;
    Ok(BesideView { policy: policy.name().to_owned(), windows: WindowTable::of(&survey) })
}

fn parts(
    prepared: &Prepared,
    survey: &Survey,
    windows: &WindowTable,
    texts: Texts,
) -> Vec<ViewPart> {
    let surveyed = survey.parts.iter().cloned();
    let mut parts: Vec<ViewPart> =
        surveyed.map(|part| ViewPart::of(prepared, part, texts)).collect();
    for (position, form) in windows.forms() {
        parts[position].add_form(prepared, (position, form), texts);
    }
    for (position, why) in prepared.reasons().unwrap_or_default() {
        let is_room = matches!(why, Why::NoRoom { .. } | Why::PinsLeaveNoRoom { .. });
        parts[position].why = Some(why).filter(|_| !is_room);
    }
    parts
}
