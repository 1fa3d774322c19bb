//! Parquet: the columns that are needed, row by row, as JSON. The crates `parquet` and `arrow-json` do
//! the work.

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_cast::cast;
use arrow_json::LineDelimitedWriter;
use arrow_schema::{DataType, Field, Schema};

use super::{Closed, LARGEST_ROW, Sink, tidy};
use crate::outcome::ProblemKind;
use crate::place::Place;
use crate::read::{Columns, needed_columns};

/// So many bytes of rows are held at a time, as far as the file's own figures tell.
const CHUNK_BYTES: i64 = 8 << 20;
const MOST_ROWS: i64 = 512;

pub(super) fn read(
    path: &Path,
    name: &Arc<str>,
    columns: &Columns,
    sink: &mut Sink,
) -> Result<(), Closed> {
    let opened = File::open(path).map_err(|error| error.to_string()).and_then(|file| {
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new());
        metadata.map(|metadata| (file, metadata)).map_err(|error| error.to_string())
    });
    let (file, metadata) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let rule =
                format!("is no whole Parquet file: {}; fetch or write it again", tidy(&error));
            return sink.unreadable(name, 0, rule);
        }
    };
    let names: Vec<String> =
        metadata.schema().fields().iter().map(|field| field.name().clone()).collect();
    let needed: HashSet<&str> = needed_columns().collect();
    // Spans in tables have attributes as columns of their own.
    let is_attribute = |column: &str| {
        ["gen_ai.", "llm.", "attributes."].iter().any(|start| column.starts_with(start))
    };
    let is_wanted = |column: &&String| {
        columns
            .needs(column)
            .unwrap_or_else(|| needed.contains(column.as_str()) || is_attribute(column))
    };
    // By position: a name may have dots of its own.
    let kept: Vec<usize> = (0..names.len()).filter(|at| is_wanted(&&names[*at])).collect();
    if kept.is_empty() {
        let there = names.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
        let rule = match columns.needs("") {
            Some(_) => {
                let wanted = columns.fields().join(", ");
                format!("there is no column {wanted}, there are {there}; correct --columns")
            }
            None => format!(
                "has no column of a known format, it has {there}; say what they are with --columns \
                 request=COLUMN,response=COLUMN"
            ),
        };
        return sink.unreadable(name, 0, rule);
    }
    for group in 0..metadata.metadata().num_row_groups() {
        let Ok(file) = file.try_clone() else { continue };
        let group = Group { name, number: group, kept: &kept, metadata: &metadata };
        group.read(file, sink)?;
        let share =
            (group.number + 1) as u64 * std::fs::metadata(path).map_or(0, |data| data.len());
        sink.read.set(share / metadata.metadata().num_row_groups() as u64);
    }
    Ok(())
}

/// A row group of a file.
struct Group<'f> {
    name: &'f Arc<str>,
    number: usize,
    kept: &'f [usize],
    metadata: &'f ArrowReaderMetadata,
}

impl Group<'_> {
    fn place(&self, row: usize) -> Place {
        Place { row_group: Some(self.number + 1), ..Place::line(self.name.clone(), row) }
    }

    fn read(&self, file: File, sink: &mut Sink) -> Result<(), Closed> {
        let about = self.metadata.metadata().row_group(self.number);
        let per_row = about.total_byte_size() / about.num_rows().max(1);
        let rows = (CHUNK_BYTES / per_row.max(1)).clamp(1, MOST_ROWS) as usize;
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        let mask = ProjectionMask::roots(builder.parquet_schema(), self.kept.iter().copied());
        let reader = builder
            .with_projection(mask)
            .with_row_groups(vec![self.number])
            .with_batch_size(rows)
            .build();
        let mut row = 1;
        let reader = match reader {
            Ok(reader) => reader,
            Err(error) => {
                return self.unreadable(row, &error.to_string(), sink);
            }
        };
        for batch in reader {
            match batch {
                Ok(batch) => {
                    self.push(&batch, row, sink)?;
                    row += batch.num_rows();
                }
                Err(error) => {
                    return self.unreadable(row, &error.to_string(), sink);
                }
            }
        }
        Ok(())
    }

    fn unreadable(&self, row: usize, error: &str, sink: &mut Sink) -> Result<(), Closed> {
        let rule = format!(
            "cannot be read from here to the end of the row group: {}; fetch or write the file again",
            tidy(error)
        );
        sink.problem(self.place(row), ProblemKind::Unreadable, rule)
    }

    fn push(&self, batch: &RecordBatch, first: usize, sink: &mut Sink) -> Result<(), Closed> {
        let texts = batch_of_texts(batch);
        for at in 0..batch.num_rows() {
            let place = self.place(first + at);
            let written = texts.as_ref().map_err(ToString::to_string).and_then(|texts| {
                let mut line = Vec::new();
                let mut writer = LineDelimitedWriter::new(&mut line);
                writer
                    .write(&texts.slice(at, 1))
                    .and_then(|()| writer.finish())
                    .map_err(|error| error.to_string())?;
                drop(writer);
                String::from_utf8(line).map_err(|error| error.to_string())
            });
            match written {
                Ok(text) if text.len() > LARGEST_ROW => {
                    let rule = format!(
                        "is larger than {} MB; split it, or leave it out",
                        LARGEST_ROW >> 20
                    );
                    sink.problem(place, ProblemKind::Broken, rule)?;
                }
                Ok(text) => sink.row(place, text.into())?,
                Err(error) => sink.problem(
                    place,
                    ProblemKind::Broken,
                    format!("cannot be written as JSON: {}", tidy(&error)),
                )?,
            }
        }
        Ok(())
    }
}

/// The same with texts where there are bytes: logs hold JSON, whatever the column says.
fn batch_of_texts(batch: &RecordBatch) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let is_bytes = |kind: &DataType| {
        matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
    };
    let mut columns = batch.columns().to_vec();
    let mut fields = Vec::new();
    for (column, field) in columns.iter_mut().zip(batch.schema().fields()) {
        if is_bytes(field.data_type()) {
            *column = cast(column, &DataType::LargeUtf8)?;
        }
        fields.push(Field::new(field.name(), column.data_type().clone(), true));
    }
    let schema = Arc::new(Schema::new(fields));
    if columns.is_empty() {
        let whole = StructArray::new_empty_fields(batch.num_rows(), None);
        return Ok(RecordBatch::from(whole));
    }
    RecordBatch::try_new(schema, columns)
}
