//! The tools of a request, one by one: what they cost, and how often they are called.

mod fit;
mod near;

use cupel_chat::{ToolForm, ToolStep};
use serde::{Deserialize, Serialize};

use crate::{Prepared, Schema};

pub(crate) use fit::Tools;
pub use fit::{FittedTool, SentTool, ToolFate, ToolMode};

/// The tools of a request, one by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolList {
    /// `cupel/1`.
    pub schema: Schema,
    /// The format of the request, as in `openai-chat`.
    pub format: String,
    /// Name of the tokenizer.
    pub tokenizer: String,
    /// True if counts are estimates.
    pub is_estimate: bool,
    /// Tokens of the whole request.
    pub request_tokens: i64,
    /// Tokens of all tools, with those that count once.
    pub total_tokens: i64,
    /// The same if every tool were as short as it can be.
    pub short_tokens: i64,
    /// The part of both that counts once for all tools.
    pub shared_tokens: i64,
    /// The tools, in the order of the request.
    pub tools: Vec<ToolRow>,
    /// Fate of each if all together may cost so much as was asked; empty if nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fitted: Vec<FittedTool>,
}

/// A tool of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolRow {
    /// The name by which it is called; of a provider's own tool, its type.
    pub name: String,
    /// Tokens of the definition.
    pub tokens: i64,
    /// Tokens of the definition as short as it can be.
    pub short_tokens: i64,
    /// Number of calls in messages of the request.
    pub calls: usize,
    /// Reason that keeps it in the request, whatever the question is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<String>,
}

impl Prepared {
    /// The tools of the request, one by one.
    #[must_use]
    pub fn tools(&self) -> ToolList {
        let mut tools = self.all_tools();
        let (whole, short) =
            (tools.tokens_at(None).to_vec(), tools.tokens_at(Some(ToolStep::Bare)).to_vec());
        let base = tools.shared_tokens();
        let sum =
            |tokens: &[i64]| tokens.iter().fold(base, |sum, tokens| sum.saturating_add(*tokens));
        let (total_tokens, short_tokens) = (sum(&whole), sum(&short));
        let rows = tools.all().iter().zip(whole).zip(short);
        let rows = rows.map(|((tool, tokens), short_tokens)| ToolRow {
            name: tool.name().to_owned(),
            tokens,
            short_tokens,
            calls: tool.calls(),
            needed: tool.need().map(|need| need.text().to_owned()),
        });
        ToolList {
            schema: Schema,
            format: self.request().format().name().to_owned(),
            tokenizer: self.tokenizer().to_owned(),
            is_estimate: self.candidates().is_estimate(),
            request_tokens: self.candidates().total_tokens(),
            total_tokens,
            short_tokens,
            shared_tokens: base,
            tools: rows.collect(),
            fitted: Vec::new(),
        }
    }

    /// The tools of the request, and what would become of each if all together may cost so much.
    #[must_use]
    pub fn tools_within(&self, mode: ToolMode, tokens: i64) -> ToolList {
        let mut tools = self.all_tools();
        let forms = tools.within(mode, tokens, self.query());
        ToolList { fitted: tools.told(&forms, self.query()), ..self.tools() }
    }

    /// Returns the fate of each tool, in the order of the request.
    #[must_use]
    pub fn fitted_tools(&self) -> Vec<FittedTool> {
        if !self.read.tools.is_empty() {
            return self.read.tools.clone();
        }
        let mut tools = self.all_tools();
        let whole = vec![ToolForm::Whole; tools.all().len()];
        tools.told(&whole, self.query())
    }

    fn all_tools(&self) -> Tools<'_> {
        let options = self.candidates().options();
        Tools::of(self.request(), &options.rules, options.overheads, &*self.read.counter)
    }
}
