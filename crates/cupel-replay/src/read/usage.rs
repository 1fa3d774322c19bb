//! Number of input tokens the provider counted, in the spellings of logs.

use serde_json::Value;

use super::row::{number, unwrapped};

/// All input tokens, cached ones among them. `None` where nothing was counted.
///
/// Anthropic counts what is read from its cache and written into it apart from the rest; OpenAI and Gemini
/// count all together.
pub(super) fn input_tokens(usage: &Value) -> Option<i64> {
    let usage = &*unwrapped(usage);
    let of = |name: &str| number(&usage[name]);
    let all = ["prompt_tokens", "promptTokens", "promptTokenCount", "prompt_token_count", "prompt"];
    if let Some(tokens) = all.iter().find_map(|name| of(name)) {
        return Some(tokens).filter(|tokens| *tokens > 0);
    }
    let rest = ["input_tokens", "inputTokens", "input"].iter().find_map(|name| of(name))?;
    let cached = [
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "cacheReadInputTokens",
        "cacheWriteInputTokens",
        "input_tokens_cache_read",
        "input_tokens_cache_write",
    ];
    let cached: i64 = cached.iter().filter_map(|name| of(name)).sum();
    Some(rest.saturating_add(cached)).filter(|tokens| *tokens > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cached_tokens_count_once() {
        let openai = json!({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 64}});
        assert_eq!(input_tokens(&openai), Some(100));
        let anthropic = json!({"input_tokens": 4, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 6, "cache_creation": {"ephemeral_5m_input_tokens": 6}});
        assert_eq!(input_tokens(&anthropic), Some(100));
        assert_eq!(
            input_tokens(&json!({"promptTokenCount": 100, "cachedContentTokenCount": 64})),
            Some(100)
        );
        assert_eq!(input_tokens(&json!({"input_tokens": "100"})), Some(100));
        for none in [json!({}), json!(null), json!({"input_tokens": 0}), json!("x")] {
            assert_eq!(input_tokens(&none), None, "{none}");
        }
    }
}
