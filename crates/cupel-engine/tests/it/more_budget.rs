//! More budget does not lose what mattered.

use cupel::policy::CustomStrategy;
use cupel::{ContextBudget, ContextItem, Pipeline, SystemTimeProvider};
use cupel_chat::{CandidateOptions, Request};
use cupel_relevance::{Strategies, auto};
use cupel_tokens::EstimateCounter;

use crate::examples::example;

/// Facts that the last turn of each request asks for, each in the words in which it stands there.
const NEEDED: [(&str, [&[&str]; 6]); 5] = [
    (
        "support-chat.json",
        [
            &["allergic to nickel", "Nickel allergy"],
            &["BD-G14-S"],
            &["MJ-350"],
            &["R-2087", "one kilo of Notturno"],
            &["PH-W"],
            &["Oudegracht 218"],
        ],
    ),
    (
        "coding-agent.json",
        [
            &["FIN-482"],
            &["OPS-1207"],
            &["INV-20931"],
            &["northwind-7"],
            &["test_free_line_gets_no_part_of_the_discount"],
            &["total(True)"],
        ],
    ),
    (
        "gemini-trip.json",
        [
            &["no more than 2 km"],
            &["2,400 euros"],
            &["S4-161"],
            &["Apartamentos do Cais"],
            &["wh-2", "Mar Aberto"],
            &["140"],
        ],
    ),
    (
        "langchain-research.json",
        [
            &["2040"],
            &["18 million"],
            &["23,400"],
            &["6,000 in whole streets", "to 6,000"],
            &["190 to 240"],
            &["nine crews", "Nordbau 4"],
        ],
    ),
    (
        "coding-agent-anthropic.json",
        [
            &["48 MB"],
            &["1,900 boxes"],
            &["copytruncate"],
            &["segments_survive_a_restart"],
            &["numbers_are_never_used_twice"],
            &["61.3M"],
        ],
    ),
];

/// Of so many windows, how many hold less than a smaller one did.
#[derive(Default)]
struct Windows {
    all: usize,
    facts: usize,
    held: usize,
    with_fewer_facts: usize,
    of_less_value: usize,
}

impl Windows {
    /// Goes through every budget of a request under the default policy.
    fn count(&mut self, text: &str, facts: &[&[&str]]) {
        let request = Request::parse(text, None).unwrap();
        let counter = EstimateCounter::default();
        let candidates = request.candidates(&counter, &CandidateOptions::default()).unwrap();
        let items = candidates.items();
        let query = request.query().unwrap_or_default();
        let strategies = Strategies::new(query);
        let policy = auto().build_with(&strategies, SystemTimeProvider).unwrap();
        let pipeline = Pipeline::from(policy).with_needs(candidates.needs());
        let ranking = pipeline.rank(items).unwrap();
        // What things are worth is for the contest alone to say, without what goes before it.
        let mut contest = auto();
        contest.slicer = CustomStrategy::new("coverage").into();
        let policy = contest.build_with(&strategies, SystemTimeProvider).unwrap();
        let contest = Pipeline::from(policy).with_needs(candidates.needs());
        let contest = contest.rank(items).unwrap();
        let tokens = |is_meant: fn(&&ContextItem) -> bool| -> i64 {
            items.iter().filter(is_meant).map(ContextItem::tokens).sum()
        };
        let (pinned, total) = (tokens(|item| item.pinned()), tokens(|_| true));
        let (mut most_facts, mut most_value) = (0, 0.0);
        for budget in pinned..=total {
            let budget = ContextBudget::builder(budget).build().unwrap();
            let window = ranking.window(&budget).unwrap();
            let explained = contest.explain_slice(&budget).unwrap().unwrap();
            let judged = contest.window(&budget).unwrap();
            let value: f64 =
                judged.iter().filter_map(|placed| explained.gain(placed.position)).sum();
            let said = |words: &&str| {
                window.iter().any(|placed| items[placed.position].content().contains(words))
            };
            let held = facts.iter().filter(|fact| fact.iter().any(said)).count();
            self.all += 1;
            self.facts += facts.len();
            self.held += held;
            self.with_fewer_facts += usize::from(held < most_facts);
            self.of_less_value += usize::from(value < most_value - 1e-9);
            most_facts = most_facts.max(held);
            most_value = value.max(most_value);
        }
    }
}

#[test]
fn a_larger_window_is_not_worth_less_and_does_not_lose_what_is_asked_for() {
    let mut windows = Windows::default();
    for (name, facts) in NEEDED {
        windows.count(&example(name), &facts);
    }
    let Windows { all, facts, held, with_fewer_facts, of_less_value } = windows;
    println!(
        "of {all} windows {with_fewer_facts} hold fewer facts, {of_less_value} are worth less; \
         {held} of {facts} facts are held"
    );
    assert!(all > 25_000, "{all}");
    assert!(of_less_value * 100 <= all, "{of_less_value} of {all}");
    // What is held early may give way for a while: with whole turns it was held much later.
    assert!(with_fewer_facts * 100 <= 5 * all, "{with_fewer_facts} of {all}");
    assert!(held * 100 >= 93 * facts, "{held} of {facts}");
}
