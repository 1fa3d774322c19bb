//! Random requests, valid for their provider, that favour trouble.

mod ai_sdk;
mod anthropic;
mod bedrock;
mod cohere;
mod gemini;
mod items;
mod json;
mod langchain;
mod ollama;
mod openai_chat;
mod openai_responses;

use json::{Json, object};

use cupel_chat::Format;

use crate::random::Random;

/// A request of this format. The same seed gives the same text.
pub(crate) fn request(format: Format, seed: u64) -> String {
    let random = &mut Random::new(seed);
    match format {
        Format::OpenAiChat => openai_chat::request(random),
        Format::OpenAiResponses => openai_responses::request(random),
        Format::Anthropic => anthropic::request(random),
        Format::Gemini => gemini::request(random),
        Format::AiSdk => ai_sdk::model_messages(random),
        Format::AiSdkUi => ai_sdk::ui_messages(random),
        Format::Bedrock => bedrock::request(random),
        Format::Ollama => ollama::request(random),
        Format::Cohere => cohere::request(random),
        Format::LangChain => langchain::request(random),
        Format::Items => items::request(random),
        Format::ItemLines => items::lines(random),
        other => panic!("no generator for {other:?}"),
    }
}

/// Some words; now and then other scripts, control characters, or text that looks like JSON.
fn words(random: &mut Random) -> String {
    const WORDS: [&str; 16] = [
        "the",
        "tram",
        "stops",
        "at",
        "Elm/Street",
        "\"quoted\"",
        "{\"role\":\"user\"}",
        "],[",
        "über",
        "東京駅",
        "🦀",
        "a\nb",
        "back\\slash",
        "\u{1}",
        "e\u{301}",
        "42",
    ];
    (0..random.within(1, 5)).map(|_| random.pick(&WORDS)).collect::<Vec<_>>().join(" ")
}

/// Ids that differ within one request and look alike.
#[derive(Default)]
struct Ids(usize);

impl Ids {
    fn next(&mut self, prefix: &str) -> String {
        self.0 += 1;
        format!("{prefix}{}", "x".repeat(self.0 % 3) + &self.0.to_string())
    }
}

/// The list itself, or a request around it.
fn bare_or_wrapped(
    field: &'static str,
    list: Vec<Json>,
    around: Vec<(&'static str, Json)>,
    random: &mut Random,
) -> String {
    let value = if random.chance(20) {
        Json::List(list)
    } else {
        let mut fields = around;
        fields.push((field, Json::List(list)));
        Json::Object(fields).decorated(random)
    };
    value.write(random)
}

#[test]
fn the_same_seed_gives_the_same_request() {
    for format in Format::ALL {
        assert_eq!(request(format, 7), request(format, 7));
    }
}
