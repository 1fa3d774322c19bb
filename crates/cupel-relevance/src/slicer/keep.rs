//! The part of a conversation that nobody would drop, then the rest by another slicer.

use std::collections::HashSet;
use std::sync::Arc;

use cupel::slicer::{Reserved, select_with_needs, slice_by_selecting};
use cupel::{
    Candidate, ContextBudget, ContextItem, CupelError, Gain, ItemList, Needs, ScoredItem,
    Selection, SliceExplanation, SliceRequest, SliceSignal, Slicer, Worth,
};

use cupel_names::{excerpt, letters};

use crate::keep::{Keep, KeepParameters, Talk, Told, Why};
use crate::{Language, LanguageChoice, Strategies};

/// Keeps what nobody would drop, then lets another slicer fill the rest.
///
/// **When to choose it:** conversations, with or without tool calls. Where nobody is known to be the user, it is
/// its inner slicer.
///
/// **Steps:** see the [rule](crate::keep). The reply that the last turn answers, the task, a reserve for the user's
/// words; a message that was corrected is in only with its correction. Small talk, and what was corrected, compete
/// last, and leave a twentieth of the room free.
///
/// **More budget:** what the rule keeps at a budget it keeps at every larger one.
///
/// **Ties and edge cases:** of two messages that weigh the same the newer goes first. Items without roles take no
/// part. A target of 0 takes nothing.
///
/// **Cost:** a pass over the user's words, and its inner slicer.
pub struct KeepSlice {
    inner: Box<dyn Slicer>,
    parameters: KeepParameters,
    /// The language of lists, for runs that bring no strategies.
    strategies: Strategies,
}

impl KeepSlice {
    /// Keeps what nobody would drop of a conversation in one language before another slicer chooses.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if a share is not within 0 and 1; it names which.
    pub fn new(
        inner: impl Slicer + 'static,
        parameters: KeepParameters,
        language: Option<Language>,
    ) -> Result<Self, CupelError> {
        let strategies = Strategies::new("")
            .with_language(language.map_or(LanguageChoice::None, LanguageChoice::Fixed));
        Self::with_strategies(Box::new(inner), parameters, strategies)
    }

    /// The same in the language that strategies find.
    pub(crate) fn with_strategies(
        inner: Box<dyn Slicer>,
        parameters: KeepParameters,
        strategies: Strategies,
    ) -> Result<Self, CupelError> {
        parameters.check()?;
        Ok(Self { inner, parameters, strategies })
    }

    /// Applies the rule; `None` where it has nothing to say.
    fn apply<'r>(&self, request: &'r SliceRequest<'r>) -> Option<Applied<'r>> {
        if super::is_empty(request) {
            return None;
        }
        let positions: Option<Vec<usize>> =
            request.candidates.iter().map(|candidate| request.position(candidate)).collect();
        // Without its list a request tells of no turns.
        let positions = positions?;
        let list = request.list;
        let told = self.strategies.in_run(request.context).told(list);
        let mut number = vec![None; list.len()];
        for (at, position) in positions.iter().enumerate() {
            number[*position] = Some(at);
        }
        let needs = all_needs(request, &told, &number);
        let needs_of = |position: usize, is_kept: &dyn Fn(usize) -> bool| {
            let at = number[position]?;
            let missing = needs.missing(at, |other| is_kept(positions[other]));
            Some(missing.into_iter().map(|other| positions[other]).collect())
        };
        let room = request.budget.target_tokens();
        let keeps = told.keeps(list, room, &self.parameters, &needs_of);
        Some(Applied { request, told, number, needs, keeps })
    }
}

/// Small talk, and what was replaced, takes no room as long as no more than this part of it is free: a window with a
/// few tokens to spare is better than one with "Haha, lovely."
const FREE_OF_SMALL_TALK: i64 = 20;

