//! Requests to try the engine on: those of the repository.

use std::path::Path;

use cupel_engine::{Engine, EngineBuilder};

/// The requests of every format, as their users would have them.
pub(crate) const REQUESTS: [&str; 10] = [
    "coding-agent.json",
    "coding-agent-anthropic.json",
    "coding-agent-ai-sdk.json",
    "coding-agent-ai-sdk-ui.json",
    "coding-agent-bedrock.json",
    "coding-agent-cohere.json",
    "coding-agent-ollama.json",
    "gemini-trip.json",
    "langchain-research.json",
    "support-chat.json",
];

pub(crate) fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Counts by estimates, which need no vocabulary.
pub(crate) fn builder() -> EngineBuilder {
    Engine::builder().tokenizer("estimate")
}

pub(crate) fn engine(max_tokens: i64) -> Engine {
    builder().max_tokens(max_tokens).build().unwrap()
}
