//! From JSON to vectors.

use std::collections::BTreeMap;
use std::fmt;

use cupel::CupelError;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::{VectorFile, VectorFileError};
use crate::scorer::unit_vector;

/// One object of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    pool: Option<String>,
    query: Option<Vec<f32>>,
    #[serde(default)]
    queries: BTreeMap<String, Option<Vec<f32>>>,
    #[serde(default, alias = "messages")]
    items: Rows,
    #[serde(alias = "message")]
    item: Option<usize>,
    vector: Option<Vec<f32>>,
    #[serde(default, rename = "model")]
    _model: serde::de::IgnoredAny,
}

/// Vectors by position, from a list or from a map. Only those that are there.
#[derive(Default)]
struct Rows(Vec<(usize, Vec<f32>)>);

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RowsVisitor)
    }
}

struct RowsVisitor;

impl<'de> Visitor<'de> for RowsVisitor {
    type Value = Rows;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of vectors, or vectors by position")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Rows, A::Error> {
        let (mut rows, mut position) = (Vec::new(), 0);
        while let Some(vector) = list.next_element::<Option<Vec<f32>>>()? {
            rows.extend(vector.map(|vector| (position, vector)));
            position += 1;
        }
        Ok(Rows(rows))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Rows, A::Error> {
        let mut rows = Vec::new();
        while let Some((position, vector)) = map.next_entry::<usize, Option<Vec<f32>>>()? {
            rows.extend(vector.map(|vector| (position, vector)));
        }
        Ok(Rows(rows))
    }
}

pub(super) fn request(text: &str) -> Result<VectorFile, VectorFileError> {
    let mut file = VectorFile::default();
    for_each_part(text, |part| file.add(part))?;
    if file.dimension == 0 {
        return Err(VectorFileError { line: 1, problem: NO_VECTORS.into() });
    }
    Ok(file)
}

pub(super) fn pools(text: &str) -> Result<BTreeMap<String, VectorFile>, VectorFileError> {
    let mut pools: BTreeMap<String, VectorFile> = BTreeMap::new();
    for_each_part(text, |mut part| {
        let pool = part.pool.take().ok_or("pool: is missing, and says whose vectors these are")?;
        pools.entry(pool).or_default().add(part)
    })?;
    Ok(pools)
}

const NO_VECTORS: &str = "no vectors; give `query`, and `items` or `messages`";

