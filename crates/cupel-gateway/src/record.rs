//! Record of a request, and the places that it goes to when the request is over, however it ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cupel_engine::{ConversationKey, Options, Step};
use cupel_page::{Row, RowCaller, RowStatus, RunPoint};
use serde_json::{Value, json};

use crate::api::Api;
use crate::app::App;
use crate::measure::{Disagreement, Unmeasured};
use crate::memory::Held;
use crate::otel::Parent;
use crate::unfit::{Shortfall, Unfit};
use crate::usage::Reported;

/// End of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The client left before the answer was complete.
    ClientLeft,
    /// The answer was passed on to its end.
    Answered,
    /// The gateway refused it.
    Refused,
    /// The upstream could not be reached, or was late.
    NoAnswer,
    /// The upstream broke off in the middle of its answer, or paused for too long.
    BrokenOff,
    /// The gateway stopped, and its patience was over.
    Stopped,
}

impl Outcome {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClientLeft => "client-left",
            Self::Answered => "answered",
            Self::Refused => "refused",
            Self::NoAnswer => "no-answer",
            Self::BrokenOff => "broken-off",
            Self::Stopped => "stopped",
        }
    }
}

/// A request that can be opened on the page.
#[derive(Clone)]
pub(crate) struct Shown {
    /// API that it follows.
    pub(crate) api: Api,
    /// As it came.
    pub(crate) text: Arc<str>,
    /// Beginning of the user's last words.
    pub(crate) title: Option<String>,
    /// A key for each beginning of its history.
    pub(crate) history: Arc<[ConversationKey]>,
    /// Options that it was asked with.
    pub(crate) options: Options,
    /// Step that was made of it, if it could be fitted.
    pub(crate) step: Option<Arc<Step>>,
    /// The run up to it.
    pub(crate) run: Arc<[RunPoint]>,
}

/// Record of a request.
#[derive(Clone)]
pub(crate) struct Record {
    /// Its number on the page.
    pub(crate) number: u64,
    /// Its name, in the log and in a header of the answer.
    pub(crate) id: String,
    /// When it came, in milliseconds since 1970.
    pub(crate) time_ms: u64,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) api: Option<Api>,
    pub(crate) model: Option<String>,
    pub(crate) upstream: Option<String>,
    /// The span that its client says to be in.
    pub(crate) parent: Option<Parent>,
    pub(crate) conversation: Option<String>,
    /// Part of an agent that sent it.
    pub(crate) caller: Option<RowCaller>,
    pub(crate) status: Option<u16>,
    pub(crate) outcome: Outcome,
    /// Why it went on unfitted, or was refused.
    pub(crate) unfit: Option<Unfit>,
    /// Figures of its window.
    pub(crate) figures: Option<Figures>,
    /// Limit of its answer, where its own limit was lowered.
    pub(crate) capped: Option<i64>,
    /// Tokens that the provider reported.
    pub(crate) reported: Option<Reported>,
    /// Disagreement of that with the request that was sent.
    pub(crate) disagreement: Option<Disagreement>,
    /// True if the upstream found it too long, and it was sent once more.
    pub(crate) sent_again: bool,
    /// Time to make it fit.
    pub(crate) fitting: Duration,
    /// Time until the head of the answer came.
    pub(crate) until_answer: Option<Duration>,
    /// Time in all.
    pub(crate) duration: Duration,
    /// Data that the page needs.
    pub(crate) shown: Option<Shown>,
}

/// Sizes of a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) kept: usize,
    pub(crate) dropped: usize,
    pub(crate) shortened: usize,
    pub(crate) tokens_before: i64,
    pub(crate) tokens_after: i64,
    pub(crate) cached: i64,
    pub(crate) max: i64,
    pub(crate) step: u64,
    /// True if it went out as it came.
    pub(crate) is_whole: bool,
}

impl Figures {
    pub(crate) fn of(step: &Step, is_whole: bool) -> Self {
        let summary = &step.summary;
        Self {
            kept: summary.messages_after,
            dropped: summary.messages_before.saturating_sub(summary.messages_after),
            shortened: step.shortened.len(),
            tokens_before: summary.tokens_before,
            tokens_after: summary.tokens_after,
            cached: step.session.cached_tokens,
            max: summary.budget.max_tokens,
            step: step.session.number,
            is_whole,
        }
    }
}

