//! Logs in files: which files there are, and their rows one after the other.

mod archive;
mod find;
mod json;
mod order;
mod output;
mod parquet;
mod temporary;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

pub use find::{FindError, find_logs};
pub use output::{OutputError, ResultWriter};

use crate::outcome::{ProblemKind, RowProblem};
use crate::place::Place;
use crate::read::{Columns, is_document};
use crate::replay::LogRow;
use order::{Spool, Survey};
use temporary::TemporaryFile;

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
    /// Number of bytes of the files that have been read so far, as they are on the disk.
    pub bytes_read: u64,
}

/// Reads files one after the other, ahead of whoever asks for their rows by one batch at most. Rows that
/// tell a time come in the order of their times, whatever the order of the files. `-` is standard input.
///
/// A row that cannot be read is reported in its place, and the rest goes on.
#[derive(Debug)]
pub struct LogReader {
    batches: Receiver<Batch>,
    found: Arc<Found>,
}

/// Findings of the first pass over the files.
#[derive(Debug, Default)]
struct Found {
    rows: AtomicUsize,
    late: AtomicUsize,
}

impl LogReader {
    /// Reads these files. Of Parquet files only the columns that some format needs, or that are named.
    pub fn new(files: Vec<PathBuf>, columns: &Columns) -> Self {
        let (sender, batches) = sync_channel(0);
        let (columns, found) = (columns.clone(), Arc::<Found>::default());
        let told = found.clone();
        thread::spawn(move || {
            let mut sink = Sink::new(sender);
            let opened = files.into_iter().map(LogFile::open).collect::<Vec<_>>();
            let _ = read_in_order(&opened, &columns, &told, &mut sink);
        });
        Self { batches, found }
    }

    /// Number of rows that were not in the order of their times, and were put there; known from the first batch on.
    pub fn reordered_rows(&self) -> usize {
        self.found.late.load(Ordering::Relaxed)
    }

    /// Number of rows the files have, as far as that was counted; known from the first batch on.
    pub fn counted_rows(&self) -> usize {
        self.found.rows.load(Ordering::Relaxed)
    }
}

/// A file of a log, and where it is read from.
struct LogFile {
    name: Arc<str>,
    path: PathBuf,
    /// Copy of standard input.
    _copy: Option<TemporaryFile>,
    failed: Option<String>,
}

impl LogFile {
    fn open(path: PathBuf) -> Self {
        if !temporary::is_stdin(&path) {
            let name = path.display().to_string().into();
            return Self { name, path, _copy: None, failed: None };
        }
        match temporary::copy_of_stdin() {
            Ok(copy) => {
                Self { name: "stdin".into(), path: copy.0.clone(), _copy: Some(copy), failed: None }
            }
            Err(error) => {
                let failed = Some(format!("cannot be kept in a temporary file: {}", cause(&error)));
                Self { name: "stdin".into(), path, _copy: None, failed }
            }
        }
    }
}

fn read_in_order(
    files: &[LogFile],
    columns: &Columns,
    found: &Found,
    sink: &mut Sink,
) -> Result<(), Closed> {
    // What comes by a pipe can be read once.
    let is_there = files.iter().all(|file| file.path.is_file());
    let survey = if is_there { survey(files, columns) } else { Survey::default() };
    found.rows.store(survey.rows, Ordering::Relaxed);
    if survey.late == 0 {
        read_files(files, columns, sink)?;
        return sink.flush();
    }
    found.late.store(survey.late, Ordering::Relaxed);
    let spool = match Spool::new(columns) {
        Ok(spool) => spool,
        Err(error) => {
            sink.problem(Place::line("", 0), ProblemKind::Unreadable, order::failed(&error))?;
            return sink.flush();
        }
    };
    // The rows go to the spool; what cannot be read is told at once.
    sink.aside = Aside::Spool(spool);
    read_files(files, columns, sink)?;
    if let Aside::Spool(spool) = std::mem::take(&mut sink.aside) {
        spool.drain(sink)?;
    }
    sink.flush()
}

/// Looks through the files for times, without handing anything on.
fn survey(files: &[LogFile], columns: &Columns) -> Survey {
    let (sender, _nobody) = sync_channel(0);
    let mut sink = Sink::new(sender);
    sink.aside = Aside::Survey(Survey::default(), columns.clone());
    let _ = read_files(files, columns, &mut sink);
    match sink.aside {
        Aside::Survey(survey, _) => survey,
        _ => Survey::default(),
    }
}

fn read_files(files: &[LogFile], columns: &Columns, sink: &mut Sink) -> Result<(), Closed> {
    for file in files {
        if let Some(rule) = &file.failed {
            sink.unreadable(&file.name, 0, rule.clone())?;
            continue;
        }
        read_file(&file.path, &file.name, columns, sink)?;
        sink.base += std::fs::metadata(&file.path).map_or(0, |data| data.len());
        sink.read.set(0);
    }
    Ok(())
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
    aside: Aside,
}

