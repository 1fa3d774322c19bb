//! A request's own limit for its answer, lowered where the window has no room for it.

use cupel_engine::Summary;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::api::Api;

/// Percent of an estimated count by which it may be too low.
const DOUBT_PERCENT: i64 = 10;

/// The fields that limit an answer, wherever a provider has them.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow)]
    max_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    max_completion_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    max_output_tokens: Option<&'a RawValue>,
    #[serde(borrow, alias = "generationConfig")]
    generation_config: Option<GenerationConfig<'a>>,
    #[serde(borrow, rename = "inferenceConfig")]
    inference_config: Option<InferenceConfig<'a>>,
    #[serde(borrow)]
    options: Option<OllamaOptions<'a>>,
    thinking: Option<Thinking>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GenerationConfig<'a> {
    #[serde(borrow, alias = "maxOutputTokens")]
    max_output_tokens: Option<&'a RawValue>,
}

/// As Bedrock has it.
#[derive(Deserialize, Default)]
#[serde(default)]
struct InferenceConfig<'a> {
    #[serde(borrow, rename = "maxTokens")]
    max_tokens: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct OllamaOptions<'a> {
    #[serde(borrow)]
    num_predict: Option<&'a RawValue>,
}

/// Anthropic counts thinking as a part of the answer, and refuses a limit that is not above it.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Thinking {
    budget_tokens: Option<i64>,
}

/// Tokens that a window leaves for the answer.
pub(crate) fn most(window: i64, summary: &Summary) -> i64 {
    let doubt = if summary.is_estimate { summary.tokens_after / 100 * DOUBT_PERCENT } else { 0 };
    let left = window.saturating_sub(summary.tokens_after).saturating_sub(doubt);
    left.max(summary.budget.output_reserve).max(1)
}

/// The request with its limits for the answer lowered. `None` if none of them is above `most`, or they
/// cannot be read.
pub(crate) fn lowered(api: Api, text: &str, most: i64) -> Option<String> {
    let fields: Fields<'_> = serde_json::from_str(text).ok()?;
    let thinking = fields.thinking.as_ref().and_then(|thinking| thinking.budget_tokens);
    let most = most.max(thinking.map_or(1, |budget| budget.saturating_add(1)));
    let places = match api {
        Api::OpenAiChat => [fields.max_tokens, fields.max_completion_tokens],
        Api::OpenAiResponses => [fields.max_output_tokens, None],
        Api::Anthropic => [fields.max_tokens, None],
        Api::Gemini | Api::CodeAssist => {
            [fields.generation_config.and_then(|it| it.max_output_tokens), None]
        }
        Api::Converse => [fields.inference_config.and_then(|it| it.max_tokens), None],
        Api::Ollama => [fields.options.and_then(|it| it.num_predict), None],
    };
    let is_above = |raw: &&RawValue| raw.get().parse::<i64>().is_ok_and(|limit| limit > most);
    let mut ranges: Vec<(usize, usize)> = places
        .into_iter()
        .flatten()
        .filter(is_above)
        .map(|raw| {
            // The value is borrowed from the text: their distance is its place.
            let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
            (start, start + raw.get().len())
        })
        .collect();
    if ranges.is_empty() {
        return None;
    }
    ranges.sort_unstable();
    let mut lowered = text.to_owned();
    for (start, end) in ranges.into_iter().rev() {
        lowered.replace_range(start..end, &most.to_string());
    }
    Some(lowered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_providers_field_is_lowered_and_nothing_else() {
        for (api, before, after) in [
            (
                Api::OpenAiChat,
                r#"{"max_tokens": 9000, "n":9000,"max_completion_tokens":8000 }"#,
                r#"{"max_tokens": 500, "n":9000,"max_completion_tokens":500 }"#,
            ),
            (Api::OpenAiResponses, r#"{"max_output_tokens":501}"#, r#"{"max_output_tokens":500}"#),
            (
                Api::Anthropic,
                r#"{"metadata":{"max_tokens":9000},"max_tokens":9000}"#,
                r#"{"metadata":{"max_tokens":9000},"max_tokens":500}"#,
            ),
            (
                Api::Gemini,
                r#"{"generationConfig":{"maxOutputTokens":9000,"temperature":0}}"#,
                r#"{"generationConfig":{"maxOutputTokens":500,"temperature":0}}"#,
            ),
            (
                Api::Converse,
                r#"{"inferenceConfig":{"maxTokens":9000},"options":{"num_predict":9000}}"#,
                r#"{"inferenceConfig":{"maxTokens":500},"options":{"num_predict":9000}}"#,
            ),
            (
                Api::Ollama,
                r#"{"options":{"num_predict":9000,"num_ctx":9000}}"#,
                r#"{"options":{"num_predict":500,"num_ctx":9000}}"#,
            ),
        ] {
            assert_eq!(lowered(api, before, 500).as_deref(), Some(after));
        }
    }

    #[test]
    fn what_is_low_enough_absent_or_odd_stays_as_it_is() {
        for body in [
            r#"{"max_tokens":500}"#,
            r#"{"max_output_tokens":9000}"#,
            r#"{"max_tokens":"many"}"#,
            r#"{"max_tokens":1,"max_tokens":9000}"#,
            "[]",
        ] {
            assert_eq!(lowered(Api::Anthropic, body, 500), None, "{body}");
        }
    }

    #[test]
    fn a_limit_stays_above_the_thinking_that_it_counts() {
        let body = r#"{"thinking":{"type":"enabled","budget_tokens":2000},"max_tokens":9000}"#;
        let after = r#"{"thinking":{"type":"enabled","budget_tokens":2000},"max_tokens":2001}"#;
        assert_eq!(lowered(Api::Anthropic, body, 500).as_deref(), Some(after));
    }
}
