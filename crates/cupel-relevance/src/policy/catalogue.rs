//! Which options strategies take, for the JSON Schema.

use serde_json::json;

use self::Kind::{Number, Numbers, Scorer, Scorers, Slicer, Text, Whole};

/// A strategy by name.
struct Entry {
    name: &'static str,
    options: &'static [(&'static str, Kind)],
}

/// Type of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Whole,
    Text,
    /// Numbers by name.
    Numbers,
    Scorer,
    Scorers,
    Slicer,
}

macro_rules! catalogue {
    ($($name:literal: [$($option:ident $kind:ident),*],)*) => {
        &[$(Entry { name: $name, options: &[$((stringify!($option), $kind)),*] }),*]
    };
}

const SCORERS: &[Entry] = catalogue! {
    "bm25": [
        k1 Number, b Number, idf_exponent Number, max_terms Whole, asking_weight Number,
        like_words Number, language Text, fields Numbers
    ],
    "widened": [
        k1 Number, b Number, idf_exponent Number, max_terms Whole, asking_weight Number,
        like_words Number, reach_tokens Number, group_exponent Number, later Number,
        group_by Text, gap_seconds Number, language Text, fields Numbers
    ],
    "neighbours": [
        scorer Scorer, share Number, own_exponent Number,
        reach_tokens Number, group_exponent Number, later Number,
        group_by Text, gap_seconds Number
    ],
    "stretch": [
        scorer Scorer, stretch_weight Number,
        reach_tokens Number, group_exponent Number, later Number,
        group_by Text, gap_seconds Number
    ],
    "group-lift": [scorer Scorer, share Number, group_by Text, gap_seconds Number],
    "sum": [scorers Scorers],
    "product": [scorers Scorers],
    "max-norm": [scorer Scorer],
    "when": [all_of Text, any_of Text, holds Text, then Scorer, otherwise Scorer],
    "constant": [score Number],
    "live-values": [language Text, fields Numbers],
    "class-norm": [exponent Number],
    "length-norm": [exponent Number],
    "speaker": [factor Number],
    "addressed": [factor Number, language Text],
    "dates": [month_factor Number, day_factor Number, language Text],
    "echo": [strength Number, language Text, fields Numbers],
    "vectors": [],
    "with-vectors": [
        scorer Scorer, vector_weight Number, text_weight Number, floor Number, exponent Number, share Number,
        reach_tokens Number, group_exponent Number, later Number,
        group_by Text, gap_seconds Number
    ],
};

const SLICERS: &[Entry] = catalogue! {
    "best-first": [],
    "coverage": [
        reach_tokens Number, fade Number, numbers Number, talk Number, user Number, task Number,
        size_exponent Number, question_size_exponent Number, room_exponent Number,
        gate_from Number, gate_over Number
    ],
    "keep": [
        slicer Slicer, reply Number, reply_leaning Number, reply_lying Number,
        reply_with_calls Number, reply_leaning_with_calls Number, reply_lying_with_calls Number,
        task Number, task_with_calls Number, reserve Number, reserve_with_calls Number,
        words_with_calls Number, reserve_for_rules Number, reserve_in_pools Number,
        reserve_factor Number, reserve_exponent Number
    ],
};

/// The JSON Schema of the options of a strategy, by name.
pub(super) fn schemas(name: &str) -> serde_json::Map<String, serde_json::Value> {
    let schema = |kind: Kind| match kind {
        Number => json!({ "type": "number" }),
        Whole => json!({ "type": "integer", "minimum": 1 }),
        Text => json!({ "type": "string" }),
        Numbers => json!({ "type": "object", "additionalProperties": { "type": "number" } }),
        Scorer => json!({ "$ref": "#/$defs/ScorerDescription" }),
        Slicer => json!({ "$ref": "#/$defs/SlicerDescription" }),
        Scorers => json!({
            "type": "array",
            "minItems": 1,
            "items": { "$ref": "#/$defs/WeightedScorer" },
        }),
    };
    let entry = SCORERS.iter().chain(SLICERS).find(|entry| entry.name == name);
    let options = entry.map_or(&[][..], |entry| entry.options);
    options.iter().map(|(option, kind)| ((*option).to_owned(), schema(*kind))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Strategies;
    use crate::policy::build::{SCORERS as SCORER_NAMES, SLICERS as SLICER_NAMES};
    use cupel::PolicyDescription;
    use serde_json::{Map, Value};

    #[test]
    fn every_strategy_is_in_the_catalogue() {
        assert!(SCORERS.iter().map(|entry| entry.name).eq(SCORER_NAMES.iter().copied()));
        assert!(SLICERS.iter().map(|entry| entry.name).eq(SLICER_NAMES.iter().copied()));
    }

    fn example(option: &str, kind: Kind) -> Value {
        match kind {
            Number => json!(0.75),
            Whole => json!(3),
            Text => match option {
                "language" => json!("german"),
                "similarity" => json!("words"),
                _ => json!("Document"),
            },
            Numbers => json!({ "symbol": 1.5 }),
            Scorer => json!("recency"),
            Slicer => json!("greedy"),
            Scorers => json!(["recency", { "type": "bm25", "weight": 2 }]),
        }
    }

    fn examples(entry: &Entry) -> Value {
        // One condition of `when` excludes the others.
        let options =
            entry.options.iter().filter(|(option, _)| !["any_of", "holds"].contains(option));
        let mut map: Map<String, Value> =
            options.map(|(option, kind)| ((*option).into(), example(option, *kind))).collect();
        map.insert("type".into(), entry.name.into());
        map.into()
    }

    #[test]
    fn every_option_of_the_catalogue_is_read() {
        let read = |value: Value| {
            PolicyDescription::deserialize_with(value, &Strategies::new("x")).map(|_| ())
        };
        for entry in SCORERS.iter().filter(|entry| entry.name != "vectors") {
            let result = read(json!({ "scorers": [examples(entry)] }));
            assert!(result.is_ok(), "{}: {result:?}", entry.name);
        }
        for entry in SLICERS {
            let result = read(json!({ "scorers": ["recency"], "slicer": examples(entry) }));
            assert!(result.is_ok(), "{}: {result:?}", entry.name);
        }
    }

    #[test]
    fn the_schema_names_the_strategies_and_their_options() {
        let text = PolicyDescription::json_schema_with(&Strategies::new("")).to_string();
        assert!(text.contains("\"group-lift\"") && text.contains("\"idf_exponent\""), "{text}");
        assert_eq!(
            schemas("speaker"),
            *json!({ "factor": { "type": "number" } }).as_object().unwrap()
        );
        assert!(schemas("unheard").is_empty());
    }
}
