//! Several texts of one bundle, shortened together.

use cupel::slicer::{Form, hull};

/// More states of a bundle than these are thinned out: each costs a copy of its text.
const MOST_STATES: usize = 8;

/// The states that a bundle can be in beside whole, the shortest first: for each text which of its
/// forms it has.
///
/// One text has all its forms. Several start with the shortest each and grow one at a time, where
/// that keeps most for a token.
pub(super) fn states(texts: &[Vec<Form>]) -> Vec<Vec<Form>> {
    if let [only] = texts {
        let shorter = only.iter().filter(|form| form.rendering.is_some());
        return shorter.map(|form| vec![*form]).collect();
    }
    let mut steps: Vec<(f64, usize, Form)> = Vec::new();
    for (at, forms) in texts.iter().enumerate() {
        // What a text is worth within the bundle is its share of the tokens.
        let worth = forms.last().map_or(0.0, |whole| whole.tokens as f64);
        let mut before = forms[0];
        for form in hull(&forms[1..], Some(&forms[0])) {
            steps.push((worth * form.slope_from(Some(&before)), at, form));
            before = form;
        }
    }
    steps.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut state: Vec<Form> = texts.iter().map(|forms| forms[0]).collect();
    let mut states = vec![state.clone()];
    for (_, at, form) in steps {
        state[at] = form;
        states.push(state.clone());
    }
    // The last is whole.
    states.pop();
    thinned(states)
}

/// As many states as there may be, the first and the last among them.
fn thinned(states: Vec<Vec<Form>>) -> Vec<Vec<Form>> {
    let count = states.len();
    if count <= MOST_STATES {
        return states;
    }
    let is_kept = |at: usize| (0..MOST_STATES).any(|n| n * (count - 1) / (MOST_STATES - 1) == at);
    let mut at = 0..count;
    states.into_iter().filter(|_| at.next().is_some_and(is_kept)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(tokens: &[(i64, f64)]) -> Vec<Form> {
        let last = tokens.len() - 1;
        let form = |(at, (tokens, share)): (usize, &(i64, f64))| Form {
            rendering: (at < last).then_some(at),
            tokens: *tokens,
            share: *share,
        };
        tokens.iter().enumerate().map(form).collect()
    }

    fn tokens(states: &[Vec<Form>]) -> Vec<Vec<i64>> {
        let of = |state: &Vec<Form>| state.iter().map(|form| form.tokens).collect();
        states.iter().map(of).collect()
    }

    #[test]
    fn one_text_has_all_its_forms() {
        let only = forms(&[(1, 0.1), (5, 0.2), (6, 0.9), (10, 1.0)]);
        assert_eq!(tokens(&states(&[only])), [[1], [5], [6]]);
        assert!(states(&[forms(&[(10, 1.0)])]).is_empty());
    }

    #[test]
    fn several_grow_where_it_keeps_most() {
        let large = forms(&[(10, 0.1), (50, 0.9), (100, 1.0)]);
        let small = forms(&[(2, 0.1), (10, 1.0)]);
        // From 10 to 50 gives 100 × 0.8 / 40 = 2 for a token, from 2 to 10 it is 10 × 0.9 / 8.
        assert_eq!(tokens(&states(&[large, small])), [[10, 2], [50, 2], [50, 10]]);
    }

    #[test]
    fn many_states_are_thinned_out() {
        let texts: Vec<Vec<Form>> = (0..30).map(|at| forms(&[(1, 0.1), (10 + at, 1.0)])).collect();
        let states = states(&texts);
        assert_eq!(states.len(), MOST_STATES);
        assert!(states[0].iter().all(|form| form.tokens == 1));
        let whole = states[MOST_STATES - 1].iter().filter(|form| form.tokens > 1).count();
        assert_eq!(whole, 29);
    }
}
