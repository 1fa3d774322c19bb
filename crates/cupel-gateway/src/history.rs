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
        self.shown.as_ref().map_or(0, |shown| {
            2 * shown.text.len() + 64 * shown.run.len() + 16 * shown.history.len()
        })
    }
}

impl History {
    pub(crate) fn new() -> Self {
        Self { entries: Mutex::default(), rows: broadcast::channel(BEHIND).0 }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bound on what is kept of it. None, if nobody may see the page.
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

    /// Data that is needed to open a request.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse_for_tests;

    fn history(requests: usize, bytes: usize) -> History {
        let history = History::new();
        let text = format!("[server]\nrequests = {requests}\nrequests_memory = {bytes}");
        history.bound(&parse_for_tests(&text).server, true);
        history
    }

    fn numbers(history: &History, after: u64) -> Vec<u64> {
        history.rows(after).iter().map(|row| row.id).collect()
    }

    #[test]
    fn rows_stand_in_the_order_in_which_requests_came() {
        let history = history(10, 1_000);
        for number in [2, 1, 4, 3] {
            history.put(&Record::for_tests(number));
        }
        assert_eq!(numbers(&history, 0), [1, 2, 3, 4]);
        assert_eq!(numbers(&history, 2), [3, 4]);
        assert_eq!(numbers(&history, 4), [0; 0]);
    }

    #[test]
    fn a_request_that_gets_on_keeps_its_row_and_counts_once() {
        let history = history(10, 1_000);
        for number in [1, 2, 1] {
            history.put(&Record::for_tests(number).showing("x"));
        }
        let done = Record { status: Some(200), ..Record::for_tests(1).showing("four") };
        history.put(&done);
        assert_eq!(numbers(&history, 0), [1, 2]);
        assert_eq!(history.rows(0)[0].http_status, Some(200));
        assert_eq!(history.lock().bytes, 2 * 4 + 2);
    }

    #[test]
    fn the_oldest_rows_go_first() {
        let history = history(2, 1_000);
        for number in 1..=4 {
            history.put(&Record::for_tests(number).showing("x"));
        }
        assert_eq!(numbers(&history, 0), [3, 4]);
        assert_eq!(history.lock().bytes, 4);
    }

    #[test]
    fn the_oldest_texts_go_before_rows_do() {
        let history = history(10, 8);
        for number in 1..=3 {
            history.put(&Record::for_tests(number).showing("xy"));
        }
        let has_view: Vec<bool> = history.rows(0).iter().map(|row| row.has_view).collect();
        assert_eq!(has_view, [false, true, true]);
        assert_eq!(history.lock().bytes, 8);
        assert!(history.shown(1).is_none());
        let (row, shown) = history.shown(3).unwrap();
        assert_eq!((row.id, &*shown.text), (3, "xy"));
        assert!(history.shown(4).is_none(), "nobody has asked it yet");
    }

    #[test]
    fn the_steps_of_a_run_count_too() {
        let history = history(10, 1_000);
        let mut record = Record::for_tests(1).showing("xy");
        let engine = cupel_engine::Engine::builder().max_tokens(100).build().unwrap();
        let step = engine.session().next(r#"[{"role":"user","content":"hi"}]"#).unwrap();
        let point = cupel_page::RunPoint::of(&step);
        record.shown.as_mut().unwrap().run = [point, point].into();
        history.put(&record);
        assert_eq!(history.lock().bytes, 2 * 2 + 64 * 2);
    }

    #[test]
    fn nothing_is_kept_for_a_page_that_nobody_may_see() {
        let history = history(10, 1_000);
        history.put(&Record::for_tests(1).showing("x"));
        let config = parse_for_tests("").server;
        history.bound(&config, false);
        history.put(&Record::for_tests(2).showing("x"));
        assert_eq!(numbers(&history, 0), [0; 0]);
        assert_eq!(history.lock().bytes, 0);
    }

    #[test]
    fn whoever_listens_hears_of_every_row() {
        let history = history(1, 1_000);
        let mut rows = history.subscribe();
        history.put(&Record::for_tests(1));
        history.put(&Record::for_tests(2));
        assert_eq!((rows.try_recv().unwrap().id, rows.try_recv().unwrap().id), (1, 2));
    }
}
