//! Lines with markers, drawn as SVG. Series differ in marker and dash, not in colour alone: what was published has open markers and
//! short dashes, theory a thin dotted line, ours filled markers on a line that is full or has gaps of its own.

use std::fmt::Write;

use super::axis::{Axis, Range, Scale};
use super::text::{escape, inline};
use crate::spread::Spread;

/// Whose figures a series has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    Ours,
    Published,
    Theory,
}

#[derive(Debug, Clone)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    /// An interval around y.
    pub interval: Option<(f64, f64)>,
}

#[derive(Debug, Clone)]
pub struct Series {
    pub name: String,
    pub whose: Whose,
    pub points: Vec<Point>,
}

impl Series {
    /// A series without intervals.
    pub fn new(name: &str, whose: Whose, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        let point = |(x, y)| Point { x, y, interval: None };
        Series { name: name.into(), whose, points: points.into_iter().map(point).collect() }
    }

    /// Ours: medians with their intervals.
    pub fn medians(name: &str, points: impl IntoIterator<Item = (f64, Option<Spread>)>) -> Series {
        let point = |(x, spread): (f64, Option<Spread>)| {
            let Spread { median, low, high, .. } = spread?;
            Some(Point { x, y: median, interval: Some((low, high)) })
        };
        let points = points.into_iter().filter_map(point).collect();
        Series { name: name.into(), whose: Whose::Ours, points }
    }
}

#[derive(Debug, Clone)]
pub struct Plot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// One sentence that says what is to be seen.
    pub caption: String,
}

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 290.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 46.0;

impl Plot {
    pub fn html(&self) -> String {
        let legend: String = self.looks().map(|(series, look)| look.legend(&series.name)).collect();
        format!(
            "<figure class=\"plot\"><h4>{}</h4><ul class=\"legend\">{legend}</ul>{}<figcaption>{}</figcaption></figure>\n",
            inline(&self.title),
            self.svg(),
            inline(&self.caption)
        )
    }

    fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = self.x.range(points().map(|point| point.x));
        let ends = |point: &Point| point.interval.map_or([point.y; 2], |(low, high)| [low, high]);
        let y = self.y.range(points().flat_map(|point| ends(point).into_iter().chain([point.y])));
        let frame = Frame { x, y };
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            escape(&format!("{}. {}", self.title, self.caption))
        );
        frame.grid(self, &mut svg);
        let named = matches!(self.x.scale, Scale::Names(_));
        // What was published comes last: its open markers are wider, and let those of ours at the same place be seen.
        let mut looks: Vec<_> = self.looks().collect();
        looks.sort_by_key(|(series, _)| series.whose == Whose::Published);
        for (series, look) in looks {
            let _ = write!(svg, "<g class=\"{}\">", look.class());
            frame.intervals(&series.points, &mut svg);
            // Between names there is nothing that a line could mean.
            if !named || series.whose == Whose::Theory {
                frame.line(&series.points, &mut svg);
            }
            if series.whose != Whose::Theory {
                for point in series.points.iter().filter(|point| frame.shows(point)) {
                    svg += &look.marker(frame.left(point.x), frame.top(point.y));
                }
            }
            svg += "</g>";
        }
        svg + "</svg>"
    }

    /// Each series with its look: those of one kind are numbered.
    fn looks(&self) -> impl Iterator<Item = (&Series, Look)> {
        self.series.iter().enumerate().map(|(i, series)| {
            let alike = self.series[..i].iter().filter(|other| other.whose == series.whose);
            (series, Look { whose: series.whose, number: alike.count() })
        })
    }
}

/// The marker, dash and colour of a series.
struct Look {
    whose: Whose,
    number: usize,
}

impl Look {
    fn class(&self) -> String {
        let whose = match self.whose {
            Whose::Ours => "ours",
            Whose::Published => "published",
            Whose::Theory => "theory",
        };
        format!("series {whose} c{}", self.number % 6)
    }

