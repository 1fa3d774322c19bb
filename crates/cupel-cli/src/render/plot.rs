//! Shares over budgets or costs as SVG: the parts that pictures are made of.

use std::fmt::Write;

use super::number::grouped;
use super::text::width;

/// Colours that stay apart in grey and for most kinds of colour blindness.
const COLORS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];
/// Dashes of lines once all colours are taken.
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
    /// Height.
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

/// Axis that shares are drawn over.
pub(crate) struct Axis {
    name: &'static str,
    from: f64,
    to: f64,
    /// Places that have a label if there is room, rising.
    labels: Vec<(f64, String)>,
}

impl Axis {
    /// From the smallest budget to the largest one, each with its label.
    pub(crate) fn of_budgets(budgets: &[i64]) -> Self {
        // In floats, since the difference of two budgets may be too large for a whole number.
        let end = |budget: Option<&i64>| budget.map_or(0.0, |budget| *budget as f64);
        Self {
            name: "budget in tokens",
            from: end(budgets.first()),
            to: end(budgets.last()),
            labels: budgets.iter().map(|budget| (*budget as f64, grouped(*budget))).collect(),
        }
    }

    /// From nothing to a whole number of steps beyond the largest value, with round labels.
    pub(crate) fn from_zero(name: &'static str, largest: f64) -> Self {
        let largest = if largest.is_finite() { largest.max(1.0) } else { 1.0 };
        let power = 10_f64.powf((largest / 5.0).log10().floor());
        let fits = |step: &f64| step * 5.0 >= largest;
        let step = [1.0, 2.0, 5.0].map(|times| times * power).into_iter().find(fits);
        let step = step.unwrap_or(10.0 * power);
        let count = (largest / step).ceil() as i64;
        let label = |nth: i64| {
            let value = nth as f64 * step;
            let text = if step < 1.0 { format!("{value:.1}") } else { grouped(value as i64) };
            (value, text)
        };
        Self { name, from: 0.0, to: count as f64 * step, labels: (0..=count).map(label).collect() }
    }
}

/// A rectangle in which shares are drawn over something.
pub(crate) struct Panel<'a> {
    /// The left end of the axis below.
    pub(crate) left: f64,
    /// Where 100 % is.
    pub(crate) top: f64,
    /// Length of the axis below.
    pub(crate) width: f64,
    /// Length of the axis of shares.
    pub(crate) height: f64,
    /// Axis that the shares are drawn over.
    pub(crate) axis: &'a Axis,
}

