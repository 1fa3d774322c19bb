//! The conversations that are open: what was sent last in each, as fingerprints. No text is kept but
//! those of shortened messages, and what is kept is bounded.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use cupel_engine::SessionState;

use crate::judge::{Judged, WindowLayout, beginnings, coverage};
use crate::used::{Held, Used};

/// So many calls of a conversation are remembered, to tell that one is made again.
const MOST_CALLS: usize = 4_096;
/// So much of the shortened texts of a window is remembered.
const MOST_REWRITTEN_BYTES: usize = 32 << 10;
/// Bytes of a conversation beside its memory: itself, and its places in tables that are up to
/// half empty.
const OVERHEAD_BYTES: usize = size_of::<Open>() + 512;

/// Memory of a window.
#[derive(Debug, Clone)]
pub(crate) struct Remembered {
    head: u64,
    prints: Vec<u64>,
    whole: Vec<u32>,
    /// `None` if that would be too much.
    rewritten: Option<Vec<String>>,
}

impl Remembered {
    fn of(laid: &WindowLayout) -> Self {
        let bytes: usize = laid.rewritten.iter().map(String::len).sum();
        Self {
            head: laid.head,
            prints: laid.prints.clone(),
            whole: laid.whole.clone(),
            rewritten: (bytes <= MOST_REWRITTEN_BYTES).then(|| laid.rewritten.clone()),
        }
    }

    fn bytes(&self) -> usize {
        let texts = self.rewritten.iter().flatten().map(String::len).sum::<usize>();
        8 * self.prints.len() + 4 * self.whole.len() + texts
    }

    fn held(&self) -> Option<Held<'_>> {
        let rewritten = self.rewritten.as_ref()?;
        Some(Held { whole: &self.whole, rewritten })
    }
}

/// A way in a conversation: its last window, and the state of its session if it is one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Track {
    pub(crate) window: Option<Remembered>,
    pub(crate) session: Option<SessionState>,
    /// State before the last window, where a page may be wanted of that.
    pub(crate) session_before: Option<Arc<SessionState>>,
}

impl Track {
    /// The window was sent: what of it no cache had.
    pub(crate) fn send(&mut self, laid: &WindowLayout) -> i64 {
        let before = self.window.as_ref().map(|before| (before.head, &before.prints[..]));
        let uncached = laid.uncached_tokens(before);
        self.window = Some(Remembered::of(laid));
        uncached
    }

    /// Share of the values used after the last window that stood in it.
    pub(crate) fn late(&self, used: &Used) -> Option<crate::Coverage> {
        coverage(&used.values, &self.window.as_ref()?.held()?)
    }

    /// Calls that were made again after the last window had lost them.
    pub(crate) fn fetched_again(&self, used: &Used) -> usize {
        let Some(held) = self.window.as_ref().and_then(Remembered::held) else { return 0 };
        used.repeated.iter().filter(|call| !call.is_in(&held)).count()
    }

    fn bytes(&self) -> usize {
        let states = [self.session.as_ref(), self.session_before.as_deref()];
        let sessions: usize = states.into_iter().flatten().map(session_bytes).sum();
        size_of::<Self>() + self.window.as_ref().map_or(0, Remembered::bytes) + sessions
    }
}

fn session_bytes(state: &SessionState) -> usize {
    8 * (state.messages.len() + state.window.len()) + 64 * state.shortened.len() + 100
}

/// A conversation that may go on.
#[derive(Debug, Default)]
struct Open {
    name: Name,
    head: u64,
    /// The messages of its last request.
    prints: Vec<u64>,
    /// True if the log has the answer to that.
    is_answered: bool,
    /// When that was sent.
    time: Option<i64>,
    calls: HashSet<u64>,
    tracks: Vec<Track>,
    used_at: u64,
    bytes: usize,
}

/// Name of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    /// Name in the log.
    Given(Arc<str>),
    /// All messages of its last request: the next one begins with them.
    Messages(u64),
}

impl Default for Name {
    fn default() -> Self {
        Self::Messages(0)
    }
}

/// All conversations that are open.
#[derive(Debug, Default)]
pub(crate) struct Conversations {
    /// In boxes: a table that grows or makes room copies what it holds, and stays half empty.
    open: HashMap<u64, Box<Open>>,
    by_name: HashMap<Name, u64>,
    /// From when each was last heard of.
    by_age: BTreeMap<u64, u64>,
    clock: u64,
    bytes: usize,
    pub(crate) forgotten: usize,
}

