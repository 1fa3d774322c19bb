//! The conversation that a request belongs to.

use cupel_chat::Request;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Fields by which clients name conversations.
const NAMES: [&str; 3] = ["conversation", "session", "session_id"];

/// Beginnings of a history that are looked for, the longest first. A request has few messages more than the one
/// before it; a store that is asked for more keys than this would be slow.
const MOST_BEGINNINGS: usize = 512;

/// A key for a conversation or for a beginning of one, the same on every machine: 128 bits of SHA-256, so that nobody
/// can make up a history that has the key of another's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConversationKey([u8; 16]);

impl ConversationKey {
    /// The key of texts, each with its end.
    ///
    /// ```
    /// use cupel_engine::ConversationKey;
    ///
    /// assert_ne!(ConversationKey::of(&[b"a", b"bc"]), ConversationKey::of(&[b"ab", b"c"]));
    /// ```
    #[must_use]
    pub fn of(texts: &[&[u8]]) -> Self {
        let mut digest = Sha256::new();
        for text in texts {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        let mut key = [0; 16];
        key.copy_from_slice(&digest.finalize()[..16]);
        Self(key)
    }

    /// The key of this history and one more message, by its fingerprint.
    #[must_use]
    pub fn and(self, message: u64) -> Self {
        Self::of(&[&self.0, &message.to_le_bytes()])
    }
}

impl std::fmt::Display for ConversationKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Scope of a conversation: requests of two scopes are never of one conversation.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConversationScope<'a> {
    /// The customer, by whatever tells customers apart.
    pub customer: &'a str,
    /// The interface that the request came by.
    pub api: &'a str,
    /// The model, if it is known.
    pub model: Option<&'a str>,
    /// The name of the conversation that came beside the request; without one, the request may have one itself.
    pub name: Option<&'a [u8]>,
}

/// The conversation that a request belongs to, as far as the request tells: the one that it names, or the one that has
/// the longest beginning of its history.
///
/// ```
/// use cupel_engine::{Conversation, ConversationScope, Request};
///
/// let scope = ConversationScope::default();
/// let first = Request::parse(r#"[{"role": "user", "content": "Hi"}]"#, None)?;
/// let next = r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]"#;
/// let next = Request::parse(next, None)?;
/// let (first, next) = (Conversation::of(&first, scope), Conversation::of(&next, scope));
/// assert!(next.known_as().any(|key| key == first.key()), "it goes on with the first");
/// assert_ne!(next.key(), first.key(), "but others may go on with the first, too");
/// # Ok::<(), cupel_chat::ChatError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    named: Option<ConversationKey>,
    beginnings: Vec<ConversationKey>,
}

impl Conversation {
    /// The conversation of a request.
    #[must_use]
    pub fn of(request: &Request, scope: ConversationScope<'_>) -> Self {
        let ConversationScope { customer, api, model, name } = scope;
        let name = name.map(<[u8]>::to_vec).or_else(|| name_in(request).map(String::into_bytes));
        let named = |name: Vec<u8>| ConversationKey::of(&[b"named", customer.as_bytes(), &name]);
        let model = model.unwrap_or_default().as_bytes();
        let begin = ConversationKey::of(&[b"history", customer.as_bytes(), api.as_bytes(), model]);
        let beginnings = request.fingerprints().into_iter().scan(begin, |key, message| {
            *key = key.and(message);
            Some(*key)
        });
        Self { named: name.map(named), beginnings: beginnings.collect() }
    }

    /// The keys by which it may be known, in the order in which to look: the first that is known is its own.
    pub fn known_as(&self) -> impl Iterator<Item = ConversationKey> {
        let unnamed = if self.named.is_none() { &self.beginnings[..] } else { &[] };
        self.named.into_iter().chain(unnamed.iter().rev().take(MOST_BEGINNINGS).copied())
    }

    /// The key by which its state is written down once this request was answered.
    #[must_use]
    pub fn key(&self) -> ConversationKey {
        let own = self.named.or(self.beginnings.last().copied());
        own.unwrap_or_else(|| ConversationKey::of(&[]))
    }

