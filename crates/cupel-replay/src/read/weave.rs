//! Weave: calls, as its server keeps them; those of libraries of providers count.

use super::answer::Answer;
use super::chat::{self, Asked};
use super::row::{Row, first_text, unwrapped};
use super::table::Reader;
use super::{LoggedRequest, RowContent, RowError, time, usage};

pub(super) const CALL: Reader = Reader {
    called: "a call of Weave",
    proves: |row| row.has("op_name") && row.fields.contains_key("inputs"),
    read,
    columns: &[
        "op_name",
        "inputs",
        "output",
        "started_at",
        "trace_id",
        "thread_id",
        "summary",
        "wb_user_id",
        "display_name",
    ],
};

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    let row = row.whole()?;
    let inputs = unwrapped(&row["inputs"]);
    let named = first_text(row, &["op_name"]).unwrap_or_default();
    // `weave:///team/project/op/openai.chat.completions.create:version`
    let name = named.rsplit('/').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let is_call = ["messages", "contents", "input"].iter().any(|list| !inputs[*list].is_null())
        && !inputs["model"].is_null();
    if !is_call {
        return Ok(RowContent::skip(format!("calls of Weave of the operation {name}")));
    }
    let model = first_text(&inputs, &["model"]);
    let asked = Asked { input: Some(&inputs), model: model.as_deref(), ..Asked::default() };
    let output = unwrapped(&row["output"]);
    let of_summary = row["summary"]["usage"].as_object().and_then(|usage| usage.values().next());
    Ok(RowContent::of(chat::request("inputs", &asked).map(|request| {
        LoggedRequest {
            request,
            answer: Answer::of(&output),
            conversation: first_text(row, &["thread_id", "trace_id"]),
            counted_tokens: usage::input_tokens(&output["usage"])
                .or_else(|| of_summary.and_then(usage::input_tokens)),
            time: time::micros(&row["started_at"]),
            route: first_text(row, &["display_name"]).or_else(|| Some(name.to_owned())),
            user: first_text(row, &["wb_user_id"]),
            model,
        }
    })))
}
