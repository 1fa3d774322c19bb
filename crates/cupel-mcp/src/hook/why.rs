//! What hooks did in a session, and what is in its context now: a page for people.

use std::fmt::Write as _;
use std::path::PathBuf;

use cupel_engine::Count;

use super::compact::read;
use super::log::Deed;
use super::{HookError, HookSettings};

/// The most rows of a list.
const MOST_ROWS: usize = 12;

/// What was shortened and put back in a session, and what is in its context now.
///
/// # Errors
///
/// If the session is not known, or its files cannot be read.
pub fn why(session: &str, settings: &HookSettings) -> Result<String, HookError> {
    let deeds = settings.log(session)?.deeds()?;
    if deeds.is_empty() {
        let rule = format!(
            "no hook has seen the session `{session}`; are the plugin's hooks switched on?"
        );
        return Err(HookError::Input(rule));
    }
    let mut page = String::new();
    shortened(&mut page, &deeds);
    put_back(&mut page, &deeds);
    match transcript(&deeds) {
        Some(path) => {
            let (prepared, notes) = read(&path, settings)?;
            in_context(&mut page, &prepared.count(), &notes);
        }
        None => page
            .push_str("\nThe transcript is not known, so what is in the context is not either.\n"),
    }
    Ok(page)
}

fn transcript(deeds: &[Deed]) -> Option<PathBuf> {
    deeds.iter().rev().find_map(|deed| match deed {
        Deed::Begun { transcript } => transcript.clone(),
        _ => None,
    })
}

fn shortened(page: &mut String, deeds: &[Deed]) {
    let rows = deeds.iter().filter_map(|deed| match deed {
        Deed::Shortened { tool, handle, form, before, after, .. } => {
            Some((tool, handle, form, before, after))
        }
        _ => None,
    });
    let rows: Vec<_> = rows.collect();
    let (before, after) = rows.iter().fold((0_i64, 0_i64), |(before, after), row| {
        (before.saturating_add(*row.3), after.saturating_add(*row.4))
    });
    let _ = match rows.len() {
        0 => writeln!(page, "No result was shortened."),
        1 => writeln!(page, "1 result was shortened, {before} tokens to {after}:"),
        count => writeln!(page, "{count} results were shortened, {before} tokens to {after}:"),
    };
    for (tool, handle, form, before, after) in rows.iter().rev().take(MOST_ROWS) {
        let _ = writeln!(page, "  {tool}: {before} to {after} tokens ({form}), whole: {handle}");
    }
    more(page, rows.len());
}

fn put_back(page: &mut String, deeds: &[Deed]) {
    let told = deeds.iter().filter_map(|deed| match deed {
        Deed::PutBack { rules } => Some(*rules),
        _ => None,
    });
    let told: Vec<usize> = told.collect();
    let noted = deeds.iter().rev().find_map(|deed| match deed {
        Deed::Noted { rules } => Some(rules.as_slice()),
        _ => None,
    });
    let Some(last) = told.last() else {
        page.push_str("\nNo rules had to be put back.\n");
        return;
    };
    let times = if told.len() == 1 { "once".to_owned() } else { format!("{} times", told.len()) };
    let _ = writeln!(page, "\nCompacted {times}; these rules of the user were put back:");
    let rules = noted.unwrap_or_default();
    for rule in rules.iter().skip(rules.len().saturating_sub(*last)) {
        let _ = writeln!(page, "  - {}", cupel_names::excerpt(rule, 160, cupel_names::letters));
    }
}

fn in_context(page: &mut String, count: &Count, notes: &[String]) {
    let estimated = if count.is_estimate { " (estimated)" } else { "" };
    let total = count.total_tokens;
    let _ = writeln!(
        page,
        "\nThe transcript puts {} parts into the context, {total} tokens{estimated}; the largest:",
        count.parts.len()
    );
    let mut parts: Vec<_> = count.parts.iter().collect();
    parts.sort_by(|a, b| b.tokens.cmp(&a.tokens).then(a.position.cmp(&b.position)));
    for part in parts.iter().take(MOST_ROWS) {
        let excerpt = cupel_names::excerpt(&part.excerpt, 90, cupel_names::letters);
        let _ = writeln!(page, "  {} tokens, {}: {excerpt}", part.tokens, part.label());
    }
    more(page, parts.len());
    for note in notes {
        let _ = writeln!(page, "Note: {note}");
    }
}

fn more(page: &mut String, count: usize) {
    if count > MOST_ROWS {
        let _ = writeln!(page, "  and {} more", count - MOST_ROWS);
    }
}
