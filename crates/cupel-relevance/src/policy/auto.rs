use cupel::policy::CustomStrategy;
use cupel::{FieldValue, PolicyDescription, WeightedScorer};

use crate::scorer::{STRETCH_KERNEL, STRETCH_WEIGHT};
use crate::{Bm25Parameters, CoverageParameters, KeepParameters, Kernel, NeighbourParameters};

/// The default policy: what the question needs, whatever the candidates are, without a model.
///
/// It is data like every other policy: print it, change it, build it with
/// [`Strategies`](crate::Strategies).
///
/// - **Documents** (every candidate is one): the words that an item shares with the query, the words
///   of its tags `symbol:…` and `path:…` included, lifted by the best of its path.
/// - **Everything else** is a stream: words shared, and a part of what stands around a hit within
///   its session (a tag `session:…`, or a pause of an hour), counted in two ways; more for whom and
///   when the query names, and for the assistant where it is asked about its own words; evened out
///   where lengths depend on roles.
/// - **With tool results** in the stream: ids that are still live count beside relevance, and what
///   repeats the query counts less.
/// - **What nobody would drop** of a conversation goes first: the user's rules and corrections, the task, the
///   reply that the last turn answers. See [`keep`](crate::keep).
/// - **Short questions in English**: words that mean nearly the same count too, by a table of word vectors (feature
///   `like-words`); where there are no calls, so does the likeness of whole texts.
/// - **A long talk among people** where no turn stands out: turns count with the stretch of talk around them. See
///   [`StretchScorer`](crate::StretchScorer).
/// - **With vectors** ([`Strategies::with_vectors`](crate::Strategies::with_vectors)): beside the
///   words, how alike an item and the question are, and what stands around it. Without them, nothing
///   changes.
/// - **Where calls stand with their results**, as in an agent's request: what covers most of what
///   will be needed next, and what the question singles out; each pays for its size. See
///   [`CoverageSlice`](crate::CoverageSlice).
/// - Elsewhere the best are taken, whatever their size; among equals the newest. Where nothing is
///   relevant, so are the newest.
///
/// Items of equal text are not dropped: people do say "Yes." twice. Copies that matter are found by
/// [`supersede`](crate::supersede).
///
/// # Example
///
/// ```
/// use cupel::{ContextBudget, ContextItemBuilder, Pipeline, SystemTimeProvider};
/// use cupel_relevance::{Strategies, auto};
///
/// let strategies = Strategies::new("Which key did the deploy use?");
/// let pipeline = Pipeline::from(auto().build_with(&strategies, SystemTimeProvider)?);
///
/// let said = |text: &str, tokens| ContextItemBuilder::new(text, tokens).build();
/// let items = [said("The deploy used the old key.", 7)?, said("Lunch at noon?", 5)?, said("Yes!", 2)?];
/// let window = pipeline.run(&items, &ContextBudget::builder(8).build()?)?;
/// assert_eq!(window[0].content(), "The deploy used the old key.");
///
/// let text = toml::to_string(&auto())?;
/// assert!(text.contains("type = \"neighbours\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn auto() -> PolicyDescription {
    let mut description = PolicyDescription::new(vec![WeightedScorer::new(scorer().into(), 1.0)]);
    description.name = Some("auto".into());
    description.description = Some("what the question needs, whatever the candidates are".into());
    description.slicer = keeping(KeepParameters::default(), coverage()).into();
    description.deduplication = false;
    description
}

/// Describes a slicer that keeps what nobody would drop of a conversation before another one chooses. See
/// [`KeepSlice`](crate::KeepSlice).
///
/// ```
/// use cupel::Preset;
/// use cupel::policy::CustomStrategy;
/// use cupel_relevance::{KeepParameters, keeping};
///
/// let mut policy = Preset::Chat.description();
/// policy.slicer = keeping(KeepParameters::default(), CustomStrategy::new("greedy")).into();
/// ```
#[must_use]
pub fn keeping(mut parameters: KeepParameters, slicer: CustomStrategy) -> CustomStrategy {
    let mut strategy = CustomStrategy::new("keep");
    for (name, value) in parameters.named() {
        strategy = strategy.with(name, *value);
    }
    strategy.with("slicer", slicer)
}

