//! Replays files and texts.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cupel_engine::Engine;
use cupel_replay::{
    LogReader, LogRow, Place, Replay, ReplayedPolicy, RowOutcome, Settings, Summary, Summing,
    find_logs, result_rows,
};
use cupel_tokens::EstimateCounter;

/// A sample of the repository.
pub(crate) fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/logs").join(name)
}

/// The policies `auto` and `chat` at a budget, with estimates.
pub(crate) fn settings(max: i64) -> Settings {
    let policy = |name: &str| ReplayedPolicy {
        name: name.to_owned(),
        engine: Engine::builder().policy(name).tokenizer("estimate").build().unwrap(),
    };
    Settings::new(
        vec![policy("auto"), policy("chat")],
        vec![max],
        Arc::new(EstimateCounter::default()),
    )
}

/// Result of a replay: all outcomes, and the sums.
pub(crate) struct Replayed {
    pub(crate) outcomes: Vec<RowOutcome>,
    pub(crate) summary: Summary,
    pub(crate) rows: String,
}

impl Replayed {
    pub(crate) fn all_problems(&self) -> Vec<String> {
        let problems = self.outcomes.iter().filter_map(|outcome| match outcome {
            RowOutcome::Problem(problem) => Some(problem.to_string()),
            _ => None,
        });
        problems.collect()
    }
}

pub(crate) fn replay(paths: &[PathBuf], settings: Settings) -> Replayed {
    let files = find_logs(paths).unwrap();
    let columns = settings.columns.clone();
    let mut replay = Replay::new(settings);
    let mut summing = Summing::new(replay.ways(), 20);
    let mut outcomes = Vec::new();
    for batch in LogReader::new(files, &columns) {
        let done = replay.push_read(batch.rows);
        summing.add(&done);
        outcomes.extend(done.rows);
    }
    let rows = outcomes.iter().flat_map(|outcome| result_rows(outcome, replay.ways()));
    let rows = rows.map(|row| serde_json::to_string(&row).unwrap() + "\n").collect();
    let summary = summing.summary(true, replay.forgotten_conversations());
    Replayed { outcomes, summary, rows }
}

pub(crate) fn replay_file(path: &Path, settings: Settings) -> Replayed {
    replay(&[path.to_path_buf()], settings)
}

/// Rows that stand in no file.
pub(crate) fn rows(texts: &[String]) -> Vec<LogRow> {
    let row = |(at, text): (usize, &String)| LogRow {
        place: Place::line("log", at + 1),
        text: text.as_str().into(),
    };
    texts.iter().enumerate().map(row).collect()
}

pub(crate) fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

/// A folder that is removed when the test ends.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("cupel-replay-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
