//! Tools that leave room for the messages: which are sent, and how short.

use std::fmt;
use std::str::FromStr;

use cupel_chat::{Request, Rule, Tool, ToolForm, ToolNeed, ToolStep};
use cupel_names::UnknownName;
use cupel_tokens::{Overheads, TokenCounter};
use serde::{Deserialize, Serialize};

use super::near::{Near, ranked};

/// Ways with the tools of a request that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ToolMode {
    /// They go out as they are.
    #[default]
    Keep,
    /// Their definitions say less to the reader; they take the same calls.
    Shorten,
    /// Besides, those may be left out that nobody called or named and that are far from the question.
    Choose,
}

impl ToolMode {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Keep, Self::Shorten, Self::Choose];

    /// The name by which a setting knows it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Shorten => "shorten",
            Self::Choose => "choose",
        }
    }
}

impl fmt::Display for ToolMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ToolMode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|mode| mode.name() == name);
        let unknown = || UnknownName::new("way with tools", name, Self::ALL.map(Self::name));
        known.ok_or_else(|| unknown().to_string())
    }
}

/// Fate of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FittedTool {
    /// The name by which it is called; of a provider's own tool, its type.
    pub name: String,
    /// Presence and form.
    pub fate: ToolFate,
    /// Step by which it is shorter than it was, if it is: `sentences`, `examples`, `schema`, `defaults` or `bare`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Tokens of the tool whole.
    pub tokens_before: i64,
    /// Tokens of the tool now.
    pub tokens_after: i64,
    /// Reason why it is in, or out.
    pub why: String,
}

/// Presence of a tool, and its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ToolFate {
    /// As it is.
    Whole,
    /// Its definition says less.
    Shortened,
    /// Not at all.
    LeftOut,
}

/// A tool as a session sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SentTool {
    /// Its place among the tools of the request.
    pub tool: usize,
    /// The [step](ToolStep) by which it was shorter, by its place among all steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// Came later than others, and stands behind them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_added: bool,
}

/// The tools of a request, and what they cost in every form.
pub(crate) struct Tools<'r> {
    request: &'r Request,
    overheads: Option<Overheads>,
    counter: &'r dyn TokenCounter,
    all: Vec<Tool>,
    /// Tokens that count once.
    base: i64,
    /// Tokens of each, whole and at each step, as far as somebody asked.
    priced: Vec<(Option<ToolStep>, Vec<i64>)>,
}

impl<'r> Tools<'r> {
    pub(crate) fn of(
        request: &'r Request,
        rules: &[Rule],
        overheads: Option<Overheads>,
        counter: &'r dyn TokenCounter,
    ) -> Self {
        let all = request.tools(rules);
        Self { request, overheads, counter, all, base: 0, priced: Vec::new() }
    }

    pub(crate) fn all(&self) -> &[Tool] {
        &self.all
    }

    /// Returns the tokens of each tool at a step, or whole.
    pub(crate) fn tokens_at(&mut self, step: Option<ToolStep>) -> &[i64] {
        let known = self.priced.iter().position(|(of, _)| *of == step);
        let at = known.unwrap_or_else(|| {
            let written: Vec<Option<String>> =
                self.all.iter().map(|tool| tool.shortened(step?)).collect();
            let pairs = self.all.iter().zip(&written);
            let texts =
                pairs.map(|(tool, short)| short.as_deref().unwrap_or_else(|| tool.definition()));
            let (tokens, base) = self.request.tools_tokens(texts, self.overheads, self.counter);
            self.base = if self.all.is_empty() { 0 } else { base };
            self.priced.push((step, tokens));
            self.priced.len() - 1
        });
        &self.priced[at].1
    }

    /// Returns the tokens that count once for all tools.
    pub(crate) fn shared_tokens(&mut self) -> i64 {
        self.tokens_at(None);
        self.base
    }

    fn tokens_of(&mut self, at: usize, form: &ToolForm) -> i64 {
        match form {
            ToolForm::LeftOut => 0,
            ToolForm::Short(step) => self.tokens_at(Some(*step))[at],
            ToolForm::Last { step, .. } => self.tokens_at(*step)[at],
            _ => self.tokens_at(None)[at],
        }
    }

    /// Returns the tokens of all as they are.
    pub(crate) fn whole_tokens(&mut self) -> i64 {
        let whole = vec![ToolForm::Whole; self.all.len()];
        self.total(&whole)
    }

    /// Returns the tokens of tools in these forms, with those that count once.
    pub(crate) fn total(&mut self, forms: &[ToolForm]) -> i64 {
        let each = (0..forms.len()).map(|at| self.tokens_of(at, &forms[at]));
        each.fold(0_i64, i64::saturating_add).saturating_add(self.shared_tokens())
    }

    /// The forms in which tools cost at most so much, as far as the mode allows: as long as they may be. None is left out while
    /// shorter ones are enough: a tool that is missing costs more than words about it.
    pub(crate) fn within(&mut self, mode: ToolMode, tokens: i64, question: &str) -> Vec<ToolForm> {
        let whole = vec![ToolForm::Whole; self.all.len()];
        if mode == ToolMode::Keep || self.total(&whole) <= tokens {
            return whole;
        }
        let mut forms = whole;
        for step in ToolStep::ALL {
            forms.fill(ToolForm::Short(step));
            if self.total(&forms) <= tokens {
                return forms;
            }
        }
        if mode == ToolMode::Choose { self.chosen(tokens, question) } else { forms }
    }

