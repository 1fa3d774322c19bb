//! A view holds the selection of the engine.

use cupel_engine::{Engine, EngineBuilder, Limits, NamedPolicy, Options};
use cupel_page::{Entry, OpeningReason, Texts, View, ViewOptions};

pub(crate) fn example(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/");
    std::fs::read_to_string(format!("{folder}{name}.json")).unwrap()
}

const REQUESTS: [&str; 11] = [
    "support-chat",
    "coding-agent",
    "coding-agent-anthropic",
    "coding-agent-ai-sdk",
    "coding-agent-ai-sdk-ui",
    "coding-agent-bedrock",
    "coding-agent-cohere",
    "coding-agent-ollama",
    "gemini-trip",
    "langchain-research",
    "retrieval",
];

fn view_of(engine: &Engine, text: &str) -> View {
    View::of_request(engine, text, &Options::new(), &ViewOptions::new()).unwrap()
}

/// The messages that the window of a size keeps, as the view has it.
fn messages_at(view: &View, size: i64) -> Option<Vec<usize>> {
    let window = view.windows.window(size)?;
    let kept = window.iter().flat_map(|entry| view.parts[entry.position()].messages.clone());
    let mut kept: Vec<usize> = kept.collect();
    kept.sort_unstable();
    Some(kept)
}

#[track_caller]
fn assert_windows_are_selections(name: &str, builder: impl Fn() -> EngineBuilder, limits: Limits) {
    let text = example(name);
    let engine = builder().limits(limits).build().unwrap();
    let view = view_of(&engine, &text);
    let top = *view.windows.at.last().unwrap();
    let lowest = view.windows.at[0];
    // Spread sizes, and both sides of some changes.
    let changes = view.windows.at.iter().step_by(view.windows.at.len() / 5 + 1);
    let around = changes.flat_map(|at| [at - 1, *at]);
    let sizes = (0..7).map(|at| lowest + (top - lowest) * at / 6).chain(around);
    for size in sizes.filter(|size| *size > 0) {
        let mut same = limits;
        same.max = Some(size);
        let selected = engine.select_with(text.as_str(), &Options::new().limits(same));
        match (messages_at(&view, size), selected) {
            (Some(shown), Ok(selected)) => {
                let mut kept = selected.kept_messages.clone();
                kept.sort_unstable();
                assert_eq!(shown, kept, "{name} at {size}");
                let count = view.windows.at.partition_point(|at| *at <= size);
                let tokens = view.windows.tokens[count - 1];
                assert_eq!(tokens, selected.summary.tokens_after, "{name} at {size}");
            }
            // Below what must be kept a slider does not go.
            (None, _) => assert!(size < lowest, "{name} at {size}"),
            (Some(_), Err(error)) => panic!("{name} at {size}: {error}"),
        }
    }
}

#[test]
fn the_windows_of_a_view_are_what_select_keeps_at_each_budget() {
    for name in REQUESTS {
        assert_windows_are_selections(name, Engine::builder, Limits::of(2_000));
    }
}

#[test]
fn they_are_so_with_a_reserve_a_margin_and_shorter_forms() {
    let limits = Limits::of(3_000).with_reserve(500).with_margin_percent(7.5);
    for name in ["support-chat", "coding-agent-anthropic"] {
        assert_windows_are_selections(name, Engine::builder, limits);
    }
    let shortening = || Engine::builder().shorten(cupel_engine::Shorten::All);
    assert_windows_are_selections("coding-agent", shortening, Limits::of(2_000));
}

#[test]
fn the_windows_beside_are_those_of_the_other_policy() {
    let text = example("support-chat");
    let how = ViewOptions::new().beside(NamedPolicy::find("chat").unwrap());
    let engine = Engine::builder().max_tokens(750).build().unwrap();
    let view = View::of_request(&engine, text.as_str(), &Options::new(), &how).unwrap();
    let chat = Engine::builder().policy("chat").max_tokens(750).build().unwrap();
    let mut differ = 0;
    for size in [650, 750, 1_000, 2_000, 3_000] {
        let options = Options::new().max_tokens(size);
        let kept = chat.select_with(text.as_str(), &options).unwrap().kept_messages;
        let mut beside = view.clone();
        beside.windows = view.beside[0].windows.clone();
        assert_eq!(messages_at(&beside, size), Some(kept), "{size}");
        differ += usize::from(messages_at(&beside, size) != messages_at(&view, size));
    }
    assert!(differ > 3, "only {differ} windows differ");
}

