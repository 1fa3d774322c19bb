//! Damaged texts: an error or a request, never a panic; and what passes as valid stays valid.

use cupel::ContextBudget;
use cupel_chat::{CandidateOptions, Format, RepairMode, Request};

use crate::pipelines::{self, Named, Quarters};
use crate::random::Random;
use crate::{checker, generate};

/// Reads a text as anything, and selects from it if that is possible.
fn probe(text: &str, format: Option<Format>, named: &Named, random: &mut Random) {
    let request = match Request::parse(text, format) {
        Ok(request) => request,
        Err(error) => {
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            return;
        }
    };
    request.query();
    let (repaired, _) = request.repair(RepairMode::Drop);
    Request::parse(repaired.as_str(), Some(request.format())).unwrap_or_else(|error| {
        panic!("{error}: repaired\n{text}\nto\n{repaired}");
    });
    if !request.validate().is_empty() {
        return;
    }
    let format = request.format();
    let Ok(candidates) = request.candidates(&Quarters, &CandidateOptions::default()) else {
        return;
    };
    let was_valid = checker::problems(format, text).is_empty();
    for _ in 0..3 {
        let highest = candidates.total_tokens().clamp(0, 5000) + 1;
        let limit = i64::try_from(random.within(0, highest as usize)).unwrap();
        let budget = ContextBudget::builder(limit).build().unwrap();
        let pipeline = named.pipeline.clone().with_needs(candidates.needs());
        let Ok(window) = pipeline.window(candidates.items(), &budget) else { continue };
        let kept: Vec<usize> = window.iter().map(|placed| placed.position).collect();
        let output = candidates.render(&kept);
        if format.has_free_order() && window.is_empty() {
            continue;
        }
        let again = Request::parse(output.as_str(), Some(format)).unwrap_or_else(|error| {
            panic!("{error}: made\n{output}\nof\n{text}");
        });
        assert_eq!(again.validate(), [], "{text}\n{output}");
        let problems = checker::problems(format, &output);
        assert!(problems.is_empty() || !was_valid, "{problems:?}\n{text}\n{output}");
    }
}

/// Changes a few bytes; pieces of JSON are likelier to make something that still reads.
fn damage(text: &str, random: &mut Random) -> String {
    const PIECES: [&str; 18] = [
        "",
        "\"",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "null",
        "0",
        "-1",
        "1e999",
        "\\",
        "\\ud800",
        "\u{0}",
        "\"role\":\"tool\",",
        "\"content\":[],",
        "\"type\":\"reasoning\",",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..random.within(1, 3) {
        let start = random.below(bytes.len() + 1);
        let end = (start + random.within(0, 6)).min(bytes.len());
        let piece = random.pick(&PIECES).bytes();
        bytes.splice(start..end, piece);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Puts another value of the same text in the place of one: this one parses.
fn transplant(text: &str, random: &mut Random) -> String {
    let words: Vec<&str> = text.split('"').collect();
    let (from, to) = (random.below(words.len()), random.below(words.len()));
    let mut words = words.clone();
    words[to] = words[from];
    words.join("\"")
}

#[test]
fn damaged_texts_never_panic() {
    let pipelines = pipelines::all();
    for format in Format::ALL {
        for seed in 0..400 {
            let random = &mut Random::new(seed);
            let text = generate::request(format, seed % 40);
            let damaged =
                if random.chance(50) { damage(&text, random) } else { transplant(&text, random) };
            let named = &pipelines[seed as usize % pipelines.len()];
            probe(&damaged, Some(format), named, random);
            probe(&damaged, None, named, random);
        }
    }
}

#[test]
fn every_beginning_of_a_text_is_read_or_refused() {
    let pipelines = pipelines::all();
    for format in Format::ALL {
        let text = generate::request(format, 3);
        for (end, _) in text.char_indices() {
            probe(&text[..end], Some(format), &pipelines[0], &mut Random::new(0));
        }
    }
}

#[test]
fn any_format_reads_or_refuses_any_request() {
    let pipelines = pipelines::all();
    for written in Format::ALL {
        for seed in 0..25 {
            let text = generate::request(written, seed);
            for read in Format::ALL {
                probe(&text, Some(read), &pipelines[2], &mut Random::new(seed));
            }
        }
    }
}

#[test]
fn odd_texts_are_read_or_refused() {
    let pipelines = pipelines::all();
    let deep = |open: &str, close: &str| open.repeat(5000) + &close.repeat(5000);
    let texts = [
        String::new(),
        " \n".into(),
        "\u{feff}".into(),
        "\u{feff}[]".into(),
        "null".into(),
        "[]".into(),
        "{}".into(),
        "[[]]".into(),
        "[null]".into(),
        "[1, 2]".into(),
        "\u{0}\u{1}\u{2}".into(),
        r#"{"messages":null}"#.into(),
        r#"{"messages":[{"role":"user"}]}"#.into(),
        r#"{"messages":[{"role":"user","content":1}]}"#.into(),
        r#"{"messages":[],"messages":[{"role":"user","content":"x"}]}"#.into(),
        r#"{"contents":[{"parts":null}]}"#.into(),
        r#"{"items":[{"content":"a","tokens":-5}]}"#.into(),
        r#"{"items":[{"content":"a","tokens":9223372036854775807},{"content":"b","tokens":9223372036854775807}]}"#.into(),
        deep("[", "]"),
        deep("{\"a\":", "}"),
    ];
    for text in &texts {
        for format in Format::ALL.map(Some).into_iter().chain([None]) {
            probe(text, format, &pipelines[0], &mut Random::new(1));
        }
    }
}
