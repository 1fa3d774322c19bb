//! The table of models: one row a model.
//!
//! Windows and limits are those that the providers publish, as of November 2026. OpenAI's own
//! tokenizer library names the encoding of everything up to GPT-5.6; for GPT-6 nothing is
//! published, so that it is estimated. Of a model that answers at most so much in one response, that
//! is the limit, even where a response can be continued.
//!
//! Prices are as they were known in November 2026, from copies of
//! `platform.claude.com/docs/en/about-claude/pricing` and the pages of its models,
//! `developers.openai.com/api/docs/pricing` and `ai.google.dev/gemini-api/docs/pricing`. They change
//! without notice: check them before money depends on them. A model of which sources disagree, or whose
//! price depends on the length of usual requests, has none.

use crate::{Encoding, ImageRule, Model, Prices, Provider, TokenizerFamily, ToolRule};

const GPT_4O: ImageRule = ImageRule::OpenAiTiles { base: 85, tile: 170 };
const GPT_4O_MINI: ImageRule = ImageRule::OpenAiTiles { base: 2_833, tile: 5_667 };
const GPT_5: ImageRule = ImageRule::OpenAiTiles { base: 70, tile: 140 };
const O_SERIES: ImageRule = ImageRule::OpenAiTiles { base: 75, tile: 150 };
const NO_IMAGES: ImageRule = ImageRule::Fixed(0);

/// Patches of 32 pixels, at most 1,536, times a multiplier in percent.
const fn patches(percent: i64) -> ImageRule {
    ImageRule::OpenAiPatches { budget: 1_536, percent }
}

/// Since GPT-5.4: up to 2,500 patches.
const MORE_PATCHES: ImageRule = ImageRule::OpenAiPatches { budget: 2_500, percent: 120 };

/// OpenAI, encoding `o200k_base`.
const fn openai(
    name: &'static str,
    context_window: i64,
    max_output: i64,
    images: ImageRule,
) -> Model {
    Model {
        name,
        provider: Provider::OpenAi,
        encoding: Some(Encoding::O200kBase),
        context_window,
        max_output,
        family: TokenizerFamily::OpenAi,
        estimate_percent: 100,
        tools: ToolRule::OpenAi { function: 7 },
        images,
        takes_system_messages: false,
        prices: None,
    }
}

/// OpenAI, encoding `cl100k_base`.
const fn openai_before_4o(name: &'static str, context_window: i64, max_output: i64) -> Model {
    Model {
        encoding: Some(Encoding::Cl100kBase),
        tools: ToolRule::OpenAi { function: 10 },
        ..openai(name, context_window, max_output, GPT_4O)
    }
}

/// OpenAI, encoding not published.
const fn gpt_6(name: &'static str) -> Model {
    Model { encoding: None, ..openai(name, 1_050_000, 128_000, MORE_PATCHES) }
}

/// Anthropic, Claude 4.7 and later: a tokenizer that is said to make up to 35 % more tokens than the
/// one before (taken from others, not from Anthropic itself), and images of up to 4,784 patches.
const fn claude(name: &'static str, tool_prompt: i64) -> Model {
    Model {
        estimate_percent: 130,
        images: ImageRule::AnthropicPatches { edge: 2_576, budget: 4_784 },
        ..claude_before_4_7(name, 1_000_000, 128_000, tool_prompt)
    }
}

/// Anthropic, Claude 4.8 and later, but for Sonnet 5, of which sources disagree: system messages may
/// stand behind a message of the user. Anthropic's page on Opus 4.8 says so, and the model profiles
/// of `@langchain/anthropic` 1.5.13 list the others.
const fn claude_with_system_messages(name: &'static str, tool_prompt: i64) -> Model {
    Model { takes_system_messages: true, ..claude(name, tool_prompt) }
}

/// Anthropic, Claude 3 to 4.6: a tokenizer that is not public, taken to be like that of Claude 2.
const fn claude_before_4_7(
    name: &'static str,
    context_window: i64,
    max_output: i64,
    tool_prompt: i64,
) -> Model {
    Model {
        name,
        provider: Provider::Anthropic,
        encoding: None,
        context_window,
        max_output,
        family: TokenizerFamily::Claude,
        estimate_percent: 100,
        tools: ToolRule::Json { prompt: tool_prompt },
        images: ImageRule::AnthropicPatches { edge: 1_568, budget: 1_568 },
        takes_system_messages: false,
        prices: None,
    }
}

/// Google, Gemini 3 and later.
const fn gemini(name: &'static str) -> Model {
    Model { images: ImageRule::Fixed(1_120), ..gemini_before_3(name, 1_048_576, 65_536) }
}

