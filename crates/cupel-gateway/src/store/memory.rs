//! Conversations in memory: bounded, the longest unused go first.
//!
//! Most of what a session holds are texts that are read and counted, so that its next step takes less
//! time. Where that is too much, it goes first: the longest unused become cold, and have their state
//! alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cupel_engine::{ConversationKey, Engine, Session};
use cupel_page::RunPoint;

use super::{Found, Known, RequestSize};
use crate::config::SessionsConfig;

/// Time that a conversation is remembered though its provider has forgotten: its run goes on.
const LEAST_LIFETIME: Duration = Duration::from_secs(3_600);

/// Bytes that a session is taken to hold for each byte of its last request: the request, its parts, and
/// what is known of their words. A thousand conversations of 200 messages came to some eleven.
const HELD: usize = 12;

/// Bytes that it is taken to hold where its messages are small: for each object of the request, and for each
/// byte beside that. A request of 20,000 messages of 50 bytes came to 2,700 for each message.
const OF_OBJECT: usize = 3_000;
const OF_BYTE: usize = 4;

/// Bytes that a session is taken to hold whose last request had so many bytes and objects.
fn held(request: RequestSize) -> usize {
    let RequestSize { bytes, objects } = request;
    let of_objects =
        objects.saturating_mul(OF_OBJECT).saturating_add(bytes.saturating_mul(OF_BYTE));
    bytes.saturating_mul(HELD).max(of_objects)
}

/// Bytes of an entry, and of a message in a state and a step in a run.
const OF_ENTRY: usize = 2_048;
const OF_MESSAGE: usize = 24;

/// Conversations in memory.
pub(crate) struct Memory {
    most: usize,
    most_bytes: usize,
    lifetime: Duration,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<ConversationKey, Entry>,
    /// Which was used when, the oldest first.
    used: BTreeMap<u64, ConversationKey>,
    /// Those of them that are warm.
    warm: BTreeMap<u64, ConversationKey>,
    tick: u64,
    bytes: usize,
}

struct Entry {
    version: u64,
    generation: u64,
    conversation: String,
    session: Session,
    run: Arc<[RunPoint]>,
    /// Bytes of its state and its run.
    bytes: usize,
    /// Bytes that its session holds; 0 if it is cold.
    held: usize,
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

    /// The first of these that is known and has not ended.
    pub(super) fn find(
        &self,
        now: Instant,
        generation: u64,
        engine: &Engine,
        keys: &[ConversationKey],
    ) -> Option<Found> {
        let kept = &mut *self.lock();
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

    /// Remembers a conversation whose last request had this size.
    pub(super) fn save(&self, now: Instant, generation: u64, known: Known, request: RequestSize) {
        let kept = &mut *self.lock();
        let Known { conversation, session, run, place } = known;
        let stands = kept.entries.get(&place.key).map_or(0, |entry| entry.version);
        if stands != place.version {
            return;
        }
        kept.remove(place.key);
        kept.tick += 1;
        let messages = session.state().map_or(0, |state| state.messages.len());
        let bytes = OF_ENTRY + OF_MESSAGE * messages + size_of_val(&*run);
        let entry = Entry {
            version: stands + 1,
            generation,
            conversation,
            session,
            run,
            bytes,
            held: held(request),
            used: kept.tick,
            ends: now.checked_add(self.lifetime),
        };
        kept.insert(place.key, entry);
        while kept.entries.len() > self.most {
            kept.drop_oldest();
        }
        while kept.bytes > self.most_bytes && kept.cool_oldest() {}
        while kept.bytes > self.most_bytes && kept.drop_oldest() {}
    }

    pub(super) fn count(&self) -> usize {
        self.lock().entries.len()
    }
}

impl Kept {
    fn touch(&mut self, key: ConversationKey) {
        self.tick += 1;
        if let Some(mut entry) = self.remove(key) {
            entry.used = self.tick;
            self.insert(key, entry);
        }
    }

    fn insert(&mut self, key: ConversationKey, entry: Entry) {
        self.bytes += entry.bytes + entry.held;
        self.used.insert(entry.used, key);
        if entry.held > 0 {
            self.warm.insert(entry.used, key);
        }
        self.entries.insert(key, entry);
    }

    fn remove(&mut self, key: ConversationKey) -> Option<Entry> {
        let entry = self.entries.remove(&key)?;
        self.used.remove(&entry.used);
        self.warm.remove(&entry.used);
        self.bytes -= entry.bytes + entry.held;
        Some(entry)
    }

