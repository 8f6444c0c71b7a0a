//! How fast things come now: over the last second or two, not over the moment since somebody asked before.

/// The least time in seconds that tells a rate, and the least to look back on where there is as much.
const TELLING: f64 = 0.1;
const ENOUGH: f64 = 1.0;

/// What had been counted at a time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mark {
    /// Since the start.
    pub(crate) seconds: f64,
    pub(crate) trained: u64,
    pub(crate) asked: u64,
}

/// Two marks in the past: the rate is that since the first; the second takes its place when it is old enough.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    since: Mark,
    next: Mark,
}

impl Pace {
    /// Lines trained and asked in a second; none as long as there is too little time to tell.
    pub(crate) fn rates(&mut self, now: Mark) -> Option<[f64; 2]> {
        if now.seconds - self.next.seconds >= ENOUGH {
            self.since = std::mem::replace(&mut self.next, now);
        }
        let seconds = now.seconds - self.since.seconds;
        let rate = |now: u64, then: u64| (now - then) as f64 / seconds;
        let rates = [rate(now.trained, self.since.trained), rate(now.asked, self.since.asked)];
        (seconds >= TELLING).then_some(rates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(seconds: f64, trained: u64) -> Mark {
        Mark { seconds, trained, asked: 2 * trained }
    }

    #[test]
    fn a_moment_tells_nothing() {
        let mut pace = Pace::default();
        assert_eq!(pace.rates(mark(0.0, 0)), None);
        assert_eq!(pace.rates(mark(0.0001, 1000)), None);
        assert_eq!(pace.rates(mark(0.5, 1000)), Some([2000.0, 4000.0]));
    }

    /// A snapshot every ten seconds, and the end a moment after one of them.
    #[test]
    fn the_end_has_the_rate_of_the_time_before() {
        let mut pace = Pace::default();
        assert_eq!(pace.rates(mark(10.0, 100)), Some([10.0, 20.0]));
        assert_eq!(pace.rates(mark(20.0, 300)), Some([20.0, 40.0]));
        assert_eq!(pace.rates(mark(20.001, 300)).map(|[trained, _]| trained.round()), Some(20.0));
    }

    /// However often it is asked: what came in the last second or two, and nothing of what was before.
    #[test]
    fn a_rate_is_that_of_the_last_seconds() {
        let mut pace = Pace::default();
        for i in 0..100 {
            let _ = pace.rates(mark(f64::from(i) / 20.0, 1_000_000));
        }
        for i in 100..200_u32 {
            let rates = pace.rates(mark(f64::from(i) / 20.0, 1_000_000 + u64::from(i - 100) * 5));
            let settled =
                i < 141 || rates.is_some_and(|[trained, _]| (trained - 100.0).abs() < 1.0);
            assert!(settled, "{i}: {rates:?}");
        }
    }
}
