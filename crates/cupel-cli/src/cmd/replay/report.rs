//! Tables of a replay.

use std::fmt::Write;

use cupel_eval::Verdict;
use cupel_replay::{Comparison, Counted, Problem, ProblemKind, Summary, WaySummary};

use super::recommend;

use crate::render::number::{counted, grouped, grouped_count};
use crate::render::table::{Cell, Side, Table};
use crate::style::{self, Palette};

pub(super) const INTRODUCTION: &str = "\
Coverage in %: how much of what the next call or answer used of its request is still in the window, mean
over requests ± standard error by conversations. Uncached tokens stand behind the common beginning with what
was sent before in the conversation. Cost is in thousands of tokens at full price, by the prices of each
request's model and what its provider's cache has.";

/// So many of the worst requests are shown here; the report has them all.
const SHOWN: usize = 5;

pub(super) fn render(summary: &Summary, screen: usize, palette: Palette) -> String {
    let mut text = rows(summary);
    for (at, line) in recommend::lines(summary).iter().enumerate() {
        let _ = if at == 0 {
            writeln!(text, "\n{}", palette.strong(line))
        } else {
            writeln!(text, "  {line}")
        };
    }
    let _ = writeln!(text, "\n{INTRODUCTION}\n");
    text.push_str(&figures(summary).render(screen, palette));
    text.push_str(&notes(summary));
    if summary.logged.priced_requests > 0 {
        let priced = counted(summary.logged.priced_requests, "request");
        let title = format!("  cost in US dollars of the {priced} whose model has known prices");
        let _ = writeln!(text, "\n{}", palette.strong(&title));
        text.push_str(&money(summary).render(screen, palette));
    }
    if !summary.comparisons.is_empty() {
        let heading = format!(
            "  coverage compared with {}, conversation by conversation",
            summary.comparisons[0].reference
        );
        let _ = writeln!(text, "\n{}", palette.strong(&heading));
        text.push_str(&comparisons(&summary.comparisons).render(screen, palette));
    }
    for way in &summary.ways {
        text.push_str(&worst(way, palette));
    }
    text
}

/// Kinds of the log's rows.
fn rows(summary: &Summary) -> String {
    let rows = &summary.rows;
    let mut parts = vec![counted(rows.requests, "request")];
    let mut tell = |count: usize, what: &str| {
        if count > 0 {
            parts.push(format!("{} {what}", grouped_count(count)));
        }
    };
    tell(rows.invalid_in_log, "invalid in the log already");
    tell(rows.broken, "broken");
    tell(rows.unreadable, "unreadable");
    tell(rows.others, "of something else");
    let end = if summary.is_complete { "" } else { "; STOPPED before the end" };
    let mut text = format!("{}{end}\n", parts.join(", "));
    for line in reading(summary) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// Lines about the reading of the log.
pub(super) fn reading(summary: &Summary) -> Vec<String> {
    let list = |counts: &[Counted]| {
        let parts = counts.iter().map(|one| format!("{} {}", grouped_count(one.count), one.what));
        parts.collect::<Vec<_>>().join(", ")
    };
    let mut lines = Vec::new();
    if !summary.kinds.is_empty() {
        let kinds = summary.kinds.iter().map(|kind| format!("{} × {}", grouped_count(kind.count), kind.what));
        lines.push(format!("read as: {}", kinds.collect::<Vec<_>>().join(", ")));
    }
    if !summary.skipped.is_empty() {
        lines.push(format!("skipped: {}", list(&summary.skipped)));
    }
    if let Some(line) = tools(summary) {
        lines.push(line);
    }
    if summary.reordered_rows > 0 {
        let rows = counted(summary.reordered_rows, "row");
        lines.push(format!("{rows} stood before an earlier one; all were put in the order of their times"));
    }
    if let Some(counts) = &summary.counted {
        let requests = counted(counts.requests, "request");
        let (provider, own) = (grouped(counts.provider_tokens), grouped(counts.own_tokens));
        let median = counts.median_ratio.map(|ratio| format!(", by the median {ratio:.2} times as many"));
        lines.push(format!(
            "the providers counted {provider} tokens in {requests}, we count {own}{}",
            median.unwrap_or_default()
        ));
    }
    lines
}

/// The tools that nobody used, as far as they find room in a line.
fn tools(summary: &Summary) -> Option<String> {
    const NAMED: usize = 12;
    let never: Vec<&str> = summary
        .tools
        .iter()
        .filter(|tool| tool.used == 0)
        .map(|tool| tool.name.as_str())
        .collect();
    let named = never.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = match never.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more", grouped_count(more)),
    };
    let all = counted(summary.tools.len(), "tool");
    (!never.is_empty()).then(|| format!("of {all} never used: {named}{more}"))
}

