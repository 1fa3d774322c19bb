use cupel::policy::CustomStrategy;
use cupel::{FieldValue, PolicyDescription, WeightedScorer};

/// The default policy: what the question needs, whatever the candidates are, without a model.
#[must_use]
pub fn auto() -> PolicyDescription {
    let mut description = PolicyDescription::new(vec![WeightedScorer::new(scorer().into(), 1.0)]);
    description.name = Some("auto".into());
    description.description = Some("what the question needs, whatever the candidates are".into());
    description.slicer = CustomStrategy::new("best-first").into();
    description
}

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
        .with("scorer", words(1.0))
}

/// What was said and done, one after the other.
fn stream() -> CustomStrategy {
    let relevance = product(vec![
        sum(vec![around(), widened()]),
        CustomStrategy::new("speaker").with("factor", 1.4),
        CustomStrategy::new("dates").with("month_factor", 1.5).with("day_factor", 2.0),
        CustomStrategy::new("class-norm").with("exponent", 0.7),
        CustomStrategy::new("length-norm").with("exponent", 0.7),
        with_tools(
            CustomStrategy::new("freshness").with("gain", 3.0).with("reach_tokens", 200.0),
            1.0,
        ),
    ]);
    let live = product(vec![
        max_norm(CustomStrategy::new("live-values")),
        CustomStrategy::new("class-norm").with("exponent", 0.3),
    ]);
    product(vec![
        sum(vec![max_norm(relevance), with_tools(live, 0.0).with("weight", 2.0)]),
        with_tools(CustomStrategy::new("echo").with("strength", 0.5), 1.0),
    ])
}

fn words(asking_weight: f64) -> CustomStrategy {
    CustomStrategy::new("bm25")
        .with("k1", 1.5)
        .with("b", 0.75)
        .with("idf_exponent", 1.2)
        .with("max_terms", 60_i64)
        .with("asking_weight", asking_weight)
}

fn around() -> CustomStrategy {
    CustomStrategy::new("neighbours")
        .with("group_by", "session")
        .with("reach_tokens", 120.0)
        .with("group_exponent", 0.35)
        .with("later", 0.7)
        .with("share", 0.7)
        .with("own_exponent", 0.5)
        .with("scorer", words(0.3))
}

fn widened() -> CustomStrategy {
    CustomStrategy::new("widened")
        .with("group_by", "session")
        .with("reach_tokens", 120.0)
        .with("group_exponent", 0.35)
        .with("later", 0.7)
        .with("k1", 1.5)
        .with("b", 0.75)
        .with("idf_exponent", 1.2)
        .with("max_terms", 60_i64)
        .with("asking_weight", 0.3)
}

/// A strategy where there are tool results, and the same score for all where there are none.
fn with_tools(then: CustomStrategy, otherwise: f64) -> CustomStrategy {
    CustomStrategy::new("when")
        .with("any_of", "ToolOutput")
        .with("then", then)
        .with("otherwise", CustomStrategy::new("constant").with("score", otherwise))
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
