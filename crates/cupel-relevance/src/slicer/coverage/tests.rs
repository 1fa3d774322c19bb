mod literal;

use cupel::{
    Candidate, ContextBudget, ContextItem, ContextItemBuilder, Needs, Rendering, ScoredItem,
    SliceRequest, Slicer,
};

use super::super::testing::{assert_slice, budget, scored};
use super::{CoverageParameters, CoverageSlice, Question};
use crate::need::NeedParameters;
use crate::testing::{Random, assert_close};

const NO_QUESTION: Question =
    Question { size_exponent: 0.0, room_exponent: 0.0, gate_from: 1e9, gate_over: 1.0 };
const BARE: NeedParameters = NeedParameters {
    reach_tokens: 100.0,
    fade: 0.0,
    numbers: 1.0,
    said: 1.0,
    called: 1.0,
    returned: 1.0,
    talk: 0.0,
    user: 0.0,
    task: 0.0,
};

fn tagged(text: &str, tokens: i64, tags: &[&str]) -> ContextItemBuilder {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    ContextItemBuilder::new(text, tokens).tags(tags)
}

fn call(text: &str, tokens: i64) -> ContextItemBuilder {
    tagged(text, tokens, &["role:assistant", "tool:get", "role:tool"])
}

fn user(text: &str, tokens: i64) -> ContextItemBuilder {
    tagged(text, tokens, &["role:user"])
}

fn build(items: Vec<ContextItemBuilder>) -> Vec<ContextItem> {
    items.into_iter().map(|item| item.build().unwrap()).collect()
}

fn slicer(need: NeedParameters, question: Question) -> CoverageSlice {
    let parameters = CoverageParameters { need, size_exponent: 0.5, question };
    CoverageSlice::with_parameters(parameters).unwrap()
}

/// The positions in the list that are taken, in the order in which they are. Scores by position.
fn taken(slicer: &CoverageSlice, list: &[ContextItem], scores: &[f64], tokens: i64) -> Vec<usize> {
    let competing: Vec<usize> = (0..list.len()).filter(|at| !list[*at].pinned()).collect();
    let score = |at: usize| scores.get(at).copied().unwrap_or(0.0);
    let candidates: Vec<Candidate<'_>> =
        competing.iter().map(|at| Candidate::new(&list[*at], score(*at)).at(*at)).collect();
    let budget = ContextBudget::builder(tokens).build().unwrap();
    let selection = slicer.select(&SliceRequest::new(&candidates, &budget).within(list)).unwrap();
    selection.selected.into_iter().map(|at| competing[at]).collect()
}

/// Two calls of which the second uses what the first brought, so that values come back.
fn returning() -> Vec<ContextItemBuilder> {
    vec![call("get {}\nseen_1", 10), call("get {\"id\": \"seen_1\"}\nseen_1", 10)]
}

#[test]
fn without_calls_the_best_are_taken_whatever_their_size() {
    let items = [scored("a_1", 40, 0.9), scored("b_2", 30, 0.8), scored("c_3", 10, 0.1)];
    assert_slice(&CoverageSlice::default(), &items, 50, &["a_1", "c_3"]);
    assert_slice(&CoverageSlice::default(), &[], 10, &[]);
    assert_slice(&CoverageSlice::default(), &[scored("zero", 0, 0.9)], 0, &[]);
}

#[test]
fn of_items_that_hold_the_same_values_one_is_enough() {
    let mut items = returning();
    items.extend([call("x_1 y_2", 10), call("x_1 y_2", 10), call("z_3", 10)]);
    let list = build(items);
    let order = taken(&slicer(BARE, NO_QUESTION), &list, &[], 1000);
    let place = |at: usize| order.iter().position(|taken| *taken == at).unwrap();
    assert!(place(3) < place(2), "{order:?}");
    assert!(place(4) < place(2), "what is covered already comes last: {order:?}");
}

#[test]
fn what_is_pinned_covers_its_values() {
    let mut items = returning();
    items.extend([call("x_1", 10), call("z_3", 10), user("x_1", 10).pinned(true)]);
    let list = build(items);
    let order = taken(&slicer(BARE, NO_QUESTION), &list, &[], 1000);
    let place = |at: usize| order.iter().position(|taken| *taken == at).unwrap();
    assert!(place(3) < place(2), "{order:?}");
}

