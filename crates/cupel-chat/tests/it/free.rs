//! No text of a message is free: whatever text grows, and wherever one is added, the count grows; but for the
//! fields that are listed as uncounted, and those beside the messages that are not listed as counted.

use cupel_chat::{COUNTED_SETTINGS, CandidateOptions, Format, Request, UNCOUNTED_FIELDS};
use serde_json::Value;

use crate::generate;
use crate::pipelines::Quarters;

/// Long enough to be seen whatever is rounded.
const MORE: &str = " and then some more words that somebody has to pay for";

/// Objects beside the messages whose fields count or not each by itself.
const SETTINGS: [&str; 4] = ["config", "generationConfig", "generation_config", "text"];

/// Fields that formats read themselves.
const READ_BY_FORMATS: [&str; 7] = [
    "contents",
    "function_call",
    "input",
    "messages",
    "systemInstruction",
    "system_instruction",
    "tools",
];

/// Where something is in a request.
type Path = Vec<Step>;

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Element(usize),
}

/// Visits a value and the path to it.
fn visit(value: &Value, path: &mut Path, each: &mut impl FnMut(&[Step], &Value)) {
    each(path, value);
    match value {
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                path.push(Step::Element(index));
                visit(value, path, each);
                path.pop();
            }
        }
        Value::Object(map) => {
            for (name, value) in map {
                path.push(Step::Field(name.clone()));
                visit(value, path, each);
                path.pop();
            }
        }
        _ => {}
    }
}

fn at<'v>(value: &'v mut Value, path: &[Step]) -> &'v mut Value {
    path.iter().fold(value, |value, step| match step {
        Step::Field(name) => &mut value[name.as_str()],
        Step::Element(index) => &mut value[*index],
    })
}

impl Step {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Field(name) => Some(name),
            Self::Element(_) => None,
        }
    }
}

fn names(path: &[Step]) -> Vec<&str> {
    path.iter().filter_map(Step::name).collect()
}

/// Values listed as uncounted; values that OpenAI leaves out of schemas; the bytes of a file, which are no
/// text; and calls that LangChain's messages hold twice.
fn is_exempt(path: &[Step], value: &Value) -> bool {
    let names = names(path);
    // Beside the messages a list of fields counts, at the top and in settings.
    let is_list = matches!(path.first(), Some(Step::Element(_)));
    let beside = names.iter().find(|name| !SETTINGS.contains(name));
    let is_setting =
        |name: &&&str| !READ_BY_FORMATS.contains(name) && !COUNTED_SETTINGS.contains(name);
    let is_left_out = |name: &&str| ["title", "required"].contains(name);
    let is_repeated = |pair: &[&str]| pair == ["additional_kwargs", "tool_calls"];
    let holds_file = |name: &&&str| ["data", "bytes", "image", "images"].contains(name);
    let is_file = value.is_string() && names.last().as_ref().is_some_and(holds_file);
    is_file
        || names.iter().any(|name| UNCOUNTED_FIELDS.contains(name))
        || !is_list && beside.is_none_or(|name| is_setting(&name))
        || names.first() == Some(&"tools") && names.iter().any(is_left_out)
        || names.windows(2).any(is_repeated)
}

/// The tokens of a request; `None` if it is no longer one that can be selected from.
fn tokens(format: Format, value: &Value) -> Option<i64> {
    let request = Request::parse(value.to_string(), Some(format)).ok()?;
    let candidates = request.candidates(&Quarters, &CandidateOptions::default()).ok()?;
    Some(candidates.total_tokens())
}

/// Changes every place that `is_place` names, one at a time. Returns how many were tried.
fn try_every_place(
    format: Format,
    is_place: impl Fn(&Value) -> bool,
    change: impl Fn(&mut Value),
) -> usize {
    let (mut tried, mut free) = (0, Vec::new());
    for seed in 0..40 {
        let text = generate::request(format, seed);
        let value: Value = serde_json::from_str(&text).unwrap();
        let before = tokens(format, &value).unwrap();
        let mut places = Vec::new();
        visit(&value, &mut Vec::new(), &mut |path, value| {
            if is_place(value) && !is_exempt(path, value) {
                places.push(path.to_vec());
            }
        });
        for place in places {
            let mut changed = value.clone();
            change(at(&mut changed, &place));
            // Another role, or a call that nothing answers any more.
            let Some(after) = tokens(format, &changed) else { continue };
            if after <= before && free.len() < 5 {
                free.push(format!("{place:?} in {text}"));
            }
            tried += 1;
        }
    }
    assert!(free.is_empty(), "{format}: these are free:\n{}", free.join("\n"));
    tried
}

fn formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| !format.has_free_order())
}

#[test]
fn every_text_that_grows_counts_more() {
    for format in formats() {
        let grow = |value: &mut Value| {
            let text = value.as_str().unwrap_or_default().to_owned() + &MORE.repeat(3);
            *value = text.into();
        };
        let tried = try_every_place(format, Value::is_string, grow);
        assert!(tried > 100, "{format}: only {tried}");
    }
}

#[test]
fn a_text_in_a_field_that_nobody_knows_counts() {
    for format in formats() {
        let add = |value: &mut Value| value["x_note"] = MORE.repeat(3).into();
        let tried = try_every_place(format, Value::is_object, add);
        assert!(tried > 100, "{format}: only {tried}");
    }
}

#[test]
fn items_count_their_content() {
    let mut tried = 0;
    for seed in 0..40 {
        let text = generate::request(Format::ItemLines, seed);
        let lines: Vec<Value> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for index in (0..lines.len()).filter(|&index| lines[index].get("tokens").is_none()) {
            let mut grown = lines.clone();
            grown[index]["content"] =
                (grown[index]["content"].as_str().unwrap().to_owned() + MORE).into();
            let (before, after) = (Value::Array(lines.clone()), Value::Array(grown));
            assert!(
                tokens(Format::Items, &after) > tokens(Format::Items, &before),
                "item {index} of {text} is free"
            );
            tried += 1;
        }
    }
    assert!(tried > 40, "only {tried}");
}