/// A row for each way, and one for the log.
fn figures(summary: &Summary) -> Table {
    let mut columns = vec![("policy", Side::Left)];
    let numbers =
        ["max", "coverage", "complete", "changed", "no fit", "tokens", "uncached", "cost", "again"];
    columns.extend(numbers.map(|name| (name, Side::Right)));
    let mut table = Table::new(columns);
    for way in &summary.ways {
        let share = way.coverage;
        table.push(vec![
            Cell::styled(title(way), style::strong()),
            budget(way).into(),
            share
                .map_or_else(
                    || "–".to_owned(),
                    |share| format!("{} ± {}", percent(share.mean), percent(share.error)),
                )
                .into(),
            share
                .map_or_else(
                    || "–".to_owned(),
                    |share| percent(share.complete as f64 / share.requests as f64),
                )
                .into(),
            grouped_count(way.changed).into(),
            grouped_count(way.does_not_fit).into(),
            grouped(way.sent.tokens).into(),
            grouped(way.sent.uncached_tokens).into(),
            thousands(way.sent.full_price_tokens).into(),
            grouped_count(way.fetched_again).into(),
        ]);
    }
    let faint = |text: String| Cell::styled(text, style::faint());
    let again = grouped_count(summary.repeated_calls);
    let logged = [
        String::new(),
        "–".into(),
        "–".into(),
        "–".into(),
        "–".into(),
        grouped(summary.logged.tokens),
        grouped(summary.logged.uncached_tokens),
        thousands(summary.logged.full_price_tokens),
        again,
    ];
    table.push([faint("as logged".into())].into_iter().chain(logged.map(faint)).collect());
    table
}

fn notes(summary: &Summary) -> String {
    let mut text =
        String::from("  again: calls that repeat an earlier one which the window has not\n");
    if summary.repeated_after_loss > 0 {
        let _ = writeln!(
            text,
            "  {} in the log came after the log itself had lost the first",
            counted(summary.repeated_after_loss, "repeated call")
        );
    }
    let is_invalid = |problem: &&Problem| problem.kind == ProblemKind::InvalidInLog;
    if let Some(Problem { place, rule, .. }) = summary.problems.iter().find(is_invalid) {
        let _ = writeln!(text, "  invalid in the log, the first: {place}: {rule}");
    }
    let without = summary.ways.iter().all(|way| way.coverage.is_none());
    if without {
        text.push_str("  the log has no answers and no request goes on from another, so nothing tells what was used\n");
    }
    if let Some(share) = summary.ways.iter().find_map(|way| way.coverage) {
        let _ = writeln!(
            text,
            "  coverage rests on {} of {} that tell what was used",
            counted(share.requests, "request"),
            counted(share.conversations, "conversation")
        );
    }
    if summary.forgotten_conversations > 0 {
        let _ = writeln!(
            text,
            "  {} quiet for so long that they were forgotten; what comes later of them counts as new",
            counted(summary.forgotten_conversations, "conversation")
        );
    }
    text
}

fn money(summary: &Summary) -> Table {
    let mut table = Table::new(vec![
        ("policy", Side::Left),
        ("max", Side::Right),
        ("without cache", Side::Right),
        ("with cache", Side::Right),
    ]);
    for way in &summary.ways {
        table.push(vec![
            Cell::styled(title(way), style::strong()),
            budget(way).into(),
            format!("{:.4}", way.sent.dollars_without_cache).into(),
            format!("{:.4}", way.sent.dollars).into(),
        ]);
    }
    let faint = |text: String| Cell::styled(text, style::faint());
    table.push(vec![
        faint("as logged".into()),
        "".into(),
        faint(format!("{:.4}", summary.logged.dollars_without_cache)),
        faint(format!("{:.4}", summary.logged.dollars)),
    ]);
    table
}

/// Tokens in thousands.
pub(super) fn thousands(tokens: i64) -> String {
    format!("{:.1}", tokens as f64 / 1_000.0)
}

fn comparisons(comparisons: &[Comparison]) -> Table {
    let mut table = Table::new(vec![
        ("policy", Side::Left),
        ("max", Side::Right),
        ("points", Side::Right),
        ("95 % interval", Side::Right),
        ("won", Side::Right),
        ("lost", Side::Right),
        ("verdict", Side::Left),
    ]);
    for by in comparisons {
        let session = if by.in_session { " in a session" } else { "" };
        let style = if matches!(by.verdict, Verdict::Better | Verdict::Worse) {
            style::strong()
        } else {
            style::faint()
        };
        let points = |share: f64| format!("{:+.1}", 100.0 * share);
        table.push(vec![
            format!("{}{session}", by.policy).into(),
            by.budget_tokens.map(grouped).unwrap_or_default().into(),
            points(by.mean).into(),
            format!("{} to {}", points(by.low), points(by.high)).into(),
            grouped_count(by.wins).into(),
            grouped_count(by.losses).into(),
            Cell::styled(by.verdict.name(), style),
        ]);
    }
    table
}

fn worst(way: &WaySummary, palette: Palette) -> String {
    let mut text = String::new();
    if way.worst.is_empty() {
        return text;
    }
    let budget =
        way.budget_tokens.map(|tokens| format!(" at {}", grouped(tokens))).unwrap_or_default();
    let heading = format!("  lost most by {}{budget}", title(way));
    let _ = writeln!(text, "\n{}", palette.strong(&heading));
    for worst in way.worst.iter().take(SHOWN) {
        let before = if worst.is_before { "the request before " } else { "" };
        let _ = writeln!(
            text,
            "    {before}{}: {} of {} kept, without {}",
            worst.place,
            worst.found,
            worst.used,
            worst.lost.join(", ")
        );
    }
    text
}

pub(super) fn title(way: &WaySummary) -> String {
    let session = if way.in_session { " in a session" } else { "" };
    format!("{}{session}", way.policy)
}

pub(super) fn budget(way: &WaySummary) -> String {
    way.budget_tokens.map_or_else(|| "model".to_owned(), grouped)
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}