/// Coverage of needs and of the question, where there are calls with their results; the best, whatever
/// their size, where there are none.
fn coverage() -> CustomStrategy {
    let CoverageParameters { need, size_exponent, question } = CoverageParameters::default();
    CustomStrategy::new("coverage")
        .with("reach_tokens", need.reach_tokens)
        .with("fade", need.fade)
        .with("numbers", need.numbers)
        .with("talk", need.talk)
        .with("user", need.user)
        .with("task", need.task)
        .with("size_exponent", size_exponent)
        .with("question_size_exponent", question.size_exponent)
        .with("room_exponent", question.room_exponent)
        .with("gate_from", question.gate_from)
        .with("gate_over", question.gate_over)
}

/// Weight of words that mean nearly the same as a word of the question. Chosen on LoCoMo, where 0.5 to 0.9 differ by 0.2 points.
const LIKE_WORDS: f64 = 0.7;

/// Weight of the likeness of whole texts beside words, where the caller brings no vectors. Chosen on LoCoMo, where 0.2 to 0.5 differ by 0.4
/// points, and QMSum by one.
const LIKE_TEXTS: f64 = 0.3;

fn scorer() -> CustomStrategy {
    CustomStrategy::new("when")
        .with("all_of", "Document")
        .with("then", documents())
        .with("otherwise", stream())
}

/// Pieces of larger things: a piece is lifted by the best of its file.
fn documents() -> CustomStrategy {
    CustomStrategy::new("group-lift")
        .with("group_by", "path")
        .with("share", 0.4)
        .with("scorer", with_vectors(words(1.0, 0.0), 0.0, 0.0))
}

/// Scorer for items that were said and done one after the other.
fn stream() -> CustomStrategy {
    let relevance = product(vec![
        by_session(with_vectors(sum(vec![around(), widened()]), 0.3, LIKE_TEXTS)),
        CustomStrategy::new("speaker").with("factor", 1.4),
        CustomStrategy::new("addressed").with("factor", 3.0),
        CustomStrategy::new("dates").with("month_factor", 1.5).with("day_factor", 2.0),
        CustomStrategy::new("class-norm").with("exponent", 0.7),
        CustomStrategy::new("length-norm").with("exponent", 0.7),
    ]);
    let live = product(vec![
        max_norm(CustomStrategy::new("live-values")),
        CustomStrategy::new("class-norm").with("exponent", 0.3),
    ]);
    product(vec![
        sum(vec![
            max_norm(stretched(relevance)),
            with_exchanges(max_norm(words(0.3, LIKE_WORDS)), 0.0),
            with_loose_results(live, 0.0).with("weight", 2.0),
        ]),
        with_loose_results(CustomStrategy::new("echo").with("strength", 0.5), 1.0),
    ])
}

/// Beside words, the vectors that the caller may have: what is alike, and what stands around it.
fn with_vectors(scorer: CustomStrategy, share: f64, text_weight: f64) -> CustomStrategy {
    CustomStrategy::new("with-vectors")
        .with("vector_weight", 0.7)
        .with("text_weight", text_weight)
        .with("floor", 0.1)
        .with("exponent", 2.0)
        .with("share", share)
        .with("scorer", scorer)
}

/// Whole stretches of a long talk among people, where no single turn stands out.
fn stretched(scorer: CustomStrategy) -> CustomStrategy {
    CustomStrategy::new("stretch")
        .with("group_by", "session")
        .with("gap_seconds", 3600.0)
        .with("stretch_weight", STRETCH_WEIGHT)
        .with("reach_tokens", STRETCH_KERNEL.reach_tokens)
        .with("group_exponent", STRETCH_KERNEL.group_exponent)
        .with("later", STRETCH_KERNEL.later)
        .with("scorer", scorer)
}