#[test]
fn what_is_in_already_covers_its_values_as_what_is_pinned_does() {
    let mut items = returning();
    items.extend([call("x_1", 10), call("z_3", 10), user("x_1", 10)]);
    let list = build(items);
    let candidates: Vec<Candidate<'_>> =
        (0..4).map(|at| Candidate::new(&list[at], 0.0).at(at)).collect();
    let order = |taken: &[bool]| {
        let budget = budget(1_000);
        let request = SliceRequest::new(&candidates, &budget).within(&list).beside(taken);
        slicer(BARE, NO_QUESTION).select(&request).unwrap().selected
    };
    let place = |order: &[usize], at: usize| order.iter().position(|taken| *taken == at).unwrap();
    let beside = order(&[false, false, false, false, true]);
    assert!(place(&beside, 3) < place(&beside, 2), "{beside:?}");
    let alone = order(&[false; 5]);
    assert!(place(&alone, 2) < place(&alone, 3), "said twice, it is needed more: {alone:?}");
}

#[test]
fn the_worth_of_a_form_is_told_by_its_share_and_its_values() {
    let mut items = returning();
    items.push(with_forms("x_1 y_2", 100, &[("x_1", 10, 0.3)]));
    let list = build(items);
    let candidates: Vec<Candidate<'_>> =
        (0..3).map(|at| Candidate::new(&list[at], 0.0).at(at)).collect();
    let budget = budget(100);
    let request = SliceRequest::new(&candidates, &budget).within(&list);
    let worth = slicer(BARE, NO_QUESTION).worth(&request).unwrap();
    assert_eq!((worth.forms(0).len(), worth.forms(2).len()), (0, 1));
    assert_eq!((worth.values_of(2, Some(0)).len(), worth.values_of(2, None).len()), (1, 2));
}

#[test]
fn where_values_do_not_come_back_need_counts_nothing() {
    let list = build(vec![call("a_1 b_2 c_3", 10), user("hello", 10), call("d_4", 10)]);
    let order = taken(&slicer(BARE, NO_QUESTION), &list, &[], 1000);
    assert_eq!(order, [2, 1, 0], "all alike, so the newest first");
}

#[test]
fn the_question_is_about_what_stands_before_the_users_last_turn() {
    let question = Question { gate_from: 0.0, gate_over: 0.1, ..NO_QUESTION };
    let list = build(vec![
        call("old", 10),
        user("asked", 10).pinned(true),
        call("new", 10),
        call("newer", 10),
    ]);
    let order = taken(&slicer(BARE, question), &list, &[0.5, 0.0, 0.9, 0.8], 1000);
    assert_eq!(order, [0, 3, 2]);
}

#[test]
fn without_a_user_the_question_is_about_everything() {
    let question = Question { gate_from: 0.0, gate_over: 0.1, ..NO_QUESTION };
    let list = build(vec![call("a", 10), call("b", 10), call("c", 10)]);
    assert_eq!(taken(&slicer(BARE, question), &list, &[0.5, 0.9, 0.1], 1000), [1, 0, 2]);
}

#[test]
fn a_question_that_singles_nothing_out_does_not_count() {
    let question = Question { gate_from: 1.5, gate_over: 4.0, ..NO_QUESTION };
    let list = build(vec![call("a", 10), call("b", 10), call("c", 10)]);
    assert_eq!(taken(&slicer(BARE, question), &list, &[1.0, 0.9, 0.8], 10), [2], "the newest");
    assert_eq!(taken(&slicer(BARE, question), &list, &[1.0, 0.1, 0.1], 10), [0]);
}

#[test]
fn a_hit_that_would_fill_the_window_gives_way_to_smaller_ones() {
    let question =
        Question { gate_from: 0.0, gate_over: 0.1, room_exponent: 2.0, size_exponent: 0.2 };
    let list = build(vec![call("large", 95), call("small", 10), call("other", 10)]);
    let slicer = slicer(BARE, question);
    assert_eq!(taken(&slicer, &list, &[1.0, 0.4, 0.0], 100), [1, 2]);
    assert_eq!(taken(&slicer, &list, &[1.0, 0.4, 0.0], 10_000), [0, 1, 2]);
}

