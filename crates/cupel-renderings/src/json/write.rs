//! Writes what a selection keeps of a document.

use std::fmt::Write;

use super::cut::{Cut, push_cut};
use super::document::push_minified;
use super::elision;
use super::tree::{Entry, Kind};
use super::{Selection, Tree};

impl Tree<'_> {
    /// The document with what a share keeps, minified. In place of what is left out an object ends
    /// in `"…":n`, a list in `"… n more"`.
    pub(crate) fn write(&self, selection: &Selection, place: u8) -> String {
        let cut = selection.cut(place);
        let mut writer = Writer { tree: self, cut, text: String::new(), open: Vec::new() };
        for (index, entry) in (0..).zip(&self.entries) {
            if index == 0 {
                writer.open(index, entry);
            } else if selection.keeps(place, entry.parent) {
                writer.close_until(entry.parent);
                writer.entry(index, entry, selection.keeps(place, index));
            }
        }
        while writer.close() {}
        writer.text
    }
}

struct Writer<'s, 't> {
    tree: &'s Tree<'t>,
    /// The text that is not kept whole, if there is one.
    cut: Option<Cut>,
    text: String,
    open: Vec<Open>,
}

/// A container that is being written.
struct Open {
    index: u32,
    kind: Kind,
    is_empty: bool,
    left_out: u64,
    /// The longest key of dots that is an entry of its own.
    dots: usize,
}

impl Writer<'_, '_> {
    fn entry(&mut self, index: u32, entry: &Entry, is_kept: bool) {
        let Some(parent) = self.open.last_mut() else { return };
        if entry.kind == Kind::Mark {
            parent.left_out = parent.left_out.saturating_add(self.tree.left_out(entry));
        } else if !is_kept {
            parent.left_out = parent.left_out.saturating_add(1);
        } else {
            let key = self.tree.key(entry);
            parent.dots = parent.dots.max(elision::dots(key).unwrap_or(0));
            self.separate();
            if !key.is_empty() {
                self.text.push_str(key);
                self.text.push(':');
            }
            if entry.kind.is_container() {
                self.open(index, entry);
            } else {
                self.value(index, entry);
            }
        }
    }

    fn value(&mut self, index: u32, entry: &Entry) {
        let value = self.tree.value(entry);
        if let Some(cut) = self.cut.filter(|cut| cut.entry == index) {
            return push_cut(value, cut.bytes, &mut self.text);
        }
        // Only what was not looked into can have white space within.
        if value.starts_with(['{', '[']) {
            push_minified(value, &mut self.text);
        } else {
            self.text.push_str(value);
        }
    }

    fn open(&mut self, index: u32, entry: &Entry) {
        match entry.kind {
            Kind::Object => self.text.push('{'),
            Kind::List => self.text.push('['),
            _ => {}
        }
        self.open.push(Open { index, kind: entry.kind, is_empty: true, left_out: 0, dots: 0 });
    }

    fn separate(&mut self) {
        let Some(parent) = self.open.last_mut() else { return };
        if !std::mem::replace(&mut parent.is_empty, false) {
            self.text.push(if parent.kind == Kind::Lines { '\n' } else { ',' });
        }
    }

    fn close_until(&mut self, parent: u32) {
        while self.open.last().is_some_and(|open| open.index != parent) {
            self.close();
        }
    }

    /// Closes the innermost container; false if there is none.
    fn close(&mut self) -> bool {
        let Some(&Open { kind, left_out, dots, .. }) = self.open.last() else { return false };
        if left_out > 0 {
            self.separate();
            let mark = if kind == Kind::Object {
                write!(self.text, "\"{}\":{left_out}", "…".repeat(dots + 1))
            } else {
                write!(self.text, "\"… {left_out} more\"")
            };
            mark.expect("writing into a string does not fail");
        }
        match kind {
            Kind::Object => self.text.push('}'),
            Kind::List => self.text.push(']'),
            _ => {}
        }
        self.open.pop();
        true
    }
}