fn words(asking_weight: f64, like_words: f64) -> CustomStrategy {
    by_words(CustomStrategy::new("bm25"), asking_weight, like_words)
}

fn around() -> CustomStrategy {
    let usual = NeighbourParameters::default();
    by_session(CustomStrategy::new("neighbours"))
        .with("share", usual.share)
        .with("own_exponent", usual.own_exponent)
        .with("scorer", words(0.3, LIKE_WORDS))
}

fn widened() -> CustomStrategy {
    by_words(by_session(CustomStrategy::new("widened")), 0.3, LIKE_WORDS)
}

fn by_words(strategy: CustomStrategy, asking_weight: f64, like_words: f64) -> CustomStrategy {
    let usual = Bm25Parameters::default();
    strategy
        .with("k1", usual.k1)
        .with("b", usual.b)
        .with("idf_exponent", usual.idf_exponent)
        .with("max_terms", i64::try_from(usual.max_terms).unwrap_or(i64::MAX))
        .with("asking_weight", asking_weight)
        .with("like_words", like_words)
}

fn by_session(strategy: CustomStrategy) -> CustomStrategy {
    let usual = Kernel::default();
    strategy
        .with("group_by", "session")
        .with("gap_seconds", 3600.0)
        .with("reach_tokens", usual.reach_tokens)
        .with("group_exponent", usual.group_exponent)
        .with("later", usual.later)
}

/// A strategy where calls stand together with their results, and the same score for all where none
/// do.
fn with_exchanges(then: CustomStrategy, otherwise: f64) -> CustomStrategy {
    CustomStrategy::new("when")
        .with("holds", "exchanges")
        .with("then", then)
        .with("otherwise", constant(otherwise))
}

/// A strategy where there are tool results, each for itself, and the same score for all where there
/// are none. Where they stand together with their calls, the slicer knows more of what they hold.
fn with_loose_results(then: CustomStrategy, otherwise: f64) -> CustomStrategy {
    let loose = CustomStrategy::new("when")
        .with("any_of", "ToolOutput")
        .with("then", then)
        .with("otherwise", constant(otherwise));
    CustomStrategy::new("when")
        .with("holds", "exchanges")
        .with("then", constant(otherwise))
        .with("otherwise", loose)
}

fn constant(score: f64) -> CustomStrategy {
    CustomStrategy::new("constant").with("score", score)
}

fn max_norm(scorer: CustomStrategy) -> CustomStrategy {
    CustomStrategy::new("max-norm").with("scorer", scorer)
}

fn sum(scorers: Vec<CustomStrategy>) -> CustomStrategy {
    CustomStrategy::new("sum").with("scorers", FieldValue::from(scorers))
}

