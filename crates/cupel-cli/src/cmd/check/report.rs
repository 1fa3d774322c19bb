//! Report of a check, for people, for pull requests and for machines.

use std::fmt::Write;

use cupel_engine::Rule;
use cupel_replay::{CheckReport, Moved, WayCheck};

use crate::render::number::{counted, grouped, grouped_count};
use crate::render::plot::escaped;

/// So many of the windows that moved are listed; the others are counted.
const LISTED: usize = 20;

/// The windows that moved, those that lost something first.
fn listed(report: &CheckReport) -> Vec<&Moved> {
    let (worse, others): (Vec<&Moved>, Vec<&Moved>) =
        report.moved.iter().partition(|moved| moved.is_worse());
    worse.into_iter().chain(others).collect()
}

fn ways(report: &CheckReport) -> Vec<cupel_replay::Way> {
    report.ways.iter().map(|check| check.way.clone()).collect()
}

fn name(check: &WayCheck) -> String {
    let budget = check.way.budget_tokens.map(|tokens| format!(" at {}", grouped(tokens)));
    format!("{}{}", check.way.title(), budget.unwrap_or_default())
}

fn coverage(check: &WayCheck) -> String {
    let percent = |share: f64| format!("{:.2}", 100.0 * share);
    check.coverage.map_or_else(
        || "–".to_owned(),
        |(before, after)| format!("{} % (was {} %)", percent(after), percent(before)),
    )
}

fn cost(check: &WayCheck) -> String {
    format!("{} (was {})", grouped(check.cost.1), grouped(check.cost.0))
}

fn unstated(rule: &Rule) -> String {
    format!("no request of the record states the rule `{rule}`")
}

/// Lines for people.
pub(super) fn text(report: &CheckReport) -> String {
    let verdict = if report.holds() { "holds" } else { "DOES NOT HOLD" };
    let mut text = format!("the record of {} {verdict}\n", counted(report.requests, "request"));
    for check in &report.ways {
        let _ = writeln!(
            text,
            "  {}: {} of {} windows moved, coverage {}, cost {}",
            name(check),
            grouped_count(check.changed),
            grouped_count(check.windows),
            coverage(check),
            cost(check)
        );
        for failure in &check.failures {
            let _ = writeln!(text, "    FAILED: {failure}");
        }
    }
    for other in report.others.iter().take(LISTED) {
        let _ = writeln!(text, "  FAILED: {other}");
    }
    if report.others.len() > LISTED {
        let more = grouped_count(report.others.len() - LISTED);
        let _ = writeln!(text, "  … and {more} more requests that are not those of the record");
    }
    if !report.others.is_empty() {
        text.push_str("  `cupel check --update` records things as they are now\n");
    }
    let (ways, moved) = (ways(report), listed(report));
    for lost in report.lost_rules.iter().take(LISTED) {
        let _ = writeln!(text, "  FAILED: {}", lost.words(&ways));
    }
    if report.lost_rules.len() > LISTED {
        let more = grouped_count(report.lost_rules.len() - LISTED);
        let _ = writeln!(text, "  … and {more} more rules lost");
    }
    for rule in &report.unstated_rules {
        let _ = writeln!(text, "  warning: {}", unstated(rule));
    }
    for moved in moved.iter().take(LISTED) {
        let mark = if moved.is_worse() { "worse" } else { "moved" };
        let _ = writeln!(text, "  {mark}: {}", moved.words(&ways));
    }
    if moved.len() > LISTED {
        let _ = writeln!(
            text,
            "  … and {} more windows that moved",
            grouped_count(moved.len() - LISTED)
        );
    }
    text
}

/// A summary for a pull request.
pub(super) fn markdown(report: &CheckReport) -> String {
    let verdict = if report.holds() { "✅ holds" } else { "❌ does not hold" };
    let requests = counted(report.requests, "request");
    let mut text = format!("### Context windows: the record of {requests} {verdict}\n\n");
    text.push_str("| policy | windows moved | coverage | cost in full-price tokens | |\n|---|---|---|---|---|\n");
    for check in &report.ways {
        let _ = writeln!(
            text,
            "| {} | {} of {} | {} | {} | {} |",
            cell(&name(check)),
            grouped_count(check.changed),
            grouped_count(check.windows),
            coverage(check),
            cost(check),
            cell(&check.failures.join("; "))
        );
    }
    let (ways, moved) = (ways(report), listed(report));
    if !report.rules.is_empty() {
        let lost = report.lost_rules.iter().map(|lost| lost.words(&ways));
        text.push_str(&rules(report, lost));
    }
    let others = report.others.iter().cloned();
    let lines: Vec<String> = others.chain(moved.iter().map(|moved| moved.words(&ways))).collect();
    if !lines.is_empty() {
        let _ = write!(
            text,
            "\n<details><summary>{} moved</summary>\n\n",
            counted(lines.len(), "window")
        );
        for line in lines.iter().take(LISTED) {
            let _ = writeln!(text, "- {}", escaped(line));
        }
        if lines.len() > LISTED {
            let _ = writeln!(text, "- … and {} more", grouped_count(lines.len() - LISTED));
        }
        text.push_str("\n</details>\n");
    }
    text
}

