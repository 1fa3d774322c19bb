//! The report as pages that a browser opens: figures and a chart, and a page for each of the worst requests.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use cupel_replay::{Dollars, Summary, WaySummary, Worst, WorstText};

use super::recommend;
use super::report::{INTRODUCTION, budget, percent, reading, thousands, title};
use super::run::Replayed;
use super::{chart, request_page};
use crate::error::Failure;
use crate::output::{self, Destination};
use crate::render::number::{grouped, grouped_count};
use crate::render::plot::escaped;

/// A larger request gets no page of its own.
pub(super) const LARGEST_REQUEST: usize = 1 << 20;
/// The pages of a way take no more than this together: what somebody sends to a colleague.
const LARGEST_PAGES: usize = 4_800_000;
/// Where the pages of requests are.
const FOLDER: &str = "requests";
/// The page that one begins with.
const INDEX: &str = "index.html";

const STYLE: &str = "\
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}th,td{padding:.3rem .7rem;text-align:right;border-bottom:1px solid #8885}\
td{white-space:nowrap}td.wide{white-space:normal}\
th:first-child,td:first-child{text-align:left}.left{text-align:left}.faint{opacity:.65}code{overflow-wrap:anywhere}\
.bar{display:inline-block;height:.7rem;background:#0072b2;vertical-align:middle}.tiles{display:flex;flex-wrap:wrap;gap:1rem}\
.tile{border:1px solid #8885;border-radius:.5rem;padding:.6rem 1rem}.tile b{display:block;font-size:1.6rem}\
.recommended{border:2px solid #009e73;border-radius:.5rem;padding:.8rem 1rem;margin:1rem 0}.logged{background:#8888}\
mark{background:#e69f00;color:#000}pre{white-space:pre-wrap;overflow-wrap:anywhere;max-height:20rem;overflow:auto}\
@media(max-width:40rem){body{margin:1rem auto}th,td{padding:.2rem .4rem}}\
svg{width:100%;max-width:44rem;height:auto}@media(prefers-color-scheme:dark){svg{filter:invert(1) hue-rotate(180deg)}}p{max-width:44rem}.warning{border-left:4px solid #d55e00;padding-left:.8rem}";

/// Makes the folder, before the work is done.
pub(super) fn prepare(folder: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::writing(folder.display(), &error);
    fs::create_dir_all(folder.join(FOLDER)).map_err(failed)?;
    output::check_writable(&folder.join(INDEX))
}

/// Writes the report into a folder.
pub(super) fn write(folder: &Path, replayed: &Replayed, about: &About<'_>) -> Result<(), Failure> {
    let mut worst = String::new();
    for (at, way) in replayed.summary.ways.iter().enumerate() {
        worst.push_str(&worst_table(folder, replayed, at, way)?);
    }
    let index = page(&replayed.summary, about, &worst);
    Destination::new(Some(&folder.join(INDEX)), None)?.write(&index)
}

/// Subject of the report, as far as the figures do not tell it.
pub(super) struct About<'a> {
    pub(super) logs: &'a [String],
    pub(super) tokenizer: Option<&'a str>,
}

fn page(summary: &Summary, about: &About<'_>, worst: &str) -> String {
    let mut body = String::from("<h1>What would have been kept</h1>\n");
    body.push_str(&source(summary, about));
    body.push_str(&recommended(summary));
    if !summary.is_complete {
        body.push_str("<p class=\"warning\">Stopped before the end: these are the figures of what was replayed.</p>\n");
    }
    body.push_str(&tiles(summary));
    let _ = writeln!(body, "<p>{INTRODUCTION}</p>");
    body.push_str(&figures(summary));
    body.push_str("<h2>Coverage over cost</h2>\n");
    body.push_str(&chart::of(summary));
    body.push_str(&over_time(summary));
    body.push_str(&splits(summary));
    body.push_str(&comparisons(summary));
    body.push_str(worst);
    body.push_str(&problems(summary));
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>Replay</title><style>{STYLE}</style></head>\n<body>\n{body}</body></html>\n"
    )
}

