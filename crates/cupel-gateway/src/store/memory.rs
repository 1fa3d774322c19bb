//! Conversations in memory: bounded, the longest unused go first.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cupel_engine::{Engine, Session};
use cupel_page::RunPoint;

use super::{Found, Known};
use crate::config::SessionsConfig;
use crate::hash::Mark;

/// How long a conversation is remembered though its provider has forgotten: its run goes on.
const LEAST_LIFETIME: Duration = Duration::from_secs(3_600);

/// Conversations in memory.
pub(crate) struct Memory {
    most: usize,
    most_bytes: usize,
    lifetime: Duration,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<Mark, Entry>,
    /// Which was used when, the oldest first.
    used: BTreeMap<u64, Mark>,
    tick: u64,
    bytes: usize,
}

struct Entry {
    version: u64,
    generation: u64,
    conversation: String,
    session: Session,
    run: Vec<RunPoint>,
    bytes: usize,
    used: u64,
    /// `None` if it is so far away that no clock tells it.
    ends: Option<Instant>,
}

impl Memory {
    pub(super) fn new(config: &SessionsConfig) -> Self {
        Self {
            most: config.conversations.max(1),
            most_bytes: config.memory.0,
            lifetime: config.lifetime.0.max(LEAST_LIFETIME),
            kept: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first of these that is known.
    pub(super) fn find(&self, generation: u64, engine: &Engine, keys: &[Mark]) -> Option<Found> {
        let kept = &mut *self.lock();
        let now = Instant::now();
        let is_alive = |entry: &Entry| entry.ends.is_none_or(|ends| now < ends);
        let key = keys.iter().find(|key| kept.entries.get(*key).is_some_and(is_alive))?;
        kept.touch(*key);
        let entry = kept.entries.get(key)?;
        let session = if entry.generation == generation {
            entry.session.clone()
        } else {
            engine.resume(entry.session.state()?.clone())
        };
        Some(Found {
            key: *key,
            version: entry.version,
            conversation: entry.conversation.clone(),
            session,
            run: entry.run.clone(),
        })
    }

    pub(super) fn save(&self, generation: u64, known: Known, bytes: usize) {
        let kept = &mut *self.lock();
        let Known { conversation, session, run, place } = known;
        let stands = kept.entries.get(&place.key).map_or(0, |entry| entry.version);
        if stands != place.version {
            return;
        }
        kept.remove(place.key);
        kept.tick += 1;
        let used = kept.tick;
        kept.used.insert(used, place.key);
        kept.bytes += bytes;
        let ends = Instant::now().checked_add(self.lifetime);
        let version = stands + 1;
        let entry = Entry { version, generation, conversation, session, run, bytes, used, ends };
        kept.entries.insert(place.key, entry);
        while kept.entries.len() > self.most || kept.bytes > self.most_bytes {
            let Some((_, oldest)) = kept.used.first_key_value() else { break };
            kept.remove(*oldest);
        }
    }

    pub(super) fn count(&self) -> usize {
        self.lock().entries.len()
    }
}

impl Kept {
    fn touch(&mut self, key: Mark) {
        self.tick += 1;
        if let Some(entry) = self.entries.get_mut(&key) {
            self.used.remove(&entry.used);
            entry.used = self.tick;
            self.used.insert(self.tick, key);
        }
    }

    fn remove(&mut self, key: Mark) {
        if let Some(entry) = self.entries.remove(&key) {
            self.used.remove(&entry.used);
            self.bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Place;
    use super::*;
    use crate::config::parse_for_tests;

    fn known(key: u64, version: u64) -> Known {
        let engine = Engine::builder().max_tokens(100).build().unwrap();
        let mut session = engine.session();
        session.next(r#"[{"role":"user","content":"hi"}]"#).unwrap();
        session.accept();
        let key = Mark::of(&[]).and(key);
        let place = Place { key, version };
        Known { conversation: format!("c{version}"), session, run: Vec::new(), place }
    }

    fn memory(config: &str) -> Memory {
        Memory::new(&parse_for_tests(&format!("[sessions]\n{config}")).sessions)
    }

    fn finds(memory: &Memory, key: u64) -> Option<Found> {
        let engine = Engine::builder().max_tokens(100).build().unwrap();
        memory.find(0, &engine, &[Mark::of(&[]).and(key)])
    }

    #[test]
    fn the_longest_unused_go_first() {
        let memory = memory("conversations = 2");
        memory.save(0, known(1, 0), 10);
        memory.save(0, known(2, 0), 10);
        assert!(finds(&memory, 1).is_some());
        memory.save(0, known(3, 0), 10);
        assert!(finds(&memory, 2).is_none(), "the longest unused");
        assert!(finds(&memory, 1).is_some() && finds(&memory, 3).is_some());
    }

    #[test]
    fn bytes_are_bounded_too() {
        let memory = memory("memory = 100");
        for key in 0..5 {
            memory.save(0, known(key, 0), 40);
        }
        assert_eq!(memory.count(), 2);
    }

    #[test]
    fn of_two_writers_the_first_wins() {
        let memory = memory("");
        memory.save(0, known(1, 0), 1);
        memory.save(0, known(1, 0), 1);
        assert_eq!(finds(&memory, 1).unwrap().version, 1);
        memory.save(0, known(1, 1), 1);
        let found = finds(&memory, 1).unwrap();
        assert_eq!((found.version, found.conversation.as_str()), (2, "c1"));
        assert_eq!(memory.count(), 1);
    }

    #[test]
    fn a_lifetime_beyond_all_clocks_is_for_ever() {
        let memory = memory("lifetime = '18446744073709551615s'");
        memory.save(0, known(1, 0), 1);
        assert!(finds(&memory, 1).is_some());
    }

    #[test]
    fn a_conversation_survives_a_new_configuration() {
        let memory = memory("");
        memory.save(0, known(1, 0), 1);
        let engine = Engine::builder().max_tokens(50).build().unwrap();
        let found = memory.find(1, &engine, &[Mark::of(&[]).and(1)]).unwrap();
        assert_eq!(found.session.state().unwrap().steps, 1);
    }
}
