//! The program's side of the protocol.

use std::io::{self, BufRead, Write};

use serde::Serialize;
use serde_json::Value;

use super::{Answer, ErrorAnswer, Request};
use crate::implementation::{Implementation, Refusal, ask};

/// One line of output.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(flatten)]
    body: Body<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Body<'a> {
    Error(&'a ErrorAnswer),
    Unsupported(&'a str),
    #[serde(untagged)]
    Answer(&'a Answer),
}

/// Answers every request of `input` on `output` until the input ends.
///
/// A line that is not a request is answered with the error `bad_request`; blank lines are ignored.
///
/// ```
/// use cupel_conformance::{OracleImplementation, serve};
///
/// let request = r#"{"id":1,"stage":"placing","placer":"u-shaped","scores":[0.1,0.9],
///     "items":[{"content":"a","tokens":5},{"content":"b","tokens":5}]}"#.replace('\n', "");
/// let mut output = Vec::new();
/// serve(&mut OracleImplementation, request.as_bytes(), &mut output)?;
/// assert_eq!(output, b"{\"id\":1,\"order\":[1,0]}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// When the input cannot be read or the output cannot be written.
pub fn serve<I: Implementation + ?Sized>(
    implementation: &mut I,
    input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    for line in input.lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = answer_line(implementation, &line)?;
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn answer_line<I: Implementation + ?Sized>(
    implementation: &mut I,
    line: &str,
) -> io::Result<String> {
    let (id, result) = match serde_json::from_str::<Request>(line) {
        Ok(request) => (Some(request.id), ask(implementation, &request.task)),
        Err(error) => {
            let error = ErrorAnswer::new("bad_request", error.to_string());
            (id_of(line), Err(Refusal::Error(error)))
        }
    };
    let result = result.map_err(|refusal| match refusal {
        Refusal::Broken(text) => Refusal::Error(ErrorAnswer::new("broken", text)),
        refusal => refusal,
    });
    let body = match &result {
        Ok(answer) => Body::Answer(answer),
        Err(Refusal::Error(error)) => Body::Error(error),
        Err(Refusal::Unsupported(text) | Refusal::Broken(text)) => Body::Unsupported(text),
    };
    Ok(serde_json::to_string(&Line { id, body })?)
}

/// The id of a line that is JSON but not a request.
fn id_of(line: &str) -> Option<u64> {
    serde_json::from_str::<Value>(line).ok()?.get("id")?.as_u64()
}
