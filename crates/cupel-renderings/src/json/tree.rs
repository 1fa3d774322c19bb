//! The entries of a document, in a flat list.

use std::collections::HashSet;

use super::class::{Class, REPEAT};
use super::document::{Document, skip_white_space, string_end};
use super::{cost, elision};
use crate::walk::end_of_nested;

/// Deeper values are taken as one: nobody writes such JSON by hand, and no walk from a value up
/// to its document gets long.
const DEEPEST: usize = 128;

/// No entry is the parent of the outermost one.
pub(super) const NO_PARENT: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A value that is taken or left as a whole.
    Value,
    /// The same, of words: the more, the more is lost without it.
    Prose,
    /// A container of which nothing is left but the mark that says so; taken or left as a whole.
    Hollow,
    /// Tells how many entries of its parent were left out already.
    Mark,
    Object,
    List,
    /// The document, if it is one object or list on each line.
    Lines,
}

impl Kind {
    pub(super) fn is_container(self) -> bool {
        matches!(self, Self::Object | Self::List | Self::Lines)
    }
}

/// A value with its key, as it stands in the text. Offsets are short, as there may be many millions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Where its key begins, or its value if it has no key.
    start: u32,
    /// Where its value begins.
    value: u32,
    end: u32,
    pub(super) parent: u32,
    /// Cost of writing it, in the units of `cost`; of a container, to write it without content.
    pub(super) cost: u32,
    /// Weight, in hundredths; of a container, of its key alone.
    pub(super) weight: u8,
    pub(super) kind: Kind,
}

impl Entry {
    /// Loss without it, in hundredths. Long texts are not sought for it, as their weight
    /// is low for what they cost; but a form without one says so in what it keeps.
    pub(super) fn worth(&self) -> u64 {
        let weight = u64::from(self.weight);
        let by_length =
            if self.kind == Kind::Prose { u64::from(self.cost / cost::TOKEN) } else { 0 };
        weight.max(by_length)
    }
}

/// The entries of a document in the order of the text, each behind its parent.
#[derive(Debug)]
pub(crate) struct Tree<'t> {
    text: &'t str,
    pub(super) entries: Vec<Entry>,
    /// Cost of the document as it is written.
    pub(super) cost: u64,
    /// Number of bytes it has without white space.
    tight_length: usize,
}

impl<'t> Tree<'t> {
    /// Reads the entries; nothing if the text is too long for short offsets.
    pub(crate) fn read(document: &Document<'t>) -> Option<Self> {
        u32::try_from(document.text().len()).ok().filter(|length| *length < NO_PARENT)?;
        Some(Reader::new(document).read())
    }

    pub(crate) fn value_count(&self) -> usize {
        let values = self.entries.iter();
        values.filter(|entry| matches!(entry.kind, Kind::Value | Kind::Prose)).count()
    }

    /// Number of bytes the document has without white space between its parts.
    pub(crate) fn tight_length(&self) -> usize {
        self.tight_length
    }

    /// The key of an entry with its quotes, or nothing.
    pub(super) fn key(&self, entry: &Entry) -> &'t str {
        if entry.start == entry.value {
            return "";
        }
        let start = entry.start as usize;
        &self.text[start..string_end(self.text.as_bytes(), start)]
    }

    /// The value of an entry, as it is written.
    pub(super) fn value(&self, entry: &Entry) -> &'t str {
        &self.text[entry.value as usize..entry.end as usize]
    }

    /// Cost of writing an entry without its value.
    pub(super) fn frame_cost(&self, entry: &Entry) -> u32 {
        frame_cost(self.key(entry))
    }

    /// Number of entries a mark says were left out.
    pub(super) fn left_out(&self, mark: &Entry) -> u64 {
        let value = self.value(mark);
        elision::in_list(value).or_else(|| value.parse().ok()).unwrap_or(0)
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    entries: Vec<Entry>,
    /// Containers that are not closed yet.
    open: Vec<u32>,
    seen: HashSet<&'t str>,
    cost: u64,
    white_space: usize,
}

impl<'t> Reader<'t> {
    fn new(document: &Document<'t>) -> Self {
        let mut reader = Self {
            text: document.text(),
            at: 0,
            entries: Vec::new(),
            open: Vec::new(),
            seen: HashSet::new(),
            cost: 0,
            white_space: 0,
        };
        if document.is_lines() {
            reader.push(0..0, Kind::Lines, 0, 0);
            reader.open.push(0);
        }
        reader
    }

