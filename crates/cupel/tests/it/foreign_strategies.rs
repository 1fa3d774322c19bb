//! Strategies that another crate brings to descriptions.

use cupel::policy::{CustomStrategy, DescriptionError, Options, StrategyProvider};
use cupel::*;
use serde_json::{Value, json};

use crate::support::*;

/// The length of the text, times a factor.
struct Length {
    factor: f64,
}

impl Scorer for Length {
    fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
        item.content().len() as f64 * self.factor
    }
}

/// One minus the score of another.
struct Opposite(Box<dyn Scorer>);

impl Scorer for Opposite {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        1.0 - self.0.score(item, all_items)
    }
}

/// The first that fits, and nothing else.
struct Single;

impl Slicer for Single {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        let fits = |scored: &&ScoredItem| scored.item.tokens() <= budget.target_tokens();
        Ok(sorted.iter().find(fits).map(|scored| scored.item.clone()).into_iter().collect())
    }
}

struct Foreign;

impl StrategyProvider for Foreign {
    fn scorer_names(&self) -> &[&'static str] {
        &["length", "opposite"]
    }

    fn slicer_names(&self) -> &[&'static str] {
        &["single"]
    }

    fn scorer(
        &self,
        name: &str,
        options: &mut Options<'_>,
    ) -> Result<Box<dyn Scorer>, DescriptionError> {
        if name == "opposite" {
            return Ok(Box::new(Opposite(options.scorer("scorer")?)));
        }
        let factor = options.optional("factor")?.unwrap_or(1.0);
        if factor <= 0.0 {
            let text = format!("must be positive, got {factor}");
            return Err(DescriptionError::new(text).in_field("factor"));
        }
        Ok(Box::new(Length { factor }))
    }

    fn slicer(&self, _: &str, _: &mut Options<'_>) -> Result<Box<dyn Slicer>, DescriptionError> {
        Ok(Box::new(Single))
    }

    #[cfg(feature = "schema")]
    fn option_schemas(&self, name: &str) -> serde_json::Map<String, Value> {
        let schemas = match name {
            "length" => json!({ "factor": { "type": "number" } }),
            "opposite" => json!({ "scorer": { "$ref": "#/$defs/ScorerDescription" } }),
            _ => json!({}),
        };
        schemas.as_object().expect("all three are objects").clone()
    }
}

fn read(value: &Value) -> Result<PolicyDescription, String> {
    PolicyDescription::deserialize_with(value, &Foreign).map_err(|error| error.to_string())
}

fn mixed() -> Value {
    json!({
        "scorers": [
            { "type": "opposite", "weight": 3.0, "scorer": { "type": "length", "factor": 0.01 } },
            "recency",
            { "type": "composite", "scorers": ["length"] },
        ],
        "slicer": { "type": "quota", "quotas": [], "inner": "single" },
    })
}

#[test]
fn foreign_strategies_mix_with_built_in_ones_at_any_depth() {
    let description = read(&mixed()).unwrap();
    assert_eq!(description.scorers[0].scorer.name(), "opposite");
    assert!(description.build_with(&Foreign, SystemTimeProvider).is_ok());
    let error = description.build().unwrap_err().to_string();
    assert!(error.starts_with("scorers[0].type: unknown scorer `opposite`"), "{error}");
}

#[test]
fn they_are_written_back_as_they_were_read() {
    let description = read(&mixed()).unwrap();
    let written = serde_json::to_value(&description).unwrap();
    assert_eq!(written["scorers"][0], mixed()["scorers"][0]);
    assert_eq!(read(&written).unwrap(), description);
    let toml = toml::to_string(&description).unwrap();
    let parsed = toml::Deserializer::parse(&toml).unwrap();
    assert_eq!(PolicyDescription::deserialize_with(parsed, &Foreign).unwrap(), description);
}

#[test]
fn they_decide_what_is_selected() {
    let scorer = CustomStrategy::new("opposite")
        .with("scorer", CustomStrategy::new("length").with("factor", 0.01));
    let mut description = PolicyDescription::new(vec![WeightedScorer::new(scorer.into(), 1.0)]);
    description.slicer = CustomStrategy::new("single").into();
    let pipeline = Pipeline::from(description.build_with(&Foreign, SystemTimeProvider).unwrap());
    let items = [item("a long text", 3, 0.0), item("short", 3, 0.0), item("medium", 3, 0.0)];
    let report = pipeline.dry_run(&items, &budget(100)).unwrap();
    assert_eq!(included(&report), ["short"]);
    assert_eq!(report.included[0].score, 0.95);
}

#[test]
fn their_errors_name_the_path() {
    let cases = [
        (
            "/scorers/0/scorer/factor",
            json!(-1),
            "scorers[0].scorer.factor: must be positive, got -1",
        ),
        (
            "/scorers/0/scorer/factor",
            json!("x"),
            "scorers[0].scorer.factor: must be a number, got \"x\"",
        ),
        ("/scorers/0/scorer", json!(null), "scorers[0].scorer: is required"),
        (
            "/scorers/0/scorer",
            json!({ "type": "length", "facto": 1 }),
            "scorers[0].scorer.facto: unknown field; did you mean `factor`?",
        ),
        (
            "/scorers/2/scorers/0",
            json!("lenght"),
            "scorers[2].scorers[0].type: unknown scorer `lenght`; did you mean `length`?",
        ),
        (
            "/slicer/inner",
            json!({ "type": "single", "count": 1 }),
            "slicer.inner.count: unknown field; there are no options",
        ),
        (
            "/slicer/inner",
            json!("singel"),
            "slicer.inner.type: unknown slicer `singel`; did you mean `single`?",
        ),
    ];
    for (path, value, expected) in cases {
        let mut wrong = mixed();
        *wrong.pointer_mut(path).unwrap() = value;
        assert_eq!(read(&wrong).unwrap_err(), expected);
    }
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_knows_them_when_asked() {
    let accepts = |schema: &Value, value: &Value| {
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        compiler.add_resource("policy.json", schema.clone()).unwrap();
        let index = compiler.compile("policy.json", &mut schemas).unwrap();
        schemas.validate(value, index).is_ok()
    };
    let (plain, with) =
        (PolicyDescription::json_schema(), PolicyDescription::json_schema_with(&Foreign));
    assert!(accepts(&with, &mixed()));
    assert!(!accepts(&plain, &mixed()));
    let mut wrong = mixed();
    wrong["scorers"][0]["scorer"]["factor"] = json!("x");
    assert!(!accepts(&with, &wrong));
}
