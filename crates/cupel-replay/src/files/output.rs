//! Results, one row for each request and way: Parquet, or JSON lines.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;

use crate::batch::results_batch;
use crate::outcome::RowOutcome;
use crate::results::{ResultRow, result_rows};
use crate::settings::Way;

/// So many results are held before they are made into columns.
const CHUNK_ROWS: usize = 8_192;
/// So many bytes of columns are held before they are written as a row group: of each row group the writer
/// remembers where it is until the end, so there should not be many.
const GROUP_BYTES: usize = 32 << 20;

/// Results that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write: {0}")]
pub struct OutputError(String);

impl From<io::Error> for OutputError {
    fn from(error: io::Error) -> Self {
        Self(super::cause(&error))
    }
}

impl From<::parquet::errors::ParquetError> for OutputError {
    fn from(error: ::parquet::errors::ParquetError) -> Self {
        Self(super::tidy(&error.to_string()))
    }
}

impl From<arrow_schema::ArrowError> for OutputError {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self(super::tidy(&error.to_string()))
    }
}

/// Writes what became of each request.
pub struct ResultWriter {
    ways: Vec<Way>,
    sink: Sink,
}

enum Sink {
    Lines(BufWriter<File>),
    Parquet { writer: Box<ArrowWriter<File>>, rows: Vec<ResultRow> },
}

impl ResultWriter {
    /// Writes into a file: Parquet if it is called so, otherwise JSON lines.
    ///
    /// # Errors
    ///
    /// If the file cannot be made.
    pub fn create(path: &Path, ways: &[Way]) -> Result<Self, OutputError> {
        let file = File::create(path)?;
        let is_parquet =
            path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"));
        let sink = if is_parquet {
            let schema = results_batch(&[])?.schema();
            let compression = Compression::ZSTD(ZstdLevel::default());
            let properties = WriterProperties::builder().set_compression(compression).build();
            let writer = Box::new(ArrowWriter::try_new(file, schema, Some(properties))?);
            Sink::Parquet { writer, rows: Vec::new() }
        } else {
            Sink::Lines(BufWriter::new(file))
        };
        Ok(Self { ways: ways.to_vec(), sink })
    }

    /// Writes some outcomes.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&mut self, outcomes: &[RowOutcome]) -> Result<(), OutputError> {
        for outcome in outcomes {
            for row in result_rows(outcome, &self.ways) {
                match &mut self.sink {
                    Sink::Lines(file) => {
                        serde_json::to_writer(&mut *file, &row).map_err(io::Error::from)?;
                        file.write_all(b"\n")?;
                    }
                    Sink::Parquet { writer, rows } => {
                        rows.push(row);
                        if rows.len() >= CHUNK_ROWS {
                            writer.write(&results_batch(&std::mem::take(rows))?)?;
                            if writer.memory_size() >= GROUP_BYTES {
                                writer.flush()?;
                            }
                        }
                    }
                }
            }
        }
        // Whoever looks into the file meanwhile sees whole lines.
        if let Sink::Lines(file) = &mut self.sink {
            file.flush()?;
        }
        Ok(())
    }

    /// Writes the end of the file, without which it cannot be read.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn finish(self) -> Result<(), OutputError> {
        match self.sink {
            Sink::Lines(mut file) => file.flush()?,
            Sink::Parquet { mut writer, rows } => {
                writer.write(&results_batch(&rows)?)?;
                writer.close()?;
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for ResultWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResultWriter").field("ways", &self.ways).finish_non_exhaustive()
    }
}
