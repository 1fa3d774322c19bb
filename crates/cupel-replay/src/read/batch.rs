//! Lines of batch files, of OpenAI and Anthropic: a request with an id of its own.

use cupel_chat::{Pick, TranscriptKind};

use super::table::Reader;
use super::{LoggedRequest, RowContent, RowError};

pub(super) const LINE: Reader = Reader {
    called: "a line of a batch",
    proves: |row| row.has("custom_id"),
    read: |row| {
        if row.has("response") || row.has("result") {
            return Ok(RowContent::skip(
                "answers of a batch, which stand apart from their requests",
            ));
        }
        let imported = TranscriptKind::Batch
            .import(row.text, &Pick::Last)
            .map_err(|error| RowError::new(error.to_string()))?;
        Ok(RowContent::of(Ok(LoggedRequest {
            request: imported.text.into(),
            ..LoggedRequest::default()
        })))
    },
    columns: &["custom_id", "method", "url", "body", "params"],
};
