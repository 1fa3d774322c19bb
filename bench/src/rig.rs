//! rig-memory's token window: the newest messages that fit, oldest first. It
//! takes the whole history by value, already in order, and looks for no
//! duplicates.

use std::time::{Duration, Instant};

use rig_core::message::Message;
use rig_memory::{HeuristicTokenCounter, MemoryPolicy, TokenWindowMemory};

use crate::data::Row;

pub struct Rig {
    history: Vec<Message>,
    window: TokenWindowMemory,
}

impl Rig {
    pub fn new(rows: impl Iterator<Item = Row>) -> Self {
        let mut rows: Vec<Row> = rows.collect();
        rows.sort_unstable_by_key(|row| row.timestamp);
        let target = rows.iter().map(|row| row.tokens).sum::<i64>() / 4;
        // Four bytes a token and nothing on top: exactly the tokens of the rows.
        let counter = HeuristicTokenCounter::new(4.0, 0, 0);
        let window = TokenWindowMemory::new(target as usize, counter);
        let message = |row: Row| match row.kind {
            "Message" => Message::user(row.text),
            _ => Message::assistant(row.text),
        };
        Self { history: rows.into_iter().map(message).collect(), window }
    }

    /// A copy of the history, as rig's own in-memory store makes on every load.
    pub fn copy(&self) -> Vec<Message> {
        self.history.clone()
    }

    pub fn apply(&self, history: Vec<Message>) -> Vec<Message> {
        self.window.apply(history).expect("the token window cannot fail")
    }

    /// The time of `iterations` calls without that of the copies they consume.
    pub fn time_without_copy(&self, iterations: u32) -> Duration {
        let one = |_| {
            let history = self.copy();
            let start = Instant::now();
            drop(std::hint::black_box(self.apply(history)));
            start.elapsed()
        };
        (0..iterations).map(one).sum()
    }

    pub fn flaw(&self, window: &[Message]) -> Option<String> {
        let rest = self.history.len() - window.len();
        (window.is_empty() || self.history[rest..] != *window)
            .then(|| "the window is not the end of the history".into())
    }
}