/// Returns the needs of candidates: those that they are told, and of corrected messages their corrections.
fn all_needs(request: &SliceRequest<'_>, told: &Told, number: &[Option<usize>]) -> Needs {
    let mut needs = request.needs.cloned().unwrap_or_else(|| Needs::none(request.candidates.len()));
    for (corrected, correction) in &told.corrections {
        if let (Some(corrected), Some(correction)) = (number[*corrected], number[*correction]) {
            let added = needs.add(corrected, correction);
            debug_assert!(added.is_ok(), "both are candidates");
        }
    }
    needs
}

/// The rule, applied to a request. Numbers are those of candidates, positions those of the list.
struct Applied<'r> {
    request: &'r SliceRequest<'r>,
    told: Arc<Told>,
    number: Vec<Option<usize>>,
    needs: Needs,
    keeps: Vec<Keep>,
}

/// Candidates that go on to the inner slicer.
struct Rest<'r> {
    /// Their numbers.
    numbers: Vec<usize>,
    candidates: Vec<Candidate<'r>>,
    needs: Needs,
    budget: ContextBudget,
    /// For each item of the list whether it is in already.
    taken: Vec<bool>,
}

impl<'r> Applied<'r> {
    fn kept_numbers(&self) -> impl Iterator<Item = usize> {
        self.keeps.iter().filter_map(|keep| self.number[keep.position])
    }

