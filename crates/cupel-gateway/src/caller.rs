//! Part of an agent that asks: itself, a sub-agent that it started, or a side call, as for a title.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cupel_engine::ConversationKey;
use cupel_page::RowCaller;
use hyper::header::{HeaderMap, HeaderValue, USER_AGENT};

/// Headers in which agents name the session that a request is of.
const SESSION_HEADERS: [&str; 6] = [
    "x-claude-code-session-id",
    "session-id",
    "session_id",
    "x-opencode-session",
    "x-session-id",
    "x-session-affinity",
];

/// Headers that only requests of sub-agents have.
const SUB_AGENT_HEADERS: [&str; 3] =
    ["x-claude-code-agent-id", "x-claude-code-parent-agent-id", "x-openai-subagent"];

/// Time after its last request for which an agent that names no session is taken to be the same.
const SAME: Duration = Duration::from_secs(600);

/// Most sessions that are remembered; the longest unused go first.
const MOST_SESSIONS: usize = 1_000;

/// Most conversations of a session that are remembered.
const MOST_CONVERSATIONS: usize = 200;

/// Fields of a request that tell which part of an agent sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The session that it names, or who its client is.
    session: ConversationKey,
    names_session: bool,
    says_sub_agent: bool,
    /// System prompt and tools; `None` if it has no tools.
    head: Option<u64>,
}

impl Caller {
    /// `head` is the fingerprint of system prompt and tools, if there are tools.
    pub(crate) fn of(headers: &HeaderMap, scope: &str, head: Option<u64>) -> Self {
        let named = SESSION_HEADERS.iter().find_map(|name| headers.get(*name));
        let client = named.or_else(|| headers.get(USER_AGENT));
        let client = client.map(HeaderValue::as_bytes).unwrap_or_default();
        Self {
            session: ConversationKey::of(&[scope.as_bytes(), client]),
            names_session: named.is_some(),
            says_sub_agent: SUB_AGENT_HEADERS.iter().any(|name| headers.contains_key(*name)),
            head,
        }
    }
}

#[derive(Debug)]
struct Session {
    /// The head of the agent itself: the first with tools.
    head: Option<u64>,
    /// Parts by the heads of their requests: heads change a little in the course of a conversation.
    known: BTreeMap<String, Option<RowCaller>>,
    used: Instant,
}

/// The sessions of agents.
#[derive(Debug, Default)]
pub(crate) struct Callers(Mutex<BTreeMap<ConversationKey, Session>>);

impl Callers {
    /// Part that sends a request; `None` if nothing tells the agent itself from a plain program.
    pub(crate) fn tell(&self, caller: &Caller, conversation: &str) -> Option<RowCaller> {
        let mut sessions = self.lock();
        let now = Instant::now();
        let new = || Session { head: None, known: BTreeMap::new(), used: now };
        let session = sessions.entry(caller.session).or_insert_with(new);
        if !caller.names_session && session.used.elapsed() > SAME {
            *session = new();
        }
        session.used = now;
        let told = match (caller.head, session.head) {
            _ if caller.says_sub_agent => Some(RowCaller::SubAgent),
            _ if session.known.contains_key(conversation) => session.known[conversation],
            (Some(head), None) => {
                session.head = Some(head);
                None
            }
            (Some(head), Some(own)) => (head != own).then_some(RowCaller::SubAgent),
            (None, own) => (own.is_some() || caller.names_session).then_some(RowCaller::SideCall),
        };
        if session.known.len() < MOST_CONVERSATIONS {
            session.known.insert(conversation.to_owned(), told);
        }
        while sessions.len() > MOST_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.used);
            let Some(oldest) = oldest.map(|(mark, _)| *mark) else { break };
            sessions.remove(&oldest);
        }
        told
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ConversationKey, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(headers: &[(&'static str, &str)], head: Option<&str>) -> Caller {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        Caller::of(&map, "keys", head.map(|head| head.len() as u64))
    }

    #[test]
    fn an_agent_its_sub_agents_and_its_side_calls_are_told_apart() {
        let callers = Callers::default();
        let tell = |headers: &[(&'static str, &str)], head, conversation| {
            callers.tell(&caller(headers, head), conversation)
        };
        let session = [("x-claude-code-session-id", "s")];
        assert_eq!(tell(&session, None, "1"), Some(RowCaller::SideCall), "a title");
        assert_eq!(tell(&session, Some("main"), "2"), None);
        assert_eq!(tell(&session, Some("main, a tool more"), "2"), None, "as it was");
        assert_eq!(tell(&session, Some("main"), "3"), None, "begun anew");
        let other = [("x-claude-code-session-id", "t")];
        assert_eq!(tell(&other, Some("else"), "4"), None, "another session");
        assert_eq!(tell(&session, Some("sub"), "5"), Some(RowCaller::SubAgent));
        let says = [session[0], ("x-claude-code-agent-id", "a")];
        assert_eq!(tell(&says, Some("main"), "6"), Some(RowCaller::SubAgent));
    }

    #[test]
    fn a_program_that_names_no_session_is_known_by_its_name_and_a_plain_chat_is_nothing() {
        let callers = Callers::default();
        let chat = [("user-agent", "chat/1")];
        assert_eq!(callers.tell(&caller(&chat, None), "1"), None);
        assert_eq!(callers.tell(&caller(&chat, None), "2"), None);
        let agent = [("user-agent", "agent/1")];
        assert_eq!(callers.tell(&caller(&agent, Some("main")), "3"), None);
        assert_eq!(callers.tell(&caller(&agent, None), "4"), Some(RowCaller::SideCall));
        assert_eq!(callers.tell(&caller(&agent, Some("sub")), "5"), Some(RowCaller::SubAgent));
    }
}
