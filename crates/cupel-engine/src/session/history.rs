//! Changes of the history since the last step.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::SessionState;
use crate::SentTool;

/// Why the account of a session began anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NewAccount {
    /// It is the first step.
    FirstStep,
    /// Nothing of the last request is in this one: it is another conversation.
    OtherConversation,
    /// System prompt, tools or something else beside the messages changed, and all stands behind it.
    HeadChanged,
    /// The same tools are sent in other forms, or others of them.
    ToolsChanged,
    /// The model is another one.
    ModelChanged,
    /// The format is another one.
    FormatChanged,
    /// The provider has forgotten by now.
    CacheExpired,
    /// Messages that were there have changed or gone.
    HistoryEdited,
    /// The window that stood could not be gone on with, or left out what fits.
    ChosenAnew,
}

impl NewAccount {
    /// Returns true if nothing that was sent is in the provider's cache.
    #[must_use]
    pub fn is_cold(self) -> bool {
        self != Self::HistoryEdited
    }

    /// The reason in words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::FirstStep => "the first step",
            Self::OtherConversation => {
                "nothing of the last request is in this one: another conversation"
            }
            Self::HeadChanged => "the system prompt or the tools changed",
            Self::ToolsChanged => "other tools are sent, or in other forms",
            Self::ModelChanged => "another model",
            Self::FormatChanged => "another format",
            Self::CacheExpired => "the provider has forgotten the last request by now",
            Self::HistoryEdited => "messages that were there have changed or gone",
            Self::ChosenAnew => "the last window could not be gone on with: chosen anew",
        }
    }
}

/// Fields of a request beside its messages.
pub(super) struct Setting<'a> {
    pub(super) format: &'a str,
    pub(super) model: Option<&'a str>,
    pub(super) head: u64,
    /// The tools that are sent, where they are not all sent as they are.
    pub(super) tools: &'a [SentTool],
    /// True if the provider has forgotten what it was sent.
    pub(super) is_expired: bool,
    /// True if the window is chosen anew, whatever stands.
    pub(super) is_anew: bool,
}

/// Relation of a request to the last one.
#[derive(Debug, PartialEq)]
pub(super) struct Continuation {
    /// Why the account begins anew, if it does.
    pub(super) new_account: Option<NewAccount>,
    /// The first message that is not what it was, where the history was edited.
    pub(super) edited_at: Option<usize>,
    /// The messages of the last window that stand unchanged before the first that does not, by their
    /// indices in this request, ascending.
    pub(super) standing: Vec<usize>,
    /// Number of messages at the beginning that were there before.
    pub(super) known: usize,
}

impl Continuation {
    fn cold(reason: NewAccount) -> Self {
        Self { new_account: Some(reason), edited_at: None, standing: Vec::new(), known: 0 }
    }

    pub(super) fn of(
        before: Option<&SessionState>,
        setting: &Setting<'_>,
        messages: &[u64],
    ) -> Self {
        let Some(before) = before else { return Self::cold(NewAccount::FirstStep) };
        let pairs = before.messages.iter().zip(messages);
        let common = pairs.take_while(|(old, new)| old.0 == **new).count();
        if before.format != setting.format {
            return Self::cold(NewAccount::FormatChanged);
        }
        let standing = standing(before, messages, common);
        if standing.is_empty() && common == 0 && !before.messages.is_empty() {
            return Self::cold(NewAccount::OtherConversation);
        }
        if before.model.as_deref() != setting.model {
            return Self::cold(NewAccount::ModelChanged);
        }
        if before.head.0 != setting.head {
            return Self::cold(NewAccount::HeadChanged);
        }
        if before.tools != setting.tools {
            return Self::cold(NewAccount::ToolsChanged);
        }
        if setting.is_anew {
            return Self::cold(NewAccount::ChosenAnew);
        }
        if setting.is_expired {
            return Self::cold(NewAccount::CacheExpired);
        }
        let is_edited = common < before.messages.len() && common < messages.len();
        Self {
            new_account: is_edited.then_some(NewAccount::HistoryEdited),
            edited_at: is_edited.then_some(common),
            standing,
            known: common,
        }
    }
}