    /// Leaves the longest unused of those that are warm its state alone. `false` if there is none.
    fn cool_oldest(&mut self) -> bool {
        let Some((_, key)) = self.warm.pop_first() else { return false };
        let Some(entry) = self.entries.get_mut(&key) else { return true };
        if let Some(state) = entry.session.state() {
            entry.session = entry.session.engine().resume(state.clone());
        }
        self.bytes -= std::mem::take(&mut entry.held);
        true
    }

    /// Forgets the longest unused. `false` if there is none.
    fn drop_oldest(&mut self) -> bool {
        let oldest = self.used.first_key_value().map(|(_, key)| *key);
        oldest.is_some_and(|key| self.remove(key).is_some())
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
        let key = ConversationKey::of(&[]).and(key);
        let place = Place { key, version };
        Known { conversation: format!("c{version}"), session, run: Arc::default(), place }
    }

    /// A request of so many bytes in a text or two.
    fn plain(bytes: usize) -> RequestSize {
        RequestSize { bytes, objects: 0 }
    }

    #[test]
    fn small_messages_hold_more_than_their_bytes() {
        let size = |bytes, objects| held(RequestSize { bytes, objects });
        assert_eq!(size(1_000_000, 20), 12_000_000);
        assert_eq!(size(1_000_000, 20_000), 64_000_000, "of 50 bytes each");
        assert_eq!(size(usize::MAX, usize::MAX), usize::MAX);
        let memory = memory("memory = '1MB'");
        for key in 0..20 {
            let request = RequestSize { bytes: 5_000, objects: 100 };
            memory.save(Instant::now(), 0, known(key, 0), request);
        }
        assert_eq!(memory.lock().warm.len(), 2, "320 kB each, beside their states");
    }

    fn memory(config: &str) -> Memory {
        Memory::new(&parse_for_tests(&format!("[sessions]\n{config}")).sessions)
    }

    fn finds(memory: &Memory, key: u64) -> Option<Found> {
        let engine = Engine::builder().max_tokens(100).build().unwrap();
        memory.find(Instant::now(), 0, &engine, &[ConversationKey::of(&[]).and(key)])
    }

    #[test]
    fn the_longest_unused_go_first() {
        let memory = memory("conversations = 2");
        memory.save(Instant::now(), 0, known(1, 0), plain(10));
        memory.save(Instant::now(), 0, known(2, 0), plain(10));
        assert!(finds(&memory, 1).is_some());
        memory.save(Instant::now(), 0, known(3, 0), plain(10));
        assert!(finds(&memory, 2).is_none(), "the longest unused");
        assert!(finds(&memory, 1).is_some() && finds(&memory, 3).is_some());
    }

    #[test]
    fn bytes_are_bounded_too() {
        let memory = memory("memory = '50kB'");
        for key in 0..50 {
            memory.save(Instant::now(), 0, known(key, 0), plain(2_000));
            assert!(memory.lock().bytes <= 50_000);
        }
        let (count, warm) = (memory.count(), memory.lock().warm.len());
        assert!((10..50).contains(&count) && warm == 0, "{count} {warm}");
        assert!(finds(&memory, 49).is_some(), "the last one stays");
    }

    #[test]
    fn what_is_cold_goes_on_where_it_was() {
        let memory = memory("memory = '100kB'");
        for key in 0..10 {
            memory.save(Instant::now(), 0, known(key, 0), plain(4_000));
        }
        assert_eq!(memory.count(), 10, "states are small");
        let warm = memory.lock().warm.len();
        assert!((1..10).contains(&warm), "{warm}");
        let cold = finds(&memory, 0).unwrap();
        assert_eq!((cold.version, cold.session.state().unwrap().steps), (1, 1));
    }

    #[test]
    fn of_two_writers_the_first_wins() {
        let memory = memory("");
        memory.save(Instant::now(), 0, known(1, 0), plain(1));
        memory.save(Instant::now(), 0, known(1, 0), plain(1));
        assert_eq!(finds(&memory, 1).unwrap().version, 1);
        memory.save(Instant::now(), 0, known(1, 1), plain(1));
        let found = finds(&memory, 1).unwrap();
        assert_eq!((found.version, found.conversation.as_str()), (2, "c1"));
        assert_eq!(memory.count(), 1);
    }

