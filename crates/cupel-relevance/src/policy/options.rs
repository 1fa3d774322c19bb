//! Reads the options of strategies; what is not given is as the strategy has it.

use std::collections::HashMap;

use chrono::TimeDelta;
use cupel::ContextKind;
use cupel::policy::{DescriptionError, Options};

use crate::need::NeedParameters;
use crate::{
    Bm25Parameters, Condition, CoverageParameters, Field, Grouping, KeepParameters, Kernel,
    NeighbourParameters, Question,
};

pub(super) fn number(
    options: &mut Options<'_>,
    name: &'static str,
    usual: f64,
) -> Result<f64, DescriptionError> {
    Ok(options.optional(name)?.unwrap_or(usual))
}

/// The tags whose words count too where nothing else is said.
const FIELDS: [(&str, f64); 2] = [("symbol", 2.0), ("path", 1.0)];

pub(super) fn usual_fields() -> Vec<Field> {
    FIELDS.map(|(tag, weight)| Field::new(tag, weight)).into()
}

pub(super) fn fields(options: &mut Options<'_>) -> Result<Vec<Field>, DescriptionError> {
    let given: Option<HashMap<String, f64>> = options.optional("fields")?;
    let Some(given) = given else {
        return Ok(usual_fields());
    };
    let mut given: Vec<(String, f64)> = given.into_iter().collect();
    given.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(given.into_iter().map(|(tag, weight)| Field::new(tag, weight)).collect())
}

pub(super) fn bm25_parameters(
    options: &mut Options<'_>,
) -> Result<Bm25Parameters, DescriptionError> {
    let usual = Bm25Parameters::default();
    Ok(Bm25Parameters {
        k1: number(options, "k1", usual.k1)?,
        b: number(options, "b", usual.b)?,
        idf_exponent: number(options, "idf_exponent", usual.idf_exponent)?,
        max_terms: options.optional("max_terms")?.unwrap_or(usual.max_terms),
        asking_weight: number(options, "asking_weight", usual.asking_weight)?,
        like_words: number(options, "like_words", usual.like_words)?,
    })
}

pub(super) fn kernel(options: &mut Options<'_>) -> Result<Kernel, DescriptionError> {
    kernel_or(options, Kernel::default())
}

pub(super) fn kernel_or(
    options: &mut Options<'_>,
    usual: Kernel,
) -> Result<Kernel, DescriptionError> {
    Ok(Kernel {
        reach_tokens: number(options, "reach_tokens", usual.reach_tokens)?,
        group_exponent: number(options, "group_exponent", usual.group_exponent)?,
        later: number(options, "later", usual.later)?,
    })
}

/// The grouping that the options name, or by a tag.
pub(super) fn grouping(options: &mut Options<'_>, tag: &str) -> Result<Grouping, DescriptionError> {
    let by_tag: Option<String> = options.optional("group_by")?;
    let gap = options.optional("gap_seconds")?.map(longest_gap).transpose()?;
    Ok(match (by_tag, gap) {
        (None, None) => Grouping::tag(tag),
        (Some(tag), None) => Grouping::Tag(tag),
        (None, Some(gap)) => Grouping::Gap(gap),
        (Some(tag), Some(gap)) => Grouping::TagOrGap(tag, gap),
    })
}

fn longest_gap(seconds: f64) -> Result<TimeDelta, DescriptionError> {
    if !seconds.is_finite() || seconds <= 0.0 {
        let text = format!("must be positive and finite, got {seconds}");
        return Err(DescriptionError::new(text).in_field("gap_seconds"));
    }
    // A float beyond the range of an integer becomes the largest.
    Ok(TimeDelta::try_milliseconds((seconds * 1_000.0) as i64).unwrap_or(TimeDelta::MAX))
}

pub(super) fn condition(options: &mut Options<'_>) -> Result<Condition, DescriptionError> {
    let all: Option<String> = options.optional("all_of")?;
    let any: Option<String> = options.optional("any_of")?;
    let holds: Option<String> = options.optional("holds")?;
    match (all, any, holds.as_deref()) {
        (Some(kind), None, None) => Ok(Condition::All(ContextKind::new(kind)?)),
        (None, Some(kind), None) => Ok(Condition::Any(ContextKind::new(kind)?)),
        (None, None, Some("exchanges")) => Ok(Condition::Exchanges),
        (None, None, Some(other)) => {
            let text = format!("must be `exchanges`, got `{other}`");
            Err(DescriptionError::new(text).in_field("holds"))
        }
        _ => Err(DescriptionError::new(
            "one of `all_of` and `any_of`, with a kind, and `holds = \"exchanges\"` is required",
        )),
    }
}

pub(super) fn neighbour_parameters(
    options: &mut Options<'_>,
) -> Result<NeighbourParameters, DescriptionError> {
    let usual = NeighbourParameters::default();
    Ok(NeighbourParameters {
        kernel: kernel(options)?,
        share: number(options, "share", usual.share)?,
        own_exponent: number(options, "own_exponent", usual.own_exponent)?,
    })
}

pub(super) fn keep_parameters(
    options: &mut Options<'_>,
) -> Result<KeepParameters, DescriptionError> {
    let mut parameters = KeepParameters::default();
    for (name, value) in parameters.named() {
        *value = number(options, name, *value)?;
    }
    Ok(parameters)
}

pub(super) fn coverage_parameters(
    options: &mut Options<'_>,
) -> Result<CoverageParameters, DescriptionError> {
    let CoverageParameters { need, size_exponent, question } = CoverageParameters::default();
    Ok(CoverageParameters {
        need: NeedParameters {
            reach_tokens: number(options, "reach_tokens", need.reach_tokens)?,
            fade: number(options, "fade", need.fade)?,
            numbers: number(options, "numbers", need.numbers)?,
            talk: number(options, "talk", need.talk)?,
            user: number(options, "user", need.user)?,
            task: number(options, "task", need.task)?,
            ..need
        },
        size_exponent: number(options, "size_exponent", size_exponent)?,
        question: Question {
            size_exponent: number(options, "question_size_exponent", question.size_exponent)?,
            room_exponent: number(options, "room_exponent", question.room_exponent)?,
            gate_from: number(options, "gate_from", question.gate_from)?,
            gate_over: number(options, "gate_over", question.gate_over)?,
        },
    })
}