    fn marker(&self, x: f64, y: f64) -> String {
        let wide = if self.whose == Whose::Published { 1.35 } else { 1.0 };
        let around = |corners: &[(f64, f64)]| {
            let corner =
                |(dx, dy): &(f64, f64)| format!("{:.1},{:.1}", x + wide * dx, y + wide * dy);
            let corners = corners.iter().map(corner);
            let corners: Vec<String> = corners.collect();
            format!("<polygon class=\"mark\" points=\"{}\"/>", corners.join(" "))
        };
        match self.number % 6 {
            0 => {
                let r = 3.8 * wide;
                format!("<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\"/>")
            }
            1 => around(&[(-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)]),
            2 => around(&[(0.0, -4.6), (4.4, 3.4), (-4.4, 3.4)]),
            3 => around(&[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)]),
            4 => around(&[(0.0, 4.6), (4.4, -3.4), (-4.4, -3.4)]),
            _ => around(&[(-1.6, -5.0), (1.6, -5.0), (1.6, 5.0), (-1.6, 5.0)]),
        }
    }

    fn legend(&self, name: &str) -> String {
        let marker =
            if self.whose == Whose::Theory { String::new() } else { self.marker(15.0, 7.0) };
        format!(
            "<li><svg viewBox=\"0 0 30 14\" aria-hidden=\"true\"><g class=\"{}\"><path class=\"line\" d=\"M1 7H29\"/>{marker}</g></svg>{}</li>",
            self.class(),
            inline(name)
        )
    }
}

struct Frame {
    x: Range,
    y: Range,
}

impl Frame {
    fn left(&self, x: f64) -> f64 {
        LEFT + self.x.share(x) * (WIDTH - LEFT - RIGHT)
    }

    fn top(&self, y: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.share(y) * (HEIGHT - TOP - BOTTOM)
    }

    /// A zero has no place on a logarithmic axis.
    fn shows(&self, point: &Point) -> bool {
        self.left(point.x).is_finite() && self.top(point.y).is_finite()
    }

    fn grid(&self, plot: &Plot, svg: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for (value, name) in self.y.ticks(5) {
            let y = self.top(value);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>");
            let at = y + 4.0;
            let _ = write!(
                svg,
                "<text class=\"tick end\" x=\"{}\" y=\"{at:.1}\">{name}</text>",
                LEFT - 6.0
            );
        }
        let named = matches!(plot.x.scale, Scale::Names(_));
        for (value, name) in self.x.ticks(6) {
            let x = self.left(value);
            if !named {
                let _ = write!(svg, "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom}\"/>");
            }
            let (y, name) = (bottom + 16.0, escape(&name));
            let _ = write!(svg, "<text class=\"tick middle\" x=\"{x:.1}\" y=\"{y}\">{name}</text>");
        }
        let _ = write!(svg, "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>");
        let (middle, low) = ((LEFT + right) / 2.0, HEIGHT - 8.0);
        let (x_label, y_label) = (escape(&plot.x.label), escape(&plot.y.label));
        let _ =
            write!(svg, "<text class=\"label middle\" x=\"{middle}\" y=\"{low}\">{x_label}</text>");
        let _ = write!(svg, "<text class=\"label\" x=\"4\" y=\"14\">{y_label}</text>");
    }

    fn intervals(&self, points: &[Point], svg: &mut String) {
        for point in points.iter().filter(|point| self.shows(point)) {
            let Some((low, high)) = point.interval else { continue };
            let x = self.left(point.x);
            let (low, high) = (self.top(low).min(HEIGHT - BOTTOM), self.top(high));
            let (from, to) = (x - 3.0, x + 3.0);
            let _ = write!(
                svg,
                "<path class=\"interval\" d=\"M{x:.1} {low:.1}V{high:.1}M{from:.1} {low:.1}H{to:.1}M{from:.1} {high:.1}H{to:.1}\"/>"
            );
        }
    }

    fn line(&self, points: &[Point], svg: &mut String) {
        let shown = points.iter().filter(|point| self.shows(point));
        let place = |point: &Point| format!("{:.1} {:.1}", self.left(point.x), self.top(point.y));
        let places: Vec<String> = shown.map(place).collect();
        if places.len() > 1 {
            let _ = write!(svg, "<path class=\"line\" d=\"M{}\"/>", places.join("L"));
        }
    }
}
