//! Counts that are remembered from request to request.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cupel_chat::{CandidateOptions, Candidates, ChatError, Format, Request};
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

    /// Remembered value of a text, or else the result of `ask`.
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

/// Memory of a session beside its state: it changes how long a step takes, never the step.
#[derive(Default)]
pub(crate) struct SessionMemory(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    /// The counter, and the model that it counts for: estimates have one name and differ.
    counter: Option<(Option<String>, Arc<RememberingCounter>)>,
    /// The last request, whose texts are analysed and counted, as its candidates.
    candidates: Option<Arc<Candidates>>,
    /// Number of items the strategies have met.
    met: usize,
    strategies: Option<Strategies>,
    /// The fingerprints of its messages.
    fingerprints: Arc<[u64]>,
}

impl SessionMemory {
    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counter of a model, with what is remembered of it.
    pub(crate) fn counter(
        &self,
        model: Option<&str>,
        counter: Arc<dyn TokenCounter>,
    ) -> Arc<RememberingCounter> {
        let remembered = &mut *self.remembered();
        match &remembered.counter {
            Some((of, known)) if of.as_deref() == model && known.name() == counter.name() => {
                known.clone()
            }
            _ => {
                // Whatever was counted was counted by another.
                remembered.candidates = None;
                let counter = Arc::new(RememberingCounter::new(counter));
                remembered.counter = Some((model.map(str::to_owned), counter.clone()));
                counter
            }
        }
    }

    /// Sessions that are copies of each other do not wait for each other to read.
    fn last(&self) -> Option<Arc<Candidates>> {
        self.remembered().candidates.clone()
    }

    /// Reads a request, of which most may be known.
    pub(crate) fn read(
        &self,
        text: Arc<str>,
        format: Option<Format>,
    ) -> Result<Request, ChatError> {
        match self.last() {
            Some(known) => Request::parse_after(text, format, known.request()),
            None => Request::parse(text, format),
        }
    }

    /// Makes the candidates of a request, of which most may be known.
    pub(crate) fn candidates(
        &self,
        request: &Request,
        counter: &dyn TokenCounter,
        options: &CandidateOptions,
    ) -> Result<Candidates, ChatError> {
        match self.last() {
            Some(known) => request.candidates_after(counter, options, &known),
            None => request.candidates(counter, options),
        }
    }

    /// Keeps what a step was made of, for the next one.
    pub(crate) fn keep(&self, candidates: Candidates, fingerprints: Arc<[u64]>) {
        let remembered = &mut *self.remembered();
        remembered.candidates = Some(Arc::new(candidates));
        remembered.fingerprints = fingerprints;
    }

    /// Makes candidates those of the last request where they are the same.
    pub(crate) fn meet(&self, candidates: &mut Candidates) {
        let remembered = &mut *self.remembered();
        let known = remembered.candidates.as_ref().map_or(&[][..], |known| known.items());
        remembered.met += candidates.reuse(known);
        if remembered.met > 2 * candidates.items().len() + 100 {
            // Most of what is known is about items that are gone.
            remembered.strategies = None;
            remembered.met = candidates.items().len();
        }
    }

    /// Strategies for a query that know the items that others have met.
    pub(crate) fn strategies(&self, query: &str) -> Strategies {
        let known = &mut self.remembered().strategies;
        known.get_or_insert_with(|| Strategies::new("")).ask(query)
    }

    /// The fingerprints of the messages of a request.
    pub(crate) fn fingerprints(&self, request: &Request) -> Arc<[u64]> {
        let (candidates, fingerprints) = {
            let Remembered { candidates, fingerprints, .. } = &*self.remembered();
            (candidates.clone(), fingerprints.clone())
        };
        match candidates {
            Some(known) => request.fingerprints_after(known.request(), &fingerprints).into(),
            None => request.fingerprints().into(),
        }
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