impl Record {
    /// The line of the log. Texts, and errors that may quote them, only if asked for.
    pub(crate) fn line(&self, with_texts: bool) -> String {
        let mut line = json!({
            "time_ms": self.time_ms,
            "id": self.id,
            "method": self.method,
            "path": self.path,
            "outcome": self.outcome.name(),
            "status": self.status,
            "duration_ms": millis(self.duration),
        });
        let mut set = |name: &str, value: Value| {
            if !value.is_null() {
                line[name] = value;
            }
        };
        set("api", self.api.map_or(Value::Null, |api| api.name().into()));
        set("model", self.model.clone().into());
        set("upstream", self.upstream.clone().into());
        set("conversation", self.conversation.clone().into());
        let caller = self.caller.and_then(|caller| serde_json::to_value(caller).ok());
        set("caller", caller.unwrap_or_default());
        set("until_answer_ms", self.until_answer.map_or(Value::Null, |span| millis(span).into()));
        set("output_capped", self.capped.into());
        set("tokens_reported", self.reported.map(|said| said.tokens).into());
        set("cached_reported", self.reported.and_then(|said| said.cached).into());
        set("disagreement", self.disagreement.map(Disagreement::code).into());
        if self.sent_again {
            set("sent_again", true.into());
        }
        if let Some(unfit) = &self.unfit {
            set("unfit", unfit.code.clone().into());
            let shortfall = unfit.shortfall.as_ref();
            set("shortfall", shortfall.map_or(Value::Null, Shortfall::to_json));
            if with_texts {
                set("unfit_detail", unfit.detail.clone().into());
            }
        }
        if let Some(figures) = &self.figures {
            set("fitting_ms", millis(self.fitting).into());
            set("whole", figures.is_whole.into());
            set("kept", figures.kept.into());
            set("dropped", figures.dropped.into());
            set("shortened", figures.shortened.into());
            set("tokens_before", figures.tokens_before.into());
            set("tokens_after", figures.tokens_after.into());
            set("cached_prefix", figures.cached.into());
            set("max", figures.max.into());
            set("step", figures.step.into());
        }
        if let Some(shown) = self.shown.as_ref().filter(|_| with_texts) {
            set("request", shown.text.as_ref().into());
        }
        cupel_names::readable_json(&line.to_string()).into_owned()
    }

    /// The line on the page.
    pub(crate) fn row(&self) -> Row {
        let figures = self.figures;
        let status = match (self.outcome, &self.unfit, figures) {
            (Outcome::Refused, _, _) => RowStatus::Refused,
            (Outcome::NoAnswer | Outcome::BrokenOff | Outcome::Stopped, _, _) => RowStatus::Failed,
            (_, _, None) => RowStatus::Passed,
            (_, unfit, Some(figures)) if figures.is_whole => match unfit {
                Some(_) => RowStatus::Passed,
                None => RowStatus::Whole,
            },
            // Too large all the same, if it is unfit: the smallest window went out.
            _ => RowStatus::Fitted,
        };
        let note = self.unfit.as_ref().map(|unfit| format!("{}: {}", unfit.code, unfit.detail));
        let left = (self.outcome == Outcome::ClientLeft && !self.duration.is_zero())
            .then(|| "the client left".to_owned());
        Row {
            id: self.number,
            time_ms: self.time_ms,
            model: self.model.clone(),
            conversation: self.conversation.clone(),
            caller: self.caller,
            step: figures.map(|figures| figures.step),
            title: self.shown.as_ref().and_then(|shown| shown.title.clone()),
            tokens_before: figures.map(|figures| figures.tokens_before),
            tokens_after: figures.map(|figures| figures.tokens_after),
            kept: figures.map(|figures| figures.kept),
            dropped: figures.map(|figures| figures.dropped),
            cached_prefix: figures.map(|figures| figures.cached),
            status,
            http_status: self.status,
            note: note.or(self.disagreement.map(Disagreement::text)).or(left),
            has_view: self.shown.is_some(),
        }
    }
}

/// Letters that are kept of a name from outside, in log, page and metrics.
const LONGEST_NAME: usize = 200;

/// A name from outside as it is kept: its beginning, if it is longer than any name has reason to be, and
/// without letters that would act on a terminal or a reader's eye.
pub(crate) fn bounded(name: &str) -> String {
    cut(name, LONGEST_NAME)
}

/// So many letters of a text from outside.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let shown = |letter| if cupel_names::is_hidden(letter) { '\u{fffd}' } else { letter };
    let mut letters = text.chars().map(shown);
    let mut kept: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() {
        kept.push('…');
    }
    kept
}

fn millis(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}

/// A request on its way. Whatever becomes of it, even if its client leaves and everything about it is
/// dropped, it is noted when this goes.
pub(crate) struct Exchange {
    app: Arc<App>,
    begun: Instant,
    /// The memory that it holds, if it was read.
    pub(crate) held: Option<Held>,
    /// Measure that the provider's report completes, if it counts as a step.
    pub(crate) unmeasured: Option<Unmeasured>,
    pub(crate) record: Record,
}