    /// A key for each message: that of the history up to it, so that a message behind an edit is another one.
    #[must_use]
    pub fn beginnings(&self) -> &[ConversationKey] {
        &self.beginnings
    }
}

/// The name of the conversation that a field of the request gives, however it is given.
fn name_in(request: &Request) -> Option<String> {
    // Most requests have none: then their fields need not be looked through.
    if !request.text().contains("\"conversation\"") && !request.text().contains("\"session") {
        return None;
    }
    let fields = NAMES.into_iter().filter_map(|name| request.field(name));
    fields.filter_map(|json| serde_json::from_str(json).ok()).find_map(|value| match value {
        Value::String(name) => Some(name),
        Value::Object(fields) => Some(fields.get("id")?.as_str()?.to_owned()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCOPE: ConversationScope<'_> =
        ConversationScope { customer: "c", api: "chat", model: Some("m"), name: None };

    const BODY: &str =
        r#"{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}"#;

    fn of(body: &str, scope: ConversationScope<'_>) -> Conversation {
        Conversation::of(&Request::parse(body, None).unwrap(), scope)
    }

    #[test]
    fn keys_depend_on_every_message_and_on_nothing_else() {
        let begin = ConversationKey::of(&[b"a", b"bc"]);
        assert_ne!(begin, ConversationKey::of(&[b"ab", b"c"]));
        assert_ne!(begin.and(1).and(2), begin.and(2).and(1));
        // Several gateways share a store, of one release or of two: a key must never change.
        assert_eq!(ConversationKey::of(&[]).to_string(), "e3b0c44298fc1c149afbf4c8996fb924");
        assert_eq!(begin.and(7).to_string(), "a9a91c512d0835ff92b209578a9792fb");
        assert_eq!(of(BODY, SCOPE).key().to_string(), "08ce4bbc99cb9606b941500009b6a166");
        let named = ConversationScope { name: Some(b"n"), ..SCOPE };
        assert_eq!(of(BODY, named).key().to_string(), "5bdad00f695433da5a135cc0685ee962");
    }

    #[test]
    fn a_longer_history_begins_with_the_keys_of_the_shorter() {
        let short = of(r#"{"messages":[{"role":"user","content":"a"}]}"#, SCOPE);
        let long = of(BODY, SCOPE);
        assert_eq!(long.beginnings()[..1], *short.beginnings());
        assert_eq!(long.known_as().collect::<Vec<_>>(), [long.key(), short.key()]);
        for other in [
            ConversationScope { customer: "d", ..SCOPE },
            ConversationScope { api: "messages", ..SCOPE },
            ConversationScope { model: None, ..SCOPE },
        ] {
            let other = of(BODY, other);
            assert!(long.known_as().all(|key| other.known_as().all(|theirs| theirs != key)));
        }
    }

    #[test]
    fn the_longest_beginnings_are_looked_for_and_no_more_than_a_store_can_be_asked() {
        let said = vec![r#"{"role":"user","content":"a"}"#; 600].join(",");
        let long = of(&format!(r#"{{"messages":[{said}]}}"#), SCOPE);
        let keys: Vec<_> = long.known_as().collect();
        assert_eq!((keys.len(), keys[0], keys[511]), (512, long.key(), long.beginnings()[88]));
    }

    #[test]
    fn a_conversation_is_named_beside_the_request_or_by_a_field_of_any_shape() {
        let beside = of(BODY, ConversationScope { name: Some(b"n"), ..SCOPE });
        assert_eq!(beside.known_as().collect::<Vec<_>>(), [beside.key()]);
        let field = |name: &str, value: &str| {
            of(&BODY.replacen('{', &format!("{{\"{name}\":{value},"), 1), SCOPE)
        };
        for (name, value) in [
            ("conversation", "\"n\""),
            ("conversation", "{\"id\":\"n\"}"),
            ("session", "\"n\""),
            ("session_id", "\"n\""),
        ] {
            assert_eq!(field(name, value).key(), beside.key(), "{name} {value}");
        }
        for odd in ["5", "null", "[]", "{\"id\":7}", "{}"] {
            let unnamed = of(BODY, SCOPE);
            assert_eq!(field("conversation", odd), unnamed, "{odd}");
        }
    }
}
