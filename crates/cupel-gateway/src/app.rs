//! State that all requests share, and the part that a reload replaces.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use hyper::header::HeaderValue;
use ring::rand::SecureRandom as _;

use crate::caller::Callers;
use crate::config::{Access, ConfigError, Source};
use crate::history::History;
use crate::learnt::Learnt;
use crate::log::Log;
use crate::measure::Measures;
use crate::memory::Memory;
use crate::metrics::{Gauges, Metrics};
use crate::otel::Otel;
use crate::pins::Pins;
use crate::record::Record;
use crate::served::Served;
use crate::setup::Setup;
use crate::store::Store;
use crate::token::PageToken;

/// State that all requests share.
pub(crate) struct App {
    /// Another one at each start.
    pub(crate) instance: String,
    /// Name in `Via`.
    pub(crate) via: HeaderValue,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) history: History,
    pub(crate) learnt: Learnt,
    pub(crate) served: Arc<Served>,
    pub(crate) measures: Measures,
    pub(crate) pins: Pins,
    pub(crate) callers: Callers,
    /// Memory for requests on their way. A new size needs a new start.
    pub(crate) memory: Memory,
    /// The token of the page, unless the configuration has one.
    random_token: String,
    source: Source,
    numbers: AtomicU64,
    generations: AtomicU64,
    current: RwLock<Arc<Current>>,
    /// True if requests that go now are cut off, since the gateway stops.
    pub(crate) cuts: AtomicBool,
    /// Where it listens, once it does.
    local: OnceLock<SocketAddr>,
    /// Logs that a reload replaced, which may still have lines to write.
    retired: Mutex<Vec<Arc<Log>>>,
}

/// State that a reload replaces.
pub(crate) struct Current {
    pub(crate) setup: Setup,
    pub(crate) store: Arc<Store>,
    log: Arc<Log>,
    otel: Option<Otel>,
}

impl App {
    /// Must be called in a runtime.
    pub(crate) fn new(source: Source) -> Result<Arc<Self>, ConfigError> {
        let metrics = Arc::new(Metrics::default());
        let current = Current::new(&source, 0, None, &metrics)?;
        let memory = Memory::new(current.setup.config.server.memory.map(|size| size.0));
        let random_token = (0..4).map(|_| random_digits()).collect::<Result<String, _>>()?;
        let instance = random_digits()?;
        let via = HeaderValue::from_str(&format!("1.1 cupel-{instance}"));
        let app = Self {
            via: via.map_err(|error| ConfigError::new(error.to_string()))?,
            memory,
            random_token,
            instance,
            metrics,
            history: History::new(),
            learnt: Learnt::default(),
            served: Arc::default(),
            measures: Measures::default(),
            pins: Pins::default(),
            callers: Callers::default(),
            source,
            numbers: AtomicU64::new(0),
            generations: AtomicU64::new(0),
            current: RwLock::new(Arc::new(current)),
            cuts: AtomicBool::new(false),
            local: OnceLock::new(),
            retired: Mutex::default(),
        };
        app.bound_history();
        Ok(Arc::new(app))
    }

    /// State that holds now.
    pub(crate) fn current(&self) -> Arc<Current> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The token of the page.
    pub(crate) fn page_token(&self) -> PageToken {
        let configured = self.current().setup.config.page_token.clone();
        PageToken::new(configured.as_deref(), &self.random_token)
    }

    /// Notes where it listens, and refuses an upstream that is there.
    pub(crate) fn listens_at(&self, local: SocketAddr) -> Result<(), ConfigError> {
        let _ = self.local.set(local);
        self.current().setup.check_loops(local)
    }

