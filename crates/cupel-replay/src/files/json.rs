//! JSON: a row on each line, a list of rows, or rows one after the other however they are laid out.

use std::io::{BufRead, ErrorKind};
use std::sync::Arc;

use super::{Bounded, Closed, LARGEST_ROW, Sink, cause, read_bounded};
use crate::outcome::ProblemKind;
use crate::place::Place;

/// The room that a larger row took is not kept for the next.
const LARGE_ROW: usize = 1 << 20;

/// Layout of a file's rows.
enum Layout {
    /// One on each line.
    Lines,
    /// In a list, or one after the other, over as many lines as they need.
    Values,
}

pub(super) fn read(
    mut reader: impl BufRead,
    name: &Arc<str>,
    sink: &mut Sink,
) -> Result<(), Closed> {
    let mut line = Vec::new();
    let mut row = 0;
    // The first line that says something tells the layout.
    loop {
        row += 1;
        match read_bounded(&mut reader, b'\n', LARGEST_ROW, &mut line) {
            Ok(Bounded::End) => return Ok(()),
            Ok(Bounded::Line) if line.iter().all(u8::is_ascii_whitespace) => {}
            Ok(Bounded::Line) => break,
            Ok(Bounded::TooLarge) => too_large(name, row, sink)?,
            Err(error) => return unreadable(name, row, &error, sink),
        }
    }
    if line.starts_with(b"\xef\xbb\xbf") {
        line.drain(..3);
    }
    match layout(&line, &mut reader) {
        Layout::Lines => read_lines(line, row, reader, name, sink),
        Layout::Values => read_values(&line, reader, name, sink),
    }
}

/// A line that is a whole value is a row. If it is not, it may be a broken row: then the next line begins
/// at its first letter like a row.
fn layout(line: &[u8], reader: &mut impl BufRead) -> Layout {
    let is_list = line.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let is_whole = serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
    if is_whole && !is_list {
        return Layout::Lines;
    }
    let next = reader.fill_buf().unwrap_or_default();
    let is_row = next.starts_with(b"{\"")
        || next.starts_with(b"{ \"")
        || (is_whole && next.starts_with(b"["));
    if is_row && (is_whole || !is_list) { Layout::Lines } else { Layout::Values }
}

fn read_lines(
    mut line: Vec<u8>,
    mut row: usize,
    mut reader: impl BufRead,
    name: &Arc<str>,
    sink: &mut Sink,
) -> Result<(), Closed> {
    loop {
        push(&mut line, row, name, sink)?;
        row += 1;
        match read_bounded(&mut reader, b'\n', LARGEST_ROW, &mut line) {
            Ok(Bounded::End) => return Ok(()),
            Ok(Bounded::Line) => {}
            Ok(Bounded::TooLarge) => {
                line.clear();
                too_large(name, row, sink)?;
            }
            Err(error) => return unreadable(name, row, &error, sink),
        }
    }
}

/// Hands a row on.
pub(super) fn push(
    bytes: &mut Vec<u8>,
    row: usize,
    name: &Arc<str>,
    sink: &mut Sink,
) -> Result<(), Closed> {
    bytes.truncate(bytes.trim_ascii_end().len());
    bytes.drain(..bytes.len() - bytes.trim_ascii_start().len());
    if bytes.is_empty() {
        return Ok(());
    }
    let place = Place::line(name.clone(), row);
    let text = std::str::from_utf8(bytes).map(Arc::from);
    if bytes.len() > LARGE_ROW {
        *bytes = Vec::new();
    }
    match text {
        Ok(text) => sink.row(place, text),
        Err(error) => {
            let rule = format!(
                "byte {} is not UTF-8; logs are JSON, plain, gzip or zstd, or Parquet",
                error.valid_up_to() + 1
            );
            sink.problem(place, ProblemKind::Broken, rule)
        }
    }
}

pub(super) fn too_large(name: &Arc<str>, row: usize, sink: &mut Sink) -> Result<(), Closed> {
    let rule = format!("is larger than {} MB; split it, or leave it out", LARGEST_ROW >> 20);
    sink.problem(Place::line(name.clone(), row), ProblemKind::Broken, rule)
}