/// Where rows go instead of to whoever asks for them.
#[derive(Default)]
enum Aside {
    #[default]
    No,
    Survey(Survey, Columns),
    Spool(Spool),
}

impl Sink {
    fn new(sender: SyncSender<Batch>) -> Self {
        let aside = Aside::No;
        Self { sender, batch: Batch::default(), bytes: 0, read: Rc::default(), base: 0, aside }
    }

    fn row(&mut self, place: Place, text: Arc<str>) -> Result<(), Closed> {
        match &mut self.aside {
            Aside::No => {}
            Aside::Survey(survey, columns) => {
                survey.take(&text, columns);
                return Ok(());
            }
            Aside::Spool(spool) => {
                let Err(error) = spool.push(LogRow { place: place.clone(), text }) else {
                    return Ok(());
                };
                return self.problem(place, ProblemKind::Unreadable, order::failed(&error));
            }
        }
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
        if matches!(self.aside, Aside::Survey(..)) {
            return Ok(());
        }
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
    match start[..] {
        [b'P', b'A', b'R', b'1'] => return parquet::read(path, name, columns, sink),
        [b'P', b'K', 3, 4] => return read_archive(file, name, sink),
        _ => {}
    }
    let whole = io::Cursor::new(start.clone()).chain(file);
    let whole = Counted { inner: whole, count: sink.read.clone() };
    match start[..] {
        [0x1f, 0x8b, ..] => {
            let unzipped = flate2::bufread::MultiGzDecoder::new(BufReader::new(whole));
            read_text(unzipped, name, sink)
        }
        [0x28, 0xb5, 0x2f, 0xfd] => match zstd::Decoder::new(whole) {
            Ok(unzipped) => read_text(unzipped, name, sink),
            Err(error) => {
                sink.unreadable(name, 0, format!("the zstd data cannot be read: {}", cause(&error)))
            }
        },
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            let rule = "is written in UTF-16, and logs are UTF-8; convert it, as with `iconv -f utf-16 -t utf-8`";
            sink.unreadable(name, 0, rule.to_owned())
        }
        _ => read_text(whole, name, sink),
    }
}

/// Transcripts of agents say what they are in their first lines.
const BEGINNING: usize = 1 << 16;

/// Rows; or all of a file, where it is one conversation.
fn read_text(mut text: impl Read, name: &Arc<str>, sink: &mut Sink) -> Result<(), Closed> {
    let mut beginning = Vec::new();
    // An error stands where it is met again, with the row that it is in.
    let failed = text.by_ref().take(BEGINNING as u64).read_to_end(&mut beginning).err();
    let whole_lines = match beginning.iter().rposition(|byte| *byte == b'\n') {
        Some(end) if beginning.len() >= BEGINNING => &beginning[..end],
        _ => &beginning[..],
    };
    let is_document = is_document(&String::from_utf8_lossy(whole_lines));
    let rest = Failing { inner: text, failed };
    let whole = io::Cursor::new(beginning).chain(rest);
    if !is_document {
        return json::read(BufReader::with_capacity(1 << 17, whole), name, sink);
    }
    let mut document = Vec::new();
    match whole.take(LARGEST_ROW as u64 + 1).read_to_end(&mut document) {
        Ok(_) if document.len() > LARGEST_ROW => json::too_large(name, 1, sink),
        Ok(_) => json::push(&mut document, 1, name, sink),
        Err(error) => json::unreadable(name, 1, &error, sink),
    }
}

/// The rest of a file whose beginning was read, and how that ended.
struct Failing<R> {
    inner: R,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Failing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.inner.read(buffer),
        }
    }
}

/// The samples of a log of Inspect.
fn read_archive(mut file: File, name: &Arc<str>, sink: &mut Sink) -> Result<(), Closed> {
    let members = match archive::members(&mut file) {
        Ok(members) => members,
        Err(error) => return sink.unreadable(name, 0, cause(&error)),
    };
    let samples: Vec<_> = members
        .iter()
        .filter(|member| {
            let path = Path::new(&member.name);
            path.starts_with("samples") && path.extension().is_some_and(|ending| ending == "json")
        })
        .collect();
    if samples.is_empty() {
        let rule = "is an archive without samples of Inspect; unpack it, and give the logs in it";
        return sink.unreadable(name, 0, rule.to_owned());
    }
    for (at, member) in samples.into_iter().enumerate() {
        match member.read(&mut file) {
            Ok(mut bytes) => json::push(&mut bytes, at + 1, name, sink)?,
            Err(error) => sink.unreadable(name, at + 1, cause(&error))?,
        }
    }
    Ok(())
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

/// Message of the system, in the manner of our own messages.
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

/// Result of a bounded read.
#[derive(Debug, PartialEq, Eq)]
enum Bounded {
    Line,
    TooLarge,
    End,
}
