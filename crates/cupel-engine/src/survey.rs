//! A request as a whole: what each part scores and why, and the windows of all budgets.

use cupel::{ContextBudget, PlacedItem, Ranking};
use serde::{Deserialize, Serialize};

use crate::explain::{earned_by_at, plain_room};
use crate::limits::Scale;
use crate::prepare::{Chosen, chosen, least_pinned_tokens, tokens_of};
use crate::progress::Watch;
use crate::{
    EarnedBy, EngineError, Outdated, Part, Prepared, RepairDone, Schema, Signal, Why, Work,
};

/// Every part of a request with its score, and the windows of all budgets from one ranking.
///
/// It is what a slider needs that moves without asking again: where [`Explanation`](crate::Explanation)
/// tells of one budget, a survey tells of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Survey {
    /// `cupel/1`.
    pub schema: Schema,
    /// The format of the request, as in `openai-chat`.
    pub format: String,
    /// The policy that chose.
    pub policy: String,
    /// The model that the counts are for, or else the one that the request names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Name of the tokenizer.
    pub tokenizer: String,
    /// True if token counts are estimates.
    pub is_estimate: bool,
    /// Query that the window is for.
    pub query: String,
    /// The language whose stems and stop words were taken; absent where none was sure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Signals of the request as a whole that the policy went by, if it tells them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Signal>,
    /// Tokens of the request.
    pub total_tokens: i64,
    /// Tokens of the messages that must be kept.
    pub pinned_tokens: i64,
    /// Every part, in the order of the request.
    pub parts: Vec<SurveyedPart>,
    /// Changes of the window as it grows, the smallest that holds what must be kept first.
    pub changes: Vec<Change>,
    /// True if every size was tried at which the window can change. If not, only those listed are
    /// known.
    pub is_exact: bool,
    /// Repairs before the selection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<RepairDone>,
    /// Messages that did not compete, since something newer makes them superfluous.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<Outdated>,
}

/// A part of a request, and what earned it its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SurveyedPart {
    /// Message, or bundle of messages.
    pub part: Part,
    /// Score by the policy; absent if it is pinned, or if that is not a finite number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Reasons for its score.
    pub earned_by: EarnedBy,
}

/// Change of the window as it grows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Change {
    /// The smallest window in tokens from which this holds: with what this request sets aside for the
    /// answer and for counts that may be off.
    pub max_tokens: i64,
    /// Tokens that are left when the reserve is set aside.
    pub room: i64,
    /// Tokens of the window.
    pub tokens: i64,
    /// Messages that come in, or take another form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<Joined>,
    /// The positions of what goes out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<usize>,
    /// The whole window in placed order, where that is not the order of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<usize>,
}

/// A part that comes into the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Joined {
    /// Its position.
    pub position: usize,
    /// The number of the shorter form that it has there; absent if it is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<usize>,
}

/// A part as it may stand in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shown<'p> {
    /// Name of the form; empty for the whole.
    pub name: &'p str,
    /// Tokens of the form.
    pub tokens: i64,
    /// Text of the form.
    pub text: &'p str,
}

impl Prepared {
    /// Every part with its score, and the windows of all budgets; at most so many of them are tried.
    ///
    /// It needs no budget: where nothing says how much fits, nothing is set aside but what limits say.
    ///
    /// ```
    /// use cupel_engine::{Engine, Options};
    ///
    /// let engine = Engine::builder().tokenizer("estimate").build()?;
    /// let text = r#"[{"role": "user", "content": "Lunch is at noon."},
    ///     {"role": "user", "content": "Where is the deploy key?"}]"#;
    /// let survey = engine.prepare(text, &Options::new())?.survey(1_000)?;
    /// let [least, all] = survey.changes.as_slice() else { panic!("{survey:?}") };
    /// assert_eq!((least.tokens, least.joined[0].position), (survey.pinned_tokens, 1));
    /// assert_eq!((all.tokens, all.joined[0].position), (survey.total_tokens, 0));
    /// # Ok::<(), cupel_engine::EngineError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Whatever the policy refuses.
    pub fn survey(&self, most_windows: usize) -> Result<Survey, EngineError> {
        let failed = |error| self.failed(error);
        let ranking = self.pipeline().rank(self.items()).map_err(failed)?;
        let anything = ContextBudget::builder(self.candidates().total_tokens().max(1)).build()?;
        let budget = self.budget().unwrap_or(&anything);
        let sliced = ranking.explain_slice(budget).ok().flatten();
        let signals = sliced.iter().flat_map(|sliced| sliced.signals.iter().cloned());
        let pinned = self.items().iter().filter(|item| item.pinned());
        let windows = AllWindows::new(self, &ranking).tried(most_windows)?;
        Ok(Survey {
            schema: Schema,
            format: self.request().format().name().to_owned(),
            policy: self.settings().policy.name().to_owned(),
            model: self
                .model()
                .map(|model| model.name)
                .or(self.request().model())
                .map(str::to_owned),
            tokenizer: self.tokenizer().to_owned(),
            is_estimate: self.candidates().is_estimate(),
            query: self.query().to_owned(),
            language: sliced
                .as_ref()
                .and_then(|_| self.language())
                .map(|language| language.name().to_owned()),
            signals: signals.map(Signal::from).collect(),
            total_tokens: self.candidates().total_tokens(),
            pinned_tokens: tokens_of(pinned),
            parts: self.surveyed_parts(&ranking),
            changes: windows.changes,
            is_exact: windows.is_exact,
            repairs: self.read.repairs.clone(),
            superseded: self.read.superseded.clone(),
        })
    }

