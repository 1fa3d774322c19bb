//! A window as a bar, to scale.

use super::number::grouped;
use super::text::width;
use crate::style::{self, Palette};

/// A stretch of the bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Name in the legend.
    pub(crate) name: String,
    /// Length.
    pub(crate) tokens: i64,
    /// Fill.
    pub(crate) fill: Fill,
}

/// Fill of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Items of one kind.
    Kind,
    /// Nothing.
    Free,
    /// The place that is kept for the answer.
    Reserve,
}

/// The bar and, below it, what its marks mean. Without colour each kind has a letter.
pub(crate) fn render(parts: &[Part], screen: usize, palette: Palette) -> String {
    let parts: Vec<&Part> = parts.iter().filter(|part| part.tokens > 0).collect();
    let marks = marks(&parts, palette);
    let tokens: Vec<i64> = parts.iter().map(|part| part.tokens).collect();
    let mut bar = String::from("  [");
    for (mark, cells) in marks.iter().zip(apportion(&tokens, screen.saturating_sub(4))) {
        bar.push_str(&palette.paint(&mark.sign.to_string().repeat(cells), mark.style));
    }
    bar.push_str("]\n");
    bar + &legend(&parts, &marks, screen, palette)
}

struct Mark {
    sign: char,
    style: anstyle::Style,
}

fn marks(parts: &[&Part], palette: Palette) -> Vec<Mark> {
    let mut taken = Vec::new();
    let mut turn = 0;
    let mark = |part: &&Part| match part.fill {
        Fill::Free => Mark { sign: '.', style: style::faint() },
        Fill::Reserve => Mark { sign: '-', style: style::faint() },
        Fill::Kind => {
            let sign = if palette.is_coloured() { '█' } else { letter(&part.name, &mut taken) };
            turn += 1;
            Mark { sign, style: style::kind(turn - 1) }
        }
    };
    parts.iter().map(mark).collect()
}

/// The first letter of the name that no other kind has.
fn letter(name: &str, taken: &mut Vec<char>) -> char {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let mut letters = letters.map(|letter| letter.to_ascii_uppercase()).chain(['#', '+', '=', '%']);
    let letter = letters.find(|letter| !taken.contains(letter)).unwrap_or('?');
    taken.push(letter);
    letter
}

/// Shares `cells` among amounts in proportion. Each has at least one as long as there are enough;
/// what rounding leaves over goes to those that lost most by it, the first of equals.
pub(crate) fn apportion(amounts: &[i64], cells: usize) -> Vec<usize> {
    let total: i128 = amounts.iter().map(|amount| i128::from(*amount)).sum();
    if total <= 0 || amounts.len() > cells {
        return vec![0; amounts.len()];
    }
    // One cell each is certain; the others are shared.
    let shared = (cells - amounts.len()) as i128;
    let share = |amount: &i64| i128::from(*amount) * shared;
    let mut result: Vec<usize> =
        amounts.iter().map(|amount| 1 + (share(amount) / total) as usize).collect();
    let mut by_loss: Vec<usize> = (0..amounts.len()).collect();
    by_loss.sort_by_key(|at| std::cmp::Reverse(share(&amounts[*at]) % total));
    let left = cells - result.iter().sum::<usize>();
    for at in by_loss.into_iter().take(left) {
        result[at] += 1;
    }
    result
}

fn legend(parts: &[&Part], marks: &[Mark], screen: usize, palette: Palette) -> String {
    let total: i128 = parts.iter().map(|part| i128::from(part.tokens)).sum();
    let mut text = String::new();
    let mut used = 0;
    for (part, mark) in parts.iter().zip(marks) {
        let percent = (i128::from(part.tokens) * 100 + total / 2) / total.max(1);
        let words = format!(" {} {} ({percent} %)", part.name, grouped(part.tokens));
        let columns = 1 + width(&words);
        if used > 0 && used + 3 + columns > screen {
            text.push('\n');
            used = 0;
        }
        let gap = if used == 0 { "  " } else { "   " };
        text.push_str(gap);
        text.push_str(&palette.paint(&mark.sign.to_string(), mark.style));
        text.push_str(&words);
        used += gap.len() + columns;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, tokens: i64, fill: Fill) -> Part {
        Part { name: name.into(), tokens, fill }
    }

    #[test]
    fn the_bar_is_to_scale_and_every_kind_shows() {
        let parts = [
            part("Message", 60, Fill::Kind),
            part("Memory", 1, Fill::Kind),
            part("free", 39, Fill::Free),
        ];
        let text = render(&parts, 44, Palette::plain());
        let bar = text.lines().next().unwrap();
        assert_eq!(bar, format!("  [{}E{}]", "M".repeat(23), ".".repeat(16)));
        assert!(
            text.ends_with("  M Message 60 (60 %)   E Memory 1 (1 %)\n  . free 39 (39 %)\n"),
            "{text}"
        );
    }

    #[test]
    fn shares_add_up_to_all_cells() {
        for cells in 3..50 {
            assert_eq!(apportion(&[1, i64::MAX, 5], cells).iter().sum::<usize>(), cells);
        }
        assert_eq!(apportion(&[], 10), Vec::<usize>::new());
        assert_eq!(apportion(&[0], 10), [0]);
    }
}
