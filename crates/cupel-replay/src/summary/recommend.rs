//! The smallest window that is safe, with a guarantee.
//!
//! A conversation needs a budget: the smallest of those tried at which it keeps the share of its used values
//! that was asked for, there and at every larger one. Which policy is taken is decided on one half of the
//! conversations. The budget is then the conformal quantile of what the conversations of the other half need:
//! the `⌈(n + 1) · confidence⌉`-th smallest. If the next conversation is like those of the log, it keeps its
//! share with at least that probability, whatever the distribution, since its rank among the others is any of
//! `n + 1` with equal chance, and since the other half had no say in the choice of the policy: neither its needs nor its costs.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::settings::Way;

/// So many conversations are remembered one by one: 12 ways of a hundred thousand are some 10 MB.
const MOST: usize = 100_000;

/// Promise that a recommendation must keep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Promise {
    /// The share of its used values that a conversation keeps.
    pub kept: f64,
    /// The probability that the next conversation does.
    pub confidence: f64,
}

impl Default for Promise {
    fn default() -> Self {
        Self { kept: 0.95, confidence: 0.90 }
    }
}

/// A window that is recommended, and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Recommendation {
    /// Promise that it keeps.
    pub promise: Promise,
    /// Which way it is, by position.
    pub way: usize,
    /// The policy.
    pub policy: String,
    /// True if it is in a session.
    pub in_session: bool,
    /// The window in tokens.
    pub budget_tokens: i64,
    /// Conversations of the half by which the policy was chosen.
    pub chosen_on: usize,
    /// The budget that this half alone needs.
    pub chosen_budget_tokens: i64,
    /// Conversations of the other half, by which the budget was confirmed.
    pub confirmed_on: usize,
    /// Those of them that keep their share at the recommended budget.
    pub confirmed: usize,
}

/// Why nothing is recommended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "reason")]
#[non_exhaustive]
pub enum NoRecommendation {
    /// Too few conversations tell what was used.
    TooFewConversations {
        /// Number of conversations that do, in the smaller half.
        conversations: usize,
        /// Number of conversations that it takes.
        needed: usize,
    },
    /// No budget that was tried is large enough.
    NoBudgetIsEnough {
        /// The largest that was tried.
        largest_tokens: i64,
    },
}

/// Coverage of conversations, way by way.
#[derive(Debug, Default)]
pub(super) struct Needs {
    conversations: BTreeMap<u64, Vec<(u32, u32)>>,
    /// What each way costs on the half by which the policy is chosen.
    costs: Vec<f64>,
}

impl Needs {
    pub(super) fn new(ways: usize) -> Self {
        Self { conversations: BTreeMap::new(), costs: vec![0.0; ways] }
    }

    /// A way sends something of a conversation that costs so much.
    pub(super) fn add_cost(&mut self, conversation: u64, way: usize, cost: f64) {
        if chooses(conversation) {
            self.costs[way] += cost;
        }
    }

    /// A window of a conversation has so many of the values that were used.
    pub(super) fn add(&mut self, conversation: u64, way: usize, found: usize, used: usize) {
        let ways = self.costs.len();
        if self.conversations.len() >= MOST && !self.conversations.contains_key(&conversation) {
            return;
        }
        let sums = self.conversations.entry(conversation).or_insert_with(|| vec![(0, 0); ways]);
        sums[way].0 = sums[way].0.saturating_add(found as u32);
        sums[way].1 = sums[way].1.saturating_add(used as u32);
    }

