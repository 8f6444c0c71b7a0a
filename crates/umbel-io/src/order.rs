//! Results come in whatever order the threads finish them, and leave in the order of the input.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::batch::{Batch, Malformed};
use crate::lane::Lane;
use crate::tally::{Place, Tally};
use crate::{Driver, Error, Result, Source, lock};

/// Tasks that may be under way for each thread: bounds the memory when one of them takes long.
const UNDER_WAY: usize = 4;
/// Results that may wait for their turn. A task of many batches, or of many pieces, stops at this many until its turn has come.
const WAITING: usize = 64;

/// The number of a task, and that of a batch in it.
type Turn = (u64, u64);

/// What a thread has done with a batch, or a piece of that.
pub(crate) struct Done<O> {
    pub(crate) output: O,
    /// Whether this was the last batch of its task.
    pub(crate) last: bool,
    /// Whether the lane is free once this is delivered.
    long: bool,
    source: usize,
    unit: &'static str,
    rows: u64,
    lines: u64,
    malformed: Malformed,
}

impl<O> Done<O> {
    pub(crate) fn new(batch: &Batch, output: O, last: bool) -> Done<O> {
        Done {
            output,
            last,
            long: batch.long,
            source: batch.source,
            unit: batch.unit,
            rows: batch.len() as u64,
            lines: batch.lines,
            malformed: batch.malformed,
        }
    }

    /// A part of what comes of a batch, whose rows are counted with the last one.
    pub(crate) fn piece(source: usize, output: O) -> Done<O> {
        let malformed = Malformed::default();
        Done { output, last: false, long: false, source, unit: "", rows: 0, lines: 0, malformed }
    }
}

/// Puts results in the order of their tasks.
pub(crate) struct Order<'a, O, F> {
    driver: &'a Driver,
    lane: &'a Lane,
    state: Mutex<State<O, F>>,
    moved: Condvar,
}

struct State<O, F> {
    deliver: F,
    next: Turn,
    under_way: usize,
    waiting: BTreeMap<Turn, Result<Done<O>>>,
    /// Set when no more tasks are to be taken: at the end of the input, or once one has failed.
    ended: bool,
    /// Set when nothing more is delivered: the error's turn has come, or a thread has panicked.
    stopped: bool,
    error: Option<Error>,
    tally: Tally,
    /// The input being delivered, and its lines delivered so far.
    source: usize,
    lines: u64,
    /// Threads that wait for something to move: to wake nobody takes time too.
    asleep: usize,
}

impl<'a, O, F: FnMut(O) -> Result<()>> Order<'a, O, F> {
    pub(crate) fn new(driver: &'a Driver, lane: &'a Lane, deliver: F) -> Self {
        let state = State {
            deliver,
            next: (0, 0),
            under_way: 0,
            waiting: BTreeMap::new(),
            ended: false,
            stopped: false,
            error: None,
            tally: Tally::default(),
            source: 0,
            lines: 0,
            asleep: 0,
        };
        Order { driver, lane, state: Mutex::new(state), moved: Condvar::new() }
    }

    /// Waits until another task may be taken; false when there is nothing more to do.
    pub(crate) fn admit(&self) -> bool {
        let limit = UNDER_WAY * self.driver.threads.max(1);
        let full = |state: &mut State<O, F>| state.under_way >= limit && !state.ended;
        let mut state = self.wait_while(lock(&self.state), full);
        state.under_way += 1;
        !state.ended
    }

    /// There are no more tasks.
    pub(crate) fn finish(&self) {
        lock(&self.state).ended = true;
        self.moved.notify_all();
    }

    /// Nothing more is to be delivered.
    fn stop(&self) {
        lock(&self.state).stop();
        self.lane.stop();
        self.moved.notify_all();
    }

    /// Takes a result, and delivers it and those behind it if it is their turn. An error is reported when its turn comes, so
    /// that what was delivered before it does not depend on which thread was first. False when the task need not go on.
    pub(crate) fn deliver(&self, turn: Turn, done: Result<Done<O>>) -> bool {
        let mut state = lock(&self.state);
        if state.stopped {
            return false;
        }
        state.ended |= done.is_err();
        state.waiting.insert(turn, done);
        while let Some(done) = {
            let next = state.next;
            state.waiting.remove(&next)
        } {
            let long = done.as_ref().is_ok_and(|done| done.long);
            if let Err(error) = done.and_then(|done| state.take(done, self.driver)) {
                state.error = Some(state.placed(error, self.driver));
                state.stop();
                self.lane.stop();
            }
            if long {
                self.lane.leave();
            }
        }
        if state.asleep > 0 {
            self.moved.notify_all();
        }
        let crowded = |state: &mut State<O, F>| {
            state.next.0 < turn.0 && state.waiting.len() >= WAITING && !state.stopped
        };
        !self.wait_while(state, crowded).stopped
    }

    fn wait_while<'s>(
        &self,
        mut state: MutexGuard<'s, State<O, F>>,
        condition: impl FnMut(&mut State<O, F>) -> bool,
    ) -> MutexGuard<'s, State<O, F>> {
        state.asleep += 1;
        let woken = self.moved.wait_while(state, condition);
        let mut state = woken.unwrap_or_else(PoisonError::into_inner);
        state.asleep -= 1;
        state
    }

    pub(crate) fn into_tally(self) -> Result<Tally> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.error {
            Some(error) => Err(error),
            None if self.driver.sources.iter().any(Source::is_part) => Ok(state.tally),
            None => state.tally.check(),
        }
    }
}

impl<O, F: FnMut(O) -> Result<()>> State<O, F> {
    fn take(&mut self, done: Done<O>, driver: &Driver) -> Result<()> {
        if done.last {
            self.next = (self.next.0 + 1, 0);
            self.under_way -= 1;
        } else {
            self.next.1 += 1;
        }
        if self.source != done.source {
            (self.source, self.lines) = (done.source, 0);
        }
        let lines = self.lines;
        self.lines += done.lines;
        self.tally.lines += done.lines;
        self.tally.add(done.rows, done.malformed, driver.strict, |line| Place {
            name: driver.sources[done.source].name(),
            unit: done.unit,
            number: lines + line + 1,
        })?;
        (self.deliver)(done.output)
    }

    /// An error with the number of the line it is about, which stands behind all that were delivered.
    fn placed(&self, mut error: Error, driver: &Driver) -> Error {
        if let Error::LongLine { place, .. } = &mut error {
            let same = driver.sources[self.source].name() == place.name;
            place.number = if same { self.lines + 1 } else { 1 };
        }
        error
    }

    fn stop(&mut self) {
        self.ended = true;
        self.stopped = true;
        self.waiting.clear();
    }
}

/// Lets the other threads go when this one panics: what it was to deliver never comes.
pub(crate) struct Release<'o, 'a, O, F: FnMut(O) -> Result<()>>(pub(crate) &'o Order<'a, O, F>);

impl<O, F: FnMut(O) -> Result<()>> Drop for Release<'_, '_, O, F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}