fn product(scorers: Vec<CustomStrategy>) -> CustomStrategy {
    CustomStrategy::new("product").with("scorers", FieldValue::from(scorers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Strategies;
    use crate::testing::{at_minute, build, item, texts};
    use cupel::{
        ContextBudget, ContextItem, ContextItemBuilder, ContextKind, Pipeline, SystemTimeProvider,
    };

    fn pipeline(query: &str) -> Pipeline {
        let strategies = Strategies::new(query);
        Pipeline::from(auto().build_with(&strategies, SystemTimeProvider).unwrap())
    }

    fn window(query: &str, items: &[ContextItem], tokens: i64) -> Vec<String> {
        let budget = ContextBudget::builder(tokens).build().unwrap();
        let window = pipeline(query).run(items, &budget).unwrap();
        window.iter().map(|item| item.content().to_owned()).collect()
    }

    #[test]
    fn it_survives_being_written_and_read() {
        let text = toml::to_string(&auto()).unwrap();
        let parsed = toml::Deserializer::parse(&text).unwrap();
        let read = PolicyDescription::deserialize_with(parsed, &Strategies::new("")).unwrap();
        // The order of options is lost on the way.
        let value = |description| toml::Value::try_from(description).unwrap();
        assert_eq!(value(read), value(auto()));
    }

    #[test]
    fn the_answer_beside_the_words_is_taken() {
        let items = texts(&[
            "Nice weather today.",
            "Which key does the deploy use?",
            "The one from March.",
            "I had soup for lunch.",
            "So did everyone.",
        ]);
        let expected = ["Which key does the deploy use?", "The one from March."];
        assert_eq!(window("the key of the deploy", &items, 20), expected);
    }

    #[test]
    fn documents_are_lifted_by_their_file() {
        let function = |text: &str, path: &str| {
            item(text).kind(ContextKind::document()).tags(vec![format!("path:{path}")])
        };
        let items = build([
            function("fn trim() {}", "text.rs"),
            function("fn parse_header() {}", "http.rs"),
            function("fn trim_end() {}", "http.rs"),
        ]);
        let expected = ["fn parse_header() {}", "fn trim_end() {}"];
        assert_eq!(window("parse a header and trim it", &items, 20), expected);
    }

    #[test]
    fn ids_that_are_still_live_count_where_there_are_tools() {
        let items = build([
            item("user_id: ann_9921, order: W5918442").kind(ContextKind::tool_output()),
            item("We talked about the weather for a while."),
            item("And about soup."),
        ]);
        let expected = ["user_id: ann_9921, order: W5918442"];
        assert_eq!(window("please send it back", &items, 10), expected);
    }

    #[test]
    fn where_nothing_is_asked_the_newest_are_taken() {
        for query in ["", "what is it?"] {
            let items = build(
                [2, 3, 1]
                    .map(|minute| item(&format!("minute {minute}")).timestamp(at_minute(minute))),
            );
            assert_eq!(window(query, &items, 20), ["minute 2", "minute 3"], "{query}");
        }
    }

    #[test]
    fn texts_in_scripts_without_spaces_are_found() {
        let items = texts(&["今天天气很好", "昨天部署失败了", "我们去吃饭吧"]);
        assert_eq!(window("部署为什么失败", &items, 10), ["昨天部署失败了"]);
    }

    #[test]
    fn an_explanation_names_words_and_neighbours() {
        let items = texts(&["Which key does the deploy use?", "The one from March."]);
        let explained = pipeline("deploy key").explain_scores(&items, &[0, 1]).unwrap();
        let text = |at: usize| explained[at].as_ref().unwrap().to_string();
        assert!(text(0).contains("word `deploy`"), "{}", text(0));
        assert!(text(1).contains("neighbour `Which key does the deploy use?`"), "{}", text(1));
    }

    #[test]
    fn the_same_bits_come_out_on_any_number_of_threads() {
        let words = ["amber", "birch", "cloud", "delta", "ember", "flint", "grove", "heath"];
        let text = |at: usize| {
            let word = |step: usize| words[(at * 7 + step * at) % words.len()];
            format!("{} {} {} w{at}", word(1), word(2), word(3))
        };
        let items = build((0..200).map(|at| {
            ContextItemBuilder::new(text(at), [5, 18, 31, 44][at % 4])
                .tags(vec![
                    format!("session:{}", at / 20),
                    format!("role:{}", ["user", "tool"][at % 2]),
                ])
                .timestamp(at_minute([0, 5, 9][at % 3] * 60))
        }));
        let bits = |strategies: &Strategies, list: &[ContextItem]| -> Vec<u64> {
            let policy = auto().build_with(strategies, SystemTimeProvider).unwrap();
            let mut scores = vec![0.0; list.len()];
            policy.scorer().score_all(&cupel::ItemList::new(list), &mut scores);
            scores.into_iter().map(f64::to_bits).collect()
        };
        let lists = [&items[..], &items[50..], &items[..120], &items[20..90]];
        let alone = lists.map(|list| bits(&Strategies::new("amber cloud grove"), list));
        let shared = Strategies::new("amber cloud grove");
        std::thread::scope(|scope| {
            for round in 0..12 {
                let (shared, list, expected) = (&shared, lists[round % 4], &alone[round % 4]);
                scope.spawn(move || assert_eq!(&bits(shared, list), expected));
            }
        });
    }
}