/// Worked out by hand: three messages, of which the question shares `deploy` and `key` with one.
#[test]
fn each_part_has_its_size_score_words_and_place() {
    let text = r#"[
        {"role": "user", "content": "The deploy key is on the blue card."},
        {"role": "user", "content": "Lunch is at noon, soup again, and the printer is out of paper."},
        {"role": "user", "content": "Where is the deploy key?"}
    ]"#;
    let engine = Engine::builder().tokenizer("estimate").max_tokens(40).build().unwrap();
    let view = view_of(&engine, text);
    let [card, lunch, question] = view.parts.as_slice() else { panic!("{:?}", view.parts) };
    assert_eq!((view.messages, view.opening.size), (3, 40));
    assert_eq!(view.opening.reason, OpeningReason::Given);
    assert_eq!(view.total_tokens, card.tokens + lunch.tokens + question.tokens);
    assert_eq!(question.pinned.as_deref(), Some("last user turn"));
    assert_eq!((question.score, view.pinned_tokens), (None, question.tokens));
    assert!(card.score > lunch.score);
    let mut words = card.words.clone();
    words.sort_unstable();
    assert_eq!(words, ["deploy", "key"]);
    assert!(lunch.words.is_empty());
    assert_eq!(view.windows.window(40).unwrap(), [Entry::Whole(0), Entry::Whole(2)]);
    assert_eq!(view.windows.window(view.pinned_tokens - 1), None);
    assert_eq!(view.windows.window(view.total_tokens).unwrap().len(), 3);
    assert_eq!(card.text, None, "the excerpt is all of it");
}

#[test]
fn what_fits_its_models_window_opens_at_a_fifth() {
    let text = example("support-chat");
    let engine = Engine::builder().build().unwrap();
    let how = ViewOptions::new().taste(true);
    let view = View::of_request(&engine, text.as_str(), &Options::new(), &how).unwrap();
    assert_eq!(view.opening.reason, OpeningReason::Taste);
    assert!(view.opening.limit.unwrap() > 100_000);
    let kept = view.windows.window(view.opening.size).unwrap().len();
    assert!(kept > 3 && kept < view.parts.len() / 2, "{kept}");
    let share = view.opening.size as f64 / view.total_tokens as f64;
    assert!((0.15..0.35).contains(&share), "{share}");
    // Whoever asks for a budget gets it.
    let asked = engine.clone();
    let view = View::of_request(&asked, text.as_str(), &Options::new().max_tokens(900), &how);
    let view = view.unwrap();
    assert_eq!((view.opening.reason, view.opening.size), (OpeningReason::Given, 900));
}

#[test]
fn a_model_that_nobody_knows_has_no_window() {
    let text = example("support-chat").replace("\"gpt-5.1\"", "\"house-model\"");
    let engine = Engine::builder().build().unwrap();
    let text = if text.contains("house-model") { text } else { without_model(&text) };
    let view = view_of(&engine, &text);
    assert_eq!(view.opening.reason, OpeningReason::Unknown);
    assert_eq!(view.opening.limit, None);
    assert!(view.opening.size < view.total_tokens / 2);
}

fn without_model(text: &str) -> String {
    let mut request: serde_json::Value = serde_json::from_str(text).unwrap();
    request["model"] = "house-model".into();
    request.to_string()
}

#[test]
fn without_texts_no_word_of_a_request_is_in_its_view() {
    let text = r#"[
        {"role": "user", "content": "The zebra password is marzipan."},
        {"role": "user", "content": "Tell me the zebra password."}
    ]"#;
    let engine = Engine::builder().tokenizer("estimate").max_tokens(400).build().unwrap();
    let how = ViewOptions::new().texts(Texts::None);
    let view = View::of_request(&engine, text, &Options::new(), &how).unwrap();
    let json = view.to_json().to_lowercase();
    for word in ["zebra", "marzipan", "password", "tell me"] {
        assert!(!json.contains(word), "{word}");
    }
    let shown = view_of(&engine, text).to_json();
    assert!(shown.contains("marzipan"));
}

#[test]
fn a_view_is_read_as_it_was_written() {
    let engine = Engine::builder().max_tokens(2_000).build().unwrap();
    let view = view_of(&engine, &example("coding-agent"));
    let again: View = serde_json::from_str(&view.to_json()).unwrap();
    assert_eq!(again, view);
}
