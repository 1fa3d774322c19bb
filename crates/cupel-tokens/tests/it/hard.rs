//! Long texts that are hard to count have the counts of another implementation, and do not hang.

use cupel_tokens::{Encoding, OpenAiCounter, TokenCounter};

use crate::random::Random;

#[track_caller]
fn assert_agree(what: &str, text: &str) {
    let peers = [
        (Encoding::O200kBase, bpe_openai::o200k_base()),
        (Encoding::Cl100kBase, bpe_openai::cl100k_base()),
    ];
    for (encoding, peer) in peers {
        let theirs = i64::try_from(peer.count(text)).unwrap();
        assert_eq!(OpenAiCounter::new(encoding).count(text), theirs, "{encoding}: {what}");
    }
}

/// So many characters, each the one of a random number.
fn characters(seed: u64, count: usize, character: impl Fn(usize) -> char) -> String {
    let mut random = Random::new(seed);
    (0..count).map(|_| character(random.below(0x11_0000))).collect()
}

#[test]
fn long_runs_without_a_gap_count_the_same() {
    for piece in ["a", "=", " ", "\n", "ab", "的", "\u{301}", "🚀", "aA", "\u{1}", " \n", "'s"] {
        let run = piece.repeat(100_000 / piece.len());
        assert_agree(piece, &run);
        assert_agree(piece, &format!("x{run}x"));
    }
}

#[test]
fn characters_at_random_count_the_same() {
    let letter = |from: char, count: u32| {
        move |number: usize| char::from_u32(u32::from(from) + number as u32 % count).unwrap_or(' ')
    };
    assert_agree("small letters", &characters(1, 200_000, letter('a', 26)));
    assert_agree("ASCII", &characters(2, 200_000, letter('\0', 128)));
    assert_agree("Latin-1", &characters(3, 100_000, letter('\u{80}', 128)));
    assert_agree("Han", &characters(4, 100_000, letter('一', 20_000)));
    assert_agree("Hangul", &characters(5, 100_000, letter('가', 11_000)));
    assert_agree("Devanagari", &characters(6, 100_000, letter('\u{900}', 128)));
    assert_agree("case and marks", &characters(7, 100_000, letter('\u{1c0}', 0x1c0)));
    assert_agree("anything", &characters(8, 100_000, |n| char::from_u32(n as u32).unwrap_or('x')));
}

#[test]
fn bytes_at_random_count_the_same() {
    let mut random = Random::new(9);
    let bytes: Vec<u8> = (0..200_000).map(|_| random.below(256) as u8).collect();
    assert_agree("bytes", &String::from_utf8_lossy(&bytes));
}

#[test]
fn mixed_texts_count_the_same() {
    let mut random = Random::new(10);
    for _ in 0..300 {
        assert_agree("mixed", &random.text(500));
    }
}
