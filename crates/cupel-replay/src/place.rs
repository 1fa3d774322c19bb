//! Where a row of a log is.

use std::fmt;
use std::sync::Arc;

/// Where a row of a log is: what every message about it begins with.
///
/// ```
/// use cupel_replay::Place;
///
/// assert_eq!(Place::line("calls.jsonl", 12).to_string(), "calls.jsonl:12");
/// assert_eq!(Place::line("calls.jsonl", 0).to_string(), "calls.jsonl");
/// let place = Place { row_group: Some(2), ..Place::line("calls.parquet", 7) };
/// assert_eq!(place.to_string(), "calls.parquet: row group 2, row 7");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as the caller named it.
    pub file: Arc<str>,
    /// The row group, from 1, in files that have such.
    pub row_group: Option<usize>,
    /// The line, the element of a list, or the row of the row group, from 1; 0 is all of the file.
    pub row: usize,
    /// Which request of the row, from 1, where it holds several.
    pub part: Option<usize>,
}

impl Place {
    /// A line of a file.
    pub fn line(file: impl Into<Arc<str>>, row: usize) -> Self {
        Self { file: file.into(), row_group: None, row, part: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row_group {
            Some(group) => write!(f, "{}: row group {group}, row {}", self.file, self.row)?,
            None if self.row == 0 => f.write_str(&self.file)?,
            None => write!(f, "{}:{}", self.file, self.row)?,
        }
        match self.part {
            Some(part) => write!(f, ", request {part}"),
            None => Ok(()),
        }
    }
}
