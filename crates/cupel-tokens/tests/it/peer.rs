//! Counts are those of another implementation, which shares no code with ours.

use cupel_tokens::{Encoding, OpenAiCounter, TokenCounter};
use tiktoken_rs::CoreBPE;

use crate::random::Random;

fn peers() -> [(Encoding, &'static CoreBPE); 2] {
    [
        (Encoding::O200kBase, tiktoken_rs::o200k_base_singleton()),
        (Encoding::Cl100kBase, tiktoken_rs::cl100k_base_singleton()),
    ]
}

#[track_caller]
fn assert_agree(text: &str) {
    for (encoding, peer) in peers() {
        let theirs = i64::try_from(peer.encode_ordinary(text).len()).unwrap();
        assert_eq!(OpenAiCounter::new(encoding).count(text), theirs, "{encoding}: {text:?}");
    }
}

#[test]
fn random_texts_of_all_kinds_count_the_same() {
    let mut random = Random::new(20_261);
    for round in 0..1_500 {
        assert_agree(&random.text(1 + round % 40));
    }
}

#[test]
fn every_plane_of_unicode_counts_the_same() {
    for start in (0..0x11_0000u32).step_by(97) {
        let text: String = (start..start + 6).filter_map(char::from_u32).collect();
        assert_agree(&text);
    }
}

#[test]
fn runs_of_one_character_count_the_same() {
    for piece in
        ["a", "A", " ", "\n", "\t", "=", "-", "*", "_", "0", "的", "é", "\u{301}", "🚀", "\0"]
    {
        for length in [1, 2, 3, 15, 16, 17, 64, 65, 200, 1_000] {
            assert_agree(&piece.repeat(length));
            assert_agree(&format!("{}x", piece.repeat(length)));
        }
    }
}
