//! One JSON object, read field by field, with errors that name the path.

use serde_json::{Map, Value};

use crate::error::Problem;

/// The fields of an object that nobody took yet.
pub(crate) struct Record(Map<String, Value>);

impl Record {
    /// An object with some fields that we know. Others are dropped, so that a file can carry notes
    /// and answers; but one that looks like a misspelling of a known one is refused.
    pub(crate) fn of(value: Value, known: &[&str]) -> Result<Self, Problem> {
        let Value::Object(mut fields) = value else { return Err(expected("an object", &value)) };
        for name in fields.keys().filter(|name| !known.contains(&name.as_str())) {
            if let Some(meant) = known.iter().find(|known| is_misspelling(name, known)) {
                return Err(Problem::at(name, format!("unknown field; did you mean `{meant}`?")));
            }
        }
        fields.retain(|name, _| known.contains(&name.as_str()));
        Ok(Self(fields))
    }

    /// All that is left.
    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    /// A field that may be absent or null.
    pub(crate) fn optional<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, Problem>,
    ) -> Result<Option<T>, Problem> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(value).map(Some).map_err(|problem| problem.within(name)),
        }
    }

    /// A field that must be there.
    pub(crate) fn required<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.optional(name, read)?.ok_or_else(|| Problem::at(name, "is required"))
    }
}

/// Reads a list, entry by entry.
pub(crate) fn each<T>(
    mut read: impl FnMut(Value) -> Result<T, Problem>,
) -> impl FnOnce(Value) -> Result<Vec<T>, Problem> {
    move |value| {
        let Value::Array(list) = value else { return Err(expected("a list", &value)) };
        let entries = list.into_iter().enumerate();
        entries
            .map(|(at, value)| read(value).map_err(|problem| problem.within(&format!("[{at}]"))))
            .collect()
    }
}

/// A text that says something.
pub(crate) fn text(value: Value) -> Result<String, Problem> {
    match value {
        Value::String(text) if text.trim().is_empty() => Err(Problem::new("must not be empty")),
        Value::String(text) => Ok(text),
        other => Err(expected("a text", &other)),
    }
}

/// The index of an item.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to what passes values")]
pub(crate) fn index(value: Value) -> Result<usize, Problem> {
    let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| expected("an index, a whole number from 0", &value))
}

/// A number of tokens above 0.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to what passes values")]
pub(crate) fn positive(value: Value) -> Result<i64, Problem> {
    let number = value.as_i64().filter(|number| *number > 0);
    number.ok_or_else(|| expected("a whole number above 0", &value))
}

pub(crate) fn expected(what: &str, value: &Value) -> Problem {
    Problem::new(format!("must be {what}, got {}", shown(value)))
}

/// A value as messages show it: lists and objects by name, long texts in part.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 40;
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if text.chars().count() > LONGEST => {
            let start = text.chars().take(LONGEST);
            format!("{:?}", start.chain(['…']).collect::<String>())
        }
        other => other.to_string(),
    }
}

fn is_misspelling(name: &str, known: &str) -> bool {
    strsim::osa_distance(&name.to_lowercase(), known) <= (known.len() / 4).max(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn foreign_fields_are_dropped_but_misspellings_refused() {
        let known = ["any_of", "evidence", "id"];
        let record = Record::of(json!({"id": "a", "answer": "blue"}), &known).unwrap();
        assert_eq!(record.into_value(), json!({"id": "a"}));
        for (wrong, meant) in
            [("any_off", "any_of"), ("Evidence", "evidence"), ("evidense", "evidence")]
        {
            let problem = Record::of(json!({ wrong: 1 }), &known).err().unwrap();
            let text = format!("{wrong}: unknown field; did you mean `{meant}`?");
            assert_eq!(problem.to_string(), text);
        }
    }

    #[test]
    fn paths_name_the_entry_of_a_list() {
        let mut record = Record::of(json!({"evidence": [1, "two"]}), &["evidence"]).unwrap();
        assert_eq!(
            record.required("evidence", each(index)).unwrap_err().to_string(),
            "evidence[1]: must be an index, a whole number from 0, got \"two\""
        );
    }

    #[test]
    fn long_values_are_shown_in_part() {
        let long = Value::from("x".repeat(1_000));
        assert_eq!(shown(&long), format!("\"{}…\"", "x".repeat(40)));
        assert_eq!(shown(&json!([1, 2])), "a list");
    }
}
