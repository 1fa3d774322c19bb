//! Models by name: provider, tokenizer, window and prices.

use std::fmt;

use cupel_names::{UnknownName, nearest_name};

use crate::models::MODELS;
use crate::name::{canonical, without_service};
use crate::{
    Encoding, EstimateCounter, ImageRule, OpenAiCounter, Overheads, Prices, TokenCounter,
    TokenizerFamily, ToolRule,
};

/// Provider whose rules count a model's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google.
    Google,
    /// Open weights, which many serve.
    Open,
}

impl Provider {
    /// The name in lower case, as in `openai`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Google => "google",
            Self::Open => "open",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A model: its tokenizer, if that is public, and its limits.
///
/// ```
/// use cupel_tokens::{Encoding, Model};
///
/// let model = Model::find("gpt-4o-2024-08-06")?;
/// assert_eq!(model.name, "gpt-4o");
/// assert_eq!(model.encoding, Some(Encoding::O200kBase));
/// assert_eq!(model.context_window, 128_000);
///
/// let claude = Model::find("anthropic/claude-opus-5")?;
/// assert!(claude.counter().is_estimate());
/// # Ok::<(), cupel_tokens::UnknownModel>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// The name, without the date of a version.
    pub name: &'static str,
    /// Provider whose rules count.
    pub provider: Provider,
    /// Encoding of its texts; `None` where only an estimate is possible.
    pub encoding: Option<Encoding>,
    /// Most tokens of a request and its answer together.
    pub context_window: i64,
    /// Most tokens of an answer.
    pub max_output: i64,
    /// Family of its tokenizer, where only an estimate is possible.
    pub family: TokenizerFamily,
    /// Number of tokens it makes by what its family makes, in percent.
    pub estimate_percent: u32,
    /// Rule that counts its tool definitions.
    pub tools: ToolRule,
    /// Rule that counts its images.
    pub images: ImageRule,
    /// True if its provider takes a system prompt among the messages, where its format has a field
    /// for it: only then may it stand behind a message of the user.
    pub takes_system_messages: bool,
    /// Prices of its input, where two sources agree on them.
    pub prices: Option<Prices>,
}

impl Model {
    /// Every model in the table, newest first within its provider.
    pub const fn all() -> &'static [Self] {
        MODELS
    }

    /// Finds a model by its name, ignoring case.
    ///
    /// The name may have a path or a provider before it (`openai/`, `openai:`, `models/`,
    /// `us.anthropic.`, `ft:`), and a date, version or stage after it (`-2024-08-06`, `@20250514`,
    /// `-v1:0`, `-latest`, `:free`, `-instruct`). A version may be spelt `4.5`, `4-5` or `4p5`. The
    /// longest name that fits wins. A name with any other addition is another model, perhaps with
    /// another window, and is not found: [`EstimateCounter::for_model`] counts for it.
    ///
    /// # Errors
    ///
    /// If the table has no such model. The error suggests the nearest name.
    pub fn find(name: &str) -> Result<&'static Self, UnknownModel> {
        let plain = canonical(&without_service(name));
        MODELS
            .iter()
            .filter(|model| plain.strip_prefix(&canonical(model.name)).is_some_and(is_version))
            .max_by_key(|model| model.name.len())
            .ok_or_else(|| UnknownModel { name: name.to_owned() })
    }

    /// A counter for its texts: exact where its tokenizer is public, an estimate otherwise.
    pub fn counter(&self) -> Box<dyn TokenCounter> {
        match self.encoding {
            Some(encoding) => Box::new(OpenAiCounter::new(encoding)),
            None => Box::new(EstimateCounter::like(self.family).times(self.estimate_percent)),
        }
    }

    /// Tokens that count beside its texts.
    pub const fn overheads(&self) -> Overheads {
        Overheads::of(self)
    }
}

/// Returns true if what follows a known name only dates or stages it.
///
/// A short number is a version of its own: `claude-opus-4-9` is not a `claude-opus-4`.
fn is_version(rest: &str) -> bool {
    const STAGES: [&str; 19] = [
        "latest",
        "preview",
        "exp",
        "experimental",
        "instruct",
        "it",
        "hf",
        "fast",
        "beta",
        "default",
        "exacto",
        "extended",
        "floor",
        "free",
        "maas",
        "nitro",
        "online",
        "thinking",
        "versatile",
    ];
    if rest.is_empty() {
        return true;
    }
    let Some(rest) = rest.strip_prefix(['-', '@', ':']) else {
        return false;
    };
    let mut parts = rest.split(['-', '@', ':']);
    let first = parts.next().unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_stage = |part: &str| STAGES.contains(&part);
    let is_release = |part: &str| part.strip_prefix('v').is_some_and(is_number);
    let begins = is_stage(first) || is_release(first) || (first.len() >= 3 && is_number(first));
    begins && parts.all(|part| is_stage(part) || is_release(part) || is_number(part))
}