    /// The candidates that neither the rule keeps nor `is_left_aside`, with the room that the rule leaves.
    fn rest(
        &self,
        is_in: &HashSet<usize>,
        is_left_aside: impl Fn(usize) -> bool,
        taken_tokens: i64,
    ) -> Result<Rest<'r>, CupelError> {
        let has_all = |at: usize| {
            self.needs
                .missing(at, |other| is_in.contains(&other))
                .into_iter()
                .all(|at| !is_left_aside(at))
        };
        let is_open = |at: &usize| !is_in.contains(at) && !is_left_aside(*at) && has_all(*at);
        let numbers: Vec<usize> = (0..self.request.candidates.len()).filter(is_open).collect();
        let mut place = vec![None; self.request.candidates.len()];
        for (new, old) in numbers.iter().enumerate() {
            place[*old] = Some(new);
        }
        let mut needs = Needs::none(numbers.len());
        for (new, old) in numbers.iter().enumerate() {
            for needed in self.needs.of(*old).iter().filter_map(|needed| place[*needed]) {
                needs.add(new, needed)?;
            }
        }
        let less = |tokens: i64| tokens.saturating_sub(taken_tokens).max(0);
        let budget = self.request.budget;
        let budget = ContextBudget::builder(less(budget.max_tokens()))
            .target_tokens(less(budget.target_tokens()))
            .build()?;
        let candidates = numbers.iter().map(|at| self.request.candidates[*at]).collect();
        let mut taken = vec![false; self.request.list.len()];
        for (position, at) in self.number.iter().enumerate() {
            taken[position] = at.is_some_and(|at| is_in.contains(&at));
        }
        Ok(Rest { numbers, candidates, needs, budget, taken })
    }

    /// Selects what the rule keeps, then what a slicer chooses of the rest, then small talk and what was replaced.
    fn select(&self, inner: &dyn Slicer) -> Result<Selection, CupelError> {
        let mut is_in: HashSet<usize> = self.kept_numbers().collect();
        let mut selection = Selection::of(self.kept_numbers().collect());
        for keep in &self.keeps {
            let shortened = keep.rendering.zip(self.number[keep.position]);
            selection.shortened.extend(shortened.map(|(rendering, at)| (at, rendering)));
        }
        let mut taken = self.kept_tokens();
        // A task of which something was corrected is still the task.
        let replaced = self.told.replacements.iter().map(|(corrected, _)| corrected);
        let replaced = replaced.filter(|corrected| Some(**corrected) != self.told.task);
        let last = self.told.courtesies.iter().chain(replaced);
        let mut last: HashSet<usize> = last.filter_map(|position| self.number[*position]).collect();
        // What opens a turn competes with its steps.
        for needed in (0..self.needs.len()).flat_map(|at| self.needs.of(at)) {
            last.remove(needed);
        }
        let rest = self.rest(&is_in, |at| last.contains(&at), taken)?;
        taken = taken.saturating_add(self.absorb(inner, &rest, &mut selection, &mut is_in)?);
        if !last.is_empty() {
            let out = (0..self.request.candidates.len()).filter(|at| !is_in.contains(at));
            let out = out.map(|at| self.request.candidates[at].tokens().max(0));
            let target = self.request.budget.target_tokens();
            let is_all = out.fold(taken, i64::saturating_add) <= target;
            let free = if is_all { 0 } else { target / FREE_OF_SMALL_TALK };
            let rest = self.rest(&is_in, |at| !last.contains(&at), taken.saturating_add(free))?;
            self.absorb(&super::BestFirstSlice, &rest, &mut selection, &mut is_in)?;
        }
        Ok(selection)
    }

    fn kept_tokens(&self) -> i64 {
        self.keeps.iter().fold(0, |sum, keep| sum.saturating_add(keep.tokens.max(0)))
    }

    /// Lets a slicer choose of the rest, and says how many tokens that took.
    fn absorb(
        &self,
        slicer: &dyn Slicer,
        rest: &Rest<'_>,
        selection: &mut Selection,
        is_in: &mut HashSet<usize>,
    ) -> Result<i64, CupelError> {
        let request = rest.request(self.request);
        let part = if slicer.knows_needs() || rest.needs.is_empty() {
            slicer.select(&request)?
        } else {
            select_with_needs(&request, &|request| slicer.select(request))?
        };
        let of_form = |at: usize| {
            let form = part.shortened.iter().find(|(shortened, _)| *shortened == at);
            form.map(|(_, form)| rest.candidates[at].item().renderings()[*form].tokens())
        };
        let tokens = |at: &usize| of_form(*at).unwrap_or_else(|| rest.candidates[*at].tokens());
        let taken = part.selected.iter().map(tokens).fold(0_i64, i64::saturating_add);
        is_in.extend(part.selected.iter().map(|at| rest.numbers[*at]));
        selection.absorb(part, &rest.numbers);
        Ok(taken)
    }

    fn reserved(&self) -> Vec<Reserved> {
        let reserved = |keep: &Keep| {
            Some(Reserved {
                position: self.number[keep.position]?,
                rendering: keep.rendering,
                why: self.why(keep),
            })
        };
        self.keeps.iter().filter_map(reserved).collect()
    }

    /// The reason in a person's words.
    fn why(&self, keep: &Keep) -> String {
        let quoted = |position: usize| quoted(&self.request.list[position]);
        match keep.why {
            Why::Reply => "the reply that the last turn refers to".to_owned(),
            Why::Task => "the user's first message, the task".to_owned(),
            Why::Words(Talk::Rule) => "a rule of the user".to_owned(),
            Why::Words(Talk::Correction) => "a correction of the user".to_owned(),
            Why::Words(Talk::Question) => "a question of the user".to_owned(),
            Why::Words(_) => "the user's words".to_owned(),
            Why::Corrects(corrected) => format!("corrects `{}`", quoted(corrected)),
            Why::NeededBy(other) => format!("`{}` needs it", quoted(other)),
        }
    }

    /// Returns notes on candidates that are not in by the rule.
    fn notes(&self) -> Vec<(usize, String)> {
        let mut notes = Vec::new();
        for position in &self.told.courtesies {
            notes.extend(self.number[*position].map(|at| (at, "small talk".to_owned())));
        }
        for (corrected, correction) in &self.told.replacements {
            let by = quoted(&self.request.list[*correction]);
            notes.extend(self.number[*corrected].map(|at| (at, format!("replaced by `{by}`"))));
        }
        notes
    }
}

/// The beginning of an item's text, for people.
fn quoted(item: &ContextItem) -> String {
    /// The letters of a text that tell which one is meant.
    const LONGEST: usize = 40;
    excerpt(item.content(), LONGEST, letters)
}

