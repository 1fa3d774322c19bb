//! Colour, where it is wanted.

use std::io::{self, IsTerminal};

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
            format!("{style}{text}{style:#}")
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