#[test]
fn size_is_paid_for() {
    let mut items = returning();
    items.extend([call("x_1", 1000), call("y_2", 10)]);
    let list = build(items);
    let order = taken(&slicer(BARE, NO_QUESTION), &list, &[], 2000);
    let place = |at: usize| order.iter().position(|taken| *taken == at).unwrap();
    assert!(place(3) < place(2), "{order:?}");
}

#[test]
fn hostile_scores_sizes_and_texts_are_taken() {
    let list = build(
        vec![
            call("", 0).pinned(false),
            call("get {\"x\": \"x_1\"}", i64::MAX),
            call(&"v_1 ".repeat(100_000), 50),
            user("\u{0}\"\\", 1),
            call("get {", 7),
        ]
        .into_iter()
        .skip(1)
        .collect(),
    );
    let scores = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0];
    for tokens in [0, 1, 60, i64::MAX] {
        let order = taken(&CoverageSlice::default(), &list, &scores, tokens);
        let sum = order.iter().map(|at| i128::from(list[*at].tokens())).sum::<i128>();
        assert!(sum <= i128::from(tokens), "{tokens}: {order:?}");
    }
}

#[test]
fn a_parameter_that_is_no_size_is_refused() {
    let parameters = CoverageParameters { size_exponent: f64::NAN, ..Default::default() };
    let error = CoverageSlice::with_parameters(parameters).unwrap_err();
    assert_eq!(error.to_string(), "size_exponent: must be finite and not negative, got NaN");
}

#[test]
fn an_explanation_has_a_gain_for_each_and_says_what_carried_the_request() {
    let mut items = returning();
    items.extend([user("and now?", 5).pinned(true), call("get {\"id\": \"seen_1\"}\nnew_2", 10)]);
    let list = build(items);
    let slicer = CoverageSlice::default();
    let candidates: Vec<Candidate<'_>> =
        [0, 1, 3].map(|at| Candidate::new(&list[at], 0.1).at(at)).into();
    let budget = budget(25);
    let request = SliceRequest::new(&candidates, &budget).within(&list);
    let explained = slicer.explain(&request).unwrap().unwrap();
    assert_eq!(explained.gains.len(), 3);
    let chosen = slicer.select(&request).unwrap().selected;
    assert!(explained.gain(chosen[0]).unwrap() > 0.0);
    assert_eq!(
        explained.to_string(),
        "3 of 4 items are calls with results; 2 of them use a value seen before: need counts 50 %; \
         the question counts 0 %; the user last spoke 10 tokens before the end"
    );
    let talk = [Candidate::new(&list[2], 0.1)];
    let explained = slicer.explain(&SliceRequest::new(&talk, &budget)).unwrap().unwrap();
    assert_eq!(explained.signals[0].name, "calls");
    assert!(explained.gains.is_empty());
}

/// A request of a few roles, sizes and values, some of it pinned.
fn random_list(random: &mut Random) -> (Vec<ContextItem>, Vec<f64>) {
    let count = 1 + random.below(14);
    let mut items = Vec::new();
    for _ in 0..count {
        let mut value = || format!("v_{}", random.below(9));
        let text = match value().len() % 2 {
            0 => format!("get {{\"id\": \"{}\"}}\n{} {}", value(), value(), value()),
            _ => format!("get {{\"id\": \"{}\"}}\n{}", value(), value()),
        };
        let tokens = random.tokens(60);
        let item = match random.below(4) {
            0 => user(&text, tokens),
            1 => tagged(&text, tokens, &["role:assistant"]),
            _ => call(&text, tokens),
        };
        items.push(item.pinned(random.below(6) == 0));
    }
    let scores = (0..count).map(|_| [0.0, 0.1, 0.5, 1.0, 1.0, f64::NAN][random.below(6)]).collect();
    (build(items), scores)
}