impl Conversations {
    /// Takes the next request in: which conversation it is of, and what that says about it. The ways
    /// that are sessions are left to whoever asks for their tracks.
    pub(crate) fn take(&mut self, judged: &mut Judged) -> u64 {
        let id = self.find(judged);
        self.clock += 1;
        let clock = self.clock;
        let Some(open) = self.open.get_mut(&id) else { return id };
        self.by_age.remove(&open.used_at);
        self.by_age.insert(clock, id);
        open.used_at = clock;
        let outcome = &mut judged.outcome;
        let before = (!open.prints.is_empty()).then_some((open.head, &open.prints[..]));
        outcome.logged.uncached_tokens = judged.logged.uncached_tokens(before);
        outcome.cluster = id;
        // Without times the cache is taken to last, as it does while an agent works.
        let passed = outcome.time.zip(open.time).map(|(now, then)| now.saturating_sub(then));
        let is_cold = passed.is_some_and(|micros| outcome.tariff.is_cold_after(micros));
        open.time = outcome.time.or(open.time);
        judged.is_cold = is_cold;
        outcome.logged.bill(&outcome.tariff, is_cold);
        // A turn that follows the last request at once is its answer.
        let goes_on =
            !open.is_answered && !open.prints.is_empty() && judged.prints.starts_with(&open.prints);
        judged.late =
            judged.late.take().filter(|late| goes_on && late.messages == open.prints.len());
        if judged.late.is_none() {
            outcome.text_before = None;
        }
        if let Some(used) = judged.used.as_ref().or(judged.late.as_ref()) {
            let is_lost = |call: &&u64| open.calls.contains(call);
            outcome.repeated_after_loss =
                used.calls.iter().filter(is_lost).count().saturating_sub(used.repeated.len());
            outcome.repeated_calls = used.repeated.len() + outcome.repeated_after_loss;
            let room = MOST_CALLS.saturating_sub(open.calls.len());
            open.calls.extend(used.calls.iter().take(room));
        }
        open.tracks.resize_with(judged.laid.len(), Track::default);
        outcome.late = vec![None; judged.laid.len()];
        for (at, laid) in judged.laid.iter().enumerate() {
            let track = &mut open.tracks[at];
            if let Some(late) = &judged.late {
                outcome.late[at] = track.late(late);
                outcome.windows[at].fetched_again += track.fetched_again(late);
            }
            if let Some(laid) = laid {
                let sent = &mut outcome.windows[at].sent;
                sent.uncached_tokens = track.send(laid);
                sent.bill(&outcome.tariff, is_cold);
            }
        }
        open.head = judged.head;
        open.prints.clone_from(&judged.prints);
        open.is_answered = judged.used.is_some();
        if let Name::Messages(_) = open.name {
            let name = Name::Messages(whole(judged));
            self.by_name.remove(&open.name);
            self.by_name.insert(name.clone(), id);
            open.name = name;
        }
        id
    }

    /// The tracks of a conversation, to be given back.
    pub(crate) fn lend_tracks(&mut self, id: u64) -> Vec<Track> {
        self.open.get_mut(&id).map(|open| std::mem::take(&mut open.tracks)).unwrap_or_default()
    }

    pub(crate) fn give_back(&mut self, id: u64, tracks: Vec<Track>) {
        if let Some(open) = self.open.get_mut(&id) {
            open.tracks = tracks;
        }
    }

    /// Weighs these conversations anew, and forgets those that were quiet for longest if all are too
    /// much to remember.
    pub(crate) fn settle(&mut self, ids: &[u64], most_bytes: usize) {
        for id in ids {
            if let Some(open) = self.open.get_mut(id) {
                let tracks: usize = open.tracks.iter().map(Track::bytes).sum();
                let name = if let Name::Given(name) = &open.name { name.len() } else { 0 };
                let prints = 8 * (open.prints.len() + 2 * open.calls.len());
                let bytes = OVERHEAD_BYTES + name + prints + tracks;
                self.bytes = self.bytes + bytes - open.bytes;
                open.bytes = bytes;
            }
        }
        while self.bytes > most_bytes {
            let Some((_, id)) = self.by_age.pop_first() else { return };
            let Some(open) = self.open.remove(&id) else { continue };
            self.bytes -= open.bytes;
            self.forgotten += 1;
            self.by_name.remove(&open.name);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// The conversation of a request, which may begin with it.
    fn find(&mut self, judged: &Judged) -> u64 {
        let name = match &judged.outcome.conversation {
            Some(name) => Name::Given(name.as_str().into()),
            None => Name::Messages(whole(judged)),
        };
        if let Some(id) = self.known(&name, judged) {
            return id;
        }
        self.clock += 1;
        let id = self.clock;
        self.by_name.insert(name.clone(), id);
        self.by_age.insert(id, id);
        let open = Open { name, used_at: id, ..Open::default() };
        self.open.insert(id, Box::new(open));
        id
    }

    /// The conversation that is called so; of those without a name the longest of which this is more.
    fn known(&self, name: &Name, judged: &Judged) -> Option<u64> {
        if let Name::Given(_) = name {
            return self.by_name.get(name).copied();
        }
        let beginnings: Vec<u64> = beginnings(judged.head, &judged.prints).collect();
        let ids =
            beginnings.iter().rev().filter_map(|hash| self.by_name.get(&Name::Messages(*hash)));
        let is_more = |id: &u64| {
            self.open.get(id).is_some_and(|open| judged.prints.starts_with(&open.prints))
        };
        ids.copied().find(is_more)
    }
}

/// Hash of a whole request.
fn whole(judged: &Judged) -> u64 {
    beginnings(judged.head, &judged.prints).last().unwrap_or_default()
}
