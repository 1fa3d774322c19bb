//! Colour, where it is wanted.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, IsTerminal};
use std::sync::LazyLock;

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Even into a pipe.
    Always,
    /// Not even on a terminal.
    Never,
}

/// Begins every sequence that a terminal obeys.
const ESCAPE: char = '\u{1b}';

/// Stands for [`ESCAPE`] in what this program paints itself, until it is written. No text that is painted
/// can have it: it is another one in every run.
static OURS: LazyLock<String> = LazyLock::new(|| {
    let number = RandomState::new().build_hasher().finish();
    format!("{ESCAPE}{number:016x}")
});

/// A text as it is written for people: with the colours that [`Palette`] gave it, and nothing else that a
/// terminal would obey, or that would turn what people read.
pub(crate) fn for_people(text: &str) -> String {
    let pieces = text.split(OURS.as_str()).map(cupel_names::readable);
    pieces.collect::<Vec<_>>().join("\u{1b}")
}

/// The colours of the standard output, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Palette {
    is_coloured: bool,
}

/// The colours that kinds take, in the order in which kinds appear.
const KINDS: [AnsiColor; 6] = [
    AnsiColor::Blue,
    AnsiColor::Green,
    AnsiColor::Yellow,
    AnsiColor::Magenta,
    AnsiColor::Cyan,
    AnsiColor::Red,
];

impl Palette {
    /// What the choice means for the standard output.
    pub(crate) fn of_stdout(choice: ColorChoice) -> Self {
        let is_coloured = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => !is_refused() && io::stdout().is_terminal(),
        };
        Self { is_coloured }
    }

    /// No colours.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { is_coloured: false }
    }

    /// Whether there are colours.
    pub(crate) fn is_coloured(self) -> bool {
        self.is_coloured
    }

    /// A text in a style.
    pub(crate) fn paint(self, text: &str, style: Style) -> String {
        if self.is_coloured && !text.is_empty() {
            let begin = style.render().to_string().replace(ESCAPE, &OURS);
            let end = style.render_reset().to_string().replace(ESCAPE, &OURS);
            format!("{begin}{text}{end}")
        } else {
            text.to_owned()
        }
    }

    /// A heading.
    pub(crate) fn strong(self, text: &str) -> String {
        self.paint(text, strong())
    }
}

/// The style of headings.
pub(crate) fn strong() -> Style {
    Style::new().bold()
}

/// The style of what matters less.
pub(crate) fn faint() -> Style {
    Style::new().dimmed()
}

/// The style of the kind that appeared as the given one in turn.
pub(crate) fn kind(turn: usize) -> Style {
    KINDS[turn % KINDS.len()].on_default()
}

/// Any value of `NO_COLOR` but the empty one refuses colour, and a dumb terminal has none.
fn is_refused() -> bool {
    let is_set = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    is_set || std::env::var_os("TERM").is_some_and(|value| value == "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_of_our_own_reach_a_terminal() {
        let palette = Palette { is_coloured: true };
        let painted = format!("{}\u{1b}[32mgreen\n", palette.strong("a\u{1b}[0mb\u{202e}"));
        let shown = for_people(&painted);
        assert_eq!(shown, "\u{1b}[1ma\\u{1b}[0mb\\u{202e}\u{1b}[0m\\u{1b}[32mgreen\n");
    }
}