pub(super) fn unreadable(
    name: &Arc<str>,
    row: usize,
    error: &std::io::Error,
    sink: &mut Sink,
) -> Result<(), Closed> {
    let rule = match error.kind() {
        ErrorKind::UnexpectedEof => {
            "the compressed data ends early; the file was cut off, fetch or write it again"
                .to_owned()
        }
        ErrorKind::InvalidInput | ErrorKind::InvalidData => {
            "the compressed data is damaged; fetch or write the file again".to_owned()
        }
        _ => format!("cannot be read from here on: {}", cause(error)),
    };
    sink.unreadable(name, row, rule)
}

/// Parts values that stand in a list or one after the other, byte by byte.
#[derive(Default)]
struct Splitter {
    value: Vec<u8>,
    depth: usize,
    text: Text,
    around: Around,
    is_too_large: bool,
}

/// Position of a byte inside or outside of a text.
#[derive(Default, PartialEq, Eq)]
enum Text {
    #[default]
    Outside,
    Inside,
    Escaped,
}

/// Container that values stand in.
#[derive(Default, PartialEq, Eq)]
enum Around {
    #[default]
    Unknown,
    Nothing,
    List,
}

/// Meaning of a byte.
enum Split {
    Inside,
    /// The last of a value; or the end of a line in the middle of a text, where a value broke off.
    End,
}

impl Splitter {
    fn take(&mut self, byte: u8) -> Split {
        if self.text != Text::Outside {
            return self.take_in_text(byte);
        }
        if self.depth == 0 {
            let is_apart = self.around == Around::List && matches!(byte, b',' | b']');
            match byte {
                b'[' if self.around == Around::Unknown => {
                    self.around = Around::List;
                    return Split::Inside;
                }
                _ if is_apart && self.value.is_empty() => return Split::Inside,
                _ if is_apart => return Split::End,
                byte if byte.is_ascii_whitespace() && self.value.is_empty() => {
                    return Split::Inside;
                }
                b'\n' => return Split::End,
                _ => {}
            }
        }
        if self.around == Around::Unknown {
            self.around = Around::Nothing;
        }
        match byte {
            b'"' => self.text = Text::Inside,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.keep(byte);
        if self.depth == 0 && matches!(byte, b'}' | b']') { Split::End } else { Split::Inside }
    }

    fn take_in_text(&mut self, byte: u8) -> Split {
        if byte == b'\n' {
            // No text of JSON goes over the end of a line: the next value begins after it.
            (self.text, self.depth) = (Text::Outside, 0);
            return Split::End;
        }
        self.text = match (&self.text, byte) {
            (Text::Escaped, _) => Text::Inside,
            (_, b'\\') => Text::Escaped,
            (_, b'"') => Text::Outside,
            _ => Text::Inside,
        };
        self.keep(byte);
        Split::Inside
    }

    fn keep(&mut self, byte: u8) {
        if self.value.len() >= LARGEST_ROW {
            self.is_too_large = true;
            self.value.clear();
        }
        self.value.push(byte);
    }
}

fn read_values(
    first: &[u8],
    mut reader: impl BufRead,
    name: &Arc<str>,
    sink: &mut Sink,
) -> Result<(), Closed> {
    let mut splitter = Splitter::default();
    let mut row = 1;
    let mut take = |bytes: &[u8], splitter: &mut Splitter, sink: &mut Sink| -> Result<(), Closed> {
        for byte in bytes {
            if matches!(splitter.take(*byte), Split::Inside) {
                continue;
            }
            if std::mem::take(&mut splitter.is_too_large) {
                too_large(name, row, sink)?;
            } else {
                push(&mut splitter.value, row, name, sink)?;
            }
            splitter.value.clear();
            row += 1;
        }
        Ok(())
    };
    take(first, &mut splitter, sink)?;
    loop {
        let (taken, end) = match reader.fill_buf() {
            Ok([]) => break,
            Ok(buffer) => {
                take(buffer, &mut splitter, sink)?;
                (buffer.len(), None)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => (0, Some(error)),
        };
        if let Some(error) = end {
            return unreadable(name, row, &error, sink);
        }
        reader.consume(taken);
    }
    push(&mut splitter.value, row, name, sink)
}
