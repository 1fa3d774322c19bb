use std::collections::HashMap;

use cupel::{ContextItem, CupelError};

use super::exchange::{is_exchange, is_instruction, is_user_turn};
use super::mentions::Mentions;
use super::store::Store;
use crate::grouping::in_time;
use crate::parameter;

/// The constants of [`Need`].
///
/// ```
/// # use cupel_relevance::need::NeedParameters;
/// let usual = NeedParameters::default();
/// assert_eq!(usual.reach_tokens, 300.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeedParameters {
    /// After so many tokens fading sets in.
    pub reach_tokens: f64,
    /// Exponent of age by which need fades. 0 if it does not.
    pub fade: f64,
    /// Weight of a plain number beside other values.
    pub numbers: f64,
    /// Weight of values that are said.
    pub said: f64,
    /// Weight of values that are called for.
    pub called: f64,
    /// Weight of values that came back.
    pub returned: f64,
    /// The need of an item of its own, whatever it mentions.
    pub talk: f64,
    /// Weight added for the user's words.
    pub user: f64,
    /// Weight added for the user's first words.
    pub task: f64,
}

impl Default for NeedParameters {
    fn default() -> Self {
        Self {
            reach_tokens: 300.0,
            fade: 0.5,
            numbers: 0.2,
            said: 1.0,
            called: 1.0,
            returned: 1.0,
            talk: 0.05,
            user: 0.03,
            task: 0.1,
        }
    }
}

impl NeedParameters {
    /// The same for a window that goes on from one that was sent before. What stays in it must be of
    /// use for longer: so the newest counts more, what an agent asks for and is told more than what
    /// comes back in bulk, and the user's turns no more than others.
    pub(crate) fn going_on(self) -> Self {
        Self {
            reach_tokens: 0.5 * self.reach_tokens,
            fade: 1.2 * self.fade,
            numbers: 0.5 * self.numbers,
            said: 1.3 * self.said,
            called: 2.0 * self.called,
            returned: 0.85 * self.returned,
            user: 0.0,
            ..self
        }
    }

    pub(crate) fn check(&self) -> Result<(), CupelError> {
        parameter::positive("reach_tokens", self.reach_tokens)?;
        parameter::not_negative("fade", self.fade)?;
        parameter::not_negative("numbers", self.numbers)?;
        parameter::not_negative("said", self.said)?;
        parameter::not_negative("called", self.called)?;
        parameter::not_negative("returned", self.returned)?;
        parameter::not_negative("talk", self.talk)?;
        parameter::not_negative("user", self.user)?;
        parameter::not_negative("task", self.task)
    }
}

/// One unit of need: sums of whole numbers are exact, whatever their order.
const UNIT: f64 = (1_u64 << 40) as f64;

fn to_whole(need: f64) -> u64 {
    // A float beyond the range of an integer becomes the largest, NaN becomes 0.
    (need * UNIT).round() as u64
}

/// A need as a number of units.
pub(crate) fn to_units(whole: u64) -> f64 {
    whole as f64 / UNIT
}

/// Need for each value of a list, and whether values come back in it at all. See the
/// [rules](crate::need).
#[derive(Debug, Clone)]
pub struct Need {
    /// For each item the values that it mentions, by number.
    lists: Vec<u32>,
    ends: Vec<usize>,
    /// For items with shorter forms, by position, the values that each form mentions.
    forms: HashMap<usize, Vec<Box<[u32]>>>,
    /// For each value its need, exact.
    by_value: Vec<u64>,
    /// For each item the need of its own, exact.
    own: Vec<u64>,
    calls: usize,
    returning_calls: usize,
}

impl Need {
    /// The need of a whole list, in the order in which its items came: by time if all have one, else
    /// as listed.
    #[must_use]
    pub fn of(items: &[ContextItem], mentions: &Mentions, parameters: &NeedParameters) -> Self {
        mentions.look(items, |store, numbers| weigh(items, store, numbers, parameters))
    }