/// Log that was read, and the manner of reading.
fn source(summary: &Summary, about: &About<'_>) -> String {
    let logs: Vec<String> = about.logs.iter().map(|log| format!("<code>{}</code>", escaped(log))).collect();
    let tokenizer = about.tokenizer.unwrap_or("that of each request's model");
    let mut text = format!("<p>Logs: {}. Tokens counted by: {}.", logs.join(", "), escaped(tokenizer));
    let days = &summary.splits.days;
    if let (Some(first), Some(last)) = (days.first(), days.last()) {
        let _ = write!(text, " Requests of {} to {}.", escaped(&first.name), escaped(&last.name));
    }
    text.push_str("</p>\n<ul class=\"faint\">");
    for line in reading(summary) {
        let _ = write!(text, "<li>{}", escaped(&line));
    }
    text.push_str("</ul>\n");
    text
}

/// The setting that is recommended, above all else.
fn recommended(summary: &Summary) -> String {
    let lines = recommend::lines(summary);
    let Some((first, rest)) = lines.split_first() else { return String::new() };
    let rest = rest.iter().fold(String::new(), |text, line| text + "<br>" + &escaped(line));
    format!("<div class=\"recommended\"><b>{}</b>{rest}</div>\n", escaped(first))
}

/// The way that one would look at: the one that is recommended, else the first.
fn shown_way(summary: &Summary) -> Option<(usize, &WaySummary)> {
    let at = summary.recommendation.as_ref().map_or(0, |found| found.way);
    Some((at, summary.ways.get(at)?))
}

/// Cost of each day, as it was logged and in one way.
fn over_time(summary: &Summary) -> String {
    /// With more days than this, the newest.
    const DAYS: usize = 60;
    let (days, Some((at, way))) = (&summary.splits.days, shown_way(summary)) else { return String::new() };
    if days.len() < 2 {
        return String::new();
    }
    let days = &days[days.len().saturating_sub(DAYS)..];
    let most = days.iter().map(|day| day.logged.full_price_tokens.max(day.ways[at].full_price_tokens)).max();
    let most = most.unwrap_or(1).max(1) as f64;
    let mut text = format!(
        "<h2>Cost over time</h2>\n<p>Thousands of tokens at full price: as logged above, {} at {} below.</p>\n\
         <table><tr><th>day<th>requests<th class=\"left\">cost<th>as logged<th>{}</tr>\n",
        escaped(&title(way)),
        budget(way),
        escaped(&title(way))
    );
    for day in days {
        let (logged, own) = (day.logged.full_price_tokens, day.ways[at].full_price_tokens);
        let width = |tokens: i64| 12.0 * tokens as f64 / most;
        let _ = writeln!(
            text,
            "<tr><td>{}<td>{}<td class=\"left\"><span class=\"bar logged\" style=\"width:{:.2}rem\"></span><br>\
             <span class=\"bar\" style=\"width:{:.2}rem\"></span><td>{}<td>{}</tr>",
            escaped(&day.name),
            grouped_count(day.requests),
            width(logged),
            width(own),
            thousands(logged),
            thousands(own)
        );
    }
    text.push_str("</table>\n");
    text
}

/// Cost of models and routes, as it was logged and in one way.
fn splits(summary: &Summary) -> String {
    /// So many parts are shown, the dearest first.
    const PARTS: usize = 20;
    let Some((at, way)) = shown_way(summary) else { return String::new() };
    let mut text = String::new();
    let all = [("model", &summary.splits.models), ("route", &summary.splits.routes), ("user", &summary.splits.users)];
    for (name, parts) in all.into_iter().filter(|(_, parts)| !parts.is_empty()) {
        let _ = writeln!(
            text,
            "<h2>By {name}</h2>\n<table><tr><th>{name}<th>requests<th>cost as logged<th>{} at {}<th>dollars as logged<th>then</tr>",
            escaped(&title(way)),
            budget(way)
        );
        for part in parts.iter().take(PARTS) {
            let (logged, own) = (&part.logged, &part.ways[at]);
            let money = |sent: &Dollars| {
                if sent.priced_requests > 0 { format!("{:.4}", sent.dollars) } else { "–".to_owned() }
            };
            let _ = writeln!(
                text,
                "<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr>",
                escaped(&part.name),
                grouped_count(part.requests),
                thousands(logged.full_price_tokens),
                thousands(own.full_price_tokens),
                money(logged),
                money(own)
            );
        }
        text.push_str("</table>\n");
    }
    text
}