    /// Finds the window that is recommended.
    pub(super) fn recommend(
        &self,
        ways: &[Way],
        promise: Promise,
    ) -> Result<Recommendation, NoRecommendation> {
        let with_values: Vec<(&u64, &Vec<(u32, u32)>)> = self
            .conversations
            .iter()
            .filter(|(_, sums)| sums.iter().any(|(_, used)| *used > 0))
            .collect();
        let half = |first: bool| -> Vec<&[(u32, u32)]> {
            let of_half = with_values.iter().filter(|(id, _)| chooses(**id) == first);
            of_half.map(|(_, sums)| &sums[..]).collect()
        };
        let (first, second) = (half(true), half(false));
        let needed = fewest(promise.confidence);
        let conversations = first.len().min(second.len());
        if conversations < needed {
            return Err(NoRecommendation::TooFewConversations { conversations, needed });
        }
        let methods = methods(ways);
        let largest = ways.iter().filter_map(|way| way.budget_tokens).max().unwrap_or_default();
        let none = NoRecommendation::NoBudgetIsEnough { largest_tokens: largest };
        let chosen = methods
            .iter()
            .filter_map(|method| Some((method, quantile(&first, method, promise)?)))
            .min_by(|(a, at), (b, bt)| self.costs[a[*at]].total_cmp(&self.costs[b[*bt]]));
        let (method, chosen_at) = chosen.ok_or_else(|| none.clone())?;
        let confirmed_at = quantile(&second, method, promise).ok_or(none)?;
        let at = chosen_at.max(confirmed_at);
        let way = method[at];
        let confirmed = second.iter().filter(|sums| need(sums, method, promise.kept) <= at).count();
        Ok(Recommendation {
            promise,
            way,
            policy: ways[way].name.clone(),
            in_session: ways[way].in_session,
            budget_tokens: ways[way].budget_tokens.unwrap_or_default(),
            chosen_on: first.len(),
            chosen_budget_tokens: ways[method[chosen_at]].budget_tokens.unwrap_or_default(),
            confirmed_on: second.len(),
            confirmed,
        })
    }
}

/// The fewest conversations of a half of which a quantile is one of them.
fn fewest(confidence: f64) -> usize {
    (1..MOST).find(|count| rank(*count, confidence) <= *count).unwrap_or(MOST)
}

/// `⌈(n + 1) · confidence⌉`.
fn rank(count: usize, confidence: f64) -> usize {
    // What is left of rounding: ten times 0.9 is nine.
    ((count as f64 + 1.0) * confidence - 1e-9).ceil() as usize
}

/// The ways of each policy, anew and in a session, by rising budget. Baselines are none that one would take.
fn methods(ways: &[Way]) -> Vec<Vec<usize>> {
    let mut methods: BTreeMap<(usize, bool), Vec<usize>> = BTreeMap::new();
    for (at, way) in ways.iter().enumerate() {
        if way.budget_tokens.is_some() && way.baseline.is_none() {
            methods.entry((way.policy, way.in_session)).or_default().push(at);
        }
    }
    let mut methods: Vec<Vec<usize>> = methods.into_values().collect();
    for method in &mut methods {
        method.sort_by_key(|at| ways[*at].budget_tokens);
    }
    methods
}

/// The place of the smallest budget from which on a conversation keeps its share; behind the last if there is
/// none.
fn need(sums: &[(u32, u32)], method: &[usize], kept: f64) -> usize {
    let keeps = |at: &usize| f64::from(sums[*at].0) >= kept * f64::from(sums[*at].1);
    method.len() - method.iter().rev().take_while(|at| keeps(at)).count()
}

/// The conformal quantile of what conversations need; `None` if it is behind the last budget.
fn quantile(conversations: &[&[(u32, u32)]], method: &[usize], promise: Promise) -> Option<usize> {
    let mut needs: Vec<usize> =
        conversations.iter().map(|sums| need(sums, method, promise.kept)).collect();
    needs.sort_unstable();
    let at = needs.get(rank(needs.len(), promise.confidence).checked_sub(1)?)?;
    (*at < method.len()).then_some(*at)
}

/// Whether a conversation is of the half by which the policy is chosen.
fn chooses(conversation: u64) -> bool {
    mixed(conversation) & 1 == 0
}