    /// The tools that are needed, whatever they cost, then those that are near, and of the rest the nearest that fit; all
    /// as short as they can be. No provider takes an empty list: one tool is always in.
    fn chosen(&mut self, tokens: i64, question: &str) -> Vec<ToolForm> {
        let bare = ToolForm::Short(ToolStep::Bare);
        let form =
            |tool: &Tool| if tool.need().is_some() { bare.clone() } else { ToolForm::LeftOut };
        let mut forms: Vec<ToolForm> = self.all.iter().map(form).collect();
        let near = ranked(&self.all, question);
        let mut left = tokens.saturating_sub(self.total(&forms));
        for Near { tool, .. } in &near {
            let costs = self.tokens_of(*tool, &bare);
            if forms[*tool] == ToolForm::LeftOut && costs <= left {
                forms[*tool] = bare.clone();
                left -= costs;
            }
        }
        if forms.iter().all(|form| *form == ToolForm::LeftOut) {
            let first = near.first().map_or(0, |near| near.tool);
            forms[first] = bare;
        }
        forms
    }

    /// The forms in which a session sent its tools, with those added that are needed by now.
    pub(crate) fn going_on(
        &self,
        sent: &[SentTool],
        mode: ToolMode,
        question: &str,
    ) -> Option<Vec<ToolForm>> {
        let mut forms = vec![ToolForm::LeftOut; self.all.len()];
        let step_of = |sent: &SentTool| sent.step.and_then(|step| ToolStep::ALL.get(step).copied());
        let mut added = 0;
        for tool in sent {
            let form = match (tool.is_added, step_of(tool)) {
                (false, Some(step)) => ToolForm::Short(step),
                (false, None) => ToolForm::Whole,
                (true, step) => {
                    added += 1;
                    ToolForm::Last { step, order: added }
                }
            };
            *forms.get_mut(tool.tool)? = form;
        }
        if mode == ToolMode::Shorten && forms.contains(&ToolForm::LeftOut) {
            return None;
        }
        let step = sent.iter().filter_map(step_of).max();
        let wanted = if forms.contains(&ToolForm::LeftOut) {
            ranked(&self.all, question)
        } else {
            Vec::new()
        };
        let near = wanted.iter().filter(|near| near.is_near).map(|near| near.tool);
        let needed = (0..self.all.len()).filter(|at| self.all[*at].need().is_some());
        for at in needed.chain(near) {
            if forms[at] == ToolForm::LeftOut {
                added += 1;
                forms[at] = ToolForm::Last { step, order: added };
            }
        }
        Some(forms)
    }

    /// Returns the tools that a session has to remember in these forms: none if all are whole.
    pub(crate) fn sent(forms: &[ToolForm]) -> Vec<SentTool> {
        if forms.iter().all(|form| *form == ToolForm::Whole) {
            return Vec::new();
        }
        let place = |step: ToolStep| ToolStep::ALL.iter().position(|known| *known == step);
        let sent = |tool: usize| {
            let (step, order) = match &forms[tool] {
                ToolForm::LeftOut => return None,
                ToolForm::Short(step) => (Some(*step), 0),
                ToolForm::Last { step, order } => (*step, *order),
                _ => (None, 0),
            };
            let sent = SentTool { tool, step: step.and_then(place), is_added: order > 0 };
            Some((order, sent))
        };
        let mut sent: Vec<_> = (0..forms.len()).filter_map(sent).collect();
        sent.sort_by_key(|(order, _)| *order);
        sent.into_iter().map(|(_, sent)| sent).collect()
    }

    /// Returns the fate of each tool, in the order of the request.
    pub(crate) fn told(&mut self, forms: &[ToolForm], question: &str) -> Vec<FittedTool> {
        let is_chosen = forms.contains(&ToolForm::LeftOut);
        let is_whole = forms.iter().all(|form| *form == ToolForm::Whole);
        let near = if is_chosen { ranked(&self.all, question) } else { Vec::new() };
        let told = |at: usize| {
            let (before, after) = (self.tokens_at(None)[at], self.tokens_of(at, &forms[at]));
            let tool = &self.all[at];
            let step = match forms[at] {
                ToolForm::Short(step) => Some(step),
                ToolForm::Last { step, .. } => step,
                _ => None,
            };
            let step = step.filter(|step| tool.shortened(*step).is_some());
            let fate = match (&forms[at], step) {
                (ToolForm::LeftOut, _) => ToolFate::LeftOut,
                (_, Some(_)) => ToolFate::Shortened,
                (_, None) => ToolFate::Whole,
            };
            let is_near = near.iter().any(|near| near.tool == at && near.is_near);
            let why = match (tool.need(), fate) {
                (Some(need), _) => ToolNeed::text(need),
                (None, ToolFate::LeftOut) => {
                    "nobody called or named it, and others are nearer to the question"
                }
                (None, _) if is_near => "it is near the question",
                (None, ToolFate::Whole) if is_whole => "tools go out as they are",
                (None, _) => "there is room for it",
            };
            FittedTool {
                name: tool.name().to_owned(),
                fate,
                step: step.map(|step| step.name().to_owned()),
                tokens_before: before,
                tokens_after: after,
                why: why.to_owned(),
            }
        };
        (0..forms.len()).map(told).collect()
    }
}
