//! What was measured, as text, as Markdown or as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use crate::contest::{self, Bound, Ratio};
use crate::measure::Timing;
use crate::options::Format;
use crate::{frequency, memory, relevance, telemetry};

const NOTHING: &str = "–";

pub struct Table {
    title: &'static str,
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

pub fn contest(outcomes: &[contest::Outcome]) -> Table {
    let ratio = |over: Option<Timing>, under: Timing| {
        over.map_or_else(nothing, |over| quotient(over.best_seconds / under.best_seconds))
    };
    let rows = outcomes.iter().map(|one| {
        vec![
            one.workload.to_owned(),
            count(one.items),
            one.floor.map_or_else(nothing, time),
            time(one.ours),
            one.ours_to_floor.map_or_else(nothing, judged),
            match one.published_not_run {
                Some(why) => why.to_owned(),
                None => one.published_to_ours.map_or_else(nothing, judged),
            },
            ratio(one.rig_memory, one.ours),
            ratio(one.rig_memory_with_copy, one.ours),
        ]
    });
    Table {
        title: "Time of one run",
        header: vec![
            "workload",
            "N",
            "floor",
            "ours",
            "ours ÷ floor",
            "published ÷ ours",
            "rig-memory ÷ ours",
            "the same with its copy",
        ],
        rows: rows.collect(),
        notes: contest_notes(outcomes),
    }
}

fn contest_notes(outcomes: &[contest::Outcome]) -> Vec<String> {
    let ratios = || outcomes.iter().flat_map(|one| [one.ours_to_floor, one.published_to_ours]);
    let verdicts: Vec<bool> = ratios().flatten().filter_map(|ratio| ratio.met).collect();
    let mut notes = vec!["Best of several interleaved rounds; a ratio is between bests.".into()];
    if !verdicts.is_empty() {
        let met = verdicts.iter().filter(|met| **met).count();
        notes.push(format!("{met} of {} targets met.", verdicts.len()));
    }
    let different = outcomes.iter().filter(|one| one.same_answer == Some(false));
    let different: Vec<String> =
        different.map(|one| format!("{} at {}", one.workload, count(one.items))).collect();
    if !different.is_empty() {
        notes.push(format!("The published crate answers differently: {}.", different.join("; ")));
    }
    notes
}

pub fn frequency(outcomes: &[frequency::Outcome]) -> Table {
    let rows = outcomes.iter().map(|one| {
        let per_item = one.ours.best_seconds / one.items as f64;
        vec![one.workload.to_owned(), count(one.items), time(one.ours), seconds(per_item)]
    });
    Table {
        title: "Frequency as the only signal, a whole run",
        header: vec!["workload", "N", "ours", "an item"],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

pub fn relevance(outcomes: &[relevance::Outcome]) -> Table {
    let rows = outcomes.iter().map(|one| {
        vec![
            one.workload.clone(),
            count(one.items),
            time(one.floor),
            time(one.fresh),
            judged(one.fresh_to_floor),
            time(one.kept),
            judged(one.kept_to_floor),
        ]
    });
    Table {
        title: "Scoring a query of ten words, from nothing and with an index that is kept",
        header: vec!["workload", "N", "floor", "from nothing", "÷ floor", "kept index", "÷ floor"],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

pub fn telemetry(outcomes: &[telemetry::Outcome]) -> Table {
    let rows = outcomes.iter().map(|one| {
        let ratio = judged(one.traced_to_plain);
        vec![one.workload.to_owned(), count(one.items), time(one.plain), time(one.traced), ratio]
    });
    Table {
        title: "A run with four signals, plain and sent to OpenTelemetry",
        header: vec!["workload", "N", "plain", "traced", "traced ÷ plain"],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

pub fn memory(outcomes: &[memory::Outcome]) -> Table {
    let rows = outcomes.iter().map(|one| {
        let per_item = format!("{:.1}", one.bytes_per_item);
        let per_item = match (one.below, one.met) {
            (Some(below), Some(met)) => format!("{per_item} (< {below}, {})", verdict(met)),
            _ => per_item,
        };
        vec![one.workload.clone(), count(one.items), count(one.peak_bytes), per_item]
    });
    Table {
        title: "Peak memory beyond the input, the returned window included",
        header: vec!["workload", "N", "bytes", "bytes an item"],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("plain numbers and texts")
}

impl Table {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn render(&self, format: Format) -> String {
        let markdown = format == Format::Markdown;
        let header: Vec<String> = self.header.iter().map(|&name| name.to_owned()).collect();
        let widths: Vec<usize> = (0..header.len())
            .map(|column| {
                let cells =
                    self.rows.iter().chain([&header]).map(|row| row[column].chars().count());
                cells.max().unwrap_or(0)
            })
            .collect();

        let mut text = String::new();
        if !markdown {
            let _ = writeln!(text, "{}\n", self.title);
        }
        line(&mut text, &header, &widths, markdown);
        let rule: Vec<String> = widths
            .iter()
            .enumerate()
            .map(|(column, &width)| match (markdown, column) {
                (true, 0) => format!(":{}", "-".repeat(width.max(2) - 1)),
                (true, _) => format!("{}:", "-".repeat(width.max(2) - 1)),
                (false, _) => "-".repeat(width),
            })
            .collect();
        line(&mut text, &rule, &widths, markdown);
        for row in &self.rows {
            line(&mut text, row, &widths, markdown);
        }
        text.push('\n');
        for note in &self.notes {
            let _ = writeln!(text, "{note}");
        }
        text
    }
}

/// The first column to the left, numbers to the right.
fn line(text: &mut String, cells: &[String], widths: &[usize], markdown: bool) {
    let mut line = String::from(if markdown { "| " } else { "" });
    for (column, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        if column > 0 {
            line.push_str(if markdown { " | " } else { "  " });
        }
        let _ = match column {
            0 => write!(line, "{cell:<width$}"),
            _ => write!(line, "{cell:>width$}"),
        };
    }
    line.push_str(if markdown { " |" } else { "" });
    let _ = writeln!(text, "{}", line.trim_end());
}

fn judged(ratio: Ratio) -> String {
    let value = quotient(ratio.value);
    let (Some(bound), Some(met)) = (ratio.bound, ratio.met) else {
        return value;
    };
    let bound = match bound {
        Bound::AtMost(most) => format!("≤ {}", quotient(most)),
        Bound::AtMostBetter { at_most, better } => format!("≤ {at_most}, better {better}"),
        Bound::AtLeast(least) => format!("≥ {}", count(least as usize)),
    };
    format!("{value} ({bound}, {})", verdict(met))
}

fn verdict(met: bool) -> &'static str {
    if met { "ok" } else { "miss" }
}

fn nothing() -> String {
    NOTHING.to_owned()
}

fn time(timing: Timing) -> String {
    seconds(timing.best_seconds)
}

fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{} {unit}", quotient(value))
}

/// About three digits that matter.
fn quotient(value: f64) -> String {
    match value {
        v if v < 0.1 => format!("{v:.3}"),
        v if v < 10.0 => format!("{v:.2}"),
        v if v < 100.0 => format!("{v:.1}"),
        v => count(v.round() as usize),
    }
}

/// With commas: 10,000.
fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0.0123, 1.234, 12.34, 1234.5].map(quotient),
            ["0.012", "1.23", "12.3", "1,235"]
        );
        assert_eq!(
            [2e-8, 2.5e-4, 0.0125, 20.0].map(seconds),
            ["20.0 ns", "250 µs", "12.5 ms", "20.0 s"]
        );
    }

    #[test]
    fn a_verdict_stands_beside_its_bound() {
        let ratio = Ratio { value: 1.32, bound: Some(Bound::AtMost(1.5)), met: Some(true) };
        assert_eq!(judged(ratio), "1.32 (≤ 1.50, ok)");
        let ratio = Ratio { value: 8.0, bound: Some(Bound::AtLeast(2000.0)), met: Some(false) };
        assert_eq!(judged(ratio), "8.00 (≥ 2,000, miss)");
    }

    #[test]
    fn markdown_has_a_rule_and_bars() {
        let rows = vec![vec!["recency".to_owned(), "10".to_owned()]];
        let table = Table { title: "", header: vec!["workload", "N"], rows, notes: Vec::new() };
        let text = table.render(Format::Markdown);
        assert_eq!(text, "| workload |  N |\n| :------- | -: |\n| recency  | 10 |\n\n");
    }
}
