//! One part of a request, as the page shows it.

use std::collections::BTreeMap;

use cupel_engine::{Prepared, SurveyedPart, Why};
use serde::{Deserialize, Serialize};

use crate::Texts;

/// Characters of a text that are sent: more than anyone reads in a list.
const LONGEST_TEXT: usize = 20_000;
/// Number of words and neighbours that are worth the reader's time.
const MOST_WORDS: usize = 12;
const MOST_NEIGHBOURS: usize = 2;

/// One part of a request: messages that are in or out together, or what is always in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewPart {
    /// Where it is in the request, as in `messages[3..6]`.
    pub path: String,
    /// Description, as in `assistant, 2 tool results`.
    pub what: String,
    /// Its kind, as in `ToolOutput`.
    pub kind: String,
    /// Tokens of the part.
    pub tokens: i64,
    /// The indices of its messages.
    pub messages: Vec<usize>,
    /// Why it is always in, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
    /// Score that the policy gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Beginning of the text, on one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub excerpt: String,
    /// Whole text, where that is more than the excerpt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Number of characters of the text were left off.
    #[serde(default, skip_serializing_if = "is_none_left")]
    pub more: usize,
    /// Words of the question that it has too, those that earned most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Beginnings of the neighbours that share their score with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
    /// The shorter forms that windows have it in, by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub forms: BTreeMap<usize, ViewForm>,
    /// Why it is out where that is not for want of room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

/// A shorter form of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewForm {
    /// Name of the form.
    pub name: String,
    /// Tokens of the form.
    pub tokens: i64,
    /// Text of the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_none_left(count: &usize) -> bool {
    *count == 0
}

impl ViewPart {
    pub(crate) fn of(prepared: &Prepared, surveyed: SurveyedPart, texts: Texts) -> Self {
        let SurveyedPart { part, score, mut earned_by, .. } = surveyed;
        earned_by.words.truncate(MOST_WORDS);
        earned_by.neighbours.truncate(MOST_NEIGHBOURS);
        let shows = texts != Texts::None;
        let excerpt = if shows { part.excerpt } else { String::new() };
        let whole = prepared.shown(part.position, None).map_or("", |shown| shown.text);
        let (text, more) = match texts {
            Texts::Full if whole != excerpt => beginning(whole),
            _ => (None, 0),
        };
        Self {
            path: part.path,
            what: part.what,
            kind: part.kind,
            tokens: part.tokens,
            messages: part.messages,
            pinned: part.pinned,
            score,
            excerpt,
            text,
            more,
            words: if shows { earned_by.words } else { Vec::new() },
            near: if shows { earned_by.neighbours } else { Vec::new() },
            forms: BTreeMap::new(),
            why: None,
        }
    }

    pub(crate) fn add_form(&mut self, prepared: &Prepared, at: (usize, usize), texts: Texts) {
        let (position, number) = at;
        if let Some(shown) = prepared.shown(position, Some(number)) {
            let text = if texts == Texts::Full { beginning(shown.text).0 } else { None };
            let form = ViewForm { name: shown.name.to_owned(), tokens: shown.tokens, text };
            self.forms.insert(number, form);
        }
    }
}

/// As much of a text as is sent, and how many characters are not.
fn beginning(text: &str) -> (Option<String>, usize) {
    match text.char_indices().nth(LONGEST_TEXT) {
        None => (Some(text.to_owned()), 0),
        Some((end, _)) => (Some(text[..end].to_owned()), text[end..].chars().count()),
    }
}
