//! A text that is JSON.

use serde::de::IgnoredAny;

use super::elision;
use crate::walk::end_of_string;

/// A JSON object or list, or several, one on each line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document<'t> {
    /// JSON of the text: no byte order mark, no white space around it.
    text: &'t str,
    is_lines: bool,
}

/// White space of JSON.
const WHITE_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

impl<'t> Document<'t> {
    /// The document that a text is; nothing if it is none.
    pub(crate) fn read(text: &'t str) -> Option<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_matches(WHITE_SPACE);
        if is_container(text) {
            return Some(Self { text, is_lines: false });
        }
        (starts_container(text) && are_lines(text)).then_some(Self { text, is_lines: true })
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    pub(crate) fn is_lines(&self) -> bool {
        self.is_lines
    }

    /// The document without white space; lines stay lines.
    pub(crate) fn minified(&self) -> String {
        let mut minified = String::with_capacity(self.text.len());
        if !self.is_lines {
            push_minified(self.text, &mut minified);
            return minified;
        }
        for line in lines(self.text) {
            if !minified.is_empty() {
                minified.push('\n');
            }
            push_minified(line, &mut minified);
        }
        minified
    }
}

/// Appends JSON without the white space between its parts.
pub(super) fn push_minified(json: &str, minified: &mut String) {
    let bytes = json.as_bytes();
    let (mut at, mut start) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at),
            b' ' | b'\t' | b'\n' | b'\r' => {
                minified.push_str(&json[start..at]);
                at = skip_white_space(bytes, at);
                start = at;
            }
            _ => at += 1,
        }
    }
    minified.push_str(&json[start..]);
}

/// Where the string that begins at `at` ends, behind its quote.
pub(super) fn string_end(bytes: &[u8], at: usize) -> usize {
    end_of_string(bytes, at).unwrap_or(bytes.len())
}

/// The first position from `at` on that is no white space.
pub(super) fn skip_white_space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    at + blanks.count()
}

fn starts_container(text: &str) -> bool {
    text.starts_with(['{', '['])
}

fn is_container(text: &str) -> bool {
    // What is ignored is checked all the same, and without recursion.
    starts_container(text) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Returns true if each line is a container; the last may tell how many were left out.
fn are_lines(text: &str) -> bool {
    let mut lines = lines(text).peekable();
    while let Some(line) = lines.next() {
        let is_mark = lines.peek().is_none() && elision::in_list(line).is_some();
        if !is_mark && !is_container(line) {
            return false;
        }
    }
    true
}

/// The lines of a text that are not blank, without the white space around them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(|line| line.trim_matches(WHITE_SPACE)).filter(|line| !line.is_empty())
}