/// Google, Gemini 1.5 to 2.5.
const fn gemini_before_3(name: &'static str, context_window: i64, max_output: i64) -> Model {
    Model {
        name,
        provider: Provider::Google,
        encoding: None,
        context_window,
        max_output,
        family: TokenizerFamily::Gemma,
        estimate_percent: 100,
        tools: ToolRule::Json { prompt: 0 },
        images: ImageRule::GoogleTiles,
        takes_system_messages: false,
        prices: None,
    }
}

const LLAMA: TokenizerFamily = TokenizerFamily::Llama;
const MISTRAL: TokenizerFamily = TokenizerFamily::Mistral;
const QWEN: TokenizerFamily = TokenizerFamily::Qwen;
const DEEPSEEK: TokenizerFamily = TokenizerFamily::DeepSeek;
const UNKNOWN: TokenizerFamily = TokenizerFamily::Unknown;

/// Open weights: give their `tokenizer.json` for exact counts.
const fn open(
    name: &'static str,
    family: TokenizerFamily,
    context_window: i64,
    max_output: i64,
) -> Model {
    Model {
        provider: Provider::Open,
        family,
        images: ImageRule::Fixed(1_120),
        ..gemini_before_3(name, context_window, max_output)
    }
}

/// When the prices below were asked.
const PRICES_AS_OF: &str = "2026-11";

impl Model {
    /// With prices in thousandths of a US dollar for a million tokens.
    const fn priced(self, input: i64, cache_read: i64, cache_write: i64) -> Self {
        let prices = Prices::new(input * 1_000, cache_read * 1_000, cache_write * 1_000);
        Self { prices: Some(Prices { as_of: Some(PRICES_AS_OF), ..prices }), ..self }
    }

    /// The same where writing into the cache costs nothing extra.
    const fn priced_with_free_writes(self, input: i64, cache_read: i64) -> Self {
        self.priced(input, cache_read, input)
    }
}

