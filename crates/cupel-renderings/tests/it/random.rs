//! Random JSON, with a taste for trouble, and random bytes.

use std::fmt::Write;

use cupel_conformance::random::Rng;

use super::holds::check;

#[test]
fn all_holds_of_random_documents() {
    for seed in 0..2_500 {
        let text = document(&mut Rng::new(seed));
        check(text.as_bytes());
    }
}

#[test]
fn all_holds_of_documents_that_were_damaged() {
    for seed in 0..1_000 {
        let mut rng = Rng::new(seed);
        let mut bytes = document(&mut rng).into_bytes();
        for _ in 0..rng.between(1, 3) {
            let at = rng.below(bytes.len());
            match rng.below(3) {
                0 => bytes[at] = rng.next_u64() as u8,
                1 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, rng.pick(b"{}[]\",:\\ \n0e-")),
            }
        }
        check(&bytes);
    }
}

#[test]
fn all_holds_of_random_lines() {
    for seed in 0..1_000 {
        let mut rng = Rng::new(seed);
        let words = [
            "a",
            "é",
            "日本",
            "\r",
            " ",
            "[… 12 tokens left out …]",
            "\n[… 1,200 tokens left out …]\n",
            "\n",
            "\n",
            "word",
        ];
        let text: String = (0..rng.below(400)).map(|_| rng.pick(&words)).collect();
        check(text.as_bytes());
    }
}

fn document(rng: &mut Rng) -> String {
    let mut text = rng.pick(&["", "", "", "\u{feff}", " \n"]).to_owned();
    let documents = if rng.chance(20) { rng.between(2, 6) } else { 1 };
    for _ in 0..documents {
        let depth = rng.between(1, 4);
        container(rng, depth, &mut text);
        text.push_str(rng.pick(&["\n", "\n\n", " \r\n"]));
    }
    if documents > 1 && rng.chance(20) {
        text.push_str("\"… 4 more\"");
    }
    text
}

fn container(rng: &mut Rng, depth: usize, text: &mut String) {
    let is_object = rng.chance(60);
    text.push(if is_object { '{' } else { '[' });
    let length = rng.pick(&[0, 1, 2, 3, 5, 12]);
    for place in 0..length {
        if place > 0 {
            text.push_str(rng.pick(&[",", ", ", " ,\t"]));
        }
        if is_object {
            text.push_str(&key(rng));
            text.push_str(rng.pick(&[":", ": ", " : "]));
        }
        if depth > 0 && rng.chance(35) {
            container(rng, depth - 1, text);
        } else {
            text.push_str(&scalar(rng));
        }
    }
    text.push(if is_object { '}' } else { ']' });
}

fn key(rng: &mut Rng) -> String {
    let keys = [
        "a",
        "id",
        "name",
        "",
        "…",
        "……",
        "\\u2026",
        "credit_card_4421486",
        "2024-05-16",
        "a \\\" b",
        "größe",
    ];
    format!("\"{}\"", rng.pick(&keys))
}

fn scalar(rng: &mut Rng) -> String {
    let fixed = [
        "true",
        "false",
        "null",
        "0",
        "-0.0",
        "1",
        "3",
        "12",
        "1e400",
        "1.50",
        "123456789012345678901234567890",
        "\"\"",
        "\"…\"",
        "\"… 3 more\"",
        "\"… 0 more\"",
        "\"JFK\"",
        "\"2024-05-16\"",
        "\"x \\\\\"",
        "\"\\ud83d\\ude00\"",
        "\"日本語\"",
        "\"what a long text this is, with 12 words\"",
        "{}",
        "[ ]",
        "{\"…\": 7}",
        "[\"… 2 more\"]",
    ];
    if rng.chance(70) {
        return rng.pick(&fixed).to_owned();
    }
    if rng.chance(5) {
        let pieces = ["words ", "é", "\\n", "\\ud83d\\ude00", "日本", "12 ", " […] ", "\\\\"];
        let text: String = (0..rng.below(400)).map(|_| rng.pick(&pieces)).collect();
        return format!("\"{text}\"");
    }
    let mut text = String::new();
    write!(text, "\"R{:04}\"", rng.below(5_000)).expect("writing into a string does not fail");
    text
}
