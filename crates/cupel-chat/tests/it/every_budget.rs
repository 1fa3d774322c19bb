//! For every budget from nothing to the whole: valid in, valid out.

use cupel::{ContextBudget, CupelError};
use cupel_chat::{CandidateOptions, ChatError, Format, Pin, Request};

use crate::pipelines::{self, Quarters};
use crate::random::Random;
use crate::sound::{EXAMPLES, example};
use crate::trial::Trial;
use crate::{checker, generate};

/// Tries every budget on generated requests of a format. Returns how many windows were looked at.
fn try_generated(format: Format) -> usize {
    let pipelines = pipelines::all();
    let mut windows = 0;
    for seed in 0..60 {
        let text = generate::request(format, seed);
        let request = Request::parse(text.as_str(), Some(format)).unwrap();
        let mut trial = Trial::new(&text, &request, &CandidateOptions::default());
        for named in &pipelines {
            for budget in 0..=trial.total_tokens() + 1 {
                trial.run(named, budget);
            }
        }
        windows += trial.windows();
    }
    windows
}

#[test]
fn openai_chat_stays_valid_at_every_budget() {
    assert!(try_generated(Format::OpenAiChat) > 500);
}

#[test]
fn openai_responses_stays_valid_at_every_budget() {
    assert!(try_generated(Format::OpenAiResponses) > 300);
}

#[test]
fn anthropic_stays_valid_at_every_budget() {
    assert!(try_generated(Format::Anthropic) > 200);
}

#[test]
fn gemini_stays_valid_at_every_budget() {
    assert!(try_generated(Format::Gemini) > 200);
}

#[test]
fn langchain_stays_valid_at_every_budget() {
    assert!(try_generated(Format::LangChain) > 200);
}

#[test]
fn the_ai_sdk_stays_valid_at_every_budget() {
    assert!(try_generated(Format::AiSdk) > 200);
    assert!(try_generated(Format::AiSdkUi) > 200);
}

#[test]
fn bedrock_stays_valid_at_every_budget() {
    assert!(try_generated(Format::Bedrock) > 100);
}

#[test]
fn ollama_and_cohere_stay_valid_at_every_budget() {
    assert!(try_generated(Format::Ollama) > 300);
    assert!(try_generated(Format::Cohere) > 300);
}

#[test]
fn items_stay_valid_at_every_budget() {
    assert!(try_generated(Format::Items) > 500);
    assert!(try_generated(Format::ItemLines) > 500);
}

/// The requests of all formats together that are tried at some budgets: few in a test run, and by the nightly
/// checks so many as `CUPEL_RANDOM_REQUESTS` says.
fn random_requests() -> u64 {
    let asked = std::env::var("CUPEL_RANDOM_REQUESTS").ok();
    asked.map_or(1_200, |number| number.parse().expect("a number of requests"))
}

#[test]
fn random_requests_stay_valid_at_some_budgets() {
    /// Budgets of each request.
    const BUDGETS: usize = 6;
    let pipelines = pipelines::all();
    let formats = Format::ALL.len() as u64;
    for number in 0..random_requests() {
        let format = Format::ALL[(number % formats) as usize];
        // Those before are tried at every budget.
        let seed = 1_000 + number / formats;
        let text = generate::request(format, seed);
        let request = Request::parse(text.as_str(), Some(format)).unwrap();
        let mut trial = Trial::new(&text, &request, &CandidateOptions::default());
        let random = &mut Random::new(seed);
        for _ in 0..BUDGETS {
            let named = &pipelines[random.below(pipelines.len())];
            let most = usize::try_from(trial.total_tokens()).unwrap() + 1;
            let budget = i64::try_from(random.within(0, most)).unwrap();
            trial.run(named, budget);
        }
    }
}

#[test]
fn examples_stay_valid_at_every_budget() {
    for (name, format) in EXAMPLES {
        let text = example(name);
        let request = Request::parse(text.as_str(), None).unwrap();
        assert_eq!(request.format(), format, "{name}");
        let mut trial = Trial::new(&text, &request, &CandidateOptions::default());
        for named in &pipelines::all() {
            // Every single budget with one policy. The others step, by a prime that is small beside most
            // messages, so that few of their windows are passed over.
            let step = if named.name == "recency, greedy" { 1 } else { 89 };
            for budget in (0..trial.total_tokens()).step_by(step).chain([trial.total_tokens()]) {
                trial.run(named, budget);
            }
        }
        assert!(trial.windows() > 20, "{name}: only {} windows", trial.windows());
    }
}