pub(crate) const MODELS: &[Model] = &[
    gpt_6("gpt-6.1-sol"),
    gpt_6("gpt-6.1-terra"),
    gpt_6("gpt-6-astra"),
    gpt_6("gpt-6-sol"),
    gpt_6("gpt-6-luna"),
    openai("gpt-5.6", 1_050_000, 128_000, MORE_PATCHES),
    openai("gpt-5.6-sol", 1_050_000, 128_000, MORE_PATCHES),
    openai("gpt-5.6-terra", 1_050_000, 128_000, MORE_PATCHES),
    openai("gpt-5.6-luna", 1_050_000, 128_000, MORE_PATCHES),
    openai("gpt-5.5", 1_050_000, 128_000, MORE_PATCHES),
    openai("gpt-5.5-pro", 1_050_000, 128_000, MORE_PATCHES),
    openai("gpt-5.4", 1_050_000, 128_000, MORE_PATCHES).priced_with_free_writes(2_500, 250),
    openai("gpt-5.4-pro", 1_050_000, 128_000, MORE_PATCHES),
    openai("gpt-5.4-mini", 400_000, 128_000, patches(162)).priced_with_free_writes(750, 75),
    openai("gpt-5.4-nano", 400_000, 128_000, patches(246)).priced_with_free_writes(200, 20),
    openai("gpt-5.3-chat", 128_000, 16_384, patches(120)),
    openai("gpt-5.3-codex", 400_000, 128_000, patches(120)),
    openai("gpt-5.3-codex-spark", 128_000, 128_000, NO_IMAGES),
    openai("gpt-5.2", 400_000, 128_000, patches(120)).priced_with_free_writes(1_750, 175),
    openai("gpt-5.2-pro", 400_000, 128_000, patches(120)),
    openai("gpt-5.2-codex", 400_000, 128_000, patches(120)),
    openai("gpt-5.2-chat", 128_000, 16_384, patches(120)),
    openai("gpt-5.1", 400_000, 128_000, GPT_5).priced_with_free_writes(1_250, 125),
    openai("gpt-5.1-codex", 400_000, 128_000, GPT_5),
    openai("gpt-5.1-codex-max", 400_000, 128_000, GPT_5),
    openai("gpt-5.1-codex-mini", 400_000, 128_000, patches(162)),
    openai("gpt-5.1-chat", 128_000, 16_384, GPT_5),
    openai("gpt-5", 400_000, 128_000, GPT_5).priced_with_free_writes(1_250, 125),
    openai("gpt-5-pro", 400_000, 272_000, GPT_5),
    openai("gpt-5-codex", 400_000, 128_000, GPT_5).priced_with_free_writes(1_250, 125),
    openai("gpt-5-mini", 400_000, 128_000, patches(162)).priced_with_free_writes(250, 25),
    openai("gpt-5-nano", 400_000, 128_000, patches(246)).priced_with_free_writes(50, 5),
    openai("gpt-5-chat", 128_000, 16_384, GPT_5),
    openai("gpt-4.5", 128_000, 16_384, GPT_4O),
    openai("gpt-4.1", 1_047_576, 32_768, GPT_4O).priced_with_free_writes(2_000, 500),
    openai("gpt-4.1-mini", 1_047_576, 32_768, patches(162)).priced_with_free_writes(400, 100),
    openai("gpt-4.1-nano", 1_047_576, 32_768, patches(246)).priced_with_free_writes(100, 25),
    openai("gpt-4o", 128_000, 16_384, GPT_4O).priced_with_free_writes(2_500, 1_250),
    openai("gpt-4o-mini", 128_000, 16_384, GPT_4O_MINI).priced_with_free_writes(150, 75),
    openai("chatgpt-4o", 128_000, 16_384, GPT_4O),
    openai("o4-mini", 200_000, 100_000, patches(172)).priced_with_free_writes(1_100, 275),
    openai("o3", 200_000, 100_000, O_SERIES).priced_with_free_writes(2_000, 500),
    openai("o3-pro", 200_000, 100_000, O_SERIES),
    openai("o3-mini", 200_000, 100_000, NO_IMAGES).priced_with_free_writes(1_100, 550),
    openai("o1", 200_000, 100_000, O_SERIES).priced_with_free_writes(15_000, 7_500),
    openai("o1-pro", 200_000, 100_000, O_SERIES),
    openai("o1-mini", 128_000, 65_536, NO_IMAGES),
    openai("o1-preview", 128_000, 32_768, NO_IMAGES),
    openai("codex-mini", 200_000, 100_000, patches(172)),
    openai("gpt-oss-120b", 131_072, 131_072, NO_IMAGES),
    openai("gpt-oss-20b", 131_072, 131_072, NO_IMAGES),
    openai_before_4o("gpt-4-turbo", 128_000, 4_096),
    openai_before_4o("gpt-4-0125", 128_000, 4_096),
    openai_before_4o("gpt-4-1106", 128_000, 4_096),
    openai_before_4o("gpt-4-32k", 32_768, 32_768),
    openai_before_4o("gpt-4", 8_192, 8_192),
    openai_before_4o("gpt-3.5-turbo", 16_385, 4_096),
    openai_before_4o("gpt-35-turbo", 16_385, 4_096),
    claude_with_system_messages("claude-fable-5-1", 354).priced(10_000, 250, 12_500),
    claude_with_system_messages("claude-mythos-5-1", 354).priced(10_000, 250, 12_500),
    claude_with_system_messages("claude-opus-5-5", 286).priced(4_000, 200, 5_000),
    claude_with_system_messages("claude-sonnet-5-5", 354),
    claude_with_system_messages("claude-haiku-5-5", 354),
    claude_with_system_messages("claude-fable-5", 354).priced(10_000, 1_000, 12_500),
    claude_with_system_messages("claude-mythos-5", 354).priced(10_000, 1_000, 12_500),
    claude_with_system_messages("claude-opus-5", 286).priced(5_000, 500, 6_250),
    claude("claude-sonnet-5", 354).priced(2_000, 200, 2_500),
    claude_with_system_messages("claude-opus-4-8", 290).priced(5_000, 500, 6_250),
    claude("claude-opus-4-7", 675).priced(5_000, 500, 6_250),
    claude_before_4_7("claude-opus-4-6", 1_000_000, 128_000, 497).priced(5_000, 500, 6_250),
    claude_before_4_7("claude-sonnet-4-6", 1_000_000, 128_000, 497).priced(3_000, 300, 3_750),
    claude_before_4_7("claude-opus-4-5", 200_000, 64_000, 496).priced(5_000, 500, 6_250),
    claude_before_4_7("claude-sonnet-4-5", 200_000, 64_000, 496).priced(3_000, 300, 3_750),
    claude_before_4_7("claude-haiku-4-5", 200_000, 64_000, 496).priced(1_000, 100, 1_250),
    claude_before_4_7("claude-opus-4-1", 200_000, 32_000, 346).priced(15_000, 1_500, 18_750),
    claude_before_4_7("claude-opus-4-0", 200_000, 32_000, 346).priced(15_000, 1_500, 18_750),
    claude_before_4_7("claude-opus-4", 200_000, 32_000, 346).priced(15_000, 1_500, 18_750),
    claude_before_4_7("claude-sonnet-4-0", 200_000, 64_000, 346).priced(3_000, 300, 3_750),
    claude_before_4_7("claude-sonnet-4", 200_000, 64_000, 346).priced(3_000, 300, 3_750),
    claude_before_4_7("claude-3-7-sonnet", 200_000, 64_000, 346).priced(3_000, 300, 3_750),
    claude_before_4_7("claude-3-5-sonnet", 200_000, 8_192, 346),
    claude_before_4_7("claude-3-5-haiku", 200_000, 8_192, 264).priced(800, 80, 1_000),
    claude_before_4_7("claude-3-opus", 200_000, 4_096, 530).priced(15_000, 1_500, 18_750),
    claude_before_4_7("claude-3-sonnet", 200_000, 4_096, 159),
    claude_before_4_7("claude-3-haiku", 200_000, 4_096, 264).priced(250, 30, 300),
    gemini("gemini-4-carbon"),
    gemini("gemini-4-argon"),
    gemini("gemini-3.8-flash"),
    gemini("gemini-3.5-flash"),
    gemini("gemini-3.5-flash-lite"),
    gemini("gemini-3.1-pro"),
    gemini("gemini-3.1-flash-lite"),
    gemini("gemini-3-pro"),
    gemini("gemini-3-flash"),
    gemini_before_3("gemini-2.5-pro", 1_048_576, 65_536).priced_with_free_writes(1_250, 125),
    gemini_before_3("gemini-2.5-flash", 1_048_576, 65_536).priced_with_free_writes(300, 30),
    gemini_before_3("gemini-2.5-flash-lite", 1_048_576, 65_536).priced_with_free_writes(100, 10),
    gemini_before_3("gemini-2.0-flash", 1_048_576, 8_192),
    gemini_before_3("gemini-2.0-flash-lite", 1_048_576, 8_192),
    gemini_before_3("gemini-1.5-pro", 2_097_152, 8_192),
    gemini_before_3("gemini-1.5-flash", 1_048_576, 8_192),
    open("llama-4-maverick", LLAMA, 1_048_576, 8_192),
    open("llama-4-scout", LLAMA, 10_485_760, 8_192),
    open("llama-3.3-70b", LLAMA, 131_072, 8_192),
    open("llama-3.1-405b", LLAMA, 131_072, 8_192),
    open("llama-3.1-70b", LLAMA, 131_072, 8_192),
    open("llama-3.1-8b", LLAMA, 131_072, 8_192),
    open("mistral-large", MISTRAL, 131_072, 8_192),
    open("mistral-medium", MISTRAL, 131_072, 8_192),
    open("mistral-small", MISTRAL, 131_072, 8_192),
    open("qwen3-max", QWEN, 262_144, 65_536),
    open("qwen3-coder", QWEN, 262_144, 65_536),
    open("qwen2.5-72b", QWEN, 131_072, 8_192),
    open("deepseek-v4-pro", DEEPSEEK, 1_000_000, 65_536),
    open("deepseek-v4-flash", DEEPSEEK, 1_000_000, 65_536),
    open("deepseek-v3", DEEPSEEK, 131_072, 8_192),
    open("deepseek-r1", DEEPSEEK, 131_072, 65_536),
    open("deepseek-chat", DEEPSEEK, 131_072, 8_192),
    open("deepseek-reasoner", DEEPSEEK, 131_072, 65_536),
    open("kimi-k2", UNKNOWN, 262_144, 16_384),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_in_lower_case() {
        let mut names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), MODELS.len());
        assert!(names.iter().all(|name| !name.chars().any(char::is_uppercase)));
    }

    #[test]
    fn an_answer_fits_the_window() {
        for model in MODELS {
            assert!(model.max_output > 0 && model.max_output <= model.context_window, "{model:?}");
        }
    }

    #[test]
    fn a_cache_is_cheaper_to_read_than_its_input_and_no_cheaper_to_write() {
        let prices: Vec<Prices> = MODELS.iter().filter_map(|model| model.prices).collect();
        assert!(prices.len() >= 40, "{}", prices.len());
        for prices in prices {
            assert!(0 < prices.cache_read && prices.cache_read < prices.input, "{prices:?}");
            assert!(prices.input <= prices.cache_write, "{prices:?}");
            assert_eq!(prices.as_of, Some(PRICES_AS_OF));
        }
    }

    #[test]
    fn only_openai_publishes_encodings() {
        for model in MODELS {
            assert!(model.encoding.is_none() || model.provider == Provider::OpenAi, "{model:?}");
        }
    }
}
