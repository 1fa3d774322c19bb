//! The parts of an identifier.

/// Calls `part` for each part of `parseHTTPRequest`, `snake_case` or `SCREAMING_CASE`, in order. A
/// word without parts is one itself. Digits stay where they are: `sha256`, `step3a`.
pub(super) fn for_each_part<'w>(word: &'w str, mut part: impl FnMut(&'w str)) {
    for piece in word.split('_').filter(|piece| !piece.is_empty()) {
        for_each_hump(piece, &mut part);
    }
}

fn for_each_hump<'w>(piece: &'w str, part: &mut impl FnMut(&'w str)) {
    let mut start = 0;
    let mut previous: Option<char> = None;
    let mut characters = piece.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        if previous.is_some_and(|previous| is_border(previous, character, next)) {
            part(&piece[start..at]);
            start = at;
        }
        previous = Some(character);
    }
    part(&piece[start..]);
}

/// Whether a new part begins with `character`: `getName` at `N`, `HTTPRequest` at `R`.
fn is_border(previous: char, character: char, next: Option<char>) -> bool {
    if !character.is_uppercase() {
        return false;
    }
    let ends_acronym = previous.is_uppercase() || previous.is_numeric();
    previous.is_lowercase() || ends_acronym && next.is_some_and(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(word: &str) -> Vec<&str> {
        let mut parts = Vec::new();
        for_each_part(word, |part| parts.push(part));
        parts
    }

    #[test]
    fn humps_and_underscores_separate_parts() {
        assert_eq!(parts("getUserName"), ["get", "User", "Name"]);
        assert_eq!(parts("snake_case_2"), ["snake", "case", "2"]);
        assert_eq!(parts("__init__"), ["init"]);
        assert_eq!(parts("___"), [""; 0]);
    }

    #[test]
    fn acronyms_stay_together() {
        assert_eq!(parts("parseHTTPRequest"), ["parse", "HTTP", "Request"]);
        assert_eq!(parts("NASA"), ["NASA"]);
        assert_eq!(parts("MAX_TOKENS"), ["MAX", "TOKENS"]);
    }

    #[test]
    fn digits_stay_where_they_are() {
        assert_eq!(parts("sha256sum"), ["sha256sum"]);
        assert_eq!(parts("utf8Decoder"), ["utf8", "Decoder"]);
        assert_eq!(parts("4WQ150"), ["4WQ150"]);
    }

    #[test]
    fn humps_are_found_in_any_alphabet() {
        assert_eq!(parts("größeÄndern"), ["größe", "Ändern"]);
    }
}
