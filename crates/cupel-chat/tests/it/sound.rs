//! The generators and the examples are valid by the checker, before anything is asked of the crate.

use std::path::Path;

use cupel_chat::Format;

use crate::{checker, generate};

/// The realistic requests of the repository, with their formats.
pub(crate) const EXAMPLES: [(&str, Format); 12] = [
    ("coding-agent.json", Format::OpenAiChat),
    ("coding-agent-anthropic.json", Format::Anthropic),
    ("coding-agent-ai-sdk.json", Format::AiSdk),
    ("coding-agent-ai-sdk-ui.json", Format::AiSdkUi),
    ("coding-agent-bedrock.json", Format::Bedrock),
    ("coding-agent-cohere.json", Format::Cohere),
    ("coding-agent-ollama.json", Format::Ollama),
    ("support-chat.json", Format::OpenAiResponses),
    ("gemini-trip.json", Format::Gemini),
    ("langchain-research.json", Format::LangChain),
    ("retrieval.json", Format::Items),
    ("retrieval.jsonl", Format::ItemLines),
];

/// The text of an example.
pub(crate) fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn generated_requests_are_valid() {
    for format in Format::ALL {
        for seed in 0..500 {
            let text = generate::request(format, seed);
            let problems = checker::problems(format, &text);
            assert!(problems.is_empty(), "{format:?}, seed {seed}: {problems:?}\n{text}");
        }
    }
}

#[test]
fn generated_requests_have_pairs_to_break() {
    // A call of a UI message has its result in itself.
    let has_pairs = |format: &Format| !format.has_free_order() && *format != Format::AiSdkUi;
    for format in Format::ALL.into_iter().filter(has_pairs) {
        let paired = |seed| !checker::ties(format, &generate::request(format, seed)).is_empty();
        let count = (0..100).filter(|seed| paired(*seed)).count();
        assert!(count > 40, "{format:?}: only {count} of 100");
    }
}

#[test]
fn examples_are_valid() {
    for (name, format) in EXAMPLES {
        assert_eq!(checker::problems(format, &example(name)), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn formats_are_recognised() {
    // Short chats of the two others may be written alike, and lists without a request around them.
    let formats = [
        Format::OpenAiResponses,
        Format::Gemini,
        Format::AiSdkUi,
        Format::Bedrock,
        Format::LangChain,
        Format::Items,
        Format::ItemLines,
    ];
    for format in formats {
        for seed in 0..100 {
            let text = generate::request(format, seed);
            if format == Format::OpenAiResponses && text.starts_with('[') {
                continue;
            }
            assert_eq!(Format::detect(&text), Some(format), "seed {seed}\n{text}");
        }
    }
}
