//! The last requests, for the page: bounded in number and in bytes.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cupel_page::Row;
use tokio::sync::broadcast;

use crate::config::ServerConfig;
use crate::record::{Record, Shown};

/// Rows that a page may be behind.
const BEHIND: usize = 256;

/// The last requests.
pub(crate) struct History {
    entries: Mutex<Entries>,
    rows: broadcast::Sender<Row>,
}

#[derive(Default)]
struct Entries {
    list: VecDeque<Entry>,
    bytes: usize,
    most: usize,
    most_bytes: usize,
}

struct Entry {
    row: Row,
    shown: Option<Shown>,
}

impl Entry {
    fn bytes(&self) -> usize {
        // The step lists what was cut and sent again; twice the text is more than both.
        self.shown.as_ref().map_or(0, |shown| 2 * shown.text.len() + 64 * shown.run.len())
    }
}

impl History {
    pub(crate) fn new() -> Self {
        Self { entries: Mutex::default(), rows: broadcast::channel(BEHIND).0 }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How much of it is kept. None, if nobody may see the page.
    pub(crate) fn bound(&self, config: &ServerConfig, is_shown: bool) {
        let entries = &mut *self.lock();
        entries.most = if is_shown { config.requests } else { 0 };
        entries.most_bytes = config.requests_memory.0;
        entries.shrink();
    }

    /// Notes a request, or what became of it since.
    pub(crate) fn put(&self, record: &Record) {
        let row = record.row();
        let entries = &mut *self.lock();
        if entries.most == 0 {
            return;
        }
        let entry = Entry { row: row.clone(), shown: record.shown.clone() };
        entries.bytes += entry.bytes();
        let known = entries.list.iter_mut().rev().find(|entry| entry.row.id == row.id);
        if let Some(place) = known {
            let old = std::mem::replace(place, entry);
            entries.bytes -= old.bytes();
        } else {
            // Requests are numbered as they come, and noted as they get on.
            let at = entries.list.partition_point(|entry| entry.row.id < row.id);
            entries.list.insert(at, entry);
        }
        entries.shrink();
        let _ = self.rows.send(row);
    }

    /// The rows behind a number.
    pub(crate) fn rows(&self, after: u64) -> Vec<Row> {
        let entries = self.lock();
        let rows = entries.list.iter().map(|entry| &entry.row);
        rows.filter(|row| row.id > after).cloned().collect()
    }

    /// What is needed to open a request.
    pub(crate) fn shown(&self, number: u64) -> Option<(Row, Shown)> {
        let entries = self.lock();
        let entry = entries.list.iter().find(|entry| entry.row.id == number)?;
        Some((entry.row.clone(), entry.shown.clone()?))
    }

    /// Rows as they come.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Row> {
        self.rows.subscribe()
    }
}

impl Entries {
    fn shrink(&mut self) {
        while self.list.len() > self.most {
            let Some(oldest) = self.list.pop_front() else { break };
            self.bytes -= oldest.bytes();
        }
        // Texts go before rows do, the oldest first.
        for entry in &mut self.list {
            if self.bytes <= self.most_bytes {
                break;
            }
            self.bytes -= entry.bytes();
            entry.shown = None;
            entry.row.has_view = false;
        }
    }
}
