//! Horizontal bars with their values written beside them, and limits as lines across.

use std::fmt::Write;

use super::number::plain;
use super::text::{escape, inline};

#[derive(Debug, Clone)]
pub struct Bar {
    pub name: String,
    pub value: f64,
    /// Drawn filled; others as outlines.
    pub ours: bool,
}

#[derive(Debug, Clone)]
pub struct Bars {
    pub title: String,
    pub unit: String,
    pub bars: Vec<Bar>,
    /// A line across all bars: its name and value.
    pub limit: Option<(String, f64)>,
    /// One sentence that says what is to be seen.
    pub caption: String,
}

const WIDTH: f64 = 440.0;
const STEP: f64 = 38.0;
const THICK: f64 = 13.0;
/// What is left free for the value beside the longest bar.
const VALUE: f64 = 84.0;

impl Bars {
    pub fn html(&self) -> String {
        format!(
            "<figure class=\"plot\"><h4>{}</h4>{}<figcaption>{}</figcaption></figure>\n",
            inline(&self.title),
            self.svg(),
            inline(&self.caption)
        )
    }

    fn svg(&self) -> String {
        let most = self.bars.iter().map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max);
        let length = |value: f64| value / most * (WIDTH - VALUE);
        let head = if self.limit.is_some() { 22.0 } else { 4.0 };
        let height = head + STEP * self.bars.len() as f64 + 2.0;
        let label = escape(&format!("{}. {}", self.title, self.caption));
        let mut svg =
            format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\">");
        for (i, bar) in self.bars.iter().enumerate() {
            let (top, long) = (head + STEP * i as f64, length(bar.value).max(1.0));
            let (class, name) = (if bar.ours { "ours" } else { "other" }, escape(&bar.name));
            let _ = write!(
                svg,
                "<text class=\"tick {class}\" x=\"0\" y=\"{:.1}\">{name}</text>",
                top + 13.0
            );
            let (y, value) = (top + 18.0, format!("{} {}", plain(bar.value), self.unit));
            let _ = write!(
                svg,
                "<rect class=\"bar {class}\" x=\"0.5\" y=\"{y:.1}\" width=\"{long:.1}\" height=\"{THICK}\"/>"
            );
            let (x, y) = (long + 6.0, top + 29.0);
            let _ = write!(
                svg,
                "<text class=\"tick {class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
                escape(&value)
            );
        }
        if let Some((name, value)) = &self.limit {
            let x = length(*value);
            // Beside the bars alone, so that it does not cross their names.
            let piece =
                |i: usize| format!("M{x:.1} {:.1}v{}", head + STEP * i as f64 + 16.0, THICK + 4.0);
            let pieces: String = (0..self.bars.len()).map(piece).collect();
            let _ = write!(svg, "<path class=\"limit\" d=\"{pieces}\"/>");
            let text = escape(&format!("{name}: {} {}", plain(*value), self.unit));
            let (x, end) = if x > WIDTH / 2.0 { (x, " end") } else { (x - 1.0, "") };
            let _ = write!(
                svg,
                "<text class=\"tick{end}\" x=\"{:.1}\" y=\"12\">{text}</text>",
                x.max(0.0)
            );
        }
        svg + "</svg>"
    }
}
