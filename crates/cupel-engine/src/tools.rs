//! The tools of a request, one by one: what they cost, and how often they are called.

use cupel_chat::{Tool, ToolStep};
use serde::{Deserialize, Serialize};

use crate::{Prepared, Schema};

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
        let rules = &self.candidates().options().rules;
        let tools = self.request().tools(rules);
        let (whole, base) = self.tool_tokens(tools.iter().map(Tool::definition));
        let bare: Vec<_> = tools.iter().map(|tool| tool.shortened(ToolStep::Bare)).collect();
        let bare = tools
            .iter()
            .zip(&bare)
            .map(|(tool, bare)| bare.as_deref().unwrap_or(tool.definition()));
        let (short, _) = self.tool_tokens(bare);
        let base = if tools.is_empty() { 0 } else { base };
        let sum =
            |tokens: &[i64]| tokens.iter().fold(base, |sum, tokens| sum.saturating_add(*tokens));
        let (total_tokens, short_tokens) = (sum(&whole), sum(&short));
        let rows =
            tools.into_iter().zip(whole).zip(short).map(|((tool, tokens), short_tokens)| ToolRow {
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
        }
    }

    /// Tokens of each definition, and those that count once if there are any.
    fn tool_tokens<'d>(&self, definitions: impl Iterator<Item = &'d str>) -> (Vec<i64>, i64) {
        let overheads = self.candidates().options().overheads;
        self.request().tools_tokens(definitions, overheads, &*self.read.counter)
    }
}