/// No model in the table has this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownModel {
    /// The name that was asked for.
    pub name: String,
}

impl UnknownModel {
    /// The nearest name in the table, if one is near enough to be meant.
    pub fn nearest(&self) -> Option<&'static str> {
        nearest_name(&without_service(&self.name), MODELS.iter().map(|model| model.name))
    }

    /// A name for this error that does not change: `unknown-model`.
    pub const fn code(&self) -> &'static str {
        "unknown-model"
    }
}

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare = without_service(&self.name);
        let hint = UnknownName::new("model", &bare, MODELS.iter().map(|model| model.name))
            .otherwise("give its context window and its tokenizer instead")
            .hint();
        write!(f, "unknown model `{}`; {hint}", self.name.escape_debug())
    }
}

impl std::error::Error for UnknownModel {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(name: &str) -> &'static str {
        Model::find(name).unwrap_or_else(|unknown| panic!("{unknown}")).name
    }

    #[test]
    fn every_model_is_found_by_its_own_name() {
        for model in Model::all() {
            assert_eq!(found(model.name), model.name);
        }
    }

    #[test]
    fn dates_versions_and_stages_do_not_matter() {
        assert_eq!(found("gpt-4o-2024-08-06"), "gpt-4o");
        assert_eq!(found("gpt-4-0613"), "gpt-4");
        assert_eq!(found("o3-mini-2025-01-31"), "o3-mini");
        assert_eq!(found("claude-sonnet-4-20250514"), "claude-sonnet-4");
        assert_eq!(found("claude-sonnet-4-5@20250929"), "claude-sonnet-4-5");
        assert_eq!(found("claude-3-5-sonnet-latest"), "claude-3-5-sonnet");
        assert_eq!(found("gemini-2.5-flash-preview-05-20"), "gemini-2.5-flash");
        assert_eq!(found("gemini-1.5-pro-002"), "gemini-1.5-pro");
        assert_eq!(found("mistral-large-2411"), "mistral-large");
    }

    #[test]
    fn what_services_put_before_a_name_does_not_matter() {
        assert_eq!(found("openai/gpt-5-mini"), "gpt-5-mini");
        assert_eq!(found("models/gemini-2.5-pro"), "gemini-2.5-pro");
        assert_eq!(found("us.anthropic.claude-opus-4-1-20250805-v1:0"), "claude-opus-4-1");
        assert_eq!(found("ft:gpt-4o-mini-2024-07-18:acme::abc"), "gpt-4o-mini");
        assert_eq!(found("meta-llama/Llama-3.3-70B-Instruct"), "llama-3.3-70b");
    }

    #[test]
    fn the_longest_name_wins() {
        assert_eq!(found("gpt-4-turbo-2024-04-09"), "gpt-4-turbo");
        assert_eq!(found("gpt-4-0125-preview"), "gpt-4-0125");
        assert_eq!(found("gpt-5-chat-latest"), "gpt-5-chat");
    }

    #[test]
    fn another_version_is_another_model() {
        for name in ["claude-opus-4-9", "gpt-5.9", "gpt-4o-super", "gpt-4omni", "gpt-4o-", "gpt"] {
            assert_eq!(Model::find(name).unwrap_err().name, name);
        }
    }

    #[test]
    fn a_misspelt_name_gets_the_nearest() {
        assert_eq!(
            Model::find("gtp-4o").unwrap_err().to_string(),
            "unknown model `gtp-4o`; did you mean `gpt-4o`?",
        );
        assert_eq!(
            Model::find("eliza").unwrap_err().to_string(),
            "unknown model `eliza`; give its context window and its tokenizer instead",
        );
        assert!(Model::find("").is_err());
    }

    #[test]
    fn public_tokenizers_count_exactly_and_others_estimate() {
        assert_eq!(Model::find("gpt-4").unwrap().counter().name(), "cl100k_base");
        assert_eq!(Model::find("gpt-5").unwrap().counter().name(), "o200k_base");
        for model in Model::all() {
            assert_eq!(model.counter().is_estimate(), model.encoding.is_none(), "{}", model.name);
        }
    }
}
