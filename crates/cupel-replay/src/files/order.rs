//! The order of rows: by time where they tell one, however the files have them.
//!
//! A first pass, which holds nothing, sees if rows are in order. Rows that are not are written to
//! a temporary file, and read back in order: of each row its place is held, and nothing of its text.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use super::temporary::TemporaryFile;
use super::{Closed, Sink};
use crate::outcome::ProblemKind;
use crate::place::Place;
use crate::read::{Columns, row_time};
use crate::replay::LogRow;

/// If none of so many rows tells a time, none will.
const PATIENCE: usize = 1_024;

/// Findings of a first pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Survey {
    pub(super) rows: usize,
    /// Rows that are earlier than one before them.
    pub(super) late: usize,
    timed: usize,
    newest: i64,
}

impl Survey {
    /// Takes a row in.
    pub(super) fn take(&mut self, text: &str, columns: &Columns) {
        self.rows += 1;
        if self.timed == 0 && self.rows > PATIENCE {
            return;
        }
        if let Some(time) = row_time(text, columns) {
            self.timed += 1;
            self.late += usize::from(time < self.newest);
            self.newest = self.newest.max(time);
        }
    }
}

/// Where a row is in the temporary file.
struct Spooled {
    time: i64,
    offset: u64,
    length: usize,
    place: Place,
}

/// Rows that wait for their turn.
pub(super) struct Spool {
    path: TemporaryFile,
    file: BufWriter<File>,
    rows: Vec<Spooled>,
    offset: u64,
    columns: Columns,
}

impl Spool {
    pub(super) fn new(columns: &Columns) -> io::Result<Self> {
        let (path, file) = TemporaryFile::create()?;
        let file = BufWriter::with_capacity(1 << 20, file);
        Ok(Self { path, file, rows: Vec::new(), offset: 0, columns: columns.clone() })
    }

    pub(super) fn push(&mut self, row: LogRow) -> io::Result<()> {
        self.file.write_all(row.text.as_bytes())?;
        // A row without a time stays behind the one before it.
        let before = self.rows.last().map_or(i64::MIN, |row| row.time);
        let time = row_time(&row.text, &self.columns).unwrap_or(before);
        let length = row.text.len();
        self.rows.push(Spooled { time, offset: self.offset, length, place: row.place });
        self.offset += length as u64;
        Ok(())
    }

    /// Hands the rows on, the earliest first; of those of one time in the order of the files.
    pub(super) fn drain(mut self, sink: &mut Sink) -> Result<(), Closed> {
        self.rows.sort_by_key(|row| row.time);
        let file = self.file.flush().and_then(|()| File::open(&self.path.0));
        let mut file = match file {
            Ok(file) => file,
            Err(error) => {
                return sink.problem(Place::line("", 0), ProblemKind::Unreadable, failed(&error));
            }
        };
        for row in std::mem::take(&mut self.rows) {
            match read_back(&mut file, row.offset, row.length) {
                Ok(text) => sink.row(row.place, text)?,
                Err(error) => sink.problem(row.place, ProblemKind::Unreadable, failed(&error))?,
            }
        }
        Ok(())
    }
}

pub(super) fn failed(error: &io::Error) -> String {
    let cause = super::cause(error);
    format!(
        "cannot be put in order by time: {cause}; make room in the folder for temporary files, or set TMPDIR"
    )
}

fn read_back(file: &mut File, offset: u64, length: usize) -> io::Result<Arc<str>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    let text = String::from_utf8(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(text.into())
}
