//! Conversations in a Redis server, for gateways that share the work.
//!
//! Under each key stands one version of one state: its number, a space, and JSON. Who writes says
//! which version it knew, and the server writes only if that one still stands there.

use std::time::Duration;

use cupel_engine::{ConversationKey, Engine};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, Script};

use super::{Found, Place, Read, Written};
use crate::config::{ConfigError, SessionsConfig};

/// Longest that a server is asked to remember: what is longer overflows its clock.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

const COMPARE_AND_SET: &str = "\
local stands = redis.call('GET', KEYS[1])
local version = 0
if stands then version = tonumber(string.match(stands, '^%d+') or '0') end
if version ~= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1";

/// Conversations in a Redis server.
pub(crate) struct Shared {
    connection: ConnectionManager,
    script: Script,
    lifetime: Duration,
    patience: Duration,
}

/// The server did not answer, or not sensibly; the request goes on without.
pub(super) struct NoServer;

impl Shared {
    pub(super) fn new(config: &SessionsConfig) -> Result<Self, ConfigError> {
        let wrong = |problem: &str| {
            // The address may have a password in it.
            ConfigError::new(format!("sessions.store: {problem}; write `memory` or redis://host"))
        };
        let client = Client::open(config.store.as_str()).map_err(|_| wrong("is no address"))?;
        let patience = config.patience.0;
        let settings = ConnectionManagerConfig::new()
            .set_number_of_retries(1)
            .set_response_timeout(Some(patience))
            .set_connection_timeout(Some(patience));
        let connection = ConnectionManager::new_lazy_with_config(client, settings)
            .map_err(|_| wrong("cannot be used"))?;
        Ok(Self {
            connection,
            script: Script::new(COMPARE_AND_SET),
            lifetime: config.lifetime.0.clamp(Duration::from_secs(1), LONGEST),
            patience,
        })
    }

    /// The first of these that is known.
    pub(super) async fn find(
        &self,
        engine: &Engine,
        keys: &[ConversationKey],
    ) -> Result<Option<Found>, NoServer> {
        if keys.is_empty() {
            return Ok(None);
        }
        let names: Vec<String> = keys.iter().map(name).collect();
        let mut connection = self.connection.clone();
        let mut ask = redis::cmd("MGET");
        ask.arg(&names);
        let asked = ask.query_async::<Vec<Option<String>>>(&mut connection);
        let answers = tokio::time::timeout(self.patience, asked).await;
        let answers = answers.map_err(|_| NoServer)?.map_err(|_| NoServer)?;
        let found = keys.iter().zip(answers).find_map(|(key, text)| Some((*key, text?)));
        let Some((key, text)) = found else { return Ok(None) };
        // What cannot be read is of another release: the conversation begins anew.
        let Some((version, json)) = text.split_once(' ') else { return Ok(None) };
        let version = version.parse().unwrap_or(0);
        let Some((conversation, state, run)) = Read::of(json) else { return Ok(None) };
        let session = engine.resume(state);
        Ok(Some(Found { key, version, conversation, session, run }))
    }

    pub(super) async fn save(&self, place: Place, written: &Written<'_>) -> Result<bool, NoServer> {
        let json = serde_json::to_string(written).map_err(|_| NoServer)?;
        let mut connection = self.connection.clone();
        let mut call = self.script.key(name(&place.key));
        call.arg(place.version).arg(format!("{} {json}", place.version + 1));
        call.arg(u64::try_from(self.lifetime.as_millis()).unwrap_or(u64::MAX));
        let called = call.invoke_async::<i64>(&mut connection);
        let answer = tokio::time::timeout(self.patience, called).await;
        Ok(answer.map_err(|_| NoServer)?.map_err(|_| NoServer)? == 1)
    }
}

fn name(key: &ConversationKey) -> String {
    format!("cupel:1:{key}")
}
