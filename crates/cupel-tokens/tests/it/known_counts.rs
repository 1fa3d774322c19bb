//! Counts that are known.

use cupel_tokens::{Encoding, OpenAiCounter, TokenCounter};

/// Text, tokens in `o200k_base`, tokens in `cl100k_base`.
const KNOWN: &[(&str, i64, i64)] = &[
    ("", 0, 0),
    ("a", 1, 1),
    ("hello world", 2, 2),
    ("Hello, world!", 4, 4),
    ("tiktoken is great!", 6, 6),
    ("antidisestablishmentarianism", 6, 6),
    ("2 + 2 = 4", 7, 7),
    ("お誕生日おめでとう", 8, 9),
    ("<|endoftext|>", 7, 7),
    ("1234567890", 4, 4),
    ("    indented", 3, 3),
];

#[test]
fn known_texts_have_their_known_counts() {
    for &(text, o200k, cl100k) in KNOWN {
        assert_eq!(OpenAiCounter::new(Encoding::O200kBase).count(text), o200k, "o200k: {text:?}");
        assert_eq!(
            OpenAiCounter::new(Encoding::Cl100kBase).count(text),
            cl100k,
            "cl100k: {text:?}"
        );
    }
}

#[test]
fn a_megabyte_of_one_character_does_not_hang() {
    let letters = "a".repeat(1_000_000);
    let blanks = format!("{}x", " ".repeat(1_000_000));
    for encoding in Encoding::ALL {
        let counter = OpenAiCounter::new(encoding);
        assert_eq!(counter.count(&letters), 125_000);
        assert_eq!(counter.count(&blanks), 7_814);
    }
}