#[test]
fn pins_hold_at_every_budget() {
    let pipelines = pipelines::all();
    for format in Format::ALL {
        for seed in 0..15 {
            let text = generate::request(format, seed);
            let request = Request::parse(text.as_str(), Some(format)).unwrap();
            let Some(last) = request.message_count().checked_sub(1) else { continue };
            let index = Random::new(seed).within(0, last);
            let pins = vec![
                Pin::Index(index),
                Pin::Role("assistant".into()),
                Pin::Field { name: "x_flag".into(), value: "true".into() },
            ];
            for pin in pins {
                let options = CandidateOptions { pins: vec![pin.clone()], ..Default::default() };
                let candidates = match request.candidates(&Quarters, &options) {
                    Err(ChatError::Pin { .. }) => continue,
                    candidates => candidates.unwrap(),
                };
                let holds =
                    |bundle: &&cupel_chat::Bundle| bundle.message_indices().contains(&index);
                let bundle = candidates.bundles().iter().find(holds).unwrap();
                assert!(pin != Pin::Index(index) || bundle.pin_reason().is_some(), "{text}");
                let mut trial = Trial::new(&text, &request, &options);
                for budget in (0..=trial.total_tokens()).step_by(3) {
                    trial.run(&pipelines[0], budget);
                }
            }
        }
    }
}

/// Any units of which none lacks what it needs are a valid request, and units stay what they are as
/// the request grows.
#[test]
fn turns_that_are_taken_apart_stay_valid_with_what_they_need() {
    let options = CandidateOptions::default();
    for format in Format::ALL.into_iter().filter(|format| !format.has_free_order()) {
        let mut needs = 0;
        for seed in 0..150 {
            let text = generate::request(format, seed);
            let request = Request::parse(text.as_str(), Some(format)).unwrap();
            let candidates = request.candidates(&Quarters, &options).unwrap();
            let bundles = candidates.bundles();
            let holder = |message: usize| {
                bundles.iter().position(|bundle| bundle.message_indices().contains(&message))
            };
            let random = &mut Random::new(seed);
            for _ in 0..40 {
                let mut is_kept: Vec<bool> = candidates
                    .items()
                    .iter()
                    .map(|item| item.pinned() || random.chance(50))
                    .collect();
                // What is needed may need more, before or behind it.
                let mut open: Vec<usize> = (0..bundles.len()).filter(|at| is_kept[*at]).collect();
                while let Some(at) = open.pop() {
                    for needed in bundles[at].needs().iter().filter_map(|message| holder(*message))
                    {
                        needs += 1;
                        if !std::mem::replace(&mut is_kept[needed], true) {
                            open.push(needed);
                        }
                    }
                }
                let kept: Vec<usize> = (0..bundles.len()).filter(|at| is_kept[*at]).collect();
                let output = candidates.render(&kept);
                let problems = checker::problems(format, &output);
                assert!(
                    problems.is_empty(),
                    "{problems:?}: kept {kept:?} of\n{text}\ngave\n{output}"
                );
            }
        }
        let has_turns = !matches!(
            format,
            Format::OpenAiChat | Format::OpenAiResponses | Format::Ollama | Format::Cohere
        );
        assert_eq!(needs > 0, has_turns, "{format}");
    }
}

#[test]
fn with_alternation_the_user_never_speaks_twice_in_a_row() {
    let pipelines = pipelines::all();
    let options = CandidateOptions { alternate: true, ..Default::default() };
    for format in Format::ALL.into_iter().filter(|format| !format.has_free_order()) {
        let mut windows = 0;
        for seed in 0..150 {
            let text = generate::request(format, seed);
            if checker::user_speaks_twice(format, &text) {
                continue;
            }
            let request = Request::parse(text.as_str(), Some(format)).unwrap();
            let mut trial = Trial::new(&text, &request, &options);
            for named in &pipelines[..3] {
                for budget in 0..=trial.total_tokens() + 1 {
                    trial.run(named, budget);
                }
            }
            for output in trial.outputs() {
                assert!(!checker::user_speaks_twice(format, &output), "{text}\n{output}");
            }
            windows += trial.windows();
        }
        assert!(windows > 100, "{format}: only {windows} windows");
    }
}

#[test]
fn a_pin_that_matches_nothing_is_refused() {
    for format in Format::ALL {
        let text = generate::request(format, 1);
        let request = Request::parse(text, Some(format)).unwrap();
        for pin in ["role:robot", "field:no.such=1", "999"] {
            let options =
                CandidateOptions { pins: vec![pin.parse().unwrap()], ..Default::default() };
            let error = request.candidates(&Quarters, &options).unwrap_err();
            assert_eq!(error.code(), "unmatched-pin", "{format}: {error}");
            assert!(error.to_string().starts_with(&format!("pin `{pin}`: ")), "{error}");
        }
    }
}

#[test]
fn pinned_parts_that_do_not_fit_are_listed_largest_first() {
    for (name, format) in EXAMPLES {
        let request = Request::parse(example(name), Some(format)).unwrap();
        let candidates = request.candidates(&Quarters, &CandidateOptions::default()).unwrap();
        let budget = ContextBudget::builder(10).build().unwrap();
        for named in &pipelines::all() {
            let outcome = named.pipeline.run(candidates.items(), &budget);
            let Err(CupelError::PinnedExceedsBudget { pinned_tokens, available }) = outcome else {
                panic!("{name}, {}: {outcome:?}", named.name);
            };
            assert_eq!(available, 10);
            let parts = candidates.pinned_by_size();
            assert_eq!(parts.iter().map(|part| part.tokens()).sum::<i64>(), pinned_tokens);
            assert!(
                parts.is_sorted_by_key(|part| -part.tokens()),
                "{name}: the largest is not first"
            );
        }
    }
}