/// An answer with the values that a window had lost, marked.
fn marked_answer(answer: &str, lost: &[String]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let small = answer.to_lowercase();
    // Where small letters take as many bytes, places in them are places in the answer.
    if small.len() == answer.len() {
        for value in lost.iter().filter(|value| !value.is_empty()) {
            ranges.extend(small.match_indices(value.as_str()).map(|(at, found)| (at, at + found.len())));
        }
    }
    ranges.sort_unstable();
    let mut text = String::new();
    let mut end = 0;
    for (from, to) in ranges {
        if from < end || !answer.is_char_boundary(from) || !answer.is_char_boundary(to) {
            continue;
        }
        let _ = write!(text, "{}<mark>{}</mark>", escaped(&answer[end..from]), escaped(&answer[from..to]));
        end = to;
    }
    text + &escaped(&answer[end..])
}

fn tiles(summary: &Summary) -> String {
    let rows = &summary.rows;
    let mut text = String::from("<div class=\"tiles\">");
    for (what, count) in [
        ("requests", rows.requests),
        ("invalid in the log already", rows.invalid_in_log),
        ("broken rows", rows.broken + rows.unreadable),
        ("rows of something else", rows.others),
        ("repeated calls in the log", summary.repeated_calls),
    ] {
        let _ = write!(text, "<div class=\"tile\"><b>{}</b>{what}</div>", grouped_count(count));
    }
    text.push_str("</div>\n");
    text
}

fn figures(summary: &Summary) -> String {
    let mut text = String::from(
        "<table><tr><th>policy<th>max<th class=\"left\">coverage of what was used next<th>complete<th>changed\
         <th>does not fit<th>tokens<th>uncached<th>cost<th>dollars without cache<th>with cache<th>fetched again</tr>\n",
    );
    let dollars = |amount: f64, priced: usize| {
        if priced > 0 { format!("{amount:.4}") } else { "–".to_owned() }
    };
    for way in &summary.ways {
        let (mean, complete) = way.coverage.map_or((None, "–".to_owned()), |share| {
            (Some(share.mean), percent(share.complete as f64 / share.requests as f64))
        });
        let bar = mean.map_or_else(
            || "–".to_owned(),
            |mean| {
                format!(
                    "<span class=\"bar\" style=\"width:{:.1}rem\"></span> {} %",
                    5.0 * mean,
                    percent(mean)
                )
            },
        );
        let _ = writeln!(
            text,
            "<tr><td>{}<td>{}<td class=\"left\">{bar}<td>{complete}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr>",
            escaped(&title(way)),
            budget(way),
            grouped_count(way.changed),
            grouped_count(way.does_not_fit),
            grouped(way.sent.tokens),
            grouped(way.sent.uncached_tokens),
            thousands(way.sent.full_price_tokens),
            dollars(way.sent.dollars_without_cache, way.sent.priced_requests),
            dollars(way.sent.dollars, way.sent.priced_requests),
            grouped_count(way.fetched_again),
        );
    }
    let logged = &summary.logged;
    let _ = writeln!(
        text,
        "<tr class=\"faint\"><td>as logged<td><td><td><td><td><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr></table>",
        grouped(logged.tokens),
        grouped(logged.uncached_tokens),
        thousands(logged.full_price_tokens),
        dollars(logged.dollars_without_cache, logged.priced_requests),
        dollars(logged.dollars, logged.priced_requests),
        grouped_count(summary.repeated_calls),
    );
    text
}

