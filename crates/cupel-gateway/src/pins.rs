//! Messages that somebody chose on the page to be kept, for each conversation.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cupel_engine::ConversationKey;

/// Most conversations that have such messages; the oldest go first.
const MOST_CONVERSATIONS: usize = 1_000;

/// Most messages of one.
const MOST_MESSAGES: usize = 1_000;

/// Messages to keep. Each is told by its history up to it: one that was edited, or stands behind an edit, is another.
#[derive(Debug, Default)]
pub(crate) struct Pins(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    messages: BTreeMap<String, BTreeSet<ConversationKey>>,
    /// Conversations, the oldest first.
    order: VecDeque<String>,
}

impl Pins {
    /// Keeps messages of a conversation from its next request on, or no longer.
    pub(crate) fn set(&self, conversation: &str, messages: &[ConversationKey], is_kept: bool) {
        let kept = &mut *self.lock();
        if !kept.messages.contains_key(conversation) {
            kept.order.push_back(conversation.to_owned());
        }
        let known = kept.messages.entry(conversation.to_owned()).or_default();
        for message in messages {
            if !is_kept {
                known.remove(message);
            } else if known.len() < MOST_MESSAGES {
                known.insert(*message);
            }
        }
        while kept.order.len() > MOST_CONVERSATIONS {
            let Some(oldest) = kept.order.pop_front() else { break };
            kept.messages.remove(&oldest);
        }
    }

    /// The indices of the messages to keep in a history.
    pub(crate) fn of(&self, conversation: &str, history: &[ConversationKey]) -> Vec<usize> {
        let kept = self.lock();
        let Some(known) = kept.messages.get(conversation).filter(|known| !known.is_empty()) else {
            return Vec::new();
        };
        (0..history.len()).filter(|at| known.contains(&history[*at])).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_kept_as_its_conversation_grows_and_not_once_it_is_edited() {
        let mark = |text: &str| ConversationKey::of(&[text.as_bytes()]);
        let pins = Pins::default();
        pins.set("c", &[mark("a"), mark("c")], true);
        let history = ["a", "b", "c", "d"].map(mark);
        assert_eq!(pins.of("c", &history), [0, 2]);
        assert_eq!(pins.of("c", &["a", "x", "y"].map(mark)), [0]);
        assert_eq!(pins.of("other", &history), [0; 0]);
        pins.set("c", &[mark("a")], false);
        assert_eq!(pins.of("c", &history), [2]);
    }

    #[test]
    fn the_oldest_conversations_go_first() {
        let (pins, mark) = (Pins::default(), ConversationKey::of(&[b"a"]));
        for at in 0..=MOST_CONVERSATIONS {
            pins.set(&at.to_string(), &[mark], true);
        }
        assert_eq!(pins.of("0", &[mark]), [0; 0]);
        assert_eq!(pins.of("1", &[mark]), [0]);
    }
}