impl Panel<'_> {
    fn x(&self, value: f64) -> f64 {
        let Axis { from, to, .. } = *self.axis;
        if from == to {
            return self.left + self.width / 2.0;
        }
        self.left + self.width * (value - from) / (to - from)
    }

    fn y(&self, share: f64) -> f64 {
        self.top + self.height * (1.0 - share.clamp(0.0, 1.0))
    }

    /// A rule and a label for every fourth of the whole, the labels below, and what both are.
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
        svg.push_str(&self.labels(bottom + 18.0));
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            self.left + self.width / 2.0,
            bottom + 38.0,
            escaped(self.axis.name),
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
    fn labels(&self, y: f64) -> String {
        let mut svg = String::new();
        let mut free_from = f64::NEG_INFINITY;
        for (value, label) in &self.axis.labels {
            let half = LETTER * label.len() as f64 / 2.0 + 3.0;
            let x = self.x(*value);
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

    /// The line through shares at places of the axis.
    pub(crate) fn line(&self, turn: usize, points: &[(f64, f64)]) -> String {
        let points: Vec<String> = points
            .iter()
            .map(|(value, share)| format!("{:.1},{:.1}", self.x(*value), self.y(*share)))
            .collect();
        format!("<polyline fill=\"none\" {} points=\"{}\"/>\n", stroke(turn), points.join(" "))
    }

    /// A dot at a share, and how far up and down the truth may be.
    pub(crate) fn dot(&self, turn: usize, value: f64, share: f64, error: f64) -> String {
        let (x, color) = (self.x(value), color(turn));
        format!(
            "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"{color}\"/>\n\
             <circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{color}\"/>\n",
            self.y(share + error),
            self.y(share - error),
            self.y(share),
        )
    }

    /// A small text beside a dot, on the side where there is more room.
    pub(crate) fn note(&self, turn: usize, value: f64, share: f64, text: &str) -> String {
        let (x, anchor) = self.beside(self.x(value), 5.0);
        format!(
            "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"9\" text-anchor=\"{anchor}\" fill=\"{}\">{}</text>\n",
            self.y(share) + 11.0,
            color(turn),
            escaped(text),
        )
    }

    /// Where a text so far from a place begins, or ends if it would be cut off at the right.
    fn beside(&self, x: f64, distance: f64) -> (f64, &'static str) {
        let is_right = x > self.left + 0.9 * self.width;
        if is_right { (x - distance, "end") } else { (x + distance, "start") }
    }

    /// A broken line upwards at a place, with its name.
    pub(crate) fn mark(&self, value: f64, name: &str) -> String {
        let (x, bottom) = (self.x(value), self.top + self.height);
        let (text_x, anchor) = self.beside(x, 4.0);
        format!(
            "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"#888888\" \
             stroke-dasharray=\"3 3\"/>\n\
             <text x=\"{text_x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"#666666\" font-size=\"10\">{}</text>\n",
            self.top,
            bottom - 6.0,
            escaped(name),
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
    fn a_name_at_the_right_end_stands_before_its_line() {
        let axis = Axis::from_zero("cost", 10.0);
        let panel = Panel { left: 50.0, top: 0.0, width: 100.0, height: 80.0, axis: &axis };
        assert!(
            panel
                .mark(axis.to, "everything")
                .contains("<text x=\"146.0\" y=\"74.0\" text-anchor=\"end\"")
        );
        assert!(
            panel
                .mark(0.0, "nothing")
                .contains("<text x=\"54.0\" y=\"74.0\" text-anchor=\"start\"")
        );
    }

    #[test]
    fn labels_do_not_overlap() {
        let budgets = [1_000, 1_001, 4_000];
        let axis = Axis::of_budgets(&budgets);
        let panel = Panel { left: 0.0, top: 0.0, width: 300.0, height: 100.0, axis: &axis };
        let labels = panel.labels(10.0);
        assert!(labels.contains(">1,000<") && labels.contains(">4,000<"), "{labels}");
        assert!(!labels.contains(">1,001<"), "{labels}");
    }

    #[test]
    fn a_single_budget_is_in_the_middle_and_the_largest_are_to_scale() {
        let x = |budgets: &[i64], value| {
            let axis = Axis::of_budgets(budgets);
            Panel { left: 0.0, top: 0.0, width: 10.0, height: 1.0, axis: &axis }.x(value)
        };
        assert_eq!(x(&[7], 7.0), 5.0);
        assert_eq!(x(&[i64::MIN, 0, i64::MAX], 0.0), 5.0);
    }

    #[test]
    fn an_axis_from_zero_has_round_labels_and_ends_behind_the_largest_value() {
        let labels = |largest| {
            let axis = Axis::from_zero("cost", largest);
            assert!(axis.to >= largest, "{}", axis.to);
            axis.labels.into_iter().map(|(_, label)| label).collect::<Vec<_>>()
        };
        assert_eq!(labels(4.4), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(labels(1_234.0), ["0", "500", "1,000", "1,500"]);
        assert_eq!(labels(0.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }

    #[test]
    fn a_legend_breaks_where_the_room_ends() {
        let height = |room| Legend::new(["chat", "newest"].into_iter(), (0.0, 0.0), room).height;
        assert_eq!((height(500.0), height(100.0)), (20.0, 40.0));
    }
}
