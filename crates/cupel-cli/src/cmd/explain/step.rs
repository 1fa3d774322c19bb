//! A step of a session, as a person wants it.

use cupel_engine::{Part, SentAgain, Step, Totals, Usage};

use super::{select, what};
use crate::cmd::tools::fitted;
use crate::render::bar::{self, Fill};
use crate::render::number::{grouped, grouped_count};
use crate::render::table::{Side, Table};
use crate::render::text;
use crate::style::Palette;

/// A step, and how it is shown.
pub(super) struct View<'a> {
    step: &'a Step,
    /// Tokens of the session before the step.
    before: Totals,
    /// Number of rows of a list are shown.
    limit: usize,
    screen: usize,
    palette: Palette,
}

impl<'a> View<'a> {
    pub(super) fn new(step: &'a Step, before: Totals, limit: usize, palette: Palette) -> Self {
        Self { step, before, limit, screen: text::screen_width(), palette }
    }

    pub(super) fn render(&self) -> String {
        let session = &self.step.session;
        let mut sections = vec![self.heading(), bar::render(&self.parts(), self.screen, self.palette)];
        if !session.cut.is_empty() {
            sections.push(self.list("cut off, which costs nothing", &cut(self.shown(&session.cut)), session.cut.len()));
        }
        if !session.again.is_empty() {
            let title = "sent again, behind the cut";
            sections.push(self.list(title, &again(self.shown(&session.again)), session.again.len()));
        }
        if !self.step.tools.is_empty() {
            let table = fitted(&self.step.tools).render(self.screen, self.palette);
            sections.push(format!("{}\n{table}", self.palette.strong("tools")));
        }
        sections.push(format!("{}\n{}\n", self.credit(), self.marks()));
        let costs = self.costs().render(self.screen, self.palette);
        sections.push(format!("{}\n{costs}", self.palette.strong(&self.measures())));
        sections.join("\n")
    }

    fn heading(&self) -> String {
        let session = &self.step.session;
        let account = match session.new_account {
            Some(_) => format!("a new account begins: {}\n", select::new_account(session)),
            None => String::new(),
        };
        let number = grouped(i64::try_from(session.number).unwrap_or(i64::MAX));
        format!("step {number}: {}\n{account}", select::step_summary(self.step))
    }

    /// The window in the order in which the provider reads it, but for what is sent again, which
    /// stands between the new as it stood in the history.
    fn parts(&self) -> Vec<bar::Part> {
        let (summary, session) = (&self.step.summary, &self.step.session);
        let again = session.again.iter().map(sent_tokens).fold(0, i64::saturating_add);
        let reserve = summary.budget.output_reserve;
        let free = summary.budget.max_tokens.saturating_sub(reserve);
        let part = |name: &str, tokens, fill| bar::Part { name: name.to_owned(), tokens, fill };
        vec![
            part("unchanged", session.cached_tokens, Fill::Kind),
            part("sent again", again, Fill::Kind),
            part("new", session.uncached_tokens.saturating_sub(again), Fill::Kind),
            part("free", free.saturating_sub(summary.tokens_after), Fill::Free),
            part("reserved", reserve, Fill::Reserve),
        ]
    }

    fn shown<'b, T>(&self, rows: &'b [T]) -> &'b [T] {
        &rows[..rows.len().min(self.limit)]
    }

    fn list(&self, title: &str, table: &Table, count: usize) -> String {
        let hidden = count.saturating_sub(self.limit);
        let more = match hidden {
            0 => String::new(),
            _ => format!("and {} more; --all shows them\n", grouped_count(hidden)),
        };
        let heading = self.palette.strong(title);
        format!("{heading}\n{}{more}", table.render(self.screen, self.palette))
    }

    fn credit(&self) -> String {
        let credit = self.step.session.credit;
        if credit < 0 {
            let owed = grouped(credit.saturating_neg());
            return format!("credit: none, {owed} tokens overdrawn by what must be in");
        }
        format!("credit: {} tokens may be sent again", grouped(credit))
    }

    /// Where whoever sends it to a provider that wants marks should put them.
    fn marks(&self) -> String {
        let marks = &self.step.session.breakpoints;
        if marks.is_empty() {
            return "cache breakpoints: behind the head only".to_owned();
        }
        let marks: Vec<String> = marks.iter().map(|at| grouped_count(*at)).collect();
        format!("cache breakpoints: behind the head and behind messages {}", marks.join(", "))
    }

    /// Counter, and origin of the prices.
    fn measures(&self) -> String {
        match self.step.session.prices.as_ref().map(|prices| prices.as_of.as_deref()) {
            Some(Some(month)) => format!("tokens, and dollars at the prices of {month}"),
            Some(None) => "tokens, and dollars".to_owned(),
            None => "tokens".to_owned(),
        }
    }

    /// This step and the run so far, beside other ways to send it.
    fn costs(&self) -> Table {
        let prices = self.step.session.prices.as_ref();
        let mut columns = vec![
            ("", Side::Left),
            ("this step: cached", Side::Right),
            ("not", Side::Right),
            ("$", Side::Right),
            ("the run so far: cached", Side::Right),
            ("not", Side::Right),
            ("$", Side::Right),
        ];
        columns.retain(|(name, _)| *name != "$" || prices.is_some());
        let mut table = Table::new(columns);
        let (now, before) = (&self.step.session.totals, &self.before);
        for (name, so_far, until_now) in [
            ("sent", now.sent, before.sent),
            ("everything", now.everything, before.everything),
            ("newest first", now.newest_first, before.newest_first),
        ] {
            let mut row = vec![name.into()];
            for usage in [since(so_far, until_now), so_far] {
                row.push(grouped(usage.cached_tokens).into());
                row.push(grouped(usage.uncached_tokens).into());
                row.extend(prices.map(|prices| format!("{:.4}", prices.dollars(usage)).into()));
            }
            table.push(row);
        }
        table
    }
}

/// Tokens that came in addition.
fn since(so_far: Usage, before: Usage) -> Usage {
    Usage::new(
        so_far.cached_tokens.saturating_sub(before.cached_tokens),
        so_far.uncached_tokens.saturating_sub(before.uncached_tokens),
    )
}

fn cut(rows: &[Part]) -> Table {
    let mut table = Table::new(vec![("tokens", Side::Right), ("what", Side::Left)]);
    for part in rows {
        table.push(vec![grouped(part.tokens).into(), what(part).into()]);
    }
    table
}

fn again(rows: &[SentAgain]) -> Table {
    let columns = vec![("worth", Side::Left), ("tokens", Side::Right), ("what", Side::Left)];
    let mut table = Table::new(columns);
    for row in rows {
        let worth = match row.times_its_price {
            Some(times) => format!("{times:.1} × its price"),
            None => "must be in".to_owned(),
        };
        let what = match &row.shortened {
            None => what(&row.part),
            Some(form) => {
                let whole = grouped(row.part.tokens);
                format!("shortened from {whole} ({}) · {}", form.name, what(&row.part))
            }
        };
        table.push(vec![worth.into(), grouped(sent_tokens(row)).into(), what.into()]);
    }
    table
}

/// Tokens of something as it is sent.
fn sent_tokens(again: &SentAgain) -> i64 {
    again.shortened.as_ref().map_or(again.part.tokens, |form| form.tokens)
}