fn for_each_part(
    text: &str,
    mut add: impl FnMut(Part) -> Result<(), String>,
) -> Result<(), VectorFileError> {
    let mut parts = serde_json::Deserializer::from_str(text).into_iter::<Part>();
    loop {
        let start = parts.byte_offset();
        let Some(part) = parts.next() else { return Ok(()) };
        let part = part.map_err(|error| not_json(&error))?;
        add(part).map_err(|problem| {
            let line = 1 + newlines(&text[..start]) + newlines(leading_space(&text[start..]));
            VectorFileError { line, problem }
        })?;
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn leading_space(text: &str) -> &str {
    &text[..text.len() - text.trim_start().len()]
}

fn not_json(error: &serde_json::Error) -> VectorFileError {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    let problem = format!("column {}: {what}; numbers are finite, not NaN", error.column());
    VectorFileError { line: error.line(), problem }
}

impl VectorFile {
    fn add(&mut self, part: Part) -> Result<(), String> {
        if let Some(query) = part.query {
            let vector = self.checked("query", &query)?;
            replace_nothing("query", self.query.replace(vector))?;
        }
        for (name, query) in part.queries {
            let Some(query) = query else { continue };
            let field = format!("queries.{name}");
            let vector = self.checked(&field, &query)?;
            replace_nothing(&field, self.queries.insert(name, vector))?;
        }
        let one = match (part.item, part.vector) {
            (Some(item), Some(vector)) => Some((item, vector)),
            (None, None) => None,
            (Some(_), None) => return Err("vector: is missing beside `item`".into()),
            (None, Some(_)) => return Err("item: is missing beside `vector`".into()),
        };
        for (position, vector) in part.items.0.into_iter().chain(one) {
            let field = format!("items[{position}]");
            let vector = self.checked(&field, &vector)?;
            replace_nothing(&field, self.items.insert(position, vector))?;
        }
        Ok(())
    }

    /// The vector at length 1. The first decides about the dimension.
    fn checked(&mut self, field: &str, vector: &[f32]) -> Result<Vec<f32>, String> {
        let dimension = if self.dimension == 0 { vector.len().max(1) } else { self.dimension };
        let unit = unit_vector(field, vector, dimension).map_err(|error| match error {
            CupelError::ScorerConfig(text) => text,
            other => other.to_string(),
        })?;
        self.dimension = dimension;
        Ok(unit)
    }
}

fn replace_nothing(field: &str, old: Option<Vec<f32>>) -> Result<(), String> {
    old.map_or(Ok(()), |_| Err(format!("{field}: is given twice")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_refused(text: &str, expected: &str) {
        assert_eq!(VectorFile::parse(text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn lists_maps_and_lines_say_the_same() {
        let list = r#"{"query": [3, 4], "items": [[1, 0], null, [0, 2]]}"#;
        let map = r#"{"model": "m", "messages": {"2": [0, 1], "0": [5, 0]},
                      "query": [0.6, 0.8]}"#;
        let lines = r#"{"query": [6, 8]}
            {"item": 0, "vector": [1, 0]}

            {"message": 2, "vector": [0, 1]}"#;
        let read = |text| VectorFile::parse(text).unwrap();
        assert_eq!(read(list), read(lines));
        assert_eq!(read(map), read(lines));
        let file = read(list);
        assert_eq!((file.dimension(), file.last_position()), (2, Some(2)));
        assert_eq!(file.query(), Some(&[0.6, 0.8][..]));
        assert_eq!((file.vector(0), file.vector(1)), (Some(&[1.0, 0.0][..]), None));
    }

    #[test]
    fn pools_are_told_apart() {
        let text = r#"{"pool": "a/1", "items": [[1]], "queries": {"q1": [2], "q2": null}}
            {"pool": "a/2", "items": [[1, 1]]}
            {"pool": "a/1", "queries": {"q3": [-1]}}"#;
        let pools = VectorFile::parse_pools(text).unwrap();
        assert_eq!(pools["a/1"].query_named("q1"), Some(&[1.0][..]));
        assert_eq!(pools["a/1"].query_named("q2"), None);
        assert_eq!(pools["a/1"].query_named("q3"), Some(&[-1.0][..]));
        assert_eq!(pools["a/2"].dimension(), 2);
        let error = VectorFile::parse_pools("{\"items\": [[1]]}").unwrap_err().to_string();
        assert_eq!(error, "line 1: pool: is missing, and says whose vectors these are");
    }

    #[test]
    fn broken_vectors_are_named_with_their_line() {
        assert_refused(
            "{\"query\": [1, 0]}\n\n{\"items\": [[1, 1], [1]]}",
            "line 3: items[1]: must have 2 components, got 1",
        );
        assert_refused(r#"{"query": []}"#, "line 1: query: must have 1 components, got 0");
        let zero = "line 1: items[4]: must have a component other than 0";
        assert_refused(r#"{"item": 4, "vector": [0, 0.0]}"#, zero);
        let large = "line 1: column 16: number out of range; numbers are finite, not NaN";
        assert_refused(r#"{"query": [1e300]}"#, large);
        let nan = "line 2: column 2: expected value; numbers are finite, not NaN";
        assert_refused("{\"query\": [1,\n NaN]}", nan);
    }

    #[test]
    fn what_is_missing_doubled_or_unknown_is_said() {
        let none = "line 1: no vectors; give `query`, and `items` or `messages`";
        for text in ["", " \n", "{}", r#"{"items": [null]}"#] {
            assert_refused(text, none);
        }
        assert_refused(r#"{"item": 1}"#, "line 1: vector: is missing beside `item`");
        assert_refused(r#"{"vector": [1]}"#, "line 1: item: is missing beside `vector`");
        let twice = "{\"items\": [[1]]}\n{\"item\": 0, \"vector\": [1]}";
        assert_refused(twice, "line 2: items[0]: is given twice");
        let error = VectorFile::parse(r#"{"quarry": [1]}"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `quarry`"), "{error}");
        assert!(VectorFile::parse(r#"{"items": {"x": [1]}}"#).is_err());
        assert!(VectorFile::parse("[1, 2").is_err());
    }
}