    fn surveyed_parts(&self, ranking: &Ranking<'_, '_>) -> Vec<SurveyedPart> {
        let all: Vec<usize> = (0..self.items().len()).collect();
        let earned = earned_by_at(ranking, &all, all.len());
        let part = |(position, earned_by)| SurveyedPart {
            part: Part::of(self.candidates(), position),
            score: ranking.score(position).filter(|score| score.is_finite()),
            earned_by,
        };
        earned.into_iter().enumerate().map(part).collect()
    }

    /// Why each part that the budget leaves out is out, by position, best first.
    ///
    /// # Errors
    ///
    /// If nothing says how much fits, or what must be kept does not fit.
    pub fn reasons(&self) -> Result<Vec<(usize, Why)>, EngineError> {
        let report = self.report()?;
        let reasons = crate::explain::Reasons::new(self, &report, self.budget()?);
        let why = |out: &cupel::ExcludedItem| Some((out.position?, reasons.of(out)));
        Ok(report.excluded.iter().filter_map(why).collect())
    }

    /// A part as a window has it: whole, or in one of its shorter forms. `None` if there is no such
    /// part or form.
    #[must_use]
    pub fn shown(&self, position: usize, form: Option<usize>) -> Option<Shown<'_>> {
        let item = self.items().get(position)?;
        let Some(form) = form else {
            return Some(Shown { name: "", tokens: item.tokens(), text: item.content() });
        };
        let form = item.renderings().get(form)?;
        Some(Shown { name: form.name(), tokens: form.tokens(), text: form.content() })
    }

    /// The smallest window in tokens that leaves as much room as this request's budget does, in the
    /// measure of [`Change::max_tokens`].
    ///
    /// # Errors
    ///
    /// If nothing says how much fits.
    pub fn size(&self) -> Result<i64, EngineError> {
        let ruler = self.ruler();
        Ok(ruler.size_for(plain_room(ruler.pinned, self.budget()?)))
    }

    fn ruler(&self) -> Ruler<'_> {
        Ruler {
            scale: self.scale(),
            pinned: tokens_of(self.items().iter().filter(|item| item.pinned())).max(0),
            least: least_pinned_tokens(self.items()),
        }
    }

    /// The same request, judged by another policy.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidPolicy`](crate::ErrorCode::InvalidPolicy) if the policy cannot be built.
    pub fn with_policy(&self, policy: &crate::NamedPolicy) -> Result<Self, EngineError> {
        Ok(self.judged_by(self.engine().with_policy(policy)?))
    }
}

/// Turns sizes of windows into the room that they leave, and back.
struct Ruler<'p> {
    scale: &'p Scale,
    pinned: i64,
    least: i64,
}

impl Ruler<'_> {
    /// The room that a window leaves; less than none if it does not hold what must be kept.
    fn room(&self, size: i64) -> i64 {
        let Ok(budget) = self.scale.budget(size) else { return -1 };
        if budget.target_tokens() < self.least { -1 } else { plain_room(self.pinned, &budget) }
    }

    /// The smallest window that leaves so much room.
    fn size_for(&self, room: i64) -> i64 {
        let mut high = self.scale.reserved().saturating_add(room).max(1);
        while self.room(high) < room && high < i64::MAX / 4 {
            high *= 2;
        }
        let mut low = -1;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.room(middle) >= room { high = middle } else { low = middle }
        }
        high
    }
}

/// Presence of a part in a window, and its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Out,
    In(Option<usize>),
}

/// The windows of all sizes, one after the other.
struct AllWindows<'s> {
    prepared: &'s Prepared,
    ranking: &'s Ranking<'s, 's>,
    /// Where each part stands in the last window.
    standing: Vec<Standing>,
    changes: Vec<Change>,
    is_exact: bool,
}

impl<'s> AllWindows<'s> {
    fn new(prepared: &'s Prepared, ranking: &'s Ranking<'s, 's>) -> Self {
        let standing = vec![Standing::Out; prepared.items().len()];
        Self { prepared, ranking, standing, changes: Vec::new(), is_exact: true }
    }

