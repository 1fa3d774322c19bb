//! Results as a batch of Arrow.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};

use crate::results::ResultRow;

/// Results as columns, all of which may be null: all batches have one schema.
///
/// # Errors
///
/// If Arrow refuses them, which it has no reason to.
pub fn results_batch(rows: &[ResultRow]) -> Result<RecordBatch, ArrowError> {
    let texts = |of: &dyn Fn(&ResultRow) -> Option<String>| -> ArrayRef {
        let mut column = StringBuilder::new();
        for row in rows {
            column.append_option(of(row));
        }
        Arc::new(column.finish())
    };
    let numbers = |of: &dyn Fn(&ResultRow) -> Option<i64>| -> ArrayRef {
        let mut column = Int64Builder::new();
        for row in rows {
            column.append_option(of(row));
        }
        Arc::new(column.finish())
    };
    let flags = |of: &dyn Fn(&ResultRow) -> Option<bool>| -> ArrayRef {
        let mut column = BooleanBuilder::new();
        for row in rows {
            column.append_option(of(row));
        }
        Arc::new(column.finish())
    };
    let shares = |of: &dyn Fn(&ResultRow) -> Option<f64>| -> ArrayRef {
        let mut column = Float64Builder::new();
        for row in rows {
            column.append_option(of(row));
        }
        Arc::new(column.finish())
    };
    let mut kept = ListBuilder::new(Int64Builder::new());
    let mut reasons = ListBuilder::new(StringBuilder::new());
    for row in rows {
        match &row.kept {
            Some(messages) => kept.append_value(messages.iter().map(|at| Some(i64::from(*at)))),
            None => kept.append_null(),
        }
        reasons.append_value(row.reasons.iter().map(Some));
    }
    let count = |number: Option<usize>| number.and_then(|number| i64::try_from(number).ok());
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("file", texts(&|row| Some(row.file.clone()))),
        ("row_group", numbers(&|row| count(row.row_group))),
        ("row", numbers(&|row| count(Some(row.row)))),
        ("part", numbers(&|row| count(row.part))),
        ("request", texts(&|row| row.request.clone())),
        ("conversation", texts(&|row| row.conversation.clone())),
        ("messages", numbers(&|row| count(row.messages))),
        ("tokens_before", numbers(&|row| row.tokens_before)),
        ("uncached_before", numbers(&|row| row.uncached_before)),
        ("policy", texts(&|row| row.policy.clone())),
        ("in_session", flags(&|row| row.in_session)),
        ("budget", numbers(&|row| row.budget)),
        ("fits", flags(&|row| row.fits)),
        ("changed", flags(&|row| row.changed)),
        ("kept", Arc::new(kept.finish())),
        ("tokens", numbers(&|row| row.tokens)),
        ("uncached", numbers(&|row| row.uncached)),
        ("coverage", shares(&|row| row.coverage)),
        ("used", numbers(&|row| count(row.used))),
        ("found", numbers(&|row| count(row.found))),
        ("coverage_of_request_before", shares(&|row| row.coverage_of_request_before)),
        ("shortened", numbers(&|row| count(row.shortened))),
        ("fetched_again", numbers(&|row| count(row.fetched_again))),
        ("reasons", Arc::new(reasons.finish())),
        ("problem", texts(&|row| row.problem.clone())),
    ];
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
        .collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}
