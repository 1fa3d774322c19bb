//! Tokenizers that are alike.

use std::fmt;

use super::EstimateCounter;
use super::table::{self, Table};

/// Which tokenizers an estimate is like.
///
/// | family | fitted on | for | what is assumed |
/// |---|---|---|---|
/// | `Gemma` | Gemma 3 | Gemini | Google's own `google-genai` 3.1 counts for Gemini 2.0 to 3 with Gemma 3's tokenizer; for 3.1 and 3.5 with Gemma 4's, which is taken to be alike, as are those of later ones |
/// | `Claude` | the tokenizer of Claude 2, which earlier SDKs of Anthropic brought along (read from `anthropic` 0.25) | Claude | later ones are not public: like it, or with fewer tokens in other scripts than Latin; words of Latin letters a little more |
/// | `Llama` | Llama 3.1 | Llama 3 and 4 | Llama 4 is alike |
/// | `Qwen` | Qwen 3 | Qwen | |
/// | `DeepSeek` | `DeepSeek` V3 | `DeepSeek` | V4 is alike |
/// | `Mistral` | Mistral Nemo | Mistral | the others are alike |
/// | `OpenAi` | `o200k_base` | OpenAI's models since GPT-6 | that they count like those before |
/// | `Unknown` | all of the above but Claude's, and `cl100k_base` | any other | that it is like one of them |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TokenizerFamily {
    /// OpenAI's `o200k_base`.
    OpenAi,
    /// Anthropic's.
    Claude,
    /// Google's, for Gemma and Gemini.
    Gemma,
    /// Meta's.
    Llama,
    /// Alibaba's.
    Qwen,
    /// That of `DeepSeek`'s models.
    DeepSeek,
    /// Mistral's.
    Mistral,
    /// One of which nothing is known.
    Unknown,
}

impl TokenizerFamily {
    /// Every family.
    pub const ALL: [Self; 8] = [
        Self::OpenAi,
        Self::Claude,
        Self::Gemma,
        Self::Llama,
        Self::Qwen,
        Self::DeepSeek,
        Self::Mistral,
        Self::Unknown,
    ];

    /// The name in lower case, as in `gemma`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Claude => "claude",
            Self::Gemma => "gemma",
            Self::Llama => "llama",
            Self::Qwen => "qwen",
            Self::DeepSeek => "deepseek",
            Self::Mistral => "mistral",
            Self::Unknown => "unknown",
        }
    }

    /// The family of a model by its name, as services spell it: `openrouter/anthropic/claude-9`,
    /// `llama3.2:3b`, `us.deepseek.r2-v1:0`. [`Unknown`](Self::Unknown) where the name speaks of none.
    ///
    /// ```
    /// use cupel_tokens::TokenizerFamily;
    ///
    /// assert_eq!(TokenizerFamily::of_model("qwen3:14b"), TokenizerFamily::Qwen);
    /// assert_eq!(TokenizerFamily::of_model("grok-4"), TokenizerFamily::Unknown);
    /// ```
    pub fn of_model(name: &str) -> Self {
        EstimateCounter::for_model(name).family()
    }

    /// Its factors and bounds.
    pub(super) const fn table(self) -> &'static Table {
        match self {
            Self::OpenAi => &table::OPENAI,
            Self::Claude => &table::CLAUDE,
            Self::Gemma => &table::GEMMA,
            Self::Llama => &table::LLAMA,
            Self::Qwen => &table::QWEN,
            Self::DeepSeek => &table::DEEPSEEK,
            Self::Mistral => &table::MISTRAL,
            Self::Unknown => &table::UNKNOWN,
        }
    }
}

impl fmt::Display for TokenizerFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
