//! The contest against the steps of the documentation.

use cupel::slicer::Form;
use cupel::{Candidate, ContextItem, ContextItemBuilder, Needs, Rendering, SliceRequest, Slicer};

use super::super::{CoverageParameters, CoverageSlice};
use super::{budget, random_list};
use crate::need::{Mentions, Need, is_exchange, is_user_turn, to_units};
use crate::testing::Random;

/// The steps of the documentation, literally: everything is weighed anew for every pick. Returns the
/// candidates in the order in which they are taken, and the rendering of each that is not whole.
struct Literal<'l> {
    list: &'l [ContextItem],
    /// Where each candidate stands in the list.
    competing: Vec<usize>,
    need: Need,
    /// For each candidate, what the question says without and with the room that it pays for.
    asked: Vec<(f64, f64)>,
    most_per_size: f64,
    /// For each candidate the form that is taken, and the key and slope with which it came in.
    stands: Vec<Option<(Form, f64, f64)>>,
    picks: Vec<usize>,
    left: i64,
}

impl<'l> Literal<'l> {
    fn new(list: &'l [ContextItem], scores: &[f64], target: i64) -> Option<Self> {
        let CoverageParameters { need: parameters, question, .. } = CoverageParameters::default();
        let need = Need::of(list, &Mentions::default(), &parameters);
        let competing: Vec<usize> = (0..list.len()).filter(|at| !list[*at].pinned()).collect();
        if !competing.iter().any(|at| is_exchange(&list[*at])) {
            return None;
        }
        let tokens = |at: usize| list[at].tokens();
        let last_turn = list.iter().rposition(is_user_turn).unwrap_or(list.len());
        let asked: Vec<usize> = competing.iter().copied().filter(|at| *at < last_turn).collect();
        let score =
            |at: usize| if asked.contains(&at) && scores[at] > 0.0 { scores[at] } else { 0.0 };
        let mean = asked.iter().map(|at| score(*at)).sum::<f64>() / asked.len().max(1) as f64;
        let best = asked.iter().map(|at| score(*at)).fold(0.0, f64::max);
        let stands_out = (best / mean - question.gate_from) / question.gate_over;
        let rho = if mean > 0.0 { stands_out.clamp(0.0, 1.0) } else { 0.0 };
        let sized = |at: usize| score(at) / (tokens(at) as f64).powf(question.size_exponent);
        let largest = competing.iter().map(|at| sized(*at)).fold(0.0, f64::max);
        let asked_share = |at: &usize| {
            let free = (1.0 - tokens(*at) as f64 / target as f64).max(0.0);
            let share = sized(*at) / if largest > 0.0 { largest } else { 1.0 };
            (rho * share, rho * share * free.powf(question.room_exponent))
        };
        let asked = competing.iter().map(asked_share).collect();
        let stands = vec![None; competing.len()];
        let mut literal = Self {
            list,
            competing,
            need,
            asked,
            most_per_size: 0.0,
            stands,
            picks: Vec::new(),
            left: target,
        };
        let by_itself = |at: usize| literal.need.of_item(literal.competing[at]) / literal.size(at);
        literal.most_per_size = (0..literal.competing.len()).map(by_itself).fold(0.0, f64::max);
        Some(literal)
    }

    fn tokens(&self, at: usize) -> f64 {
        self.list[self.competing[at]].tokens() as f64
    }

    fn size(&self, at: usize) -> f64 {
        self.tokens(at).powf(CoverageParameters::default().size_exponent)
    }

    fn is_covered(&self, value: u32) -> bool {
        let pinned = (0..self.list.len()).filter(|at| self.list[*at].pinned());
        let mut held = pinned.map(|at| self.need.values(at)).chain(
            (0..self.competing.len()).filter_map(|at| {
                let (form, ..) = self.stands[at]?;
                Some(self.need.values_of_form(self.competing[at], form.rendering))
            }),
        );
        held.any(|values| values.contains(&value))
    }

    /// The need of the values that nobody covers, but for those that are said to be counted.
    fn open(&self, values: &[u32], counted: &[u32]) -> u64 {
        let open =
            values.iter().filter(|value| !self.is_covered(**value) && !counted.contains(value));
        open.map(|value| self.need.by_value()[*value as usize]).sum()
    }