impl Exchange {
    pub(crate) fn begin(app: &Arc<App>, method: &str, path: &str, api: Option<Api>) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = app.next_number();
        app.metrics.begin();
        Self {
            begun: Instant::now(),
            held: None,
            unmeasured: None,
            record: Record {
                number,
                id: format!("cupel-{}-{number}", app.instance),
                time_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
                method: bounded(method),
                path: bounded(path),
                api,
                model: None,
                upstream: None,
                parent: None,
                conversation: None,
                caller: None,
                status: None,
                outcome: Outcome::ClientLeft,
                unfit: None,
                figures: None,
                capped: None,
                reported: None,
                disagreement: None,
                sent_again: false,
                fitting: Duration::ZERO,
                until_answer: None,
                duration: Duration::ZERO,
                shown: None,
            },
            app: app.clone(),
        }
    }

    /// Shows it on the page as it is now.
    pub(crate) fn show(&self) {
        if self.record.api.is_some() {
            self.app.history.put(&self.record);
        }
    }

    /// The provider has said what the request came to.
    pub(crate) fn reported(&mut self, said: Reported) {
        self.record.reported = Some(said);
        if let Some(sent) = self.unmeasured.take() {
            self.record.disagreement = self.app.measures.set(&sent, said);
        }
    }

    /// The head of the answer has come.
    pub(crate) fn answered(&mut self, status: u16) {
        self.record.status = Some(status);
        self.record.until_answer = Some(self.begun.elapsed());
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.record.duration = self.begun.elapsed();
        if self.record.outcome == Outcome::ClientLeft && self.app.cuts.load(Ordering::Relaxed) {
            self.record.outcome = Outcome::Stopped;
        }
        self.app.finish(&self.record);
    }
}

#[cfg(test)]
impl Record {
    /// A request of a test: it came, and nothing became of it yet.
    pub(crate) fn for_tests(number: u64) -> Self {
        Self {
            number,
            id: format!("cupel-test-{number}"),
            time_ms: 2,
            method: "POST".to_owned(),
            path: "/v1/chat/completions".to_owned(),
            api: Some(Api::OpenAiChat),
            model: None,
            upstream: None,
            parent: None,
            conversation: None,
            caller: None,
            status: None,
            outcome: Outcome::ClientLeft,
            unfit: None,
            figures: None,
            capped: None,
            reported: None,
            disagreement: None,
            sent_again: false,
            fitting: Duration::ZERO,
            until_answer: None,
            duration: Duration::ZERO,
            shown: None,
        }
    }

    /// The same with a text that the page can show.
    pub(crate) fn showing(self, text: &str) -> Self {
        let shown = Shown {
            api: Api::OpenAiChat,
            text: text.into(),
            title: Some("a title".to_owned()),
            history: Arc::default(),
            options: Options::new(),
            step: None,
            run: Arc::default(),
        };
        Self { shown: Some(shown), ..self }
    }
}

