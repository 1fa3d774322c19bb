//! JSON lines that a program wrote while it ran: some may be broken, and the last may be half there.

use super::notes::Notes;
use crate::json::{Json, Object};

/// The lines that are not empty, each with its number from 1, read or with what is wrong.
pub(super) fn records(text: &str) -> impl Iterator<Item = (usize, Result<Json<'_>, Broken>)> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| {
        (at + 1, Json::parse(line).map_err(|error| Broken { is_cut: error.is_eof() }))
    })
}

/// A line that is no JSON.
pub(super) struct Broken {
    is_cut: bool,
}

/// A line that is an object.
pub(super) struct Line<'t> {
    /// From 1.
    pub(super) number: usize,
    pub(super) json: Json<'t>,
    pub(super) object: Object<'t>,
}

/// The lines that are objects. Others are noted.
pub(super) fn objects<'t>(text: &'t str, notes: &mut Notes) -> Vec<Line<'t>> {
    let mut found = Vec::new();
    for (number, read) in records(text) {
        match read.map(|json| (json, json.object())) {
            Ok((json, Some(object))) => found.push(Line { number, json, object }),
            Ok((_, None)) => notes.skip("something that is no record", Some(number)),
            Err(Broken { is_cut: true }) => notes.skip("a line that is not whole", Some(number)),
            Err(Broken { is_cut: false }) => notes.skip("a line that is no JSON", Some(number)),
        }
    }
    found
}