impl Rest<'_> {
    fn request<'s>(&'s self, whole: &SliceRequest<'s>) -> SliceRequest<'s> {
        let request = SliceRequest::new(&self.candidates, &self.budget).within(whole.list);
        let request = request.beside(&self.taken).in_context(whole.context);
        let request = if whole.goes_on { request.going_on() } else { request };
        if self.needs.is_empty() { request } else { request.needing(&self.needs) }
    }
}

impl Slicer for KeepSlice {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        slice_by_selecting(self, sorted, budget)
    }

    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        match self.apply(request) {
            Some(applied) => applied.select(&*self.inner),
            None if self.inner.knows_needs() || request.needs.is_none() => {
                self.inner.select(request)
            }
            None => select_with_needs(request, &|request| self.inner.select(request)),
        }
    }

    fn worth(&self, request: &SliceRequest<'_>) -> Result<Worth, CupelError> {
        self.inner.worth(request)
    }

    fn reserve(&self, request: &SliceRequest<'_>) -> Result<Vec<Reserved>, CupelError> {
        Ok(self.apply(request).map_or_else(Vec::new, |applied| applied.reserved()))
    }

    fn needs_in(&self, list: &ItemList<'_>) -> Vec<(usize, usize)> {
        self.strategies.in_run(list.context()).told(list).corrections.clone()
    }

    fn explain(&self, request: &SliceRequest<'_>) -> Result<Option<SliceExplanation>, CupelError> {
        let Some(applied) = self.apply(request) else { return self.inner.explain(request) };
        let is_in: HashSet<usize> = applied.kept_numbers().collect();
        let rest = applied.rest(&is_in, |_| false, applied.kept_tokens())?;
        let inner = self.inner.explain(&rest.request(request))?.unwrap_or_default();
        let gain = |gain: &Gain| Gain { position: rest.numbers[gain.position], gain: gain.gain };
        let mut gains: Vec<Gain> = inner.gains.iter().map(gain).collect();
        gains.sort_by_key(|gain| gain.position);
        let mut signals = inner.signals;
        if !applied.keeps.is_empty() {
            let tokens = applied.kept_tokens();
            let text = format!("{} kept first, {tokens} tokens", applied.keeps.len());
            signals.insert(0, SliceSignal::new("kept_first", tokens as f64, text));
        }
        let (reserved, notes) = (applied.reserved(), applied.notes());
        Ok(Some(SliceExplanation { signals, gains, reserved, notes }))
    }

    fn knows_needs(&self) -> bool {
        true
    }

    fn uses_knapsack(&self) -> bool {
        self.inner.uses_knapsack()
    }

    fn is_quota(&self) -> bool {
        self.inner.is_quota()
    }

    fn is_count_quota(&self) -> bool {
        self.inner.is_count_quota()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slicer::BestFirstSlice;
    use crate::testing::{Random, build};
    use cupel::{ContextItemBuilder, Pipeline, SystemTimeProvider};

    fn says(role: &str, text: &str) -> ContextItemBuilder {
        let tokens = i64::try_from(text.split_whitespace().count()).unwrap() + 4;
        ContextItemBuilder::new(text, tokens).tags(vec![format!("role:{role}")])
    }

    /// A conversation whose lines are `user: …`, `assistant: …` or `call: …`, the last of the user pinned.
    fn talk(lines: &[&str]) -> Vec<ContextItem> {
        let last = lines.iter().rposition(|line| line.starts_with("user: ")).unwrap();
        build(lines.iter().enumerate().map(|(at, line)| {
            match line.split_once(": ").unwrap() {
                ("call", text) => says("assistant", text)
                    .tags(["role:assistant", "tool:run", "role:tool"].map(String::from).to_vec()),
                (role, text) => says(role, text).pinned(at == last),
            }
        }))
    }

    /// A policy that takes the newest, with or without the rule.
    fn pipeline() -> Pipeline {
        let slicer = KeepSlice::new(BestFirstSlice, KeepParameters::default(), None).unwrap();
        Pipeline::builder()
            .scorer(crate::ConstantScorer(0.0))
            .slicer(slicer)
            .placer(cupel::ChronologicalPlacer)
            .deduplication(false)
            .build()
            .unwrap()
    }

    fn window(items: &[ContextItem], tokens: i64) -> Vec<String> {
        let budget = ContextBudget::builder(tokens).build().unwrap();
        let window = pipeline().run(items, &budget).unwrap();
        window.iter().map(|item| item.content().to_owned()).collect()
    }

    const FILLER: &str = "assistant: The market opens at nine and most of the stalls sell fruit, bread, \
        cheese and flowers until the early afternoon.";

    #[test]
    fn the_reply_that_the_last_turn_answers_is_kept() {
        let list = "assistant: Here they are: 1. the blue lamp 2. the green lamp 3. the red lamp";
        let items =
            talk(&["user: Show me lamps.", FILLER, FILLER, list, "user: the second one please"]);
        assert!(window(&items, 40).iter().any(|text| text.starts_with("Here they are")));
    }

    #[test]
    fn a_rule_goes_before_everything_else_that_was_said() {
        let mut lines =
            vec!["user: Hello there, tell me about markets in the north of the country."];
        lines.push("user: Never touch migrations/.");
        lines.extend([FILLER; 12]);
        lines.push(
            "user: Which stalls sell the kind of cheese that keeps for weeks without a fridge?",
        );
        let kept = window(&talk(&lines), 80);
        assert!(kept.iter().any(|text| text == "Never touch migrations/."), "{kept:?}");
    }

    #[test]
    fn small_talk_competes_last() {
        let items = talk(&[
            "user: What is there to see in the old town on a rainy day?",
            "assistant: The museum of clocks.",
            "user: Thanks, great!",
            "user: Which tram goes from the harbour to the northern cemetery?",
        ]);
        // Room for one of the two: the courtesy is newer.
        let kept = window(&items, 25);
        assert!(kept.iter().any(|text| text.contains("clocks")), "{kept:?}");
        assert!(!kept.iter().any(|text| text.starts_with("Thanks")), "{kept:?}");
    }

    #[test]
    fn small_talk_does_not_take_the_last_twentieth() {
        let mut lines = vec!["user: Where is the market and when does it open on holidays?"];
        let fillers = ["first", "second", "third"].map(|day| format!("{FILLER} On the {day} day."));
        lines.extend(fillers.iter().map(String::as_str));
        lines.extend(["user: Haha, lovely.", "user: Which stall of the market sells eggs?"]);
        let items = talk(&lines);
        let all: i64 = items.iter().map(ContextItem::tokens).sum();
        let pinned = items.last().unwrap().tokens();
        let mut is_ever_in = false;
        for tokens in 20..all {
            let kept = window(&items, tokens);
            let is_kept = |item: &&ContextItem| kept.iter().any(|text| text == item.content());
            let sum: i64 = items.iter().filter(is_kept).map(ContextItem::tokens).sum();
            let is_in = kept.iter().any(|text| text == "Haha, lovely.");
            assert!(!is_in || sum <= tokens - (tokens - pinned) / 20, "{tokens}: {kept:?}");
            is_ever_in |= is_in;
        }
        assert!(is_ever_in, "more is free where a large one does not fit");
        assert_eq!(window(&items, all).len(), items.len(), "all of it fits");
    }

    #[test]
    fn people_who_talk_with_each_other_give_no_rules() {
        let mut lines = Vec::new();
        for _ in 0..3 {
            lines.push("user: Ann: Never touch my bike, I told you so.");
            lines.push("assistant: Bob: Always the same with you.");
        }
        lines.push("user: When did Ann and Bob talk about the bike for the first time?");
        let items = talk(&lines);
        let budget = ContextBudget::builder(60).build().unwrap();
        assert!(pipeline().rank(&items).unwrap().reserve(&budget).unwrap().is_empty());
        // With an assistant that has no name, the same words are rules for it.
        let plain: Vec<String> = lines.iter().map(|line| line.replace("Bob: ", "")).collect();
        let items = talk(&plain.iter().map(String::as_str).collect::<Vec<_>>());
        let reserved = pipeline().rank(&items).unwrap().reserve(&budget).unwrap();
        assert!(reserved.iter().any(|kept| kept.why == "a rule of the user"), "{reserved:?}");
    }

    #[test]
    fn a_rule_beside_what_was_corrected_still_holds() {
        let both = "user: The export to the bank stays as it is. Never add a dependency.";
        let items = talk(&[
            "user: Please mend the rounding.",
            both,
            "user: Actually, the export to the bank may change.",
            "user: The export to the shop runs at nine.",
            "user: Actually, the export to the shop runs at ten.",
            "user: Which file has the tests of the rounding, and which of them fail?",
        ]);
        let told = Told::of(&items, &crate::Ear::for_language(None));
        assert!(told.corrections.contains(&(1, 2)) && told.corrections.contains(&(3, 4)));
        assert_eq!(told.replacements, [(3, 4)], "of the first one half still stands");
    }

    #[test]
    fn a_correction_that_shares_no_word_is_about_what_was_said_last() {
        let items = talk(&[
            "user: Please plan a trip.",
            "user: The flight leaves on Monday.",
            "assistant: Noted.",
            "user: Great!",
            "user: No, wait, Thursday.",
            "user: Which hotel is close to the harbour and has a garden?",
        ]);
        let told = Told::of(&items, &crate::Ear::for_language(None));
        assert_eq!(told.corrections, [(1, 4)]);
        assert!(told.replacements.is_empty());
    }

    #[test]
    fn the_task_is_in_where_the_reserve_holds_what_corrects_it() {
        let mut lines = vec!["user: Plan a party on Monday for forty guests in the garden."];
        lines.extend([FILLER; 2]);
        lines.push("user: Actually, the party is on Thursday.");
        lines.extend([FILLER; 2]);
        lines.push("user: Actually, only twenty guests come to the garden party.");
        lines.extend([FILLER; 4]);
        lines.push("user: Which songs would you play for people who like to dance a little?");
        let kept = window(&talk(&lines), 110);
        for part in ["Plan a party", "Thursday", "twenty"] {
            assert!(kept.iter().any(|text| text.contains(part)), "{part}: {kept:?}");
        }
    }

    #[test]
    fn what_was_corrected_is_in_only_with_its_correction() {
        let mut lines =
            vec!["user: Please plan a trip.", "user: The flight to Oslo leaves on Monday."];
        lines.extend([FILLER; 6]);
        lines.push("user: Actually, the flight to Oslo leaves on Thursday.");
        lines.extend([FILLER; 6]);
        lines.push("user: When does the shop at the corner of the market square close on Sundays?");
        let items = talk(&lines);
        for tokens in 22..400 {
            let kept = window(&items, tokens);
            let has = |word: &str| kept.iter().any(|text| text.contains(word));
            assert!(!has("Monday") || has("Thursday"), "{tokens}: {kept:?}");
        }
    }

    #[test]
    fn where_nobody_is_the_user_the_inner_slicer_chooses() {
        let items = build((0..20).map(|at| ContextItemBuilder::new(format!("Never {at}"), 5)));
        let budget = ContextBudget::builder(23).build().unwrap();
        let plain = Pipeline::builder()
            .scorer(crate::ConstantScorer(0.0))
            .slicer(BestFirstSlice)
            .placer(cupel::ChronologicalPlacer)
            .build()
            .unwrap();
        let kept = pipeline().window(&items, &budget).unwrap();
        assert_eq!(kept, plain.window(&items, &budget).unwrap());
        assert!(pipeline().rank(&items).unwrap().reserve(&budget).unwrap().is_empty());
    }

    /// A random conversation.
    fn random_talk(random: &mut Random) -> Vec<ContextItem> {
        const SAID: [&str; 10] = [
            "user: Never use tabs in this project.",
            "user: thanks!",
            "user: Where is the key?",
            "user: The key is under the pot.",
            "user: Actually, the key is in the drawer.",
            "user: I am allergic to nuts, so no nuts please.",
            "assistant: ok",
            "assistant: Here is a list: 1. one 2. two 3. three 4. four",
            "call: run {\"cmd\": \"ls\"}\nfile_1 file_2",
            "user: I have a long story to tell about the house in which my uncle lived, and about his dog.",
        ];
        let count = 2 + random.below(24);
        let mut lines: Vec<&str> = (0..count).map(|_| SAID[random.below(SAID.len())]).collect();
        lines.push(if random.below(2) == 0 { "user: the second one" } else { SAID[3] });
        if random.below(3) == 0 {
            lines.push(SAID[8]);
        }
        talk(&lines)
    }

    #[test]
    fn what_the_rule_keeps_at_a_budget_it_keeps_at_every_larger_one() {
        let mut random = Random(7);
        let pipeline = pipeline();
        for _ in 0..300 {
            let items = random_talk(&mut random);
            let ranking = pipeline.rank(&items).unwrap();
            let mut before: Vec<usize> = Vec::new();
            for tokens in (0..400).step_by(3) {
                let budget = ContextBudget::builder(tokens).build().unwrap();
                let Ok(reserved) = ranking.reserve(&budget) else { continue };
                let kept: Vec<usize> = reserved.iter().map(|kept| kept.position).collect();
                let window = ranking.window(&budget).unwrap();
                let is_in = |at: &usize| window.iter().any(|placed| placed.position == *at);
                assert!(kept.iter().all(is_in), "what is reserved is in the window");
                let lost = before.iter().find(|at| !kept.contains(at));
                assert_eq!(lost, None, "lost at {tokens}: {items:#?}");
                let tokens_of = |at: usize| items[at].tokens();
                let sum: i64 = window.iter().map(|placed| tokens_of(placed.position)).sum();
                assert!(sum <= tokens);
                before = kept;
            }
        }
    }

    #[test]
    fn shares_beyond_the_whole_are_refused() {
        let parameters = KeepParameters { task: 1.5, ..KeepParameters::default() };
        let error = KeepSlice::new(BestFirstSlice, parameters, None).err().unwrap();
        assert_eq!(error.to_string(), "task: must be within 0 and 1, got 1.5");
    }

    #[test]
    fn reasons_are_in_a_persons_words() {
        let items = talk(&[
            "user: Please plan a trip.",
            "user: Never book flights before nine.",
            "user: The flight to Oslo leaves on Monday.",
            "user: Actually, the flight to Oslo leaves on Thursday.",
            "assistant: Two hotels: 1. Grand 2. Opera",
            "user: the second one",
        ]);
        let budget = ContextBudget::builder(90).build().unwrap();
        let pipeline = pipeline();
        let told = pipeline.rank(&items).unwrap().explain_slice(&budget).unwrap().unwrap();
        let why = |position: usize| {
            let found = told.reserved.iter().find(|kept| kept.position == position);
            found.map(|kept| kept.why.as_str())
        };
        assert_eq!(why(4), Some("the reply that the last turn refers to"));
        assert_eq!(why(1), Some("a rule of the user"));
        assert_eq!(why(3), Some("corrects `The flight to Oslo leaves on Monday.`"));
        let note = "replaced by `Actually, the flight to Oslo leaves on…`";
        assert!(told.notes.contains(&(2, note.to_owned())), "{:?}", told.notes);
    }

    #[test]
    fn auto_keeps_the_allergy_that_nobody_asked_for() {
        let strategies = Strategies::new("What shall I cook?");
        let policy = crate::auto().build_with(&strategies, SystemTimeProvider).unwrap();
        let mut lines = vec!["user: Hi!", "user: I am allergic to nuts."];
        lines.extend([FILLER; 20]);
        lines.push("user: What shall I cook?");
        let budget = ContextBudget::builder(100).build().unwrap();
        let window = Pipeline::from(policy).run(&talk(&lines), &budget).unwrap();
        assert!(window.iter().any(|item| item.content().contains("nuts")));
    }
}
