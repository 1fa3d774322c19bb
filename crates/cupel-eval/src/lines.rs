//! JSON lines, one at a time, plain or gzip.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use serde_json::Value;

use crate::error::{DataError, Problem};

/// First bytes of a gzip file; the file's name does not matter.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The JSON values of a file, line by line; blank lines are passed over.
pub(crate) struct JsonLines<'r> {
    name: String,
    reader: Box<dyn BufRead + 'r>,
    line: usize,
    buffer: Vec<u8>,
}

impl<'r> JsonLines<'r> {
    /// Reads a file.
    pub(crate) fn open(path: &Path) -> Result<JsonLines<'static>, DataError> {
        let name = path.display().to_string();
        if path.is_dir() {
            return Err(DataError::in_file(&name, "is a folder; name a file"));
        }
        let file = File::open(path).map_err(|error| DataError::cannot_open(&name, &error))?;
        JsonLines::new(&name, file)
    }

    /// Reads whatever can be read. Errors call it by the name.
    pub(crate) fn new(name: &str, mut source: impl Read + 'r) -> Result<Self, DataError> {
        let mut start = Vec::with_capacity(GZIP.len());
        source
            .by_ref()
            .take(GZIP.len() as u64)
            .read_to_end(&mut start)
            .map_err(|error| DataError::cannot_open(name, &error))?;
        let is_gzip = start == GZIP;
        let whole = BufReader::new(io::Cursor::new(start).chain(source));
        let reader: Box<dyn BufRead + 'r> = if is_gzip {
            Box::new(BufReader::new(MultiGzDecoder::new(whole)))
        } else {
            Box::new(whole)
        };
        Ok(Self { name: name.to_owned(), reader, line: 0, buffer: Vec::new() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The same problem with file and line.
    pub(crate) fn blame(&self, problem: Problem) -> DataError {
        DataError::in_line(&self.name, self.line, problem)
    }

    fn parse(&self) -> Result<Value, DataError> {
        let text = std::str::from_utf8(&self.buffer).map_err(|error| {
            let at = error.valid_up_to();
            let byte = self.buffer.get(at).copied().unwrap_or_default();
            self.blame(Problem::new(format!(
                "byte {} of the line (0x{byte:02x}) is not UTF-8; only JSON lines can be read, \
                 plain or gzip",
                at + 1
            )))
        })?;
        serde_json::from_str(text)
            .map_err(|error| DataError::not_json(&self.name, self.line, &error))
    }
}

impl Iterator for JsonLines<'_> {
    type Item = Result<Value, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.buffer.clear();
            self.line += 1;
            match self.reader.read_until(b'\n', &mut self.buffer) {
                Ok(0) => return None,
                Ok(_) if self.buffer.iter().all(u8::is_ascii_whitespace) => {}
                Ok(_) => return Some(self.parse()),
                Err(error) => {
                    return Some(Err(DataError::unreadable(&self.name, self.line, &error)));
                }
            }
        }
    }
}
