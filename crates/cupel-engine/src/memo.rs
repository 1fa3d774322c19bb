//! Counts that are remembered from request to request.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cupel::ContextItem;
use cupel_chat::{Candidates, Request};
use cupel_relevance::Strategies;
use cupel_tokens::{Count, TokenCounter};
use foldhash::quality::RandomState;

/// Counts a text once, however many requests it is in: for whoever counts a conversation again and
/// again as it grows.
///
/// It remembers lengths and hashes, no texts. What it was not asked about between two calls of
/// [`forget_unused`](Self::forget_unused) is forgotten.
pub struct RememberingCounter {
    counter: Arc<dyn TokenCounter>,
    memo: Mutex<Memo>,
    hasher: RandomState,
}

#[derive(Default)]
struct Memo {
    fresh: HashMap<Key, Known, RandomState>,
    stale: HashMap<Key, Known, RandomState>,
}

/// Length and hash of a text.
type Key = (usize, u64);

#[derive(Clone, Copy, Default)]
struct Known {
    tokens: Option<i64>,
    bounded: Option<Count>,
}

impl RememberingCounter {
    /// Remembers what another counter says.
    #[must_use]
    pub fn new(counter: Arc<dyn TokenCounter>) -> Self {
        Self { counter, memo: Mutex::default(), hasher: RandomState::default() }
    }

    /// Forgets what it was not asked about since the last call.
    pub fn forget_unused(&self) {
        let mut memo = self.memo();
        memo.stale = std::mem::take(&mut memo.fresh);
    }

    fn memo(&self) -> MutexGuard<'_, Memo> {
        self.memo.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a text, or else what `ask` says.
    fn remembered<T: Copy>(
        &self,
        text: &str,
        known: impl Fn(&mut Known) -> &mut Option<T>,
        ask: impl FnOnce() -> T,
    ) -> T {
        let key = (text.len(), self.hasher.hash_one(text));
        {
            let mut memo = self.memo();
            let stale = memo.stale.remove(&key);
            let entry = memo.fresh.entry(key).or_insert_with(|| stale.unwrap_or_default());
            if let Some(answer) = *known(entry) {
                return answer;
            }
        }
        // Counting may take long, and others may want to know other things meanwhile.
        let answer = ask();
        *known(self.memo().fresh.entry(key).or_default()) = Some(answer);
        answer
    }
}

impl TokenCounter for RememberingCounter {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn count(&self, text: &str) -> i64 {
        self.remembered(text, |known| &mut known.tokens, || self.counter.count(text))
    }

    fn is_estimate(&self) -> bool {
        self.counter.is_estimate()
    }

    fn bounded(&self, text: &str) -> Count {
        self.remembered(text, |known| &mut known.bounded, || self.counter.bounded(text))
    }

    fn cut(&self, text: &str, from: usize) -> Option<usize> {
        self.counter.cut(text, from)
    }

    /// Most of it is known; what is left is counted by one.
    fn count_all(&self, texts: &[&str]) -> Vec<i64> {
        texts.iter().map(|text| self.count(text)).collect()
    }
}

/// What a session remembers beside its state: it changes how long a step takes, never the step.
#[derive(Default)]
pub(crate) struct SessionMemory(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    /// The counter, and the model that it counts for: estimates have one name and differ.
    counter: Option<(Option<&'static str>, Arc<RememberingCounter>)>,
    /// The candidates of the last request, whose texts are analysed.
    items: Vec<ContextItem>,
    /// How many items the strategies have met.
    met: usize,
    strategies: Option<Strategies>,
    /// The last request, and the fingerprints of its messages.
    request: Option<(Request, Arc<[u64]>)>,
}

impl SessionMemory {
    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counter of a model, with what is remembered of it.
    pub(crate) fn counter(
        &self,
        model: Option<&'static str>,
        counter: Arc<dyn TokenCounter>,
    ) -> Arc<RememberingCounter> {
        let known = &mut self.remembered().counter;
        match known {
            Some((of, known)) if *of == model && known.name() == counter.name() => known.clone(),
            _ => known.insert((model, Arc::new(RememberingCounter::new(counter)))).1.clone(),
        }
    }

    /// Makes candidates those of the last request where they are the same.
    pub(crate) fn meet(&self, candidates: &mut Candidates) {
        let remembered = &mut *self.remembered();
        remembered.met += candidates.reuse(&remembered.items);
        if remembered.met > 2 * candidates.items().len() + 100 {
            // Most of what is known is about items that are gone.
            remembered.strategies = None;
            remembered.met = candidates.items().len();
        }
        remembered.items = candidates.items().to_vec();
    }

    /// Strategies for a query that know the items that others have met.
    pub(crate) fn strategies(&self, query: &str) -> Strategies {
        let known = &mut self.remembered().strategies;
        known.get_or_insert_with(|| Strategies::new("")).ask(query)
    }

    /// The fingerprints of the messages of a request.
    pub(crate) fn fingerprints(&self, request: &Request) -> Arc<[u64]> {
        let last = &mut self.remembered().request;
        let prints: Arc<[u64]> = match last {
            Some((earlier, known)) => request.fingerprints_after(earlier, known).into(),
            None => request.fingerprints().into(),
        };
        *last = Some((request.clone(), prints.clone()));
        prints
    }

    /// See [`RememberingCounter::forget_unused`].
    pub(crate) fn forget_unused(&self) {
        if let Some((_, counter)) = &self.remembered().counter {
            counter.forget_unused();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts bytes, and how often it was asked.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl TokenCounter for Counting {
        fn name(&self) -> &'static str {
            "bytes"
        }

        fn count(&self, text: &str) -> i64 {
            self.0.fetch_add(1, Ordering::Relaxed);
            i64::try_from(text.len()).unwrap()
        }
    }

    #[test]
    fn a_text_is_counted_once_until_it_is_forgotten() {
        let counting = Arc::new(Counting::default());
        let asked = || counting.0.load(Ordering::Relaxed);
        let counter = RememberingCounter::new(counting.clone());
        assert_eq!(counter.count_all(&["abc", "ab", "abc"]), [3, 2, 3]);
        assert_eq!(asked(), 2);
        counter.forget_unused();
        assert_eq!((counter.count("abc"), asked()), (3, 2), "used once more");
        counter.forget_unused();
        assert_eq!((counter.count("ab"), asked()), (2, 3), "not used since");
        assert_eq!((counter.count("abc"), asked()), (3, 3));
    }
}
