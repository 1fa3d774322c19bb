//! A text that is no request, within a budget.

use cupel::{Draft, Original, Renderer};
use cupel_renderings::{Shorten, Shortened, Stub, handle};
use cupel_tokens::TokenCounter;
use serde::{Deserialize, Serialize};

use crate::engine::Settings;
use crate::{Engine, EngineError, ErrorCode, Schema, tokenizer};

/// A text, whole or in a shorter form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FittedText {
    /// `cupel/1`.
    pub schema: Schema,
    /// What counted.
    pub tokenizer: String,
    /// Whether counts are estimates.
    pub is_estimate: bool,
    /// What the text is called by which the whole can be found again.
    pub handle: String,
    /// What the whole costs.
    pub tokens_before: i64,
    /// What is left of it costs.
    pub tokens_after: i64,
    /// What the form is called, as in `json 18 %`; absent where the text fits whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// The text that fits.
    pub text: String,
}

impl Engine {
    /// The largest form of a text that has at most so many tokens: the text itself, or JSON by its weightiest values,
    /// or head and tail, or a stub. `tool` is whose result it is, if it is one.
    ///
    /// ```
    /// let engine = cupel_engine::Engine::builder().tokenizer("estimate").build()?;
    /// let log: String = (1..=400).map(|line| format!("GET /orders/{line} 200\n")).collect();
    /// let fitted = engine.fit_text(&log, None, 300)?;
    /// assert!(fitted.tokens_before > 2_000 && fitted.tokens_after <= 300);
    /// assert!(fitted.text.starts_with("GET /orders/1 200\n") && fitted.text.contains("tokens left out"));
    /// # Ok::<(), cupel_engine::EngineError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the budget is not positive, or nothing of the text is small enough.
    pub fn fit_text(
        &self,
        text: &str,
        tool: Option<&str>,
        max_tokens: i64,
    ) -> Result<FittedText, EngineError> {
        fit(self.settings(), text, tool, max_tokens)
    }
}

fn fit(
    settings: &Settings,
    text: &str,
    tool: Option<&str>,
    max_tokens: i64,
) -> Result<FittedText, EngineError> {
    if max_tokens <= 0 {
        let rule = format!("must be positive, got {max_tokens}");
        let error = EngineError::new(ErrorCode::InvalidBudget, rule).at_path("max_tokens");
        return Err(error.with_remedy("say how many tokens there is room for"));
    }
    let counter = settings.counter.clone();
    let counter = counter.unwrap_or_else(|| tokenizer::implied(settings.named(), None));
    let tokens_before = counter.count(text);
    let fitted = |form: Option<String>, text: String, tokens_after| FittedText {
        schema: Schema,
        tokenizer: counter.name().to_owned(),
        is_estimate: counter.is_estimate(),
        handle: String::new(),
        tokens_before,
        tokens_after,
        form,
        text,
    };
    let fitted = if tokens_before <= max_tokens {
        fitted(None, text.to_owned(), tokens_before)
    } else {
        let (draft, tokens) = shorter(&*counter, text, tool, tokens_before, max_tokens)?;
        fitted(Some(draft.name), draft.content, tokens)
    };
    Ok(FittedText { handle: handle(text), ..fitted })
}

/// The largest form that fits. Where the smallest of a text is still too large, a form of that form may fit: each
/// counts through what the one before left out.
fn shorter(
    counter: &dyn TokenCounter,
    text: &str,
    tool: Option<&str>,
    tokens: i64,
    max_tokens: i64,
) -> Result<(Draft, i64), EngineError> {
    fn of<'t>(text: &'t str, tokens: i64, tool: Option<&'t str>) -> Original<'t> {
        let original = Original::new(text, tokens);
        match tool {
            Some(tool) => original.from_tool(tool),
            None => original,
        }
    }
    let stub = Stub.render(&of(text, tokens, tool)).pop();
    let mut smallest = Draft::new(String::new(), text.to_owned(), 1.0);
    let mut least = tokens;
    loop {
        let drafts = Shortened::new(Shorten::All).render(&of(&smallest.content, least, tool));
        // A stub of a form would name the form.
        let drafts = drafts.into_iter().filter(|draft| Stub::handle_in(&draft.content).is_none());
        let counted = drafts.map(|draft| (counter.count(&draft.content), draft));
        let mut shrunk = false;
        for (tokens, draft) in counted {
            if tokens <= max_tokens {
                return Ok((draft, tokens));
            }
            if tokens < least {
                (least, smallest, shrunk) = (tokens, draft, true);
            }
        }
        if !shrunk {
            break;
        }
    }
    let stub = stub.map(|draft| (counter.count(&draft.content), draft));
    match stub {
        Some((tokens, draft)) if tokens <= max_tokens => Ok((draft, tokens)),
        _ => {
            let least = stub.map_or(least, |(tokens, _)| tokens.min(least));
            Err(EngineError::does_not_fit(least, max_tokens, Vec::new()))
        }
    }
}
