//! Shares over budgets as SVG: the parts that pictures are made of.

use std::fmt::Write;

use super::number::grouped;
use super::text::width;

/// Colours that stay apart in grey and for most kinds of colour blindness.
const COLORS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];
/// How lines are broken once all colours are taken.
const DASHES: [&str; 3] = ["", " stroke-dasharray=\"8 4\"", " stroke-dasharray=\"2 3\""];
/// The room that the label of a budget takes for each of its letters.
const LETTER: f64 = 7.0;
/// The height of a line of the legend.
const LEGEND_LINE: f64 = 20.0;

/// A complete document of a size, on white.
pub(crate) fn document(width: f64, height: f64, title: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         {body}</svg>\n",
        escaped(title),
    )
}

/// Text as XML wants it; what XML cannot hold is left out.
pub(crate) fn escaped(text: &str) -> String {
    let mut result = String::new();
    for char in text.chars().filter(|char| !char.is_control()) {
        match char {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            char => result.push(char),
        }
    }
    result
}

/// The stroke of the line that is drawn as the given one in turn.
fn stroke(turn: usize) -> String {
    let dashes = DASHES[turn / COLORS.len() % DASHES.len()];
    format!("stroke=\"{}\" stroke-width=\"2\"{dashes}", color(turn))
}

fn color(turn: usize) -> &'static str {
    COLORS[turn % COLORS.len()]
}

/// Names with the strokes of their lines, in rows of at most a width.
pub(crate) struct Legend {
    /// The drawing.
    pub(crate) svg: String,
    /// How high it is.
    pub(crate) height: f64,
}

impl Legend {
    /// A legend whose upper left corner is at a place.
    pub(crate) fn new<'a>(
        names: impl Iterator<Item = &'a str>,
        (left, top): (f64, f64),
        room: f64,
    ) -> Self {
        let mut svg = String::new();
        let (mut x, mut y) = (left, top + LEGEND_LINE / 2.0);
        for (turn, name) in names.enumerate() {
            let needed = 46.0 + LETTER * width(name) as f64;
            if x > left && x + needed > left + room {
                (x, y) = (left, y + LEGEND_LINE);
            }
            let _ = write!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" {}/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
                x + 22.0,
                stroke(turn),
                x + 28.0,
                y + 4.0,
                escaped(name),
            );
            x += needed;
        }
        Self { svg, height: y + LEGEND_LINE / 2.0 - top }
    }
}

/// A rectangle in which shares are drawn over budgets.
pub(crate) struct Panel<'a> {
    /// The left end of the axis of budgets.
    pub(crate) left: f64,
    /// Where 100 % is.
    pub(crate) top: f64,
    /// How long the axis of budgets is.
    pub(crate) width: f64,
    /// How long the axis of shares is.
    pub(crate) height: f64,
    /// The budgets, rising.
    pub(crate) budgets: &'a [i64],
}

impl Panel<'_> {
    fn x(&self, budget: i64) -> f64 {
        let from = self.budgets.first().copied().unwrap_or(0);
        let to = self.budgets.last().copied().unwrap_or(0);
        if from == to {
            return self.left + self.width / 2.0;
        }
        // In floats, since the difference of two budgets may be too large for a whole number.
        self.left + self.width * (budget as f64 - from as f64) / (to as f64 - from as f64)
    }

    fn y(&self, share: f64) -> f64 {
        self.top + self.height * (1.0 - share.clamp(0.0, 1.0))
    }

    /// A rule and a label for every fourth of the whole, the budgets, and what both are.
    pub(crate) fn axes(&self, what: &str) -> String {
        let (right, bottom) = (self.left + self.width, self.top + self.height);
        let mut svg = String::new();
        for percent in [0, 25, 50, 75, 100] {
            let y = self.y(f64::from(percent) / 100.0);
            let _ = write!(
                svg,
                "<line x1=\"{:.1}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{percent} %</text>\n",
                self.left,
                self.left - 8.0,
                y + 4.0,
            );
        }
        svg.push_str(&self.budget_labels(bottom + 18.0));
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">budget in tokens</text>",
            self.left + self.width / 2.0,
            bottom + 38.0,
        );
        let (x, y) = (self.left - 48.0, self.top + self.height / 2.0);
        let _ = writeln!(
            svg,
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(what),
        );
        svg
    }

    /// As many labels as there is room for.
    fn budget_labels(&self, y: f64) -> String {
        let mut svg = String::new();
        let mut free_from = f64::NEG_INFINITY;
        for budget in self.budgets {
            let label = grouped(*budget);
            let half = LETTER * label.len() as f64 / 2.0 + 3.0;
            let x = self.x(*budget);
            if x - half >= free_from {
                let _ = writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{label}</text>"
                );
                free_from = x + half;
            }
        }
        svg
    }

    /// The line of the share at each budget.
    pub(crate) fn line(&self, turn: usize, shares: &[f64]) -> String {
        let places = self.budgets.iter().zip(shares);
        let points: Vec<String> = places
            .map(|(budget, share)| format!("{:.1},{:.1}", self.x(*budget), self.y(*share)))
            .collect();
        format!("<polyline fill=\"none\" {} points=\"{}\"/>\n", stroke(turn), points.join(" "))
    }

    /// A dot at a share, and how far up and down the truth may be.
    pub(crate) fn dot(&self, turn: usize, budget: i64, share: f64, error: f64) -> String {
        let (x, color) = (self.x(budget), color(turn));
        format!(
            "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"{color}\"/>\n\
             <circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{color}\"/>\n",
            self.y(share + error),
            self.y(share - error),
            self.y(share),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_safe_in_xml() {
        assert_eq!(escaped("a<b>&\"c\"\u{1b}"), "a&lt;b&gt;&amp;&quot;c&quot;");
    }

    #[test]
    fn labels_do_not_overlap() {
        let budgets = [1_000, 1_001, 4_000];
        let panel = Panel { left: 0.0, top: 0.0, width: 300.0, height: 100.0, budgets: &budgets };
        let labels = panel.budget_labels(10.0);
        assert!(labels.contains(">1,000<") && labels.contains(">4,000<"), "{labels}");
        assert!(!labels.contains(">1,001<"), "{labels}");
    }

    #[test]
    fn a_single_budget_is_in_the_middle_and_the_largest_are_to_scale() {
        let panel = |budgets| Panel { left: 0.0, top: 0.0, width: 10.0, height: 1.0, budgets };
        assert_eq!(panel(&[7]).x(7), 5.0);
        assert_eq!(panel(&[i64::MIN, 0, i64::MAX]).x(0), 5.0);
    }

    #[test]
    fn a_legend_breaks_where_the_room_ends() {
        let height = |room| Legend::new(["chat", "newest"].into_iter(), (0.0, 0.0), room).height;
        assert_eq!((height(500.0), height(100.0)), (20.0, 40.0));
    }
}
