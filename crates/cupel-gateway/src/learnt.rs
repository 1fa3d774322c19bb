//! Windows that upstreams told in refusals: for one upstream, model and set of keys each, and for a while.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Most windows and acceptances that are remembered; the longest unused go first.
const MOST_ENTRIES: usize = 1_000;

/// Time for which an accepted request proves that its upstream takes as much. Less than a window is
/// remembered: a server that was started again with a smaller one is believed soon.
const PROOF: Duration = Duration::from_secs(300);

/// Letters of a model's name that tell it from others.
const LONGEST_MODEL: usize = 200;

/// A window in tokens as they are counted here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LearntWindow {
    pub(crate) tokens: i64,
    /// True if the upstream counts the answer that a request asks for.
    pub(crate) counts_answer: bool,
}

/// Owner of a window. A window told to one set of keys holds for no other: keys have limits of their own,
/// and a client must not be able to lower another's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Whose {
    upstream: String,
    model: String,
    keys: String,
}

impl Whose {
    pub(crate) fn new(upstream: &str, model: Option<&str>, keys: &[String]) -> Self {
        let model = model.unwrap_or_default().chars().take(LONGEST_MODEL).collect();
        Self { upstream: upstream.to_owned(), model, keys: keys.join(" ") }
    }

    pub(crate) fn upstream(&self) -> &str {
        &self.upstream
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    window: Option<(LearntWindow, Instant)>,
    /// Most tokens of a request that was accepted, and when.
    accepted: Option<(i64, Instant)>,
    used: Instant,
}

/// Windows that upstreams told.
#[derive(Debug, Default)]
pub(crate) struct Learnt(Mutex<BTreeMap<Whose, Entry>>);

impl Learnt {
    /// The window that an upstream told within `lifetime`.
    pub(crate) fn get(&self, whose: &Whose, lifetime: Duration) -> Option<LearntWindow> {
        let mut entries = self.lock();
        let entry = entries.get_mut(whose)?;
        entry.used = Instant::now();
        let (window, at) = entry.window?;
        (at.elapsed() < lifetime).then_some(window)
    }

    /// Remembers a window, unless a larger request was accepted a moment ago. Returns whether it did.
    pub(crate) fn set(&self, whose: &Whose, window: LearntWindow) -> bool {
        let mut entries = self.lock();
        let entry = entry_of(&mut entries, whose);
        let proof = entry.accepted.filter(|(_, at)| at.elapsed() < PROOF);
        if proof.is_some_and(|(tokens, _)| tokens > window.tokens) {
            return false;
        }
        entry.window = Some((window, Instant::now()));
        true
    }

    /// Notes that an upstream took a request of so many tokens. A window below that is forgotten.
    pub(crate) fn accepted(&self, whose: &Whose, tokens: i64) {
        let mut entries = self.lock();
        let entry = entry_of(&mut entries, whose);
        let proof = entry.accepted.filter(|(_, at)| at.elapsed() < PROOF);
        if proof.is_none_or(|(most, _)| tokens >= most) {
            entry.accepted = Some((tokens, Instant::now()));
        }
        entry.window = entry.window.filter(|(window, _)| window.tokens >= tokens);
    }

    /// Windows that are remembered, for the page: nothing of the keys but that they differ.
    pub(crate) fn list(&self, lifetime: Duration) -> Value {
        let entries = self.lock();
        let living = entries.iter().filter_map(|(whose, entry)| {
            let (window, at) = entry.window?;
            let left = lifetime.checked_sub(at.elapsed())?;
            let keys = crate::hash::sha256(whose.keys.as_bytes());
            Some(json!({
                "upstream": whose.upstream,
                "model": whose.model,
                "keys": keys.get(..8),
                "tokens": window.tokens,
                "counts_answer": window.counts_answer,
                "seconds_left": left.as_secs(),
            }))
        });
        living.collect()
    }

