//! The parts of an identifier.

/// Calls `part` for each part of `parseHTTPRequest`, `snake_case`, `SCREAMING_CASE` or `step3`, in
/// order. A word without parts is one itself. Where letters and digits alternate more often, as in
/// `9fk2b`, it is an id and has no parts.
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
            split_digits(&piece[start..at], part);
            start = at;
        }
        previous = Some(character);
    }
    split_digits(&piece[start..], part);
}

/// Parts letters from digits if there is one border between them.
fn split_digits<'w>(hump: &'w str, part: &mut impl FnMut(&'w str)) {
    let is_digit = |at: usize| hump.as_bytes()[at].is_ascii_digit();
    let mut borders = (1..hump.len()).filter(|at| is_digit(at - 1) != is_digit(*at));
    match (borders.next(), borders.next()) {
        (Some(border), None) => {
            part(&hump[..border]);
            part(&hump[border..]);
        }
        _ => part(hump),
    }
}

/// Returns true if a new part begins with `character`: `getName` at `N`, `HTTPRequest` at `R`.
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
    fn one_border_between_letters_and_digits_parts_them() {
        assert_eq!(parts("step3"), ["step", "3"]);
        assert_eq!(parts("HAT001"), ["HAT", "001"]);
        assert_eq!(parts("utf8Decoder"), ["utf", "8", "Decoder"]);
        assert_eq!(parts("größe7"), ["größe", "7"]);
    }

    #[test]
    fn ids_in_which_letters_and_digits_alternate_have_no_parts() {
        assert_eq!(parts("9fk2b"), ["9fk2b"]);
        assert_eq!(parts("sha256sum"), ["sha256sum"]);
        assert_eq!(parts("2024"), ["2024"]);
    }

    #[test]
    fn humps_are_found_in_any_alphabet() {
        assert_eq!(parts("größeÄndern"), ["größe", "Ändern"]);
    }
}