    fn rate(&self, needed: f64) -> f64 {
        let share = if self.most_per_size > 0.0 { needed / self.most_per_size } else { 0.0 };
        self.need.return_rate() * share
    }

    /// Gain of several for a token, all of them whole.
    fn key(&self, together: &[usize]) -> f64 {
        let (mut counted, mut brings, mut tokens) = (Vec::new(), 0.0, 0.0);
        for at in together {
            let values = self.need.values(self.competing[*at]);
            let needed = self.need.own(self.competing[*at]) + self.open(values, &counted);
            counted.extend_from_slice(values);
            let bid = self.rate(to_units(needed) / self.size(*at)) + self.asked[*at].1;
            if together.len() == 1 {
                return bid;
            }
            brings += self.tokens(*at) * bid;
            tokens += self.tokens(*at);
        }
        brings / tokens
    }

    /// Gain of a form over the one that stands, for a token.
    fn slope(&self, at: usize, form: &Form) -> f64 {
        let position = self.competing[at];
        let (has, stood) = self.stands[at].map_or((0, 0.0), |(form, ..)| (form.tokens, form.share));
        let more = (form.share - stood).max(0.0);
        let own = self.need.own(position);
        let named = to_units(self.open(self.need.values_of_form(position, form.rendering), &[]));
        let named = named + more * to_units(own);
        let kept = more * to_units(own + self.open(self.need.values(position), &[]));
        let adds =
            self.rate((0.3 * named + (1.0 - 0.3) * kept) / self.size(at)) + more * self.asked[at].1;
        adds / (form.tokens - has).max(1) as f64
    }

    fn forms(&self, at: usize, target: i64) -> Vec<Form> {
        let item = &self.list[self.competing[at]];
        let forms = Form::all(item, target);
        if item.renderings().is_empty() || forms.len() < 2 {
            return vec![Form { rendering: None, tokens: item.tokens(), share: 1.0 }];
        }
        forms
    }

    /// The form that brings most for a token; of equals the larger.
    fn next(&self, at: usize, target: i64) -> (Form, f64) {
        let has = self.stands[at].map_or(-1, |(form, ..)| form.tokens);
        let forms = self.forms(at, target).into_iter().filter(|form| form.tokens > has);
        let slopes = forms.map(|form| (form, self.slope(at, &form)));
        slopes.max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap()
    }

    fn bid(&self, at: usize, target: i64, needs: &Needs) -> Option<f64> {
        match self.stands[at] {
            Some((Form { rendering: None, .. }, ..)) => None,
            Some((_, key, slope)) if slope > 0.0 => {
                Some(key * (self.next(at, target).1 / slope).powf(0.8))
            }
            Some(_) => Some(0.0),
            None => Some(self.key(&self.together(at, needs))),
        }
    }

    fn together(&self, at: usize, needs: &Needs) -> Vec<usize> {
        let mut together = needs.missing(at, |at| self.stands[at].is_some());
        together.push(at);
        together
    }

    fn cost(&self, at: usize, target: i64) -> i64 {
        self.next(at, target).0.tokens - self.stands[at].map_or(0, |(form, ..)| form.tokens)
    }

    fn take(&mut self, at: usize, key: f64, target: i64) {
        let (form, slope) = self.next(at, target);
        self.left -= self.cost(at, target);
        if self.stands[at].is_none() {
            self.picks.push(at);
        }
        let (key, slope) = self.stands[at].map_or((key, slope), |(_, key, slope)| (key, slope));
        self.stands[at] = Some((form, key, slope));
    }