    /// The number of windows that hold, and the least for each upstream.
    pub(crate) fn figures(&self, lifetime: Duration) -> (usize, BTreeMap<String, i64>) {
        let (mut count, mut least) = (0, BTreeMap::new());
        for (whose, entry) in self.lock().iter() {
            let Some((window, at)) = entry.window else { continue };
            if at.elapsed() < lifetime {
                count += 1;
                let known = least.entry(whose.upstream.clone()).or_insert(window.tokens);
                *known = window.tokens.min(*known);
            }
        }
        (count, least)
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Whose, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The entry of a model, for which there is room.
fn entry_of<'a>(entries: &'a mut BTreeMap<Whose, Entry>, whose: &Whose) -> &'a mut Entry {
    let now = Instant::now();
    if entries.len() >= MOST_ENTRIES && !entries.contains_key(whose) {
        let oldest =
            entries.iter().min_by_key(|(_, entry)| entry.used).map(|(whose, _)| whose.clone());
        if let Some(oldest) = oldest {
            entries.remove(&oldest);
        }
    }
    let new = Entry { window: None, accepted: None, used: now };
    let entry = entries.entry(whose.clone()).or_insert(new);
    entry.used = now;
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn whose(model: &str, key: &str) -> Whose {
        Whose::new("up", Some(model), &[key.to_owned()])
    }

    fn window(tokens: i64) -> LearntWindow {
        LearntWindow { tokens, counts_answer: false }
    }

    #[test]
    fn a_window_holds_for_one_upstream_model_and_set_of_keys_and_for_a_while() {
        let learnt = Learnt::default();
        assert!(learnt.set(&whose("m", "one"), window(500)));
        assert_eq!(learnt.get(&whose("m", "one"), HOUR), Some(window(500)));
        assert_eq!(learnt.get(&whose("m", "one"), Duration::ZERO), None);
        assert_eq!(learnt.get(&whose("m", "two"), HOUR), None, "another key");
        assert_eq!(learnt.get(&whose("n", "one"), HOUR), None, "another model");
        assert_eq!(learnt.get(&Whose::new("other", Some("m"), &["one".to_owned()]), HOUR), None);
        assert!(learnt.set(&whose("m", "one"), window(700)), "the last word counts");
        assert_eq!(learnt.get(&whose("m", "one"), HOUR), Some(window(700)));
        learnt.clear();
        assert_eq!(learnt.get(&whose("m", "one"), HOUR), None);
    }

    #[test]
    fn a_window_below_what_was_accepted_is_not_believed() {
        let learnt = Learnt::default();
        let one = whose("m", "one");
        learnt.accepted(&one, 1_000);
        learnt.accepted(&one, 200);
        assert!(!learnt.set(&one, window(999)));
        assert_eq!(learnt.get(&one, HOUR), None);
        assert!(learnt.set(&one, window(1_000)));
        learnt.accepted(&one, 1_001);
        assert_eq!(learnt.get(&one, HOUR), None, "more was accepted since");
    }

    #[test]
    fn the_longest_unused_makes_room() {
        let learnt = Learnt::default();
        for at in 0..MOST_ENTRIES {
            learnt.set(&whose(&format!("m{at}"), "k"), window(10));
        }
        learnt.get(&whose("m0", "k"), HOUR);
        learnt.set(&whose("one more", "k"), window(20));
        assert_eq!(learnt.get(&whose("m1", "k"), HOUR), None);
        assert_eq!(learnt.get(&whose("m0", "k"), HOUR), Some(window(10)), "it was asked for");
        assert_eq!(learnt.get(&whose("one more", "k"), HOUR), Some(window(20)));
        assert_eq!(learnt.figures(HOUR).0, MOST_ENTRIES);
    }

    #[test]
    fn page_and_metrics_are_told_what_holds() {
        let learnt = Learnt::default();
        learnt.set(&whose("m", "SECRET"), window(500));
        learnt.set(&whose("n", "SECRET"), window(400));
        learnt.accepted(&whose("o", "SECRET"), 5);
        let (count, least) = learnt.figures(HOUR);
        assert_eq!((count, least["up"]), (2, 400));
        let list = learnt.list(HOUR);
        assert_eq!((list[0]["model"].as_str(), list[0]["tokens"].as_i64()), (Some("m"), Some(500)));
        assert!(!list.to_string().contains("SECRET"));
        assert_eq!(learnt.list(Duration::ZERO).as_array().map(Vec::len), Some(0));
        assert_eq!(learnt.figures(Duration::ZERO).0, 0);
    }

    #[test]
    fn names_without_end_are_cut() {
        let long = "m".repeat(5_000);
        assert_eq!(whose(&long, "k"), whose(&long[..LONGEST_MODEL], "k"));
    }
}
