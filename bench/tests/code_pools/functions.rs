//! Functions with their doc comments, found in Rust sources: roughly, but without ever failing.

/// A function as its source has it.
#[derive(Debug, PartialEq)]
pub(crate) struct Function<'s> {
    pub(crate) name: &'s str,
    /// Its doc comment without examples; empty if it has none.
    pub(crate) description: String,
    /// Signature and body, without doc comment and attributes.
    pub(crate) text: &'s str,
}

/// All functions that have a body. One within another is a part of it.
pub(crate) fn functions(source: &str) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    let mut doc: Vec<&str> = Vec::new();
    // Where the signature begins that is being read: at `pub`, say.
    let mut begin = None;
    let mut at = 0;
    while at < source.len() {
        let rest = &source[at..];
        let (piece, mut length) = piece(rest);
        match piece {
            Piece::Skipped | Piece::Attribute => {}
            Piece::Doc(line) => doc.push(line),
            Piece::Word("fn") => {
                if let Some((name, end)) = named_with_body(rest) {
                    let text = &source[begin.unwrap_or(at)..at + end];
                    found.push(Function { name, description: prose(&doc), text });
                    doc.clear();
                    begin = None;
                    length = end;
                }
            }
            Piece::Sign('{' | '}' | ';' | ',') => {
                doc.clear();
                begin = None;
            }
            Piece::Word(_) | Piece::Sign(_) => {
                begin.get_or_insert(at);
            }
        }
        at += length;
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece<'s> {
    /// White space, comments, literals of text.
    Skipped,
    /// A line of a doc comment, without its slashes.
    Doc(&'s str),
    Attribute,
    Word(&'s str),
    Sign(char),
}

/// The first piece of a text that is not empty, and its length, which is never zero.
fn piece(text: &str) -> (Piece<'_>, usize) {
    let mut chars = text.chars();
    let first = chars.next().unwrap_or(' ');
    match first {
        '/' if text.starts_with("//") => line_comment(text),
        '/' if text.starts_with("/*") => (Piece::Skipped, through(text, 2, "*/")),
        '#' if text.starts_with("#[") => (Piece::Attribute, 1 + closed(&text[1..])),
        '#' if text.starts_with("#![") => (Piece::Attribute, 2 + closed(&text[2..])),
        '"' => (Piece::Skipped, string(text)),
        '\'' => (Piece::Skipped, quote(text)),
        _ if first.is_alphanumeric() || first == '_' => word(text),
        _ if first.is_whitespace() => (Piece::Skipped, first.len_utf8()),
        _ => (Piece::Sign(first), first.len_utf8()),
    }
}

fn line_comment(text: &str) -> (Piece<'_>, usize) {
    let line = text.lines().next().unwrap_or(text);
    let doc = line.strip_prefix("///").filter(|rest| !rest.starts_with('/'));
    (doc.map_or(Piece::Skipped, Piece::Doc), line.len())
}

/// The length of a text through the first `end` from a byte on; all of it if there is none.
fn through(text: &str, from: usize, end: &str) -> usize {
    let found = text.get(from..).and_then(|rest| rest.find(end));
    found.map_or(text.len(), |at| from + at + end.len())
}

fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A literal of one character, or the quote of a lifetime.
fn quote(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, escaped))) => through(text, at + escaped.len_utf8(), "'"),
        (_, Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

fn word(text: &str) -> (Piece<'_>, usize) {
    let end = text.find(|char: char| !char.is_alphanumeric() && char != '_');
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    if matches!(word, "r" | "br" | "cr") && rest[hashes..].starts_with('"') {
        let end = format!("\"{}", &rest[..hashes]);
        return (Piece::Skipped, through(text, word.len() + hashes + 1, &end));
    }
    (Piece::Word(word), word.len())
}

/// The length of a text through the bracket that closes its first character; all of it if none does.
fn closed(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let (piece, length) = piece(&text[at..]);
        at += length;
        match piece {
            Piece::Sign('(' | '[' | '{') => depth += 1,
            Piece::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

/// The name of a function whose text begins with `fn`, and the length through its body. Types have
/// no name, names in macros are none, and what a trait only asks for has no body.
fn named_with_body(text: &str) -> Option<(&str, usize)> {
    let after = text["fn".len()..].trim_start();
    let (Piece::Word(name), length) = piece(after) else { return None };
    let mut at = text.len() - after.len() + length;
    while at < text.len() {
        let rest = &text[at..];
        match piece(rest) {
            (Piece::Sign('{'), _) => return Some((name, at + closed(rest))),
            (Piece::Sign('(' | '['), _) => at += closed(rest),
            (Piece::Sign(';' | '}'), _) => return None,
            (_, length) => at += length,
        }
    }
    None
}

/// The lines of a doc comment that are not within code fences.
fn prose(doc: &[&str]) -> String {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in doc.iter().map(|line| line.trim()) {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push(line);
        }
    }
    lines.join("\n").trim().to_owned()
}

#[test]
fn a_function_is_found_without_its_doc_comment_and_attributes() {
    let source = r#"
        /// Of the type.
        struct Wide { call: fn(u8) -> u8 }
        impl Wide {
            /// Tells how wide.
            /// ```
            /// example();
            /// ```
            #[must_use = "]"]
            // Beside the point.
            pub(crate) const fn width<'a>(&'a self, _: [u8; 2]) -> u8 { inner!({ '}' }, "}") }
            fn plain() { fn within() {} }
        }
        trait Asked { fn asked(); }
    "#;
    let width =
        "pub(crate) const fn width<'a>(&'a self, _: [u8; 2]) -> u8 { inner!({ '}' }, \"}\") }";
    let expected = [
        Function { name: "width", description: "Tells how wide.".into(), text: width },
        Function {
            name: "plain",
            description: String::new(),
            text: "fn plain() { fn within() {} }",
        },
    ];
    assert_eq!(functions(source), expected);
}

#[test]
fn braces_in_literals_and_comments_do_not_count() {
    for literal in ["'\\''; '{'", "r#\"{\"#", "\"\\\"{\"", "/* { */", "b'{'", "'ü'; '{' // {\n"] {
        let source = format!("fn first() {{ {literal} }} fn second() {{}}");
        let names: Vec<&str> = functions(&source).iter().map(|found| found.name).collect();
        assert_eq!(names, ["first", "second"], "{source}");
    }
}

#[test]
fn a_source_that_ends_too_early_is_read_to_its_end() {
    let source = r###"
        /// Ü.
        #[a("x")]
        pub fn f(a: [u8; 2]) -> r#u { r##"ü"##; '\u{1}'; /* ü */ b"\"" }
    "###;
    for (end, _) in source.char_indices() {
        assert!(functions(&source[..end]).len() <= 1);
    }
}
