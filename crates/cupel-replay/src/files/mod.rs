//! Logs in files: which files there are, and their rows one after the other.

mod find;
mod json;
mod output;
mod parquet;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

pub use find::{FindError, find_logs};
pub use output::{OutputError, ResultWriter};

use crate::outcome::{ProblemKind, RowProblem};
use crate::place::Place;
use crate::read::Columns;
use crate::replay::LogRow;

/// A batch is handed on when it holds so many bytes, or so many rows. A larger row is a batch of its own.
const BATCH_BYTES: usize = 4 << 20;
const BATCH_ROWS: usize = 1_024;
/// A row that is larger than this is no request.
pub const LARGEST_ROW: usize = 256 << 20;

/// The next rows of a log.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Batch {
    /// The rows, and what could not be read where it stands between them.
    pub rows: Vec<Result<LogRow, RowProblem>>,
    /// How many bytes of the files have been read so far, as they are on the disk.
    pub bytes_read: u64,
}

/// Reads files one after the other, ahead of whoever asks for their rows by one batch at most.
///
/// What cannot be read is told in its place, and the rest goes on.
#[derive(Debug)]
pub struct LogReader {
    batches: Receiver<Batch>,
}

impl LogReader {
    /// Reads these files. Of Parquet files only the columns that some format needs, or that are named.
    pub fn new(files: Vec<PathBuf>, columns: &Columns) -> Self {
        let (sender, batches) = sync_channel(0);
        let columns = columns.clone();
        thread::spawn(move || {
            let mut sink = Sink::new(sender);
            for file in files {
                let name: Arc<str> = file.display().to_string().into();
                if read_file(&file, &name, &columns, &mut sink).is_err() {
                    return;
                }
                sink.base += std::fs::metadata(&file).map_or(0, |data| data.len());
                sink.read.set(0);
            }
            let _ = sink.flush();
        });
        Self { batches }
    }
}

impl Iterator for LogReader {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        self.batches.recv().ok()
    }
}

/// Nobody wants any more rows.
struct Closed;

/// Where rows go.
struct Sink {
    sender: SyncSender<Batch>,
    batch: Batch,
    bytes: usize,
    /// The bytes of this file that were read, as they are on the disk.
    read: Rc<Cell<u64>>,
    /// The bytes of the files before this one.
    base: u64,
}

impl Sink {
    fn new(sender: SyncSender<Batch>) -> Self {
        Self { sender, batch: Batch::default(), bytes: 0, read: Rc::default(), base: 0 }
    }

    fn row(&mut self, place: Place, text: Arc<str>) -> Result<(), Closed> {
        // A large row waits for nobody, and nobody waits with it.
        if self.bytes > 0 && self.bytes + text.len() > BATCH_BYTES {
            self.flush()?;
        }
        self.bytes += text.len();
        self.batch.rows.push(Ok(LogRow { place, text }));
        if self.bytes >= BATCH_BYTES || self.batch.rows.len() >= BATCH_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    fn problem(&mut self, place: Place, kind: ProblemKind, rule: String) -> Result<(), Closed> {
        self.batch.rows.push(Err(RowProblem { place, kind, rule }));
        if self.batch.rows.len() >= BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    fn unreadable(&mut self, name: &Arc<str>, row: usize, rule: String) -> Result<(), Closed> {
        self.problem(Place::line(name.clone(), row), ProblemKind::Unreadable, rule)
    }

    fn flush(&mut self) -> Result<(), Closed> {
        self.bytes = 0;
        let mut batch = std::mem::take(&mut self.batch);
        batch.bytes_read = self.base + self.read.get();
        self.sender.send(batch).map_err(|_| Closed)
    }
}

fn read_file(
    path: &Path,
    name: &Arc<str>,
    columns: &Columns,
    sink: &mut Sink,
) -> Result<(), Closed> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) => {
            return sink.unreadable(name, 0, format!("cannot read: {}", cause(&error)));
        }
    };
    let mut start = Vec::with_capacity(4);
    if let Err(error) = file.by_ref().take(4).read_to_end(&mut start) {
        return sink.unreadable(name, 0, format!("cannot read: {}", cause(&error)));
    }
    if start == *b"PAR1" {
        return parquet::read(path, name, columns, sink);
    }
    let whole = io::Cursor::new(start.clone()).chain(file);
    let whole = Counted { inner: whole, count: sink.read.clone() };
    match start[..] {
        [0x1f, 0x8b, ..] => {
            let unzipped = flate2::bufread::MultiGzDecoder::new(BufReader::new(whole));
            json::read(BufReader::with_capacity(1 << 17, unzipped), name, sink)
        }
        [0x28, 0xb5, 0x2f, 0xfd] => match zstd::Decoder::new(whole) {
            Ok(unzipped) => json::read(BufReader::with_capacity(1 << 17, unzipped), name, sink),
            Err(error) => {
                sink.unreadable(name, 0, format!("the zstd data cannot be read: {}", cause(&error)))
            }
        },
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            let rule = "is written in UTF-16, and logs are UTF-8; convert it, as with `iconv -f utf-16 -t utf-8`";
            sink.unreadable(name, 0, rule.to_owned())
        }
        _ => json::read(BufReader::with_capacity(1 << 17, whole), name, sink),
    }
}

/// Counts what is read, for those who watch.
struct Counted<R> {
    inner: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

/// What the system says, in the manner of our own messages.
fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// An error of another crate, in our manner: one line, without what it is wrapped in, a small letter at the
/// beginning.
fn tidy(error: &str) -> String {
    let mut text = error.lines().next().unwrap_or_default();
    for wrapper in ["Parquet error: ", "Parquet argument error: ", "External: ", "EOF: ", "Arrow: "]
    {
        text = text.strip_prefix(wrapper).unwrap_or(text);
    }
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Reads up to a byte, but no more than so many bytes: then the rest is passed over, and the answer is
/// that it was too much.
fn read_bounded(
    reader: &mut impl BufRead,
    end: u8,
    most: usize,
    line: &mut Vec<u8>,
) -> io::Result<Bounded> {
    line.clear();
    let mut is_over = false;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            let is_empty = line.is_empty() && !is_over;
            return Ok(if is_over {
                Bounded::TooLarge
            } else if is_empty {
                Bounded::End
            } else {
                Bounded::Line
            });
        }
        let found = memchr::memchr(end, buffer);
        let taken = found.map_or(buffer.len(), |at| at + 1);
        if line.len() + taken > most {
            is_over = true;
            line.clear();
        } else if !is_over {
            line.extend_from_slice(&buffer[..taken]);
        }
        reader.consume(taken);
        if found.is_some() {
            return Ok(if is_over { Bounded::TooLarge } else { Bounded::Line });
        }
    }
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
enum Bounded {
    Line,
    TooLarge,
    End,
}