/// The last window as far as its messages are still there, in their order. What was left out of it
/// may have changed: the provider never saw that.
fn standing(before: &SessionState, messages: &[u64], common: usize) -> Vec<usize> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    if common < before.messages.len() {
        for (at, fingerprint) in messages.iter().enumerate().skip(common) {
            places.entry(*fingerprint).or_default().push(at);
        }
    }
    let mut standing: Vec<usize> = Vec::with_capacity(before.window.len());
    for old in &before.window {
        let next = standing.last().map_or(0, |last| last + 1);
        let place = if *old < common {
            Some(*old)
        } else {
            let places = before.messages.get(*old).and_then(|print| places.get(&print.0));
            places.and_then(|places| {
                let at = places.partition_point(|place| *place < next);
                places.get(at).copied()
            })
        };
        match place {
            Some(at) if at >= next => standing.push(at),
            _ => break,
        }
    }
    standing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Fingerprint;

    const SETTING: Setting<'_> = Setting {
        format: "openai-chat",
        model: Some("m"),
        head: 7,
        tools: &[],
        is_expired: false,
        is_anew: false,
    };

    fn state(messages: &[u64], window: &[usize]) -> SessionState {
        SessionState {
            format: "openai-chat".to_owned(),
            model: Some("m".to_owned()),
            head: Fingerprint(7),
            messages: messages.iter().copied().map(Fingerprint).collect(),
            window: window.to_vec(),
            ..SessionState::default()
        }
    }

    fn of(before: &SessionState, messages: &[u64]) -> Continuation {
        Continuation::of(Some(before), &SETTING, messages)
    }

    #[test]
    fn a_history_that_grows_keeps_its_window() {
        let found = of(&state(&[1, 2, 3], &[0, 2]), &[1, 2, 3, 4]);
        assert_eq!(found.new_account, None);
        assert_eq!((found.standing, found.known), (vec![0, 2], 3));
        assert_eq!(found.edited_at, None);
    }

    #[test]
    fn a_shorter_history_keeps_what_is_left_of_it_and_its_account() {
        let found = of(&state(&[1, 2, 3, 4], &[0, 2, 3]), &[1, 2, 3]);
        assert_eq!(found.new_account, None);
        assert_eq!((found.standing, found.known), (vec![0, 2], 3));
        assert_eq!(found.edited_at, None);
    }

    #[test]
    fn an_edit_cuts_at_the_first_message_that_changed() {
        let found = of(&state(&[1, 2, 3, 4], &[0, 1, 2, 3]), &[1, 9, 3, 4, 5]);
        assert_eq!(found.new_account, Some(NewAccount::HistoryEdited));
        assert_eq!((found.edited_at, found.standing), (Some(1), vec![0]));
    }

    #[test]
    fn what_was_left_out_may_change_or_go() {
        let gone = of(&state(&[1, 2, 3, 4], &[0, 2, 3]), &[1, 3, 4, 5]);
        assert_eq!((gone.edited_at, gone.standing), (Some(1), vec![0, 1, 2]));
        let changed = of(&state(&[1, 2, 3], &[0, 2]), &[1, 9, 3, 4]);
        assert_eq!((changed.edited_at, changed.standing), (Some(1), vec![0, 2]));
    }

    #[test]
    fn a_message_that_is_repeated_is_told_from_its_first_place() {
        let found = of(&state(&[1, 5, 5, 2], &[0, 2, 3]), &[1, 5, 5, 2, 5]);
        assert_eq!(found.standing, [0, 2, 3]);
        let edited = of(&state(&[1, 8, 5, 5], &[0, 2, 3]), &[1, 5, 5]);
        assert_eq!(edited.standing, [0, 1, 2]);
    }

    #[test]
    fn whatever_stands_before_all_messages_begins_anew() {
        let before = state(&[1, 2], &[0, 1]);
        let reason = |setting: &Setting<'_>, messages: &[u64]| {
            let found = Continuation::of(Some(&before), setting, messages);
            assert!(found.standing.is_empty() && found.known == 0);
            found.new_account.unwrap()
        };
        let same = [1, 2];
        assert_eq!(reason(&Setting { head: 8, ..SETTING }, &same), NewAccount::HeadChanged);
        assert_eq!(reason(&Setting { model: None, ..SETTING }, &same), NewAccount::ModelChanged);
        let other = Setting { format: "gemini", ..SETTING };
        assert_eq!(reason(&other, &same), NewAccount::FormatChanged);
        let late = Setting { is_expired: true, ..SETTING };
        assert_eq!(reason(&late, &same), NewAccount::CacheExpired);
        let anew = Setting { is_anew: true, is_expired: true, ..SETTING };
        assert_eq!(reason(&anew, &same), NewAccount::ChosenAnew, "whatever else there is");
        assert_eq!(reason(&SETTING, &[8, 9]), NewAccount::OtherConversation);
        let first = Continuation::of(None, &SETTING, &same);
        assert_eq!(first.new_account, Some(NewAccount::FirstStep));
    }

    #[test]
    fn only_an_edit_leaves_something_in_the_cache() {
        use NewAccount::{
            CacheExpired, ChosenAnew, FirstStep, FormatChanged, HeadChanged, HistoryEdited,
            ModelChanged, OtherConversation,
        };
        let cold = [
            FirstStep,
            OtherConversation,
            HeadChanged,
            ModelChanged,
            FormatChanged,
            CacheExpired,
            ChosenAnew,
        ];
        assert!(cold.into_iter().all(NewAccount::is_cold) && !HistoryEdited.is_cold());
        assert_eq!(HistoryEdited.text(), "messages that were there have changed or gone");
    }

    #[test]
    fn a_conversation_is_the_same_while_anything_of_it_is_there() {
        let first_changed = of(&state(&[1, 2], &[1]), &[9, 2, 3]);
        assert_eq!(first_changed.new_account, Some(NewAccount::HistoryEdited));
        assert_eq!((first_changed.edited_at, first_changed.standing), (Some(0), vec![1]));
        let window_changed = of(&state(&[1, 2, 3], &[2]), &[1, 2, 9]);
        assert_eq!(window_changed.new_account, Some(NewAccount::HistoryEdited));
        assert_eq!((window_changed.known, window_changed.standing), (2, vec![]));
        let begun = of(&state(&[], &[]), &[1]);
        assert_eq!(begun.new_account, None, "nothing was said before");
    }

    #[test]
    fn a_window_stands_as_far_as_its_messages_rise() {
        assert_eq!(of(&state(&[1, 2, 3], &[1, 0, 2]), &[1, 2, 3, 4]).standing, [1]);
    }
}