    /// The number of the next request.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Where the configuration comes from.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Reads the configuration again. What cannot be read changes nothing. Requests that are on their
    /// way end as they began.
    pub(crate) fn reload(&self) -> Result<(), ConfigError> {
        let generation = self.generations.fetch_add(1, Ordering::Relaxed) + 1;
        let before = self.current();
        let made = Current::new(&self.source, generation, Some(&before), &self.metrics);
        let made = made.and_then(|made| match self.local.get() {
            Some(local) => made.setup.check_loops(*local).map(|()| made),
            None => Ok(made),
        });
        self.metrics.reloaded(if made.is_ok() { "done" } else { "refused" });
        let made = Arc::new(made?);
        if !Arc::ptr_eq(&made.log, &before.log) {
            let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
            // What nobody writes to any more ends by itself when its lines are written.
            retired.retain(|log| Arc::strong_count(log) > 1);
            retired.push(before.log.clone());
        }
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = made;
        self.learnt.clear();
        self.served.clear();
        self.measures.clear();
        self.bound_history();
        Ok(())
    }

    fn bound_history(&self) {
        let config = &self.current().setup.config;
        self.history.bound(&config.server, config.page != Access::Off);
    }

    /// Notes a request that is over.
    pub(crate) fn finish(&self, record: &Record) {
        let current = self.current();
        self.metrics.end(record);
        if record.api.is_some() {
            self.history.put(record);
        }
        if !current.log.write(record.line(current.setup.config.log_texts)) {
            self.metrics.line_lost();
        }
        if let Some(otel) = current.otel.as_ref().filter(|_| record.api.is_some()) {
            otel.send(record);
        }
    }

    /// The metrics as text.
    pub(crate) fn metrics_text(&self) -> String {
        let current = self.current();
        let lifetime = current.setup.config.server.learnt_lifetime.0;
        let (learnt, learnt_least) = self.learnt.figures(lifetime);
        let conversations = current.store.count();
        let memory = self.memory.taken();
        self.metrics.write(&Gauges { conversations, memory, learnt, learnt_least })
    }

    /// Writes what is left to be written.
    pub(crate) async fn close(&self) {
        let current = self.current();
        if let Some(otel) = &current.otel {
            otel.flush().await;
        }
        current.log.close();
        let retired =
            std::mem::take(&mut *self.retired.lock().unwrap_or_else(PoisonError::into_inner));
        for log in retired {
            log.close();
        }
    }
}

impl Current {
    fn new(
        source: &Source,
        generation: u64,
        before: Option<&Self>,
        metrics: &Arc<Metrics>,
    ) -> Result<Self, ConfigError> {
        let config = source.read()?;
        let setup = Setup::new(config, generation)?;
        let config = &setup.config;
        let old = before.map(|before| &before.setup.config);
        let sessions = &config.sessions;
        let same_store = old.is_some_and(|old| {
            let old = &old.sessions;
            old.store == sessions.store
                && old.lifetime == sessions.lifetime
                && old.patience == sessions.patience
                && (old.conversations, old.memory) == (sessions.conversations, sessions.memory)
        });
        let store = match before.filter(|_| same_store) {
            Some(before) => before.store.clone(),
            None => Arc::new(Store::new(sessions)?),
        };
        let place = |config: &crate::config::Config| {
            config.log.clone().unwrap_or_else(|| "stderr".to_owned())
        };
        let at = place(config);
        // A file is opened anew: whoever turns logs over has moved the old one away.
        let is_same = old.is_some_and(|old| place(old) == at) && !Log::is_file(&at);
        let log = match before.filter(|_| is_same) {
            Some(before) => before.log.clone(),
            None => Arc::new(Log::open(&at, config.log_texts, metrics)?),
        };
        let otel = config.otel.as_ref().map(|otel| Otel::new(otel, &setup, metrics.clone()));
        let otel = otel.transpose()?;
        Ok(Self { setup, store, log, otel })
    }
}