    fn read(mut self) -> Tree<'t> {
        while let Some(byte) = self.next_byte() {
            match byte {
                b',' => self.at += 1,
                b'}' | b']' => self.close(),
                _ => self.entry(),
            }
        }
        let tight_length = self.text.len() - self.white_space;
        Tree { text: self.text, entries: self.entries, cost: self.cost, tight_length }
    }

    /// The next byte that is no white space.
    fn next_byte(&mut self) -> Option<u8> {
        let start = self.at;
        self.at = skip_white_space(self.text.as_bytes(), start);
        if self.at > start {
            self.cost += u64::from(cost::WHITE_SPACE);
            self.white_space += self.at - start;
        }
        self.text.as_bytes().get(self.at).copied()
    }

    fn parent(&self) -> u32 {
        self.open.last().copied().unwrap_or(NO_PARENT)
    }

    fn parent_kind(&self) -> Option<Kind> {
        self.open.last().map(|parent| self.entries[*parent as usize].kind)
    }

    /// Adds an entry whose key begins where `range` does; its value begins here.
    fn push(&mut self, range: std::ops::Range<usize>, kind: Kind, weight: u8, cost: u32) {
        let short = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        let (start, value, end) = (short(range.start), short(self.at), short(range.end));
        let parent = self.parent();
        self.cost += u64::from(cost);
        let mark = if kind.is_container() { cost::MARK } else { 0 };
        let cost = cost.saturating_add(mark);
        self.entries.push(Entry { start, value, end, parent, cost, weight, kind });
    }

    /// Reads a key, if one is due, and a value, or as much of it as its bracket.
    fn entry(&mut self) {
        let start = self.at;
        let mut weight = 0;
        let mut key = "";
        if self.parent_kind() == Some(Kind::Object) {
            key = self.string();
            self.next_byte();
            // The colon.
            self.at += 1;
            self.next_byte();
            weight = self.key_weight(key);
        }
        let cost = frame_cost(key);
        match self.text.as_bytes().get(self.at) {
            Some(bracket @ (b'{' | b'[')) if self.open.len() < DEEPEST => {
                let kind = if *bracket == b'{' { Kind::Object } else { Kind::List };
                let index = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
                self.push(start..self.at, kind, weight, cost.saturating_add(cost::BRACKETS));
                self.open.push(index);
                self.at += 1;
            }
            _ => self.value(start, key, weight, cost),
        }
    }

    /// Reads a value that is taken or left as a whole.
    fn value(&mut self, start: usize, key: &'t str, key_weight: u8, key_cost: u32) {
        let end = self.value_end();
        let value = &self.text[self.at..end];
        let cost = key_cost.saturating_add(cost::of(value));
        let is_mark = match self.parent_kind() {
            Some(Kind::Object) => elision::in_object(key, value).is_some(),
            Some(_) => elision::in_list(value).is_some() && self.is_last(end),
            None => false,
        };
        if is_mark {
            self.push(start..end, Kind::Mark, 0, cost);
        } else {
            let weight = self.value_weight(value);
            let is_prose = weight == Class::Text.weight();
            let kind = if is_prose { Kind::Prose } else { Kind::Value };
            self.push(start..end, kind, key_weight.saturating_add(weight), cost);
        }
        self.at = end;
    }

    /// Closes the innermost container. One that has no entries is a value itself.
    fn close(&mut self) {
        self.at += 1;
        let Some(index) = self.open.pop().map(|index| index as usize) else { return };
        self.entries[index].end = u32::try_from(self.at).unwrap_or(u32::MAX);
        let marks = &self.entries[index + 1..];
        let is_hollow = !marks.is_empty();
        // The outermost is the document, which is never left out.
        if index > 0 && marks.iter().all(|entry| entry.kind == Kind::Mark) {
            self.entries.truncate(index + 1);
            let entry = &mut self.entries[index];
            entry.kind = if is_hollow { Kind::Hollow } else { Kind::Value };
            entry.weight = entry.weight.saturating_add(Class::Trifle.weight());
        }
    }

    /// Reads the string that begins here, with its quotes.
    fn string(&mut self) -> &'t str {
        let start = self.at;
        self.at = string_end(self.text.as_bytes(), start);
        &self.text[start..self.at]
    }

    /// Where the value ends that begins here.
    fn value_end(&self) -> usize {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at) {
            Some(b'"') => string_end(bytes, self.at),
            Some(b'{' | b'[') => end_of_nested(bytes, self.at).unwrap_or(bytes.len()),
            _ => {
                let rest = bytes.get(self.at..).unwrap_or_default();
                let is_part =
                    |byte: &&u8| !matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                // At least one byte, so that whatever this is, reading goes on.
                self.at + rest.iter().take_while(is_part).count().max(1)
            }
        }
    }

    /// Returns true if nothing follows in the innermost container.
    fn is_last(&self, end: usize) -> bool {
        let bytes = self.text.as_bytes();
        matches!(bytes.get(skip_white_space(bytes, end)), None | Some(b']'))
    }

    /// Weight of a key, if it is more than the name of a field.
    fn key_weight(&mut self, key: &'t str) -> u8 {
        match Class::of_key(key) {
            Some(class) if self.seen.insert(key) => class.weight(),
            _ => 0,
        }
    }

    fn value_weight(&mut self, value: &'t str) -> u8 {
        // What is nested too deep to be looked into.
        if value.starts_with(['{', '[']) {
            return Class::Text.weight();
        }
        if self.seen.insert(value) { Class::of(value).weight() } else { REPEAT }
    }
}

/// Cost of writing a value with this key, or without any, beside the value itself.
fn frame_cost(key: &str) -> u32 {
    let key_cost = if key.is_empty() { 0 } else { cost::KEY.saturating_add(cost::of(key)) };
    cost::ENTRY.saturating_add(key_cost)
}
