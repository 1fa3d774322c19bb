//! The requests that are fitted, by the path that they are sent to.

use cupel_engine::Format;

/// A provider's way to ask a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Api {
    /// `/v1/chat/completions`.
    OpenAiChat,
    /// `/v1/responses`.
    OpenAiResponses,
    /// `/v1/messages`.
    Anthropic,
    /// `/v1beta/models/{model}:generateContent` and `:streamGenerateContent`.
    Gemini,
    /// `/v1internal:generateContent` and `:streamGenerateContent`, which Gemini CLI asks with an account: Gemini's
    /// request as a field of another ([`envelope`](crate::envelope)).
    CodeAssist,
    /// `/model/{model}/converse` and `/converse-stream`.
    Converse,
    /// `/api/chat`.
    Ollama,
}

/// Names of attachments in a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attachments {
    /// Names that stand for one wherever they are.
    pub(crate) anywhere: &'static [&'static str],
    /// Names that do so as the value of a field.
    pub(crate) values: &'static [&'static str],
}

/// A place at which requests are sent.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Paths that end so.
    End(&'static str),
    /// `…/{folder}/{model}{call}`.
    Model { folder: &'static str, call: &'static str },
    /// The same for models of Anthropic: other models have requests of other forms.
    ClaudeModel { folder: &'static str, call: &'static str },
}

impl Place {
    fn is_at(self, path: &str) -> bool {
        match self {
            Self::End(end) => ends_with(path, end).is_some(),
            Self::Model { .. } => self.model(path).is_some(),
            Self::ClaudeModel { .. } => {
                self.model(path).is_some_and(|it| it.to_ascii_lowercase().contains("claude"))
            }
        }
    }

    /// The model that a path of this place names, if it names one.
    fn model(self, path: &str) -> Option<&str> {
        let (Self::Model { folder, call } | Self::ClaudeModel { folder, call }) = self else {
            return None;
        };
        let (rest, model) = ends_with(path, call)?.rsplit_once('/')?;
        (ends_with(rest, folder).is_some() && !model.is_empty()).then_some(model)
    }
}

/// Path before an ending, however its letters are written: there are servers that do not heed case.
fn ends_with<'p>(path: &'p str, ending: &str) -> Option<&'p str> {
    let at = path.len().checked_sub(ending.len()).filter(|at| path.is_char_boundary(*at))?;
    let (before, end) = path.split_at(at);
    end.eq_ignore_ascii_case(ending).then_some(before)
}

/// Every place at which requests are fitted. All others are passed on unread, as `/v1/completions`.
const ENDPOINTS: [(Place, Api); 16] = [
    (Place::End("/chat/completions"), Api::OpenAiChat),
    (Place::End("/api/chat"), Api::Ollama),
    (Place::End("/responses"), Api::OpenAiResponses),
    (Place::End("/v1/messages"), Api::Anthropic),
    // Bedrock.
    (Place::ClaudeModel { folder: "/model", call: "/invoke" }, Api::Anthropic),
    (Place::ClaudeModel { folder: "/model", call: "/invoke-with-response-stream" }, Api::Anthropic),
    (Place::Model { folder: "/model", call: "/converse" }, Api::Converse),
    (Place::Model { folder: "/model", call: "/converse-stream" }, Api::Converse),
    (Place::End("/v1internal:generateContent"), Api::CodeAssist),
    (Place::End("/v1internal:streamGenerateContent"), Api::CodeAssist),
    // Vertex.
    (Place::Model { folder: "/anthropic/models", call: ":rawPredict" }, Api::Anthropic),
    (Place::Model { folder: "/anthropic/models", call: ":streamRawPredict" }, Api::Anthropic),
    (Place::Model { folder: "/models", call: ":generateContent" }, Api::Gemini),
    (Place::Model { folder: "/models", call: ":streamGenerateContent" }, Api::Gemini),
    (Place::Model { folder: "/tunedModels", call: ":generateContent" }, Api::Gemini),
    (Place::Model { folder: "/tunedModels", call: ":streamGenerateContent" }, Api::Gemini),
];

