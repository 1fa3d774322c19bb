//! Memory of conversations, here or in a server that several gateways share.

mod memory;
mod shared;

use std::sync::Arc;
use std::time::Instant;

use cupel_engine::{CacheRule, ConversationKey, Session, SessionState};
use cupel_page::RunPoint;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::ask::Asked;
use crate::config::{ConfigError, SessionsConfig};
use crate::record::bounded;
use crate::setup::Setup;
use crate::shape;

use memory::Memory;
use shared::Shared;

/// Most steps of a run that are remembered.
const MOST_STEPS: usize = 500;

/// Where conversations are remembered.
pub(crate) enum Store {
    /// In this process.
    Memory(Memory),
    /// In a Redis server.
    Shared(Shared),
}

/// A conversation as it is known before a request of it goes out.
pub(crate) struct Known {
    /// Its name, in the log and on the page.
    pub(crate) conversation: String,
    /// It itself.
    pub(crate) session: Session,
    /// Points of its steps.
    pub(crate) run: Arc<[RunPoint]>,
    /// Where it is written down next, and which version stands there now.
    place: Place,
}

/// Where something is written down, and which version stands there; 0 if none does.
#[derive(Debug, Clone, Copy)]
struct Place {
    key: ConversationKey,
    version: u64,
}

/// State as it is written down.
#[derive(Serialize)]
struct Written<'r> {
    conversation: &'r str,
    state: &'r SessionState,
    run: &'r [RunPoint],
}

/// State that was written down, by whomever: it is checked as that of a file is.
#[derive(Deserialize)]
struct Read {
    conversation: String,
    state: Box<RawValue>,
    run: Vec<RunPoint>,
}

impl Read {
    /// Reads it. `None` if it is not what a gateway of this release writes.
    fn of(json: &str) -> Option<(String, SessionState, Arc<[RunPoint]>)> {
        let Self { conversation, state, run } = serde_json::from_str(json).ok()?;
        let state = SessionState::from_json(state.get()).ok()?;
        let run = run[run.len().saturating_sub(MOST_STEPS)..].into();
        Some((bounded(&conversation), state, run))
    }
}

/// The size of a request, by which is reckoned what its session holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestSize {
    bytes: usize,
    objects: usize,
}

impl RequestSize {
    pub(crate) fn of(text: &str) -> Self {
        Self { bytes: text.len(), objects: shape::objects(text.as_bytes()) }
    }
}

/// State that was found.
struct Found {
    key: ConversationKey,
    version: u64,
    conversation: String,
    session: Session,
    run: Arc<[RunPoint]>,
}

impl Store {
    pub(crate) fn new(config: &SessionsConfig) -> Result<Self, ConfigError> {
        if config.store == "memory" {
            return Ok(Self::Memory(Memory::new(config)));
        }
        Shared::new(config).map(Self::Shared)
    }

    /// The conversation that a request goes on with; a new one if none is known. `false` if the server that
    /// remembers could not be asked.
    pub(crate) async fn find(&self, setup: &Setup, asked: &Asked, id: &str) -> (Known, bool) {
        let keys: Vec<ConversationKey> = asked.conversation.known_as().collect();
        let key = asked.conversation.key();
        let engine = setup.engine(asked.api);
        let mut settings = setup.sessions;
        settings.cache_rule = Some(CacheRule::of(asked.api.format()));
        let (found, is_sound) = match self {
            Self::Memory(memory) => {
                (memory.find(Instant::now(), setup.generation, engine, &keys), true)
            }
            Self::Shared(shared) => match shared.find(engine, &keys).await {
                Ok(found) => (found, true),
                Err(_) => (None, false),
            },
        };
        let known = match found {
            Some(found) => Known {
                conversation: found.conversation,
                session: found.session.with_settings(settings),
                run: found.run,
                place: Place { key, version: if found.key == key { found.version } else { 0 } },
            },
            None => Known {
                conversation: id.to_owned(),
                session: engine.session().with_settings(settings),
                run: Arc::default(),
                place: Place { key, version: 0 },
            },
        };
        (known, is_sound)
    }