    #[test]
    fn a_conversation_ends_when_nothing_was_said_for_its_lifetime() {
        let engine = Engine::builder().max_tokens(100).build().unwrap();
        let start = Instant::now();
        let key = ConversationKey::of(&[]).and(1);
        for (config, seconds) in [("lifetime = '2h'", 7_200), ("lifetime = '5m'", 3_600)] {
            let memory = memory(config);
            memory.save(start, 0, known(1, 0), plain(1));
            let finds = |after| {
                memory.find(start + Duration::from_secs(after), 0, &engine, &[key]).is_some()
            };
            assert!(finds(seconds - 1), "{config}");
            assert!(!finds(seconds), "{config}");
        }
    }

    #[test]
    fn a_conversation_that_has_ended_gives_way_to_a_shorter_beginning_that_has_not() {
        let engine = Engine::builder().max_tokens(100).build().unwrap();
        let memory = memory("lifetime = '1h'");
        let start = Instant::now();
        let later = start + Duration::from_secs(3_000);
        memory.save(start, 0, known(1, 0), plain(1));
        memory.save(later, 0, known(2, 0), plain(1));
        let [long, short] = [1, 2].map(|key| ConversationKey::of(&[]).and(key));
        let end = start + Duration::from_secs(3_600);
        let found = memory.find(end, 0, &engine, &[long, short]).unwrap();
        assert!(found.key == short);
        let found = memory.find(later, 0, &engine, &[long, short]).unwrap();
        assert!(found.key == long, "the first that is known");
    }

    #[test]
    fn a_lifetime_beyond_all_clocks_is_for_ever() {
        let memory = memory("lifetime = '18446744073709551615s'");
        memory.save(Instant::now(), 0, known(1, 0), plain(1));
        assert!(finds(&memory, 1).is_some());
    }

    #[test]
    fn a_conversation_survives_a_new_configuration() {
        let memory = memory("");
        memory.save(Instant::now(), 0, known(1, 0), plain(1));
        let engine = Engine::builder().max_tokens(50).build().unwrap();
        let found =
            memory.find(Instant::now(), 1, &engine, &[ConversationKey::of(&[]).and(1)]).unwrap();
        assert_eq!(found.session.state().unwrap().steps, 1);
        let budget = |mut found: Found| {
            let step = found.session.next(r#"[{"role":"user","content":"hi"}]"#).unwrap();
            step.summary.budget.max_tokens
        };
        assert_eq!(budget(found), 50, "by the new configuration");
        let same =
            memory.find(Instant::now(), 0, &engine, &[ConversationKey::of(&[]).and(1)]).unwrap();
        assert_eq!(budget(same), 100, "as it was");
    }

    /// The bytes of an entry: one message, no run, a request of ten bytes.
    const OF_KNOWN: usize = 2_048 + 24 + 12 * 10;

    #[test]
    fn bytes_are_those_of_messages_runs_and_the_last_request() {
        let memory = memory("");
        memory.save(Instant::now(), 0, known(1, 0), plain(10));
        assert_eq!(memory.lock().bytes, OF_KNOWN);
        memory.save(Instant::now(), 0, known(1, 1), plain(10));
        assert_eq!(memory.lock().bytes, OF_KNOWN, "the new version replaces the old");

        let mut longer = known(2, 0);
        let two = r#"[{"role":"user","content":"hi"},{"role":"user","content":"ho"}]"#;
        let step = longer.session.next(two).unwrap();
        longer.session.accept();
        longer.run = [RunPoint::of(&step)].into();
        memory.save(Instant::now(), 0, longer, plain(10));
        let more = 24 + size_of::<RunPoint>();
        assert_eq!(memory.lock().bytes, 2 * OF_KNOWN + more);
    }

    #[test]
    fn exactly_full_is_not_too_full() {
        let kept = |bytes: usize| {
            let memory = memory(&format!("memory = {bytes}"));
            memory.save(Instant::now(), 0, known(1, 0), plain(10));
            memory.save(Instant::now(), 0, known(2, 0), plain(10));
            let warm = memory.lock().warm.len();
            (memory.count(), warm)
        };
        assert_eq!(kept(2 * OF_KNOWN), (2, 2));
        assert_eq!(kept(2 * OF_KNOWN - 1), (2, 1));
        let cold = OF_KNOWN - 12 * 10;
        assert_eq!(kept(2 * cold), (2, 0));
        assert_eq!(kept(2 * cold - 1), (1, 0));
    }
}
