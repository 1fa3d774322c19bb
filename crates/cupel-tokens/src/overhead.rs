//! Tokens that providers count beside the texts.

use serde_json::Value;

use crate::{
    Attachment, AttachmentRule, Image, ImageRule, Model, Provider, TokenCounter, ToolRule,
};

/// Tokens that a provider counts beside the texts of a request.
///
/// | | a message | a name | the reply | a tool call | a tool result | tool definitions | images |
/// |---|---:|---:|---:|---:|---:|---|---|
/// | [`openai_chat`](Self::openai_chat) | 4 | 1 | 3 | 3ᵃ | 0ᵃ | cookbook | tiles |
/// | [`openai_responses`](Self::openai_responses) | 4ᵃ | 1ᵃ | 3ᵃ | 3ᵃ | 3ᵃ | cookbook ᵃ | tiles |
/// | [`anthropic`](Self::anthropic) | 4ᵃ | 0 | 3ᵃ | 8ᵃ | 8ᵃ | JSON + 497 | patches |
/// | [`gemini`](Self::gemini) | 0 | 0 | 0 | 4ᵃ | 4ᵃ | JSON ᵃ | 1,120 |
/// | [`open_weights`](Self::open_weights) | 5ᵃ | 1ᵃ | 4ᵃ | 8ᵃ | 8ᵃ | JSON ᵃ | 1,120ᵃ |
///
/// ᵃ Nothing is published; an assumption, chosen rather over than under.
///
/// - OpenAI publishes 3 and the text of the role for a message, which is one token for every role,
///   then 1 and 3, and the constants for tool definitions, in its cookbook on
///   counting tokens; the rules for images in its guide to images.
/// - Anthropic publishes a token count of 14 for the system prompt "You are a scientist" with the
///   message "Hello, Claude": 7 for the texts, so 7 for the frame. It publishes, by model, how long
///   the prompt is that it puts before tool definitions (`tool_choice` `auto` or `none`; a forced
///   choice costs about a hundred more, which is not counted); and the patches of images.
/// - Gemini's own examples count texts alone. An image of Gemini 3 and later counts 1,120 unless
///   another resolution is asked for; before, by tiles.
/// - Open weights have chat templates. The frame is that of Llama 3, one of the longest.
///
/// [`AttachmentRule`] counts all other files.
///
/// [`Overheads::of`] a model has what is published for that very model.
///
/// ```
/// use cupel_tokens::{Encoding, OpenAiCounter, Overheads, TokenCounter};
///
/// let counter = OpenAiCounter::new(Encoding::O200kBase);
/// let overheads = Overheads::openai_chat();
/// let message = overheads.per_message + counter.count("Hello!");
/// assert_eq!(message + overheads.reply_priming, 9);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overheads {
    /// For each message, its role included.
    pub per_message: i64,
    /// For each message that has a name, beside the text of the name.
    pub per_name: i64,
    /// Once a request: how the answer begins.
    pub reply_priming: i64,
    /// For each tool call, beside its name and arguments.
    pub per_tool_call: i64,
    /// For each tool result, beside its text and, where it is a message, that message.
    pub per_tool_result: i64,
    /// Rule that counts tool definitions.
    pub tools: ToolRule,
    /// Rule that counts images.
    pub images: ImageRule,
    /// Rule that counts other attached files.
    pub attachments: AttachmentRule,
}

impl Overheads {
    /// Texts alone, and definitions as their JSON text.
    pub const fn none() -> Self {
        Self {
            per_message: 0,
            per_name: 0,
            reply_priming: 0,
            per_tool_call: 0,
            per_tool_result: 0,
            tools: ToolRule::Json { prompt: 0 },
            images: ImageRule::Fixed(0),
            attachments: AttachmentRule::NONE,
        }
    }

    /// OpenAI Chat Completions, GPT-4o and later.
    pub const fn openai_chat() -> Self {
        Self {
            per_message: 4,
            per_name: 1,
            reply_priming: 3,
            per_tool_call: 3,
            per_tool_result: 0,
            tools: ToolRule::OpenAi { function: 7 },
            images: ImageRule::OpenAiTiles { base: 85, tile: 170 },
            attachments: AttachmentRule::OPENAI,
        }
    }

    /// OpenAI Responses: the same models, so the same frame. Results are items of their own there.
    pub const fn openai_responses() -> Self {
        Self { per_tool_result: 3, ..Self::openai_chat() }
    }

    /// Anthropic Messages. Without a model: the longest prompt for tools but one that is published.
    pub const fn anthropic() -> Self {
        Self {
            per_message: 4,
            per_name: 0,
            reply_priming: 3,
            per_tool_call: 8,
            per_tool_result: 8,
            tools: ToolRule::Json { prompt: 497 },
            images: ImageRule::AnthropicPatches { edge: 1_568, budget: 1_568 },
            attachments: AttachmentRule::ANTHROPIC,
        }
    }

    /// Gemini, version 3 and later.
    pub const fn gemini() -> Self {
        Self {
            per_tool_call: 4,
            per_tool_result: 4,
            images: ImageRule::Fixed(1_120),
            attachments: AttachmentRule::GEMINI,
            ..Self::none()
        }
    }

    /// Open weights behind a chat template.
    pub const fn open_weights() -> Self {
        Self {
            per_message: 5,
            per_name: 1,
            reply_priming: 4,
            per_tool_call: 8,
            per_tool_result: 8,
            attachments: AttachmentRule::ANTHROPIC,
            ..Self::gemini()
        }
    }

    /// Those of a model: its provider's frame, its own rules for tools and images.
    pub const fn of(model: &Model) -> Self {
        let frame = match model.provider {
            Provider::OpenAi => Self::openai_chat(),
            Provider::Anthropic => Self::anthropic(),
            Provider::Google => Self::gemini(),
            Provider::Open => Self::open_weights(),
        };
        let attachments = match model.images {
            ImageRule::GoogleTiles => AttachmentRule::GEMINI_BEFORE_3,
            _ => frame.attachments,
        };
        Self { tools: model.tools, images: model.images, attachments, ..frame }
    }

    /// The tokens of all tool definitions of a request; none if there are none.
    pub fn tools_tokens(&self, tools: &[Value], counter: &dyn TokenCounter) -> i64 {
        self.tools.tokens(tools, counter)
    }

    /// The tokens of an image.
    pub fn image_tokens(&self, image: &Image) -> i64 {
        self.images.tokens(image)
    }

    /// The tokens of another attached file.
    pub fn attachment_tokens(&self, attachment: &Attachment) -> i64 {
        self.attachments.tokens(attachment, &self.images)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, OpenAiCounter};

    #[test]
    fn every_role_of_openai_is_one_token() {
        for role in ["system", "developer", "user", "assistant", "tool", "function"] {
            for encoding in Encoding::ALL {
                assert_eq!(OpenAiCounter::new(encoding).count(role), 1, "{role}");
            }
        }
    }

    #[test]
    fn a_model_has_its_own_rules_for_tools_and_images() {
        let of = |name| Overheads::of(Model::find(name).unwrap());
        assert_eq!(of("gpt-4o").tools, ToolRule::OpenAi { function: 7 });
        assert_eq!(of("gpt-4").tools, ToolRule::OpenAi { function: 10 });
        assert_eq!(of("claude-opus-5").tools, ToolRule::Json { prompt: 286 });
        assert_eq!(of("gpt-5").images, ImageRule::OpenAiTiles { base: 70, tile: 140 });
        assert_eq!(of("gemini-2.5-pro").images, ImageRule::GoogleTiles);
    }
}