    /// Writes down a conversation whose step was accepted, unless somebody else was quicker. `false`
    /// if the server that remembers could not be asked.
    pub(crate) async fn save(&self, setup: &Setup, mut known: Known, size: RequestSize) -> bool {
        if known.run.len() > MOST_STEPS {
            known.run = known.run[known.run.len() - MOST_STEPS..].into();
        }
        match self {
            Self::Memory(memory) => {
                memory.save(Instant::now(), setup.generation, known, size);
                true
            }
            Self::Shared(shared) => {
                let Some(state) = known.session.state().cloned() else { return true };
                let Known { conversation, run, place, .. } = known;
                let written = Written { conversation: &conversation, state: &state, run: &run };
                shared.save(place, &written).await.is_ok()
            }
        }
    }

    /// Number that is remembered here.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Memory(memory) => memory.count(),
            Self::Shared(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderMap;

    use super::*;
    use crate::api::Api;
    use crate::config::parse_for_tests;

    fn asked(messages: &[&str]) -> Asked {
        let said = |text: &&str| format!(r#"{{"role":"user","content":"{text}"}}"#);
        let messages: Vec<String> = messages.iter().map(said).collect();
        let body = format!(r#"{{"messages":[{}]}}"#, messages.join(","));
        let read =
            Asked::read(Api::OpenAiChat, None, &HeaderMap::new(), Vec::new(), "x", &body.into());
        read.ok().unwrap()
    }

    fn store() -> (Setup, Store) {
        let setup = Setup::new(parse_for_tests("upstream = 'http://h'"), 0).unwrap();
        let store = Store::new(&setup.config.sessions).unwrap();
        (setup, store)
    }

    #[tokio::test]
    async fn a_longer_history_goes_on_with_the_conversation_of_its_beginning() {
        let (setup, store) = store();
        let (known, is_sound) = store.find(&setup, &asked(&["a"]), "one").await;
        assert!(is_sound);
        assert_eq!((known.conversation.as_str(), known.place.version), ("one", 0));
        assert!(store.save(&setup, known, RequestSize::of("{}")).await);
        let (again, _) = store.find(&setup, &asked(&["a"]), "two").await;
        assert_eq!((again.conversation.as_str(), again.place.version), ("one", 1));
        let (longer, _) = store.find(&setup, &asked(&["a", "b"]), "three").await;
        assert_eq!((longer.conversation.as_str(), longer.place.version), ("one", 0));
        assert!(store.save(&setup, longer, RequestSize::of("{}")).await);
        assert_eq!(store.count(), 2, "both beginnings are known");
        let (other, _) = store.find(&setup, &asked(&["c"]), "four").await;
        assert_eq!(other.conversation, "four");
    }

    #[tokio::test]
    async fn of_a_long_run_the_last_steps_are_remembered() {
        let (setup, store) = store();
        let engine = cupel_engine::Engine::builder().max_tokens(100).build().unwrap();
        let step = engine.session().next(r#"[{"role":"user","content":"hi"}]"#).unwrap();
        let mut point = RunPoint::of(&step);
        let (mut known, _) = store.find(&setup, &asked(&["a"]), "one").await;
        known.run = (0..600)
            .map(|number| {
                point.number = number;
                point
            })
            .collect();
        assert!(store.save(&setup, known, RequestSize::of("{}")).await);
        let (known, _) = store.find(&setup, &asked(&["a"]), "one").await;
        assert_eq!((known.run.len(), known.run[0].number), (MOST_STEPS, 100));
    }

    #[tokio::test]
    async fn states_that_others_wrote_are_checked_as_those_of_files_are() {
        let engine = cupel_engine::Engine::builder().max_tokens(100).build().unwrap();
        let mut session = engine.session();
        session.next(r#"[{"role":"user","content":"hi"}]"#).unwrap();
        session.accept();
        let state = session.state().unwrap();
        let name = "n".repeat(5_000);
        let written = Written { conversation: &name, state, run: &[] };
        let json = serde_json::to_string(&written).unwrap();
        let (conversation, read, _) = Read::of(&json).unwrap();
        assert!(conversation.len() < 300 && read.steps == 1);
        let known = state.to_json();
        assert!(json.contains("\"steps\":1") && known.contains("steps"));
        for (from, to) in [("\"steps\":1", "\"stesp\":1"), ("\"steps\":1", "\"steps\":-1")] {
            assert!(Read::of(&json.replace(from, to)).is_none(), "{to}");
        }
    }
}