fn comparisons(summary: &Summary) -> String {
    let Some(first) = summary.comparisons.first() else { return String::new() };
    let mut text = format!(
        "<h2>Compared with {}, conversation by conversation</h2>\n<table><tr><th>policy<th>max<th>points<th>95 % interval<th>won<th>lost<th>verdict</tr>\n",
        escaped(&first.reference)
    );
    for by in &summary.comparisons {
        let session = if by.in_session { " in a session" } else { "" };
        let _ = writeln!(
            text,
            "<tr><td>{}{session}<td>{}<td>{:+.1}<td>{:+.1} to {:+.1}<td>{}<td>{}<td>{}</tr>",
            escaped(&by.policy),
            by.budget_tokens.map(grouped).unwrap_or_default(),
            100.0 * by.mean,
            100.0 * by.low,
            100.0 * by.high,
            grouped_count(by.wins),
            grouped_count(by.losses),
            by.verdict.name(),
        );
    }
    text.push_str("</table>\n");
    text
}

/// The worst requests of a way, each with a link to its page.
fn worst_table(
    folder: &Path,
    replayed: &Replayed,
    at: usize,
    way: &WaySummary,
) -> Result<String, Failure> {
    if way.worst.is_empty() {
        return Ok(String::new());
    }
    let mut text = format!(
        "<h2>Lost most by {} at {}</h2>\n<table><tr><th>request<th>kept of what was used<th class=\"left\">lost</tr>\n",
        escaped(&title(way)),
        budget(way)
    );
    let mut room = LARGEST_PAGES;
    for (number, (worst, text_of)) in replayed.summing.worst(at).enumerate() {
        let name = format!("{}-{}.html", at + 1, number + 1);
        let link = request_link(folder, &name, replayed, at, worst, text_of, &mut room)?;
        let lost: Vec<String> =
            worst.lost.iter().map(|value| format!("<code>{}</code>", escaped(value))).collect();
        let answer = text_of.and_then(|text| text.answer.as_deref()).map(|answer| {
            let marked = marked_answer(answer, &worst.lost);
            format!("<details><summary>the answer that used it</summary><pre>{marked}</pre></details>")
        });
        let _ = writeln!(
            text,
            "<tr><td>{link}<td>{} of {}<td class=\"left wide\">{}{}</tr>",
            worst.found,
            worst.used,
            lost.join(" "),
            answer.unwrap_or_default()
        );
    }
    text.push_str("</table>\n");
    Ok(text)
}

fn request_link(
    folder: &Path,
    name: &str,
    replayed: &Replayed,
    way: usize,
    worst: &Worst,
    text: Option<&WorstText>,
    room: &mut usize,
) -> Result<String, Failure> {
    let before = if worst.is_before { "the request before " } else { "" };
    let place = format!("{before}{}", worst.place);
    let shown = escaped(&place);
    let Some(text) = text else { return Ok(shown) };
    let way = &replayed.ways[way];
    // A page shows what a policy decides.
    if way.baseline.is_some() {
        return Ok(shown);
    }
    let engine = &replayed.settings.policies[way.policy].engine;
    let page = request_page::of(engine, text, way, &place).filter(|page| page.len() <= *room);
    let Some(page) = page else { return Ok(shown) };
    *room -= page.len();
    Destination::new(Some(&folder.join(FOLDER).join(name)), None)?.write(&page)?;
    Ok(format!("<a href=\"{FOLDER}/{name}\">{shown}</a>"))
}

fn problems(summary: &Summary) -> String {
    if summary.problems.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h2>Rows that could not be replayed</h2>\n<ul>\n");
    for problem in &summary.problems {
        let _ = writeln!(
            text,
            "<li><code>{}</code>: {}",
            escaped(&problem.place),
            escaped(&problem.rule)
        );
    }
    text.push_str("</ul>\n");
    text
}