fn random_digits() -> Result<String, ConfigError> {
    let mut bytes = [0; 4];
    // A token that can be guessed is none.
    let filled = ring::rand::SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| ConfigError::new("the system has no random numbers"))?;
    Ok(format!("{:08x}", u32::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An app with a configuration in a file, which a test may change.
    fn app(text: &str) -> (Arc<App>, std::path::PathBuf) {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!(
            "cupel-app-{}-{}.toml",
            std::process::id(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        let source = Source { file: Some(path.clone()), ..Source::default() };
        (App::new(source).unwrap(), path)
    }

    /// Two flags: after a reload, conversations and the log are still those of before.
    fn kept(before: &str, after: &str) -> (bool, bool) {
        let (app, path) = app(before);
        let old = app.current();
        std::fs::write(&path, after).unwrap();
        app.reload().unwrap();
        let new = app.current();
        let _ = std::fs::remove_file(path);
        (Arc::ptr_eq(&old.store, &new.store), Arc::ptr_eq(&old.log, &new.log))
    }

    #[test]
    fn a_reload_keeps_conversations_unless_their_settings_changed() {
        let plain = "upstream = 'http://127.0.0.1:9'\n";
        assert_eq!(kept(plain, &format!("{plain}fail = 'closed'")), (true, true));
        for changed in ["lifetime = '7m'", "conversations = 7", "memory = '7MB'"] {
            let after = format!("{plain}[sessions]\n{changed}");
            assert_eq!(kept(plain, &after), (false, true), "{changed}");
        }
        let log = std::env::temp_dir().join(format!("cupel-app-{}.log", std::process::id()));
        let after = format!("log = '{}'\n{plain}", log.display());
        assert_eq!(kept(plain, &after), (true, false));
        let _ = std::fs::remove_file(log);
    }

    #[test]
    fn reloads_are_numbered_and_read_where_the_first_was_read() {
        let (app, path) = app("upstream = 'http://127.0.0.1:9'");
        assert_eq!(app.source().file.as_ref(), Some(&path));
        let mut generations = vec![app.current().setup.generation];
        for _ in 0..2 {
            app.reload().unwrap();
            generations.push(app.current().setup.generation);
        }
        let _ = std::fs::remove_file(path);
        assert_eq!(generations, [0, 1, 2]);
    }

    #[test]
    fn a_log_that_was_replaced_is_held_while_somebody_may_write_to_it() {
        let plain = "upstream = 'http://127.0.0.1:9'\n";
        let folder = std::env::temp_dir();
        let log = |name| folder.join(format!("cupel-retired-{}-{name}.log", std::process::id()));
        let retired = |app: &App| app.retired.lock().unwrap().len();
        for (is_held, left) in [(false, 1), (true, 2)] {
            let (app, path) = app(plain);
            let held = is_held.then(|| app.current());
            app.reload().unwrap();
            assert_eq!(retired(&app), 0, "the log is the same");
            for name in ["a", "b"] {
                std::fs::write(&path, format!("log = '{}'\n{plain}", log(name).display())).unwrap();
                app.reload().unwrap();
            }
            assert_eq!(retired(&app), left);
            drop(held);
            let _ = std::fs::remove_file(path);
        }
        for name in ["a", "b"] {
            let _ = std::fs::remove_file(log(name));
        }
    }

    #[test]
    fn a_line_that_was_written_is_not_counted_as_lost() {
        let (app, path) = app("upstream = 'http://127.0.0.1:9'");
        app.finish(&Record::for_tests(1));
        assert_eq!(app.metrics.lines_lost(), 0);
        let _ = std::fs::remove_file(path);
    }

    #[test]
    fn a_configuration_that_cannot_be_read_changes_nothing() {
        let (app, path) = app("upstream = 'http://127.0.0.1:9'");
        let old = app.current();
        std::fs::write(&path, "upstream = 3").unwrap();
        assert!(app.reload().is_err());
        assert!(Arc::ptr_eq(&old, &app.current()));
        let _ = std::fs::remove_file(path);
    }

    #[test]
    fn random_digits_are_eight_and_not_the_same_twice() {
        let digits: Vec<String> = (0..4).map(|_| random_digits().unwrap()).collect();
        assert!(
            digits.iter().all(|one| one.len() == 8 && one.bytes().all(|b| b.is_ascii_hexdigit()))
        );
        assert!(digits.iter().any(|one| *one != digits[0]), "{digits:?}");
    }
}
