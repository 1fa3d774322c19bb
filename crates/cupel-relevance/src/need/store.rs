//! Values and the items that mention them.

use std::ops::Range;

use cupel::ContextItem;

use super::exchange::Passages;
use super::value::{for_each_value, is_number};
use crate::identity::ItemNumbers;
use crate::parts::{parts_of, parts_of_form};
use crate::text::{Table, each_once_from};

/// The values of items, each item's kept as long as its handle.
#[derive(Default)]
pub(super) struct Store {
    /// For each value whether it is a plain number.
    values: Table<bool>,
    /// The values of messages by number, each once in a message.
    lists: Vec<u32>,
    items: Vec<ItemSpans>,
    numbers: ItemNumbers,
    lower: String,
}

/// Where the values of an item stand in the lists.
#[derive(Clone)]
struct ItemSpans {
    said: Range<usize>,
    called: Range<usize>,
    returned: Range<usize>,
    /// Of all its messages, each once.
    all: Range<usize>,
    /// The same for each of its shorter forms.
    forms: Vec<Range<usize>>,
}

impl Store {
    pub(super) fn value_count(&self) -> usize {
        self.values.len()
    }

    pub(super) fn is_number(&self, value: u32) -> bool {
        self.values.known(value)
    }

    /// The number of an item, if it is known.
    pub(super) fn number(&self, item: &ContextItem) -> Option<u32> {
        self.numbers.get(item)
    }

    /// The values that an item mentions, each once.
    pub(super) fn all(&self, item: u32) -> &[u32] {
        &self.lists[self.items[item as usize].all.clone()]
    }

    /// The values that each of an item's shorter forms still mentions, each once.
    pub(super) fn forms(&self, item: u32) -> impl Iterator<Item = &[u32]> {
        self.items[item as usize].forms.iter().map(|form| &self.lists[form.clone()])
    }

    /// The values of what an item calls.
    pub(super) fn called(&self, item: u32) -> &[u32] {
        &self.lists[self.items[item as usize].called.clone()]
    }

    /// The values of what an item says and of what came back.
    pub(super) fn learnt(&self, item: u32) -> impl Iterator<Item = &u32> {
        let ItemSpans { said, returned, .. } = &self.items[item as usize];
        self.lists[said.clone()].iter().chain(&self.lists[returned.clone()])
    }

    /// The values of each message of an item.
    pub(super) fn messages(&self, item: u32) -> [&[u32]; 3] {
        let spans = &self.items[item as usize];
        [&spans.said, &spans.called, &spans.returned].map(|span| &self.lists[span.clone()])
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Adds the items that are not in it yet.
    pub(super) fn extend(&mut self, items: &[ContextItem]) {
        for item in items {
            if self.numbers.enter(item).is_some() {
                self.add(item);
            }
        }
    }

    fn add(&mut self, item: &ContextItem) {
        let (said, called, returned, all) =
            self.read(&Passages::of(item.content(), &parts_of(item)));
        let forms = item.renderings().iter();
        let forms = forms.map(|form| {
            let parts = parts_of_form(item, form);
            self.read(&Passages::of(form.content(), &parts)).3
        });
        let forms = forms.collect();
        self.items.push(ItemSpans { said, called, returned, all, forms });
    }

    /// The values of a text: of what it says, calls and got back, and of all that.
    fn read(
        &mut self,
        passages: &Passages<'_>,
    ) -> (Range<usize>, Range<usize>, Range<usize>, Range<usize>) {
        let said = self.enter(&passages.said);
        let called = self.enter(&passages.called);
        let returned = self.enter(&passages.returned);
        let start = self.lists.len();
        self.lists.extend_from_within(said.start..returned.end);
        let all = each_once_from(&mut self.lists, start);
        (said, called, returned, all)
    }

    /// Adds the values of a message.
    fn enter(&mut self, passages: &[&str]) -> Range<usize> {
        let start = self.lists.len();
        for passage in passages {
            let Self { values, lists, lower, .. } = self;
            for_each_value(passage, |value| {
                lower.clear();
                if value.is_ascii() {
                    lower.push_str(value);
                    lower.make_ascii_lowercase();
                } else {
                    lower.extend(value.chars().flat_map(char::to_lowercase));
                }
                let count = values.len();
                let number = values.enter(lower);
                if values.len() > count {
                    *values.known_mut(number) = is_number(lower);
                }
                lists.push(number);
            });
        }
        each_once_from(&mut self.lists, start)
    }
}