impl Api {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::CodeAssist,
        Self::Converse,
        Self::Ollama,
    ];

    /// Which one a path belongs to, and the model where the path names it. The path is decoded.
    pub(crate) fn of_path(path: &str) -> Option<(Self, Option<&str>)> {
        let path = path.trim_end_matches('/');
        let (place, api) = ENDPOINTS.iter().find(|(place, _)| place.is_at(path))?;
        Some((*api, place.model(path)))
    }

    /// Names that stand before, or as, something that costs more than its bytes: a picture or a file.
    pub(crate) fn attachments(self) -> Attachments {
        match self {
            Self::OpenAiChat => Attachments {
                anywhere: &["image_url", "file_id", "file_data"],
                values: &["file", "input_audio", "audio", "video"],
            },
            Self::OpenAiResponses => Attachments {
                anywhere: &["image_generation_call", "file_id", "file_data"],
                values: &["input_image", "input_file", "input_audio", "computer_screenshot"],
            },
            Self::Anthropic => Attachments {
                anywhere: &["file_id"],
                values: &["image", "document", "search_result", "file"],
            },
            Self::Gemini | Self::CodeAssist => Attachments {
                anywhere: &["inlineData", "inline_data", "fileData", "file_data"],
                values: &["media"],
            },
            Self::Converse => Attachments { anywhere: &["s3Location", "bytes"], values: &[] },
            Self::Ollama => Attachments { anywhere: &["images"], values: &[] },
        }
    }

    /// Its name in logs, metrics and on the page.
    pub(crate) fn name(self) -> &'static str {
        self.format().name()
    }

    /// Format of its requests.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::OpenAiChat => Format::OpenAiChat,
            Self::OpenAiResponses => Format::OpenAiResponses,
            Self::Anthropic => Format::Anthropic,
            Self::Gemini | Self::CodeAssist => Format::Gemini,
            Self::Converse => Format::Bedrock,
            Self::Ollama => Format::Ollama,
        }
    }

    /// Name of the provider in OpenTelemetry.
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini | Self::CodeAssist => "gcp.gemini",
            Self::Converse => "aws.bedrock",
            Self::Ollama => "ollama",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_by_their_end() {
        for (path, api, model) in [
            ("/v1/chat/completions", Api::OpenAiChat, None),
            ("/openai/deployments/x/chat/completions/", Api::OpenAiChat, None),
            ("/v1/responses", Api::OpenAiResponses, None),
            ("/v1/messages", Api::Anthropic, None),
            ("/v1beta/models/gemini-2.5-pro:generateContent", Api::Gemini, Some("gemini-2.5-pro")),
            ("/v1/models/m:streamGenerateContent", Api::Gemini, Some("m")),
            ("/v1beta/tunedModels/t:generateContent", Api::Gemini, Some("t")),
            ("/v1/publishers/google/models/g:streamGenerateContent", Api::Gemini, Some("g")),
            ("/openai/v1/responses", Api::OpenAiResponses, None),
            ("/anthropic/v1/messages", Api::Anthropic, None),
            ("/api/chat", Api::Ollama, None),
            ("/v1internal:generateContent", Api::CodeAssist, None),
            ("/v1internal:streamGenerateContent", Api::CodeAssist, None),
            ("/model/anthropic.claude-x/converse", Api::Converse, Some("anthropic.claude-x")),
            ("/model/meta.llama3/converse-stream", Api::Converse, Some("meta.llama3")),
            (
                "/model/us.anthropic.claude-sonnet-4-5-v1:0/invoke",
                Api::Anthropic,
                Some("us.anthropic.claude-sonnet-4-5-v1:0"),
            ),
            (
                "/model/anthropic.claude-x/invoke-with-response-stream",
                Api::Anthropic,
                Some("anthropic.claude-x"),
            ),
            (
                "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x@1:rawPredict",
                Api::Anthropic,
                Some("claude-x@1"),
            ),
            (
                "/v1/projects/p/publishers/anthropic/models/claude-x:streamRawPredict",
                Api::Anthropic,
                Some("claude-x"),
            ),
        ] {
            assert_eq!(Api::of_path(path), Some((api, model)), "{path}");
        }
        for path in [
            "/v1/messages/count_tokens",
            "/v1/messages/batches",
            "/v1beta/models/m:countTokens",
            "/v1/responses/resp_1",
            "/v1/models",
            "/v1/completions",
            "/model/anthropic.claude-x/count-tokens",
            "/model/meta.llama3/invoke",
            "/model//invoke",
            "/v1internal:countTokens",
            "/v1internal:loadCodeAssist",
            "/v1/publishers/mistral/models/m:rawPredict",
            "/api/generate",
            "/",
        ] {
            assert_eq!(Api::of_path(path), None, "{path}");
        }
    }

    #[test]
    fn every_provider_has_the_name_that_telemetry_gives_it() {
        let providers =
            ["openai", "openai", "anthropic", "gcp.gemini", "gcp.gemini", "aws.bedrock", "ollama"];
        assert_eq!(Api::ALL.map(Api::provider), providers);
    }
}
