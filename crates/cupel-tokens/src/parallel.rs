//! Counts many texts, or one very long one, on all cores.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::TokenCounter;

/// Below this many bytes starting threads costs more than it saves.
const WORTH_THREADS: usize = 256 * 1024;

/// About as much as one thread takes at a time.
const PORTION: usize = 64 * 1024;

/// Part of a text, for one thread at a time.
struct Portion {
    text: usize,
    bytes: Range<usize>,
}

/// The tokens of each text. Portions are handed out to whoever is free; sums do not care.
pub(crate) fn count_all<C: TokenCounter + ?Sized>(counter: &C, texts: &[&str]) -> Vec<i64> {
    let bytes = texts.iter().fold(0usize, |sum, text| sum.saturating_add(text.len()));
    // Asking how many there are reads files.
    let all = || thread::available_parallelism().map_or(1, usize::from);
    let threads = if bytes < WORTH_THREADS { 1 } else { all() };
    count_all_on(threads, counter, texts)
}

fn count_all_on<C: TokenCounter + ?Sized>(threads: usize, counter: &C, texts: &[&str]) -> Vec<i64> {
    if threads < 2 {
        return texts.iter().map(|text| counter.count(text)).collect();
    }
    let portions = portions(counter, texts);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut counted = Vec::new();
        while let Some(portion) = portions.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = &texts[portion.text][portion.bytes.clone()];
            counted.push((portion.text, counter.count(text)));
        }
        counted
    };
    let mut counts = vec![0i64; texts.len()];
    let mut add = |counted: Vec<(usize, i64)>| {
        for (text, tokens) in counted {
            counts[text] = counts[text].saturating_add(tokens);
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(portions.len())).map(|_| scope.spawn(work)).collect();
        add(work());
        for other in others {
            match other.join() {
                Ok(counted) => add(counted),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    counts
}

/// Every text once, long ones in parts where the counter knows where to cut.
fn portions<C: TokenCounter + ?Sized>(counter: &C, texts: &[&str]) -> Vec<Portion> {
    let mut portions = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let mut start = 0;
        while text.len() - start > 2 * PORTION {
            match counter.cut(text, start + PORTION) {
                Some(end) if end > start && end < text.len() && text.is_char_boundary(end) => {
                    portions.push(Portion { text: index, bytes: start..end });
                    start = end;
                }
                _ => break,
            }
        }
        portions.push(Portion { text: index, bytes: start..text.len() });
    }
    portions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, OpenAiCounter, SuppliedCounter};

    fn texts() -> Vec<String> {
        let line = "The crane lifts a boat.\nThen it rests; {\"berth\": 12}\n";
        [0, 1, 4_000, 300, 9_000].map(|times| line.repeat(times)).into()
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let texts = texts();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let counter = OpenAiCounter::new(Encoding::O200kBase);
        let alone = count_all_on(1, &counter, &texts);
        for threads in [2, 3, 16] {
            assert_eq!(count_all_on(threads, &counter, &texts), alone, "{threads} threads");
        }
    }

    #[test]
    fn portions_cover_every_text_once_and_in_order() {
        let texts = texts();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let portions = portions(&OpenAiCounter::new(Encoding::O200kBase), &texts);
        for (index, text) in texts.iter().enumerate() {
            let mut end = 0;
            for portion in portions.iter().filter(|portion| portion.text == index) {
                assert_eq!(portion.bytes.start, end);
                end = portion.bytes.end;
            }
            assert_eq!(end, text.len());
        }
        assert!(portions.len() > texts.len());
    }

    #[test]
    fn a_counter_that_cuts_badly_is_not_followed() {
        struct Bad;
        impl TokenCounter for Bad {
            fn name(&self) -> &'static str {
                "bad"
            }
            fn count(&self, text: &str) -> i64 {
                text.chars().map(|_| 1).sum()
            }
            fn cut(&self, text: &str, from: usize) -> Option<usize> {
                // Within a character, beyond the end, or before the place asked for.
                Some([from | 1, text.len() + 1, 0][from % 3])
            }
        }
        let long = "é".repeat(400_000);
        assert_eq!(count_all_on(4, &Bad, &[&long, "x"]), [400_000, 1]);
    }

    #[test]
    fn sums_stop_at_the_largest_number() {
        let line = "The crane lifts a boat.\n".repeat(40_000);
        let huge = SuppliedCounter::new("huge", |_| i64::MAX);
        assert_eq!(count_all_on(2, &huge, &[&line]), [i64::MAX]);
    }
}
