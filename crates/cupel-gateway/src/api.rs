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
}

impl Api {
    /// All of them.
    pub(crate) const ALL: [Self; 4] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini];

    /// Which one a path belongs to, and the model where the path names it. The path is decoded.
    pub(crate) fn of_path(path: &str) -> Option<(Self, Option<&str>)> {
        let path = path.trim_end_matches('/');
        if path.ends_with("/chat/completions") {
            return Some((Self::OpenAiChat, None));
        }
        if path.ends_with("/responses") {
            return Some((Self::OpenAiResponses, None));
        }
        if path.ends_with("/v1/messages") {
            return Some((Self::Anthropic, None));
        }
        let (before, call) = path.rsplit_once(':')?;
        let (rest, model) = before.rsplit_once('/')?;
        let asks = matches!(call, "generateContent" | "streamGenerateContent");
        let of_model = rest.ends_with("/models") || rest.ends_with("/tunedModels");
        (asks && of_model).then_some((Self::Gemini, Some(model)))
    }

    /// Its name in logs, metrics and on the page.
    pub(crate) fn name(self) -> &'static str {
        self.format().name()
    }

    /// How its requests are read.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::OpenAiChat => Format::OpenAiChat,
            Self::OpenAiResponses => Format::OpenAiResponses,
            Self::Anthropic => Format::Anthropic,
            Self::Gemini => Format::Gemini,
        }
    }

    /// What OpenTelemetry calls the provider.
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gcp.gemini",
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
        ] {
            assert_eq!(Api::of_path(path), Some((api, model)), "{path}");
        }
        for path in [
            "/v1/messages/count_tokens",
            "/v1/messages/batches",
            "/v1beta/models/m:countTokens",
            "/v1/responses/resp_1",
            "/v1/models",
            "/",
        ] {
            assert_eq!(Api::of_path(path), None, "{path}");
        }
    }

    #[test]
    fn every_provider_has_the_name_that_telemetry_gives_it() {
        let providers = ["openai", "openai", "anthropic", "gcp.gemini"];
        assert_eq!(Api::ALL.map(Api::provider), providers);
    }
}