/// The sum over a window of what its items added.
fn total(slicer: &CoverageSlice, list: &[ContextItem], scores: &[f64], tokens: i64) -> f64 {
    let competing: Vec<usize> = (0..list.len()).filter(|at| !list[*at].pinned()).collect();
    let candidates: Vec<Candidate<'_>> =
        competing.iter().map(|at| Candidate::new(&list[*at], scores[*at]).at(*at)).collect();
    let budget = budget(tokens);
    let request = SliceRequest::new(&candidates, &budget).within(list);
    let explained = slicer.explain(&request).unwrap().unwrap();
    let selected = slicer.select(&request).unwrap().selected;
    selected.iter().filter_map(|at| explained.gain(*at)).sum()
}

#[test]
fn more_budget_is_never_worth_less_where_room_costs_nothing() {
    let question = Question { room_exponent: 0.0, ..Question::default() };
    let parameters = CoverageParameters { question, ..Default::default() };
    let slicer = CoverageSlice::with_parameters(parameters).unwrap();
    let mut random = Random(23);
    let mut grew = 0;
    for _ in 0..300 {
        let (list, scores) = random_list(&mut random);
        let mut most = 0.0;
        for tokens in 1..200 {
            let total = total(&slicer, &list, &scores, tokens);
            assert!(total >= most - 1e-9, "{list:?} {scores:?}: {total} at {tokens} after {most}");
            grew += usize::from(total > most);
            most = total.max(most);
        }
    }
    assert!(grew > 1_000, "{grew}");
}

#[test]
fn what_is_pinned_is_worth_something_behind_the_beginning_and_its_values_nothing_elsewhere() {
    let pinned_at = |pins: &[usize]| {
        let items = [
            call("get {}\nhead_1", 10),
            call("get {\"id\": \"head_1\"}\nlate_2", 10),
            call("get {}\nlate_2 end_3", 10),
        ];
        let items = items.into_iter().enumerate();
        let list: Vec<ContextItemBuilder> =
            items.map(|(at, item)| item.pinned(pins.contains(&at))).collect();
        let list = build(list);
        let candidates = list.iter().enumerate().filter(|(_, item)| !item.pinned());
        let candidates: Vec<Candidate<'_>> =
            candidates.map(|(at, item)| Candidate::new(item, 0.0).at(at)).collect();
        let budget = budget(100);
        let request = SliceRequest::new(&candidates, &budget).within(&list);
        slicer(BARE, NO_QUESTION).worth(&request).unwrap()
    };
    assert_eq!(pinned_at(&[0]).pinned(), Some(0.0), "the head is always there");
    // Two units of need for head_1, one and a half for late_2, a half for end_3; 3.5 are the most of
    // one item. One call returns, of three and one more.
    let end = pinned_at(&[2]);
    let each_is_worth_two = 0.25 * 2.0 / 3.5;
    let found = [end.pinned().unwrap_or_default(), end.alone(0), end.alone(1)];
    assert_close(&found, &[each_is_worth_two; 3]);
}

#[test]
fn a_window_that_goes_on_hears_a_question_as_far_as_there_is_talk() {
    // What a clear question adds to the turn that it asks for, beside an equal one.
    let adds = |talk_tokens: i64, calls: usize| {
        let mut items = vec![user("the parrot", talk_tokens), user("the rain", talk_tokens)];
        items.extend((0..calls).flat_map(|_| returning()));
        items.push(user("which bird?", 10).pinned(true));
        let list = build(items);
        let score = |at: usize| if at == 0 { 1.0 } else { 0.0 };
        let competing = list.iter().enumerate().filter(|(_, item)| !item.pinned());
        let candidates: Vec<Candidate<'_>> =
            competing.map(|(at, item)| Candidate::new(item, score(at)).at(at)).collect();
        let budget = budget(100);
        let request = SliceRequest::new(&candidates, &budget).within(&list);
        let question = Question { gate_from: 1.0, ..Question::default() };
        let slicer = slicer(NeedParameters { talk: 0.1, ..BARE }, question);
        let adds = |request: &SliceRequest<'_>| {
            let worth = slicer.worth(request).unwrap();
            worth.alone(0) - worth.alone(1)
        };
        adds(&request.going_on()) / adds(&request)
    };
    let (little, much) = (adds(40, 1), adds(8_000, 1));
    assert!(little < 0.05 && much > 0.5, "{little} {much}");
    assert!(adds(8_000, 1) > 2.0 * adds(8_000, 4), "the more calls, the less");
}