    /// The share of calls that hold a value which was said or came back before them, out of all
    /// calls and one more: with few calls little is known.
    #[must_use]
    pub fn return_rate(&self) -> f64 {
        self.returning_calls as f64 / (self.calls as f64 + 1.0)
    }

    /// Number of calls there are.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// Number of calls that hold a value that was said or came back before. A value that only other calls
    /// asked for, a page or a unit, has to be kept for nobody.
    #[must_use]
    pub fn returning_calls(&self) -> usize {
        self.returning_calls
    }

    /// The need that the item at a position covers by itself.
    #[must_use]
    pub fn of_item(&self, position: usize) -> f64 {
        let values = self.values(position).iter();
        let sum = values.fold(self.own(position), |sum, value| {
            sum.saturating_add(self.by_value[*value as usize])
        });
        to_units(sum)
    }

    /// The values that the item at a position mentions, by number.
    pub(crate) fn values(&self, position: usize) -> &[u32] {
        let start = if position == 0 { 0 } else { self.ends[position - 1] };
        &self.lists[start..self.ends[position]]
    }

    /// The values that a shorter form of the item at a position still mentions; of the whole, where
    /// there is no such form.
    pub(crate) fn values_of_form(&self, position: usize, form: Option<usize>) -> &[u32] {
        let known = form.and_then(|form| self.forms.get(&position)?.get(form));
        match known {
            Some(values) => values,
            None => self.values(position),
        }
    }

    /// For each value its need, exact.
    pub(crate) fn by_value(&self) -> &[u64] {
        &self.by_value
    }

    /// The need of an item of its own, exact.
    pub(crate) fn own(&self, position: usize) -> u64 {
        self.own[position]
    }
}

fn weigh(
    items: &[ContextItem],
    store: &Store,
    numbers: &[u32],
    parameters: &NeedParameters,
) -> Need {
    let order = in_time(items);
    let mut need = Need {
        lists: Vec::new(),
        ends: Vec::with_capacity(items.len()),
        forms: HashMap::new(),
        by_value: Vec::new(),
        own: vec![0; items.len()],
        calls: 0,
        returning_calls: 0,
    };
    for (at, (item, number)) in items.iter().zip(numbers).enumerate() {
        // Instructions are in every window: nothing else has to be kept for what they name.
        if !is_instruction(item) {
            need.lists.extend_from_slice(store.all(*number));
            if !item.renderings().is_empty() {
                need.forms.insert(at, store.forms(*number).map(Box::from).collect());
            }
        }
        need.ends.push(need.lists.len());
    }
    count_calls(&mut need, items, &order, store, numbers);

    let mut sums = vec![0.0; store.value_count()];
    // From the newest back, since age is what came after: in tokens, as one long result takes attention from what
    // stands before it as much as many short turns do.
    let mut newer_tokens = 0.0;
    for at in order.iter().rev().map(|at| *at as usize) {
        let (item, number) = (&items[at], numbers[at]);
        if is_instruction(item) {
            continue;
        }
        let fading = (1.0 + newer_tokens / parameters.reach_tokens).powf(-parameters.fade);
        let [said, called, returned] = store.messages(number);
        let NeedParameters { said: by_said, called: by_called, returned: by_returned, .. } =
            *parameters;
        for (message, counts) in [(said, by_said), (called, by_called), (returned, by_returned)] {
            // A message has one unit for all that it mentions: a list of a thousand ids makes none of them likely.
            let share = counts * fading / message.len().max(1) as f64;
            for value in message {
                let weight = if store.is_number(*value) { parameters.numbers } else { 1.0 };
                sums[*value as usize] += share * weight;
            }
        }
        let mut own = parameters.talk * fading;
        if is_user_turn(item) {
            own += parameters.user;
        }
        need.own[at] = to_whole(own);
        newer_tokens += item.tokens().max(0) as f64;
    }
    if let Some(first) = order.iter().find(|at| is_user_turn(&items[**at as usize])) {
        let own = &mut need.own[*first as usize];
        *own = own.saturating_add(to_whole(parameters.task));
    }
    need.by_value = sums.into_iter().map(to_whole).collect();
    need
}