#[cfg(test)]
impl Figures {
    /// Sizes of a window of a test.
    pub(crate) fn for_tests(is_whole: bool) -> Self {
        Self {
            kept: 5,
            dropped: 3,
            shortened: 2,
            tokens_before: 900,
            tokens_after: 600,
            cached: 400,
            max: 700,
            step: 4,
            is_whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_outside_are_bounded_and_act_on_nothing() {
        assert_eq!(bounded("gpt-4o"), "gpt-4o");
        assert_eq!(bounded("a\u{1b}[31m\u{202e}b\n"), "a\u{fffd}[31m\u{fffd}b\u{fffd}");
        let whole = "é".repeat(LONGEST_NAME);
        assert_eq!(bounded(&whole), whole);
        assert_eq!(bounded(&format!("{whole}x")), format!("{whole}…"));
    }

    #[test]
    fn the_log_quotes_nothing_unless_asked() {
        let record = Record {
            status: Some(200),
            outcome: Outcome::Answered,
            unfit: Some(Unfit::new("malformed-request", "got SECRET")),
            duration: Duration::from_micros(1_500),
            ..Record::for_tests(1).showing("SECRET")
        };
        let line = record.line(false);
        assert!(!line.contains("SECRET") && line.contains("malformed-request"), "{line}");
        assert!(line.contains("\"duration_ms\":1.5"), "{line}");
        assert!(record.line(true).contains("\"request\":\"SECRET\""));
        assert!(record.line(true).contains("\"unfit_detail\":\"got SECRET\""));
        assert_eq!(record.row().status, RowStatus::Passed);
    }

    #[test]
    fn the_log_has_what_is_known_and_nothing_else() {
        let line = |record: &Record| serde_json::from_str::<Value>(&record.line(false)).unwrap();
        let bare = json!({
            "time_ms": 2, "id": "cupel-test-7", "method": "POST", "path": "/v1/chat/completions",
            "outcome": "client-left", "status": null, "duration_ms": 0.0, "api": "openai-chat",
        });
        assert_eq!(line(&Record::for_tests(7)), bare);
        let full = Record {
            model: Some("m".to_owned()),
            upstream: Some("https://u".to_owned()),
            conversation: Some("c".to_owned()),
            capped: Some(60),
            sent_again: true,
            figures: Some(Figures::for_tests(false)),
            fitting: Duration::from_millis(3),
            until_answer: Some(Duration::from_millis(40)),
            ..Record::for_tests(7)
        };
        let mut expected = bare;
        for (name, value) in [
            ("model", json!("m")),
            ("upstream", json!("https://u")),
            ("conversation", json!("c")),
            ("output_capped", json!(60)),
            ("sent_again", json!(true)),
            ("fitting_ms", json!(3.0)),
            ("until_answer_ms", json!(40.0)),
            ("whole", json!(false)),
            ("kept", json!(5)),
            ("dropped", json!(3)),
            ("shortened", json!(2)),
            ("tokens_before", json!(900)),
            ("tokens_after", json!(600)),
            ("cached_prefix", json!(400)),
            ("max", json!(700)),
            ("step", json!(4)),
        ] {
            expected[name] = value;
        }
        assert_eq!(line(&full), expected);
    }

    #[test]
    fn a_row_says_what_became_of_a_request() {
        let unfit = Some(Unfit::new("no-budget", "nobody says it"));
        let whole = Some(Figures::for_tests(true));
        let cut = Some(Figures::for_tests(false));
        for (outcome, unfit, figures, status) in [
            (Outcome::Answered, None, whole, RowStatus::Whole),
            (Outcome::ClientLeft, None, whole, RowStatus::Whole),
            (Outcome::Answered, None, cut, RowStatus::Fitted),
            (Outcome::Answered, None, None, RowStatus::Passed),
            (Outcome::Answered, unfit.clone(), whole, RowStatus::Passed),
            (Outcome::Answered, unfit.clone(), None, RowStatus::Passed),
            (Outcome::Answered, unfit.clone(), cut, RowStatus::Fitted),
            (Outcome::Refused, unfit.clone(), None, RowStatus::Refused),
            (Outcome::Refused, None, cut, RowStatus::Refused),
            (Outcome::NoAnswer, None, cut, RowStatus::Failed),
            (Outcome::BrokenOff, unfit, whole, RowStatus::Failed),
        ] {
            let record = Record { outcome, unfit, figures, ..Record::for_tests(1) };
            assert_eq!(record.row().status, status, "{outcome:?}");
        }
    }

    #[test]
    fn a_row_notes_why_a_request_was_not_fitted_or_that_its_client_left() {
        let over = Record { duration: Duration::from_millis(1), ..Record::for_tests(1) };
        assert_eq!(over.row().note.as_deref(), Some("the client left"));
        assert_eq!(Record::for_tests(1).row().note, None, "it is still on its way");
        let answered = Record { outcome: Outcome::Answered, ..over.clone() };
        assert_eq!(answered.row().note, None);
        let parts = vec![("tools".to_owned(), 90)];
        let shortfall = Shortfall { needed: 100, available: 50, parts };
        let short = Unfit { shortfall: Some(shortfall), ..Unfit::new("does-not-fit", "SECRET") };
        let line = Record { unfit: Some(short), ..over.clone() }.line(false);
        let line: Value = serde_json::from_str(&line).unwrap();
        let parts = json!([{ "path": "tools", "tokens": 90 }]);
        let expected = json!({ "needed": 100, "available": 50, "parts": parts });
        assert_eq!(line["shortfall"], expected, "tokens are told to everybody");
        let unfit = Record { unfit: Some(Unfit::new("code", "words")), ..over };
        assert_eq!(unfit.row().note.as_deref(), Some("code: words"));
    }

    #[test]
    fn a_row_has_the_figures_of_its_window() {
        let figures = Some(Figures::for_tests(false));
        let row = Record { figures, status: Some(200), ..Record::for_tests(9).showing("x") }.row();
        assert_eq!((row.id, row.step, row.kept, row.dropped), (9, Some(4), Some(5), Some(3)));
        assert_eq!((row.tokens_before, row.tokens_after), (Some(900), Some(600)));
        assert_eq!((row.cached_prefix, row.http_status), (Some(400), Some(200)));
        assert_eq!((row.has_view, row.title.as_deref()), (true, Some("a title")));
        assert!(!Record::for_tests(9).row().has_view);
    }
}