#[test]
fn what_the_values_were_used_for_before_changes_nothing() {
    let mut random = Random(5);
    let shared = CoverageSlice::default();
    for _ in 0..200 {
        let (list, scores) = random_list(&mut random);
        let alone = taken(&CoverageSlice::default(), &list, &scores, 150);
        assert_eq!(taken(&shared, &list, &scores, 150), alone);
    }
}

#[test]
fn without_the_list_the_candidates_are_all_there_is() {
    let list = build(vec![call("get {}\na_1", 10), call("get {\"i\": \"a_1\"}\nb_2", 10)]);
    let sorted: Vec<ScoredItem> =
        list.iter().map(|item| ScoredItem { item: item.clone(), score: 0.0 }).collect();
    let kept = CoverageSlice::default().slice(&sorted, &budget(100)).unwrap();
    assert_eq!(kept.len(), 2);
    assert!(kept[0].is_same_item(&list[1]));
}

#[test]
fn a_hundred_thousand_mentions_are_chosen_from() {
    let text = |at: usize| {
        (0..100).fold(String::from("get {}\n"), |text, value| {
            text + &format!("id_{} ", (at * 37 + value * value) % 5_000)
        })
    };
    let list = build((0..1_000).map(|at| call(&text(at), 100)).collect());
    let order = taken(&CoverageSlice::default(), &list, &[], 20_000);
    assert_eq!(order.len(), 200);
}

/// A call whose result has these shorter forms.
fn with_forms(text: &str, tokens: i64, forms: &[(&str, i64, f64)]) -> ContextItemBuilder {
    let form = |(text, tokens, share): &(&str, i64, f64)| {
        let text = format!("get {{}}\n{text}");
        Rendering::new("short", text, *tokens).and_then(|form| form.with_share(*share)).unwrap()
    };
    call(&format!("get {{}}\n{text}"), tokens).renderings(forms.iter().map(form).collect())
}

/// Which items are taken, each with the tokens that it costs as it is taken.
fn sizes(list: &[ContextItem], tokens: i64) -> Vec<(usize, i64)> {
    let candidates: Vec<Candidate<'_>> =
        list.iter().enumerate().map(|(at, item)| Candidate::new(item, 0.0).at(at)).collect();
    let budget = budget(tokens);
    let request = SliceRequest::new(&candidates, &budget).within(list);
    let selection = slicer(BARE, NO_QUESTION).select(&request).unwrap();
    let size = |at: usize| {
        let form = selection.shortened.iter().find(|(position, _)| *position == at);
        form.map_or(list[at].tokens(), |(_, form)| list[at].renderings()[*form].tokens())
    };
    let mut sizes: Vec<(usize, i64)> =
        selection.selected.iter().map(|at| (*at, size(*at))).collect();
    sizes.sort_unstable();
    sizes
}

#[test]
fn items_come_in_short_and_grow_with_the_budget() {
    let mut items = returning();
    items.push(with_forms("x_1 y_2 z_3", 100, &[("x_1", 10, 0.3), ("x_1 y_2", 40, 0.7)]));
    let list = build(items);
    let at = list.len() - 1;
    let size = |tokens: i64| {
        let taken = sizes(&list, tokens);
        taken.iter().find(|(position, _)| *position == at).map(|(_, size)| *size)
    };
    let others: i64 = list[..at].iter().map(ContextItem::tokens).sum();
    assert_eq!(size(9), None);
    assert_eq!(size(others + 10), Some(10));
    assert_eq!(size(others + 40), Some(40));
    assert_eq!(size(others + 100), Some(100));
}

