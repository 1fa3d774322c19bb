//! Class of a character in the search for words.

/// The part that a character beyond ASCII plays in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Stands between words.
    Separator,
    /// Belongs to a word that ends at the next separator.
    Letter,
    /// Belongs to a script that puts no spaces between words.
    Unspaced,
    /// A typographic apostrophe.
    Apostrophe,
}

pub(super) fn part_of(character: char) -> Part {
    match character {
        '\u{2019}' | '\u{2BC}' | '\u{FF07}' => Part::Apostrophe,
        _ if is_unspaced(character) => Part::Unspaced,
        _ if character.is_alphanumeric() || is_joined(character) => Part::Letter,
        _ => Part::Separator,
    }
}

/// Han, Kana, Thai, Lao, Khmer and Myanmar.
fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{0E01}'..='\u{0E3A}' | '\u{0E40}'..='\u{0E4E}'
        | '\u{0E81}'..='\u{0ECE}' | '\u{0EDC}'..='\u{0EDF}'
        | '\u{1000}'..='\u{103F}' | '\u{1050}'..='\u{108F}'
        | '\u{1780}'..='\u{17D3}' | '\u{17DC}'..='\u{17DD}')
        || is_han(character)
        || is_kana(character)
}

/// The characters of Chinese, which Japanese has too.
pub(crate) fn is_han(character: char) -> bool {
    matches!(character,
        '\u{3005}'..='\u{3007}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
}

/// The characters that only Japanese has.
pub(crate) fn is_kana(character: char) -> bool {
    matches!(character,
        '\u{3041}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{FF66}'..='\u{FF9F}')
}

/// Marks that the standard library does not count as letters but without which a word falls apart:
/// accents written apart, viramas and nuktas, joiners.
fn is_joined(character: char) -> bool {
    matches!(character,
        '\u{0300}'..='\u{036F}'
        | '\u{0591}'..='\u{05BD}' | '\u{064B}'..='\u{065F}'
        | '\u{093C}' | '\u{094D}' | '\u{09BC}' | '\u{09CD}' | '\u{0A3C}' | '\u{0A4D}'
        | '\u{0ABC}' | '\u{0ACD}' | '\u{0B3C}' | '\u{0B4D}' | '\u{0BCD}' | '\u{0C4D}'
        | '\u{0CBC}' | '\u{0CCD}' | '\u{0D4D}' | '\u{0DCA}'
        | '\u{200C}' | '\u{200D}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_without_spaces_are_told_from_those_with() {
        for character in "漢字かなカナーไทยລາວខ្មែរမြန်မာ々𠮷".chars()
        {
            assert_eq!(part_of(character), Part::Unspaced, "{character:?}");
        }
        for character in "éßяΩاकी한٣".chars() {
            assert_eq!(part_of(character), Part::Letter, "{character:?}");
        }
        for character in "—…、。「」¿·\u{A0}🙂".chars() {
            assert_eq!(part_of(character), Part::Separator, "{character:?}");
        }
    }

    #[test]
    fn viramas_hold_a_word_together() {
        assert!("हिन्दी".chars().all(|character| part_of(character) == Part::Letter));
    }
}