fn count_calls(
    need: &mut Need,
    items: &[ContextItem],
    order: &[u32],
    store: &Store,
    numbers: &[u32],
) {
    let mut is_seen = vec![false; store.value_count()];
    for at in order.iter().map(|at| *at as usize).filter(|at| !is_instruction(&items[*at])) {
        if is_exchange(&items[at]) {
            need.calls += 1;
            // Looked up before its own values are noted: a call does not return what it says first.
            let returns = store.called(numbers[at]).iter().any(|value| is_seen[*value as usize]);
            need.returning_calls += usize::from(returns);
        }
        for value in store.learnt(numbers[at]) {
            is_seen[*value as usize] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, at_minute, build, item};
    use cupel::ContextItemBuilder;

    const PLAIN: NeedParameters = NeedParameters {
        reach_tokens: 10.0,
        fade: 1.0,
        numbers: 0.5,
        said: 1.0,
        called: 1.0,
        returned: 1.0,
        talk: 0.0,
        user: 0.0,
        task: 0.0,
    };

    fn tagged(text: &str, tags: &[&str]) -> ContextItemBuilder {
        item(text).tags(tags.iter().map(|tag| (*tag).to_owned()).collect())
    }

    fn call(text: &str) -> ContextItemBuilder {
        tagged(text, &["role:assistant", "tool:get", "role:tool"])
    }

    fn need(items: &[ContextItem], parameters: NeedParameters) -> Need {
        Need::of(items, &Mentions::default(), &parameters)
    }

    fn by_item(items: &[ContextItem], parameters: NeedParameters) -> Vec<f64> {
        let need = need(items, parameters);
        (0..items.len()).map(|at| need.of_item(at)).collect()
    }

    #[test]
    fn a_window_that_goes_on_has_constants_of_its_own() {
        let expected = NeedParameters {
            reach_tokens: 150.0,
            fade: 0.6,
            numbers: 0.1,
            said: 1.3,
            called: 2.0,
            returned: 0.85,
            user: 0.0,
            ..NeedParameters::default()
        };
        assert_eq!(NeedParameters::default().going_on(), expected);
        let fading = NeedParameters { reach_tokens: 40.0, fade: 0.25, numbers: 0.5, ..expected };
        let fading = fading.going_on();
        assert_close(&[fading.reach_tokens, fading.fade, fading.numbers], &[20.0, 0.3, 0.25]);
        assert_close(&[fading.said, fading.called, fading.returned], &[1.69, 4.0, 0.7225]);
    }

    #[test]
    fn what_is_said_counts_as_much_as_its_parameter_says() {
        let items = build([item("a_1 b_2"), item("b_2 c_3")]);
        let parameters = NeedParameters { fade: 0.0, said: 3.0, ..PLAIN };
        assert_close(&by_item(&items, parameters), &[4.5, 4.5]);
        let numbers = build([item("a_1 170")]);
        let parameters = NeedParameters { fade: 0.0, said: 3.0, numbers: 0.25, ..PLAIN };
        assert_close(&by_item(&numbers, parameters), &[1.5 * 1.25]);
    }

    #[test]
    fn a_message_spreads_one_unit_and_mentions_add_up() {
        let items = build([item("a_1 b_2"), item("b_2 c_3")]);
        let parameters = NeedParameters { fade: 0.0, ..PLAIN };
        assert_close(&by_item(&items, parameters), &[1.5, 1.5]);
    }

    #[test]
    fn need_fades_with_what_came_after() {
        let items = build([item("a_1"), item("b_2"), item("c_3")]);
        assert_close(&by_item(&items, PLAIN), &[1.0 / 3.0, 0.5, 1.0]);
        let talk = build([item("one"), item("two"), item("three")]);
        let parameters = NeedParameters { talk: 0.6, ..PLAIN };
        assert_close(&by_item(&talk, parameters), &[0.2, 0.3, 0.6]);
    }

    #[test]
    fn time_says_what_came_after() {
        let items =
            build([item("a_1").timestamp(at_minute(2)), item("b_2").timestamp(at_minute(1))]);
        assert_close(&by_item(&items, PLAIN), &[1.0, 0.5]);
    }

    #[test]
    fn what_is_said_called_and_returned_are_three_messages() {
        let items = build([call("a_1\nget {\"id\": \"b_2\"}\nc_3 d_4")]);
        assert_close(&by_item(&items, PLAIN), &[3.0]);
    }

    #[test]
    fn what_is_said_called_and_returned_can_count_differently() {
        let items = build([call("a_1\nget {\"id\": \"b_2\"}\nc_3 d_4")]);
        let parameters = NeedParameters { said: 0.5, called: 2.0, returned: 0.25, ..PLAIN };
        assert_close(&by_item(&items, parameters), &[2.75]);
    }

    #[test]
    fn plain_numbers_count_less() {
        assert_close(&by_item(&build([item("1234")]), PLAIN), &[0.5]);
    }

    #[test]
    fn talk_has_a_need_of_its_own_the_users_more_and_their_first_words_most() {
        let parameters = NeedParameters { talk: 0.1, user: 0.2, task: 0.4, fade: 0.0, ..PLAIN };
        let items = build([
            tagged("be kind", &["role:system"]),
            tagged("hello", &["role:user"]),
            tagged("hi", &["role:assistant"]),
            tagged("go on", &["role:user"]),
        ]);
        assert_close(&by_item(&items, parameters), &[0.0, 0.7, 0.1, 0.3]);
    }

    #[test]
    fn instructions_take_no_part() {
        let items = build([tagged("x_1", &["role:system"]), item("y_2")]);
        let need = need(&items, PLAIN);
        assert_close(&[need.of_item(0), need.of_item(1)], &[0.0, 1.0]);
        assert!(need.values(0).is_empty());
    }

    #[test]
    fn a_call_returns_if_its_arguments_were_seen_before() {
        let items = build([
            call("get {\"id\": \"a_1\"}\nb_2"),
            call("get {\"id\": \"b_2\"}\nc_3"),
            call("get {\"id\": \"new_9\"}\nb_2"),
        ]);
        let need = need(&items, PLAIN);
        assert_eq!((need.calls(), need.returning_calls()), (3, 1));
        assert_eq!(need.return_rate(), 0.25);
        assert_eq!(self::need(&[], PLAIN).return_rate(), 0.0);
    }

    #[test]
    fn what_only_calls_asked_for_does_not_come_back() {
        let items = build([
            call("get {\"unit\": \"kilo_2\"}\na_1"),
            call("get {\"unit\": \"kilo_2\"}\nb_2"),
            tagged("make it kilo_2", &["role:user"]),
            call("get {\"unit\": \"kilo_2\"}\nc_3"),
        ]);
        assert_eq!(need(&items, PLAIN).returning_calls(), 1);
    }

    #[test]
    fn needs_beyond_all_bounds_stay_numbers() {
        let parameters = NeedParameters { talk: f64::MAX, ..PLAIN };
        let items = build([item("a_1"), item("b_2")]);
        assert!(by_item(&items, parameters).iter().all(|need| need.is_finite()));
    }

    #[test]
    fn words_of_the_user_beside_a_call_and_its_result_are_no_turn_of_the_user() {
        let parameters = NeedParameters { talk: 0.1, user: 0.2, task: 0.4, fade: 0.0, ..PLAIN };
        let items = build([
            tagged("go get it", &["role:user", "role:assistant", "tool:get", "role:tool"]),
            tagged("got it", &["role:user", "role:tool"]),
            tagged("go on", &["role:user"]),
        ]);
        assert_close(&by_item(&items, parameters), &[0.1, 0.1, 0.7]);
    }
}
