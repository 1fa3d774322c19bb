//! Counting many texts is counting each of them.

use cupel_tokens::{Encoding, EstimateCounter, OpenAiCounter, SuppliedCounter, TokenCounter};

/// Enough text to be worth several threads.
fn long_text() -> String {
    "The crane lifts a boat; der Kran hebt ein Boot; {\"berth\": 12}\n".repeat(9_000)
}

#[test]
fn many_texts_count_what_each_counts_alone() {
    let long = long_text();
    let texts = ["", "short", &long, "上下文", &long[..300_000], ""];
    let exact = OpenAiCounter::new(Encoding::O200kBase);
    let estimate = EstimateCounter::new();
    let bytes = SuppliedCounter::new("bytes", |text| i64::try_from(text.len()).unwrap());
    let counters: [&dyn TokenCounter; 3] = [&exact, &estimate, &bytes];
    for counter in counters {
        let alone: Vec<i64> = texts.iter().map(|text| counter.count(text)).collect();
        assert_eq!(counter.count_all(&texts), alone, "{}", counter.name());
    }
}

#[test]
fn no_texts_have_no_counts() {
    assert!(EstimateCounter::new().count_all(&[]).is_empty());
}

#[test]
fn a_huge_text_counts_what_its_repetitions_add_up_to() {
    let counter = OpenAiCounter::new(Encoding::Cl100kBase);
    let line = "The crane lifts a boat; der Kran hebt ein Boot; {\"berth\": 12}\n";
    assert_eq!(counter.count_all(&[&long_text()]), [9_000 * counter.count(line)]);
}

#[test]
fn counters_can_be_shared_and_boxed() {
    fn is_shareable<T: Send + Sync>(_: &T) {}
    let boxed: Box<dyn TokenCounter> = Box::new(OpenAiCounter::new(Encoding::O200kBase));
    is_shareable(&boxed);
    let borrowed: &dyn TokenCounter = &boxed;
    assert_eq!(borrowed.count_all(&["hello world"]), [2]);
    assert_eq!((&borrowed).name(), "o200k_base");
}
