//! Rows as comma-separated values (RFC 4180, with plain line ends).

/// Headings and rows.
pub(crate) fn rows(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = line(headings.iter().copied());
    for row in rows {
        text.push_str(&line(row.iter().map(String::as_str)));
    }
    text
}

fn line<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let fields: Vec<String> = fields.map(field).collect();
    fields.join(",") + "\n"
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn fields_are_quoted_only_where_they_must_be() {
        let row = vec!["1".to_owned(), "a, \"b\"".to_owned()];
        assert_eq!(rows(&["n", "text"], &[row]), "n,text\n1,\"a, \"\"b\"\"\"\n");
    }
}