    fn tried(mut self, most: usize) -> Result<Self, EngineError> {
        let items = self.prepared.items();
        let lowest = least_pinned_tokens(items);
        let highest = tokens_of(items.iter().filter(|item| item.tokens() > 0)).max(lowest);
        let progress = self.prepared.settings().progress.as_ref();
        let range = usize::try_from(highest - lowest).unwrap_or(usize::MAX);
        let watch = Watch::begin(progress, Work::Budgets, range);
        if !self.swept(lowest, highest, most)? {
            self.spread(lowest, highest, most)?;
        }
        // What holds all is tried by itself: what fits comes back whole.
        let whole = self.prepared.window_of(self.ranking, highest)?;
        self.note(highest, &whole);
        watch.advance(range);
        let ruler = self.prepared.ruler();
        for change in &mut self.changes {
            change.max_tokens = ruler.size_for(change.room);
        }
        // Where little room becomes none, sizes meet: the last one counts.
        self.meet();
        Ok(self)
    }

    /// Every size at which the window changes; `false` if there are too many.
    fn swept(&mut self, lowest: i64, highest: i64, most: usize) -> Result<bool, EngineError> {
        // Each part comes in once at least.
        if self.prepared.items().len() > most {
            return Ok(false);
        }
        let mut sweep = self.ranking.sweep(lowest, highest - 1);
        for step in sweep.by_ref().take(most) {
            let (room, window) = step.map_err(|error| self.prepared.failed(error))?;
            if let Some(window) = window {
                self.note(room, &window);
            }
        }
        Ok(sweep.next_budget().is_none())
    }

    /// Sizes evenly apart, where there are too many at which the window changes.
    fn spread(&mut self, lowest: i64, highest: i64, most: usize) -> Result<(), EngineError> {
        self.is_exact = false;
        self.changes.clear();
        self.standing.fill(Standing::Out);
        let count = i64::try_from(most / 2).unwrap_or(i64::MAX).clamp(2, 1_000);
        let leap = ((highest - lowest) / count).max(1);
        let asked = self
            .prepared
            .budget()
            .ok()
            .map(|budget| plain_room(self.prepared.ruler().pinned, budget));
        let asked = asked.filter(|room| (lowest..highest).contains(room));
        let even = (0..count).map(|at| lowest + leap * at).take_while(|room| *room < highest);
        let mut rooms: Vec<i64> = even.chain(asked).collect();
        rooms.sort_unstable();
        rooms.dedup();
        for room in rooms {
            if let Some(window) = self.prepared.fitting_window(self.ranking, room)? {
                self.note(room, &window);
            }
        }
        Ok(())
    }

    fn note(&mut self, room: i64, window: &[PlacedItem]) {
        let window = chosen(window);
        let mut next = vec![Standing::Out; self.standing.len()];
        for (position, form) in &window {
            next[*position] = Standing::In(*form);
        }
        let (mut joined, mut left) = (Vec::new(), Vec::new());
        for (position, (before, after)) in self.standing.iter().zip(&next).enumerate() {
            match (before, after) {
                (_, Standing::In(form)) if before != after => {
                    joined.push(Joined { position, form: *form });
                }
                (Standing::In(_), Standing::Out) => left.push(position),
                _ => {}
            }
        }
        let order = placed_order(&window);
        let is_same = joined.is_empty() && left.is_empty();
        let same_order = self.changes.last().is_some_and(|last| last.order == order);
        // On a spread every size counts: what lies between two of them is not known.
        if is_same && same_order && self.is_exact {
            return;
        }
        self.standing = next;
        let tokens = self.prepared.tokens_at(&window);
        self.changes.push(Change { max_tokens: 0, room, tokens, joined, left, order });
    }

    fn meet(&mut self) {
        let mut met: Vec<Change> = Vec::with_capacity(self.changes.len());
        for change in std::mem::take(&mut self.changes) {
            match met.last_mut() {
                Some(last) if last.max_tokens == change.max_tokens => last.absorb(change),
                _ => met.push(change),
            }
        }
        self.changes = met;
    }
}

impl Change {
    /// Becomes both changes in one.
    fn absorb(&mut self, later: Self) {
        let rejoined = |joined: &Joined| later.joined.iter().any(|j| j.position == joined.position);
        self.joined.retain(|joined| !later.left.contains(&joined.position) && !rejoined(joined));
        self.left.retain(|position| later.joined.iter().all(|j| j.position != *position));
        self.joined.extend(later.joined);
        self.left.extend(later.left);
        self.joined.sort_by_key(|joined| joined.position);
        self.left.sort_unstable();
        (self.room, self.tokens, self.order) = (later.room, later.tokens, later.order);
    }
}

/// The positions of a window, if they are not in the order of the request.
fn placed_order(window: &[Chosen]) -> Vec<usize> {
    let rises = window.is_sorted_by_key(|(position, _)| *position);
    if rises { Vec::new() } else { window.iter().map(|(position, _)| *position).collect() }
}
