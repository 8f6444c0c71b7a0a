//! Axes: from values to places, and where the ticks stand.

use super::number::short;

/// How values are spread along an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// Evenly, no further than the values reach: where zero would hide what differs.
    Close,
    /// By powers of ten.
    Log,
    /// One place for each name; values are their numbers.
    Names(Vec<String>),
}

#[derive(Debug, Clone)]
pub struct Axis {
    pub label: String,
    pub scale: Scale,
}

impl Axis {
    pub fn linear(label: &str) -> Axis {
        Axis { label: label.into(), scale: Scale::Linear }
    }

    pub fn close(label: &str) -> Axis {
        Axis { label: label.into(), scale: Scale::Close }
    }

    pub fn log(label: &str) -> Axis {
        Axis { label: label.into(), scale: Scale::Log }
    }

    pub fn names(label: &str, names: Vec<String>) -> Axis {
        Axis { label: label.into(), scale: Scale::Names(names) }
    }

    /// The range that shows all these values.
    pub fn range(&self, values: impl Iterator<Item = f64>) -> Range {
        let values = values.filter(|x| x.is_finite() && (self.scale != Scale::Log || *x > 0.0));
        let ends = values.fold(None, |ends: Option<(f64, f64)>, x| {
            Some(ends.map_or((x, x), |(low, high)| (low.min(x), high.max(x))))
        });
        let (low, high) = ends.unwrap_or((1.0, 10.0));
        let (low, high) = match &self.scale {
            Scale::Linear => (low.min(0.0), if high <= 0.0 { 1.0 } else { high * 1.04 }),
            Scale::Close => {
                let out = if high == low { 1.0 } else { 0.06 * (high - low) };
                (low - out, high + out)
            }
            // A twentieth of the way further out on both sides; a single value gets a factor of two.
            Scale::Log => {
                let out = (high / low).powf(0.05).max(if high == low { 2.0 } else { 1.05 });
                (low / out, high * out)
            }
            Scale::Names(names) => (-0.5, names.len() as f64 - 0.5),
        };
        Range { scale: self.scale.clone(), low, high }
    }
}

/// The part of an axis that is drawn.
#[derive(Debug)]
pub struct Range {
    scale: Scale,
    pub low: f64,
    pub high: f64,
}

impl Range {
    /// How far along the axis a value stands, from 0 to 1.
    pub fn share(&self, x: f64) -> f64 {
        match self.scale {
            Scale::Log => (x / self.low).ln() / (self.high / self.low).ln(),
            _ => (x - self.low) / (self.high - self.low),
        }
    }

    /// The ticks, about so many at most, and what is written at them.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let numbers = match &self.scale {
            Scale::Names(names) => {
                return names
                    .iter()
                    .enumerate()
                    .map(|(i, name)| (i as f64, name.clone()))
                    .collect();
            }
            Scale::Linear | Scale::Close => self.steps(most),
            Scale::Log => self.decades(most),
        };
        numbers.into_iter().map(|x| (x, short(x))).collect()
    }

    fn steps(&self, most: usize) -> Vec<f64> {
        let least = (self.high - self.low) / most as f64;
        let unit = 10f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|x| x * unit).find(|&step| step >= least);
        let step = step.unwrap_or(10.0 * unit);
        let first = (self.low / step).ceil() as i64;
        (first..).map(|i| i as f64 * step).take_while(|&x| x <= self.high).collect()
    }

    /// Powers of ten; between few of them also 2 and 5, of many only each second, third …
    fn decades(&self, most: usize) -> Vec<f64> {
        let (low, high) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let within = |x: &f64| (self.low..=self.high).contains(x);
        let tens: Vec<f64> = (low..=high).map(|e| 10f64.powi(e)).filter(within).collect();
        if tens.len() < 3 {
            let fine = (low..=high).flat_map(|e| [1.0, 2.0, 5.0].map(|x| x * 10f64.powi(e)));
            return fine.filter(within).collect();
        }
        tens.iter().copied().step_by(tens.len().div_ceil(most)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(axis: Axis, values: &[f64], most: usize) -> Vec<f64> {
        let range = axis.range(values.iter().copied());
        range.ticks(most).into_iter().map(|(x, _)| x).collect()
    }

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(ticks(Axis::linear(""), &[1.0, 2.0], 5), [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(ticks(Axis::close(""), &[4.0, 12.0], 6), [4.0, 6.0, 8.0, 10.0, 12.0]);
        assert_eq!(ticks(Axis::log(""), &[1e4, 2e6], 6), [1e4, 1e5, 1e6]);
        assert_eq!(ticks(Axis::log(""), &[3.0, 30.0], 6), [5.0, 10.0, 20.0]);
        assert_eq!(ticks(Axis::log(""), &[1.0, 1e8], 5).len(), 5);
    }

    #[test]
    fn places_follow_the_scale() {
        let range = Axis::log("").range([1.0, 100.0].into_iter());
        assert!((range.share(10.0) - 0.5).abs() < 1e-12);
        let range = Axis::names("", vec!["a".into(), "b".into()]).range([].into_iter());
        assert_eq!((range.share(0.0), range.share(1.0)), (0.25, 0.75));
    }
}