#[test]
fn no_budget_is_exceeded_whatever_forms_there_are() {
    let mut random = Random(11);
    for _ in 0..300 {
        let mut items = returning();
        for _ in 0..6 {
            let tokens = 10 + random.tokens(90);
            let parts = [8, 4, 2].map(|part| (tokens / part).max(1));
            let value = format!("v_{}", random.below(9));
            let other = format!("{value} w_{}", random.below(9));
            items.push(with_forms(
                &format!("{other} u_{}", random.below(9)),
                tokens,
                &[("nothing", parts[0], 0.05), (&value, parts[1], 0.4), (&other, parts[2], 0.8)],
            ));
        }
        let list = build(items);
        for tokens in [0, 7, 30, 80, 200, 1_000] {
            let taken = sizes(&list, tokens);
            let sum: i64 = taken.iter().map(|(_, size)| *size).sum();
            assert!(sum <= tokens, "{sum} of {tokens}: {taken:?}");
            if tokens == 1_000 {
                let is_whole = |(at, size): &(usize, i64)| *size == list[*at].tokens();
                assert!(taken.len() == list.len() && taken.iter().all(is_whole), "{taken:?}");
            }
        }
    }
}

/// A step that is worth most, and the question that it needs.
#[test]
fn a_candidate_bids_with_what_it_needs() {
    let list = build(vec![
        user("a long question", 60),
        call("get {}\nseen_1", 10),
        call("get {\"id\": \"seen_1\"}\nseen_1 seen_2", 10),
        call("get {\"id\": \"seen_2\"}\nseen_2", 10),
    ]);
    let mut needs = Needs::none(4);
    needs.add(1, 0).unwrap();
    let candidates: Vec<Candidate<'_>> =
        list.iter().enumerate().map(|(at, item)| Candidate::new(item, 0.0).at(at)).collect();
    let kept = |tokens: i64| {
        let budget = budget(tokens);
        let request = SliceRequest::new(&candidates, &budget).within(&list).needing(&needs);
        let mut kept = slicer(BARE, NO_QUESTION).select(&request).unwrap().selected;
        kept.sort_unstable();
        kept
    };
    assert_eq!(kept(20), [2, 3]);
    assert_eq!(kept(69), [2, 3], "the step does not come without its question");
    assert_eq!(kept(90), [0, 1, 2, 3]);
}

/// Random needs, in circles too, with and without shorter forms.
#[test]
fn nothing_is_taken_without_what_it_needs() {
    let random = &mut Random(7);
    let mut with_needs = 0;
    for round in 0..300 {
        let count = 2 + random.below(12);
        let list: Vec<ContextItem> = (0..count)
            .map(|at| {
                let tokens = 5 + random.tokens(40);
                let text = format!("get {{\"id\": \"seen_{}\"}}\nseen_{at}", random.below(count));
                let item =
                    if random.below(3) == 0 { user(&text, tokens) } else { call(&text, tokens) };
                let form = Rendering::new("r", format!("seen_{at}"), tokens / 3).unwrap();
                let forms = if round % 2 == 0 { vec![form] } else { Vec::new() };
                item.renderings(forms).build().unwrap()
            })
            .collect();
        let mut needs = Needs::none(count);
        for _ in 0..count {
            needs.add(random.below(count), random.below(count)).unwrap();
        }
        let score = |at: usize| ((at * 37) % 11) as f64 / 11.0;
        let candidates: Vec<Candidate<'_>> = list
            .iter()
            .enumerate()
            .map(|(at, item)| Candidate::new(item, score(at)).at(at))
            .collect();
        for tokens in (0..400).step_by(23) {
            let budget = budget(tokens);
            let request = SliceRequest::new(&candidates, &budget).within(&list).needing(&needs);
            let slicers: [&dyn Slicer; 2] = [&CoverageSlice::default(), &crate::BestFirstSlice];
            for slicer in slicers {
                assert!(slicer.knows_needs());
                let selection = slicer.select(&request).unwrap();
                let is_in = |at: usize| selection.selected.contains(&at);
                assert!(needs.are_met(is_in), "{round}, {tokens}: {selection:?}");
                let tokens_of = |at: &usize| {
                    let form = selection.shortened.iter().find(|(of, _)| of == at);
                    match form {
                        Some((_, form)) => list[*at].renderings()[*form].tokens(),
                        None => list[*at].tokens(),
                    }
                };
                assert!(selection.selected.iter().map(tokens_of).sum::<i64>() <= tokens);
                with_needs +=
                    selection.selected.iter().filter(|at| !needs.of(**at).is_empty()).count();
            }
        }
    }
    assert!(with_needs > 1_000, "{with_needs}");
}