    fn run(mut self, target: i64, needs: &Needs) -> (Vec<usize>, Vec<(usize, usize)>) {
        let mut refused = vec![false; self.competing.len()];
        loop {
            let bids = (0..self.competing.len()).filter(|at| !refused[*at]);
            let bids = bids.filter_map(|at| Some((self.bid(at, target, needs)?, at)));
            let Some((key, best)) = bids.max_by(|(a, x), (b, y)| a.total_cmp(b).then(x.cmp(y)))
            else {
                break;
            };
            let together = match self.stands[best] {
                None => self.together(best, needs),
                Some(_) => vec![best],
            };
            if together.iter().map(|at| self.cost(*at, target)).sum::<i64>() > self.left {
                refused[best] = true;
                continue;
            }
            for at in together {
                let is_new = self.stands[at].is_none();
                let key = if at == best { key } else { self.key(&[at]) };
                self.take(at, key, target);
                // It may grow now, and who needs it may have found it too dear before.
                refused[at] = false;
                for waiting in (0..refused.len()).filter(|waiting| needs.of(*waiting).contains(&at))
                {
                    refused[waiting] &= !is_new || self.stands[waiting].is_some();
                }
            }
        }
        let mut order: Vec<usize> =
            (0..refused.len()).filter(|at| self.forms(*at, target).len() > 1).collect();
        order.sort_by(|a, b| self.key(&[*b]).total_cmp(&self.key(&[*a])).then(b.cmp(a)));
        for at in order {
            if self.together(at, needs).len() > 1 {
                continue;
            }
            let has = self.stands[at].map_or(0, |(form, ..)| form.tokens);
            let larger = self.forms(at, target).into_iter().rev();
            let fits = |form: &Form| form.tokens > has && form.tokens - has <= self.left;
            let Some(form) = larger.into_iter().find(fits) else { continue };
            self.left -= form.tokens - has;
            if self.stands[at].is_none() {
                self.picks.push(at);
            }
            self.stands[at] = Some((form, 0.0, 0.0));
        }
        let short = |at: &usize| Some((*at, self.stands[*at]?.0.rendering?));
        let shortened = self.picks.iter().filter_map(short).collect();
        (self.picks, shortened)
    }
}

#[test]
fn the_heap_picks_what_the_literal_steps_pick() {
    let mut random = Random(11);
    let (mut compared, mut shortened, mut needing) = (0, 0, 0);
    for round in 0..3_000 {
        let (mut list, scores) = random_list(&mut random);
        if round % 3 == 1 {
            list = list.iter().map(|item| with_random_forms(item, &mut random)).collect();
        }
        let target = random.tokens(300);
        let Some(literal) = Literal::new(&list, &scores, target) else { continue };
        let competing = literal.competing.clone();
        let mut needs = Needs::none(competing.len());
        if round % 3 == 2 {
            for at in 1..competing.len() {
                if random.below(2) == 0 {
                    needs.add(at, random.below(at)).unwrap();
                }
            }
        }
        let expected = literal.run(target, &needs);
        let candidates: Vec<Candidate<'_>> =
            competing.iter().map(|at| Candidate::new(&list[*at], scores[*at]).at(*at)).collect();
        let budget = budget(target);
        let request = SliceRequest::new(&candidates, &budget).within(&list);
        let request = if needs.is_empty() { request } else { request.needing(&needs) };
        let selection = CoverageSlice::default().select(&request).unwrap();
        let found = (selection.selected, selection.shortened);
        assert_eq!(found, expected, "{round}: {list:?} {scores:?} {target} {needs:?}");
        compared += 1;
        shortened += found.1.len();
        needing += found.0.iter().filter(|at| !needs.of(**at).is_empty()).count();
    }
    assert!(
        compared > 2_000 && shortened > 200 && needing > 500,
        "{compared} {shortened} {needing}"
    );
}

/// The same item with up to two shorter forms that name some of its values.
fn with_random_forms(item: &ContextItem, random: &mut Random) -> ContextItem {
    let values: Vec<&str> =
        item.content().split(['"', ' ', '\n']).filter(|word| word.starts_with("v_")).collect();
    // A longer form names all that a shorter one does.
    let mut named = 0;
    let forms = (1..=random.below(3)).map(|part| {
        named += random.below(values.len() + 1 - named);
        let tokens = (item.tokens() * [1, 2][part - 1] / 4).max(1);
        let share = [0.05, 0.3, 0.6, 0.9][random.below(2) + part - 1];
        let text = values[..named].join(" ") + " …";
        Rendering::new("short", text, tokens).and_then(|form| form.with_share(share)).unwrap()
    });
    let tags = item.tags().to_vec();
    let forms: Vec<Rendering> = forms.collect();
    let item =
        ContextItemBuilder::new(item.content(), item.tokens()).tags(tags).pinned(item.pinned());
    item.renderings(forms).build().unwrap()
}