/// The fate of the rules: those that were lost, one by one, and those that nobody states.
fn rules(report: &CheckReport, lost: impl Iterator<Item = String>) -> String {
    let verdict = match report.lost_rules.len() {
        0 => "✅ no window lost a rule".to_owned(),
        1 => "❌ a window lost a rule".to_owned(),
        count => format!("❌ rules were lost {} times", grouped_count(count)),
    };
    let mut text = format!("\n{verdict}\n");
    let lines: Vec<String> = lost.map(|line| format!("- {}\n", escaped(&line))).collect();
    if !lines.is_empty() {
        text.push('\n');
        text.extend(lines.iter().take(LISTED).map(String::as_str));
    }
    if lines.len() > LISTED {
        let _ = writeln!(text, "- … and {} more", grouped_count(lines.len() - LISTED));
    }
    for rule in &report.unstated_rules {
        let _ = write!(text, "\n⚠️ {}\n", escaped(&unstated(rule)));
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('<', "&lt;").replace('|', "\\|")
}

#[cfg(test)]
#[test]
fn a_cell_holds_no_html_and_no_border() {
    assert_eq!(cell("<b>|x"), "&lt;b>\\|x");
}

/// JUnit: a suite for each way, with a case for the tolerances and, where rules must be kept, one for
/// them; then a suite for the rules that nobody states.
pub(super) fn junit(report: &CheckReport) -> String {
    let ways = ways(report);
    let mut suites = String::new();
    let (mut tests, mut failures) = (0, 0);
    for (at, check) in report.ways.iter().enumerate() {
        let name = escaped(&name(check));
        let mut cases = String::new();
        let mut failed = 0;
        if check.failures.is_empty() {
            let _ = writeln!(
                cases,
                "    <testcase classname=\"cupel check\" name=\"{name}: within the tolerances\"/>"
            );
        } else {
            failed += 1;
            let message = escaped(&check.failures.join("; "));
            let moved = report.moved.iter().filter(|moved| moved.way == at).take(LISTED);
            let lines: Vec<String> = moved.map(|moved| escaped(&moved.words(&ways))).collect();
            let _ = writeln!(
                cases,
                "    <testcase classname=\"cupel check\" name=\"{name}: within the tolerances\">\n      \
                 <failure message=\"{message}\">{}</failure>\n    </testcase>",
                lines.join("\n")
            );
        }
        let mut count = 1;
        if !report.rules.is_empty() {
            count += 1;
            let lost = report.lost_rules.iter().filter(|lost| lost.way == at);
            let lines: Vec<String> = lost.map(|lost| escaped(&lost.words(&ways))).collect();
            failed += usize::from(!lines.is_empty());
            let _ = writeln!(cases, "{}", rules_case(&name, &lines));
        }
        tests += count;
        failures += failed;
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failed}\">\n{cases}  </testsuite>"
        );
    }
    if !report.others.is_empty() {
        (tests, failures) = (tests + 1, failures + 1);
        let lines: Vec<String> =
            report.others.iter().take(LISTED).map(|line| escaped(line)).collect();
        let _ = writeln!(
            suites,
            "  <testsuite name=\"requests\" tests=\"1\" failures=\"1\">\n    <testcase classname=\"cupel check\" \
             name=\"the requests are those of the record\">\n      <failure message=\"{} are not those of the \
             record\">{}</failure>\n    </testcase>\n  </testsuite>",
            counted(report.others.len(), "request"),
            lines.join("\n")
        );
    }
    if !report.unstated_rules.is_empty() {
        let count = report.unstated_rules.len();
        tests += count;
        let _ = writeln!(
            suites,
            "  <testsuite name=\"rules\" tests=\"{count}\" failures=\"0\" skipped=\"{count}\">"
        );
        for rule in &report.unstated_rules {
            let message = escaped(&unstated(rule));
            let _ = writeln!(
                suites,
                "    <testcase classname=\"cupel check\" name=\"a request states `{}`\">\n      <skipped \
                 message=\"{message}\"/>\n    </testcase>",
                escaped(rule.as_str())
            );
        }
        suites.push_str("  </testsuite>\n");
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"cupel check\" tests=\"{tests}\" failures=\"{failures}\">\n{suites}</testsuites>\n"
    )
}

/// The case of the rules in a way.
fn rules_case(way: &str, lost: &[String]) -> String {
    let case = format!("    <testcase classname=\"cupel check\" name=\"{way}: keeps the rules\"");
    if lost.is_empty() {
        return format!("{case}/>");
    }
    let message = format!("{} lost", counted(lost.len(), "rule"));
    let listed = &lost[..lost.len().min(LISTED)];
    format!(
        "{case}>\n      <failure message=\"{message}\">{}</failure>\n    </testcase>",
        listed.join("\n")
    )
}
