//! Approximate cost of a piece of JSON. Only ratios count: no tokenizer is known here.

/// Units a token. Costs are whole numbers, so that they add up the same in any order.
pub(super) const TOKEN: u32 = 8;
/// Quotes, colon and comma of an entry; tokenizers merge most of them.
pub(super) const ENTRY: u32 = TOKEN;
/// The colon between key and value, with its quotes.
pub(super) const KEY: u32 = TOKEN;
/// The brackets of a container.
pub(super) const BRACKETS: u32 = TOKEN;
/// Cost of the mark that tells how much of a container was left out.
pub(super) const MARK: u32 = 3 * TOKEN;
/// White space between two parts.
pub(super) const WHITE_SPACE: u32 = TOKEN;

/// Cost of the letters, digits and signs of a text.
pub(super) fn of(text: &str) -> u32 {
    let mut bytes = text.as_bytes();
    let mut cost = 0_u32;
    while let Some(first) = bytes.first() {
        let sort = Sort::of(*first);
        let length = bytes.iter().take_while(|byte| Sort::of(**byte) == sort).count();
        cost = cost.saturating_add(sort.cost(length));
        bytes = &bytes[length..];
    }
    cost
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Small,
    Capital,
    Digit,
    Joint,
    Sign,
    Foreign,
}

impl Sort {
    fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' => Self::Small,
            b'A'..=b'Z' => Self::Capital,
            b'0'..=b'9' => Self::Digit,
            b' ' | b'_' => Self::Joint,
            0x80.. => Self::Foreign,
            _ => Self::Sign,
        }
    }

    /// Cost of a run of so many bytes.
    fn cost(self, length: usize) -> u32 {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        match self {
            // Most words are a token or two.
            Self::Small => (length.saturating_add(3)).max(TOKEN / 2),
            Self::Capital => length.saturating_mul(TOKEN / 2),
            Self::Digit => length.div_ceil(3).saturating_mul(TOKEN),
            // A blank is part of the word behind it.
            Self::Joint => length.saturating_sub(1).saturating_mul(TOKEN / 4),
            Self::Sign => length.saturating_mul(TOKEN * 3 / 4),
            Self::Foreign => length.saturating_mul(TOKEN * 3 / 8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_runs_cost_more_and_nothing_overflows() {
        assert_eq!(of(""), 0);
        assert_eq!(of("2024"), 2 * TOKEN);
        assert!(of("departure_time") < of("departure_time_est"));
        assert_eq!(Sort::Foreign.cost(usize::MAX), u32::MAX);
    }
}
