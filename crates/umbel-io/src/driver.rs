//! The one loop: blocks are read in turn, worked on in parallel, delivered in order.
//!
//! Building, screening and auditing differ only in their closures. A thread that needs work reads the next block itself
//! (only one reads at a time), parses it, hands it to `work`, and puts the result where `deliver` takes it in the order of the
//! blocks. One thread runs the same code.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::batch::{Batch, Malformed};
use crate::block::BlockReader;
use crate::parser::Parser;
use crate::{Error, Meter, Result, Shape, Source, lock};

/// Blocks that may be under way for each thread: bounds the memory when one block takes long.
const UNDER_WAY: usize = 4;

/// What to read and how.
#[derive(Debug)]
pub struct Driver {
    /// The inputs, read one after the other as if they were one.
    pub sources: Vec<Source>,
    /// How records are read.
    pub shape: Shape,
    /// How many threads work.
    pub threads: usize,
    /// Whether a row that cannot be used is an error.
    pub strict: bool,
    /// Counts the bytes read.
    pub meter: Arc<Meter>,
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome<P> {
    /// What each thread gathered, with the names of the groups as it numbered them.
    pub partials: Vec<(P, Vec<String>)>,
    /// What was counted on the way.
    pub tally: Tally,
}

/// Rows and lines of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rows with a key.
    pub rows: u64,
    /// Rows that could not be used.
    pub malformed: u64,
    /// The first of them: input, line from 1, reason.
    pub first_malformed: Option<(String, u64, &'static str)>,
}

impl Driver {
    /// Runs `work` over all blocks, each thread with a partial result of its own made by `start`, and `deliver` over
    /// what `work` returns, in the order of the input.
    pub fn run<P: Send, O: Send>(
        &self,
        start: impl Fn() -> P + Sync,
        work: impl Fn(&mut P, &mut Batch) -> Result<O> + Sync,
        deliver: impl FnMut(O) -> Result<()> + Send,
    ) -> Result<Outcome<P>> {
        self.sources.iter().filter_map(Source::size).for_each(|size| self.meter.expect(size));
        let reader = Mutex::new(BlockReader::new(&self.sources, &self.shape, &self.meter));
        let order = Order::new(self, deliver);
        let worker = || {
            let mut partial = start();
            let mut parser = Parser::new();
            let mut batch = Batch::default();
            let mut step = || -> Result<bool> {
                let Some(block) = lock(&reader).next(&mut batch.bytes)? else { return Ok(false) };
                parser.parse(&block, &mut batch);
                let output = work(&mut partial, &mut batch)?;
                order.deliver(block.number, Done::new(&batch, output));
                Ok(true)
            };
            while order.admit() {
                match step() {
                    Ok(true) => {}
                    Ok(false) => order.finish(),
                    Err(error) => order.fail(error),
                }
            }
            (partial, parser.groups.into_names())
        };
        let partials = std::thread::scope(|scope| {
            let others: Vec<_> = (1..self.threads.max(1)).map(|_| scope.spawn(worker)).collect();
            let first = worker();
            let joined = others.into_iter().map(|other| other.join());
            std::iter::once(Ok(first)).chain(joined).collect::<Result<Vec<_>, _>>()
        });
        let partials = partials.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let tally = order.into_tally()?;
        Ok(Outcome { partials, tally })
    }
}

/// What a thread has done with a block.
struct Done<O> {
    output: O,
    source: usize,
    rows: u64,
    lines: u64,
    malformed: Malformed,
}

impl<O> Done<O> {
    fn new(batch: &Batch, output: O) -> Done<O> {
        Done {
            output,
            source: batch.source,
            rows: batch.rows.len() as u64,
            lines: batch.lines,
            malformed: batch.malformed,
        }
    }
}

/// Puts results in the order of their blocks.
struct Order<'a, O, F> {
    driver: &'a Driver,
    state: Mutex<State<O, F>>,
    moved: Condvar,
}

struct State<O, F> {
    deliver: F,
    next: u64,
    under_way: usize,
    waiting: BTreeMap<u64, Done<O>>,
    /// Set when there is no more to read, or an error.
    ended: bool,
    error: Option<Error>,
    tally: Tally,
    /// The input being delivered, and its lines delivered so far.
    source: usize,
    lines: u64,
}

impl<'a, O, F: FnMut(O) -> Result<()>> Order<'a, O, F> {
    fn new(driver: &'a Driver, deliver: F) -> Self {
        let state = State {
            deliver,
            next: 0,
            under_way: 0,
            waiting: BTreeMap::new(),
            ended: false,
            error: None,
            tally: Tally::default(),
            source: 0,
            lines: 0,
        };
        Order { driver, state: Mutex::new(state), moved: Condvar::new() }
    }

    /// Waits until another block may be taken; false when there is nothing more to do.
    fn admit(&self) -> bool {
        let limit = UNDER_WAY * self.driver.threads.max(1);
        let full = |state: &mut State<O, F>| state.under_way >= limit && !state.ended;
        let state = self.moved.wait_while(lock(&self.state), full);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.under_way += 1;
        !state.ended
    }

    fn finish(&self) {
        lock(&self.state).ended = true;
        self.moved.notify_all();
    }

    fn fail(&self, error: Error) {
        lock(&self.state).error.get_or_insert(error);
        self.finish();
    }

    /// Takes the result of a block, and delivers it and those behind it if it is their turn.
    fn deliver(&self, number: u64, done: Done<O>) {
        let mut state = lock(&self.state);
        state.waiting.insert(number, done);
        loop {
            let next = state.next;
            let Some(done) = state.waiting.remove(&next) else { break };
            state.next += 1;
            state.under_way -= 1;
            if state.error.is_some() {
                continue;
            }
            if let Err(error) = state.take(done, self.driver) {
                state.error = Some(error);
                state.ended = true;
            }
        }
        drop(state);
        self.moved.notify_all();
    }

    fn into_tally(self) -> Result<Tally> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = state.error {
            return Err(error);
        }
        let Tally { rows, malformed, first_malformed } = &state.tally;
        if let Some((name, line, reason)) = first_malformed.clone().filter(|_| malformed > rows) {
            let (malformed, rows) = (*malformed, rows + malformed);
            return Err(Error::MostlyMalformed { malformed, rows, name, line, reason });
        }
        Ok(state.tally)
    }
}

impl<O, F: FnMut(O) -> Result<()>> State<O, F> {
    fn take(&mut self, done: Done<O>, driver: &Driver) -> Result<()> {
        if self.source != done.source {
            (self.source, self.lines) = (done.source, 0);
        }
        self.tally.rows += done.rows;
        self.tally.malformed += done.malformed.count;
        if let Some((line, reason)) = done.malformed.first {
            let (name, line) = (driver.sources[done.source].name(), self.lines + line + 1);
            if driver.strict {
                return Err(Error::Strict { name, line, reason });
            }
            self.tally.first_malformed.get_or_insert((name, line, reason));
        }
        self.lines += done.lines;
        (self.deliver)(done.output)
    }
}
