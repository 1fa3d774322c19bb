//! Cutting a text never changes its count.

use cupel_tokens::{Encoding, EstimateCounter, OpenAiCounter, TokenCounter};

use crate::random::Random;

#[test]
fn both_parts_of_a_cut_add_up_to_the_whole() {
    let mut random = Random::new(7);
    let mut cuts = 0;
    for round in 0..800 {
        let text = format!("{}\n{}", random.text(1 + round % 30), random.text(1 + round % 30));
        for encoding in Encoding::ALL {
            let counter = OpenAiCounter::new(encoding);
            let Some(at) = counter.cut(&text, random.below(text.len())) else { continue };
            let (before, after) = text.split_at(at);
            let parts = counter.count(before) + counter.count(after);
            assert_eq!(parts, counter.count(&text), "{encoding}: {before:?} | {after:?}");
            cuts += 1;
        }
    }
    assert!(cuts > 500, "{cuts}");
}

#[test]
fn a_cut_is_at_or_after_the_place_asked_for_and_never_at_an_end() {
    let counter = OpenAiCounter::new(Encoding::O200kBase);
    let text = "a\nb\nc";
    assert_eq!(counter.cut(text, 0), Some(2));
    assert_eq!(counter.cut(text, 3), Some(4));
    assert_eq!(counter.cut(text, 5), None);
    assert_eq!(counter.cut(text, usize::MAX), None);
    assert_eq!(counter.cut("", 0), None);
    assert_eq!(counter.cut("no newline", 0), None);
    assert_eq!(counter.cut("a\n/b\n b\n\u{3000}b\n", 0), None);
    assert_eq!(counter.cut("}\n{\n", 0), Some(2));
}

#[test]
fn who_knows_no_safe_place_does_not_cut() {
    assert_eq!(EstimateCounter::new().cut("a\nb", 0), None);
}
