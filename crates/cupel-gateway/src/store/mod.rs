//! What is remembered of conversations, here or in a server that several gateways share.

mod memory;
mod shared;

use std::borrow::Cow;
use std::sync::Arc;

use cupel_engine::{Session, SessionState};
use cupel_page::RunPoint;
use serde::{Deserialize, Serialize};

use crate::ask::Asked;
use crate::config::{ConfigError, SessionsConfig};
use crate::hash::Mark;
use crate::setup::Setup;

use memory::Memory;
use shared::Shared;

/// Most steps of a run that are remembered.
const MOST_STEPS: usize = 500;

/// How many beginnings of a history are looked for, the longest first.
const MOST_PREFIXES: usize = 512;

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
    /// What its steps came to.
    pub(crate) run: Arc<[RunPoint]>,
    /// Where it is written down next, and which version stands there now.
    place: Place,
}

/// Where something is written down, and which version stands there; 0 if none does.
#[derive(Debug, Clone, Copy)]
struct Place {
    key: Mark,
    version: u64,
}

/// What is written down.
#[derive(Serialize, Deserialize)]
struct Written<'r> {
    conversation: String,
    state: SessionState,
    run: Cow<'r, [RunPoint]>,
}

/// What was found.
struct Found {
    key: Mark,
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

    /// The conversation that a request goes on with: the one it names, or the one that has the
    /// longest beginning of its history; a new one if there is none. `false` if the server that
    /// remembers could not be asked.
    pub(crate) async fn find(&self, setup: &Setup, asked: &Asked, id: &str) -> (Known, bool) {
        let keys: Vec<Mark> = match asked.named {
            Some(named) => vec![named],
            None => asked.history.iter().rev().take(MOST_PREFIXES).copied().collect(),
        };
        let key = asked.named.or(asked.history.last().copied()).unwrap_or(Mark::of(&[]));
        let engine = setup.engine(asked.api);
        let (found, is_sound) = match self {
            Self::Memory(memory) => (memory.find(setup.generation, engine, &keys), true),
            Self::Shared(shared) => match shared.find(engine, &keys).await {
                Ok(found) => (found, true),
                Err(_) => (None, false),
            },
        };
        let known = match found {
            Some(found) => Known {
                conversation: found.conversation,
                session: found.session.with_settings(setup.sessions),
                run: found.run,
                place: Place { key, version: if found.key == key { found.version } else { 0 } },
            },
            None => Known {
                conversation: id.to_owned(),
                session: engine.session().with_settings(setup.sessions),
                run: Arc::default(),
                place: Place { key, version: 0 },
            },
        };
        (known, is_sound)
    }

    /// Writes down a conversation whose step was accepted, unless somebody else was quicker. `false`
    /// if the server that remembers could not be asked.
    pub(crate) async fn save(&self, setup: &Setup, mut known: Known, bytes: usize) -> bool {
        if known.run.len() > MOST_STEPS {
            known.run = known.run[known.run.len() - MOST_STEPS..].into();
        }
        match self {
            Self::Memory(memory) => {
                memory.save(setup.generation, known, bytes);
                true
            }
            Self::Shared(shared) => {
                let Some(state) = known.session.state().cloned() else { return true };
                let Known { conversation, run, place, .. } = known;
                let run = Cow::Borrowed(&*run);
                shared.save(place, &Written { conversation, state, run }).await.is_ok()
            }
        }
    }

    /// How many are remembered here.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Memory(memory) => memory.count(),
            Self::Shared(_) => 0,
        }
    }
}