/// Spreads ids, which may follow each other.
fn mixed(id: u64) -> u64 {
    let id = (id ^ (id >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let id = (id ^ (id >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    id ^ (id >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGETS: usize = 40;

    fn ways() -> Vec<Way> {
        let way = |policy: usize, at: usize| Way {
            name: format!("p{policy}"),
            policy,
            in_session: false,
            budget_tokens: Some(100 * (i64::try_from(at).unwrap() + 1)),
            baseline: None,
        };
        (0..2).flat_map(|policy| (0..BUDGETS).map(move |at| way(policy, at))).collect()
    }

    /// Numbers that look random, the same in every run.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mixed(self.0)
        }

        /// Least budget that a conversation needs of a policy: any budget, small ones more often.
        fn need(&mut self, policy: usize) -> usize {
            let (a, b) = (self.next() % BUDGETS as u64, self.next() % BUDGETS as u64);
            (a.min(b) as usize + policy).min(BUDGETS - 1)
        }
    }

    /// A log of so many conversations, of which both policies are as good in truth.
    fn log(random: &mut Random, conversations: u64) -> Needs {
        let mut needs = Needs::new(2 * BUDGETS);
        for _ in 0..conversations {
            let id = random.next();
            for at in 0..2 * BUDGETS {
                needs.add_cost(id, at, (at % BUDGETS) as f64);
            }
            for policy in 0..2 {
                let need = random.need(0);
                for at in 0..BUDGETS {
                    needs.add(id, policy * BUDGETS + at, if at >= need { 20 } else { 18 }, 20);
                }
            }
        }
        needs
    }

    /// The promise is that of the next conversation: over many logs it is kept at least as often as promised,
    /// and not so much more often that a smaller budget would do.
    #[test]
    fn the_next_conversation_keeps_its_share_as_often_as_promised() {
        let mut random = Random(7);
        let ways = ways();
        for conversations in [30, 60, 200] {
            let (mut kept, mut all) = (0, 0);
            for _ in 0..150 {
                let needs = log(&mut random, conversations);
                let Ok(found) = needs.recommend(&ways, Promise::default()) else { continue };
                let at = found.way % BUDGETS;
                for _ in 0..20 {
                    all += 1;
                    kept += usize::from(random.need(0) <= at);
                }
            }
            let share = f64::from(kept as u32) / f64::from(all);
            // 3,000 draws in groups of 20: the standard error of the share is below 0.008.
            assert!((0.885..0.985).contains(&share), "{conversations} conversations: {share}");
        }
    }

    #[test]
    fn what_the_confirming_half_costs_has_no_say_in_the_choice() {
        let mut random = Random(5);
        let mut needs = Needs::new(2 * BUDGETS);
        for _ in 0..100 {
            let id = random.next();
            for policy in 0..2 {
                // The first policy is cheaper where one chooses, and very dear where the window is confirmed.
                let cost = [[1.0, 2.0], [900.0, 2.0]][usize::from(!chooses(id))][policy];
                for at in 0..BUDGETS {
                    needs.add_cost(id, policy * BUDGETS + at, cost);
                    needs.add(id, policy * BUDGETS + at, 1, 1);
                }
            }
        }
        assert_eq!(needs.recommend(&ways(), Promise::default()).unwrap().policy, "p0");
    }

    #[test]
    fn few_conversations_make_no_promise() {
        let mut random = Random(3);
        let needs = log(&mut random, 12);
        assert_eq!(fewest(0.90), 9);
        let refused = needs.recommend(&ways(), Promise::default()).unwrap_err();
        assert!(
            matches!(refused, NoRecommendation::TooFewConversations { needed: 9, conversations } if conversations < 9),
            "{refused:?}"
        );
    }

    #[test]
    fn a_budget_that_is_enough_by_chance_is_none() {
        let method: Vec<usize> = (0..4).collect();
        // Enough at 1 and at 3, and not at 2: only the last is a budget from which on it is.
        assert_eq!(need(&[(1, 2), (2, 2), (1, 2), (2, 2)], &method, 0.95), 3);
        assert_eq!(need(&[(2, 2); 4], &method, 0.95), 0);
        assert_eq!(need(&[(1, 2); 4], &method, 0.95), 4);
    }

    #[test]
    fn no_budget_may_be_enough() {
        let mut needs = Needs::new(2 * BUDGETS);
        for id in 0..100 {
            for way in 0..2 * BUDGETS {
                needs.add(mixed(id), way, 1, 2);
            }
        }
        let refused = needs.recommend(&ways(), Promise::default()).unwrap_err();
        assert_eq!(refused, NoRecommendation::NoBudgetIsEnough { largest_tokens: 4_000 });
    }
}
