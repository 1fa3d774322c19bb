//! Talk in six languages: what is detected, and that it serves as well as the language set by hand.

mod phrases;

use cupel::{ContextBudget, ContextItem, Pipeline, SystemTimeProvider};
use cupel_relevance::{Language, LanguageChoice, Strategies, auto};
use serde_json::Value;

const SETS: [Language; 6] = [
    Language::Arabic,
    Language::German,
    Language::Greek,
    Language::Romanian,
    Language::Russian,
    Language::Turkish,
];

struct Set {
    items: Vec<ContextItem>,
    queries: Vec<Value>,
}

fn read(language: Language) -> Set {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/eval/languages");
    let text = std::fs::read_to_string(format!("{folder}/{language}.jsonl")).unwrap();
    let pool: Value = serde_json::from_str(&text).unwrap();
    let items = serde_json::from_value(pool["items"].clone()).unwrap();
    Set { items, queries: pool["queries"].as_array().unwrap().clone() }
}

/// The positions of a window.
fn window(set: &Set, query: &str, choice: LanguageChoice, tokens: i64) -> Vec<usize> {
    let strategies = Strategies::new(query).with_language(choice);
    let pipeline = Pipeline::from(auto().build_with(&strategies, SystemTimeProvider).unwrap());
    let ranking = pipeline.rank(&set.items).unwrap();
    let window = ranking.window(&ContextBudget::builder(tokens).build().unwrap()).unwrap();
    window.iter().map(|placed| placed.position).collect()
}

/// Number of questions that have their evidence in a window of 120 tokens.
fn answered(set: &Set, choice: LanguageChoice) -> usize {
    let is_kept =
        |query: &&Value| {
            let window = window(set, query["query"].as_str().unwrap(), choice, 120);
            query["evidence"].as_array().unwrap().iter().all(|position| {
                window.contains(&usize::try_from(position.as_u64().unwrap()).unwrap())
            })
        };
    set.queries.iter().filter(is_kept).count()
}

#[test]
fn every_language_is_detected_and_five_messages_are_enough() {
    for language in SETS {
        let set = read(language);
        let detected =
            |items: &[ContextItem]| Language::detect(items.iter().map(ContextItem::content));
        assert_eq!(detected(&set.items), Some(language));
        for five in set.items.windows(5) {
            assert_eq!(detected(five), Some(language), "{five:?}");
        }
    }
}

#[test]
fn detected_and_set_by_hand_give_the_same_windows() {
    for language in SETS {
        let set = read(language);
        for query in &set.queries {
            let query = query["query"].as_str().unwrap();
            for tokens in [60, 120, 250, 500] {
                assert_eq!(
                    window(&set, query, LanguageChoice::Detected, tokens),
                    window(&set, query, language.into(), tokens),
                    "{query}"
                );
            }
        }
    }
}

#[test]
fn the_language_is_worth_more_than_none() {
    for language in SETS {
        let set = read(language);
        let (detected, none) =
            (answered(&set, LanguageChoice::Detected), answered(&set, LanguageChoice::None));
        assert!(detected >= 9 && detected > none, "{language}: {detected}, without {none}");
    }
}

#[test]
fn the_items_decide_whatever_language_the_question_is_in() {
    let set = read(Language::German);
    let strategies = Strategies::new("Where is the spare key of the flat?");
    assert_eq!(strategies.language_of(&set.items), Some(Language::German));
    assert_eq!(strategies.language_of(&[]), Some(Language::English));
    assert_eq!(strategies.ask("17").language_of(&[]), None);
}

#[test]
fn mixed_talk_is_in_the_language_of_the_question_or_in_none() {
    let (german, russian) = (read(Language::German), read(Language::Russian));
    let mixed: Vec<ContextItem> =
        german.items.iter().zip(&russian.items).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    assert_eq!(Language::detect(mixed.iter().map(ContextItem::content)), None);
    assert_eq!(Strategies::new("x1").language_of(&mixed), None);
    let asked = Strategies::new("Wo liegen die Schlüssel?");
    assert_eq!(asked.language_of(&mixed), Some(Language::German));
}
